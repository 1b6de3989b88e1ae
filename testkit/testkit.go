// Package testkit starts a service for a test, with the real middleware and a new database. It sends requests, and checks every
// response against the OpenAPI document.
package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/telemetry"
	"example.com/ginseng/server"
	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/process"
	"example.com/ginseng/testkit/testdb"
)

// The secrets of the service under test. No response and no log line may contain them.
const (
	MasterKey = "test-master-key-0123456789abcdefghij"
	Secret    = "test-jwt-secret-0123456789abcdefghij"
	Password  = "analytical engine"
)

// LinkOrigin is the allowed origin of links in emails, and of pages with passkeys.
const LinkOrigin = "https://app.example.com"

// PublicURL is the setting PUBLIC_URL of the service under test.
const PublicURL = "https://api.example.com"

// PasskeyRPID is the domain of passkeys. The origin of passkeys is LinkOrigin.
const PasskeyRPID = "example.com"

// Config is the configuration of the service under test.
type Config struct {
	Env      map[string]string // settings by name
	DB       store.DB
	Clock    *clock.Clock
	Log      *slog.Logger
	Sender   email.Sender
	Observer *telemetry.Observer
	Files    files.Options // the storage of files, by default a new directory; set the zero value to test a service without FILES_URL
	Modules  []kit.Module  // modules in addition to those of the Service

	BodyTimeout     time.Duration
	IdempotencyWait time.Duration
	StreamCheck     time.Duration
}

// Option changes the Config before the service starts.
type Option func(*Config)

// Env returns an Option that sets a setting, for example Env("PUBLIC_SIGNUP", "true").
func Env(name, value string) Option { return func(c *Config) { c.Env[name] = value } }

// Separate is an Option that gives the service a database without transactions; see testdb.Separate.
func Separate(c *Config) { c.DB = testdb.Separate(c.DB) }

// API is a running service.
type API struct {
	URL     string
	DB      store.DB
	Handler *server.Handler
	Clock   *clock.Clock // the time of the service; see example.com/ginseng/testkit/clock
	Log     *Log
	Email   *emailtest.Outbox // the emails that were sent: Next, NextTo and None; see example.com/ginseng/kit/email/emailtest

	t            testing.TB
	service      Service
	env          map[string]string // settings by name
	root         string            // value of API_ROOT
	hasher       *password.Hasher
	files        files.Options
	document     *document
	organization store.ID // of the records of InsertRecord
}

// Start starts a service, and stops it at the end of the test.
func Start(t testing.TB, s Service, options ...Option) *API {
	t.Helper()
	api := &API{
		t: t, service: s, DB: testdb.Open(t), Clock: clock.At(time.Now()), Log: &Log{}, Email: emailtest.NewOutbox(), hasher: password.NewWeakHasher(),
		files: Storage(t), organization: OrganizationID,
		env: map[string]string{
			"APP_ENV": "test", "DATABASE_URL": "sqlite:unused", "MASTER_KEY": MasterKey, "JWT_SECRET": Secret,
			"RESET_LINK_ORIGINS": LinkOrigin, "VERIFY_LINK_ORIGINS": LinkOrigin, "INVITATION_LINK_ORIGINS": LinkOrigin, "SECURITY_NOTICES": "false",
			"PUBLIC_URL": PublicURL, "PASSKEY_RP_ID": PasskeyRPID, "PASSKEY_ORIGINS": LinkOrigin,
		},
	}
	api.start(options)
	return api
}

// Instance starts another instance of the service with the same settings (Env), database, files, clock, log and outbox.
func (a *API) Instance(options ...Option) *API {
	a.t.Helper()
	b := *a
	b.env = maps.Clone(a.env)
	b.start(options)
	return &b
}

func (a *API) start(options []Option) {
	a.t.Helper()
	c := Config{
		Env: a.env, DB: a.DB, Clock: a.Clock, Sender: a.Email, IdempotencyWait: time.Minute, Files: a.files,
		Log: slog.New(slog.NewTextHandler(a.Log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, option := range options {
		option(&c)
	}
	dir := a.t.TempDir()
	var env strings.Builder
	for name, value := range c.Env {
		env.WriteString(name + "=" + strconv.Quote(value) + "\n")
	}
	a.must(os.WriteFile(filepath.Join(dir, ".env"), []byte(env.String()), 0o600))
	var s server.Settings
	a.must(settings.LoadPart(dir, &s))
	c.Files.Quota = s.Files.Quota()
	deps := server.NewDeps(server.DepsOptions{
		Name: "test", DB: c.DB, MasterKeys: s.MasterKeys, Now: c.Clock.Now, Log: c.Log, Sender: c.Sender, Hasher: a.hasher, Observer: c.Observer,
		PublicURL: s.PublicURL, Files: c.Files, Development: s.Env == settings.Development,
	})
	modules, err := a.service.Modules(deps, dir)
	a.must(err)
	a.Handler, err = server.NewHandler(server.HandlerOptions{
		Settings: s, Deps: deps, Modules: append(modules, c.Modules...), Documents: a.service.Documents, Observer: c.Observer,
		Ready: a.DB.Ping, BodyTimeout: c.BodyTimeout, IdempotencyWait: c.IdempotencyWait,
		StreamCheck: c.StreamCheck,
	})
	a.must(err)
	a.t.Cleanup(a.Finish)
	a.must(a.DB.Prepare(a.t.Context()))
	a.document, err = cachedDocument(a.service.Documents.OpenAPI)
	a.must(err)
	httpServer := httptest.NewServer(a.Handler)
	a.t.Cleanup(httpServer.Close)
	a.URL, a.root = httpServer.URL, s.APIRoot
}

// Insert stores a record in the database directly, without the rules of its module.
func Insert[D store.Document](a *API, collection string, record D) {
	a.t.Helper()
	a.must(store.Open[D](a.DB, store.Spec{Name: collection}).Insert(a.t.Context(), record))
}

// Count returns the number of records in a collection of the database.
func (a *API) Count(collection string) int64 {
	a.t.Helper()
	n, err := store.Open[store.Meta](a.DB, store.Spec{Name: collection}).Count(a.t.Context(), nil)
	a.must(err)
	return n
}

func (a *API) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// Finish waits for the background work of the service, so that Email has all emails. Afterwards the service sends no emails.
func (a *API) Finish() {
	for _, wait := range a.Handler.Closers {
		wait(context.Background())
	}
}

// RunJobs runs the jobs that are due at the time of the Clock, each once, and waits for the emails that they send. No other jobs
// run in a test.
func (a *API) RunJobs() {
	a.t.Helper()
	a.must(a.Handler.Jobs.RunDue(a.t.Context()))
	a.must(a.Handler.Emails.Wait(a.t.Context()))
}

// Request is a request. At most one of Form, JSON, Body and Stream may be set.
type Request struct {
	Method, Path    string
	As              string     // token or key, sent as Authorization: Bearer
	Email, Password string     // sent as Authorization: Basic
	Form            url.Values // body, form-encoded
	JSON            any        // body, encoded as JSON; a string is sent unchanged
	Body            string     // body with the media type ContentType
	Stream          io.Reader  // body with the media type ContentType
	ContentType     string
	Header          http.Header
}

// From returns the request with the client address that a trusted proxy reports. The service must trust 127.0.0.1; see
// TRUSTED_PROXIES.
func (r Request) From(address string) Request {
	r.Header = r.Header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("X-Forwarded-For", address)
	return r
}

// Response is a response of the service.
type Response struct {
	t      testing.TB
	Status int
	Header http.Header
	Body   []byte
	to     string // method and path of the request
}

// Do sends a request. It checks the response against the OpenAPI document and the rules for all responses. If the status is 500, the
// output of the test has the log of the request.
func (a *API) Do(r Request) Response {
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

// noRedirect does not follow redirects.
var noRedirect = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (a *API) send(request *http.Request) Response {
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
	r := Response{a.t, response.StatusCode, response.Header, body, request.Method + " " + request.URL.Path}
	if r.Status == http.StatusInternalServerError {
		a.t.Logf("%s: status 500. Log of the request:\n%s", r.to, a.Log.request(r.Header.Get("X-Request-Id")))
	}
	r.check(request)
	for _, difference := range a.document.differences(a.root, request, r) {
		a.t.Error(difference)
	}
	return r
}

// check checks the rules for all responses: errors are problem details with the request ID, and no response contains a secret.
func (r Response) check(request *http.Request) {
	r.t.Helper()
	shown := r.Body[:min(len(r.Body), 500)]
	var header bytes.Buffer
	_ = r.Header.Write(&header)
	for _, secret := range []string{MasterKey, Secret, Password, "argon2id", "goroutine ", ".go:"} {
		if bytes.Contains(header.Bytes(), []byte(secret)) || bytes.Contains(r.Body, []byte(secret)) {
			r.t.Errorf("%s %s: the response has %q: %s%s", request.Method, request.URL.Path, secret, &header, shown)
		}
	}
	if r.Header.Get("X-Content-Type-Options") != "nosniff" {
		r.t.Errorf("%s %s: no X-Content-Type-Options", request.Method, request.URL.Path)
	}
	if r.Status < 400 || request.Method == http.MethodHead {
		return
	}
	var p rest.Problem
	if err := json.Unmarshal(r.Body, &p); err != nil || r.Header.Get("Content-Type") != "application/problem+json" {
		r.t.Errorf("%s %s: status %d is not a problem: %s", request.Method, request.URL.Path, r.Status, shown)
		return
	}
	if p.Status != r.Status || p.Code == "" || p.Detail == "" || p.Title == "" || p.Type != "about:blank" ||
		p.RequestID == "" || p.RequestID != r.Header.Get("X-Request-Id") {
		r.t.Errorf("%s %s: incomplete problem: %s", request.Method, request.URL.Path, shown)
	}
	if r.Status == http.StatusUnauthorized && r.Header.Get("WWW-Authenticate") == "" {
		r.t.Errorf("%s %s: 401 without WWW-Authenticate", request.Method, request.URL.Path)
	}
	if (r.Status == http.StatusServiceUnavailable || r.Status == http.StatusTooManyRequests) && r.Header.Get("Retry-After") == "" {
		r.t.Errorf("%s %s: %d without Retry-After", request.Method, request.URL.Path, r.Status)
	}
}

// Want returns the response. It reports an error unless the response has the status, and all fragments are in the body.
func (r Response) Want(status int, fragments ...string) Response {
	r.t.Helper()
	if r.Status != status {
		r.t.Errorf("%s: status %d, want %d: %.500s", r.to, r.Status, status, r.Body)
		return r
	}
	for _, fragment := range fragments {
		if !bytes.Contains(r.Body, []byte(fragment)) {
			r.t.Errorf("%s: no %s in %.500s", r.to, fragment, r.Body)
		}
	}
	return r
}

// JSON returns the body. It fails the test if the response has another status, or if the body is not a JSON object.
func (r Response) JSON(status int) map[string]any {
	r.t.Helper()
	var out map[string]any
	r.decode(status, &out)
	return out
}

func (r Response) decode(status int, into any) {
	r.t.Helper()
	if r.Status != status {
		r.t.Fatalf("%s: status %d, want %d: %s", r.to, r.Status, status, r.Body)
	}
	if err := json.Unmarshal(r.Body, into); err != nil {
		r.t.Fatalf("%v: %s", err, r.Body)
	}
}

// Scenario is a row of a table: a request and its expected response.
type Scenario struct {
	Name string
	Request
	Status  int
	Want    []string // substrings of the body
	WantNot []string
}

// Row returns a Scenario in one line.
func Row(name string, r Request, status int, want, wantNot []string) Scenario {
	return Scenario{Name: name, Request: r, Status: status, Want: want, WantNot: wantNot}
}

// Run runs the rows of a table as subtests, in order.
func (a *API) Run(t *testing.T, table []Scenario) {
	for _, s := range table {
		t.Run(s.Name, func(t *testing.T) {
			b := *a
			b.t = t
			response := b.Do(s.Request).Want(s.Status, s.Want...)
			for _, not := range s.WantNot {
				if bytes.Contains(response.Body, []byte(not)) {
					t.Errorf("%s %s: %s in %s", s.Method, s.Path, not, response.Body)
				}
			}
		})
	}
}

// Log has the log of the service.
type Log struct{ process.Buffer }

// Lines returns the lines so far.
func (l *Log) Lines() []string { return slices.Collect(strings.Lines(l.String())) }

// request returns the lines of the request with the ID. Line breaks in attributes, such as those of a stack, are line breaks again.
func (l *Log) request(id string) string {
	lines := slices.DeleteFunc(l.Lines(), func(line string) bool { return !strings.Contains(line, "requestId="+id) })
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(strings.Join(lines, ""))
}
