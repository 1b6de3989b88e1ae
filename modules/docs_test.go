package modules_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/docs"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/providers"
)

// operation is an operation of the OpenAPI document.
type operation struct {
	Summary    string
	Parameters []struct {
		Name, In string
		Schema   struct{ Items struct{ Enum []string } }
	}
	Responses map[string]struct {
		Description string
		Content     map[string]media
	}
	Security    []map[string][]string
	RequestBody struct{ Content map[string]media }
	Input       schema `json:"-"` // of the body
}

type media struct {
	Schema struct {
		Ref string `json:"$ref"`
	}
}

type schema struct {
	Required   []string
	Enum       []apperr.Code
	Properties map[string]property
}

type property struct {
	Description, Type, Format string
	Example                   any
	Enum                      []any
	Maximum                   *float64
	MinLength, MaxLength      int
}

func operations(t *testing.T) map[string]operation {
	t.Helper()
	var doc struct {
		Paths      map[string]map[string]operation
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(docs.OpenAPI, &doc); err != nil {
		t.Fatal(err)
	}
	if listed := doc.Components.Schemas["ErrorCode"].Enum; len(doc.Paths) > 0 && !slices.Equal(listed[:min(len(listed), len(apperr.Codes))], apperr.Codes) {
		t.Errorf("the error codes are documented as %v", listed)
	}
	out := make(map[string]operation)
	for path, methods := range doc.Paths {
		for method, op := range methods {
			op.Input = doc.Components.Schemas[strings.TrimPrefix(op.RequestBody.Content["application/json"].Schema.Ref, schemas)]
			out[strings.ToUpper(method)+" "+path] = op
		}
	}
	return out
}

// sampled returns the operations; every fourth in short mode.
func sampled(ops map[string]operation) map[string]operation {
	if !testing.Short() {
		return ops
	}
	out := make(map[string]operation)
	for i, name := range slices.Sorted(maps.Keys(ops)) {
		if i%4 == 0 {
			out[name] = ops[name]
		}
	}
	return out
}

const schemas = "#/components/schemas/"

var providerNames = []string{"apple", "facebook", "github", "gitlab", "google", "microsoft", "okta"}

// TestEveryRouteIsDocumented compares the mounted routes with the documented routes.
func TestEveryRouteIsDocumented(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, func(c *testkit.Config) { c.StartProviders(t) })
	documented := operations(t)
	mounted := make(map[string]bool)
	for _, route := range api.Handler.Routes() {
		method, path, _ := strings.Cut(route, " ")
		if path == "/livez" || path == "/readyz" || path == "/openapi.json" || strings.HasPrefix(path, "/docs") {
			continue // not part of the API
		}
		parts := strings.Split(path, "/")
		for i, part := range parts {
			if name, ok := strings.CutPrefix(part, ":"); ok {
				parts[i] = "{" + name + "}"
			}
		}
		route = method + " " + strings.Join(parts, "/")
		if provider, ok := strings.CutPrefix(route, "POST /auth/"); ok && slices.Contains(providerNames, provider) {
			route = "POST /auth/{provider}"
		}
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
		if problem := op.Responses["default"].Content["application/problem+json"].Schema.Ref; problem != schemas+"Problem" {
			t.Errorf("%s documents %q as the response to any other error", route, problem)
		}
	}
}

// TestListsAreDocumented compares the documented parameters of each list, and the documented values of fields and sort, with the
// supported values. The error for an unknown value lists the supported values.
func TestListsAreDocumented(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	pages := slices.DeleteFunc(pageSchemas(t), func(ref string) bool {
		return strings.HasSuffix(ref, "ChangesPage") // the rows are events, and fields selects fields of their records
	})
	lists := 0
	for name, op := range operations(t) {
		path, isGet := strings.CutPrefix(name, "GET ")
		if ref := op.Responses["200"].Content["application/json"].Schema.Ref; !isGet || !slices.Contains(pages, ref) {
			continue
		}
		lists++
		caller := admin.Token
		if op.security() == "MasterKey" {
			caller = testkit.MasterKey
		}
		// taken returns the supported values, from the error for an unknown value.
		taken := func(query string) []string {
			var problem struct {
				Errors []struct{ Expected []string }
			}
			response := api.Do(testkit.Request{Method: "GET", Path: pathParam.ReplaceAllString(path, unknownID) + query, As: caller})
			if err := json.Unmarshal(response.Body, &problem); err != nil || len(problem.Errors) != 1 {
				t.Fatalf("%s: %s", name, response.Body)
			}
			return slices.Sorted(slices.Values(problem.Errors[0].Expected))
		}
		var documented []string
		for _, p := range op.Parameters {
			if p.In != "query" {
				continue
			}
			documented = append(documented, p.Name)
			if p.Name != "fields" && p.Name != "sort" {
				continue
			}
			names := slices.DeleteFunc(p.Schema.Items.Enum, func(value string) bool { return value[0] == '-' })
			if want := taken("?" + p.Name + "=nonsense"); !slices.Equal(slices.Sorted(slices.Values(names)), want) {
				t.Errorf("%s documents %s as %v\nand supports %v", name, p.Name, names, want)
			}
		}
		slices.Sort(documented)
		if want := taken("?nonsense=1"); !slices.Equal(documented, want) {
			t.Errorf("%s documents %v\nand supports %v", name, documented, want)
		}
	}
	documented := 0
	for _, page := range pages {
		documented += strings.Count(string(docs.OpenAPI), `"`+page+`"`)
	}
	if lists != documented {
		t.Errorf("%d lists were checked, %d are documented", lists, documented)
	}
}

// pageSchemas returns the references to the schemas of pages of lists. These schemas have rows and a name that ends in Page.
func pageSchemas(t *testing.T) (refs []string) {
	t.Helper()
	var doc struct {
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(docs.OpenAPI, &doc); err != nil {
		t.Fatal(err)
	}
	for name, s := range doc.Components.Schemas {
		if _, hasRows := s.Properties["rows"]; hasRows && strings.HasSuffix(name, "Page") {
			refs = append(refs, schemas+name)
		}
	}
	return refs
}

// TestEveryDocumentedStatus produces every documented status, with a request for each, and compares the responses with the
// documentation.
func TestEveryDocumentedStatus(t *testing.T) {
	t.Parallel()
	ops := operations(t)
	for name := range sampled(ops) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newRequestBuilder(t, ops, name)
			statuses := k.statuses()
			slices.Reverse(statuses) // successful changes last
			for _, status := range append(statuses, "503") {
				k.produce(t, status)
			}
		})
	}
}

// statuses returns the documented statuses of the operation, and the statuses of every operation of its kind, except 503, which
// every operation has.
func (k *requestBuilder) statuses() []string {
	out := append(slices.Collect(maps.Keys(k.op.Responses)), "400", "401")
	if k.method != "GET" {
		out = append(out, "408", "413", "415")
	}
	out = slices.DeleteFunc(out, func(status string) bool { return status == "default" || status == "503" })
	slices.Sort(out)
	return slices.Compact(out)
}

// requestBuilder creates requests for one route from its documentation, whose examples must be valid.
type requestBuilder struct {
	t            *testing.T
	api          *testkit.API
	ops          map[string]operation
	method, path string
	op           operation
	owner        testkit.Account
	other, admin func() testkit.Account // created on first use: a sign-up is slow on purpose
	record       func() string          // path of a record in the collection of path; created on first use
	providers    testkit.Providers      // set if the path has {provider}
	env          map[string]string      // of api
}

func newRequestBuilder(t *testing.T, ops map[string]operation, name string, set ...testkit.Option) *requestBuilder {
	method, path, _ := strings.Cut(name, " ")
	k := &requestBuilder{t: t, ops: ops, method: method, path: path, op: ops[name]}
	if strings.Contains(path, "{provider}") {
		set = append(set, func(c *testkit.Config) { k.providers = c.StartProviders(t) })
	}
	k.api = apitest.Start(t, append(set, func(c *testkit.Config) { k.env = c.Env })...)
	k.owner = k.api.SignUp("user")
	k.other = sync.OnceValue(func() testkit.Account { return k.api.SignUp("user") })
	k.admin = sync.OnceValue(func() testkit.Account { return k.api.SignUp("admin") })
	k.record = sync.OnceValue(k.newRecord)
	return k
}

// again returns a new requestBuilder for the same route.
func (k *requestBuilder) again(set ...testkit.Option) *requestBuilder {
	return newRequestBuilder(k.t, k.ops, k.method+" "+k.path, set...)
}

var resetToken = regexp.MustCompile(testkit.LinkOrigin + `/\S*?([\w-]{43})`)

var pathParam = regexp.MustCompile(`\{\w+\}`)

const unknownID = "000000000000000000000000"

// newRecord creates a record of the collection at the beginning of the path, and returns its path, or "" if the API cannot
// create one.
func (k *requestBuilder) newRecord() string {
	collection, _, _ := strings.Cut(k.path, "/{")
	switch collection {
	case "/users":
		return "/users/" + k.owner.ID
	case "/auth":
		return "/auth/github"
	case "/auth/identities":
		k.api.Do(testkit.Request{Method: "POST", Path: "/auth/github", As: k.owner.Token, Form: k.proof(true)}).JSON(201)
		return collection + "/github"
	case "/password-resets":
		k.api.Do(k.request("POST", collection, false)).JSON(202)
		return collection + "/" + resetToken.FindStringSubmatch(k.api.Email.Next(k.t).Text)[1]
	case "/email-verifications":
		k.api.Do(k.request("POST", "/users/me/email-verification", false)).JSON(202)
		return collection + "/" + resetToken.FindStringSubmatch(k.api.Email.Next(k.t).Text)[1]
	case "/auth/sessions": // another session of the owner
		token := k.api.SignIn(k.owner.Email, testkit.Password).Token
		rows := k.api.Do(testkit.Request{Method: "GET", Path: collection, As: token}).JSON(200)["rows"].([]any)
		return collection + "/" + rows[0].(map[string]any)["id"].(string)
	}
	return k.api.Do(k.request("POST", collection, false)).Header.Get("Location")
}

// proof returns a token of a GitHub account.
func (k *requestBuilder) proof(emailVerified bool) url.Values {
	u := k.providers.GitHub.AddUser(providers.User{EmailVerified: emailVerified})
	return url.Values{"access_token": {k.providers.GitHub.Token(u.ID)}}
}

// isReference matches the description of a parameter with the ID of a record, which the examples do not have.
var isReference = regexp.MustCompile(`\bIDs? of `)

// refers reports whether a parameter must refer to a record.
func (k *requestBuilder) refers() bool {
	return slices.ContainsFunc(k.op.Input.Required, func(name string) bool {
		return isReference.MatchString(k.op.Input.Properties[name].Description)
	})
}

// good returns a request that succeeds.
func (k *requestBuilder) good() testkit.Request { return k.request(k.method, k.path, false) }

// request returns a valid request with the required parameters, or with all parameters that have an example.
func (k *requestBuilder) request(method, path string, full bool) testkit.Request {
	op := k.ops[method+" "+path]
	r := testkit.Request{Method: method, Path: path}
	if collection, rest, ok := strings.Cut(path, "/{"); ok {
		_, below, _ := strings.Cut(rest, "}")
		r.Path = cmp.Or(k.record(), collection+"/"+unknownID) + below
	}
	form := op.examples(full)
	if path == "/password-resets" {
		form.Set("email", k.owner.Email)
	}
	if _, takesLink := op.Input.Properties["link"]; takesLink {
		form.Set("link", testkit.LinkOrigin+"/reset/{token}")
	}
	if form.Has("refresh_token") {
		form.Set("refresh_token", k.owner.RefreshToken)
	}
	if path == "/auth/{provider}" {
		r.Form = k.proof(true)
		return r
	}
	switch op.security() {
	case "BasicAuth":
		r.Email, r.Password = k.owner.Email, testkit.Password
		if _, takesKey := op.Input.Properties["access_token"]; takesKey {
			form.Set("access_token", testkit.MasterKey)
		}
	case "MasterKey":
		r.As = testkit.MasterKey
	case "UserToken":
		r.As = k.owner.Token
		if op.forAdmins() {
			r.As = k.admin().Token
		}
	}
	if method != "GET" {
		r.Form = form
	}
	return r
}

// examples returns the examples of the documentation.
func (op operation) examples(full bool) url.Values {
	form := url.Values{}
	for name, p := range op.Input.Properties {
		if !slices.Contains(op.Input.Required, name) && (!full || p.Example == nil || isReference.MatchString(p.Description)) {
			continue
		}
		items, isList := p.Example.([]any)
		if !isList {
			items = []any{p.Example}
		}
		for _, item := range items {
			text := fmt.Sprint(item)
			if _, isObject := item.(map[string]any); isObject {
				raw, _ := json.Marshal(item) // was just unmarshalled
				text = string(raw)
			}
			form.Add(name, text)
		}
	}
	return form
}

func (op operation) security() string {
	for _, s := range op.Security {
		return strings.Join(slices.Sorted(maps.Keys(s)), "+")
	}
	return ""
}

func (op operation) forAdmins() bool {
	return strings.Contains(op.Responses["403"].Description, "not an admin")
}

// produce sends a request that must produce the status.
func (k *requestBuilder) produce(t *testing.T, status string) {
	if k.path == "/batch" || k.path == "/mcp" {
		return // the tests of the package produce it
	}
	if strings.Contains(k.path, "{id}") && k.record() == "" && slices.Contains([]string{"200", "204", "304", "403", "409", "412"}, status) {
		return // the API cannot create such a resource
	}
	if k.method == "DELETE" && status == "409" && strings.Contains(k.op.Responses["409"].Description, "other records refer to") {
		return // the tests of the referring resource produce it
	}
	if status == "409" && (k.method == "PUT" || k.method == "PATCH") && !k.request(k.method, k.path, true).Form.Has("name") {
		return // here, two records differ by name; the tests of the module produce it with other fields
	}
	if strings.Count(k.path, "{") > 1 && status != "401" && status != "404" {
		return // a record under another: see the tests of its module
	}
	if status == "429" && strings.HasSuffix(k.op.Responses["429"].Description, "too_many_requests: too many open streams") {
		return // internal/service produces it
	}
	if strings.Contains(k.path, "/organization") && slices.Contains([]string{"200", "202", "204", "403", "404", "409", "429"}, status) {
		return // needs members or an invitation: the tests of the module produce it
	}
	if strings.HasSuffix(k.path, "/picture") && slices.Contains([]string{"200", "204", "206", "304", "408", "413", "415", "416", "501"}, status) {
		return // needs a file: the tests of the module produce it
	}
	if strings.Contains(k.path, "/passkey") && slices.Contains([]string{"200", "201", "204", "403", "404", "409", "429", "501", "503"}, status) {
		return // needs an authenticator: the tests of the module produce it
	}
	if k.method == "PUT" && k.path == "/auth/email-code" && slices.Contains([]string{"201", "403", "429"}, status) {
		return // needs a code
	}
	if strings.HasSuffix(k.path, "-factor") && slices.Contains([]string{"200", "201", "204", "404", "409", "429", "503"}, status) {
		return // needs one-time codes: the tests of the module produce it
	}
	if k.path == "/users/me/api-keys" && status == "409" {
		return // needs 50 keys: the tests of the module produce it
	}
	if k.path == "/webhooks" && status == "409" {
		return // needs 100 webhooks: the tests of the module produce it
	}
	if (strings.HasPrefix(k.path, "/jobs/") || strings.HasPrefix(k.path, "/emails/")) && slices.Contains([]string{"202", "204", "409"}, status) {
		return // needs a job that is running, or an email: the tests of the service produce it
	}
	if strings.HasSuffix(k.path, "/identities/{provider}") && slices.Contains([]string{"204", "409"}, status) && k.path != "/auth/identities/{provider}" {
		return // needs a linked account: the tests of the module produce it
	}
	if k.path == "/auth/providers" && status == "503" {
		return // uses no database
	}
	if k.method == "POST" && k.refers() && slices.Contains([]string{"201", "409", "422"}, status) {
		return // the example refers to no record
	}
	r := k.good()
	switch status {
	case "200", "201", "202", "204":
	case "304":
		r.Header = http.Header{"If-None-Match": {k.api.Do(r).Header.Get("ETag")}}
	case "412":
		r.Header = http.Header{"If-Match": {`"1000000"`}}
	case "400":
		r.Form, r.JSON = nil, `{`
		if k.method == "GET" {
			r.JSON, r.As, r.Path = nil, "one", r.Path+"?access_token=two"
		}
	case "401":
		r.Email, r.As = "", "not-a-credential"
		if strings.Contains(k.op.security(), "BasicAuth") {
			r.As = ""
		}
		if k.path == "/auth/refresh" { // ignores the header
			r.Form.Set("refresh_token", "x")
		}
	case "403":
		switch description := k.op.Responses["403"].Description; {
		case strings.HasPrefix(description, "forbidden: the caller is neither"): // the owner may not need a recent sign-in
			if r.As = k.other().Token; r.Email != "" {
				r.As, r.Email = "", k.other().Email
			}
		case strings.Contains(description, "reauthentication_required"):
			k = k.again()
			r = k.good()
			r.As = k.owner.Token
			k.api.Clock.Advance(11 * time.Minute)
		case strings.HasPrefix(description, "suspended"):
			k = k.again()
			r = k.good()
			id := k.owner.ID
			if k.path == "/auth/{provider}" {
				id = k.api.Do(r).JSON(201)["user"].(map[string]any)["id"].(string)
			}
			k.api.Do(testkit.Request{Method: "PATCH", Path: "/users/" + id, As: k.admin().Token, Form: url.Values{"suspended": {"true"}}}).JSON(200)
		case k.op.security() == "MasterKey": // sends a role, and allows sign-up without the key
			k = k.again(publicSignup)
			r = k.request(k.method, k.path, true)
			r.As = ""
			r.Form.Set("role", "admin")
		case r.Email != "":
			r.Email = k.other().Email
		default:
			r.As = k.other().Token
		}
	case "404":
		r.Path = pathParam.ReplaceAllString(k.path, unknownID)
	case "408":
		k = &requestBuilder{api: k.api.Instance(func(c *testkit.Config) { c.Env, c.BodyTimeout = k.env, time.Millisecond })}
		body, never := io.Pipe()
		defer func() { _ = never.Close() }()
		r.Form, r.Stream, r.ContentType = nil, body, "application/json"
	case "409":
		k = k.again()
		defer k.conflict(&r)()
	case "422":
		k = k.again()
		r = k.good()
		r.Header = http.Header{"Idempotency-Key": {"used"}}
		k.api.Do(r).JSON(201)
		r.Form.Set("x", "another parameter")
	case "429": // uses up the limit
		k = k.again()
		r = k.good()
		bad := r
		switch k.path {
		case "/users", "/password-resets", "/auth/email-code":
			k = k.again(publicSignup)
			r.As, bad.As = "", ""
		case "/auth/refresh":
			bad.Form = url.Values{"refresh_token": {"x"}}
			r = bad // a valid token is never limited
		case "/auth/{provider}":
			bad.Form = url.Values{"access_token": {"x"}}
		default:
			if len(k.op.Security) > 1 { // the route accepts a token or a password
				r.As, r.Email, r.Password = "", k.owner.Email, testkit.Password
				bad = r
			}
			bad.Password = "wrong"
		}
		for range 100 {
			if k.api.Do(bad).Status == 429 {
				break
			}
		}
	case "413":
		r.Form.Set("x", strings.Repeat("x", 2<<20))
	case "415":
		r.Form, r.Body, r.ContentType = nil, "x", "text/plain"
	case "503":
		if err := k.api.DB.Close(); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("no request produces the status %s", status)
		return
	}
	if response := k.api.Do(r); fmt.Sprint(response.Status) != status {
		t.Errorf("status %d, want %s: %s", response.Status, status, response.Body)
	}
}

var publicSignup = testkit.Env("PUBLIC_SIGNUP", "true")

// conflict changes r so that it conflicts with a record with the same unique values, or with a request in progress with the same
// Idempotency-Key. The returned function ends that request.
func (k *requestBuilder) conflict(r *testkit.Request) (end func()) {
	switch k.path {
	case "/auth/{provider}": // an unverified address
		*r = k.good()
		r.Form = k.proof(false)
		return func() {}
	case "/auth/identities/{provider}": // the last way to sign in
		*r = k.good()
		r.As = k.api.Do(testkit.Request{Method: "POST", Path: "/auth/github", Form: k.proof(true)}).JSON(201)["token"].(string)
		return func() {}
	}
	if k.path == "/users/me/email-verification" { // a verified address
		k.path = "/email-verifications/{token}"
		k.api.Do(testkit.Request{Method: "PUT", Path: k.newRecord()}).JSON(200)
		*r = k.request("POST", "/users/me/email-verification", false)
		return func() {}
	}
	if k.method != "POST" { // uses the values of another record
		collection, _, _ := strings.Cut(k.path, "/{")
		*r = k.request(k.method, k.path, true)
		another := k.request("POST", collection, true)
		r.Form.Set("name", "another")
		if collection == "/users" {
			r.As = k.admin().Token // an admin can change an address
		}
		maps.Copy(another.Form, r.Form)
		k.api.Do(another).JSON(201)
		return func() {}
	}
	*r = k.request(k.method, k.path, true)
	k.api.Do(*r).JSON(201)
	if strings.Contains(k.op.Responses["409"].Description, ", or the first request") {
		return func() {}
	}
	held := &gate{reached: make(chan struct{}), release: make(chan struct{})}
	*k = *k.again(func(c *testkit.Config) {
		held.DB, c.DB = c.DB, held
		c.IdempotencyWait = time.Millisecond
	})
	*r = k.request(k.method, k.path, true)
	r.Header = http.Header{"Idempotency-Key": {"k"}}
	held.armed.Store(true)
	first := make(chan int)
	go func() { first <- k.api.Do(*r).Status }()
	<-held.reached
	return func() {
		close(held.release)
		if got := <-first; got != 201 {
			k.t.Errorf("the blocked request got status %d", got)
		}
	}
}

// gate is a database that blocks one insert when armed. It does not block inserts of the idempotency middleware. It blocks an
// Atomic before it begins, because no other request could write during the Atomic.
type gate struct {
	store.DB
	armed            atomic.Bool
	reached, release chan struct{}
}

func (g *gate) Open(spec store.Spec) store.Engine {
	engine := g.DB.Open(spec)
	if spec.Name == "idempotency" {
		return engine
	}
	return gatedEngine{engine, g}
}

type gatedEngine struct {
	store.Engine
	gate *gate
}

func (e gatedEngine) Insert(ctx context.Context, id store.ID, doc any) error {
	e.gate.pass()
	return e.Engine.Insert(ctx, id, doc)
}

func (g *gate) Atomic(ctx context.Context, f func(context.Context) error) error {
	g.pass()
	return g.DB.Atomic(ctx, f)
}

func (g *gate) Together(ctx context.Context, f func(context.Context) error) error {
	g.pass()
	return g.DB.Together(ctx, f)
}

func (g *gate) pass() {
	if g.armed.CompareAndSwap(true, false) {
		close(g.reached)
		<-g.release
	}
}
