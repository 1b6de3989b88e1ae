package resource

import (
	"context"
	"fmt"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// snapshots is a database whose transactions are not serializable. It records the IDs that are locked.
type snapshots struct {
	store.DB
	locked *[]store.ID
}

func (snapshots) Serializable() bool { return false }

func (s snapshots) Open(spec store.Spec) store.Engine {
	return snapshotEngine{s.DB.Open(spec), s.locked}
}

type snapshotEngine struct {
	store.Engine
	locked *[]store.ID
}

func (e snapshotEngine) Lock(ctx context.Context, ids ...store.ID) error {
	*e.locked = append(*e.locked, ids...)
	return e.Engine.Lock(ctx, ids...)
}

// TestLocked checks that a write locks the records to which it adds references, unless the reference ignores their deletion.
func TestLocked(t *testing.T) {
	t.Parallel()
	for name, transactions := range map[string]bool{"snapshots": true, "without transactions": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := testdb.Open(t)
			if !transactions {
				db = testdb.Separate(db)
			}
			if transactions && !db.Serializable() {
				t.Skip("TestStress runs with the transactions of this server")
			}
			locked := new([]store.ID)
			w := worldOf(t, snapshots{db, locked})
			want := func(err error, want ...store.ID) {
				t.Helper()
				if w.want(err, ""); !transactions {
					want = nil
				}
				if fmt.Sprint(*locked) != fmt.Sprint(want) {
					t.Errorf("%v are locked, want %v", *locked, want)
				}
				*locked = nil
			}
			targets := w.open("targets", Public, Public)
			a, b, c := w.add(targets, node{}), w.add(targets, node{}), w.add(targets, node{})
			items := w.open("items", nil, nil, Under("to", targets), To("maybe", targets, Restrict), To("many", targets, Clear))
			kept := w.open("kept", Public, Public, To("maybe", targets, Keep))
			want(w.create(items, nobody, node{To: a, Maybe: &b, Many: []store.ID{b, c}}), a, b, b, c)
			want(w.create(items, nobody, node{To: a}), a)
			want(w.create(kept, nobody, node{Maybe: &b}))
			item := w.add(items, node{To: a, Maybe: &b})
			update := func(changes ...store.Change) error {
				_, err := items.Update(t.Context(), nobody, item, nil, changes...)
				return err
			}
			want(update(store.Set("name", "new")))
			want(update(store.Set("maybe", b)))
			want(update(store.Set("maybe", c)), c)
			want(update(store.Set("many", []store.ID{a, b})), a, b)
			want(update(store.Unset("maybe")))
			want(w.delete(items, item))
		})
	}
}
