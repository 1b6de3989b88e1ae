package mongo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

type logged struct {
	store.Meta `bson:",inline"`
	Name       *string  `json:"name"`
	Count      int64    `json:"count"`
	Owner      store.ID `json:"owner"`
}

func newLogged(name string) logged {
	return logged{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), Name: &name, Owner: store.NewID()}
}

var loggedSpec = store.Spec{
	Name: "logged", Changes: true, Scope: []string{"owner"}, Search: []string{"name"},
	Indexes: []store.Index{{Fields: []string{"name"}, Unique: true}, {Fields: []string{"count"}}},
}

// createLog prepares a database with a log, in which no mover runs, and returns its address.
func createLog(t *testing.T) *url.URL {
	t.Helper()
	address := mongotest.New(t)
	db := open(t, address, nil)
	store.Open[logged](db, loggedSpec)
	must(t, db.Prepare(t.Context()))
	db.log.close()
	return address
}

// openWithoutMover opens a database of createLog.
func openWithoutMover(t *testing.T, address *url.URL) (*DB, *store.Collection[logged], *collection) {
	t.Helper()
	db := open(t, address, nil)
	c := store.Open[logged](db, loggedSpec)
	return db, c, c.Engine().(atomicCollection).collection
}

// moveAll moves all pending entries.
func moveAll(t *testing.T, c *collection) {
	t.Helper()
	for {
		n, err := c.move(t.Context(), nil)
		must(t, err)
		if n == 0 {
			return
		}
	}
}

// checkLog moves the pending entries. Afterwards there must be no tombstone, and the log must have one entry for each version of
// each document, in order, and one entry for each deletion.
func checkLog(t *testing.T, c *collection, when string) {
	t.Helper()
	moveAll(t, c)
	entries, err := c.log.find(t.Context(), bson.D{}, 1, 100_000)
	must(t, err)
	seen, types := make(map[store.ID]bool), make(map[store.ID]string)
	for i, e := range entries {
		if e.Number != int64(i)+2 || seen[e.Change.ChangeID] {
			t.Fatalf("%s: entry %d has the number %d, or its change has two", when, i+2, e.Number)
		}
		seen[e.Change.ChangeID] = true
		types[e.RecordID] += string(e.Change.Type) + " "
		if e.Change.Scope["owner"].IsZero() {
			t.Errorf("%s: %+v has no scope", when, e)
		}
	}
	cursor, err := c.coll.Find(t.Context(), bson.D{})
	must(t, err)
	var docs []bson.M
	must(t, cursor.All(t.Context(), &docs))
	want := maps.Clone(types)
	for id, got := range types {
		before := throughLast(got, "deleted ")
		want[id] = before // the later entries follow from the version of the document, if it exists
	}
	for _, doc := range docs {
		id := doc["_id"].(store.ID)
		for version := range doc["version"].(int64) {
			want[id] += map[bool]string{true: "created ", false: "updated "}[version == 0]
		}
		if doc[deletedKey] != nil || doc[pendingKey] != nil || doc[changesKey] != nil {
			t.Errorf("%s: %v is left", when, doc)
		}
	}
	if !maps.Equal(types, want) {
		t.Errorf("%s: the log has %q, want %q", when, types, want)
	}
}

// throughLast returns the part of s up to the end of the last sep.
func throughLast(s, sep string) string {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return ""
	}
	return s[:i+len(sep)]
}

// TestLockTombstone checks that Lock does not find a tombstone. The operations run on the server without a transaction, so that
// servers without transactions can run the test too.
func TestLockTombstone(t *testing.T) {
	t.Parallel()
	db, c, _ := openWithoutMover(t, createLog(t))
	a, b := newLogged("a"), newLogged("b")
	must(t, errors.Join(c.Insert(t.Context(), a), c.Insert(t.Context(), b)))
	_, err := c.Delete(t.Context(), store.Eq("id", a.ID))
	must(t, err)
	s := new(transaction)
	must(t, s.Run(context.WithValue(t.Context(), transactionKey{db.client}, s), func(ctx context.Context) error {
		if err := c.Lock(ctx, b.ID, a.ID); !apperr.Is(err, apperr.NotFound) {
			t.Errorf("Lock of a deleted document returns %v", err)
		}
		return c.Lock(ctx, b.ID)
	}))
}

// TestTombstones checks that no operation of a collection selects a tombstone.
func TestTombstones(t *testing.T) {
	t.Parallel()
	db, c, internal := openWithoutMover(t, createLog(t))
	a, b := newLogged("a"), newLogged("b")
	must(t, errors.Join(c.Insert(t.Context(), a), c.Insert(t.Context(), b)))
	if n, err := c.Delete(t.Context(), store.Eq("id", a.ID)); n != 1 || err != nil {
		t.Fatalf("%d deleted, %v", n, err)
	}
	for _, f := range []store.Filter{
		nil, store.Ne("name", "x"), store.Or(store.Eq("name", nil), store.Eq("name", "b")), store.In("name", nil, "b"), store.In("id", a.ID, b.ID),
		store.Lt("version", 10), store.And(), store.And(store.Ne("count", 1), store.Gte("id", store.ID{})),
	} {
		docs, n, err := c.Page(t.Context(), store.Query{Filter: f, Sort: []store.Order{{Field: "count", Desc: true}}})
		must(t, err)
		if len(docs) != 1 || n != 1 || docs[0].ID != b.ID {
			t.Errorf("%+v selects %d of %d", f, len(docs), n)
		}
	}
	for _, f := range []store.Filter{store.Eq("id", a.ID), store.Eq("name", nil), store.And(store.Eq("id", a.ID), store.Eq("count", 0))} {
		_, err := c.Update(t.Context(), f, store.Set("count", 1))
		deleted, deleteErr := c.Delete(t.Context(), f)
		_, firstErr := c.First(t.Context(), f)
		if !apperr.Is(err, apperr.NotFound) || !apperr.Is(firstErr, apperr.NotFound) || deleted != 0 || deleteErr != nil {
			t.Errorf("%+v: %v, %v, %d deleted, %v", f, err, firstErr, deleted, deleteErr)
		}
	}
	twin := newLogged("a")
	must(t, c.Insert(t.Context(), twin))
	must(t, c.Insert(t.Context(), logged{Meta: a.Meta, Name: new("again"), Owner: a.Owner}))
	checkLog(t, internal, "at the end")
	names, err := db.Names(t.Context())
	if err != nil || !slices.Equal(names, []string{"logged"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// TestMaxPending checks that an update moves the entries if no mover is running.
func TestMaxPending(t *testing.T) {
	t.Parallel()
	_, c, internal := openWithoutMover(t, createLog(t))
	d := newLogged("d")
	must(t, c.Insert(t.Context(), d))
	for range maxPending + 5 {
		_, err := c.Update(t.Context(), store.Eq("id", d.ID), store.Inc("count", 1))
		must(t, err)
	}
	raw, err := internal.coll.FindOne(t.Context(), bson.D{}).Raw()
	must(t, err)
	values, err := raw.Lookup(changesKey).Array().Values()
	if err != nil || len(values) > 10 {
		t.Errorf("%d entries are pending, %v", len(values), err)
	}
	checkLog(t, internal, "at the end")
}

// TestMovers runs several movers on the same entries. One mover continues with entries that it read before the other movers
// moved them.
func TestMovers(t *testing.T) {
	t.Parallel()
	address := createLog(t)
	_, c, first := openWithoutMover(t, address)
	_, _, second := openWithoutMover(t, address)
	a, b := newLogged("a"), newLogged("b")
	must(t, errors.Join(c.Insert(t.Context(), a), c.Insert(t.Context(), b)))
	var read []logEntry
	var docs []bson.Raw
	for _, d := range []logged{a, b} {
		doc, err := first.coll.FindOne(t.Context(), bson.D{{Key: idKey, Value: d.ID}}).Raw()
		must(t, err)
		of, err := first.entriesOf(doc)
		must(t, err)
		docs, read = append(docs, doc), append(read, of...)
	}
	_, err := c.Delete(t.Context(), store.Eq("id", a.ID))
	must(t, err)
	_, err = c.Update(t.Context(), store.Eq("id", b.ID), store.Inc("count", 1))
	must(t, err)
	_, err = second.move(t.Context(), bson.D{{Key: idKey, Value: a.ID}})
	must(t, err)
	must(t, first.log.append(t.Context(), read))
	must(t, first.clearAll(t.Context(), docs))
	var group sync.WaitGroup
	for i := range 10 {
		must(t, c.Insert(t.Context(), newLogged(fmt.Sprint(i))))
	}
	for _, mover := range []*collection{first, second, first} {
		group.Go(func() {
			if _, err := mover.move(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	checkLog(t, first, "at the end")
}

// TestSweepBatch sweeps more entries than one call of Sweep deletes.
func TestSweepBatch(t *testing.T) {
	t.Parallel()
	db, _, _ := openWithoutMover(t, createLog(t))
	old := time.Now().Add(-48 * time.Hour)
	entries := make([]any, engine.SweepBatch+20)
	for i := range entries {
		entries[i] = logEntry{Number: int64(i + 1), Collection: "logged", Change: pending{ChangeID: store.NewID(), Type: store.Created, At: old}}
	}
	_, err := db.log.coll.DeleteMany(t.Context(), bson.D{}) // new entries of Prepare
	must(t, err)
	_, err = db.log.coll.InsertMany(t.Context(), entries)
	must(t, err)
	n, err := db.Log().Sweep(t.Context(), store.At(time.Now()))
	must(t, err)
	left, err := db.log.coll.CountDocuments(t.Context(), bson.D{})
	must(t, err)
	if n == 0 || n > engine.SweepBatch || left < 20 {
		t.Errorf("one call has deleted %d entries, and %d are left", n, left)
	}
}

// TestInterruptedLog repeats a sequence of writes and moves. In each repetition, the proxy rejects a different command.
func TestInterruptedLog(t *testing.T) {
	t.Parallel()
	direct := createLog(t)
	var left atomic.Int64 // number of commands before the rejected command
	_, address := newProxy(t, func(request []byte) bson.D {
		for _, command := range []string{"hello", "isMaster", "endSessions", "ismaster"} {
			if bytes.Contains(request, []byte(command+"\x00")) {
				return nil
			}
		}
		if left.Add(-1) == 0 {
			return bson.D{{Key: "ok", Value: 0.0}, {Key: "code", Value: int32(2)}, {Key: "errmsg", Value: "rejected by the proxy"}}
		}
		return nil
	})
	address.Path = direct.Path
	_, _, internal := openWithoutMover(t, direct)
	_, c, interrupted := openWithoutMover(t, address)
	ctx := context.Background()
	for step := 1; ; step++ {
		left.Store(int64(step))
		a, b := newLogged(fmt.Sprint("a", step)), newLogged(fmt.Sprint("b", step))
		_ = errors.Join(c.Insert(ctx, a), c.Insert(ctx, b))
		_, _ = interrupted.move(ctx, nil)
		_, _ = c.Update(ctx, store.Eq("id", a.ID), store.Inc("count", 1))
		_, _ = c.Delete(ctx, store.Eq("id", a.ID))
		_, _ = c.Update(ctx, store.Eq("id", b.ID), store.Inc("count", 1))
		_, _ = interrupted.move(ctx, nil)
		done := left.Load() > 0
		left.Store(0)
		checkLog(t, internal, fmt.Sprint("step ", step))
		if done || t.Failed() {
			if step < 15 {
				t.Errorf("only %d commands", step)
			}
			return
		}
	}
}
