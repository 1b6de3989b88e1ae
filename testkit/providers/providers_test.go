package providers_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/providers"
)

const (
	callback = "https://app.example.com/callback?from=here"
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // RFC 7636, appendix B
)

var (
	app = providers.App{ID: "1234567890", Secret: "app+secret", MoreIDs: []string{"ios-client"}}
	ada = providers.User{ID: "1815", Login: "ada", Name: "Ada Lovelace", Email: "ada@example.com", EmailVerified: true, Picture: "https://example.com/ada.png"}
	eve = providers.User{ID: "666", Login: "eve", Email: "eve@example.com"}
	bob = providers.User{ID: "7", Login: "bob", Name: "Bob", NoEmail: true}
)

// site is a running fake.
type site struct {
	t     *testing.T
	url   string
	clock *clock.Clock
}

// start starts a fake with three users.
func start[F providers.Fake](t *testing.T, make func(providers.App, func() time.Time) F) (F, site) {
	t.Helper()
	c := clock.At(time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC))
	f := make(app, c.Now)
	for _, u := range []providers.User{ada, eve, bob} {
		f.AddUser(u)
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, site{t, server.URL, c}
}

// response is a received response.
type response struct {
	status int
	header http.Header
	body   string
}

// holds checks the status, and that the body contains the texts.
func (a response) holds(t *testing.T, status int, texts ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, not %d: %s", a.status, status, a.body)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("no %s in %s", text, a.body)
		}
	}
}

// text returns a string field of a response, which is JSON or a form; "" if it has none.
func (a response) text(name string) string {
	if form, err := url.ParseQuery(a.body); err == nil && form.Has(name) {
		return form.Get(name)
	}
	var o map[string]any
	_ = json.Unmarshal([]byte(a.body), &o)
	text, _ := o[name].(string)
	return text
}

// do sends a request. It does not follow redirects.
func (s site) do(method, path string, form url.Values, header ...string) response {
	s.t.Helper()
	a, err := s.try(s.t.Context(), method, path, form, header...)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s site) try(ctx context.Context, method, path string, form url.Values, header ...string) (response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		return response{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return send(r)
}

func send(r *http.Request) (response, error) {
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return response{res.StatusCode, res.Header, string(body)}, err
}

// send sends a request.
func (s site) send(r *http.Request) response {
	s.t.Helper()
	a, err := send(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s site) get(path string, header ...string) response {
	s.t.Helper()
	return s.do("GET", path, nil, header...)
}

// back submits the decision of a user on the consent page, and returns the redirect address.
func (s site) back(path string, ask, decision url.Values) *url.URL {
	s.t.Helper()
	path += "?" + ask.Encode()
	s.get(path).holds(s.t, 200, ask.Get("client_id"))
	a := s.do("POST", path, decision)
	a.holds(s.t, 302)
	to, err := url.Parse(a.header.Get("Location"))
	if err != nil || !strings.HasPrefix(to.String(), "https://app.example.com/callback?") || to.Query().Get("from") != "here" {
		s.t.Fatalf("back to %v, %v", to, err)
	}
	return to
}

// with returns values with some changes; "-" removes a value.
func with(values url.Values, changes ...string) url.Values {
	changed := url.Values{}
	for name := range values {
		changed[name] = values[name]
	}
	for i := 0; i < len(changes); i += 2 {
		changed.Set(changes[i], changes[i+1])
		if changes[i+1] == "-" {
			changed.Del(changes[i])
		}
	}
	return changed
}

// ask returns the authorization request of a client.
func ask(changes ...string) url.Values {
	return with(url.Values{
		"client_id": {app.ID}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"openid email profile"}, "state": {"s&t"},
		"code_challenge": {providers.Challenge(verifier)}, "code_challenge_method": {"S256"},
	}, changes...)
}

// exchange returns the request with which the app exchanges a code for a token.
func exchange(code string, changes ...string) url.Values {
	return with(url.Values{
		"client_id": {app.ID}, "client_secret": {app.Secret}, "grant_type": {"authorization_code"},
		"code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier},
	}, changes...)
}

// endpoints are the paths of the authorization and of the exchange.
type endpoints struct{ authorize, token string }

// each runs a test on the three providers.
func each(t *testing.T, test func(*testing.T, providers.Fake, site, endpoints)) {
	t.Helper()
	t.Run("GitHub", func(t *testing.T) {
		t.Parallel()
		f, s := start(t, providers.NewGitHub)
		test(t, f, s, endpoints{"/login/oauth/authorize", "/login/oauth/access_token"})
	})
	t.Run("Google", func(t *testing.T) {
		t.Parallel()
		f, s := start(t, providers.NewGoogle)
		f.SetIssuer(s.url)
		test(t, f, s, endpoints{"/o/oauth2/v2/auth", "/token"})
	})
	t.Run("Facebook", func(t *testing.T) {
		t.Parallel()
		f, s := start(t, providers.NewFacebook)
		test(t, f, s, endpoints{"/dialog/oauth", "/oauth/access_token"})
	})
}

// token exchanges a code and returns the access token, or "".
func (s site) token(path string, form url.Values) string {
	s.t.Helper()
	return s.do("POST", path, form).text("access_token")
}

// TestChallenge checks the example of RFC 7636, appendix B.
func TestChallenge(t *testing.T) {
	t.Parallel()
	if have := providers.Challenge(verifier); have != "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" {
		t.Error(have)
	}
}

func TestConsent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f providers.Fake, s site, at endpoints) {
		to := s.back(at.authorize, ask(), url.Values{"user": {ada.ID}, "decision": {"allow"}})
		if state := to.Query().Get("state"); state != "s&t" {
			t.Errorf("state %q", state)
		}
		if s.token(at.token, exchange(to.Query().Get("code"))) == "" {
			t.Error("no token")
		}
		to = s.back(at.authorize, ask(), url.Values{"user": {ada.ID}, "decision": {"refuse"}})
		if q := to.Query(); q.Get("error") != "access_denied" || q.Get("state") != "s&t" || q.Has("code") {
			t.Errorf("refused: %v", to)
		}
		s.back(at.authorize, ask(), url.Values{"user": {""}, "name": {"New"}, "email": {" new@example.com "}, "verified": {"yes"}, "decision": {"allow"}})
		s.back(at.authorize, ask(), url.Values{"user": {""}, "decision": {"allow"}})
		users := f.Users()
		if u := users[3]; u.Name != "New" || u.Email != "new@example.com" || !u.EmailVerified || u.ID == "" {
			t.Errorf("%+v", u)
		}
		if u := users[4]; !u.NoEmail || u.EmailVerified || u.ID == users[3].ID {
			t.Errorf("%+v", u)
		}
	})
}

// TestBadAuthorization checks that invalid requests are never redirected to an address that may be invalid.
func TestBadAuthorization(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ providers.Fake, s site, at endpoints) {
		for _, changes := range [][]string{
			{"client_id", "-"}, {"client_id", "x"}, {"redirect_uri", "-"}, {"redirect_uri", "javascript:alert(1)"}, {"redirect_uri", "https://a.example/#x"},
			{"redirect_uri", "/x"}, {"response_type", "token"}, {"code_challenge_method", "plain"}, {"code_challenge_method", "-"}, {"code_challenge", "-"}, {"code_challenge", "short"},
		} {
			path := at.authorize + "?" + ask(changes...).Encode()
			for _, a := range []response{s.get(path), s.do("POST", path, url.Values{"user": {ada.ID}, "decision": {"allow"}})} {
				if a.status != 400 || a.header.Get("Location") != "" {
					t.Errorf("%v: %d, %q", changes, a.status, a.header.Get("Location"))
				}
			}
		}
	})
}

// TestPage checks that the page escapes values of clients and users.
func TestPage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f providers.Fake, s site, at endpoints) {
		f.AddUser(providers.User{Name: "<script>1</script>"})
		a := s.get(at.authorize + "?" + ask("scope", "<script>2</script>").Encode())
		a.holds(t, 200, "Ada Lovelace", "ada@example.com, verified", "eve@example.com, not verified", "no email", "&lt;script&gt;1", "&lt;script&gt;2")
		if strings.Contains(a.body, "<script") {
			t.Error(a.body)
		}
	})
}

// TestCodes checks that codes are bound to the parameters of their request. Each row begins with a fresh code.
func TestCodes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f providers.Fake, s site, at endpoints) {
		fresh := func() string { return f.Code(ada.ID, callback, providers.Challenge(verifier)) }
		for name, changes := range map[string][]string{
			"no client":         {"client_id", "-"},
			"another client":    {"client_id", providers.ForeignClientID},
			"no secret":         {"client_secret", "-"},
			"wrong secret":      {"client_secret", "x"},
			"another redirect":  {"redirect_uri", callback + "x"},
			"no verifier":       {"code_verifier", "-"},
			"wrong verifier":    {"code_verifier", strings.Repeat("x", 43)},
			"challenge as such": {"code_verifier", providers.Challenge(verifier)},
			"no code":           {"code", "-"},
			"unknown code":      {"code", "x"},
		} {
			if s.token(at.token, exchange(fresh(), changes...)) != "" {
				t.Errorf("%s: a token", name)
			}
		}
		code := fresh()
		if s.token(at.token, exchange(code, "client_secret", "x")) != "" || s.token(at.token, exchange(code)) == "" {
			t.Error("a stranger's try uses a code up, or a good code gives no token")
		}
		if s.token(at.token, exchange(code)) != "" {
			t.Error("a token for a used code")
		}
		code = fresh()
		if s.token(at.token, exchange(code, "code_verifier", "-")) != "" || s.token(at.token, exchange(code)) != "" {
			t.Error("a code can be tried twice")
		}
		code = fresh()
		s.clock.Advance(10 * time.Minute)
		if s.token(at.token, exchange(code)) != "" {
			t.Error("a token for an expired code")
		}
		code = fresh()
		s.clock.Advance(10*time.Minute - time.Second)
		if s.token(at.token, exchange(code)) == "" {
			t.Error("no token for a code that lives")
		}
		if s.token(at.token, exchange(f.Code(ada.ID, callback, ""), "code_verifier", "-")) == "" {
			t.Error("no token without PKCE")
		}
		if s.token(at.token, exchange(f.Code(ada.ID, callback, ""))) != "" {
			t.Error("a token for a code that had lost its challenge")
		}
		if s.token(at.token, exchange(f.Code(ada.ID, callback, providers.Challenge("short")), "code_verifier", "short")) != "" {
			t.Error("a token for a verifier that can be guessed")
		}
	})
}

// TestParallelExchange checks that a code gives only one token.
func TestParallelExchange(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f providers.Fake, s site, at endpoints) {
		code := f.Code(ada.ID, callback, "")
		tokens := make(chan string)
		for range 10 {
			go func() {
				a, _ := s.try(t.Context(), "POST", at.token, exchange(code, "code_verifier", "-"))
				tokens <- a.text("access_token")
			}()
		}
		given := 0
		for range 10 {
			if <-tokens != "" {
				given++
			}
		}
		if given != 1 {
			t.Errorf("%d tokens", given)
		}
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f providers.Fake, s site, at endpoints) {
		path := at.authorize + "?" + ask().Encode()
		f.Fail(providers.Nonsense)
		s.get(path).holds(t, 200, "<!doctype html>", "It works!")
		f.Fail(providers.Broken)
		s.get(path).holds(t, 500, "<!doctype html>")
		f.Fail(providers.Huge)
		if a := s.get(path); len(a.body) < 16<<20 || !json.Valid([]byte(a.body)) {
			t.Errorf("%d bytes", len(a.body))
		}
		f.Fail(providers.Down)
		if a, err := s.try(t.Context(), "POST", at.token, exchange("x")); err == nil {
			t.Errorf("down: %+v", a)
		}
		f.Fail(providers.None)
		f.Fail(providers.Broken, at.token)
		s.get(path).holds(t, 200)
		s.do("POST", at.token, exchange("x")).holds(t, 500)
		f.Fail(providers.None, at.token)
		if a := s.do("POST", at.token, exchange("x")); a.status == 500 {
			t.Error("the failure did not end")
		}
		if have := f.Requests(); have[0] != "GET "+at.authorize || have[len(have)-1] != "POST "+at.token {
			t.Error(have)
		}
	})
}

// TestSlow checks that a slow path sends no response, and that its handler ends when the client disconnects.
func TestSlow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f providers.Fake, s site, at endpoints) {
		f.Fail(providers.Slow)
		reached, left := make(chan struct{}), make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(reached)
			f.ServeHTTP(w, r)
			close(left)
		}))
		defer server.Close()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := site{t, server.URL, s.clock}.try(ctx, "POST", at.token, exchange("x"))
			ended <- err
		}()
		<-reached
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		<-left
	})
}

func TestAddUser(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f providers.Fake, _ site, _ endpoints) {
		if u := f.AddUser(providers.User{}); u.ID == "" || u.Login != "user"+u.ID || u.Email != u.Login+"@example.com" {
			t.Errorf("%+v", u)
		}
		moved := ada
		moved.Email = "moved@example.com"
		f.AddUser(moved)
		users := f.Users()
		if i := slices.IndexFunc(users, func(u providers.User) bool { return u.ID == ada.ID }); i != 0 || users[0].Email != moved.Email || len(users) != 4 {
			t.Errorf("%+v", users)
		}
	})
}
