package records

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/exchange"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// DB is the database of a Service. The collections of the Service must be opened on this DB.
type DB struct {
	store.DB
	engines map[string]*engine
}

// NewDB returns db as a DB.
func NewDB(db store.DB) *DB { return &DB{db, map[string]*engine{}} }

// Open implements store.DB.
func (d *DB) Open(spec store.Spec) store.Engine {
	e := &engine{Engine: d.DB.Open(spec), spec: spec}
	d.engines[spec.Name] = e
	return e
}

// Atomic implements store.DB. In an import whose mode is collect or dry, Atomic only calls f.
func (d *DB) Atomic(ctx context.Context, f func(context.Context) error) error {
	if c, ok := importing(ctx); ok && c.on.mode != write {
		return f(ctx)
	}
	return d.DB.Atomic(ctx, f)
}

// Together implements store.DB. In an import whose mode is collect or dry, Together only calls f.
func (d *DB) Together(ctx context.Context, f func(context.Context) error) error {
	if c, ok := importing(ctx); ok && c.on.mode != write {
		return f(ctx)
	}
	return d.DB.Together(ctx, f)
}

// engine is the store.Engine of a collection. For requests of an import, it makes only the writes that the mode of the import
// allows.
type engine struct {
	store.Engine
	spec store.Spec
}

// importing returns the call of ctx, and reports whether the call belongs to an import.
func importing(ctx context.Context) (*call, bool) {
	c, ok := callOf(ctx)
	return c, ok && c.on != nil
}

// errNotAlone is returned while an import collects records for a Load, if a route does more than create one record. The import
// then continues without Load.
var errNotAlone = errors.New("records: the service does more than create the record")

// alone returns errNotAlone if ctx belongs to an import that collects records for a Load.
func (e *engine) alone(ctx context.Context) error {
	if c, ok := importing(ctx); ok && c.on.mode == collect {
		c.on.notAlone.Store(true)
		return errNotAlone
	}
	return nil
}

// isTarget reports whether c imports a record of this collection.
func (e *engine) isTarget(c *call) bool { return c.on.target.engine == e }

// aloneTarget calls alone if ctx belongs to an import of records of this collection, and otherwise returns nil.
func (e *engine) aloneTarget(ctx context.Context) error {
	if c, ok := importing(ctx); ok && e.isTarget(c) {
		return e.alone(ctx)
	}
	return nil
}

// writing returns the context for a write. In an import, it sets the record's wrote field and returns a context without an
// author.
func writing(ctx context.Context) context.Context {
	c, ok := importing(ctx)
	if !ok {
		return ctx
	}
	c.record.wrote = true
	return store.WithAuthor(ctx, store.Author{})
}

// Insert implements store.Engine.
func (e *engine) Insert(ctx context.Context, id store.ID, doc any) error {
	c, ok := importing(ctx)
	if !ok {
		return e.Engine.Insert(ctx, id, doc)
	}
	if !e.isTarget(c) || c.record.doc != nil {
		if c.on.mode == dry {
			return nil
		}
		if err := e.alone(ctx); err != nil {
			return err
		}
		return e.Engine.Insert(writing(ctx), id, doc)
	}
	completed, err := c.complete(doc)
	if err != nil {
		return err
	}
	c.record.doc = completed
	switch c.on.mode {
	case collect:
		return nil
	case dry:
		return e.checkUnique(ctx, completed)
	}
	return e.Engine.Insert(writing(ctx), c.record.id, completed)
}

// complete returns a copy of doc, the document to insert. In the copy, the fields that clients of the API cannot set, except
// version, have the values from the file.
func (c *call) complete(doc any) (store.Document, error) {
	completed := reflect.New(reflect.TypeOf(doc))
	completed.Elem().Set(reflect.ValueOf(doc))
	bound := rest.Bound(c.g)
	out, r := completed.Interface().(store.Document), c.record
	var invalid []apperr.Field
	set := func(name string) {
		f := field(out, name)
		raw, given := r.fields[name]
		if !given || !f.IsValid() {
			return
		}
		if err := decode(raw, f.Addr().Interface()); err != nil {
			invalid = append(invalid, apperr.Field{In: "body", Param: name, Code: apperr.Type, Message: "Is not a valid value."})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.fields)) {
		if name != "id" && name != "version" && !slices.Contains(bound, name) {
			set(name)
		}
	}
	if _, given := r.fields["updatedAt"]; !given {
		field(out, "updatedAt").Set(field(out, "createdAt"))
	}
	field(out, "id").Set(reflect.ValueOf(r.id))
	switch owner := field(out, "userId"); {
	case !owner.IsValid():
	case owner.Type() == reflect.TypeFor[store.ID]() && owner.IsZero():
		invalid = append(invalid, apperr.Field{In: "body", Param: "userId", Code: apperr.Required, Message: "Must be given."})
	case owner.Type() == reflect.TypeFor[*store.ID]() && !owner.IsNil() && owner.Elem().IsZero():
		owner.SetZero()
	}
	if invalid != nil {
		return nil, apperr.Invalid(invalid...)
	}
	return out, nil
}

// field returns the document's field with the JSON name, or an invalid Value if the document has no such field.
func field(doc store.Document, name string) reflect.Value {
	v := reflect.ValueOf(doc).Elem()
	cached, ok := fieldIndexes.Load(v.Type())
	if !ok {
		indexes := make(map[string][]int)
		for _, column := range exchange.Columns(v.Type(), nil) {
			indexes[column.Name] = column.Index
		}
		cached, _ = fieldIndexes.LoadOrStore(v.Type(), indexes)
	}
	if index, ok := cached.(map[string][]int)[name]; ok {
		return v.FieldByIndex(index)
	}
	return reflect.Value{}
}

var fieldIndexes sync.Map // reflect.Type → map[string][]int

// checkUnique fails with Conflict if a stored document has the same values in a unique index.
func (e *engine) checkUnique(ctx context.Context, doc store.Document) error {
	for _, index := range e.spec.Indexes {
		var equal []store.Filter
		for _, name := range index.Fields {
			if f := field(doc, name); f.IsValid() && !store.IsNil(f.Interface()) {
				equal = append(equal, store.Eq(name, f.Interface()))
			}
		}
		if !index.Unique || len(equal) < len(index.Fields) { // the index ignores documents that lack a field
			continue
		}
		err := e.Engine.First(ctx, store.And(equal...), e.spec.NewDocument())
		if err == nil {
			return store.Duplicate(index.Fields...)
		}
		if !apperr.Is(err, apperr.NotFound) {
			return err
		}
	}
	return nil
}

// First implements store.Engine.
func (e *engine) First(ctx context.Context, f store.Filter, into any) error {
	if err := e.aloneTarget(ctx); err != nil {
		return err
	}
	return e.Engine.First(ctx, f, into)
}

// List implements store.Engine.
func (e *engine) List(ctx context.Context, q store.Query, next func() any) (int64, error) {
	if err := e.aloneTarget(ctx); err != nil {
		return 0, err
	}
	if c, ok := importing(ctx); ok && c.on.mode == collect {
		return c.on.found.list(ctx, e, q, next)
	}
	return e.Engine.List(ctx, q, next)
}

// Update implements store.Engine. A dry run only reads the document.
func (e *engine) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	if c, ok := importing(ctx); ok && c.on.mode == dry {
		return e.Engine.First(ctx, f, into)
	}
	if err := e.alone(ctx); err != nil {
		return err
	}
	return e.Engine.Update(writing(ctx), f, changes, into)
}

// Delete implements store.Engine.
func (e *engine) Delete(ctx context.Context, f store.Filter) (int64, error) {
	if c, ok := importing(ctx); ok && c.on.mode == dry {
		return 0, nil
	}
	if err := e.alone(ctx); err != nil {
		return 0, err
	}
	return e.Engine.Delete(writing(ctx), f)
}

// Lock implements store.Engine.
func (e *engine) Lock(ctx context.Context, ids ...store.ID) error {
	if c, ok := importing(ctx); ok && c.on.mode == dry {
		return nil
	}
	if err := e.alone(ctx); err != nil {
		return err
	}
	return e.Engine.Lock(ctx, ids...)
}
