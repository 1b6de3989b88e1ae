// Package testkit starts the whole service for a test, on the real stack and a database of its own, and holds its
// answers against tables of scenarios.
package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/docs"
	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/testkit/clock"
	"example.com/ginseng/kit/testkit/testdb"
	"example.com/ginseng/middleware"
	"example.com/ginseng/modules"
	"example.com/ginseng/modules/auth"
	passwordreset "example.com/ginseng/modules/password-reset"
)

// The credentials of the service under test, and what no answer and no line of the log may ever hold.
const (
	MasterKey = "test-master-key-0123456789abcdefghij"
	Secret    = "test-jwt-secret-0123456789abcdefghij"
	Password  = "patience is a root"
)

// LinkOrigin is the site to which links in mails may lead.
const LinkOrigin = "https://app.example.com"

// Config is what a test can set before the service starts.
type Config struct {
	Settings    modules.Settings
	Host        modules.Host
	Middleware  middleware.Options
	QueryTokens bool
	MaxBody     int64
	Wait        time.Duration // for a first request with an Idempotency-Key
}

// API is a service under test.
type API struct {
	t       testing.TB
	URL     string
	DB      store.DB
	Handler *middleware.Stack
	Clock   *clock.Clock
	Log     *Log
	Mail    *emailtest.Outbox

	root   string
	finish []func(context.Context)
	sweeps []func(context.Context) error
	hasher *password.Hasher
}

// Gate makes IDs. Once it is armed, the second call waits until it is opened: in a request that creates a record under an
// Idempotency-Key the first ID is the key's, the second the record's, so that such a request can be held half-way.
type Gate struct {
	calls   atomic.Int64
	Reached chan struct{} // closed when the second call waits
	open    chan struct{}
}

// NewGate makes a Gate that is not armed.
func NewGate() *Gate {
	g := &Gate{Reached: make(chan struct{}), open: make(chan struct{})}
	g.calls.Store(2)
	return g
}

// NewID makes an ID.
func (g *Gate) NewID() store.ID {
	if g.calls.Add(1) == 2 {
		close(g.Reached)
		<-g.open
	}
	return store.NewID()
}

// Arm makes the call after the next one wait.
func (g *Gate) Arm() { g.calls.Store(0) }

// Open lets it go on.
func (g *Gate) Open() { close(g.open) }

// Start starts a service; the test's clean-up stops it.
func Start(t testing.TB, set ...func(*Config)) *API {
	t.Helper()
	api := &API{t: t, DB: testdb.Open(t), Clock: clock.At(time.Now()), Log: &Log{}, Mail: emailtest.NewOutbox(), hasher: password.NewWeakHasher()}
	api.serve(set...)
	return api
}

// Copy starts another copy of the service on the same database, clock and log.
func (a *API) Copy(set ...func(*Config)) *API {
	a.t.Helper()
	b := &API{t: a.t, DB: a.DB, Clock: a.Clock, Log: a.Log, Mail: a.Mail, hasher: a.hasher}
	b.serve(set...)
	return b
}

func (a *API) serve(set ...func(*Config)) {
	a.t.Helper()
	logger := slog.New(slog.NewTextHandler(a.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := Config{
		Host:        modules.Host{DB: a.DB, MasterKeys: []string{MasterKey}, Now: a.Clock.Now, NewID: store.NewID, Log: logger, Mail: a.Mail, Hasher: a.hasher},
		QueryTokens: true,
		MaxBody:     1 << 20,
		Wait:        time.Minute,
		Middleware: middleware.Options{
			Docs: &middleware.Documents{OpenAPI: docs.OpenAPI, Swagger: docs.Swagger}, Ready: a.DB.Ping, Log: logger,
		},
	}
	c.Settings.PasswordReset = passwordreset.Settings{TTL: time.Hour, LinkOrigins: []string{LinkOrigin}}
	c.Settings.Auth = auth.Settings{Secret: Secret, TTL: time.Hour, RefreshTTL: 30 * 24 * time.Hour}
	for _, f := range set {
		f(&c)
	}
	service, err := modules.New(c.Host, c.Settings)
	if err != nil {
		a.t.Fatal(err)
	}
	a.finish, a.sweeps = service.Closers, service.Sweeps
	a.t.Cleanup(func() { a.Finish() })
	if err := a.DB.Prepare(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
	c.Middleware.Guard = service.Guard
	c.Middleware.Guard.QueryTokens, c.Middleware.Guard.MaxBodyBytes = c.QueryTokens, c.MaxBody
	c.Middleware.Idempotency = service.Idempotency
	c.Middleware.Idempotency.Wait = c.Wait
	c.Middleware.Modules = append(service.Modules, c.Middleware.Modules...)
	handler, err := middleware.New(c.Middleware)
	if err != nil {
		a.t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	a.t.Cleanup(server.Close)
	a.URL, a.Handler, a.root = server.URL, handler, c.Middleware.Root
}

// Finish waits for what goes on after the answers: all mails are in Mail then. The service sends none afterwards.
func (a *API) Finish() {
	for _, finish := range a.finish {
		finish(context.Background())
	}
}

// Sweep deletes what has expired.
func (a *API) Sweep() {
	a.t.Helper()
	for _, sweep := range a.sweeps {
		if err := sweep(a.t.Context()); err != nil {
			a.t.Fatal(err)
		}
	}
}

// Request is one call. At most one of Form, JSON and Body is its body.
type Request struct {
	Method, Path    string
	As              string // credential, sent as Authorization: Bearer
	Email, Password string // sent as Authorization: Basic
	Form            url.Values
	JSON            any       // a string is sent as it is
	Body            string    // sent as ContentType
	Stream          io.Reader // likewise
	ContentType     string
	Header          http.Header
}

// Answer is what came back.
type Answer struct {
	t      testing.TB
	Status int
	Header http.Header
	Body   []byte
}

// Do makes a call. Whatever it is, the answer must keep the manners of the contract; see check.
func (a *API) Do(r Request) Answer {
	a.t.Helper()
	var body io.Reader = http.NoBody
	contentType := r.ContentType
	switch text, isText := r.JSON.(string); {
	case r.Form != nil:
		body, contentType = strings.NewReader(r.Form.Encode()), "application/x-www-form-urlencoded"
	case isText:
		body, contentType = strings.NewReader(text), "application/json"
	case r.JSON != nil:
		raw, err := json.Marshal(r.JSON)
		if err != nil {
			a.t.Fatal(err)
		}
		body, contentType = bytes.NewReader(raw), "application/json"
	case r.Stream != nil:
		body = r.Stream
	case r.Body != "":
		body = strings.NewReader(r.Body)
	}
	request, err := http.NewRequestWithContext(a.t.Context(), r.Method, a.URL+r.Path, body)
	if err != nil {
		a.t.Fatal(err)
	}
	for name, values := range r.Header {
		request.Header[name] = values
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if r.As != "" {
		request.Header.Set("Authorization", "Bearer "+r.As)
	}
	if r.Email != "" {
		request.SetBasicAuth(r.Email, r.Password)
	}
	return a.send(request)
}

// noRedirect shows redirects to the test as they are.
var noRedirect = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (a *API) send(request *http.Request) Answer {
	a.t.Helper()
	response, err := noRedirect.Do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	answer := Answer{a.t, response.StatusCode, response.Header, body}
	answer.check(request)
	a.hold(request, answer)
	return answer
}

// hold holds an answer against the API's document.
func (a *API) hold(request *http.Request, answer Answer) {
	a.t.Helper()
	document, err := apiDocument()
	if err != nil {
		a.t.Fatal(err)
	}
	for _, fault := range document.faults(a.root, request, answer) {
		a.t.Error(fault)
	}
}

// check holds every answer to what all answers keep: errors are problems with the request's id, and no answer holds a
// secret.
func (a Answer) check(r *http.Request) {
	a.t.Helper()
	shown := a.Body[:min(len(a.Body), 500)]
	for _, secret := range []string{MasterKey, Secret, Password, "argon2id", "goroutine ", ".go:"} {
		if bytes.Contains(a.Body, []byte(secret)) {
			a.t.Errorf("%s %s: the answer holds %q: %s", r.Method, r.URL.Path, secret, shown)
		}
	}
	if a.Header.Get("X-Content-Type-Options") != "nosniff" {
		a.t.Errorf("%s %s: no X-Content-Type-Options", r.Method, r.URL.Path)
	}
	if a.Status < 400 || r.Method == http.MethodHead {
		return
	}
	var p middleware.Problem
	if err := json.Unmarshal(a.Body, &p); err != nil || a.Header.Get("Content-Type") != "application/problem+json" {
		a.t.Errorf("%s %s: status %d is no problem: %s", r.Method, r.URL.Path, a.Status, shown)
		return
	}
	if p.Status != a.Status || p.Code == "" || p.Detail == "" || p.Title == "" || p.Type != "about:blank" ||
		p.RequestID == "" || p.RequestID != a.Header.Get("X-Request-Id") {
		a.t.Errorf("%s %s: not a whole problem: %s", r.Method, r.URL.Path, shown)
	}
	if a.Status == http.StatusUnauthorized && a.Header.Get("WWW-Authenticate") == "" {
		a.t.Errorf("%s %s: 401 without WWW-Authenticate", r.Method, r.URL.Path)
	}
	if (a.Status == http.StatusServiceUnavailable || a.Status == http.StatusTooManyRequests) && a.Header.Get("Retry-After") == "" {
		a.t.Errorf("%s %s: %d without Retry-After", r.Method, r.URL.Path, a.Status)
	}
}

// JSON reads the answer, which must have the status, as a JSON object.
func (a Answer) JSON(status int) map[string]any {
	a.t.Helper()
	var out map[string]any
	a.decode(status, &out)
	return out
}

func (a Answer) decode(status int, into any) {
	a.t.Helper()
	if a.Status != status {
		a.t.Fatalf("status %d, want %d: %s", a.Status, status, a.Body)
	}
	if err := json.Unmarshal(a.Body, into); err != nil {
		a.t.Fatalf("%v: %s", err, a.Body)
	}
}

// Scenario is one row of a table: a call, and what its answer must and must not hold.
type Scenario struct {
	Name string
	Request
	Status  int
	Want    []string // each stands in the body
	WantNot []string
}

// Row makes a Scenario.
func Row(name string, r Request, status int, want, wantNot []string) Scenario {
	return Scenario{Name: name, Request: r, Status: status, Want: want, WantNot: wantNot}
}

// Run runs a table, each row as a subtest, in order.
func (a *API) Run(t *testing.T, table []Scenario) {
	for _, s := range table {
		t.Run(s.Name, func(t *testing.T) {
			b := *a
			b.t = t
			answer := b.Do(s.Request)
			if answer.Status != s.Status {
				t.Fatalf("%s %s: status %d, want %d: %s", s.Method, s.Path, answer.Status, s.Status, answer.Body)
			}
			for _, want := range s.Want {
				if !bytes.Contains(answer.Body, []byte(want)) {
					t.Errorf("%s %s: no %s in %s", s.Method, s.Path, want, answer.Body)
				}
			}
			for _, not := range s.WantNot {
				if bytes.Contains(answer.Body, []byte(not)) {
					t.Errorf("%s %s: %s in %s", s.Method, s.Path, not, answer.Body)
				}
			}
		})
	}
}

// Log keeps what the service logs.
type Log struct {
	mu    sync.Mutex
	lines []string
}

// Write takes one line.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(p))
	return len(p), nil
}

// Lines are the lines so far.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}
