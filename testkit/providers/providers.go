// Package providers has fakes of Facebook, GitHub and OpenID providers, for tests and for trying social sign-in without an
// account. The fakes are http.Handlers that respond as the providers' documentation says. Tests can create users, codes and
// tokens, and make requests fail.
//
// Codes are single-use, expire after ten minutes, and are bound to the client, the redirect_uri and the S256 challenge of their
// request (RFC 6749 section 4.1.3, RFC 7636 section 4.6). A code_verifier for a code without a challenge is rejected (RFC 9700
// section 2.1.1). The fakes accept any http(s) address as redirect_uri. Access tokens are valid until a test calls Expire.
package providers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ForeignClientID is the client ID of another app, for ForeignToken. The other app has no secret.
const ForeignClientID = "999999999999999"

// Fake is implemented by all fakes.
type Fake interface {
	http.Handler
	AddUser(User) User
	Users() []User
	Code(userID, redirectURI, challenge string) string
	Token(userID string, scopes ...string) string
	ForeignToken(userID string, scopes ...string) string
	Expire(token string)
	Fail(f Failure, paths ...string)
	Requests() []string
}

// App is the app that is registered with a provider.
type App struct {
	ID, Secret string
	MoreIDs    []string // Google: further clients of the same project (iOS, Android), which have no secret
}

// User is an account at a provider.
type User struct {
	ID            string // decimal number, as at Facebook, GitHub and Google; if empty, AddUser sets the next number
	Login         string // GitHub's user name; if empty, AddUser derives it from ID
	Name          string
	Email         string // if empty, AddUser derives it from Login, unless NoEmail is set
	EmailVerified bool
	NoEmail       bool
	OtherEmails   []Email // GitHub: addresses besides the primary address
	Picture       string  // URL of the picture
}

// Email is an address of a user at GitHub.
type Email struct {
	Address  string
	Verified bool
}

// Failure is a way in which requests to a provider fail.
type Failure int

// The failures; None means that requests succeed.
const (
	None     Failure = iota
	Down             // the connection is closed without a response
	Slow             // no response until the request's context ends
	Nonsense         // 200 with a page of HTML
	Broken           // 500 with a page of HTML
	Huge             // 200 with 16 MiB of JSON
)

const huge = 16 << 20

// provider has the fields and methods that all fakes share.
type provider struct {
	app    App
	now    func() time.Time
	prefix string   // prefix of access tokens
	scopes []string // scopes of a sign-in
	mux    *http.ServeMux

	mu       sync.Mutex
	users    []User // in the order of AddUser
	codes    map[string]grant
	tokens   map[string]accessToken
	failures map[string]Failure // by path; "" is any path
	requests []string
}

func newProvider(app App, now func() time.Time, prefix string, scopes ...string) *provider {
	return &provider{
		app: app, now: now, prefix: prefix, scopes: scopes, mux: http.NewServeMux(),
		codes: map[string]grant{}, tokens: map[string]accessToken{}, failures: map[string]Failure{},
	}
}

// AddUser adds an account, or replaces the account with the same ID, and returns the account with its defaults.
func (p *provider) AddUser(u User) User {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u.ID == "" {
		u.ID = strconv.Itoa(1001 + len(p.users))
	}
	if u.Login == "" {
		u.Login = "user" + u.ID
	}
	if u.Email == "" && !u.NoEmail {
		u.Email = u.Login + "@example.com"
	}
	if i := slices.IndexFunc(p.users, func(have User) bool { return have.ID == u.ID }); i >= 0 {
		p.users[i] = u
	} else {
		p.users = append(p.users, u)
	}
	return u
}

// Users returns the accounts in the order in which they were added.
func (p *provider) Users() []User {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.users)
}

// user returns the account with the ID. ok is false if there is no such account.
func (p *provider) user(id string) (u User, ok bool) {
	users := p.Users()
	i := slices.IndexFunc(users, func(u User) bool { return u.ID == id })
	if i < 0 {
		return User{}, false
	}
	return users[i], true
}

// Fail makes requests to the paths fail, or all requests if no path is given. Fail(None, paths...) ends the failure.
func (p *provider) Fail(f Failure, paths ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		p.failures[path] = f
	}
}

// Requests returns the method and path of every request so far, oldest first, as in "POST /token".
func (p *provider) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// record records a request and returns the failure that applies to the request.
func (p *provider) record(r *http.Request) Failure {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r.Method+" "+r.URL.Path)
	return max(p.failures[r.URL.Path], p.failures[""])
}

// ServeHTTP responds as the provider does, or with the Failure that Fail has set.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch p.record(r) {
	case None:
		p.mux.ServeHTTP(w, r)
	case Down:
		panic(http.ErrAbortHandler)
	case Slow:
		_, _ = io.Copy(io.Discard, r.Body) // net/http detects a disconnect only after the body has been read
		<-r.Context().Done()
	case Nonsense:
		page(w, http.StatusOK, "It works!")
	case Broken:
		page(w, http.StatusInternalServerError, "Something went wrong.")
	case Huge:
		writeJSON(w, http.StatusOK, object{"x": strings.Repeat("x", huge)})
	}
}

// page writes an HTML page with one sentence.
func page(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html><title>%d</title><p>%s</p>\n", status, sentence)
}

type object map[string]any

// writeJSON writes a JSON response that caches must not store (RFC 6749 section 5.1).
func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
