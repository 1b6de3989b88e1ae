package resource

import (
	"context"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// remove adds the removal of a record and deletes the record, without its rules.
func (w world) remove(r *Removals, c *Collection[node], id store.ID) {
	w.Helper()
	w.want(r.Add(w.Context(), id), "")
	if _, err := c.all.Delete(w.Context(), store.Eq("id", id)); err != nil {
		w.Fatal(err)
	}
}

// TestRemoval deletes a team with more records than one portion, and with every kind of referring record.
func TestRemoval(t *testing.T) {
	w := newTeams(t)
	now := time.Now()
	w.deps.Now = func() time.Time { return now }
	removals := NewRemovals(w.deps, w.teams)
	items := w.open("items", nil, nil, Under("to", w.tasks), To("maybe", w.tasks, Restrict))
	reviews := w.open("reviews", Public, Public, To("to", w.tasks, Restrict), To("maybe", w.tasks, Clear))
	outer := w.open("outer", Public, Public, To("to", items, Cascade))
	shown := w.open("shown", Public, Member("to"), Group("to", w.teams, w.members, Cascade))
	var tasks []store.Document
	for range 1200 {
		tasks = append(tasks, node{Meta: store.NewMeta(store.NewID(), store.At(now)), To: w.one})
	}
	w.want(w.tasks.Engine().Load(t.Context(), tasks), "")
	w.want(w.deps.DB.Prepare(t.Context()), "")
	first, second := store.IDOf(tasks[0]), store.IDOf(tasks[1])
	item := w.add(items, node{To: first, Maybe: &second}) // Restrict has no effect between records of the removed team
	w.add(outer, node{To: item})
	review := w.add(reviews, node{To: store.NewID(), Maybe: &first})
	blocking := w.add(reviews, node{To: second})
	own, other := w.add(shown, node{To: w.one}), w.add(w.tasks, node{To: w.two})
	w.remove(removals, w.teams, w.one)
	_, err := shown.Get(t.Context(), nobody, own)
	w.want(err, apperr.NotFound)
	_, err = shown.Get(t.Context(), admin, own)
	w.want(err, "")
	w.want(removals.run(t.Context()), "")
	w.left(items, 0)
	w.left(outer, 0)
	w.left(shown, 0)
	w.left(w.tasks, 2) // of the other team, and the one that a review refers to
	got, err := reviews.all.Get(t.Context(), review)
	if w.want(err, ""); got.Maybe != nil {
		t.Errorf("the review refers to %v", got.Maybe)
	}
	late := w.add(w.tasks, node{To: w.one}) // as by a write that began before the deletion
	w.want(w.delete(reviews, blocking), "")
	now = now.Add(2 * removalMargin) // no such write can follow
	w.want(removals.run(t.Context()), "")
	w.left(w.tasks, 1)
	_, err = w.tasks.all.Get(t.Context(), other)
	w.want(err, "")
	_, err = w.tasks.all.Get(t.Context(), late)
	w.want(err, apperr.NotFound)
	if pending, err := removals.pending(t.Context()); err != nil || len(pending) > 0 {
		t.Errorf("pending: %v, %v", pending, err)
	}
}

// TestStaleRemoval checks that the removal of a record that still exists deletes nothing, and is dropped after staleRemoval.
func TestStaleRemoval(t *testing.T) {
	w := newTeams(t)
	now := time.Now()
	w.deps.Now = func() time.Time { return now }
	removals := NewRemovals(w.deps, w.teams)
	w.want(w.deps.DB.Prepare(t.Context()), "")
	task := w.add(w.tasks, node{To: w.one})
	w.want(removals.Add(t.Context(), w.one), "")
	for range 2 {
		w.want(removals.run(t.Context()), "")
		now = now.Add(staleRemoval)
	}
	_, err := w.tasks.all.Get(t.Context(), task)
	w.want(err, "")
	if pending, err := removals.pending(t.Context()); err != nil || len(pending) > 0 {
		t.Errorf("pending: %v, %v", pending, err)
	}
}

// TestRemovalInFeed checks that a feed of public records has the deletions that a removal makes, and no records that are added to the
// removed team later.
func TestRemovalInFeed(t *testing.T) {
	w := newTeams(t)
	removals := NewRemovals(w.deps, w.teams)
	shown := w.openOwned("shown", Public, Public, Group("to", w.teams, w.members, Cascade))
	all := w.read(shown, nobody)
	w.addOwned(shown, owned{To: w.one, Name: "one"})
	all.wants("created one")
	w.remove(removals, w.teams, w.one)
	w.want(removals.run(t.Context()), "")
	w.want(all.feed.Check(t.Context(), nobody), "") // reads the removals again
	w.addOwned(shown, owned{To: w.one, Name: "hidden"})
	w.addOwned(shown, owned{To: w.two, Name: "two"})
	all.wants("deleted, created two")
}

func TestBounds(t *testing.T) {
	t.Parallel()
	a, b := store.Eq("a", 1), store.Eq("b", 1)
	for name, test := range map[string]struct {
		f    store.Filter
		want bool
	}{
		"nil": {nil, false}, "eq": {a, true}, "ne": {store.Ne("a", 1), false}, "in": {store.In("a"), true}, "other": {b, false},
		"and": {store.And(a, b), true}, "or": {store.Or(a, b), false}, "both": {store.Or(a, store.In("a", 1, 2)), true}, "none": {store.Or(), true},
		"all": {store.And(), false},
	} {
		if got := bounds(test.f, "a"); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestManyRemovals checks that one of many removals hides the records of its team and deletes them. The filter for all removals must
// not exceed the limits of the database; see allOf.
func TestManyRemovals(t *testing.T) {
	w := newTeams(t)
	removals := NewRemovals(w.deps, w.teams)
	shown := w.open("shown", Public, Member("to"), Group("to", w.teams, w.members, Cascade))
	items := w.open("items", nil, nil, Under("to", shown))
	own := w.add(shown, node{To: w.one})
	item := w.add(items, node{To: own})
	w.want(items.exists(t.Context(), item), "")
	w.want(removals.change(t.Context(), func(list []removal) []removal {
		for range 1500 {
			list = append(list, removal{store.NewID(), store.At(time.Now())})
		}
		return list
	}), "")
	w.remove(removals, w.teams, w.one)
	_, err := shown.Get(t.Context(), nobody, own)
	w.want(err, apperr.NotFound)
	w.want(shown.exists(t.Context(), own), apperr.NotFound)
	w.want(items.exists(t.Context(), item), apperr.NotFound)
	w.want(removals.run(t.Context()), "")
	w.left(shown, 0)
}

// TestRemovalInGroup removes a person to whom records of a team refer. The team is not removed, so references between its records
// have their declared effect.
func TestRemovalInGroup(t *testing.T) {
	w := newTeams(t)
	people := w.open("people", Public, Admins)
	removals := NewRemovals(w.deps, people)
	group := Group("to", w.teams, w.members, Cascade)
	jobs := w.open("jobs", Member("to"), Member("to"), group, To("maybe", people, Cascade))
	comments := w.open("comments", Member("to"), Member("to"), group, To("maybe", jobs, Clear))
	blocks := w.open("blocks", Member("to"), Member("to"), group, To("maybe", jobs, Restrict))
	person := w.add(people, node{})
	free, blocked := w.add(jobs, node{To: w.one, Maybe: &person}), w.add(jobs, node{To: w.one, Maybe: &person})
	comment := w.add(comments, node{To: w.one, Maybe: &free})
	w.add(blocks, node{To: w.one, Maybe: &blocked})
	w.want(w.delete(people, person), apperr.Conflict) // Delete changes nothing, because a block restricts it; a removal deletes what it can
	w.remove(removals, people, person)
	w.want(removals.run(t.Context()), "")
	w.left(jobs, 1)
	if got, err := comments.all.Get(t.Context(), comment); err != nil || got.Maybe != nil {
		t.Errorf("the comment refers to %v, %v", got.Maybe, err)
	}
	_, err := jobs.all.Get(t.Context(), blocked)
	w.want(err, "")
}

// TestAroundStale checks that Around drops the removal if the deletion fails with store.ErrStale.
func TestAroundStale(t *testing.T) {
	w := newTeams(t)
	removals := NewRemovals(w.deps, w.teams)
	w.want(w.deps.DB.Prepare(t.Context()), "")
	err := removals.Around(t.Context(), w.one, func(ctx context.Context) error { return w.teams.all.DeleteByID(ctx, w.one, store.Versions{9}) })
	w.want(err, apperr.PreconditionFailed)
	if pending, err := removals.pending(t.Context()); err != nil || len(pending) > 0 {
		t.Errorf("pending: %v, %v", pending, err)
	}
}
