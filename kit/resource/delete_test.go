package resource

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

func TestRestrict(t *testing.T) {
	w := newWorld(t)
	targets := w.open("targets", Public, Public)
	nodes := w.open("nodes", Public, Public, To("to", targets, Restrict))
	id := w.add(targets, node{})
	referring := w.add(nodes, node{To: id})
	err := w.delete(targets, id)
	w.want(err, apperr.Conflict)
	if !strings.Contains(err.Error(), "nodes") {
		t.Errorf("%v does not name nodes", err)
	}
	w.left(targets, 1)
	w.want(w.delete(nodes, referring), "")
	w.want(targets.Delete(t.Context(), server, id, store.Versions{7}), apperr.PreconditionFailed)
	w.want(targets.Delete(t.Context(), server, id, store.Versions{7, 1}), "")
	w.want(w.delete(targets, id), apperr.NotFound)
}

// TestCascade deletes a record and two levels of records below it. A reference that restricts the deletion of the record, but
// belongs to a record that is deleted too, must not prevent the deletion.
func TestCascade(t *testing.T) {
	t.Parallel()
	testdb.Each(t, testCascade)
}

func testCascade(t *testing.T, db store.DB) {
	w := worldOf(t, db)
	tops := w.open("tops", Public, Public)
	bottoms := w.open("bottoms", Public, Public)
	middles := w.open("middles", Public, Public, To("to", tops, Cascade))
	leaves := w.open("leaves", Public, Public, To("to", middles, Cascade), To("maybe", tops, Restrict))
	others := w.open("others", Public, Public, To("to", leaves, Restrict), To("maybe", bottoms, Clear))
	top, spare := w.add(tops, node{}), w.add(tops, node{})
	middle := w.add(middles, node{To: top})
	w.add(middles, node{To: spare})
	leaf := w.add(leaves, node{To: middle, Maybe: &top})
	other := w.add(others, node{To: leaf})
	w.want(w.delete(tops, top), apperr.Conflict)
	w.left(middles, 2)
	w.left(leaves, 1)
	w.want(w.delete(others, other), "")
	w.want(w.delete(tops, top), "")
	w.left(tops, 1)
	w.left(middles, 1)
	w.left(leaves, 0)
}

// TestOnDelete deletes records that have a rule for deletions: one by one, and by a cascade.
func TestOnDelete(t *testing.T) {
	w := newWorld(t)
	targets := w.open("targets", Public, Public)
	nodes := w.open("nodes", Public, Public, To("to", targets, Cascade))
	var deleted []string
	nodes.OnDelete(func(ctx context.Context, n node) error {
		if n.Name == "locked" {
			return apperr.New(apperr.Conflict, "The node is locked.")
		}
		_, err := targets.all.Update(ctx, store.Eq("id", n.To), store.Set("name", "changed by a rule"))
		deleted = append(deleted, n.Name)
		return apperr.Replace(err, apperr.NotFound, nil)
	})
	calls := 0
	nodes.OnDelete(func(context.Context, node) error { // a second rule
		calls++
		return nil
	})
	target := w.add(targets, node{})
	w.want(w.delete(nodes, w.add(nodes, node{Name: "a", To: target})), "")
	w.add(nodes, node{Name: "b", To: target})
	locked := w.add(nodes, node{Name: "locked", To: target})
	w.want(w.delete(nodes, locked), apperr.Conflict)
	w.want(w.delete(targets, target), apperr.Conflict)
	w.left(nodes, 2)
	_, err := nodes.Update(t.Context(), nobody, locked, nil, store.Set("name", "c"))
	w.want(err, "")
	deleted, calls = nil, 0
	w.want(w.delete(targets, target), "")
	if w.left(nodes, 0); strings.Join(deleted, " ") != "b c" || calls != 2 {
		t.Errorf("the first rule was called with %v, the second %d times", deleted, calls)
	}
}

// TestOnDeleteFirst checks that the rule of a record runs before the records that refer to it are changed, also on a database
// without transactions.
func TestOnDeleteFirst(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, db store.DB) {
		w := worldOf(t, db)
		targets := w.open("targets", Public, Public)
		nodes := w.open("nodes", Public, Public, To("to", targets, Cascade))
		targets.OnDelete(func(context.Context, node) error { return apperr.New(apperr.Conflict, "The target is locked.") })
		target := w.add(targets, node{})
		w.add(nodes, node{To: target})
		w.want(w.delete(targets, target), apperr.Conflict)
		w.left(nodes, 1)
	})
}

func TestClear(t *testing.T) {
	w := newWorld(t)
	targets := w.open("targets", Public, Public)
	nodes := w.open("nodes", Public, Public, To("maybe", targets, Clear), To("many", targets, Clear))
	id, spare := w.add(targets, node{}), w.add(targets, node{})
	referring := w.add(nodes, node{Maybe: &id, Many: []store.ID{spare, id, id}})
	w.add(nodes, node{Maybe: &spare})
	w.want(w.delete(targets, id), "")
	got, err := nodes.all.Get(t.Context(), referring)
	w.want(err, "")
	if got.Maybe != nil || len(got.Many) != 1 || got.Many[0] != spare || got.Version == 1 || got.UpdatedAt == got.CreatedAt {
		t.Errorf("%+v", got)
	}
	if n, err := nodes.all.Count(t.Context(), store.Eq("maybe", spare)); n != 1 || err != nil {
		t.Errorf("%d other references, %v", n, err)
	}
}

// TestSelf deletes records that refer to records of the same collection, also in a cycle.
func TestSelf(t *testing.T) {
	w := newWorld(t)
	for _, rule := range []OnDelete{Restrict, Cascade, Clear} {
		nodes := w.open(fmt.Sprint("nodes", rule), Public, Public, ToSelf("maybe", rule))
		root := w.add(nodes, node{})
		child := w.add(nodes, node{Maybe: &root})
		w.add(nodes, node{Maybe: &child})
		itself := w.add(nodes, node{})
		for id, to := range map[store.ID]store.ID{root: child, itself: itself} {
			_, err := nodes.all.Update(t.Context(), store.Eq("id", id), store.Set("maybe", to))
			w.want(err, "")
		}
		w.want(w.delete(nodes, itself), "")
		want := []apperr.Code{apperr.Conflict, "", ""}[rule]
		w.want(w.delete(nodes, root), want)
		w.left(nodes, []int64{3, 0, 2}[rule])
	}
}

// TestTooMany deletes a record with more referring records than one deletion can change.
func TestTooMany(t *testing.T) {
	testdb.SQLiteOnly(t)
	w := newWorld(t)
	targets := w.open("targets", Public, Public)
	nodes := w.open("nodes", Public, Public, To("to", targets, Cascade))
	id := w.add(targets, node{})
	var ids []store.ID
	for range MaxReferring + 1 {
		ids = append(ids, w.add(nodes, node{To: id}))
	}
	w.want(w.delete(targets, id), apperr.Conflict)
	w.left(nodes, MaxReferring+1)
	w.want(w.delete(nodes, ids[0]), "")
	w.want(w.delete(targets, id), "")
	w.left(nodes, 0)
}

// TestInterrupted interrupts a deletion after each of its steps. A repeated deletion completes it.
func TestInterrupted(t *testing.T) {
	w := newWorld(t)
	tops := w.open("tops", Public, Public)
	middles := w.open("middles", Public, Public, To("to", tops, Cascade))
	leaves := w.open("leaves", Public, Public, To("to", middles, Cascade))
	others := w.open("others", Public, Public, To("maybe", leaves, Clear))
	for steps := range 4 {
		top := w.add(tops, node{})
		leaf := w.add(leaves, node{To: w.add(middles, node{To: top})})
		other := w.add(others, node{Maybe: &leaf})
		d, err := tops.PlanDeletion(t.Context(), top)
		w.want(err, "")
		for _, step := range d.steps()[:steps] {
			w.want(step(t.Context()), "")
		}
		w.want(w.delete(tops, top), "")
		w.left(tops, 0)
		w.left(middles, 0)
		w.left(leaves, 0)
		if got, err := others.all.Get(t.Context(), other); err != nil || got.Maybe != nil {
			t.Errorf("after %d steps: %+v, %v", steps, got, err)
		}
	}
}

// TestRace creates a reference to a record while the record is deleted. Afterwards, either the record and the reference exist,
// or the record is deleted. If the record is deleted, the reference was rejected, cleared or deleted, or refers to no record.
func TestRace(t *testing.T) {
	t.Parallel()
	testdb.Each(t, testRace)
}

func testRace(t *testing.T, db store.DB) {
	w := worldOf(t, db)
	targets := w.open("targets", Public, Public)
	for _, rule := range []OnDelete{Restrict, Cascade, Clear} {
		nodes := w.open(fmt.Sprint("nodes", rule), Public, Public, To("maybe", targets, rule))
		for range testdb.Size(10, 3) {
			id := w.add(targets, node{})
			var created, deleted error
			referring := node{Meta: store.NewMeta(store.NewID(), store.At(time.Unix(1, 0))), Maybe: &id}
			var group sync.WaitGroup
			group.Go(func() {
				created = nodes.Create(t.Context(), nobody, referring)
			})
			group.Go(func() { deleted = w.delete(targets, id) })
			group.Wait()
			w.checkRace(targets, nodes, rule, referring, created, deleted)
		}
	}
}

func (w world) checkRace(targets, nodes *Collection[node], rule OnDelete, referring node, created, deleted error) {
	w.Helper()
	_, gone := targets.all.Get(w.Context(), *referring.Maybe)
	got, missing := nodes.all.Get(w.Context(), referring.ID)
	switch {
	case deleted != nil: // the reference came first
		if rule != Restrict || !apperr.Is(deleted, apperr.Conflict) || created != nil || gone != nil || missing != nil {
			w.Errorf("rule %d: delete fails with %v; create %v, target %v, node %v", rule, deleted, created, gone, missing)
		}
		return
	case !apperr.Is(gone, apperr.NotFound):
		w.Errorf("rule %d: the deleted target exists: %v", rule, gone)
	case created != nil: // the deletion came first
		if len(invalidParams(created)) != 1 || !apperr.Is(missing, apperr.NotFound) {
			w.Errorf("rule %d: create fails with %v, node %v", rule, created, missing)
		}
		return
	case missing != nil && rule != Cascade:
		w.Errorf("rule %d: the created node is missing: %v", rule, missing)
	case missing == nil && got.Maybe != nil: // the reference refers to no record
		views := []view{got.view()}
		w.want(expand(w.Context(), nodes, nobody, []string{"maybe"}, views, unlimited), "")
		if string(views[0].Expand["maybe"]) != "null" {
			w.Errorf("rule %d: expanded as %s", rule, views[0].Expand["maybe"])
		}
		_, err := nodes.Update(w.Context(), nobody, got.ID, nil, store.Set("maybe", got.Maybe))
		w.want(err, "")
	}
}
