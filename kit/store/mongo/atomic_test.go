package mongo

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

type counter struct {
	store.Meta `bson:",inline"`
	Count      int64 `json:"count"`
}

// TestProbe checks the result of hasTransactions, and that hasTransactions leaves no document. FerretDB 1 announces sessions, but
// does not support transactions.
func TestProbe(t *testing.T) {
	t.Parallel()
	var started sync.Map
	db := open(t, mongotest.New(t), &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		started.Store(e.CommandName, true)
	}})
	c := store.Open[counter](db, store.Spec{Name: "counters"})
	insert := func(ctx context.Context) error {
		return c.Insert(ctx, counter{Meta: store.NewMeta(store.NewID(), store.Time{})})
	}
	if err := db.Atomic(t.Context(), insert); !errors.Is(err, store.ErrNoTransactions) {
		t.Errorf("before Prepare, Atomic returns %v", err)
	}
	for range 2 {
		must(t, db.Prepare(t.Context()))
	}
	left, err := db.db.Collection(probes).CountDocuments(t.Context(), bson.D{})
	must(t, err)
	names, err := db.Names(t.Context())
	must(t, err)
	if left != 0 || len(names) > 1 {
		t.Errorf("the probe leaves %d documents, and the collections are %q", left, names)
	}
	var server struct {
		FerretDB string `bson:"ferretdbVersion"`
		SetName  string `bson:"setName"`
	}
	must(t, db.db.RunCommand(t.Context(), bson.D{{Key: "buildInfo", Value: 1}}).Decode(&server))
	must(t, db.db.RunCommand(t.Context(), bson.D{{Key: "hello", Value: 1}}).Decode(&server))
	switch got := db.transactions.Load(); {
	case got && server.FerretDB != "" && server.FerretDB < "v2":
		t.Errorf("the probe finds transactions on FerretDB %s", server.FerretDB)
	case !got && server.FerretDB == "" && server.SetName != "" && db.hasExactCount.Load():
		t.Error("the probe finds no transactions on a replica set of MongoDB")
	}
	started.Clear()
	err = db.Atomic(t.Context(), insert)
	_, wrote := started.Load("insert")
	n, countErr := c.Count(t.Context(), nil)
	must(t, countErr)
	if db.transactions.Load() {
		must(t, err)
	} else if !errors.Is(err, store.ErrNoTransactions) || wrote || n != 0 {
		t.Errorf("without transactions, Atomic returns %v, and %d documents are stored", err, n)
	}
	must(t, db.Together(t.Context(), insert))
}

// TestAtomicInstances increments a number in two instances concurrently.
func TestAtomicInstances(t *testing.T) {
	t.Parallel()
	address := mongotest.New(t)
	var group sync.WaitGroup
	d := counter{Meta: store.NewMeta(store.NewID(), store.Time{})}
	var last *store.Collection[counter]
	const instances, steps = 2, 20
	for i := range instances {
		db := open(t, address, nil)
		c := store.Open[counter](db, store.Spec{Name: "counters"})
		must(t, db.Prepare(t.Context()))
		if !db.transactions.Load() {
			t.Skip("the server has no transactions")
		}
		if last = c; i == 0 {
			must(t, c.Insert(t.Context(), d))
		}
		group.Go(func() {
			for range steps {
				err := db.Atomic(t.Context(), func(ctx context.Context) error {
					got, err := c.Get(ctx, d.ID)
					if err != nil {
						return err
					}
					_, err = c.Update(ctx, store.Eq("id", d.ID), store.Set("count", got.Count+1))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got, err := last.Get(t.Context(), d.ID)
	must(t, err)
	if got.Count != instances*steps {
		t.Errorf("the instances have counted to %d, want %d", got.Count, instances*steps)
	}
}
