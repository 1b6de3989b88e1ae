package resource

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// Creator creates the records of a collection, for the API and for imports, so that the same rules apply to both. In is the struct
// with the parameters; see rest.Bind. The build and create functions can use fields that the constructor of the module sets after it
// calls NewCreator.
type Creator[D store.Document, In any] struct {
	records *Collection[D]
	build   func(access.Principal, In) (D, error)
	create  func(context.Context, access.Principal, D) (D, error) // nil: records.Create
	parent  *store.ID                                             // see Under
}

// NewCreator returns a Creator, and registers it for imports.
//
// The build function returns the record that a caller creates with the parameters, without the ID of its parent. It has the rules
// about the fields of one record, and must neither read nor write the database: imports call it concurrently, and store what it
// returns in bulk. An import then sets the fields of the record that are not parameters, such as the ID and createdAt, from its file.
//
// The create function stores the record, and returns it as stored. nil means Collection.Create. A rule about several records, or a
// write of another record, needs a create function that calls Collection.Create in a store.DB.Atomic. An import calls the create
// function concurrently, once for each record, with access.Operator as the caller. Batches and dry runs of imports call it in a
// transaction, which can be repeated, and which a dry run rolls back. Without a create function, imports are faster. Updates call
// neither function: a rule that an update can break is needed there, too.
func NewCreator[D store.Document, In any](
	c *Collection[D], build func(access.Principal, In) (D, error), create func(context.Context, access.Principal, D) (D, error),
) *Creator[D, In] {
	creator := &Creator[D, In]{records: c, build: build, create: create}
	c.registered.Creator = untyped[D, In]{creator}
	return creator
}

// Under returns the Creator of the records under a parent.
func (c *Creator[D, In]) Under(parent store.ID) *Creator[D, In] {
	children := *c
	children.parent = &parent
	return &children
}

// Create creates a record with the parameters. It returns the errors of the build and create functions. If there
// is no create function, the errors are those of Collection.Create.
func (c *Creator[D, In]) Create(ctx context.Context, caller access.Principal, in In) (doc D, err error) {
	if doc, err = c.build(caller, in); err != nil {
		return doc, err
	}
	if c.parent != nil {
		reflect.ValueOf(&doc).Elem().FieldByIndex(c.records.parent().index).Set(reflect.ValueOf(*c.parent))
	}
	if err := c.records.setGroup(ctx, caller, &doc); err != nil {
		return doc, err
	}
	if err := c.records.putFiles(ctx, caller, doc); err != nil { // before the transaction of a create function
		return doc, err
	}
	stored, err := c.store(ctx, caller, doc)
	if list := c.records.filesOf(doc); err != nil && list != nil && !store.InAtomic(ctx) {
		c.records.files.Remove(ctx, err, list...)
	}
	return stored, err
}

func (c *Creator[D, In]) store(ctx context.Context, caller access.Principal, doc D) (D, error) {
	if c.create != nil {
		return c.create(ctx, caller, doc)
	}
	return doc, c.records.Create(ctx, caller, doc)
}

// untyped is the kit.Creator of a Creator.
type untyped[D store.Document, In any] struct{ *Creator[D, In] }

// New implements kit.Creator.
func (u untyped[D, In]) New(caller access.Principal, parameters json.RawMessage) (store.Document, error) {
	var in In
	// An export has the fields of the view, which rest.Bind ignores, too.
	if fields := rest.DecodeObject(parameters, &in, u.records.viewOf); fields != nil {
		return nil, apperr.Invalid(fields...)
	}
	doc, err := u.build(caller, in)
	if err != nil {
		return nil, err
	}
	return any(&doc).(store.Document), nil
}

// Parameters implements kit.Creator.
func (u untyped[D, In]) Parameters() []string { return store.FieldNames(reflect.TypeFor[In]()) }

// Create implements kit.Creator.
func (u untyped[D, In]) Create(ctx context.Context, caller access.Principal, doc store.Document) error {
	_, err := u.store(ctx, caller, *any(doc).(*D))
	return err
}

// Plain implements kit.Creator.
func (u untyped[D, In]) Plain() bool { return u.create == nil }

// RefersToOwn implements kit.Creator.
func (u untyped[D, In]) RefersToOwn(doc store.Document) bool {
	return slices.ContainsFunc(u.records.references, func(r Reference) bool {
		return r.target == Target(u.records) && len(idsOf(r.value(doc))) > 0
	})
}

// Check implements kit.Creator.
func (u untyped[D, In]) Check(ctx context.Context, caller access.Principal, docs []store.Document) ([]error, error) {
	return u.records.checkAll(ctx, caller, docs)
}
