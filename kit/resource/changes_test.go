package resource

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// owned is a record of a user. It can have a parent.
type owned struct {
	store.Meta `bson:",inline"`
	UserID     store.ID  `json:"userId"`
	To         store.ID  `json:"to"`
	Name       string    `json:"name"`
	Maybe      *store.ID `json:"maybe"`
}

func (o owned) view() any { return o.Name }

// reader reads the changes of a collection as one caller.
type reader struct {
	w      world
	feed   rest.Feed
	caller access.Principal
}

func (w world) read(c *Collection[owned], caller access.Principal) reader {
	w.Helper()
	q, err := listing.NewLister(listing.Spec{Name: "owned", View: owned{}}, listing.NewCursors("secret")).ParseChanges(nil, "")
	w.want(err, "")
	r := reader{w, Changes(c, q, owned.view), caller}
	page, err := r.feed.Next(w.Context(), caller)
	w.want(err, "")
	if !page.Ready || len(page.Rows) > 0 {
		w.Fatalf("%+v", page)
	}
	return r
}

// wants fails unless the next changes are exactly these.
func (r reader) wants(want string) {
	r.w.Helper()
	var got []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		page, err := r.feed.Next(r.w.Context(), r.caller)
		r.w.want(err, "")
		for _, e := range page.Rows {
			if e.Event == "deleted" {
				e.Data = ""
			}
			got = append(got, strings.TrimSpace(fmt.Sprint(e.Event, " ", e.Data)))
		}
		if page.Resync {
			got = append(got, "resync")
		}
		if strings.HasSuffix(strings.Join(got, ", "), want) {
			break
		}
	}
	if all := strings.Join(got, ", "); all != want {
		r.w.Errorf("the changes are %q, want %q", all, want)
	}
}

func user() access.Principal {
	return access.Principal{UserID: store.NewID(), Role: access.RoleUser}
}

func (w world) openOwned(name string, see, change Access, references ...Reference) *Collection[owned] {
	w.Helper()
	c := Open(w.deps, store.Spec{Name: name, Changes: true}, owned.view, see, change, references...)
	w.want(w.deps.DB.Prepare(w.Context()), "")
	return c
}

func (w world) addOwned(c *Collection[owned], o owned) store.ID {
	w.Helper()
	o.Meta = store.NewMeta(store.NewID(), store.At(time.Unix(1, 0)))
	w.want(c.all.Insert(w.Context(), o), "")
	return o.ID
}

// TestChangesOfOthers checks that only the owner and admins see the changes of a record, including its deletion.
func TestChangesOfOthers(t *testing.T) {
	w := newWorld(t)
	users := w.open("users", Public, Public)
	records := w.openOwned("records", Own, Own, Owner(users, Keep))
	ada, eve := user(), user()
	ofAda, ofEve, ofAll := w.read(records, ada), w.read(records, eve), w.read(records, server)
	a := w.addOwned(records, owned{UserID: ada.UserID, Name: "a"})
	ofAda.wants("created a")
	e := w.addOwned(records, owned{UserID: eve.UserID, Name: "e"})
	for _, id := range []store.ID{a, e} {
		_, err := records.Update(t.Context(), server, id, nil, store.Set("name", "changed"))
		w.want(err, "")
		w.want(records.Delete(t.Context(), server, id, nil), "")
	}
	w.addOwned(records, owned{UserID: ada.UserID, Name: "last"})
	w.addOwned(records, owned{UserID: eve.UserID, Name: "last"})
	ofAda.wants("deleted, created last")
	ofEve.wants("deleted, created last")
	ofAll.wants("deleted, deleted, created last, created last")
}

// TestChangesUnder checks the changes of records under a parent. The deletion of the parent must end the feed.
func TestChangesUnder(t *testing.T) {
	w := newWorld(t)
	parents := w.open("parents", Public, Public)
	records := w.openOwned("records", nil, nil, Under("to", parents))
	one, two := w.add(parents, node{}), w.add(parents, node{})
	ofOne, ofTwo := w.read(records.Under(one), user()), w.read(records.Under(two), server)
	first := w.addOwned(records, owned{To: one, Name: "first"})
	w.addOwned(records, owned{To: two, Name: "second"})
	ofOne.wants("created first")
	ofTwo.wants("created second")
	w.want(records.Delete(t.Context(), server, first, nil), "")
	ofOne.wants("deleted")
	w.addOwned(records, owned{To: one, Name: "third"})
	w.want(parents.Delete(t.Context(), server, one, nil), "")
	if _, err := ofOne.feed.Next(t.Context(), ofOne.caller); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("after the deletion of the parent: %v", err)
	}
	w.want(records.Engine().Reset(t.Context()), "")
	ofTwo.wants("resync")
	w.addOwned(records, owned{To: two, Name: "last"})
	ofTwo.wants("created last")
}

// TestChangesCascade checks that the feed has the changes that a deletion makes to referring records.
func TestChangesCascade(t *testing.T) {
	w := newWorld(t)
	targets := w.open("targets", Public, Public)
	records := w.openOwned("records", Public, Public, To("to", targets, Cascade), To("maybe", targets, Clear))
	target, spare := w.add(targets, node{}), w.add(targets, node{})
	all := w.read(records, server)
	w.addOwned(records, owned{To: spare, Maybe: &target, Name: "cleared"})
	all.wants("created cleared")
	w.addOwned(records, owned{To: target, Name: "deleted with it"})
	all.wants("created deleted with it")
	w.want(targets.Delete(t.Context(), server, target, nil), "")
	all.wants("updated cleared, deleted")
}

// TestLargeChanges checks that a page ends before its records exceed the limit.
func TestLargeChanges(t *testing.T) {
	testdb.SQLiteOnly(t)
	w := newWorld(t)
	records := w.openOwned("records", Public, Public)
	all := w.read(records, server)
	const n = 5
	for range n {
		w.addOwned(records, owned{Name: strings.Repeat("x", listing.MaxPageBytes/3)})
	}
	total := 0
	for deadline := time.Now().Add(time.Minute); total < n && time.Now().Before(deadline); {
		page, err := all.feed.Next(t.Context(), server)
		w.want(err, "")
		if total += len(page.Rows); len(page.Rows) > 3 {
			t.Errorf("%d rows in a page", len(page.Rows))
		}
	}
	if total != n {
		t.Errorf("%d changes, want %d", total, n)
	}
}

func TestRecordName(t *testing.T) {
	t.Parallel()
	for typeName, name := range map[string]string{"Article": "article", "BlogPost": "blog-post", "APIKey": "api-key", "ShortURL": "short-url", "Route66Stop": "route66-stop"} {
		if got := recordName(typeName); got != name {
			t.Errorf("%s: %s", typeName, got)
		}
	}
}
