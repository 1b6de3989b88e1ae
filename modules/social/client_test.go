package social

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/providers"
)

const (
	callback = "https://app.example.com/callback"
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // RFC 7636 appendix B
	secret   = "app-secret-0123456789abcdef01234567"
)

var (
	ada       = providers.User{ID: "1815", Login: "ada", Name: "Ada Lovelace", Email: "Ada@example.com", EmailVerified: true, Picture: "https://example.com/ada.png"}
	clientApp = providers.App{ID: "1234567890", Secret: secret, MoreIDs: []string{"ios-client"}}
)

// subject is a provider under test. The tests of each provider call run, which tests the rules for all providers.
type subject struct {
	fake func(now func() time.Time) providers.Fake
	// connect returns the provider as it is configured for the fake at an address.
	connect func(n *internet, address, secret string) provider
	methods []method
	rejects map[string]func(n *internet) Proof // proofs that only this provider rejects
	foreign map[string][]string                // responses, by path, for an access token that was not issued for us
	revoked map[string]int                     // statuses, by path, for an access token that was revoked
	skip    func(path, response string) bool   // selects bad responses that are not failures of this provider; can be nil
	partial []partial
}

// method is a kind of proof, and the paths of the requests that verify it.
type method struct {
	name    string
	make    func(n *internet, userID string) Proof
	paths   []string
	secrets bool // the requests use the client secret
}

// partial is an account of which the provider does not return all fields.
type partial struct {
	user   string
	scopes []string
	want   Profile
}

// internet is a fake provider with an account of Ada and a registration of this service.
type internet struct {
	providers.Fake
	clock   *clock.Clock
	subject subject
	address string
	secret  string
	log     *slog.Logger

	mu      sync.Mutex
	instead map[string]http.HandlerFunc // handlers set by respond, by path
}

func (s subject) start(t *testing.T) *internet {
	t.Helper()
	c := clock.At(time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC))
	n := &internet{Fake: s.fake(c.Now), clock: c, subject: s, secret: secret, log: slog.New(slog.DiscardHandler), instead: map[string]http.HandlerFunc{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		h := n.instead[r.URL.Path]
		n.mu.Unlock()
		if h == nil {
			h = n.ServeHTTP
		}
		h(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections() // ends requests that outlive their sign-in
		server.Close()
	})
	n.address = server.URL
	n.connect() // sets the address of the fake
	n.AddUser(ada)
	return n
}

func (n *internet) environment() environment { return environment{newTestClient(), n.log, n.clock.Now} }

func (n *internet) connect() provider { return n.subject.connect(n, n.address, n.secret) }

// respond replaces the handler of a path.
func (n *internet) respond(path string, h http.HandlerFunc) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.instead[path] = h
}

// respondJSON replaces the response of a path.
func (n *internet) respondJSON(path, body string) {
	n.respond(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, body)
	})
}

// ask returns the profile from the provider, without the token, with a new client.
func (n *internet) ask(t *testing.T, proof Proof) (Profile, error) {
	t.Helper()
	p, err := n.connect().profile(t.Context(), proof)
	p.token = idToken{}
	return p, err
}

func (n *internet) code(userID string) Proof {
	return Proof{Code: n.Code(userID, callback, providers.Challenge(verifier)), RedirectURI: callback, CodeVerifier: verifier}
}

// newTestClient returns a client for tests. Tests end slow requests with the context of the sign-in.
func newTestClient() *client { return newClient(http.DefaultTransport, providerTimeout) }

// codeMethods are the proofs with a code, which every provider supports.
func codeMethods(paths ...string) []method {
	return []method{
		{"code", (*internet).code, paths, true},
		{"code without PKCE", func(n *internet, userID string) Proof {
			return Proof{Code: n.Code(userID, callback, ""), RedirectURI: callback}
		}, paths, true},
	}
}

func tokenOf(n *internet, userID string) Proof { return Proof{AccessToken: n.Token(userID)} }

// hide fails the test if a logged error contains a proof or the client secret.
func hide(t *testing.T, err error, proof Proof) {
	t.Helper()
	for _, word := range []string{proof.AccessToken, proof.IDToken, proof.Code, secret, "appsecret_proof", "access_token="} {
		if word != "" && strings.Contains(err.Error(), word) {
			t.Errorf("the error contains %q: %v", word, err)
		}
	}
}

// run tests the rules for all providers.
func (s subject) run(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *internet){
		"rejected proof": testRejectedProof, "used code": testUsedCode, "partial profile": testPartialProfile, "foreign token": testForeignToken,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s.start(t))
		})
	}
	for _, m := range s.methods {
		for name, test := range map[string]func(*testing.T, *internet, method){
			"valid": testValidProof, "failing provider": testFailingProvider, "wrong secret": testWrongSecret,
		} {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, s.start(t), m)
			})
		}
	}
}

func testValidProof(t *testing.T, n *internet, m method) {
	p, err := n.ask(t, m.make(n, ada.ID))
	want := Profile{Subject: ada.ID, Email: ada.Email, EmailVerified: true, Name: ada.Name, Picture: ada.Picture}
	if err != nil || p != want {
		t.Errorf("%+v, %v", p, err)
	}
	asked := n.Requests()
	if len(asked) != len(m.paths) {
		t.Errorf("asked %v", asked)
	}
	for _, path := range m.paths {
		if !slices.ContainsFunc(asked, func(r string) bool { return strings.HasSuffix(r, " "+path) }) {
			t.Errorf("did not ask %s, but %v", path, asked)
		}
	}
}

// testFailingProvider makes each request for a kind of proof fail in every way.
func testFailingProvider(t *testing.T, n *internet, m method) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed to %s", r.URL)
	}))
	t.Cleanup(elsewhere.Close)
	try := func(what, path string) {
		t.Helper()
		timeout := time.Minute
		if what == "slow" {
			timeout = 50 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		proof := m.make(n, ada.ID)
		p, err := n.connect().profile(ctx, proof)
		if !apperr.Is(err, apperr.Unavailable) {
			t.Errorf("%s %s: %+v, %v", path, what, p, err)
			return
		}
		hide(t, err, proof)
		if len(err.Error()) > 2*maxCause {
			t.Errorf("%s %s: an error of %d bytes", path, what, len(err.Error()))
		}
	}
	for _, path := range m.paths {
		for what, f := range map[string]providers.Failure{
			"down": providers.Down, "slow": providers.Slow, "nonsense": providers.Nonsense, "broken": providers.Broken, "huge": providers.Huge,
		} {
			n.Fail(f, path)
			try(what, path)
		}
		n.Fail(providers.None, path)
		for what, h := range badResponses(elsewhere.URL) {
			if n.subject.skip != nil && n.subject.skip(path, what) {
				continue
			}
			n.respond(path, h)
			try(what, path)
		}
		n.respond(path, nil)
	}
	if _, err := n.ask(t, m.make(n, ada.ID)); err != nil {
		t.Errorf("when all works again: %v", err)
	}
}

// badResponses are responses of a provider that fails. elsewhere is the address of redirects.
func badResponses(elsewhere string) map[string]http.HandlerFunc {
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if header != nil {
				w.Header().Set(header[0], header[1])
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		}
	}
	body := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
	}
	return map[string]http.HandlerFunc{
		"redirect": status(302, "Location", elsewhere), "redirect that keeps the method": status(307, "Location", elsewhere),
		"too many": status(429), "come back later": status(403, "Retry-After", "60"), "none left": status(403, "X-RateLimit-Remaining", "0"),
		"maintenance": status(503), "empty": body(""), "half": body(`{"id":1815,"sub":`), "list in a list": body(`[[]]`), "null": body(`null`), "text": body(`"x"`),
		"a page":    body("<html>" + strings.Repeat("x", 10_000)),
		"no fields": body(`{}`), "other types": body(`{"id":{},"sub":7,"aud":[],"data":7,"keys":7,"access_token":7,"issuer":7,"app":7}`),
	}
}

func testRejectedProof(t *testing.T, n *internet) {
	withCode := func(challenge, codeVerifier string) Proof {
		return Proof{Code: n.Code(ada.ID, callback, challenge), RedirectURI: callback, CodeVerifier: codeVerifier}
	}
	challenge := providers.Challenge(verifier)
	table := map[string]func(n *internet) Proof{
		"token of another app": func(n *internet) Proof { return Proof{AccessToken: n.ForeignToken(ada.ID)} },
		"no token":             func(*internet) Proof { return Proof{AccessToken: "nonsense"} },
		"token with a path":    func(*internet) Proof { return Proof{AccessToken: "../../x?a=b&c=d#e"} },
		"expired token": func(n *internet) Proof {
			token := n.Token(ada.ID)
			n.Expire(token)
			return Proof{AccessToken: token}
		},
		"no code": func(*internet) Proof { return Proof{Code: "nonsense", RedirectURI: callback} },
		"expired code": func(n *internet) Proof {
			proof := withCode("", "")
			n.clock.Advance(11 * time.Minute)
			return proof
		},
		"another redirect_uri": func(n *internet) Proof {
			return Proof{Code: n.Code(ada.ID, callback, ""), RedirectURI: "https://evil.example.com/"}
		},
		"no verifier":                func(*internet) Proof { return withCode(challenge, "") },
		"wrong verifier":             func(*internet) Proof { return withCode(challenge, strings.Repeat("x", 43)) },
		"verifier without challenge": func(*internet) Proof { return withCode("", verifier) },
	}
	for what, proof := range n.subject.rejects {
		table[what] = proof
	}
	for what, proof := range table {
		p, err := n.ask(t, proof(n))
		if !apperr.Is(err, apperr.Unauthorized) {
			t.Errorf("%s: %+v, %v", what, p, err)
		} else if err.Error() != rejected().Error() {
			t.Errorf("%s: the response has the reason: %v", what, err)
		}
	}
}

func testUsedCode(t *testing.T, n *internet) {
	proof := n.code(ada.ID)
	for i, want := range []apperr.Code{"", apperr.Unauthorized} {
		if _, err := n.ask(t, proof); apperr.CodeOf(err) != want {
			t.Errorf("use %d: %v", i+1, err)
		}
	}
}

// testWrongSecret checks that a wrong client secret causes Unavailable, with the reason in the log, and not an error of the
// caller.
func testWrongSecret(t *testing.T, n *internet, m method) {
	if !m.secrets {
		return
	}
	n.secret = "wrong-secret-0123456789"
	proof := m.make(n, ada.ID)
	_, err := n.ask(t, proof)
	if !apperr.Is(err, apperr.Unavailable) {
		t.Fatalf("%v", err)
	}
	hide(t, err, proof)
	if strings.Contains(err.Error(), n.secret) {
		t.Errorf("the error contains the secret: %v", err)
	}
}

// testPartialProfile gets accounts of which the provider does not return all fields.
func testPartialProfile(t *testing.T, n *internet) {
	n.AddUser(providers.User{ID: "7", Login: "bob", NoEmail: true})
	n.AddUser(providers.User{ID: "666", Login: "eve", Email: "ada@example.com"})
	n.AddUser(providers.User{ID: "8", Login: "ann", Email: "ann@example.com", EmailVerified: true, OtherEmails: []providers.Email{{Address: "ada@example.com", Verified: true}}})
	for _, test := range n.subject.partial {
		got, err := n.ask(t, Proof{AccessToken: n.Token(test.user, test.scopes...)})
		if test.want.Picture == "*" { // generated for each user
			test.want.Picture = got.Picture
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v", test.user, got, err)
		}
	}
}

// testForeignToken rejects tokens that a provider reports as issued to another app, or not to a user, or as revoked.
func testForeignToken(t *testing.T, n *internet) {
	for path, responses := range n.subject.foreign {
		for _, response := range responses {
			n.respondJSON(path, response)
			if p, err := n.ask(t, tokenOf(n, ada.ID)); !apperr.Is(err, apperr.Unauthorized) {
				t.Errorf("%s: %+v, %v", response, p, err)
			}
		}
		n.respond(path, nil)
	}
	for path, status := range n.subject.revoked {
		n.respond(path, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if p, err := n.ask(t, tokenOf(n, ada.ID)); !apperr.Is(err, apperr.Unauthorized) {
			t.Errorf("%s %d: %+v, %v", path, status, p, err)
		}
		n.respond(path, nil)
	}
}

// invalidSettings returns the names of the invalid settings.
func invalidSettings(target any) string {
	var invalid *settings.Invalid
	var names []string
	if errors.As(settings.Validate(target), &invalid) {
		for _, p := range invalid.Problems {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
