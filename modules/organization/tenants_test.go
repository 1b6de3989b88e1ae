package organization_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules"
	"example.com/ginseng/modules/organization"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/server"
	"example.com/ginseng/testkit"
)

var operations = flag.Int("operations", 400, "how many operations TestTenants sends")

// note is a record of an organization, which can refer to another note.
type note struct {
	store.Meta              `bson:",inline"`
	resource.InOrganization `bson:",inline"`
	UserID                  store.ID `json:"userId"`
	NoteFields              `bson:",inline"`
	Cover                   *files.File `json:"cover"`
}

type NoteFields struct {
	Title string    `json:"title" validate:"required,max=200"`
	About *store.ID `json:"about"`
}

type noteInput struct {
	NoteFields
	resource.InOrganization
}

type noteView struct {
	ID store.ID `json:"id"`
	resource.InOrganization
	UserID store.ID `json:"userId"`
	NoteFields
	Cover     *files.View `json:"cover"`
	CreatedAt store.Time  `json:"createdAt"`
	UpdatedAt store.Time  `json:"updatedAt"`
	resource.Expanded
}

func (n note) view() noteView {
	return noteView{ID: n.ID, InOrganization: n.InOrganization, UserID: n.UserID, NoteFields: n.NoteFields, Cover: n.Cover.View("/notes/" + n.ID.Hex() + "/cover"), CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt}
}

// notes is a module as the generator makes it.
type notes struct {
	all     *resource.Collection[note]
	creator *resource.Creator[note, noteInput]
	lister  *listing.Lister
}

func noteFiles() []files.Field { return []files.Field{{Name: "cover", MaxBytes: 1000}} }

func noteSpec() listing.Spec {
	return listing.Spec{
		Name: "notes", Search: []string{"title"}, Sort: []string{"title", "createdAt"}, View: noteView{}, Changes: true, Files: noteFiles(), Expand: []string{"about", "organizationId", "userId"},
		Filter: []listing.Filter{{Field: "organizationId", Type: listing.ID}, {Field: "userId", Type: listing.ID}, {Field: "about", Type: listing.ID}, {Field: "title", Type: listing.Text}},
	}
}

func newNotes(d kit.Deps, organizations resource.Organizations, users resource.Target) *notes {
	m := &notes{lister: listing.NewLister(noteSpec(), d.Cursors)}
	m.all = resource.Open(d, noteSpec().Store(store.Index{Fields: []string{"organizationId", "title"}, Unique: true}), note.view, resource.OrganizationMember(), resource.OrganizationMember(),
		resource.Organization(organizations), resource.Owner(users, resource.Keep), resource.ToSelf("about", resource.Clear))
	m.creator = resource.NewCreator(m.all, func(caller access.Principal, in noteInput) (note, error) {
		return note{Meta: store.NewMeta(store.NewID(), store.At(d.Now())), InOrganization: in.InOrganization, UserID: caller.UserID, NoteFields: in.NoteFields}, nil
	}, nil)
	return m
}

func (m *notes) Parts() kit.Parts { return kit.Parts{} }

func (m *notes) Routes(r *route.Router) {
	r = r.Resource(noteSpec())
	r.POST("/notes", route.User, func(g *gin.Context) error {
		in, err := rest.Bind[noteInput](g, noteView{})
		if err != nil {
			return err
		}
		n, err := m.creator.Create(g.Request.Context(), rest.Caller(g), in)
		if err != nil {
			return err
		}
		return rest.Created(g, n.Meta, n.view())
	}, route.Idempotent)
	r.GET("/notes", route.User, func(g *gin.Context) error {
		q, err := m.lister.Parse(rest.Query(g), rest.Caller(g).UserID)
		if err != nil {
			return err
		}
		page, err := resource.List(g.Request.Context(), m.all, rest.Caller(g), q, note.view)
		if err != nil {
			return err
		}
		return rest.Page(g, page)
	}, route.AnyQuery)
	r.GET("/notes/changes", route.User, func(g *gin.Context) error {
		q, err := m.lister.ParseChanges(rest.Query(g), rest.LastEventID(g))
		if err != nil {
			return err
		}
		return rest.ServeFeed(g, resource.Changes(m.all, q, note.view))
	}, route.Stream)
	one := func(do func(g *gin.Context, ctx context.Context, id store.ID) error) route.Handler {
		return func(g *gin.Context) error {
			id, err := rest.ID(g)
			if err != nil {
				return err
			}
			return do(g, g.Request.Context(), id)
		}
	}
	r.GET("/notes/:id", route.User, one(func(g *gin.Context, ctx context.Context, id store.ID) error {
		n, err := m.all.Get(ctx, rest.Caller(g), id)
		if err != nil {
			return err
		}
		v, err := resource.ExpandView(ctx, m.all, rest.Caller(g), rest.Query(g), n.view())
		if err != nil {
			return err
		}
		return rest.Record(g, n.Meta, v)
	}), route.Query("expand"))
	r.PATCH("/notes/:id", route.User, one(func(g *gin.Context, ctx context.Context, id store.ID) error {
		in, err := rest.BindPatch[NoteFields](g, noteView{})
		if err != nil {
			return err
		}
		n, err := m.all.Update(ctx, rest.Caller(g), id, rest.IfMatch(g, id), in.Changes()...)
		if err != nil {
			return err
		}
		return rest.Record(g, n.Meta, n.view())
	}))
	r.DELETE("/notes/:id", route.User, one(func(g *gin.Context, ctx context.Context, id store.ID) error {
		if err := m.all.Delete(ctx, rest.Caller(g), id, rest.IfMatch(g, id)); err != nil {
			return err
		}
		return rest.NoContent(g)
	}))
	m.all.FileRoutes(r, "/notes/:id", noteFiles(), route.User, route.User)
}

// noteDocument documents the routes of notes, which makes them known to MCP.
const noteDocument = `{"openapi": "3.0.3", "info": {"title": "Notes", "version": "1"}, "components": {"schemas": {}}, "paths": {
	"/notes": {"get": OPERATION, "post": OPERATION}, "/notes/{id}": {"get": OPERATION, "patch": OPERATION, "delete": OPERATION}}}`

const noteOperation = `{"responses": {"default": {"description": "", "headers": {"ETag": {"schema": {"type": "string"}}}, "content": {"*/*": {"schema": {}}}}}}`

var openAPI = []byte(strings.ReplaceAll(noteDocument, "OPERATION", noteOperation))

// startNotes starts the service with notes.
func startNotes(t *testing.T, options ...testkit.Option) *testkit.API {
	t.Helper()
	return testkit.Start(t, testkit.Service{
		Modules: testkit.Modules(func(d kit.Deps, s modules.Settings) []kit.Module {
			list := modules.New(d, s)
			var users *user.Module
			var organizations *organization.Module
			for _, m := range list {
				switch m := m.(type) {
				case *user.Module:
					users = m
				case *organization.Module:
					organizations = m
				}
			}
			return append(list, newNotes(d, organizations, users))
		}),
		Documents: server.Documents{OpenAPI: openAPI},
	}, options...)
}

// tenant is an organization with a member and notes.
type tenant struct {
	testkit.Account
	word, id       string
	notes          []string
	cursor, change string
	link           string // query of a link to the cover of the first note
}

// TestTenants sends random requests of a member of one organization, with IDs, cursors and positions of another in every place. The
// response must have nothing of the other organization, and must be that to the same request with an ID that does not exist.
func TestTenants(t *testing.T) {
	t.Parallel()
	api := startNotes(t)
	newTenant := func(word string) (x tenant) {
		x.Account, x.word = api.SignUp("user"), word
		x.id = api.Do(request{Method: "POST", Path: "/organizations", As: x.Token, Form: url.Values{"name": {word + " inc"}}}).JSON(201)["id"].(string)
		x.change = api.Do(request{Method: "GET", Path: "/notes/changes", As: x.Token}).JSON(200)["next"].(string)
		for i := range 5 {
			body := map[string]any{"title": fmt.Sprint(word, " ", i)}
			if i > 0 {
				body["about"] = x.notes[0]
			}
			x.notes = append(x.notes, api.Do(request{Method: "POST", Path: "/notes", As: x.Token, JSON: body}).JSON(201)["id"].(string))
		}
		cover := "/notes/" + x.notes[0] + "/cover"
		api.Do(request{Method: "PUT", Path: cover, As: x.Token, Body: word + " cover", ContentType: "text/plain"}).Want(200)
		_, x.link, _ = strings.Cut(api.Do(request{Method: "POST", Path: cover + "/link", As: x.Token}).JSON(201)["url"].(string), "?")
		x.cursor = api.Do(request{Method: "GET", Path: "/notes?limit=2", As: x.Token}).JSON(200)["next"].(string)
		return x
	}
	own, other := newTenant("walnut"), newTenant("zinnia")
	api.Do(request{Method: "POST", Path: "/mcp", As: own.Token, JSON: toolCall(own.notes[0], "", 0)}).Want(200, "walnut 0")
	api.Do(fileRequest(request{}, own, "/notes/"+own.notes[0]+"/cover", 4)).Want(200, "walnut cover")
	stream := listen(t, api, own.Token)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	for i := range *operations {
		secret := pick(append([]string{other.id, other.ID, other.cursor, other.change}, other.notes...)...)
		var unknown string
		switch secret {
		case other.cursor, other.change:
			unknown = strings.Repeat("A", len(secret))
		default:
			unknown = store.NewID().Hex()
		}
		build := tenantRequest(random, own, i)
		r, control := build(secret), build(unknown)
		if len(secret) > 24 && strings.HasPrefix(r.Path, "/notes/changes?after=") { // both are a resync
			control = build(strings.Repeat("B", len(secret)))
		}
		got, want := api.Do(r), api.Do(control)
		if leak := leaked(got.Body, secret, other); leak != "" {
			t.Errorf("seed %d: %s %s %v: the response has %s: %s", seed, r.Method, r.Path, r.JSON, leak, got.Body)
		}
		if a, b := shape(got, secret), shape(want, unknown); a != b {
			t.Errorf("seed %d: %s %s %v:\n%s, and for an unknown ID\n%s", seed, r.Method, r.Path, r.JSON, a, b)
		}
	}
	for _, id := range other.notes {
		if view := api.Do(request{Method: "GET", Path: "/notes/" + id, As: other.Token}).JSON(200); !strings.HasPrefix(view["title"].(string), "zinnia") {
			t.Errorf("the other organization has %v", view)
		}
	}
	for _, x := range []tenant{other, own} {
		api.Do(request{Method: "POST", Path: "/notes", As: x.Token, JSON: map[string]any{"title": x.word + " last"}}).Want(201)
	}
	if leak := leaked(readUntil(t, stream, "walnut last"), "", other); leak != "" {
		t.Errorf("seed %d: the stream has %s", seed, leak)
	}
	t.Logf("%d operations, each with a control", *operations)
}

// listen opens a stream of the changes of notes, and waits until it has begun.
func listen(t *testing.T, api *testkit.API, token string) *bufio.Reader {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, api.URL+"/notes/changes", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Accept": {"text/event-stream"}, "Authorization": {"Bearer " + token}}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = response.Body.Close() })
	stream := bufio.NewReader(response.Body)
	readUntil(t, stream, "event: ready")
	return stream
}

// readUntil reads lines up to one that has the text.
func readUntil(t *testing.T, stream *bufio.Reader, text string) (read []byte) {
	t.Helper()
	for {
		line, err := stream.ReadBytes('\n')
		read = append(read, line...)
		if err != nil {
			t.Fatalf("the stream ends without %q: %v\n%s", text, err, read)
		}
		if bytes.Contains(line, []byte(text)) {
			return read
		}
	}
}

// TestStreamEnds checks that a stream ends after the membership of its user, also if the user keeps another organization.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	api := startNotes(t, func(c *testkit.Config) { c.StreamCheck = 20 * time.Millisecond })
	owner, member := api.SignUp("user"), api.SignUp("user")
	create := func(a testkit.Account) string {
		return api.Do(request{Method: "POST", Path: "/organizations", As: a.Token, Form: url.Values{"name": {"Farmers"}}}).JSON(201)["id"].(string)
	}
	create(member)
	farm := create(owner)
	id, _ := store.ParseID(farm)
	api.Join(id, member, "member")
	stream := listen(t, api, member.Token)
	api.Do(request{Method: "POST", Path: "/notes", As: owner.Token, JSON: map[string]any{"title": "walnut"}}).Want(201)
	readUntil(t, stream, "walnut")
	api.Do(request{Method: "DELETE", Path: "/organizations/" + farm + "/members/" + member.ID, As: owner.Token}).Want(204)
	readUntil(t, stream, "event: end")
	readUntil(t, stream, `{"code":"forbidden"}`)
}

// tenantRequest returns a function that makes one random request with an ID in it.
func tenantRequest(random *rand.Rand, own tenant, n int) func(id string) request {
	kind, mine := random.IntN(22), own.notes[random.IntN(len(own.notes))]
	method := []string{"GET", "PATCH", "DELETE"}[random.IntN(3)]
	key := fmt.Sprint("key", n)
	return func(id string) request {
		r := request{Method: "GET", As: own.Token, Path: "/notes"}
		query := func(name, value string) request {
			r.Path += "?" + url.Values{name: {value}}.Encode()
			return r
		}
		send := func(method, path string, body any) request { r.Method, r.Path, r.JSON = method, path, body; return r }
		switch kind {
		case 0, 1:
			r.Method, r.Path = method, "/notes/"+id
			if method == "PATCH" {
				r.JSON = map[string]any{"title": "x"}
			}
			return r
		case 2:
			return send("POST", "/notes", map[string]any{"title": key, "organizationId": id})
		case 3:
			return send("POST", "/notes", map[string]any{"title": key, "about": id})
		case 4:
			return send("PATCH", "/notes/"+mine, map[string]any{"about": id})
		case 5:
			return query("organizationId", id)
		case 6:
			return query([]string{"about", "userId", "about[in]", "organizationId[in]"}[n%4], id)
		case 7:
			return query("after", id)
		case 8:
			r.Path = "/notes/changes"
			return query("after", id)
		case 9:
			r.Path = "/notes/changes"
			return query("organizationId", id)
		case 10:
			return query("q", []string{"zinnia", "inc", id}[n%3])
		case 11:
			r.Path = "/notes?format=ndjson&organizationId=" + url.QueryEscape(id)
			return r
		case 12:
			r.Path = "/notes/" + id + "?expand=about,organizationId,userId"
			return r
		case 13:
			op := map[string]any{"method": "PATCH", "path": "/notes/" + url.PathEscape(id), "body": map[string]any{"title": "x"}}
			return send("POST", "/batch", map[string]any{"operations": []any{op}})
		case 14:
			op := map[string]any{"method": "POST", "path": "/notes", "body": map[string]any{"title": key, "about": id, "organizationId": id}}
			return send("POST", "/batch", map[string]any{"operations": []any{op}})
		case 15:
			path := []string{"", "/members", "/invitations", "/members/" + own.ID}[n%4]
			r.Path = "/organizations/" + url.PathEscape(id) + path
			if n%4 == 3 {
				r.Method = "DELETE"
			}
			return r
		case 16:
			return send("PATCH", "/organizations/"+own.id+"/members/"+url.PathEscape(id), map[string]any{"role": "admin"})
		case 17:
			return fileRequest(r, own, "/notes/"+id+"/cover", n)
		case 18, 19:
			return send("POST", "/mcp", toolCall(id, key, n))
		case 20: // only admins of the service have webhooks
			r.Path = "/webhooks/" + id
			return r
		}
		r = send("POST", "/notes", map[string]any{"title": key, "about": id})
		r.Header = http.Header{"Idempotency-Key": {key + id}}
		return r
	}
}

// fileRequest completes a request to a file.
func fileRequest(r request, own tenant, path string, n int) request {
	r.Method, r.Path = []string{"GET", "PUT", "DELETE", "POST", "GET"}[n%5], path
	switch n % 5 {
	case 1:
		r.Body, r.ContentType = "x", "text/plain"
	case 3:
		r.Path += "/link"
	case 4:
		r.Path, r.As = path+"?"+own.link, ""
	}
	return r
}

// toolCall returns the message that calls a tool of MCP with an ID.
func toolCall(id, key string, n int) map[string]any {
	call := []map[string]any{
		{"name": "get_record", "arguments": map[string]any{"resource": "notes", "id": id}},
		{"name": "update_record", "arguments": map[string]any{"resource": "notes", "id": id, "data": map[string]any{"title": "x"}}},
		{"name": "create_record", "arguments": map[string]any{"resource": "notes", "data": map[string]any{"title": key, "organizationId": id}}},
		{"name": "create_record", "arguments": map[string]any{"resource": "notes", "data": map[string]any{"title": key, "about": id}}},
		{"name": "search_records", "arguments": map[string]any{"resource": "notes", "filter": map[string]any{"organizationId": id}}},
		{"name": "search_records", "arguments": map[string]any{"resource": "notes", "q": "zinnia"}},
	}[n%6]
	return map[string]any{"jsonrpc": "2.0", "id": "1", "method": "tools/call", "params": call}
}

// leaked returns what a response has of the other organization, except the ID that the request has sent.
func leaked(body []byte, sent string, other tenant) string {
	for _, secret := range append([]string{"zinnia ", other.id, other.ID, other.Email}, other.notes...) {
		if secret != sent && bytes.Contains(body, []byte(secret)) {
			return secret
		}
	}
	return ""
}

var variable = regexp.MustCompile(`[0-9a-f]{24}|[0-9-]{10}T[0-9:.]{12}Z|\\?"(next|id|requestId|etag|title)\\?":\\?"[^"\\]*\\?"|key[0-9]+`)

// shape returns the status and the body of a response without what differs between any two requests.
func shape(r testkit.Response, sent string) string {
	var compact bytes.Buffer
	body := bytes.ReplaceAll(r.Body, []byte(sent), []byte("ID"))
	if json.Compact(&compact, body) == nil {
		body = compact.Bytes()
	}
	return fmt.Sprint(r.Status, " ", string(variable.ReplaceAll(body, []byte("…"))))
}

// TestDeletionWhileMembersWrite deletes an organization while its members write records. Afterwards, none is left.
func TestDeletionWhileMembersWrite(t *testing.T) {
	for name, options := range map[string][]testkit.Option{"transactions": nil, "separate": {testkit.Separate}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := startNotes(t, options...)
			owner := api.SignUp("user")
			id := api.Do(request{Method: "POST", Path: "/organizations", As: owner.Token, Form: url.Values{"name": {"Farmers"}}}).JSON(201)["id"].(string)
			var group sync.WaitGroup
			written := make(chan struct{}, 8)
			for i := range 4 {
				group.Go(func() {
					for n := 0; ; n++ {
						note := map[string]any{"title": fmt.Sprint(i, " ", n), "organizationId": id}
						r := api.Do(request{Method: "POST", Path: "/notes", As: owner.Token, JSON: note})
						if r.Status != 201 {
							r.Want(400, "unknown_reference")
							return
						}
						select {
						case written <- struct{}{}:
						default:
						}
					}
				})
			}
			for range 8 {
				<-written
			}
			api.Do(request{Method: "DELETE", Path: "/organizations/" + id, As: owner.Token}).Want(204)
			group.Wait()
			api.Clock.Advance(5 * time.Minute)
			api.RunJobs()
			wantNone(api, t, "notes", "memberships")
		})
	}
}
