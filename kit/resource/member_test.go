package resource

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
)

// teams are groups whose members a test sets.
type teams struct {
	of    map[store.ID][]access.Membership
	reads int
}

func (t *teams) MembershipsOf(_ context.Context, user store.ID) ([]access.Membership, error) {
	t.reads++
	return slices.Clone(t.of[user]), nil
}

func (t *teams) add(user access.Principal, team store.ID, role access.Role) {
	t.of[user.UserID] = append(t.of[user.UserID], access.Membership{Group: team, Role: role})
}

// inTeams is a world with two teams: alice is a chief of one, and a member of both; bob is a member of two.
type inTeams struct {
	world
	members      *teams
	teams, tasks *Collection[node]
	one, two     store.ID
}

func newTeams(t *testing.T) inTeams {
	w := inTeams{world: newWorld(t), members: &teams{of: map[store.ID][]access.Membership{}}}
	w.teams = w.open("teams", Public, Admins)
	w.tasks = w.open("tasks", Member("to"), Member("to"), Group("to", w.teams, w.members, Cascade), ToSelf("maybe", Restrict))
	w.tasks.Narrow(Delete, Member("to", "chief"))
	w.one, w.two = w.add(w.teams, node{}), w.add(w.teams, node{})
	w.members.add(alice, w.one, "chief")
	w.members.add(alice, w.two, "member")
	w.members.add(bob, w.two, "member")
	return w
}

// TestMember reads and writes a record of a team as each caller.
func TestMember(t *testing.T) {
	w := newTeams(t)
	items := w.open("items", nil, nil, Under("to", w.tasks))
	task := w.add(w.tasks, node{To: w.two})
	item := w.add(items, node{To: task})
	for name, test := range map[string]struct {
		caller               access.Principal
		see, create, destroy apperr.Code
	}{
		"member":     {bob, "", "", apperr.Forbidden},
		"elsewhere":  {alice, "", "", apperr.Forbidden}, // a chief of another team
		"non-member": {nurse, apperr.NotFound, apperr.ValidationFailed, apperr.NotFound},
		"nobody":     {nobody, apperr.NotFound, apperr.ValidationFailed, apperr.NotFound},
		"admin":      {admin, "", "", ""},
		"master":     {server, "", "", ""},
	} {
		t.Log(name)
		_, err := w.tasks.Get(t.Context(), test.caller, task)
		w.want(err, test.see)
		_, err = items.Under(task).Get(t.Context(), test.caller, item)
		w.want(err, test.see)
		_, err = w.tasks.Update(t.Context(), test.caller, task, nil, store.Set("name", name))
		w.want(err, test.see)
		w.want(w.create(items, test.caller, node{To: task}), test.see)
		page, err := List(t.Context(), w.tasks, test.caller, listing.Query{Query: store.Query{Limit: 50, Filter: store.Eq("to", w.two)}}, node.view)
		if w.want(err, ""); (len(page.Rows) > 0) != (test.see == "") {
			t.Errorf("%s lists %v", name, page.Rows)
		}
		w.want(w.create(w.tasks, test.caller, node{To: w.two}), test.create)
		id := w.add(w.tasks, node{To: w.two})
		err = w.tasks.Delete(t.Context(), test.caller, id, nil)
		if w.want(err, test.destroy); test.destroy == apperr.Forbidden && !strings.Contains(err.Error(), "of the organization that owns it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.want(w.tasks.Delete(t.Context(), alice, w.add(w.tasks, node{To: w.one}), nil), "")
	_, err := w.tasks.Update(t.Context(), alice, task, nil, store.Set("to", w.one))
	w.want(err, apperr.ValidationFailed)
	w.want(w.create(w.tasks, alice, node{To: store.NewID()}), apperr.ValidationFailed)
}

// TestMembershipsReadOnce checks that a request reads the memberships once, and that other collections do not read them.
func TestMembershipsReadOnce(t *testing.T) {
	w := newTeams(t)
	caller := alice.ForRequest()
	for range 3 {
		id := w.add(w.tasks, node{To: w.one})
		_, err := w.tasks.Update(t.Context(), caller, id, nil, store.Set("maybe", id))
		w.want(err, "")
	}
	_, err := List(t.Context(), w.teams, bob, allRows, node.view)
	w.want(err, "")
	_, err = List(t.Context(), w.tasks, admin, allRows, node.view)
	w.want(err, "")
	if w.members.reads != 1 {
		t.Errorf("%d reads", w.members.reads)
	}
}

// TestSameGroup checks that references stay in one team, also below a record, for members of both teams and for admins.
func TestSameGroup(t *testing.T) {
	w := newTeams(t)
	items := w.open("items", nil, nil, Under("to", w.tasks), To("maybe", w.tasks, Clear))
	lists := w.open("lists", Member("to"), Member("to"), Group("to", w.teams, w.members, Cascade), To("many", items, Clear))
	var tasks, parts [2]store.ID
	for i, team := range []store.ID{w.one, w.two} {
		tasks[i] = w.add(w.tasks, node{To: team})
		parts[i] = w.add(items, node{To: tasks[i]})
	}
	for _, caller := range []access.Principal{alice, admin, server} {
		for i, code := range []apperr.Code{"", apperr.ValidationFailed} {
			w.want(w.create(w.tasks, caller, node{To: w.one, Maybe: &tasks[i]}), code)
			w.want(w.create(items, caller, node{To: tasks[0], Maybe: &tasks[i]}), code)
			w.want(w.create(lists, caller, node{To: w.one, Many: []store.ID{parts[0], parts[i]}}), code)
			_, err := w.tasks.Update(t.Context(), caller, tasks[0], nil, store.Set("maybe", tasks[i]))
			w.want(err, code)
		}
	}
	var docs []store.Document
	for _, to := range tasks {
		docs = append(docs, &node{Meta: store.NewMeta(store.NewID(), store.Time{}), To: w.one, Maybe: &to})
	}
	docs = append(docs, &node{Meta: store.NewMeta(store.NewID(), store.Time{})})
	errs, err := w.tasks.checkAll(t.Context(), access.Operator(), docs)
	w.want(err, "")
	for i, code := range []apperr.Code{"", apperr.ValidationFailed, apperr.ValidationFailed} {
		w.want(errs[i], code)
	}
}

// TestOnlyGroup checks the group of a new record for which the caller gives none.
func TestOnlyGroup(t *testing.T) {
	w := newTeams(t)
	creator := NewCreator(w.tasks, func(_ access.Principal, in node) (node, error) {
		in.Meta = store.NewMeta(store.NewID(), store.At(time.Unix(1, 0)))
		return in, nil
	}, nil)
	got, err := creator.Create(t.Context(), bob, node{})
	if w.want(err, ""); got.To != w.two {
		t.Errorf("the team is %v", got.To)
	}
	for _, caller := range []access.Principal{alice, nurse, admin, server} {
		_, err := creator.Create(t.Context(), caller, node{})
		if data, _ := json.Marshal(err); !apperr.Is(err, apperr.ValidationFailed) || !strings.Contains(string(data), `"required"`) {
			t.Errorf("%v: %v %s", caller, err, data)
		}
	}
}

// TestNarrowCreate checks a rule for creation.
func TestNarrowCreate(t *testing.T) {
	w := newTeams(t)
	w.tasks.Narrow(Create, Member("to", "chief"))
	w.want(w.create(w.tasks, alice, node{To: w.one}), "")
	w.want(w.create(w.tasks, alice, node{To: w.two}), apperr.Forbidden)
	w.want(w.create(w.tasks, bob, node{To: w.one}), apperr.ValidationFailed)
	w.want(w.create(w.tasks, admin, node{To: w.two}), "")
}

// TestChangesOfGroups changes the memberships of a user while the user reads the changes.
func TestChangesOfGroups(t *testing.T) {
	w := newTeams(t)
	tasks := w.openOwned("logged", Member("to"), Member("to"), Group("to", w.teams, w.members, Cascade))
	caller, chief := bob.ForRequest(), alice.ForRequest()
	ofBob, ofAlice := w.read(tasks, caller), w.read(tasks, chief)
	first := w.addOwned(tasks, owned{To: w.one, Name: "one"})
	second := w.addOwned(tasks, owned{To: w.two, Name: "two"})
	for _, id := range []store.ID{first, second} {
		w.want(tasks.Delete(t.Context(), server, id, nil), "")
	}
	w.addOwned(tasks, owned{To: w.two, Name: "last"})
	ofBob.wants("deleted, created last")
	ofAlice.wants("deleted, deleted, created last")
	lister := listing.NewLister(listing.Spec{Name: "owned", View: owned{}}, listing.NewCursors("secret"))
	resumed := func(after string, caller access.Principal) bool {
		q, err := lister.ParseChanges(nil, after)
		w.want(err, "")
		page, err := Changes(tasks, q, owned.view).Next(t.Context(), caller)
		w.want(err, "")
		return !page.Resync
	}
	page, err := ofBob.feed.Next(t.Context(), caller)
	w.want(err, "")
	if !resumed(page.Next, bob) || resumed(page.Next, alice) || resumed(page.Next, nurse) || resumed(page.Next, admin) {
		t.Error("a position is valid only for callers with the same teams")
	}
	w.want(ofBob.feed.Check(t.Context(), caller), "")
	w.members.add(bob, w.one, "member")
	w.want(ofBob.feed.Check(t.Context(), caller), apperr.Forbidden)
	if resumed(page.Next, bob) {
		t.Error("a position is valid after another team")
	}
	w.members.of[alice.UserID] = w.members.of[alice.UserID][1:] // only one of two teams is left
	w.want(ofAlice.feed.Check(t.Context(), chief), apperr.Forbidden)
}

// TestChangesUnderGroups changes the memberships of a user while the user reads the changes below a record of a team.
func TestChangesUnderGroups(t *testing.T) {
	w := newTeams(t)
	items := w.openOwned("items", nil, nil, Under("to", w.tasks))
	task := w.add(w.tasks, node{To: w.two})
	caller, other := bob.ForRequest(), alice.ForRequest()
	ofBob, ofAlice := w.read(items.Under(task), caller), w.read(items.Under(task), other)
	w.addOwned(items, owned{To: task, Name: "one"})
	ofBob.wants("created one")
	w.members.add(bob, w.one, "member")
	w.want(ofBob.feed.Check(t.Context(), caller), apperr.Forbidden)
	w.members.of[alice.UserID] = nil
	w.want(ofAlice.feed.Check(t.Context(), other), apperr.Forbidden)
}

// TestNarrowOwn narrows the creation of records whose references need no check.
func TestNarrowOwn(t *testing.T) {
	w := newWorld(t)
	own := w.openOwned("own", Own, Own, Owner(w.open("people", Public, Admins), Keep))
	own.Narrow(Create, Admins)
	for _, caller := range []struct {
		access.Principal
		code apperr.Code
	}{{alice, apperr.Forbidden}, {admin, ""}} {
		o := owned{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), UserID: caller.UserID}
		w.want(own.Create(t.Context(), caller.Principal, o), caller.code)
	}
}

// TestReread checks that the pages of an export end when a membership ends.
func TestReread(t *testing.T) {
	w := newTeams(t)
	caller := alice.ForRequest()
	_, err := List(t.Context(), w.tasks, caller, allRows, node.view)
	w.want(err, "")
	_, err = w.tasks.reread(t.Context(), caller)
	w.want(err, "")
	w.members.of[alice.UserID] = w.members.of[alice.UserID][:1]
	_, err = w.tasks.reread(t.Context(), caller)
	w.want(err, apperr.Forbidden)
}
