package resource

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// node is a record with every kind of reference. Each test uses some of them.
type node struct {
	store.Meta `bson:",inline"`
	Name       string     `json:"name"`
	UserID     store.ID   `json:"userId"`
	To         store.ID   `json:"to"`
	Maybe      *store.ID  `json:"maybe"`
	Many       []store.ID `json:"many"`
}

// view is the view of a node.
type view struct {
	ID    store.ID   `json:"id"`
	Name  string     `json:"name"`
	To    store.ID   `json:"to"`
	Maybe *store.ID  `json:"maybe"`
	Many  []store.ID `json:"many"`
	Expanded
}

func (n node) view() view {
	return view{ID: n.ID, Name: n.Name, To: n.To, Maybe: n.Maybe, Many: n.Many}
}

// world is a test with its database. open adds collections to the database.
type world struct {
	*testing.T
	deps kit.Deps
}

func newWorld(t *testing.T) world {
	t.Parallel()
	return worldOf(t, testdb.Open(t))
}

func worldOf(t *testing.T, db store.DB) world {
	return world{t, kit.Deps{DB: db, Now: time.Now, Resources: &kit.Resources{}}}
}

func (w world) open(name string, see, change Access, references ...Reference) *Collection[node] {
	w.Helper()
	index := func(fields ...string) store.Index { return store.Index{Fields: fields} }
	c := Open(w.deps, store.Spec{Name: name, Indexes: []store.Index{index("to"), index("maybe")}}, node.view, see, change, references...)
	if err := w.deps.DB.Prepare(w.Context()); err != nil {
		w.Fatal(err)
	}
	return c
}

// add stores a node without checking the rules, and returns its ID.
func (w world) add(c *Collection[node], n node) store.ID {
	w.Helper()
	n.Meta = store.NewMeta(store.NewID(), store.At(time.Unix(1, 0)))
	if err := c.all.Insert(w.Context(), n); err != nil {
		w.Fatal(err)
	}
	return n.ID
}

// delete deletes a node with the master key.
func (w world) delete(c *Collection[node], id store.ID) error {
	return c.Delete(w.Context(), server, id, nil)
}

// create creates a node as the caller, with the rules.
func (w world) create(c *Collection[node], caller access.Principal, n node) error {
	n.Meta = store.NewMeta(store.NewID(), store.At(time.Unix(1, 0)))
	return c.Create(w.Context(), caller, n)
}

// want fails unless the error has the code. The code "" means no error.
func (w world) want(err error, code apperr.Code) {
	w.Helper()
	if apperr.CodeOf(err) != code {
		w.Fatalf("error %v, want %q", err, code)
	}
}

// left fails unless the collection has n records.
func (w world) left(c *Collection[node], n int64) {
	w.Helper()
	if got, err := c.all.Count(w.Context(), nil); err != nil || got != n {
		w.Fatalf("%s has %d records (%v), want %d", c.name, got, err, n)
	}
}

var (
	alice  = access.Principal{UserID: store.ID{1}, Role: access.RoleUser}
	bob    = access.Principal{UserID: store.ID{2}, Role: access.RoleUser}
	nurse  = access.Principal{UserID: store.ID{4}, Role: "nurse"}
	admin  = access.Principal{UserID: store.ID{3}, Role: access.RoleAdmin}
	server = access.Principal{Master: true}
	nobody = access.Principal{}
)

// TestAccess calls each method as each caller, for each rule, and for records under a record with the rule.
func TestAccess(t *testing.T) {
	w := newWorld(t)
	for name, test := range map[string]struct {
		see     Access
		callers []access.Principal // callers that see the node of alice
	}{
		"none":   {None, nil},
		"public": {Public, []access.Principal{nobody, alice, bob, nurse, admin, server}},
		"users":  {Users, []access.Principal{alice, bob, nurse, admin, server}},
		"roles":  {Roles("reception", "nurse"), []access.Principal{nurse, admin, server}},
		"others": {Roles("reception"), []access.Principal{admin, server}},
		"admins": {Admins, []access.Principal{admin, server}},
		"master": {Master, []access.Principal{server}},
		"own":    {Own, []access.Principal{alice, admin, server}},
	} {
		targets := w.open(name, test.see, test.see)
		items := w.open(name+"-items", nil, nil, Under("to", targets))
		id := w.add(targets, node{UserID: alice.UserID})
		item := w.add(items, node{To: id})
		for _, caller := range []access.Principal{nobody, alice, bob, nurse, admin, server} {
			want := slices.Contains(test.callers, caller)
			for c, id := range map[*Collection[node]]store.ID{targets: id, items: item} {
				found, _, err := c.Find(t.Context(), caller, []store.ID{id, store.NewID()}, nil)
				if _, ok := found[id]; err != nil || ok != want || len(found) > 1 {
					t.Errorf("%s: %+v finds %v, %v", c.name, caller, found, err)
				}
			}
			code := apperr.NotFound
			if want {
				code = ""
			}
			w.want(targets.MayChange(t.Context(), caller, id), code)
			w.want(items.MayChange(t.Context(), caller, item), code)
			w.want(w.create(items, caller, node{To: id}), code)
			for c, record := range map[*Collection[node]]store.ID{targets: id, items: item, items.Under(id): item} {
				_, err := c.Get(t.Context(), caller, record)
				w.want(err, code)
				_, err = c.Update(t.Context(), caller, record, nil, store.Set("name", "x"))
				w.want(err, code)
				_, err = c.Update(t.Context(), caller, record, store.Versions{99}, store.Set("name", "x"))
				w.want(err, cmp.Or(code, apperr.PreconditionFailed))
				if code != "" {
					w.want(c.Delete(t.Context(), caller, record, nil), code)
				}
			}
			_, err := List(t.Context(), items.Under(id), caller, allRows, node.view)
			w.want(err, code)
			page, err := List(t.Context(), targets, caller, allRows, node.view)
			w.want(err, "")
			if (len(page.Rows) == 1) != want {
				t.Errorf("%s: %+v lists %v", name, caller, page.Rows)
			}
		}
	}
}

var allRows = listing.Query{Query: store.Query{Limit: 50}}

// TestOwner checks who may change records that everyone may see, but only their owner, admins and the master key may change.
func TestOwner(t *testing.T) {
	w := newWorld(t)
	public := w.open("public", Public, Own)
	items := w.open("items", nil, nil, Under("to", public))
	id, other := w.add(public, node{UserID: alice.UserID}), w.add(public, node{UserID: alice.UserID})
	item := w.add(items, node{To: id})
	restricted := access.Principal{UserID: alice.UserID, Role: access.RoleUser, Restriction: &access.Restriction{Err: apperr.New(apperr.Forbidden, "x").WithCode("restricted")}}
	for _, test := range []struct {
		caller access.Principal
		code   apperr.Code
	}{{bob, apperr.Forbidden}, {nobody, apperr.Forbidden}, {restricted, "restricted"}, {alice, ""}, {admin, ""}, {server, ""}} {
		w.want(public.MayChange(t.Context(), test.caller, id), test.code)
		w.want(w.create(items, test.caller, node{To: id}), test.code)
		for c, record := range map[*Collection[node]]store.ID{public: id, items: item, items.Under(id): item} {
			if test.code != "" {
				w.want(c.Delete(t.Context(), test.caller, record, nil), test.code)
			}
			for _, changes := range [][]store.Change{nil, {store.Set("name", "x")}} {
				_, err := c.Update(t.Context(), test.caller, record, nil, changes...)
				w.want(err, test.code)
			}
		}
		_, err := items.Under(id).Get(t.Context(), test.caller, item)
		w.want(err, "")
		_, err = items.Under(other).Get(t.Context(), test.caller, item)
		w.want(err, apperr.NotFound)
	}
	changed, err := public.all.Get(t.Context(), id)
	if w.want(err, ""); !changed.UpdatedAt.After(changed.CreatedAt.Time) {
		t.Errorf("a change does not set updatedAt: %+v", changed.Meta)
	}
	_, err = items.Under(other).Update(t.Context(), alice, item, nil, store.Set("name", "x"))
	w.want(err, apperr.NotFound)
	w.want(items.Under(other).Delete(t.Context(), alice, item, nil), apperr.NotFound)
	w.want(items.Under(id).Delete(t.Context(), alice, item, store.Versions{99}), apperr.PreconditionFailed)
	w.want(items.Under(id).Delete(t.Context(), alice, item, nil), "")
	w.want(public.Delete(t.Context(), alice, other, store.Versions{1}), "")
}

// TestParentNeverChanges checks that nobody can move a record to another parent, such as one that the caller may not see.
func TestParentNeverChanges(t *testing.T) {
	w := newWorld(t)
	parents := w.open("parents", Own, Own)
	hidden := w.add(parents, node{UserID: bob.UserID})
	for name, change := range map[string]Access{"ruled-by-parent": nil, "ruled": Public} {
		items := w.open(name, nil, change, Under("to", parents))
		id := w.add(parents, node{UserID: alice.UserID})
		item := w.add(items, node{To: id})
		for _, caller := range []access.Principal{alice, admin, server} {
			for _, move := range []store.Change{store.Set("to", hidden), store.Set("to", w.add(parents, node{UserID: alice.UserID})), store.Unset("to")} {
				_, err := items.Update(t.Context(), caller, item, nil, move)
				w.want(err, apperr.ValidationFailed)
			}
			_, err := items.Update(t.Context(), caller, item, nil, store.Set("to", id), store.Set("name", caller.Role))
			w.want(err, "")
		}
	}
}

// TestForbidden changes the record of another user. The error names admins if the rule allows admins. A collection cannot find out
// whom else a rule allows, so the error must name nobody else.
func TestForbidden(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		change       Access
		nurse, admin apperr.Code
	}{
		{Own, apperr.Forbidden, ""},
		{Admins, apperr.Forbidden, ""},
		{Roles("nurse", "doctor"), "", ""},
		{OwnOr("nurse"), "", ""},
		{Master, apperr.Forbidden, apperr.Forbidden},
	} {
		c := w.open("nodes", Public, test.change)
		_, err := c.Update(t.Context(), bob, w.add(c, node{UserID: alice.UserID}), nil)
		w.want(err, apperr.Forbidden)
		if err == nil || strings.Contains(err.Error(), "owner") || strings.Contains(err.Error(), "An admin can") != (test.admin == "") {
			t.Errorf("the error is %v", err)
		}
		_, err = c.Update(t.Context(), nurse, w.add(c, node{UserID: alice.UserID}), nil)
		w.want(err, test.nurse)
		_, err = c.Update(t.Context(), admin, w.add(c, node{UserID: alice.UserID}), nil)
		w.want(err, test.admin)
	}
}

// TestFieldTypes checks which types the field of a reference can have: a record has exactly one parent, and exactly one group.
func TestFieldTypes(t *testing.T) {
	w := newWorld(t)
	team := w.open("teams", Public, Admins)
	for name, test := range map[string]struct {
		reference Reference
		ok        bool
	}{
		"id":                    {To("to", team, Restrict), true},
		"pointer":               {To("maybe", team, Restrict), true},
		"list":                  {To("many", team, Restrict), true},
		"string":                {To("name", team, Restrict), false},
		"unknown":               {To("none", team, Restrict), false},
		"parent":                {Under("to", team), true},
		"pointer to the parent": {Under("maybe", team), false},
		"list of parents":       {Under("many", team), false},
		"group":                 {Group("to", team, &teams{}, Cascade), true},
		"pointer to the group":  {Group("maybe", team, &teams{}, Cascade), false},
		"list of groups":        {Group("many", team, &teams{}, Cascade), false},
	} {
		func() {
			defer func() {
				if problem := recover(); (problem == nil) != test.ok {
					t.Errorf("%s: Open panics with %v", name, problem)
				}
			}()
			w.open(strings.ReplaceAll(name, " ", "-"), Public, Public, test.reference)
		}()
	}
}

// TestOwnerReference checks who may choose the owner of a record, and what each OnDelete does when the owner is deleted.
func TestOwnerReference(t *testing.T) {
	w := newWorld(t)
	users := w.open("users", Public, Admins)
	for onDelete, want := range map[OnDelete]int64{Cascade: 0, Keep: 1, Restrict: 1} {
		nodes := w.open(fmt.Sprint("nodes", onDelete), Own, Own, Owner(users, onDelete))
		owner := access.Principal{UserID: w.add(users, node{}), Role: access.RoleUser}
		w.want(w.create(nodes, bob, node{UserID: owner.UserID}), apperr.Forbidden)
		w.want(w.create(nodes, admin, node{UserID: store.NewID()}), apperr.ValidationFailed)
		w.want(w.create(nodes, server, node{}), apperr.ValidationFailed)
		errs, err := nodes.checkAll(t.Context(), access.Operator(), []store.Document{&node{}, &node{UserID: owner.UserID}})
		w.want(err, "")
		w.want(errs[0], apperr.ValidationFailed)
		w.want(errs[1], "")
		w.want(w.create(nodes, owner, node{UserID: owner.UserID}), "")
		w.want(w.create(nodes, admin, node{UserID: owner.UserID}), "")
		mine, err := nodes.all.First(t.Context(), nil)
		w.want(err, "")
		_, err = nodes.Update(t.Context(), owner, mine.ID, nil, store.Set("userId", bob.UserID))
		w.want(err, apperr.Forbidden)
		w.want(nodes.Delete(t.Context(), owner, mine.ID, nil), "")
		w.want(w.delete(users, owner.UserID), map[OnDelete]apperr.Code{Restrict: apperr.Conflict}[onDelete])
		w.left(nodes, want)
		if onDelete == Cascade { // a request that was authenticated before the deletion
			w.want(w.create(nodes, owner, node{UserID: owner.UserID}), apperr.ValidationFailed)
		}
	}
}

// invalidParams returns the name and the code of each invalid parameter of an error.
func invalidParams(err error) (out []string) {
	if e, ok := err.(*apperr.Error); ok {
		for _, f := range e.Fields {
			out = append(out, f.Param+" "+string(f.Code))
		}
	}
	return out
}

func TestCheck(t *testing.T) {
	w := newWorld(t)
	targets := w.open("targets", Own, Own)
	nodes := w.open("nodes", Public, Public, To("to", targets, Restrict), To("maybe", targets, Clear), To("many", targets, Clear))
	mine, others, unknown := w.add(targets, node{UserID: alice.UserID}), w.add(targets, node{UserID: bob.UserID}), store.NewID()
	for _, test := range []struct {
		node node
		want string
	}{
		{node{To: mine, Maybe: &mine, Many: []store.ID{mine, mine}}, "[]"},
		{node{To: mine}, "[]"},
		{node{To: others, Maybe: &unknown, Many: []store.ID{unknown, mine, others}},
			"[to unknown_reference maybe unknown_reference many[0] unknown_reference many[2] unknown_reference]"},
	} {
		if got := fmt.Sprint(invalidParams(nodes.check(t.Context(), alice, test.node))); got != test.want {
			t.Errorf("Check: %s, want %s", got, test.want)
		}
		changes := []store.Change{store.Set("to", test.node.To), store.Set("maybe", test.node.Maybe), store.Set("many", test.node.Many), store.Set("name", "x")}
		empty, full := w.add(nodes, node{}), w.add(nodes, test.node)
		update := func(id store.ID) error {
			_, err := nodes.Update(t.Context(), alice, id, nil, changes...)
			return err
		}
		if got := fmt.Sprint(invalidParams(update(empty))); got != test.want {
			t.Errorf("Update: %s, want %s", got, test.want)
		}
		w.want(update(full), "") // the references do not change, so they are not checked
		w.want(update(store.NewID()), apperr.NotFound)
	}
	hidden, missing := nodes.check(t.Context(), alice, node{To: others}), nodes.check(t.Context(), alice, node{To: unknown})
	if fmt.Sprint(hidden.(*apperr.Error).Fields) != fmt.Sprint(missing.(*apperr.Error).Fields) {
		t.Errorf("an invisible record has another error than an unknown one: %v, %v", hidden, missing)
	}
}

// unlimited is the reserve function of expand for a response without a memory limit.
func unlimited(int64) error { return nil }

func TestExpand(t *testing.T) {
	w := newWorld(t)
	targets := w.open("targets", Own, Own)
	nodes := w.open("nodes", Public, Public, To("to", targets, Restrict), To("maybe", targets, Clear), To("many", targets, Clear))
	mine, others := w.add(targets, node{Name: "mine <&>", UserID: alice.UserID}), w.add(targets, node{Name: "others", UserID: bob.UserID})
	views := []view{{To: mine, Maybe: &others, Many: []store.ID{mine, others, store.NewID(), mine}}, {To: store.NewID()}}
	if err := expand(t.Context(), nodes, alice, []string{"to", "maybe", "many"}, views, unlimited); err != nil {
		t.Fatal(err)
	}
	record := `{"id":"` + mine.Hex() + `","name":"mine <&>","to":"000000000000000000000000","maybe":null,"many":[]}`
	for i, want := range []map[string]string{
		{"to": record, "maybe": "null", "many": "[" + record + ",null,null," + record + "]"},
		{"to": "null", "maybe": "null", "many": "[]"},
	} {
		for name, want := range want {
			if got := string(views[i].Expand[name]); got != want {
				t.Errorf("view %d: %s is %s, want %s", i, name, got, want)
			}
		}
	}
	before := views[0].ExpandTag()
	again := []view{{To: mine, Maybe: &others, Many: views[0].Many}}
	w.want(expand(t.Context(), nodes, alice, []string{"to", "maybe", "many"}, again, unlimited), "")
	if before == "" || before != again[0].ExpandTag() {
		t.Errorf("tags %q and %q of the same records", before, again[0].ExpandTag())
	}
	w.want(expand(t.Context(), nodes, admin, []string{"to", "maybe", "many"}, again, unlimited), "")
	if before == again[0].ExpandTag() {
		t.Error("the tag of other records is the same")
	}
	one, err := ExpandView(t.Context(), nodes, alice, url.Values{"expand": {"to, many"}}, view{To: mine})
	if w.want(err, ""); len(one.Expand) != 2 || string(one.Expand["to"]) == "null" {
		t.Errorf("%v", one)
	}
	if one, err = ExpandView(t.Context(), nodes, alice, nil, view{To: mine}); err != nil || one.Expand != nil || one.ExpandTag() != "" {
		t.Errorf("%v, %v", one, err)
	}
	for _, values := range [][]string{{"userId"}, {"to", "many"}} {
		_, err := ExpandView(t.Context(), nodes, alice, url.Values{"expand": values}, view{})
		w.want(err, apperr.ValidationFailed)
	}
	w.add(nodes, node{To: mine})
	page, err := List(t.Context(), nodes, alice, listing.Query{Query: store.Query{Limit: 5}, Expand: []string{"to"}}, node.view)
	if w.want(err, ""); len(page.Rows) != 1 || string(page.Rows[0].Expand["to"]) == "null" {
		t.Errorf("%v", page.Rows)
	}
}

// TestExpandTooLarge expands a large record many times.
func TestExpandTooLarge(t *testing.T) {
	testdb.SQLiteOnly(t)
	w := newWorld(t)
	targets := w.open("targets", Public, Public)
	nodes := w.open("nodes", Public, Public, To("many", targets, Clear))
	large := w.add(targets, node{Name: strings.Repeat("x", 1<<20)})
	views := []view{{Many: []store.ID{large, large, large}}}
	w.want(expand(t.Context(), nodes, nobody, []string{"many"}, views, unlimited), "")
	for range 15 {
		views = append(views, view{Many: []store.ID{large}})
	}
	w.want(expand(t.Context(), nodes, nobody, []string{"many"}, views, unlimited), apperr.ValidationFailed)
}

// TestOneQuery checks that expand calls Find once for all references of a page. watched counts the calls.
func TestOneQuery(t *testing.T) {
	w := newWorld(t)
	targets := &watched{Collection: w.open("targets", Public, Public)}
	nodes := w.open("nodes", Public, Public, To("to", targets, Restrict), To("maybe", targets, Clear))
	var views []view
	for range 100 {
		id := w.add(targets.Collection, node{})
		views = append(views, view{To: id, Maybe: &id})
	}
	w.want(expand(t.Context(), nodes, nobody, []string{"to"}, views, unlimited), "")
	w.want(expand(t.Context(), nodes, nobody, nil, views, unlimited), "")
	if n := targets.calls.Load(); n != 1 {
		t.Errorf("%d queries, want 1", n)
	}
}

// TestChildConflict checks that the Conflict of a duplicate among the children of a record does not name the field of the parent.
func TestChildConflict(t *testing.T) {
	w := newWorld(t)
	parents := w.open("parents", Public, Public)
	spec := store.Spec{Name: "children", Indexes: []store.Index{{Fields: []string{"to", "name"}, Unique: true}}}
	children := Open(w.deps, spec, node.view, nil, nil, Under("to", parents))
	w.want(w.deps.DB.Prepare(t.Context()), "")
	parent := w.add(parents, node{})
	w.add(children, node{To: parent, Name: "a"})
	other := w.add(children, node{To: parent, Name: "b"})
	_, updated := children.Update(t.Context(), server, other, nil, store.Set("name", "a"))
	for _, err := range []error{w.create(children, server, node{To: parent, Name: "a"}), updated} {
		var e *apperr.Error
		if !errors.As(err, &e) || e.Code != apperr.Conflict || len(e.Fields) != 1 || e.Fields[0].Param != "name" {
			t.Errorf("%+v", err)
		}
	}
}
