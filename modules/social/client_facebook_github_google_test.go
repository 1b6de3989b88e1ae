package social

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/testkit/clock"
	"example.com/ginseng/kit/testkit/providers"
)

const (
	callback = "https://app.example.com/callback"
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // RFC 7636 appendix B
	secret   = "app-secret-0123456789abcdef01234567"
)

var ada = providers.User{ID: "1815", Login: "ada", Name: "Ada Lovelace", Email: "Ada@example.com", EmailVerified: true, Picture: "https://example.com/ada.png"}

// fake is the common interface of the fake providers.
type fake interface {
	http.Handler
	AddUser(providers.User) providers.User
	Code(userID, redirectURI, challenge string) string
	Token(userID string, scopes ...string) string
	ForeignToken(userID string, scopes ...string) string
	Expire(token string)
	Fail(f providers.Failure, paths ...string)
	Requests() []string
}

// internet has the three fake providers, each with an account of Ada and a client of this service.
type internet struct {
	clock  *clock.Clock
	fakes  map[string]fake
	google *providers.Google
	config Settings

	mu      sync.Mutex
	instead map[string]http.HandlerFunc // by path
}

func newInternet(t *testing.T) *internet {
	t.Helper()
	c := clock.At(time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC))
	app := providers.App{ID: "1234567890", Secret: secret}
	withPhones := app
	withPhones.MoreIDs = []string{"ios-client"}
	google := providers.NewGoogle(withPhones, c.Now)
	net := &internet{clock: c, google: google, instead: map[string]http.HandlerFunc{}, fakes: map[string]fake{
		"facebook": providers.NewFacebook(app, c.Now), "github": providers.NewGitHub(app, c.Now), "google": google,
	}}
	urls := make(map[string]string)
	for name, f := range net.fakes {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			net.mu.Lock()
			h := net.instead[r.URL.Path]
			net.mu.Unlock()
			if h == nil {
				h = f.ServeHTTP
			}
			h(w, r)
		}))
		t.Cleanup(server.Close)
		urls[name] = server.URL
		f.AddUser(ada)
	}
	google.SetIssuer(urls["google"])
	net.config = Settings{
		Facebook: FacebookSettings{ID: app.ID, Secret: secret, GraphURL: urls["facebook"]},
		GitHub:   GitHubSettings{ID: app.ID, Secret: secret, URL: urls["github"], APIURL: urls["github"] + providers.GitHubAPI},
		Google:   GoogleSettings{IDs: []string{app.ID, "ios-client"}, Secret: secret, Issuer: urls["google"]},
	}
	return net
}

// override replaces the handler of a path.
func (n *internet) response(path string, h http.HandlerFunc) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.instead[path] = h
}

// ask returns the profile from a provider created by New.
func (n *internet) ask(t *testing.T, name string, providerTimeout time.Duration, proof Proof) (Profile, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), providerTimeout)
	defer cancel()
	return n.config.providers(newClient(http.DefaultTransport, providerTimeout), n.clock.Now)[name].profile(ctx, proof)
}

func (n *internet) code(name, userID string) Proof {
	return Proof{Code: n.fakes[name].Code(userID, callback, providers.Challenge(verifier)), RedirectURI: callback, CodeVerifier: verifier}
}

// method is a kind of proof at a provider, and the paths of the requests that verify it.
type method struct {
	provider, name string
	make           func(n *internet, userID string) Proof
	paths          []string
}

func methods() []method {
	var all []method
	for provider, paths := range map[string][]string{
		"facebook": {"/oauth/access_token", "/debug_token", "/me"},
		"github":   {"/login/oauth/access_token", "/api/v3/applications/1234567890/token", "/api/v3/user", "/api/v3/user/emails"},
		"google":   {"/token", "/.well-known/openid-configuration", "/oauth2/v3/certs"},
	} {
		all = append(all, method{provider, "code", func(n *internet, userID string) Proof { return n.code(provider, userID) }, paths},
			method{provider, "code without PKCE", func(n *internet, userID string) Proof {
				return Proof{Code: n.fakes[provider].Code(userID, callback, ""), RedirectURI: callback}
			}, paths})
		if provider == "google" {
			paths = []string{"", "/.well-known/openid-configuration", "/tokeninfo", "/v1/userinfo"}
		}
		all = append(all, method{provider, "access_token", func(n *internet, userID string) Proof {
			return Proof{AccessToken: n.fakes[provider].Token(userID)}
		}, paths[1:]})
	}
	return append(all, method{"google", "id_token", func(n *internet, userID string) Proof {
		return Proof{IDToken: n.google.IDToken(userID)}
	}, []string{"/.well-known/openid-configuration", "/oauth2/v3/certs"}})
}

func (m method) run(t *testing.T, f func(t *testing.T, n *internet)) {
	t.Run(m.provider+"/"+m.name, func(t *testing.T) {
		t.Parallel()
		f(t, newInternet(t))
	})
}

// hide fails the test if a logged error contains a proof or the client secret.
func hide(t *testing.T, err error, proof Proof) {
	t.Helper()
	for _, word := range []string{proof.AccessToken, proof.IDToken, proof.Code, secret, "appsecret_proof", "access_token="} {
		if word != "" && strings.Contains(err.Error(), word) {
			t.Errorf("the error contains %q: %v", word, err)
		}
	}
}

func TestValidProof(t *testing.T) {
	t.Parallel()
	for _, m := range methods() {
		m.run(t, func(t *testing.T, n *internet) {
			p, err := n.ask(t, m.provider, time.Minute, m.make(n, ada.ID))
			want := Profile{Subject: ada.ID, Email: ada.Email, EmailVerified: true, Name: ada.Name, Picture: ada.Picture}
			if err != nil || p != want {
				t.Errorf("%+v, %v", p, err)
			}
			asked := n.fakes[m.provider].Requests()
			if len(asked) != len(m.paths) {
				t.Errorf("asked %v", asked)
			}
			for _, path := range m.paths {
				if !slices.ContainsFunc(asked, func(r string) bool { return strings.HasSuffix(r, " "+path) }) {
					t.Errorf("did not ask %s, but %v", path, asked)
				}
			}
		})
	}
}

// TestFailingProvider makes each request for each kind of proof fail in every way.
func TestFailingProvider(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed to %s", r.URL)
	}))
	t.Cleanup(elsewhere.Close)
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
	instead := map[string]http.HandlerFunc{
		"redirect": status(302, "Location", elsewhere.URL), "redirect that keeps the method": status(307, "Location", elsewhere.URL),
		"too many": status(429), "come back later": status(403, "Retry-After", "60"), "none left": status(403, "X-RateLimit-Remaining", "0"),
		"maintenance": status(503), "empty": body(""), "half": body(`{"id":1815,"sub":`), "list in a list": body(`[[]]`), "null": body(`null`), "text": body(`"x"`),
		"a page":    body("<html>" + strings.Repeat("x", 10_000)),
		"no fields": body(`{}`), "other types": body(`{"id":{},"sub":7,"aud":[],"data":7,"keys":7,"access_token":7,"issuer":7,"app":7}`),
	}
	failures := map[string]providers.Failure{
		"down": providers.Down, "slow": providers.Slow, "nonsense": providers.Nonsense, "broken": providers.Broken, "huge": providers.Huge,
	}
	for _, m := range methods() {
		m.run(t, func(t *testing.T, n *internet) {
			try := func(what, path string) {
				providerTimeout := time.Minute
				if what == "slow" {
					providerTimeout = 50 * time.Millisecond
				}
				proof := m.make(n, ada.ID)
				p, err := n.ask(t, m.provider, providerTimeout, proof)
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
				for what, f := range failures {
					n.fakes[m.provider].Fail(f, path)
					try(what, path)
				}
				n.fakes[m.provider].Fail(providers.None, path)
				for what, h := range instead {
					if path == "/oauth2/v3/certs" && (what == "no fields" || what == "null") {
						continue // without keys every signature is invalid
					}
					if path == "/api/v3/user/emails" && what == "null" {
						continue // no URL
					}
					n.response(path, h)
					try(what, path)
				}
				n.response(path, nil)
			}
			if _, err := n.ask(t, m.provider, time.Minute, m.make(n, ada.ID)); err != nil {
				t.Errorf("when all works again: %v", err)
			}
		})
	}
}

// TestDiscoveryAgain uses one client again after its issuer was unavailable, and after its keys have changed.
func TestDiscoveryAgain(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	google := newGoogle(n.config.Google, newClient(http.DefaultTransport, time.Minute), n.clock.Now)
	prove := func() error {
		_, err := google.profile(t.Context(), Proof{IDToken: n.google.IDToken(ada.ID)})
		return err
	}
	for _, path := range []string{"/.well-known/openid-configuration", "/oauth2/v3/certs"} {
		n.google.Fail(providers.Broken, path)
		if err := prove(); !apperr.Is(err, apperr.Unavailable) {
			t.Errorf("without %s: %v", path, err)
		}
		n.google.Fail(providers.None, path)
		if err := prove(); err != nil {
			t.Errorf("with %s again: %v", path, err)
		}
		n.google.RotateKey()
	}
	n.google.DropOldKeys()
	if err := prove(); err != nil {
		t.Errorf("with a new key: %v", err)
	}
	before := len(n.google.Requests())
	if err := prove(); err != nil || len(n.google.Requests()) != before {
		t.Errorf("with a known key: %v, asked %v", err, n.google.Requests()[before:])
	}
}

func TestRejectedProof(t *testing.T) {
	t.Parallel()
	type spoiled struct {
		what string
		make func(n *internet, f fake) Proof
	}
	common := []spoiled{
		{"token of another app", func(_ *internet, f fake) Proof { return Proof{AccessToken: f.ForeignToken(ada.ID)} }},
		{"no token", func(*internet, fake) Proof { return Proof{AccessToken: "nonsense"} }},
		{"token with a path", func(*internet, fake) Proof { return Proof{AccessToken: "../../x?a=b&c=d#e"} }},
		{"expired token", func(_ *internet, f fake) Proof {
			token := f.Token(ada.ID)
			f.Expire(token)
			return Proof{AccessToken: token}
		}},
		{"no code", func(*internet, fake) Proof { return Proof{Code: "nonsense", RedirectURI: callback} }},
		{"expired code", func(n *internet, f fake) Proof {
			code := f.Code(ada.ID, callback, "")
			n.clock.Advance(11 * time.Minute)
			return Proof{Code: code, RedirectURI: callback}
		}},
		{"another redirect_uri", func(_ *internet, f fake) Proof {
			return Proof{Code: f.Code(ada.ID, callback, ""), RedirectURI: "https://evil.example.com/"}
		}},
		{"no verifier", func(_ *internet, f fake) Proof {
			return Proof{Code: f.Code(ada.ID, callback, providers.Challenge(verifier)), RedirectURI: callback}
		}},
		{"wrong verifier", func(_ *internet, f fake) Proof {
			return Proof{Code: f.Code(ada.ID, callback, providers.Challenge(verifier)), RedirectURI: callback, CodeVerifier: strings.Repeat("x", 43)}
		}},
		{"verifier without challenge", func(_ *internet, f fake) Proof {
			return Proof{Code: f.Code(ada.ID, callback, ""), RedirectURI: callback, CodeVerifier: verifier}
		}},
	}
	for _, other := range []string{"facebook", "github", "google"} {
		common = append(common,
			spoiled{"token of " + other, func(n *internet, f fake) Proof {
				if f == n.fakes[other] {
					return Proof{AccessToken: "x"}
				}
				return Proof{AccessToken: n.fakes[other].Token(ada.ID)}
			}},
			spoiled{"code of " + other, func(n *internet, f fake) Proof {
				if f == n.fakes[other] {
					return Proof{Code: "x", RedirectURI: callback}
				}
				return n.code(other, ada.ID)
			}})
	}
	idToken := func(changes ...providers.Change) func(*internet, fake) Proof {
		return func(n *internet, _ fake) Proof { return Proof{IDToken: n.google.IDToken(ada.ID, changes...)} }
	}
	const past = 1_700_000_000 // long before the time of the fake clock
	ofGoogle := []spoiled{
		{"ID token for another app", idToken(providers.Claim("aud", providers.ForeignClientID))},
		{"ID token for us and another app", idToken(providers.Claim("aud", []string{"1234567890", providers.ForeignClientID}))},
		{"ID token without an audience", idToken(providers.Claim("aud", nil))},
		{"ID token with an empty audience list", idToken(providers.Claim("aud", []string{}))},
		{"expired ID token", idToken(providers.Claim("exp", past))},
		{"ID token that never expires", idToken(providers.Claim("exp", nil))},
		{"ID token of the future", idToken(providers.Claim("nbf", 4_000_000_000))},
		{"ID token of another issuer", idToken(providers.Claim("iss", "https://evil.example.com"))},
		{"ID token of the real Google", idToken(providers.Claim("iss", "https://accounts.google.com"))},
		{"ID token of no issuer", idToken(providers.Claim("iss", nil))},
		{"ID token with claims of other types", idToken(providers.Claim("name", 5))},
		{"unsigned ID token", idToken(providers.Algorithm("none"))},
		{"ID token signed with the public key", idToken(providers.Algorithm("HS256"))},
		{"ID token with an algorithm that is not Google's", idToken(providers.Algorithm("PS256"))},
		{"ID token of another key", idToken(providers.ForeignKey())},
		{"no ID token", func(*internet, fake) Proof { return Proof{IDToken: "a.b.c"} }},
		{"changed ID token", func(n *internet, _ fake) Proof {
			parts := strings.Split(n.google.IDToken(ada.ID), ".")
			claims, err := base64.RawURLEncoding.DecodeString(parts[1])
			if err != nil {
				t.Fatal(err)
			}
			parts[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(claims), ada.ID, "1816", 1)))
			return Proof{IDToken: strings.Join(parts, ".")}
		}},
	}
	for name, table := range map[string][]spoiled{"facebook": common, "github": common, "google": append(ofGoogle, common...)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newInternet(t)
			for _, s := range table {
				p, err := n.ask(t, name, time.Minute, s.make(n, n.fakes[name]))
				if !apperr.Is(err, apperr.Unauthorized) {
					t.Errorf("%s: %+v, %v", s.what, p, err)
				} else if err.Error() != rejected().Error() {
					t.Errorf("%s: it says why: %v", s.what, err)
				}
			}
		})
	}
}

// TestUnverifiedAtGitHub checks the remedy in the error if GitHub issues no token.
func TestUnverifiedAtGitHub(t *testing.T) {
	t.Parallel()
	h := build(t)
	eve := h.fakes["github"].AddUser(providers.User{ID: "66"})
	proof := Proof{Code: h.fakes["github"].Code(eve.ID, callback, ""), RedirectURI: callback}
	_, _, err := h.SignIn(t.Context(), nobody, home, "github", proof)
	if !apperr.Is(err, apperr.Conflict) || !strings.Contains(err.Error(), "Verify it at GitHub") {
		t.Error(err)
	}
}

func TestUsedCode(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	for name := range n.fakes {
		proof := n.code(name, ada.ID)
		for i, want := range []apperr.Code{"", apperr.Unauthorized} {
			if _, err := n.ask(t, name, time.Minute, proof); apperr.CodeOf(err) != want {
				t.Errorf("%s, use %d: %v", name, i+1, err)
			}
		}
	}
}

// TestAudience accepts Google tokens of each of our clients, and no others.
func TestAudience(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	for id, want := range map[string]apperr.Code{"1234567890": "", "ios-client": "", "android-client": apperr.Unauthorized, "": apperr.Unauthorized, "ios-client,": apperr.Unauthorized} {
		proofs := []Proof{{IDToken: n.google.IDToken(ada.ID, providers.Claim("aud", id))}}
		if id != "" { // tokeninfo would have returned nothing
			proofs = append(proofs, Proof{AccessToken: n.google.TokenFor(id, ada.ID)})
		}
		for _, proof := range proofs {
			if _, err := n.ask(t, "google", time.Minute, proof); apperr.CodeOf(err) != want {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}

// TestCodeWithoutOpenID falls back to the access token if a code returns no ID token.
func TestCodeWithoutOpenID(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	for token, want := range map[string]apperr.Code{n.google.Token(ada.ID): "", n.google.ForeignToken(ada.ID): apperr.Unauthorized} {
		n.response("/token", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"access_token":%q}`, token)
		})
		if p, err := n.ask(t, "google", time.Minute, n.code("google", ada.ID)); apperr.CodeOf(err) != want || err == nil && p.Subject != ada.ID {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

// TestBothIssuers accepts both forms of Google's issuer.
func TestBothIssuers(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	g := newGoogle(GoogleSettings{IDs: []string{"1234567890"}, Issuer: googleIssuer}, newClient(http.DefaultTransport, time.Minute), n.clock.Now)
	if g.tokenInfo != "https://oauth2.googleapis.com/tokeninfo" {
		t.Errorf("tokeninfo is at %s", g.tokenInfo)
	}
	there := newGoogle(n.config.Google, newClient(http.DefaultTransport, time.Minute), n.clock.Now)
	issuer, err := there.discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]apperr.Code{"https://accounts.google.com": "", "accounts.google.com": "", "http://accounts.google.com": apperr.Unauthorized, n.config.Google.Issuer: apperr.Unauthorized} {
		if _, err := g.ofIDToken(t.Context(), issuer, n.google.IDToken(ada.ID, providers.Claim("iss", name))); apperr.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWrongClientSettings reports a wrong client secret or ID as Unavailable, with the reason in the log, and not as an
// error of the caller.
func TestWrongClientSettings(t *testing.T) {
	t.Parallel()
	wrong := "wrong-secret-0123456789"
	for _, m := range methods() {
		if m.provider == "google" && !strings.HasPrefix(m.name, "code") {
			continue // has no secret
		}
		m.run(t, func(t *testing.T, n *internet) {
			for _, s := range []string{wrong, ""} {
				n.config.Facebook.Secret, n.config.GitHub.Secret, n.config.Google.Secret = s, s, s
				proof := m.make(n, ada.ID)
				_, err := n.ask(t, m.provider, time.Minute, proof)
				if m.provider == "google" && s == "" {
					if !apperr.Is(err, apperr.ValidationFailed) { // codes are then not supported
						t.Fatalf("%v", err)
					}
					continue
				}
				if !apperr.Is(err, apperr.Unavailable) {
					t.Fatalf("%v", err)
				}
				hide(t, err, proof)
				if s != "" && strings.Contains(err.Error(), s) {
					t.Errorf("the error contains the secret: %v", err)
				}
			}
		})
	}
}

func TestNoIDToken(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	for _, name := range []string{"facebook", "github"} {
		_, err := n.ask(t, name, time.Minute, Proof{IDToken: n.google.IDToken(ada.ID)})
		if !apperr.Is(err, apperr.ValidationFailed) || len(n.fakes[name].Requests()) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPartialProfile gets accounts that do not share all fields.
func TestPartialProfile(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	for _, f := range n.fakes {
		f.AddUser(providers.User{ID: "7", Login: "bob", NoEmail: true})
		f.AddUser(providers.User{ID: "666", Login: "eve", Email: "ada@example.com"})
		f.AddUser(providers.User{ID: "8", Login: "ann", Email: "ann@example.com", EmailVerified: true, OtherEmails: []providers.Email{{Address: "ada@example.com", Verified: true}}})
	}
	scopes := map[string]string{"facebook": "public_profile", "github": "read:user", "google": "openid"}
	for _, test := range []struct {
		provider, user string
		shy            bool
		want           Profile
	}{
		{"facebook", "7", false, Profile{Subject: "7"}},
		{"facebook", "666", false, Profile{Subject: "666"}}, // unconfirmed addresses are not returned
		{"facebook", "8", false, Profile{Subject: "8", Email: "ann@example.com", EmailVerified: true}},
		{"facebook", "1815", true, Profile{Subject: "1815", Name: ada.Name, Picture: ada.Picture}},
		{"github", "7", false, Profile{Subject: "7", Name: "bob"}},
		{"github", "666", false, Profile{Subject: "666", Email: "ada@example.com", Name: "eve"}},
		{"github", "8", false, Profile{Subject: "8", Email: "ann@example.com", EmailVerified: true, Name: "ann"}},
		{"github", "1815", true, Profile{Subject: "1815", Name: ada.Name, Picture: ada.Picture}},
		{"google", "7", false, Profile{Subject: "7"}},
		{"google", "666", false, Profile{Subject: "666", Email: "ada@example.com"}},
		{"google", "8", false, Profile{Subject: "8", Email: "ann@example.com", EmailVerified: true}},
		{"google", "1815", true, Profile{Subject: "1815"}},
	} {
		var own []string
		if test.shy {
			own = []string{scopes[test.provider]}
		}
		got, err := n.ask(t, test.provider, time.Minute, Proof{AccessToken: n.fakes[test.provider].Token(test.user, own...)})
		if got.Picture != test.want.Picture && test.provider == "github" {
			got.Picture = test.want.Picture // GitHub generates one for each user
		}
		if err != nil || got != test.want {
			t.Errorf("%s %s: %+v, %v", test.provider, test.user, got, err)
		}
	}
}

// TestForeignToken rejects tokens that a provider reports as issued to another app or not to a user.
func TestForeignToken(t *testing.T) {
	t.Parallel()
	const check = "/api/v3/applications/1234567890/token"
	for _, test := range []struct{ provider, path, response string }{
		{"facebook", "/debug_token", `{"data":{"app_id":"999","type":"USER","is_valid":true,"user_id":"1815"}}`},
		{"facebook", "/debug_token", `{"data":{"app_id":"1234567890","type":"PAGE","is_valid":true,"user_id":"1815"}}`},
		{"facebook", "/debug_token", `{"data":{"app_id":"1234567890","type":"USER","is_valid":false,"user_id":"1815"}}`},
		{"facebook", "/debug_token", `{"data":{"app_id":"1234567890","type":"USER","is_valid":true}}`},
		{"facebook", "/me", `{"error":{"code":190}}`},
		{"github", check, `{"app":{"client_id":"999"},"user":{"id":1815}}`},
		{"google", "/tokeninfo", `{"aud":"999","sub":"1815"}`},
		{"google", "/tokeninfo", `{"aud":"1234567890"}`},
	} {
		n := newInternet(t)
		n.response(test.path, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, test.response) })
		if p, err := n.ask(t, test.provider, time.Minute, Proof{AccessToken: n.fakes[test.provider].Token(ada.ID)}); !apperr.Is(err, apperr.Unauthorized) {
			t.Errorf("%s: %+v, %v", test.response, p, err)
		}
	}
	for path, status := range map[string]int{"/api/v3/user": 401, "/api/v3/user/emails": 401, check: 422, "/v1/userinfo": 403} {
		n, name := newInternet(t), "github"
		if path == "/v1/userinfo" {
			name = "google"
		}
		n.response(path, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if p, err := n.ask(t, name, time.Minute, Proof{AccessToken: n.fakes[name].Token(ada.ID)}); !apperr.Is(err, apperr.Unauthorized) {
			t.Errorf("%s %d: %+v, %v", path, status, p, err)
		}
	}
}

// TestAnotherUser rejects a profile of another user than the token's.
func TestAnotherUser(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	for name, path := range map[string]string{"facebook": "/me", "google": "/v1/userinfo"} {
		n.response(path, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprint(w, `{"id":"1816","sub":"1816","email":"eve@example.com","email_verified":true}`)
		})
		if p, err := n.ask(t, name, time.Minute, Proof{AccessToken: n.fakes[name].Token(ada.ID)}); !apperr.Is(err, apperr.Unavailable) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}
