package social_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/testkit"
	"example.com/ginseng/kit/testkit/providers"
	"example.com/ginseng/modules/apitest"
)

type request = testkit.Request

var row = testkit.Row

const (
	callback = "https://app.example.com/callback"
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // RFC 7636 appendix B
)

var (
	ada = providers.User{ID: "1815", Login: "ada", Name: "Ada Lovelace", Email: "ada@example.com", EmailVerified: true, Picture: "https://example.com/ada.png"}
	eve = providers.User{ID: "666", Login: "eve", Email: "eve@example.com"}
)

// start starts a service with clients at the three providers. Ada and Eve have accounts there.
func start(t *testing.T) (*testkit.API, testkit.Providers) {
	t.Helper()
	var p testkit.Providers
	api := apitest.Start(t, func(c *testkit.Config) {
		p = c.StartProviders(t)
	})
	for _, u := range []providers.User{ada, eve} {
		p.Facebook.AddUser(u)
		p.GitHub.AddUser(u)
		p.Google.AddUser(u)
	}
	return api, p
}

// signedIn is the response to a sign-in.
type signedIn struct {
	Token, RefreshToken, ExpiresAt string
	User                           struct{ ID, Email, Name string }
}

// enter signs in with an access token and returns the response, which must be 201.
func enter(t *testing.T, api *testkit.API, provider, token, as string) signedIn {
	t.Helper()
	response := api.Do(request{Method: "POST", Path: "/auth/" + provider, As: as, Form: url.Values{"access_token": {token}}})
	var result signedIn
	if err := json.Unmarshal(response.Body, &result); err != nil || response.Status != 201 {
		t.Fatalf("%d: %s", response.Status, response.Body)
	}
	return result
}

func TestEveryProof(t *testing.T) {
	t.Parallel()
	api, p := start(t)
	var id string
	for _, test := range []struct {
		name, provider string
		form           url.Values
	}{
		{"Facebook, token", "facebook", url.Values{"access_token": {p.Facebook.Token(ada.ID)}}},
		{"Facebook, code", "facebook", url.Values{"code": {p.Facebook.Code(ada.ID, callback, "")}, "redirect_uri": {callback}}},
		{"GitHub, token", "github", url.Values{"access_token": {p.GitHub.Token(ada.ID)}}},
		{"GitHub, code", "github", url.Values{"code": {p.GitHub.Code(ada.ID, callback, providers.Challenge(verifier))}, "redirect_uri": {callback}, "code_verifier": {verifier}}},
		{"Google, token", "google", url.Values{"access_token": {p.Google.Token(ada.ID)}}},
		{"Google, ID token", "google", url.Values{"id_token": {p.Google.IDToken(ada.ID)}}},
		{"Google, code", "google", url.Values{"code": {p.Google.Code(ada.ID, callback, providers.Challenge(verifier))}, "redirect_uri": {callback}, "code_verifier": {verifier}}},
	} {
		path, asJSON := "/auth/"+test.provider, make(map[string]string)
		for name, values := range test.form {
			asJSON[name] = values[0]
		}
		response := api.Do(request{Method: "POST", Path: path, Form: test.form})
		var result signedIn
		if err := json.Unmarshal(response.Body, &result); err != nil || response.Status != 201 {
			t.Fatalf("%s: %d %s", test.name, response.Status, response.Body)
		}
		if id == "" {
			id = result.User.ID
		}
		if result.User.ID != id || result.User.Email != ada.Email || result.User.Name != ada.Name || result.RefreshToken == "" || result.ExpiresAt == "" {
			t.Errorf("%s: %s", test.name, response.Body)
		}
		if cache := response.Header.Get("Cache-Control"); cache != "no-store" {
			t.Errorf("%s: Cache-Control %q", test.name, cache)
		}
		want := 201
		if test.form.Has("code") {
			want = 401 // already used
		}
		api.Run(t, []testkit.Scenario{
			row(test.name+": the token is valid", request{Method: "GET", Path: "/users/me", As: result.Token}, 200, []string{id, ada.Email}, []string{ada.ID}),
			row(test.name+": as JSON", request{Method: "POST", Path: path, JSON: asJSON}, want, nil, []string{ada.ID}),
		})
		for _, line := range api.Log.Lines() {
			for _, values := range test.form {
				if strings.Contains(line, values[0]) {
					t.Errorf("%s: the log holds it: %s", test.name, line)
				}
			}
		}
	}
}

func TestBadProof(t *testing.T) {
	t.Parallel()
	api, p := start(t)
	post := func(provider string, body any) request {
		return request{Method: "POST", Path: "/auth/" + provider, JSON: body}
	}
	type body = map[string]any
	api.Run(t, []testkit.Scenario{
		row("none", post("github", body{}), 400, []string{`"param":"access_token","code":"required"`}, nil),
		row("no body", request{Method: "POST", Path: "/auth/github"}, 400, []string{`"param":"access_token","code":"required"`}, nil),
		row("empty", post("github", body{"access_token": " ", "code": nil}), 400, []string{`"code":"required"`}, nil),
		row("two", post("google", body{"access_token": "x", "id_token": "y"}), 400, []string{`"param":"access_token","code":"conflict"`, `"param":"id_token","code":"conflict"`}, nil),
		row("code alone", post("github", body{"code": "x"}), 400, []string{`"param":"redirect_uri","code":"required"`}, []string{"access_token"}),
		row("ID token where there is none", post("facebook", body{"id_token": "x"}), 400, []string{`"param":"id_token","code":"unknown"`}, nil),
		row("object", post("github", `{"access_token":{"$gt":""}}`), 400, []string{`"param":"access_token","code":"type"`}, nil),
		row("number", post("github", `{"code":5,"redirect_uri":["x"]}`), 400, []string{`"param":"code","code":"type"`, `"param":"redirect_uri","code":"type"`}, nil),
		row("line break", post("github", body{"access_token": "x\r\nHost: evil"}), 400, []string{`"param":"access_token","code":"format"`}, []string{"evil"}),
		row("not ASCII", post("github", body{"code": "ä", "redirect_uri": callback}), 400, []string{`"param":"code","code":"format"`}, nil),
		row("too long", post("google", body{
			"access_token": strings.Repeat("x", 4097), "id_token": strings.Repeat("x", 8193),
			"redirect_uri": strings.Repeat("x", 2049), "code_verifier": strings.Repeat("x", 129),
		}), 400, []string{`"param":"access_token","code":"max_length"`, `"param":"id_token","code":"max_length"`, `"param":"redirect_uri","code":"max_length"`, `"param":"code_verifier","code":"max_length"`}, nil),
		row("long code", post("google", body{"code": strings.Repeat("x", 2049)}), 400, []string{`"param":"code","code":"max_length"`}, nil),
		row("as long as may be", post("google", body{"access_token": strings.Repeat("x", 4096)}), 401, []string{"rejected the token or code"}, nil),
		row("short verifier", post("github", body{"code": "x", "redirect_uri": callback, "code_verifier": strings.Repeat("x", 42)}), 400, []string{`"param":"code_verifier","code":"min_length"`}, nil),
		row("twice", request{Method: "POST", Path: "/auth/github", Form: url.Values{"access_token": {"x", "y"}}}, 400, []string{`"param":"access_token","code":"type"`}, nil),
		row("malformed", post("github", `{`), 400, []string{"malformed_body"}, nil),
		row("another type", request{Method: "POST", Path: "/auth/github", Body: "x", ContentType: "text/plain"}, 415, nil, nil),

		row("nonsense", post("github", body{"access_token": "nonsense"}), 401, []string{"rejected the token or code"}, []string{"nonsense"}),
		row("another app's", post("facebook", body{"access_token": p.Facebook.ForeignToken(ada.ID)}), 401, []string{"rejected the token or code"}, nil),
		row("another audience", post("google", body{"id_token": p.Google.IDToken(ada.ID, providers.Claim("aud", providers.ForeignClientID))}), 401, []string{"rejected the token or code"}, nil),
		row("another provider's", post("github", body{"access_token": p.Facebook.Token(ada.ID)}), 401, nil, nil),
		row("master key", post("github", body{"access_token": testkit.MasterKey}), 401, []string{"Send your own token in the Authorization header"}, nil),
		row("proof in the query", request{Method: "POST", Path: "/auth/github?code=x&redirect_uri=y"}, 400, []string{`"param":"code","code":"unknown"`}, nil),

		row("no such provider", post("twitter", body{"access_token": "x"}), 404, []string{"not_found"}, []string{"twitter"}),
		row("a route's name", post("identities", body{}), 405, nil, nil),
		row("capitals", post("GitHub", body{"access_token": p.GitHub.Token(ada.ID)}), 404, nil, nil),
		row("unverified email", post("google", body{"access_token": p.Google.Token(eve.ID)}), 409, []string{"has not verified the email address", "links the account"}, []string{eve.Email}),
		row("no email", post("facebook", body{"access_token": p.Facebook.Token(eve.ID)}), 409, []string{"returns no email address"}, nil),
	})
}

func TestNotConfigured(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	for _, provider := range []string{"facebook", "github", "google"} {
		if status := api.Do(request{Method: "POST", Path: "/auth/" + provider, Form: url.Values{"access_token": {"x"}}}).Status; status != 404 {
			t.Errorf("%s: %d", provider, status)
		}
	}
	user := api.SignUp("user")
	api.Run(t, []testkit.Scenario{
		row("list", request{Method: "GET", Path: "/auth/identities", As: user.Token}, 200, []string{`{"rows":[],"count":0}`}, nil),
		row("unlink", request{Method: "DELETE", Path: "/auth/identities/github", As: user.Token}, 404, nil, nil),
	})
}

// TestWhoseToken sends the user's token in the header or the query, and the provider's in the body.
func TestWhoseToken(t *testing.T) {
	t.Parallel()
	api, p := start(t)
	me, other := api.SignUp("user"), api.SignUp("user")
	body := url.Values{"access_token": {p.GitHub.Token(eve.ID)}}
	mine := []string{`"id":"` + me.ID, me.Email}
	api.Run(t, []testkit.Scenario{
		row("a bad token in the header", request{Method: "POST", Path: "/auth/github", As: "nonsense", Form: body}, 401, []string{"access token is invalid"}, nil),
		row("the master key links nothing", request{Method: "POST", Path: "/auth/github", As: testkit.MasterKey, Form: body}, 409, []string{"has not verified"}, nil),
		row("a user token in the body is not a proof", request{Method: "POST", Path: "/auth/github", Form: url.Values{"access_token": {me.Token}}}, 401, []string{"Send your own token in the Authorization header"}, nil),
		row("header and query differ", request{Method: "POST", Path: "/auth/github?access_token=" + other.Token, As: me.Token, Form: body}, 400, []string{`"in":"header","param":"access_token","code":"conflict"`}, nil),
		row("header", request{Method: "POST", Path: "/auth/github", As: me.Token, Form: body}, 201, mine, nil),
		row("query", request{Method: "POST", Path: "/auth/github?access_token=" + me.Token, Form: body}, 201, mine, nil),
		row("linked", request{Method: "POST", Path: "/auth/github", Form: body}, 201, mine, nil),
		row("linked, as JSON", request{Method: "POST", Path: "/auth/github", JSON: map[string]string{"access_token": p.GitHub.Token(eve.ID)}}, 201, mine, nil),
		row("to another user", request{Method: "POST", Path: "/auth/github", As: other.Token, Form: body}, 409, []string{"linked to another user"}, []string{me.ID, me.Email}),
		row("another account", request{Method: "POST", Path: "/auth/github", As: me.Token, Form: url.Values{"access_token": {p.GitHub.Token(ada.ID)}}}, 409, []string{"Another account of this provider"}, nil),
		row("email, name and picture stay", request{Method: "GET", Path: "/users/me", As: me.Token}, 200, []string{me.Email}, []string{eve.Email, "avatars"}),
	})
}

func TestTakeoverOverHTTP(t *testing.T) {
	t.Parallel()
	api, p := start(t)
	form := url.Values{"email": {ada.Email}, "password": {testkit.Password}, "access_token": {testkit.MasterKey}}
	api.Do(request{Method: "POST", Path: "/users", Form: form}).JSON(201) // by another person
	for provider, token := range map[string]string{"facebook": p.Facebook.Token(ada.ID), "github": p.GitHub.Token(ada.ID), "google": p.Google.Token(ada.ID)} {
		response := api.Do(request{Method: "POST", Path: "/auth/" + provider, Form: url.Values{"access_token": {token}}})
		if response.Status != 409 || !strings.Contains(string(response.Body), "Reset that user's password") {
			t.Errorf("%s: %d %s", provider, response.Status, response.Body)
		}
	}
	list := request{Method: "GET", Path: "/auth/identities", As: api.SignIn(ada.Email, testkit.Password).Token}
	if count := api.Do(list).JSON(200)["count"]; count != 0.0 {
		t.Errorf("%v accounts are linked", count)
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	api, p := start(t)
	google := enter(t, api, "google", p.Google.Token(ada.ID), "")
	token := google.Token
	one := func(method, provider string) request {
		return request{Method: method, Path: "/auth/identities/" + provider, As: token}
	}
	all := request{Method: "GET", Path: "/auth/identities", As: token}
	created := `"createdAt":"` + store.At(api.Clock.Now()).String() + `"`
	api.Run(t, []testkit.Scenario{
		row("list", all, 200, []string{`{"rows":[{"provider":"google",` + created + `}],"count":1}`}, nil),
		row("the last way in", one("DELETE", "google"), 409, []string{"last way to sign in"}, nil),
		row("not linked", one("DELETE", "github"), 404, nil, nil),
		row("unknown", one("DELETE", "$gt"), 404, nil, nil),
		row("nobody", request{Method: "GET", Path: "/auth/identities"}, 401, nil, nil),
		row("nobody unlinks", request{Method: "DELETE", Path: "/auth/identities/google"}, 401, nil, nil),
		row("master key", request{Method: "GET", Path: "/auth/identities", As: testkit.MasterKey}, 401, nil, nil),
	})
	enter(t, api, "github", p.GitHub.Token(ada.ID), "")
	api.Run(t, []testkit.Scenario{
		row("both", all, 200, []string{`"provider":"github"`, `"provider":"google"`, `"count":2`}, []string{ada.ID, "subject", "epoch"}),
		row("unlink", one("DELETE", "google"), 204, nil, nil),
		row("again", one("DELETE", "google"), 404, nil, nil),
		row("the session goes on", all, 200, []string{`"count":1`}, []string{"google"}),
	})
	api.Do(request{Method: "DELETE", Path: "/users/me", As: token})
	if again := enter(t, api, "github", p.GitHub.Token(ada.ID), ""); again.User.ID == google.User.ID {
		t.Error("a deleted user has come back")
	}
}

func TestProviderUnavailable(t *testing.T) {
	t.Parallel()
	api, p := start(t)
	facebook, github, google := p.Facebook.Token(ada.ID), p.GitHub.Token(ada.ID), p.Google.Token(ada.ID)
	p.Facebook.Fail(providers.Down)
	p.GitHub.Fail(providers.Nonsense)
	p.Google.Fail(providers.Broken)
	for provider, token := range map[string]string{"facebook": facebook, "github": github, "google": google} {
		response := api.Do(request{Method: "POST", Path: "/auth/" + provider, Form: url.Values{"access_token": {token}}})
		if response.Status != 503 || !strings.Contains(string(response.Body), "The provider is unavailable or failed") {
			t.Errorf("%s: %d %s", provider, response.Status, response.Body)
		}
	}
	causes := strings.Join(api.Log.Lines(), "")
	for _, want := range []string{"EOF", "invalid character '<'", "status 500"} {
		if !strings.Contains(causes, want) {
			t.Errorf("the log does not say %s:\n%s", want, causes)
		}
	}
	for _, secret := range []string{facebook, github, google, "test-client-secret", "appsecret_proof="} {
		if strings.Contains(causes, secret) {
			t.Errorf("the log holds %s:\n%s", secret, causes)
		}
	}
}

func TestLimitOverHTTP(t *testing.T) {
	t.Parallel()
	api, p := start(t)
	bad := request{Method: "POST", Path: "/auth/github", Form: url.Values{"access_token": {"x"}}}
	for n := range 100 {
		response := api.Do(bad)
		if response.Status != 401 {
			t.Fatalf("%d: %d", n, response.Status)
		}
		if left := response.Header.Get("RateLimit"); n == 99 && left != `"provider-calls";r=200;t=900, "provider";r=0;t=900` {
			t.Errorf("RateLimit %q", left)
		}
	}
	good := request{Method: "POST", Path: "/auth/github", Form: url.Values{"access_token": {p.GitHub.Token(ada.ID)}}}
	response := api.Do(good)
	if response.Status != 429 || response.Header.Get("Retry-After") != "900" {
		t.Errorf("%d, %v", response.Status, response.Header)
	}
	good.Header = http.Header{"X-Forwarded-For": {"198.51.100.7"}}
	if status := api.Do(good).Status; status != 429 {
		t.Errorf("with a forged address: %d", status)
	}
	good.As = testkit.MasterKey
	if status := api.Do(good).Status; status != 201 {
		t.Errorf("a trusted server: %d", status)
	}
}

func TestParallelFirstSignInsOverHTTP(t *testing.T) {
	t.Parallel()
	api, p := start(t)
	tokens := p.Google.Token(ada.ID)
	responses := make(chan testkit.Response, 20)
	for range cap(responses) {
		go func() {
			responses <- api.Do(request{Method: "POST", Path: "/auth/google", Form: url.Values{"access_token": {tokens}}})
		}()
	}
	ids := make(map[string]bool)
	for range cap(responses) {
		response := <-responses
		var result signedIn
		if err := json.Unmarshal(response.Body, &result); err != nil || response.Status != 201 {
			t.Errorf("%d: %s", response.Status, response.Body)
		}
		ids[result.User.ID] = true
	}
	if len(ids) != 1 {
		t.Errorf("%d users", len(ids))
	}
}
