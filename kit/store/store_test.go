package store

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
)

type thing struct {
	Meta
	Name string `json:"name"`
}

// recorder is an Engine that records its arguments and returns its documents.
type recorder struct {
	DB
	docs   []thing
	err    error
	filter Filter
	id     ID
	doc    any
	spec   Spec
}

func (r *recorder) Open(spec Spec) Engine { r.spec = spec; return r }

func (r *recorder) Load(context.Context, []Document) error { return nil }
func (r *recorder) Lock(context.Context, ...ID) error      { return nil }
func (r *recorder) Reset(context.Context) error            { return nil }

func (r *recorder) Insert(_ context.Context, id ID, doc any) error {
	r.id, r.doc = id, doc
	return r.err
}

func (r *recorder) First(_ context.Context, f Filter, into any) error {
	r.filter = f
	if len(r.docs) == 0 {
		return ErrNotFound
	}
	*into.(*thing) = r.docs[0]
	return r.err
}

func (r *recorder) List(_ context.Context, q Query, next func() any) (int64, error) {
	r.filter = q.Filter
	for _, d := range r.docs {
		if next == nil {
			break
		}
		into := next().(*thing)
		if *into != (thing{}) {
			return 0, errors.New("next returned a document that is not empty")
		}
		*into = d
	}
	return int64(len(r.docs)), r.err
}

func (r *recorder) Update(ctx context.Context, f Filter, _ []Change, into any) error {
	return r.First(ctx, f, into)
}

func (r *recorder) Delete(ctx context.Context, f Filter) (int64, error) {
	return r.List(ctx, Query{Filter: f}, nil)
}

func TestCollection(t *testing.T) {
	ctx := t.Context()
	r := &recorder{}
	spec := Spec{Name: "things", Search: []string{"name"}}
	c := Open[thing](r, spec)
	if doc, ok := r.spec.NewDocument().(*thing); !ok || *doc != (thing{}) {
		t.Errorf("the collection's documents are %#v", doc)
	}
	spec.document = r.spec.document
	if !reflect.DeepEqual(r.spec, spec) {
		t.Errorf("the engine was opened with %v", r.spec)
	}
	if docs, err := c.List(ctx, Query{}); err != nil || docs == nil || len(docs) != 0 {
		t.Errorf("List of nothing is %#v, %v; want an empty list", docs, err)
	}
	if _, err := c.Get(ctx, NewID()); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get of nothing returns %v", err)
	}

	now := At(time.Now())
	for range 300 { // more than List makes room for
		r.docs = append(r.docs, thing{Meta: NewMeta(NewID(), now)})
	}
	docs, err := c.List(ctx, Query{Limit: 1000})
	if err != nil || !reflect.DeepEqual(docs, r.docs) {
		t.Errorf("List has %d documents, %v", len(docs), err)
	}
	d := r.docs[0]
	if got, err := c.Get(ctx, d.ID); err != nil || got != d || r.filter != Eq("id", d.ID) {
		t.Errorf("Get has %v, %v by %v", got, err, r.filter)
	}
	if err := c.Insert(ctx, d); err != nil || r.id != d.ID || r.doc != d {
		t.Errorf("Insert gave the engine %v %v, %v", r.id, r.doc, err)
	}
	if got, err := c.Update(ctx, Eq("id", d.ID)); err != nil || got != d {
		t.Errorf("Update has %v, %v", got, err)
	}
	if n, err := c.Count(ctx, nil); err != nil || n != 300 {
		t.Errorf("Count is %d, %v", n, err)
	}
	if n, err := c.Delete(ctx, nil); err != nil || n != 300 {
		t.Errorf("Delete is %d, %v", n, err)
	}
}

func TestNewMeta(t *testing.T) {
	id, now := NewID(), At(time.Now())
	if got, want := NewMeta(id, now), (Meta{ID: id, Version: 1, CreatedAt: now, UpdatedAt: now}); got != want {
		t.Errorf("NewMeta is %v, want %v", got, want)
	}
}

func TestErrors(t *testing.T) {
	err := Duplicate("namespace", "name")
	if !apperr.Is(err, apperr.Conflict) || len(err.Fields) != 2 {
		t.Fatalf("Duplicate is %v with the fields %v", err, err.Fields)
	}
	for i, name := range []string{"namespace", "name"} {
		if f := err.Fields[i]; f.Param != name || f.In != "body" || f.Code != "conflict" || f.Message == "" {
			t.Errorf("field %d is %+v", i, f)
		}
	}
	if err := Duplicate(); !apperr.Is(err, apperr.Conflict) || len(err.Fields) != 0 {
		t.Errorf("Duplicate of no field is %v", err)
	}
	if err := Unavailable(context.Canceled); !apperr.Is(err, apperr.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("Unavailable is %v", err)
	}
	if !apperr.Is(ErrNotFound, apperr.NotFound) {
		t.Errorf("ErrNotFound is %v", ErrNotFound)
	}
}
