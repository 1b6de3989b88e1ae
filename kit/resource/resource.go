// Package resource provides collections with rules. The rules decide which records a caller may see and change, to which other
// records a record may refer, and what happens to the referring records when a record is deleted:
//
//	categories := resource.Open(d, categorySpec, Category.View, resource.Public, resource.Admins)
//	products := resource.Open(d, productSpec, Product.View, resource.Public, resource.Own,
//		resource.To("category", categories, resource.Restrict))
//
// The methods of a Collection take the caller and enforce the rules; Unrestricted returns the collection without rules.
//
// Create, Update and Delete check the rules and write in one transaction if the server has transactions (store.DB.Together). Every
// reference then refers to an existing record, unless its OnDelete is Keep. On a MongoDB server without transactions, a reference
// can refer to a record that does not exist, if the record is deleted while the referring record is written.
package resource

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
)

// Target is a collection that references can refer to.
type Target interface {
	// Find reads the records with the IDs. found maps the ID of each record that the caller may see to its view. fields are the
	// stored fields to read, as in store.Query. If size is not nil, Find reads the records in the order of their IDs, and stops
	// before the first record that does not fit into size; unread has the IDs of the remaining records.
	Find(ctx context.Context, caller access.Principal, ids []store.ID, size *store.Size, fields ...string) (found map[store.ID]any, unread []store.ID, err error)
	// lock prevents others from deleting the records until the transaction of ctx ends. A deletion and a creation of a referring
	// record do not see each other's writes, so both must write the same record. lock does nothing in a serializable database and
	// without a transaction, and ignores IDs of records that do not exist.
	lock(ctx context.Context, ids []store.ID) error
	referredBy(planner, remover, restricts)
	removed(context.Context) ([]removal, error) // the deleted records to which records can still refer
	hasGroup() bool                             // the records, or their parents, have a Group
	exists(context.Context, store.ID) error     // NotFound: the record does not exist, or is removed with its owner or group
	resource() string                           // the name of the resource in the scopes of API keys
	// rules returns a string that differs if the rules for the records, or for their parents, select other records for the caller.
	rules(ctx context.Context, caller access.Principal) (string, error)
	// groupsOf returns the ID of the group that each of the records belongs to, visible or not, and the memberships of these groups.
	// members is nil if the records belong to no groups.
	groupsOf(ctx context.Context, ids []store.ID) (groups map[store.ID]store.ID, members access.MembershipReader, err error)
}

// Parent is a Target whose records can be the parents of other records.
type Parent interface {
	Target
	// MayChange fails with NotFound unless the caller may see the record, and with Forbidden unless the caller may change the
	// record. If the caller has an access.Restriction, MayChange fails with the error of the restriction.
	MayChange(ctx context.Context, caller access.Principal, id store.ID) error
}

// Collection is a collection with rules. Its methods read and change only the records that the caller may see and change. A
// caller with an access.Restriction may not change records.
type Collection[D store.Document] struct {
	core
	all      *store.Collection[D]
	view     func(D) any
	viewFor  func(access.Principal, D) any    // see ViewFor
	onDelete []func(context.Context, D) error // see OnDelete
}

// core is the part of a Collection that does not depend on the type of its records: Go compiles the methods of a generic type again in
// each package that uses them.
type core struct {
	Referrers
	db           store.DB
	name         string
	viewOf       any // a zero view
	see, change  Access
	narrow       map[Method]Access // see Narrow
	memberFields []memberField
	removals     *Removals // nil: deletions are complete with the response
	references   []Reference
	within       *store.ID // the parent of the records; nil: the records of all parents; see Under
	registered   *kit.Resource
	files        *files.Files
	fileFields   []fileField
	links        files.Links
}

// Open declares a collection, and registers its references with their targets. The see parameter selects the records that a
// caller may see; the change parameter selects the records that a caller may change. For records under a parent, both can be
// nil: then the rules of the parent apply.
func Open[D store.Document, V any](d kit.Deps, spec store.Spec, view func(D) V, see, change Access, references ...Reference) *Collection[D] {
	for _, r := range references {
		if r.parent != nil {
			spec.Parent = r.field
		}
	}
	if spec.Changes { // the owner, the group and the parent decide who may see the deletion of a record
		for _, r := range references {
			if r.isOwner || r.parent != nil || r.members != nil {
				spec.Scope = append(spec.Scope, r.field)
			}
		}
	}
	c := &Collection[D]{
		core: core{db: d.DB, name: spec.Name, viewOf: *new(V), see: see, change: change, references: references},
		all:  store.Open[D](d.DB, spec), view: func(doc D) any { return view(doc) },
	}
	c.files, c.fileFields = d.Files, fileFieldsOf(reflect.TypeFor[D]())
	c.links = files.Links{PublicURL: d.PublicURL, Digest: d.Digest, OldDigests: d.OldDigests, Now: d.Now}
	if d.Files != nil { // nil in tests
		var list files.ListRecords
		if c.fileFields != nil {
			list = c.listFiles
		}
		d.Files.Register(spec.Name, list)
	}
	c.viewFor = func(_ access.Principal, doc D) any { return view(doc) }
	if c.parent() == nil && (see == nil || change == nil) {
		panic(fmt.Sprintf("resource: %s has no parent, so Open's see and change parameters must not be nil; pass Public, for example", spec.Name))
	}
	c.registered = &kit.Resource{
		Name: spec.Name, Record: recordName(reflect.TypeFor[D]().Name()), Spec: spec, Engine: c.Engine(), PublicView: c.publicView,
		NewDocument: func() store.Document { return any(new(D)).(store.Document) },
	}
	d.Resources.Add(c.registered)
	for i := range references {
		r := &references[i]
		if r.target == nil {
			r.target = c
		}
		if r.members != nil {
			c.Members(r.field, r.members)
		}
		r.index = indexOf(reflect.TypeFor[D](), r.field)
		fieldType := reflect.TypeFor[D]().FieldByIndex(r.index).Type
		if (r.parent != nil || r.members != nil) && fieldType != reflect.TypeFor[store.ID]() {
			panic(fmt.Sprintf("resource: the field %s of %s must be a store.ID, because a record has exactly one parent and one group", r.field, spec.Name))
		}
		r.isList = fieldType == reflect.TypeFor[[]store.ID]()
		if r.onDelete != Keep {
			from := referrer[D]{c, r}
			r.target.referredBy(from.plan, from.removeReferring, from.restrict)
		}
		c.registered.References = append(c.registered.References, kit.Reference{Field: r.field, Resource: r.target.resource()})
	}
	return c
}

// ViewFor makes the parameter expand of other resources include view(caller, doc), instead of the result of Open's view parameter.
// It must be called before the server starts.
func (c *Collection[D]) ViewFor(view func(caller access.Principal, doc D) any) { c.viewFor = view }

// publicView is the PublicView function of the collection's kit.Resource.
func (c *Collection[D]) publicView(ctx context.Context, id store.ID) (any, error) {
	doc, err := c.Get(ctx, access.Principal{}, id)
	if err != nil {
		return nil, err
	}
	return c.view(doc), nil
}

// wordEnd matches the letters where two words of a Go name meet: oB in fooBar, LPa in URLPath.
var wordEnd = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// recordName returns the name of a record in kebab-case, from the Go name of its type: BlogPost is blog-post.
func recordName(typeName string) string {
	return strings.ToLower(wordEnd.ReplaceAllString(typeName, "$1$3-$2$4"))
}

// Unrestricted returns the collection without rules: all records are visible and can be changed, references are not checked,
// and a deletion neither changes referring records nor calls the rules of OnDelete.
func (c *Collection[D]) Unrestricted() *store.Collection[D] { return c.all }

// Engine returns the untyped collection without rules, for migrations.
func (c *Collection[D]) Engine() store.Engine { return c.all.Engine() }

// Lock calls store.Collection.Lock. It does not check the rules. A module whose records other modules lock has a method that calls
// Lock. If a Create with a reference to the record follows, ignore NotFound: the error of Create names the field.
func (c *Collection[D]) Lock(ctx context.Context, ids ...store.ID) error {
	return c.all.Lock(ctx, ids...)
}

// Under returns the collection of the records under a parent.
func (c *Collection[D]) Under(parent store.ID) *Collection[D] {
	children := *c
	children.within = &parent
	return &children
}

// parent returns the reference to the parent of the records, or nil.
func (c *core) parent() *Reference {
	i := slices.IndexFunc(c.references, func(r Reference) bool { return r.parent != nil })
	if i < 0 {
		return nil
	}
	return &c.references[i]
}

func (c *core) resource() string { return c.name }

// Find implements Target.
func (c *Collection[D]) Find(ctx context.Context, caller access.Principal, ids []store.ID, size *store.Size, fields ...string) (
	found map[store.ID]any, unread []store.ID, err error) {
	found = make(map[store.ID]any, len(ids))
	if len(ids) == 0 {
		return found, nil, nil
	}
	parent := c.parent()
	if parent != nil && fields != nil {
		fields = append(fields, parent.field)
	}
	visible, err := c.visible(ctx, caller)
	if err != nil {
		return nil, nil, err
	}
	q := store.Query{Filter: store.And(store.In("id", store.Values(ids)...), visible), Fields: fields, Bytes: size}
	if size != nil {
		q.Sort = []store.Order{{Field: "id"}}
	}
	docs, err := c.all.List(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if size != nil && size.Exceeded() {
		last := store.IDOf(docs[len(docs)-1])
		unread = slices.DeleteFunc(slices.Clone(ids), func(id store.ID) bool { return compareIDs(id, last) <= 0 })
	}
	var parents map[store.ID]any
	if parent != nil {
		var parentIDs []store.ID
		for _, doc := range docs {
			parentIDs = append(parentIDs, idsOf(parent.value(doc))...)
		}
		parents, _, err = parent.target.Find(ctx, caller, parentIDs, nil, "id")
		if err != nil {
			return nil, nil, err
		}
	}
	for _, doc := range docs {
		if parent != nil {
			if _, visible := parents[idsOf(parent.value(doc))[0]]; !visible {
				continue
			}
		}
		found[store.IDOf(doc)] = c.viewFor(caller, doc)
	}
	return found, unread, nil
}

// visible returns the filter that selects the records that the caller may see. It does not check the parents of the records. A
// nil filter selects all records.
func (c *core) visible(ctx context.Context, caller access.Principal) (store.Filter, error) {
	seen, err := c.seen(ctx, caller)
	if err != nil {
		return nil, err
	}
	filters := []store.Filter{}
	if c.within != nil {
		filters = append(filters, store.Eq(c.parent().field, *c.within))
	}
	if seen != nil {
		filters = append(filters, seen)
	}
	if !caller.ActsForAll() {
		existing, err := c.notRemoved(ctx, seen)
		if err != nil {
			return nil, err
		}
		if existing != nil {
			filters = append(filters, existing)
		}
	}
	if len(filters) == 0 {
		return nil, nil
	}
	return store.And(filters...), nil
}

// seen returns what Open's see parameter selects for the caller. A nil filter selects all records.
func (c *core) seen(ctx context.Context, caller access.Principal) (store.Filter, error) {
	return c.selected(ctx, caller, c.see)
}

// changeable returns the filter that selects the records that the caller may change with the method, visible or not. A nil filter
// selects all records.
func (c *core) changeable(ctx context.Context, caller access.Principal, method Method) (store.Filter, error) {
	changeable, err := c.selected(ctx, caller, c.change)
	if err != nil || c.narrow[method] == nil {
		return changeable, err
	}
	narrow, err := c.selected(ctx, caller, c.narrow[method])
	switch {
	case changeable == nil:
		return narrow, err
	case narrow == nil:
		return changeable, err
	}
	return store.And(changeable, narrow), err
}

// Get returns a record. NotFound: the record does not exist, or the caller may not see the record.
func (c *Collection[D]) Get(ctx context.Context, caller access.Principal, id store.ID) (none D, err error) {
	visible, err := c.visible(ctx, caller)
	if err != nil {
		return none, err
	}
	doc, err := c.all.First(ctx, store.And(store.Eq("id", id), visible))
	if err != nil {
		return none, err
	}
	if r := c.parent(); r != nil {
		if err := r.checkVisible(ctx, caller, r.value(doc)); err != nil {
			return none, err
		}
	}
	return doc, nil
}

// MayChange implements Parent.
func (c *Collection[D]) MayChange(ctx context.Context, caller access.Principal, id store.ID) error {
	if caller.Restriction != nil {
		return caller.Restriction.Err
	}
	return c.mayChange(ctx, caller, id, Update)
}

// mayChange is like MayChange, for a method.
func (c *Collection[D]) mayChange(ctx context.Context, caller access.Principal, id store.ID, method Method) error {
	writable, err := c.writable(ctx, caller, id, nil, method)
	if err != nil {
		return err
	}
	doc, err := c.all.First(ctx, writable)
	if err != nil {
		return c.explain(ctx, caller, id, nil, method, err)
	}
	return c.mayChangeParent(ctx, caller, doc)
}

// writable returns the filter that selects the record with the ID, if the caller may see the record and change it with the method,
// and the record has one of the versions.
func (c *core) writable(ctx context.Context, caller access.Principal, id store.ID, versions store.Versions, method Method) (store.Filter, error) {
	var hasVersion store.Filter
	if versions != nil {
		hasVersion = store.In("version", store.Values(versions)...)
	}
	visible, err := c.visible(ctx, caller)
	if err != nil {
		return nil, err
	}
	changeable, err := c.changeable(ctx, caller, method)
	return store.And(store.Eq("id", id), visible, changeable, hasVersion), err
}

// mayChangeParent fails with NotFound unless the caller may see the parent of doc. If the collection has no rule for changes,
// it also fails with Forbidden unless the caller may change the parent. It returns nil if the records have no parent.
func (c *core) mayChangeParent(ctx context.Context, caller access.Principal, doc any) error {
	r := c.parent()
	if r == nil {
		return nil
	}
	return c.mayChangeUnder(ctx, caller, idsOf(r.value(doc))[0])
}

// mayChangeUnder is mayChangeParent for the records under a parent.
func (c *core) mayChangeUnder(ctx context.Context, caller access.Principal, parent store.ID) error {
	r := c.parent()
	if c.change == nil {
		return r.parent.MayChange(ctx, caller, parent)
	}
	return r.checkVisible(ctx, caller, parent)
}

// checkVisible fails with NotFound unless the caller may see the records that a value of the reference refers to.
func (r Reference) checkVisible(ctx context.Context, caller access.Principal, value any) error {
	ids := idsOf(value)
	found, _, err := r.target.Find(ctx, caller, ids, nil, "id")
	if err == nil && len(found) < len(ids) {
		err = store.ErrNotFound
	}
	return err
}
