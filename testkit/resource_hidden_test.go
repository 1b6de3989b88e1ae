package testkit_test

import (
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/testkit"
)

// post is a record that everyone sees when it is published. Before, only its owner and admins see it.
type post struct {
	store.Meta `bson:",inline"`
	PostFields `bson:",inline"`
	State      string   `json:"state"`
	UserID     store.ID `json:"userId"`
}

type PostFields struct {
	Text    string     `json:"text" validate:"required,max=200"`
	Editors []store.ID `json:"editors" validate:"max=100"`
}

type postView struct {
	ID store.ID `json:"id"`
	PostFields
	State     string     `json:"state"`
	UserID    store.ID   `json:"userId"`
	CreatedAt store.Time `json:"createdAt"`
	UpdatedAt store.Time `json:"updatedAt"`
	resource.Expanded
}

func (p post) view() postView {
	return postView{ID: p.ID, PostFields: p.PostFields, State: p.State, UserID: p.UserID, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt}
}

var postSpec = listing.Spec{
	Name: "posts", Sort: []string{"createdAt", "updatedAt"}, View: postView{}, Expand: []string{"editors", "userId"}, Changes: true,
	Filter: []listing.Filter{{Field: "userId", Type: listing.ID}, {Field: "createdAt", Type: listing.Time}},
}

// visible is the rule of the project that hides drafts.
func visible(caller access.Principal) store.Filter {
	if caller.ActsForAll() {
		return nil
	}
	return store.Or(store.Ne("state", "draft"), resource.Own(caller))
}

type posts struct {
	*resource.Collection[post]
	*listing.Lister
	deps kit.Deps
}

func newPosts(d kit.Deps, s modules.Settings) []kit.Module {
	all := modules.New(d, s)
	users := all[0].(resource.Target)
	collection := resource.Open(d, postSpec.Store(), post.view, visible, resource.Own,
		resource.Owner(users, resource.Cascade), resource.To("editors", users, resource.Clear))
	return append(all, posts{collection, listing.NewLister(postSpec, d.Cursors), d})
}

func (posts) Parts() kit.Parts { return kit.Parts{} }

func (m posts) Routes(r *route.Router) {
	r = r.Resource(postSpec)
	r.POST("/posts", route.User, m.create)
	r.GET("/posts", route.Public, m.list, route.AnyQuery)
	r.GET("/posts/changes", route.Public, m.changes, route.Stream)
	r.GET("/posts/:id", route.Public, m.get, route.Query("expand"))
	r.PUT("/posts/:id", route.User, m.update)
	r.PATCH("/posts/:id", route.User, m.update)
}

func (m posts) create(g *gin.Context) error {
	in, err := rest.Bind[PostFields](g, postView{})
	if err != nil {
		return err
	}
	p := post{Meta: store.NewMeta(store.NewID(), store.At(m.deps.Now())), PostFields: in, State: "draft", UserID: rest.Caller(g).UserID}
	if err := m.Create(g.Request.Context(), rest.Caller(g), p); err != nil {
		return err
	}
	return rest.Created(g, p.Meta, p.view())
}

func (m posts) list(g *gin.Context) error {
	q, err := m.Parse(rest.Query(g))
	if err != nil {
		return err
	}
	page, err := resource.List(g.Request.Context(), m.Collection, rest.Caller(g), q, post.view)
	if err != nil {
		return err
	}
	return rest.Page(g, page)
}

func (m posts) changes(g *gin.Context) error {
	q, err := m.ParseChanges(rest.Query(g), rest.LastEventID(g))
	if err != nil {
		return err
	}
	return rest.ServeFeed(g, resource.Changes(m.Collection, q, post.view))
}

func (m posts) get(g *gin.Context) error {
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	p, err := m.Get(g.Request.Context(), rest.Caller(g), id)
	if err != nil {
		return err
	}
	v, err := resource.ExpandView(g.Request.Context(), m.Collection, rest.Caller(g), rest.Query(g), p.view())
	if err != nil {
		return err
	}
	return rest.Record(g, p.Meta, v)
}

// update has rules of the project: an update has fields, and a text does not begin with "b".
func (m posts) update(g *gin.Context) error {
	in, err := rest.BindPatch[PostFields](g, postView{})
	if err != nil {
		return err
	}
	if len(in.Changes()) == 0 {
		return apperr.Invalid(apperr.Field{In: "body", Param: "text", Code: apperr.Required, Message: "Change something."})
	}
	var changed post
	if err := in.Apply(&changed); err != nil {
		return err
	}
	if strings.HasPrefix(changed.Text, "b") {
		return apperr.Invalid(apperr.Field{In: "body", Param: "text", Code: apperr.FieldConflict, Message: "Must not begin with b."})
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	p, err := m.Update(g.Request.Context(), rest.Caller(g), id, rest.IfMatch(g, id), in.Changes()...)
	if err != nil {
		return err
	}
	return rest.Record(g, p.Meta, p.view())
}

func postResource() testkit.Resource {
	insertUser := func(api *testkit.API, id, owner store.ID) {
		testkit.InsertRecord[user.User](api, "users", "", id, owner, testkit.Field{Name: "email", Type: "email", Required: true, Unique: true})
	}
	return testkit.Resource{
		Start: func(t testing.TB, options ...testkit.Option) *testkit.API {
			return testkit.Start(t, testkit.Service{Modules: testkit.Modules(newPosts)}, options...)
		},
		Path: "/posts", Changes: true,
		Callers: map[string]string{"create": "user", "list": "public", "show": "public", "update": "owner"},
		Fields: []testkit.Field{
			{Name: "text", Type: "string", Required: true},
			{Name: "editors", Type: "[]ref", Refers: &testkit.Reference{Insert: insertUser, OnDelete: resource.Clear, Path: "/users", DeleteAs: "admin"}},
		},
		Records: []testkit.Inserter{insertUser},
		Insert:  testkit.InsertJSON[post](postSpec.Store()),
	}.Complete()
}

// unpreparedEnv is the environment variable with which TestUnprepared runs itself in another process, to read its failures.
const unpreparedEnv = "TESTKIT_UNPREPARED"

// TestUnprepared checks what the suite says about rules of a project that its test does not consider.
func TestUnprepared(t *testing.T) {
	if os.Getenv(unpreparedEnv) != "" {
		r := postResource()
		r.Insert = insertWith(r.Insert, "draft")
		r.Access["nobody"] = []int{401, 200, 404, 401} // create, list, show, update
		r.Run(t)
		r.Insert = insertWith(postResource().Insert, "published")
		t.Run("server", withoutCreate(r).Run)
		r = postResource()
		r.Fields = append(r.Fields, testkit.Field{Name: "state", Type: "string", Default: "open", ReadOnly: true})
		r = r.Complete()
		r.Access["owner"][1] = 401 // list: as nobody, who does not see the draft
		t.Run("default", r.Run)
		return
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnprepared$")
	cmd.Env = append(os.Environ(), unpreparedEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("the rules are not noticed")
	}
	failures := map[string]string{} // by check
	for _, failure := range strings.Split(string(out), "--- FAIL: TestUnprepared/")[1:] {
		name, text, _ := strings.Cut(failure, " (")
		failures[name] += text
	}
	const insert, update = "insert := r.Insert; r.Insert = ", "r.PrepareUpdate = "
	for check, want := range map[string][]string{
		"list":                {"GET /posts: 3 of 3 records are not visible to nobody", insert, `r.Skip("list", `},
		"etags":               {"GET /posts: 1 of 1 records are not visible to nobody", insert, `r.Skip("etags", `},
		"references":          {"GET /posts: 1 of 1 records are not visible to nobody", insert, `r.Skip("references", `},
		"changes":             {"PATCH /posts/", update}, // the creator sees that the draft was created
		"server/changes":      {"PATCH /posts/", update},
		"default/create/list": {"GET /posts: 1 of 1 records are not visible to nobody", "r.Prepare = ", `r.Skip("create/list", `},
		"default/create":      {"state of a new record is draft, want open", `r.Derived = append(r.Derived, "state")`, `r.Skip("create", `},
		"versions":            {"Must not begin with b.", update, `body["text"] = …`, `r.Skip("versions", `},
	} {
		for _, part := range want {
			if !strings.Contains(failures[check], part) {
				t.Errorf("%s: no %s in %s", check, part, failures[check])
			}
		}
	}
	if failures["create"] != "" { // the creator sees the draft
		t.Errorf("create fails: %s", failures["create"])
	}
	if strings.Contains(string(out), "panic") {
		t.Errorf("%s", out)
	}
}

// TestPrepared checks that the lines which TestUnprepared names are enough.
func TestPrepared(t *testing.T) {
	t.Parallel()
	r := postResource()
	r.Insert = insertWith(r.Insert, "published")
	r.PrepareUpdate = func(_ *testkit.API, _ int, body map[string]any) {
		if len(body) == 0 {
			body["text"] = "amber"
		}
		if text, ok := body["text"].(string); ok {
			body["text"] = strings.Replace(text, "b", "x", 1)
		}
	}
	r.Run(t)
	t.Run("server", withoutCreate(r).Run)
}

// withoutCreate returns the resource without its first method, create.
func withoutCreate(r testkit.Resource) testkit.Resource {
	r.Methods, r.Access = r.Methods[1:], maps.Clone(r.Access)
	for caller, statuses := range r.Access {
		r.Access[caller] = statuses[1:]
	}
	return r
}

// insertWith returns the function for Resource.Insert that stores records in the state.
func insertWith(
	insert func(*testkit.API, testkit.Caller, map[string]any) store.ID, state string,
) func(*testkit.API, testkit.Caller, map[string]any) store.ID {
	return func(api *testkit.API, caller testkit.Caller, record map[string]any) store.ID {
		record["state"] = state
		return insert(api, caller, record)
	}
}
