package mongo

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// failure is the response to a command that fails.
func failure(code int, message string) bson.D {
	return bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: code}, {Key: "errmsg", Value: message}}
}

// isCommand reports whether a request is the command.
func isCommand(request []byte, name string) bool {
	return bytes.Contains(request[:min(len(request), 64)], append([]byte(name), 0))
}

// TestUnnamedDuplicate rejects updates as DocumentDB does: the error has neither MongoDB's code nor the name of the index.
func TestUnnamedDuplicate(t *testing.T) {
	t.Parallel()
	_, address := newProxy(t, func(request []byte) bson.D {
		if !isCommand(request, "findAndModify") {
			return nil
		}
		return failure(1, `conflicting key value violates exclusion constraint "documents_rum_constraint_12_4"`)
	})
	db := open(t, address, nil)
	c := store.Open[note](db, store.Spec{Name: "notes", Indexes: []store.Index{
		{Fields: []string{"short"}, Unique: true}, {Fields: []string{"title", "size"}, Unique: true}, {Fields: []string{"place.city"}, Unique: true},
	}})
	a := note{Meta: store.NewMeta(store.NewID(), noon), Title: "a", Size: 1, Short: "a", Place: &place{City: "Oslo"}}
	b := note{Meta: store.NewMeta(store.NewID(), noon), Title: "b", Size: 1, Short: "b"}
	b3 := note{Meta: store.NewMeta(store.NewID(), noon), Title: "b", Size: 3}
	must(t, errors.Join(c.Insert(t.Context(), a), c.Insert(t.Context(), b), c.Insert(t.Context(), b3)))
	for _, test := range []struct {
		name   string
		change store.Change
		want   []string
	}{
		{"one field", store.Set("short", "a"), []string{"short"}},
		{"one of two fields", store.Set("title", "a"), []string{"title", "size"}},
		{"a sum", store.Inc("size", 2), []string{"title", "size"}},
		{"a nested field", store.Set("place.city", "Oslo"), []string{"place.city"}},
		{"a field of a struct", store.Set("place", place{City: "Oslo"}), []string{"place.city"}},
		{"a value that no document has any more", store.Set("short", "c"), nil},
	} {
		_, err := c.Update(t.Context(), store.Eq("id", b.ID), test.change)
		var conflict *apperr.Error
		if !errors.As(err, &conflict) || conflict.Code != apperr.Conflict {
			t.Errorf("%s: %v is no Conflict", test.name, err)
			continue
		}
		var got []string
		for _, f := range conflict.Fields {
			got = append(got, f.Param)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: the Conflict names %q, want %q", test.name, got, test.want)
		}
	}
}

// TestDuplicatesAtStart responds to the creation of a unique index over duplicates as DocumentDB does.
func TestDuplicatesAtStart(t *testing.T) {
	t.Parallel()
	_, address := newProxy(t, func(request []byte) bson.D {
		if !isCommand(request, "createIndexes") {
			return nil
		}
		return failure(1, `could not create exclusion constraint "documents_rum_index_514"`)
	})
	db := open(t, address, nil)
	store.Open[note](db, store.Spec{Name: "notes", Indexes: []store.Index{{Fields: []string{"title", "size"}, Unique: true}}})
	err := db.Prepare(t.Context())
	if want := "several documents of the collection notes have the same title and size"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Prepare says %v, want %q", err, want)
	}
}

// TestDeadlock rejects the first command of each kind with a deadlock, as a server that uses PostgreSQL does.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	names := []string{"createIndexes", "insert", "findAndModify"}
	deadlocks := make([]atomic.Bool, len(names))
	_, address := newProxy(t, func(request []byte) bson.D {
		i := slices.IndexFunc(names, func(name string) bool { return isCommand(request, name) })
		if i < 0 || deadlocks[i].Swap(true) {
			return nil
		}
		return failure(1, "deadlock detected")
	})
	db := open(t, address, nil)
	c := store.Open[note](db, store.Spec{Name: "notes", Indexes: []store.Index{{Fields: []string{"title"}}}})
	n := note{Meta: store.NewMeta(store.NewID(), noon)}
	if err := errors.Join(db.Prepare(t.Context()), c.Insert(t.Context(), n)); err != nil {
		t.Error(err)
	}
	if _, err := c.Update(t.Context(), store.Eq("id", n.ID), store.Set("title", "b")); err != nil {
		t.Error(err)
	}
	for i, name := range names {
		if !deadlocks[i].Load() {
			t.Errorf("%s was not sent", name)
		}
	}
}

// TestCountOfAll counts on a server that keeps the count, and on a server whose estimate is outdated.
func TestCountOfAll(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		engines bson.A
		want    int64
	}{
		"MongoDB": {bson.A{"devnull", "wiredTiger"}, 7},
		"another": {nil, 2},
	} {
		var commands atomic.Int64
		_, address := newProxy(t, func(request []byte) bson.D {
			switch {
			case isCommand(request, "buildInfo"):
				return bson.D{{Key: "ok", Value: 1}, {Key: "version", Value: "7.0.0"}, {Key: "storageEngines", Value: test.engines}}
			case isCommand(request, "count"): // the estimate
				return bson.D{{Key: "ok", Value: 1}, {Key: "n", Value: 7}}
			}
			return nil
		})
		db := open(t, address, &event.CommandMonitor{
			Started: func(context.Context, *event.CommandStartedEvent) { commands.Add(1) },
		})
		c := store.Open[note](db, store.Spec{Name: "notes"})
		must(t, db.Prepare(t.Context()))
		for range 2 {
			must(t, c.Insert(t.Context(), note{Meta: store.NewMeta(store.NewID(), noon)}))
		}
		commands.Store(0)
		if n, err := c.Count(t.Context(), nil); n != test.want || err != nil || commands.Load() != 1 {
			t.Errorf("%s: %d, %v by %d commands, want %d by one", name, n, err, commands.Load(), test.want)
		}
	}
}
