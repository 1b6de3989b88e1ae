package modules_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/docs"
	"example.com/ginseng/internal/access"
	"example.com/ginseng/internal/testkit"
	"example.com/ginseng/middleware"
)

// operation is a route as the Swagger document tells it.
type operation struct {
	Summary    string
	Parameters []struct {
		Name, In    string
		Description string
		Required    bool
		Example     any
	}
	Responses map[string]struct {
		Schema struct {
			Ref string `json:"$ref"`
		}
	}
	Security []map[string][]string
}

func operations(t *testing.T) map[string]operation {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]operation
	}
	if err := json.Unmarshal(docs.Swagger, &doc); err != nil {
		t.Fatal(err)
	}
	out := make(map[string]operation)
	for path, methods := range doc.Paths {
		for method, op := range methods {
			out[strings.ToUpper(method)+" "+path] = op
		}
	}
	return out
}

// TestEveryRouteIsDocumented fails when a route is mounted and not documented, or the reverse.
func TestEveryRouteIsDocumented(t *testing.T) {
	t.Parallel()
	api := testkit.Start(t)
	documented := operations(t)
	mounted := make(map[string]bool)
	for _, route := range api.Handler.Routes() {
		method, path, _ := strings.Cut(route, " ")
		if path == "/livez" || path == "/readyz" || strings.HasPrefix(path, "/docs") {
			continue // of the service, not of its API
		}
		parts := strings.Split(path, "/")
		for i, part := range parts {
			if name, ok := strings.CutPrefix(part, ":"); ok {
				parts[i] = "{" + name + "}"
			}
		}
		route = method + " " + strings.Join(parts, "/")
		mounted[route] = true
		if _, ok := documented[route]; !ok {
			t.Errorf("%s is not documented", route)
		}
	}
	for route, op := range documented {
		if !mounted[route] {
			t.Errorf("%s is documented, but not mounted", route)
		}
		if op.Summary == "" {
			t.Errorf("%s has no summary", route)
		}
	}
}

// TestListsAreDocumented holds the documented parameters of each list to those that the list takes: it names them when it
// is asked for another.
func TestListsAreDocumented(t *testing.T) {
	t.Parallel()
	api := testkit.Start(t)
	admin := api.SignUp("admin")
	alternatives := regexp.MustCompile(`\w*\[\w+\]`)
	lists := 0
	for name, op := range operations(t) {
		path, isGet := strings.CutPrefix(name, "GET ")
		ref := op.Responses["200"].Schema.Ref
		if !isGet || !strings.HasPrefix(ref, "#/definitions/listing.Page") {
			continue
		}
		lists++
		var documented []string
		for _, p := range op.Parameters {
			documented = append(documented, p.Name)
			if rest, ok := strings.CutPrefix(p.Description, "also "); ok {
				for _, alternative := range alternatives.FindAllString(rest, -1) {
					documented = append(documented, p.Name+alternative[strings.IndexByte(alternative, '['):])
				}
			}
		}
		var problem struct {
			Errors []struct{ Expected []string }
		}
		answer := api.Do(testkit.Request{Method: "GET", Path: path + "?nonsense=1", As: admin.Token})
		if err := json.Unmarshal(answer.Body, &problem); err != nil || len(problem.Errors) != 1 {
			t.Fatalf("%s: %s", name, answer.Body)
		}
		slices.Sort(documented)
		if taken := problem.Errors[0].Expected; !slices.Equal(documented, taken) {
			t.Errorf("%s documents %v\nand takes %v", name, documented, taken)
		}
	}
	if lists < 3 {
		t.Errorf("only %d lists are documented", lists)
	}
}

// TestEveryDocumentedStatus produces every status that the documentation names, by a recipe for each kind of status,
// and holds what the recipes produce against the documentation.
func TestEveryDocumentedStatus(t *testing.T) {
	t.Parallel()
	ops := operations(t)
	for name := range ops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKitchen(t, name, ops[name])
			statuses := slices.Sorted(maps.Keys(ops[name].Responses))
			slices.Reverse(statuses) // what succeeds, and changes something, comes last
			for _, status := range statuses {
				response := ops[name].Responses[status]
				if status >= "400" && response.Schema.Ref != "#/definitions/Problem" {
					t.Errorf("%s is documented with %q", status, response.Schema.Ref)
				}
				k.produce(t, status)
			}
		})
	}
}

// kitchen makes calls of one route.
type kitchen struct {
	api           *testkit.API
	method, path  string
	op            operation
	owner         testkit.Account
	other, admin  func() testkit.Account // made when asked for: a sign-up takes its time, on purpose
	article       string
	policy        func() string // likewise
	session       func() string // likewise; another of the owner's
	security      string        // BasicAuth, MasterKey, UserToken, both or none
	adminRequired bool
}

func newKitchen(t *testing.T, name string, op operation) *kitchen {
	method, path, _ := strings.Cut(name, " ")
	k := &kitchen{api: testkit.Start(t), method: method, path: path, op: op}
	k.owner = k.api.SignUp("user")
	k.other = sync.OnceValue(func() testkit.Account { return k.api.SignUp("user") })
	k.admin = sync.OnceValue(func() testkit.Account { return k.api.SignUp("admin") })
	created := k.api.Do(testkit.Request{Method: "POST", Path: "/articles", As: k.owner.Token, JSON: `{"title":"T"}`}).JSON(201)
	k.article = created["id"].(string)
	for _, s := range op.Security {
		k.security = strings.Join(slices.Sorted(maps.Keys(s)), "+")
	}
	k.policy = sync.OnceValue(func() string {
		r := testkit.Request{Method: "POST", Path: "/policies", As: k.admin().Token, JSON: `{"namespace":"n","name":"first"}`}
		return k.api.Do(r).JSON(201)["id"].(string)
	})
	k.session = sync.OnceValue(func() string {
		token := k.api.SignIn(k.owner.Email, testkit.Password).Token
		rows := k.api.Do(testkit.Request{Method: "GET", Path: "/auth/sessions", As: token}).JSON(200)["rows"].([]any)
		return rows[0].(map[string]any)["id"].(string)
	})
	k.adminRequired = name == "GET /users" || name == "POST /policies" || path == "/policies/{id}" && method != "GET"
	return k
}

// good is a call that succeeds.
func (k *kitchen) good() testkit.Request {
	id := k.owner.ID
	switch {
	case !strings.Contains(k.path, "{id}"):
	case strings.HasPrefix(k.path, "/articles/"):
		id = k.article
	case strings.HasPrefix(k.path, "/policies/"):
		id = k.policy()
	case strings.HasPrefix(k.path, "/auth/sessions/"):
		id = k.session()
	}
	r := testkit.Request{Method: k.method, Path: strings.ReplaceAll(k.path, "{id}", id)}
	form := url.Values{}
	for _, p := range k.op.Parameters {
		if p.In == "formData" && p.Required {
			form.Set(p.Name, fmt.Sprint(p.Example)) // so the documentation's own examples must be good
		}
	}
	if form.Has("refresh_token") {
		form.Set("refresh_token", k.owner.RefreshToken)
	}
	if strings.Contains(k.security, "MasterKey") {
		form.Set("access_token", testkit.MasterKey)
	}
	if strings.Contains(k.security, "BasicAuth") {
		r.Email, r.Password = k.owner.Email, testkit.Password
	}
	if k.security == "UserToken" && k.path != "/users/{id}" || k.method != "GET" && k.security == "UserToken" {
		r.As = k.owner.Token
	}
	if k.adminRequired {
		r.As = k.admin().Token
	}
	if k.method != "GET" {
		r.Form = form
	}
	return r
}

// produce makes a call that must be answered with the status.
func (k *kitchen) produce(t *testing.T, status string) {
	r := k.good()
	api := k.api
	switch status {
	case "200", "201":
	case "204": // takes the record or the session away: by a kitchen of its own
		k = newKitchen(t, k.method+" "+k.path, k.op)
		api, r = k.api, k.good()
	case "304":
		r.Header = http.Header{"If-None-Match": {api.Do(r).Header.Get("ETag")}}
	case "412":
		r.Header = http.Header{"If-Match": {`"1000000"`}}
	case "400":
		r.Form, r.JSON = nil, `{`
		if k.method == "GET" {
			r.JSON, r.As, r.Path = nil, "one", r.Path+"?access_token=two"
		}
	case "401":
		r.Email, r.As = "", "not-a-credential"
		if strings.Contains(k.security, "BasicAuth") {
			r.As = ""
		}
		r.Form.Del("access_token")
	case "403":
		if k.path == "/users" && k.method == "POST" {
			api = testkit.Start(t, func(c *testkit.Config) { c.Settings.User.PublicSignup = true })
			r.Form.Del("access_token")
			r.Form.Set("role", "admin")
			break
		}
		if r.Email != "" {
			r.Email = k.other().Email
		} else {
			r.As = k.other().Token
		}
	case "404":
		r.Path = strings.ReplaceAll(k.path, "{id}", strings.Repeat("0", 24))
	case "408":
		api = testkit.Start(t, func(c *testkit.Config) { c.Middleware.BodyTime = time.Millisecond })
		body, never := io.Pipe()
		defer func() { _ = never.Close() }()
		r.Form, r.Stream, r.ContentType = nil, body, "application/json"
	case "409":
		if r.Form.Has("email") {
			r.Form.Set("email", k.owner.Email)
			break
		}
		if k.path == "/policies/{id}" { // takes the name of another
			post := testkit.Request{Method: "POST", Path: "/policies", As: r.As, JSON: `{"namespace":"n","name":"taken"}`}
			api.Do(post).JSON(201)
			r.Form.Set("name", "taken")
			break
		}
		gate := testkit.NewGate()
		api = testkit.Start(t, func(c *testkit.Config) { c.Host.NewID, c.Wait = gate.NewID, time.Millisecond })
		role := "user"
		if k.adminRequired {
			role = "admin"
		}
		r.As = api.SignUp(role).Token
		r.Header = http.Header{"Idempotency-Key": {"k"}}
		gate.Arm()
		first := make(chan int)
		go func() { first <- api.Do(r).Status }()
		<-gate.Reached
		defer func() {
			gate.Open()
			if got := <-first; got != 201 {
				t.Errorf("the request that was held is answered with %d", got)
			}
		}()
	case "422":
		r.Header = http.Header{"Idempotency-Key": {"used"}}
		if r.Form.Has("email") {
			r.Form.Set("email", "first@example.com")
		} else {
			r.Form.Set("name", "first")
		}
		api.Do(r).JSON(201)
		r.Form.Set("title", "Another")
		r.Form.Set("name", "another")
	case "429": // uses the limit up: in a kitchen of its own
		k = newKitchen(t, k.method+" "+k.path, k.op)
		api, r = k.api, k.good()
		bad := r
		switch k.path {
		case "/users": // where a client without the master key may sign up
			api = testkit.Start(t, func(c *testkit.Config) { c.Settings.User.PublicSignup = true })
			r.Form.Del("access_token")
		case "/auth/refresh":
			bad.Form = url.Values{"refresh_token": {"x"}}
		default:
			bad.Password = "wrong"
		}
		for range 100 {
			if api.Do(bad).Status == 429 {
				break
			}
		}
	case "413":
		r.Form.Set("x", strings.Repeat("x", 2<<20))
	case "415":
		r.Form, r.Body, r.ContentType = nil, "x", "text/plain"
	case "503":
		k = newKitchen(t, k.method+" "+k.path, k.op)
		api, r = k.api, k.good()
		if err := api.DB.Close(); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("there is no recipe for status %s", status)
		return
	}
	if got := fmt.Sprint(api.Do(r).Status); got != status {
		t.Errorf("status %s was to be %s", got, status)
	}
}

// TestUndocumentedStatus makes every kind of bad call to every route, and fails on an answer that is not documented.
func TestUndocumentedStatus(t *testing.T) {
	t.Parallel()
	for name, op := range operations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKitchen(t, name, op)
			for _, spoil := range []func(*testkit.Request){
				func(r *testkit.Request) { r.As, r.Email = "", "" },
				func(r *testkit.Request) { r.As, r.Email = "x", "" },
				func(r *testkit.Request) { r.As, r.Email = testkit.MasterKey, "" },
				func(r *testkit.Request) { r.As, r.Email = k.other().Token, "" },
				func(r *testkit.Request) { r.Path += "?access_token=x" },
				func(r *testkit.Request) { r.Path += "?limit=x&page=x" },
				func(r *testkit.Request) { r.Path = strings.ReplaceAll(k.path, "{id}", "x") },
				func(r *testkit.Request) { r.Form, r.JSON = nil, `[]` },
				func(r *testkit.Request) {
					r.Form, r.JSON = nil, `{"title":1,"email":2,"password":3,"role":4,"access_token":5,"name":6,"namespace":7,"selector":8}`
				},
				func(r *testkit.Request) { r.Form, r.Body, r.ContentType = nil, "x", "application/octet-stream" },
			} {
				r := k.good()
				spoil(&r)
				answer := k.api.Do(r)
				if _, ok := op.Responses[fmt.Sprint(answer.Status)]; !ok {
					t.Errorf("%s %s was answered with %d, which is not documented: %s", r.Method, r.Path, answer.Status, answer.Body)
				}
			}
		})
	}
}

// TestEveryCorner holds answers outside of the routes to the same shape.
func TestEveryCorner(t *testing.T) {
	t.Parallel()
	api := testkit.Start(t, func(c *testkit.Config) {
		c.Middleware.Root = "/api"
		c.Middleware.Modules = append(c.Middleware.Modules, broken{})
	})
	api.Run(t, []testkit.Scenario{
		{Name: "unknown route", Request: testkit.Request{Method: "GET", Path: "/articles"}, Status: 404, Want: []string{"not_found"}},
		{Name: "below the root", Request: testkit.Request{Method: "GET", Path: "/api/articles"}, Status: 200, Want: []string{`"rows":[]`}},
		{Name: "wrong method", Request: testkit.Request{Method: "DELETE", Path: "/api/articles"}, Status: 405, Want: []string{"method_not_allowed"}},
		{Name: "panic", Request: testkit.Request{Method: "GET", Path: "/api/panic"}, Status: 500, Want: []string{"internal"}, WantNot: []string{"oh no"}},
		{Name: "ready", Request: testkit.Request{Method: "GET", Path: "/readyz"}, Status: 200},
		{Name: "alive", Request: testkit.Request{Method: "GET", Path: "/livez"}, Status: 200},
		{Name: "document", Request: testkit.Request{Method: "GET", Path: "/docs/doc.json"}, Status: 200, Want: []string{`"basePath":"/api/"`}},
	})
	if err := api.DB.Close(); err != nil {
		t.Fatal(err)
	}
	api.Run(t, []testkit.Scenario{
		{Name: "database away", Request: testkit.Request{Method: "GET", Path: "/api/articles"}, Status: 503, Want: []string{"unavailable"}, WantNot: []string{"sql", "mongo", "closed"}},
		{Name: "not ready", Request: testkit.Request{Method: "GET", Path: "/readyz"}, Status: 503},
		{Name: "still alive", Request: testkit.Request{Method: "GET", Path: "/livez"}, Status: 200},
	})
}

type broken struct{}

func (broken) Routes(r *middleware.Router) {
	r.GET("/panic", access.Public, func(*gin.Context) error { panic(errors.New("oh no")) })
}
