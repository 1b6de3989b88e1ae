package route_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// TestRows checks that the order of options does not matter, and that a Router adds rows to its table.
func TestRows(t *testing.T) {
	t.Parallel()
	var table route.Table
	table.Serve(gin.New(), "/api", nil)
	r := table.Router()
	notes := r.Resource(listing.Spec{Name: "notes"})
	notes.POST("/notes", route.User, rest.NoContent, route.LargeBody, route.Idempotent)
	notes.POST("/more", route.User, rest.NoContent, route.Idempotent, route.LargeBody)
	notes.GET("/notes/changes", route.Role("nurse"), rest.NoContent, route.Stream)
	r.AtRoot().GET("/livez", route.Open, rest.NoContent)
	var got []string
	for _, r := range table.Routes() {
		got = append(got, fmt.Sprint(r.Method, " ", r.Path, " ", r.Resource, " ", r.Kind, r.Roles, r.LargeBody, r.Idempotent, r.Stream, r.Query))
	}
	want := []string{
		"POST /api/notes notes user[] true true false []", "POST /api/more notes user[] true true false []",
		"GET /api/notes/changes notes role[nurse] false false true [*]", "GET /livez  open[] false false false []",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
	if got := table.Resources(); len(got) != 1 || got[0] != "notes" {
		t.Errorf("the resources are %q", got)
	}
}

// TestPlaces checks which paths are those of a list and of a record.
func TestPlaces(t *testing.T) {
	t.Parallel()
	var table route.Table
	table.Serve(gin.New(), "/api", nil)
	for path, want := range map[string]string{
		"/lines": "true false", "/orders/:id/lines": "true false", "/lines/:id": "false true", "/orders/:id/lines/:lineId": "false true",
		"/lines/changes": "false false", "/lines/:id/cancel": "false false", "/deadlines/:id": "false false", "/orders/:id": "false false",
	} {
		table.Router().Resource(listing.Spec{Name: "lines"}).GET(path, route.Public, rest.NoContent)
		r := table.Routes()[len(table.Routes())-1]
		if got := fmt.Sprint(r.IsList(), r.IsRecord()); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	table.Router().GET("/lines", route.Public, rest.NoContent)
	if table.Routes()[len(table.Routes())-1].IsList() {
		t.Error("a route of no resource is one of its list")
	}
}

// TestDescribe encodes a table with a route that a setting turns off, which Routes and Match do not return.
func TestDescribe(t *testing.T) {
	t.Parallel()
	var table route.Table
	r := table.Router()
	r.Codes("sold_out")
	r.POST("/tickets/a", route.User, rest.NoContent, route.Documented("/tickets/{kind}"), route.Setting("A", false))
	r.POST("/tickets/b", route.User, rest.NoContent, route.Documented("/tickets/{kind}"), route.Setting("B", true))
	list := listing.Spec{Name: "notes", Sort: []string{"title"}, Filter: []listing.Filter{{Field: "at", Type: listing.Time}}}
	r.GET("/notes", route.Admin, rest.NoContent, route.List(list))
	encoded, err := json.Marshal(table.Describe())
	want := `{"routes":[` +
		`{"method":"POST","path":"/tickets/b","caller":"user","documented":"/tickets/{kind}","setting":"B"},` +
		`{"method":"GET","path":"/notes","list":{"name":"notes","sort":["title"],"filter":[{"field":"at","type":"time"}]},"caller":"admin","query":["*"]},` +
		`{"method":"POST","path":"/tickets/a","caller":"user","documented":"/tickets/{kind}","setting":"A","off":true}],"codes":["sold_out"]}`
	if err != nil || string(encoded) != want {
		t.Errorf("%v: %s, want %s", err, encoded, want)
	}
	var decoded route.Description
	if err := json.Unmarshal(encoded, &decoded); err != nil || decoded.Routes[1].List.Filter[0].Type != listing.Time {
		t.Errorf("%v: %+v", err, decoded)
	}
	if len(table.Routes()) != 2 || table.Match("POST", "/tickets/a") != nil {
		t.Error("a route that is off is in the service")
	}
	if err := json.Unmarshal([]byte(`{"routes": [{"list": {"filter": [{"type": "color"}]}}]}`), &decoded); err == nil {
		t.Error("an unknown type is accepted")
	}
}

// TestMatch compares Match with the route that Gin chooses.
func TestMatch(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.ReleaseMode)
	engine, table := gin.New(), &route.Table{}
	r := table.Router()
	for _, path := range []string{"/users/:id", "/users", "/users/me", "/users/:id/keys/:keyId", "/users/me/keys", "/docs/*any"} {
		r.GET(path, route.Public, rest.NoContent)
		engine.GET(path, func(g *gin.Context) { _ = rest.OK(g, g.FullPath()) })
	}
	for path, want := range map[string]string{
		"/users": "/users", "/users/me": "/users/me", "/users/1": "/users/:id", "/users/": "", "/users/1/keys": "", "/users/me/keys": "/users/me/keys",
		"/users/1/keys/2": "/users/:id/keys/:keyId", "/users/me/keys/2": "/users/:id/keys/:keyId", "/docs/a/b": "/docs/*any", "/docs/": "/docs/*any",
	} {
		got := ""
		if r := table.Match("GET", path); r != nil {
			got = r.Path
		}
		w := httptest.NewRecorder()
		if engine.ServeHTTP(w, httptest.NewRequest("GET", path, http.NoBody)); got != want || w.Code == 200 && strings.Trim(w.Body.String(), "\"\n") != want {
			t.Errorf("%s: %q, Gin: %d %s, want %q", path, got, w.Code, w.Body, want)
		}
		if table.Match("PUT", path) != nil {
			t.Errorf("PUT %s has a route", path)
		}
	}
}

// TestIsDownload checks a route that precedes one with a file on the same path.
func TestIsDownload(t *testing.T) {
	t.Parallel()
	table := &route.Table{}
	r := table.Router()
	r.GET("/users/:id/picture", route.Public, rest.NoContent, route.Download)
	r.GET("/users/me/picture", route.Public, rest.NoContent)
	r.PUT("/users/:id/picture", route.Public, rest.NoContent)
	for request, want := range map[string]bool{"GET /users/1/picture": true, "PUT /users/1/picture": false, "GET /users/me/picture": false, "GET /users/1": false} {
		method, path, _ := strings.Cut(request, " ")
		if got := table.IsDownload(method, path); got != want {
			t.Errorf("%s: %v", request, got)
		}
	}
}

// TestAccepts checks every kind of caller on every kind of route, with restrictions and API keys.
func TestAccepts(t *testing.T) {
	t.Parallel()
	errRestricted := apperr.New(apperr.Conflict, "Restricted.")
	user := access.Principal{UserID: store.NewID(), Role: access.RoleUser}
	admin, nurse, reads, stopped, key := user, user, user, user, user
	admin.Role, nurse.Role = access.RoleAdmin, "nurse"
	reads.Restriction = &access.Restriction{Err: errRestricted, Reads: true}
	stopped.Restriction = &access.Restriction{Err: errRestricted}
	key.Key = &access.Key{Scopes: []string{"notes:read"}}
	adminKey := admin
	adminKey.Key = &access.Key{Scopes: []string{access.ScopeAdmin}}
	callers := []access.Principal{{}, {Master: true}, user, admin, nurse, reads, stopped, key, adminKey}
	const ok, unauthorized, forbidden, scope, restricted = "ok", string(apperr.Unauthorized), string(apperr.Forbidden), string(apperr.InsufficientScope), string(apperr.Conflict)
	for _, test := range []struct {
		method  string
		caller  route.Caller
		options []route.Option
		want    [9]string // of none, the master key, a user, an admin, a nurse, a user who can only read, a stopped one, a key, an admin's key with the scope admin
	}{
		{"GET", route.Public, nil, [9]string{ok, ok, ok, ok, ok, ok, restricted, ok, scope}},
		{"POST", route.Public, nil, [9]string{ok, ok, ok, ok, ok, restricted, restricted, scope, scope}},
		{"POST", route.SignIn, []route.Option{route.AllowRestricted}, [9]string{ok, ok, ok, ok, ok, ok, ok, scope, scope}},
		{"GET", route.Master, nil, [9]string{unauthorized, ok, unauthorized, unauthorized, unauthorized, unauthorized, unauthorized, unauthorized, scope}},
		{"GET", route.User, nil, [9]string{unauthorized, unauthorized, ok, ok, ok, ok, restricted, ok, scope}},
		{"POST", route.User, []route.Option{route.AllowAPIKey}, [9]string{unauthorized, unauthorized, ok, ok, ok, restricted, restricted, ok, ok}},
		{"GET", route.Admin, nil, [9]string{unauthorized, unauthorized, forbidden, ok, forbidden, forbidden, forbidden, forbidden, scope}},
		{"GET", route.Admin, []route.Option{route.AllowAdminKey}, [9]string{unauthorized, unauthorized, forbidden, ok, forbidden, forbidden, forbidden, scope, ok}},
		{"GET", route.Role("nurse"), nil, [9]string{unauthorized, unauthorized, forbidden, ok, ok, forbidden, forbidden, forbidden, scope}},
		{"GET", route.StepUpAdmin, nil, [9]string{unauthorized, unauthorized, forbidden, ok, forbidden, forbidden, forbidden, forbidden, scope}},
		{"GET", route.StepUpOthers, nil, [9]string{unauthorized, unauthorized, ok, ok, ok, ok, restricted, ok, scope}},
	} {
		var table route.Table
		table.Router().Resource(listing.Spec{Name: "notes"}).Handle(test.method, "/notes", test.caller, rest.NoContent, test.options...)
		r := table.Routes()[0]
		for i, caller := range callers {
			got := ok
			var e *apperr.Error
			if errors.As(r.Accepts(caller), &e) {
				got = string(e.Code)
			}
			if got != test.want[i] {
				t.Errorf("%s %s, caller %d: %s, want %s", test.method, r.Kind, i, got, test.want[i])
			}
		}
		if err := r.Accepts(access.Operator()); err != nil {
			t.Errorf("%s %s, an operator: %v", test.method, r.Kind, err)
		}
	}
}

// TestCall calls routes in process: with the caller, headers and the body of the Request, and without the middleware of clients.
func TestCall(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.ReleaseMode)
	engine, table := gin.New(), &route.Table{}
	table.Serve(engine, "/api", nil)
	engine.Use(route.External(func(g *gin.Context) { g.Header("X-External", "true") }))
	for _, path := range []string{"/notes/:id", "/fails", "/panics", "/late"} {
		table.Router().Resource(listing.Spec{Name: "notes"}).Handle(map[bool]string{true: "POST", false: "GET"}[path == "/notes/:id"], path, route.Public, rest.NoContent)
	}
	table.Router().GET("/notes/mine", route.Public, rest.NoContent) // of no resource
	engine.POST("/api/notes/:id", func(g *gin.Context) {
		caller, inProcess := route.CalledBy(g)
		body, err := rest.Body(g)
		if err != nil {
			t.Error(err)
		}
		_ = rest.OK(g, []any{inProcess, caller.Master, g.Param("id"), g.Query("expand"), g.GetHeader("If-Match"), g.GetHeader("Idempotency-Key"), body.Strings("a")})
	})
	engine.GET("/api/fails", func(g *gin.Context) { rest.Fail(g, apperr.New(apperr.Conflict, "No.")) })
	engine.GET("/api/panics", func(*gin.Context) { panic("oh") })
	engine.GET("/api/late", func(g *gin.Context) { _ = g.Error(errors.New("only for the log")); _ = rest.NoContent(g) })
	request := route.Request{
		Method: "POST", Path: "/notes/1", Query: url.Values{"expand": {"x"}}, Body: []byte(`{"a":"b"}`), IfMatch: `"1"`, IdempotencyKey: "k",
	}
	response, err := table.Call(t.Context(), access.Principal{Master: true}, request)
	if want := `[true,true,"1","x","\"1\"","k",["b"]]`; err != nil || response.Status != 200 || strings.TrimSpace(string(response.Body)) != want {
		t.Errorf("%v: %d %s", err, response.Status, response.Body)
	}
	if response.Header.Get("X-External") != "" {
		t.Error("middleware of clients was called")
	}
	response, err = table.Call(t.Context(), access.Principal{}, route.Request{Method: "GET", Path: "/fails", ID: "request-1"})
	if !apperr.Is(err, apperr.Conflict) || response.Status != 409 || !strings.Contains(string(response.Body), `"requestId":"request-1"`) {
		t.Errorf("%v: %d %s", err, response.Status, response.Body)
	}
	response, err = table.Call(t.Context(), access.Principal{}, route.Request{Method: "GET", Path: "/panics"})
	if err == nil || response.Status != 500 || !strings.Contains(err.Error(), "panic: oh") {
		t.Errorf("a panic: %d %v", response.Status, err)
	}
	response, err = table.Call(t.Context(), access.Principal{}, route.Request{Method: "GET", Path: "/late"})
	if err != nil || response.Status != 204 || response.Logged == nil {
		t.Errorf("an error for the log: %d %v, %v", response.Status, err, response.Logged)
	}
	for _, path := range []string{"/notes/mine", "/notes", "/x"} {
		if _, err := table.Call(t.Context(), access.Principal{}, route.Request{Method: "GET", Path: path}); !apperr.Is(err, apperr.NotFound) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := table.Call(t.Context(), access.Principal{}, route.Request{Method: "POST", Path: "/notes/1", Query: url.Values{"format": {"csv"}}}); !apperr.Is(err, apperr.NotSupported) {
		t.Errorf("an export: %v", err)
	}
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/api/notes/1", http.NoBody))
	if !strings.HasPrefix(w.Body.String(), `[false,false,"1"`) || w.Header().Get("X-External") != "true" {
		t.Errorf("a client: %s, %v", w.Body, w.Header())
	}
}

// TestExport exports lists in process: one with two rows, one that the route rejects, and one whose reader fails.
func TestExport(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.ReleaseMode)
	engine, table := gin.New(), &route.Table{}
	table.Serve(engine, "/api", nil)
	engine.GET("/api/notes", func(g *gin.Context) {
		if caller, inProcess := route.CalledBy(g); !inProcess || !caller.IsOperator() || g.Query("format") != "csv" {
			rest.Fail(g, apperr.New(apperr.Conflict, "No."))
			return
		}
		_, _ = g.Writer.WriteString("1\n")
		g.Writer.Flush()
		if _, err := g.Writer.WriteString("2\n"); err != nil {
			_ = g.Error(err)
			panic(http.ErrAbortHandler)
		}
	})
	full := errors.New("the disk is full")
	for _, test := range []struct {
		format, written, err string
		fail                 bool
	}{
		{"csv", "1\n2\n", "", false},
		{"ndjson", "", "No.", false},
		{"csv", "1\n", full.Error(), true},
	} {
		var body strings.Builder
		write := writer(func(p []byte) (int, error) {
			if test.fail && body.Len() > 0 {
				return 0, full
			}
			return body.Write(p)
		})
		err := table.Export(t.Context(), access.Operator(), "/notes", url.Values{"format": {test.format}}, write, nil)
		if got := fmt.Sprint(err); body.String() != test.written || (err != nil) != (test.err != "") || !strings.Contains(got, test.err) {
			t.Errorf("%s: %q, %v", test.format, body.String(), err)
		}
	}
}

type writer func([]byte) (int, error)

func (f writer) Write(p []byte) (int, error) { return f(p) }

// TestRaw checks the rows with the option Raw, and the combinations that make no sense.
func TestRaw(t *testing.T) {
	t.Parallel()
	var table route.Table
	r := table.Router().Resource(listing.Spec{Name: "notes"})
	r.PUT("/notes/:id/cover", route.User, rest.NoContent, route.Raw(5<<20))
	if row := table.Routes()[0]; row.Raw != 5<<20 {
		t.Errorf("the limit is %d", row.Raw)
	}
	_, err := table.Call(t.Context(), access.Principal{}, route.Request{Method: "PUT", Path: "/notes/1/cover", Body: []byte(`{"a":1}`)})
	if !apperr.Is(err, apperr.NotSupported) {
		t.Errorf("a call in process: %v", err)
	}
	for name, add := range map[string]func(){
		"route.LargeBody":  func() { r.POST("/x", route.Public, rest.NoContent, route.Raw(1), route.LargeBody) },
		"route.Idempotent": func() { r.POST("/x", route.Public, rest.NoContent, route.Idempotent, route.Raw(1)) },
		"route.JSONOnly":   func() { r.POST("/x", route.Public, rest.NoContent, route.Raw(1), route.JSONOnly) },
		"route.Provider":   func() { r.POST("/x", route.Provider, rest.NoContent, route.Raw(1)) },
		"0 bytes":          func() { r.POST("/x", route.Public, rest.NoContent, route.Raw(0)) },
	} {
		func() {
			defer func() {
				if message := fmt.Sprint(recover()); !strings.Contains(message, name) || !strings.Contains(message, "route.Raw") {
					t.Errorf("%s: %s", name, message)
				}
			}()
			add()
		}()
	}
}
