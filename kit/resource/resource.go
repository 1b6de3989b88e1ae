// Package resource provides collections whose records refer to each other, within a module and across modules. A
// Collection checks that references are valid, includes referenced records in responses, and applies the rule of each
// reference when a record is deleted:
//
//	categories := resource.Open(d, categorySpec, Category.View, resource.Public, resource.Admins)
//	products := resource.Open(d, productSpec, Product.View, resource.Public, resource.Own,
//		resource.To("category", categories, resource.Restrict))
//
// On the embedded database, a reference always refers to a record that exists: Create, Change and DeleteByID check and write in
// one step. On MongoDB, each write is atomic on one record only. A record that is written while its target is deleted, or by a
// crash in between, can have a reference to a record that does not exist.
package resource

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// Target has records that references can refer to.
type Target interface {
	// Find returns the views of the records with the IDs that the caller may see, by ID. fields are the stored fields
	// that the caller of Find needs, as in store.Query. If size is not nil, Find reads the records in the order of their
	// IDs, and ends before one that does not fit; unread are the IDs of the rest.
	Find(ctx context.Context, caller access.Principal, ids []store.ID, size *store.Size, fields ...string) (found map[store.ID]any, unread []store.ID, err error)
	referredBy(planner)
	resource() string // the name for scopes of API keys
}

// Parent is a Target whose records can have other records under them.
type Parent interface {
	Target
	// MayChange fails with NotFound unless the caller may see the record, and with Forbidden unless they may change it.
	MayChange(ctx context.Context, caller access.Principal, id store.ID) error
}

// Access returns the filter that selects the records that a caller may see, or may change. nil selects all.
type Access func(access.Principal) store.Filter

// Public allows every caller all records.
func Public(access.Principal) store.Filter { return nil }

// Users allows users and the master key all records.
func Users(caller access.Principal) store.Filter { return allOrNone(caller.IsUser() || caller.Master) }

// Admins allows admins and the master key all records.
func Admins(caller access.Principal) store.Filter {
	return allOrNone(caller.IsAdmin() || caller.Master)
}

// Master allows the master key all records.
func Master(caller access.Principal) store.Filter { return allOrNone(caller.Master) }

// Own allows a user the records with their ID in userId, and admins and the master key all records.
func Own(caller access.Principal) store.Filter {
	if !caller.IsUser() || caller.IsAdmin() {
		return Admins(caller)
	}
	return store.Eq("userId", caller.UserID)
}

// allOrNone returns the filter that selects all records if allowed is true, and otherwise none.
func allOrNone(allowed bool) store.Filter {
	if allowed {
		return nil
	}
	return store.Or() // selects nothing
}

// Reference declares a field that refers to records of a Target. The field is a store.ID, a *store.ID or a []store.ID.
type Reference struct {
	field    string
	target   Target
	onDelete OnDelete
	parent   Parent // target, if the records are under it; otherwise nil
	index    []int  // the index of the field in the document
	isList   bool
}

// To returns a reference to records of another module.
func To(field string, target Target, onDelete OnDelete) Reference {
	return Reference{field: field, target: target, onDelete: onDelete}
}

// ToSelf returns a reference to records of the same collection.
func ToSelf(field string, onDelete OnDelete) Reference {
	return Reference{field: field, onDelete: onDelete}
}

// Under returns the reference of records to their parent, the record that they are under. A caller may see and change them
// if the caller may see and change the parent. They are deleted with it.
func Under(field string, parent Parent) Reference {
	return Reference{field: field, target: parent, onDelete: Cascade, parent: parent}
}

// Collection is a store.Collection whose records have references or are referred to. Insert and Update do not check
// references: use Create and Change.
type Collection[D store.Document] struct {
	*store.Collection[D]
	Referrers
	db          store.DB
	name        string
	view        func(D) any
	see, change Access
	references  []Reference
	now         func() time.Time
}

// Open declares a collection, and registers its references at their targets. see and change select the records that a
// caller may see and change; nil selects all. Records under a parent are visible and changed as the parent is.
func Open[D store.Document, V any](d kit.Deps, spec store.Spec, view func(D) V, see, change Access, references ...Reference) *Collection[D] {
	if see == nil {
		see = Public
	}
	if change == nil {
		change = Public
	}
	c := &Collection[D]{
		Collection: store.Open[D](d.DB, spec), db: d.DB, name: spec.Name, view: func(doc D) any { return view(doc) },
		see: see, change: change, references: references, now: d.Now,
	}
	for i := range references {
		r := &references[i]
		if r.target == nil {
			r.target = c
		}
		r.index = indexOf(reflect.TypeFor[D](), r.field)
		r.isList = reflect.TypeFor[D]().FieldByIndex(r.index).Type == reflect.TypeFor[[]store.ID]()
		r.target.referredBy(referrer[D]{c, r}.plan)
	}
	return c
}

// indexOf returns the index of the field with a JSON name. It panics if a struct has no such field that can be a reference.
func indexOf(t reflect.Type, name string) []int {
	for _, f := range reflect.VisibleFields(t) {
		if store.FieldName(f) != name || f.Anonymous {
			continue
		}
		switch f.Type {
		case reflect.TypeFor[store.ID](), reflect.TypeFor[*store.ID](), reflect.TypeFor[[]store.ID]():
			return f.Index
		}
	}
	panic(fmt.Sprintf("resource: %v has no field %s that is an ID or a list of IDs", t, name))
}

// idsOf returns the IDs in a reference.
func idsOf(value any) []store.ID {
	switch v := value.(type) {
	case store.ID:
		return []store.ID{v}
	case *store.ID:
		if v != nil {
			return []store.ID{*v}
		}
	case []store.ID:
		return v
	}
	return nil
}

// of returns the value of a reference in a document.
func (r Reference) of(doc any) any { return reflect.ValueOf(doc).FieldByIndex(r.index).Interface() }

// refersTo returns the filter of the records that refer to one of the IDs.
func (r Reference) refersTo(ids []store.ID) store.Filter {
	if r.isList {
		return store.Contains(r.field, store.Values(ids)...)
	}
	return store.In(r.field, store.Values(ids)...)
}

// parent returns the reference to the parent of the records, or nil.
func (c *Collection[D]) parent() *Reference {
	i := slices.IndexFunc(c.references, func(r Reference) bool { return r.parent != nil })
	if i < 0 {
		return nil
	}
	return &c.references[i]
}

func (c *Collection[D]) resource() string { return c.name }

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
	q := store.Query{Filter: store.And(store.In("id", store.Values(ids)...), c.see(caller)), Fields: fields, Bytes: size}
	if size != nil {
		q.Sort = []store.Order{{Field: "id"}}
	}
	docs, err := c.List(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if size != nil && size.Exceeded() {
		last := store.IDOf(docs[len(docs)-1])
		unread = slices.DeleteFunc(slices.Clone(ids), func(id store.ID) bool { return bytes.Compare(id[:], last[:]) <= 0 })
	}
	var parents map[store.ID]any
	if parent != nil {
		var parentIDs []store.ID
		for _, doc := range docs {
			parentIDs = append(parentIDs, idsOf(parent.of(doc))...)
		}
		parents, _, err = parent.target.Find(ctx, caller, parentIDs, nil, "id")
		if err != nil {
			return nil, nil, err
		}
	}
	for _, doc := range docs {
		if parent != nil {
			if _, visible := parents[idsOf(parent.of(doc))[0]]; !visible {
				continue
			}
		}
		found[store.IDOf(doc)] = c.view(doc)
	}
	return found, unread, nil
}

// MayChange implements Parent.
func (c *Collection[D]) MayChange(ctx context.Context, caller access.Principal, id store.ID) error {
	visible := store.And(store.Eq("id", id), c.see(caller))
	doc, err := c.First(ctx, visible)
	if err != nil {
		return err
	}
	if r := c.parent(); r != nil {
		return r.parent.MayChange(ctx, caller, idsOf(r.of(doc))[0])
	}
	filter := c.change(caller)
	if filter == nil {
		return nil
	}
	_, err = c.First(ctx, store.And(visible, filter))
	return apperr.Replace(err, apperr.NotFound, apperr.New(apperr.Forbidden, "Only the owner or an admin may do this."))
}

// Under returns a query for the records under a parent. NotFound: the caller may not see the parent.
func (c *Collection[D]) Under(ctx context.Context, caller access.Principal, parent store.ID, q listing.Query) (listing.Query, error) {
	q.Filter = store.And(q.Filter, store.Eq(c.parent().field, parent))
	return q, c.checkVisible(ctx, caller, parent)
}

// GetUnder returns a record under a parent. NotFound: there is none, or the caller may not see the parent.
func (c *Collection[D]) GetUnder(ctx context.Context, caller access.Principal, parent, id store.ID) (doc D, err error) {
	if err := c.checkVisible(ctx, caller, parent); err != nil {
		return doc, err
	}
	return c.First(ctx, store.And(store.Eq("id", id), store.Eq(c.parent().field, parent)))
}

// MayAdd checks that the caller may add records under a parent. NotFound: the caller may not see the parent. Forbidden: the
// caller may not change it.
func (c *Collection[D]) MayAdd(ctx context.Context, caller access.Principal, parent store.ID) error {
	return c.parent().parent.MayChange(ctx, caller, parent)
}

// MayChangeUnder checks that the caller may change the record with the ID under a parent. NotFound: there is none. Other
// errors: as MayAdd.
func (c *Collection[D]) MayChangeUnder(ctx context.Context, caller access.Principal, parent, id store.ID) error {
	if err := c.MayAdd(ctx, caller, parent); err != nil {
		return err
	}
	_, err := c.First(ctx, store.And(store.Eq("id", id), store.Eq(c.parent().field, parent)))
	return err
}

// checkVisible fails with NotFound unless the caller may see the parent.
func (c *Collection[D]) checkVisible(ctx context.Context, caller access.Principal, parent store.ID) error {
	found, _, err := c.parent().target.Find(ctx, caller, []store.ID{parent}, nil, "id")
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	return err
}
