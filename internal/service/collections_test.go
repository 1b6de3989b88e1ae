package service_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// TestCollections stores two documents in each collection of the service: one with a value in each field, one with none. Both
// must be read as they were stored, filters must find each field, and each unique index must reject a document with the same
// values. At last, the jobs of all modules must delete the documents that have expired.
func TestCollections(t *testing.T) {
	t.Parallel()
	declared := map[string]store.Spec{}
	api := apitest.Start(t, func(c *testkit.Config) { c.DB = declarations{c.DB, declared} })
	now := store.At(api.Clock.Now())
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		spec := declared[name]
		engine := api.DB.Open(spec)
		insert := func(doc store.Document) error { return engine.Insert(t.Context(), store.IDOf(doc), doc) }
		full := newDocument(spec, now, 1)
		for _, doc := range []store.Document{full, newDocument(spec, now, 0)} {
			got := spec.NewDocument()
			if err := errors.Join(insert(doc), engine.First(t.Context(), store.Eq("id", store.IDOf(doc)), got)); err != nil || !reflect.DeepEqual(got, doc) {
				t.Errorf("%s: stored\n%+v, read\n%+v, %v", name, doc, got, err)
			}
		}
		present := []store.Filter{store.Eq("id", store.IDOf(full))}
		for _, field := range store.FieldNames(reflect.TypeOf(full).Elem()) {
			if field != "-" {
				present = append(present, store.Ne(field, nil))
			}
		}
		if err := engine.First(t.Context(), store.And(present...), spec.NewDocument()); err != nil {
			t.Errorf("%s: a filter does not find all fields: %v", name, err)
		}
		for _, index := range spec.Indexes {
			same := newDocument(spec, now, 2)
			for _, f := range reflect.VisibleFields(reflect.TypeOf(full).Elem()) {
				if slices.Contains(index.Fields, store.FieldName(f)) {
					reflect.ValueOf(same).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(full).Elem().FieldByIndex(f.Index))
				}
			}
			var e *apperr.Error
			want := store.Duplicate(index.Fields...)
			if err := insert(same); index.Unique && (!errors.As(err, &e) || !reflect.DeepEqual(e.Fields, want.Fields)) {
				t.Errorf("%s: a second document with the same %v: %v", name, index.Fields, err)
			}
		}
	}
	api.Clock.Advance(time.Hour)
	api.RunJobs()
	for name, spec := range declared {
		if !slices.Contains(store.FieldNames(reflect.TypeOf(spec.NewDocument()).Elem()), "expiresAt") {
			continue
		}
		n, err := api.DB.Open(spec).List(t.Context(), store.Query{Filter: store.Lte("expiresAt", now), MaxCount: store.CountAll}, nil)
		if n != 0 || err != nil {
			t.Errorf("%s: %d documents have expired, %v", name, n, err)
		}
	}
}

// newDocument returns a new document of the collection. With n = 0, fields have the zero value. Otherwise, each field has a value
// that depends on n, and times are now.
func newDocument(spec store.Spec, now store.Time, n int) store.Document {
	doc := spec.NewDocument()
	v := reflect.ValueOf(doc).Elem()
	if n > 0 {
		fill(v, now, n)
	}
	v.FieldByName("Meta").Set(reflect.ValueOf(store.NewMeta(store.NewID(), now)))
	return doc
}

// fill sets v, and the fields, items and values of v.
func fill(v reflect.Value, now store.Time, n int) {
	switch v.Interface().(type) {
	case store.Time:
		v.Set(reflect.ValueOf(now))
		return
	case store.ID:
		v.Set(reflect.ValueOf(store.NewID()))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if f.IsExported() && len(f.Index) == 1 && (f.Anonymous || store.FieldName(f) != "-") {
				fill(v.FieldByIndex(f.Index), now, n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), now, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), now, n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, now, n)
		fill(value, now, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Interface:
		v.Set(reflect.ValueOf(fmt.Sprint("value ", n)))
	case reflect.String:
		v.SetString(fmt.Sprint("value ", n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Float64:
		v.SetFloat(float64(n) + 0.5)
	}
}
