// Package providers has fakes of the identity providers, for tests and for trying social sign-in without an account
// anywhere: http.Handlers that answer as the documentation of GitHub, Google and Facebook says the real ones do, with
// users, codes and tokens that a test hands out, and ways to fail on demand.
//
// Codes are single-use, live ten minutes, and are bound to the client, the redirect_uri and the PKCE challenge they were
// asked for with (RFC 6749 4.1.3, RFC 7636 4.6); a code_verifier for a code without a challenge is refused (RFC 9700
// 2.1.1). The fakes know no list of redirect URIs: any http(s) address counts as registered.
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

// ForeignClientID is the app that foreign tokens are issued to. Its secret is nobody's.
const ForeignClientID = "999999999999999"

// App is the app that is registered with a provider.
type App struct {
	ID, Secret string
	MoreIDs    []string // Google: further clients of the same project (iOS, Android), which have no secret
}

// User is an account at a provider.
type User struct {
	ID            string // a decimal number, as with all three; the next free one if empty
	Login         string // GitHub's user name; made from ID if empty
	Name          string
	Email         string // made from Login if empty, unless NoEmail
	EmailVerified bool
	NoEmail       bool
	OtherEmails   []Email // GitHub: addresses that are not the primary one
	Picture       string  // a URL
}

// Email is an address of a user at GitHub.
type Email struct {
	Address  string
	Verified bool
}

// Failure is a way in which a provider fails.
type Failure int

// The ways in which a provider fails.
const (
	None     Failure = iota // it works
	Down                    // the connection is closed without an answer
	Slow                    // nothing is answered until the request's context ends
	Nonsense                // 200 with a page of HTML
	Broken                  // 500 with a page of HTML
	Huge                    // 200 with 16 MiB of JSON
)

// huge is how many bytes are answered under Huge.
const huge = 16 << 20

// provider is what the three have in common.
type provider struct {
	app    App
	now    func() time.Time
	prefix string        // of access tokens
	ttl    time.Duration // of access tokens; 0: they do not expire
	scopes []string      // what a sign-in asks for
	mux    *http.ServeMux

	mu       sync.Mutex
	users    []User // in the order of AddUser
	codes    map[string]*grant
	tokens   map[string]accessToken
	failures map[string]Failure // by path; "" is any path
	requests []string
}

func newProvider(app App, now func() time.Time) *provider {
	return &provider{
		app: app, now: now, mux: http.NewServeMux(),
		codes: map[string]*grant{}, tokens: map[string]accessToken{}, failures: map[string]Failure{},
	}
}

// AddUser adds an account, or replaces the one with the same ID, and returns it with what was filled in. It panics if the
// ID is not a decimal number.
func (p *provider) AddUser(u User) User {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u.ID == "" {
		u.ID = strconv.Itoa(1001 + len(p.users))
	}
	if _, err := strconv.ParseUint(u.ID, 10, 64); err != nil {
		panic(fmt.Sprintf("providers: the user ID %q is not a number", u.ID))
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

// user finds an account.
func (p *provider) user(id string) (User, bool) {
	users := p.Users()
	i := slices.IndexFunc(users, func(u User) bool { return u.ID == id })
	if i < 0 {
		return User{}, false
	}
	return users[i], true
}

// Fail makes requests to some paths fail from now on, or, if no path is given, all requests. None mends what the same
// call broke.
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

// note remembers a request and tells how it shall fail.
func (p *provider) note(r *http.Request) Failure {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r.Method+" "+r.URL.Path)
	if f := p.failures[r.URL.Path]; f != None {
		return f
	}
	return p.failures[""]
}

// ServeHTTP answers as the provider does, or fails as was asked for.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch p.note(r) {
	case None:
		p.mux.ServeHTTP(w, r)
	case Down:
		panic(http.ErrAbortHandler)
	case Slow:
		_, _ = io.Copy(io.Discard, r.Body) // only then does net/http notice that the client has gone
		<-r.Context().Done()
	case Nonsense:
		page(w, http.StatusOK, "It works!")
	case Broken:
		page(w, http.StatusInternalServerError, "Something went wrong.")
	case Huge:
		flood(w)
	}
}

// flood answers one JSON object of the size huge.
func flood(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	block := []byte(strings.Repeat("x", 1<<16))
	_, err := w.Write([]byte(`{"x":"`))
	for sent := 0; sent < huge && err == nil; sent += len(block) {
		_, err = w.Write(block)
	}
	_, _ = w.Write([]byte(`"}`))
}

// page answers a page with one sentence.
func page(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html><title>%d</title><p>%s</p>\n", status, sentence)
}

// object is a JSON object.
type object map[string]any

// answer writes JSON. What is not marked otherwise may not be kept (RFC 6749 5.1).
func answer(w http.ResponseWriter, status int, value any) {
	if w.Header().Get("Cache-Control") == "" {
		w.Header().Set("Cache-Control", "no-store")
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// nullable is a text, or null if it is empty.
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}
