package social_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/providers"
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

// start starts a service with fakes of the providers of this project. Ada and Eve have accounts at each provider. names are the
// providers that verify email addresses.
func start(t *testing.T, set ...testkit.Option) (api *testkit.API, fakes map[string]providers.Fake, names []string) {
	t.Helper()
	api = apitest.Start(t, append(set, func(c *testkit.Config) { fakes = c.StartProviders(t).All() })...)
	for name, fake := range fakes {
		if slices.Contains(api.Handler.Routes(), "POST /auth/"+name) && name != "microsoft" {
			names = append(names, name)
		}
		fake.AddUser(ada)
		fake.AddUser(eve)
	}
	slices.Sort(names)
	return api, fakes, names
}

// signedIn is the response to a sign-in.
type signedIn struct {
	Token, RefreshToken, ExpiresAt string
	User                           struct{ ID, Email, Name string }
}

// withTokens returns the first provider that accepts access tokens. It skips the test if this project has no such provider.
func withTokens(t *testing.T, names []string) string {
	t.Helper()
	i := slices.IndexFunc(names, acceptsTokens)
	if i < 0 {
		t.Skip("this project has no such provider")
	}
	return names[i]
}

func acceptsTokens(name string) bool {
	return slices.Contains([]string{"facebook", "github", "google"}, name)
}

// code returns a proof of an account at a provider.
func code(fake providers.Fake, user string) url.Values {
	return url.Values{"code": {fake.Code(user, callback, providers.Challenge(verifier))}, "redirect_uri": {callback}, "code_verifier": {verifier}}
}

// enter signs in as Ada and returns the response, which must be 201.
func enter(t *testing.T, api *testkit.API, fakes map[string]providers.Fake, provider, as string) signedIn {
	t.Helper()
	response := api.Do(request{Method: "POST", Path: "/auth/" + provider, As: as, Form: code(fakes[provider], ada.ID)})
	var result signedIn
	if err := json.Unmarshal(response.Body, &result); err != nil || response.Status != 201 {
		t.Fatalf("%d: %s", response.Status, response.Body)
	}
	return result
}

// TestNotices signs up, links a second provider and unlinks it. The user receives a notice of the link and of the unlinking.
func TestNotices(t *testing.T) {
	t.Parallel()
	api, fakes, names := start(t, testkit.Env("SECURITY_NOTICES", "true"))
	if len(names) < 2 {
		t.Skip("this project has one provider")
	}
	received := func(event, provider string) {
		t.Helper()
		text := api.Email.Next(t).Text
		if !strings.Contains(text, event) || !strings.Contains(strings.ToLower(text), "at "+provider) {
			t.Errorf("%s, want %s, %s", text, event, provider)
		}
	}
	first := enter(t, api, fakes, names[0], "") // creates the account: no email
	enter(t, api, fakes, names[0], "")
	enter(t, api, fakes, names[1], "") // linked by the verified address
	received("was linked", names[1])
	unlink := request{Method: "DELETE", Path: "/auth/identities/" + names[1], As: first.Token}
	if response := api.Do(unlink); response.Status != 204 {
		t.Fatalf("%d: %s", response.Status, response.Body)
	}
	received("was unlinked", names[1])
	enter(t, api, fakes, names[1], first.Token) // linked by the token
	received("was linked", names[1])
	api.Finish()
	api.Email.None(t)
}

// TestEveryProof signs one person in with a token and with a code of each provider.
func TestEveryProof(t *testing.T) {
	t.Parallel()
	api, fakes, names := start(t)
	var id string
	for _, name := range names {
		proofs := map[string]url.Values{"code": code(fakes[name], ada.ID)}
		if acceptsTokens(name) {
			proofs["token"] = url.Values{"access_token": {fakes[name].Token(ada.ID)}}
		} else {
			proofs["ID token"] = url.Values{"id_token": {fakes[name].(*providers.OpenID).IDToken(ada.ID)}}
		}
		for what, form := range proofs {
			path, asJSON := "/auth/"+name, make(map[string]string)
			for name, values := range form {
				asJSON[name] = values[0]
			}
			response := api.Do(request{Method: "POST", Path: path, Form: form})
			var result signedIn
			if err := json.Unmarshal(response.Body, &result); err != nil || response.Status != 201 {
				t.Fatalf("%s, %s: %d %s", name, what, response.Status, response.Body)
			}
			id = cmp.Or(id, result.User.ID)
			if result.User.ID != id || result.User.Email != ada.Email || result.RefreshToken == "" || result.ExpiresAt == "" {
				t.Errorf("%s, %s: %s", name, what, response.Body)
			}
			if cache := response.Header.Get("Cache-Control"); cache != "no-store" {
				t.Errorf("%s, %s: Cache-Control %q", name, what, cache)
			}
			want := 401 // already used
			if form.Has("access_token") {
				want = 201
			}
			api.Run(t, []testkit.Scenario{
				row(name+", "+what+": the token is valid", request{Method: "GET", Path: "/users/me", As: result.Token}, 200, []string{id, ada.Email}, []string{ada.ID}),
				row(name+", "+what+": as JSON", request{Method: "POST", Path: path, JSON: asJSON}, want, nil, []string{ada.ID}),
			})
			for _, line := range api.Log.Lines() {
				for _, values := range form {
					if strings.Contains(line, values[0]) {
						t.Errorf("%s, %s: the log has it: %s", name, what, line)
					}
				}
			}
		}
	}
}

func TestBadProof(t *testing.T) {
	t.Parallel()
	api, fakes, names := start(t)
	name := withTokens(t, names)
	post := func(provider string, body any) request {
		return request{Method: "POST", Path: "/auth/" + provider, JSON: body}
	}
	type body = map[string]any
	api.Run(t, []testkit.Scenario{
		row("none", post(name, body{}), 400, []string{`"param":"access_token","code":"required"`}, nil),
		row("no body", request{Method: "POST", Path: "/auth/" + name}, 400, []string{`"param":"access_token","code":"required"`}, nil),
		row("empty", post(name, body{"access_token": " ", "code": nil}), 400, []string{`"code":"required"`}, nil),
		row("two", post(name, body{"access_token": "x", "id_token": "y"}), 400, []string{`"param":"access_token","code":"conflict"`, `"param":"id_token","code":"conflict"`}, nil),
		row("code alone", post(name, body{"code": "x"}), 400, []string{`"param":"redirect_uri","code":"required"`}, []string{"access_token"}),
		row("object", post(name, `{"access_token":{"$gt":""}}`), 400, []string{`"param":"access_token","code":"type"`}, nil),
		row("number", post(name, `{"code":5,"redirect_uri":["x"]}`), 400, []string{`"param":"code","code":"type"`, `"param":"redirect_uri","code":"type"`}, nil),
		row("line break", post(name, body{"access_token": "x\r\nHost: evil"}), 400, []string{`"param":"access_token","code":"format"`}, []string{"evil"}),
		row("not ASCII", post(name, body{"code": "ä", "redirect_uri": callback}), 400, []string{`"param":"code","code":"format"`}, nil),
		row("too long", post(name, body{
			"access_token": strings.Repeat("x", 4097), "id_token": strings.Repeat("x", 8193),
			"redirect_uri": strings.Repeat("x", 2049), "code_verifier": strings.Repeat("x", 129),
		}), 400, []string{`"param":"access_token","code":"max_length"`, `"param":"id_token","code":"max_length"`, `"param":"redirect_uri","code":"max_length"`, `"param":"code_verifier","code":"max_length"`}, nil),
		row("long code", post(name, body{"code": strings.Repeat("x", 2049)}), 400, []string{`"param":"code","code":"max_length"`}, nil),
		row("as long as may be", post(name, body{"access_token": strings.Repeat("x", 4096)}), 401, []string{"rejected the token or code"}, nil),
		row("short verifier", post(name, body{"code": "x", "redirect_uri": callback, "code_verifier": strings.Repeat("x", 42)}), 400, []string{`"param":"code_verifier","code":"min_length"`}, nil),
		row("twice", request{Method: "POST", Path: "/auth/" + name, Form: url.Values{"access_token": {"x", "y"}}}, 400, []string{`"param":"access_token","code":"type"`}, nil),
		row("malformed", post(name, `{`), 400, []string{"malformed_body"}, nil),
		row("another type", request{Method: "POST", Path: "/auth/" + name, Body: "x", ContentType: "text/plain"}, 415, nil, nil),

		row("nonsense", post(name, body{"access_token": "nonsense"}), 401, []string{"rejected the token or code"}, []string{"nonsense"}),
		row("another app's", post(name, body{"access_token": fakes[name].ForeignToken(ada.ID)}), 401, []string{"rejected the token or code"}, nil),
		row("master key", post(name, body{"access_token": testkit.MasterKey}), 401, []string{"Send your own token in the Authorization header"}, nil),
		row("proof in the query", request{Method: "POST", Path: "/auth/" + name + "?code=x&redirect_uri=y"}, 400, []string{`"param":"code","code":"unknown"`}, nil),

		row("no such provider", post("twitter", body{"access_token": "x"}), 404, []string{"not_found"}, []string{"twitter"}),
		row("a route's name", post("identities", body{}), 405, nil, nil),
	})
}

func TestNotConfigured(t *testing.T) {
	t.Parallel()
	_, _, names := start(t)
	api := apitest.Start(t)
	for _, name := range names {
		if status := api.Do(request{Method: "POST", Path: "/auth/" + name, Form: url.Values{"access_token": {"x"}}}).Status; status != 404 {
			t.Errorf("%s: %d", name, status)
		}
	}
	user := api.SignUp("user")
	api.Run(t, []testkit.Scenario{
		row("list", request{Method: "GET", Path: "/auth/identities", As: user.Token}, 200, []string{`{"rows":[],"count":0}`}, nil),
		row("unlink", request{Method: "DELETE", Path: "/auth/identities/" + names[0], As: user.Token}, 404, nil, nil),
	})
}

// TestWhoseToken sends the user's token in the header or the query, and the provider's token in the body.
func TestWhoseToken(t *testing.T) {
	t.Parallel()
	api, fakes, names := start(t)
	name := withTokens(t, names)
	me, other := api.SignUp("user"), api.SignUp("user")
	body := url.Values{"access_token": {fakes[name].Token(eve.ID)}}
	mine := []string{`"id":"` + me.ID, me.Email}
	api.Run(t, []testkit.Scenario{
		row("a bad token in the header", request{Method: "POST", Path: "/auth/" + name, As: "nonsense", Form: body}, 401, []string{"access token is invalid"}, nil),
		row("the master key links nothing", request{Method: "POST", Path: "/auth/" + name, As: testkit.MasterKey, Form: body}, 409, []string{"links the account"}, nil),
		row("a user token in the body is not a proof", request{Method: "POST", Path: "/auth/" + name, Form: url.Values{"access_token": {me.Token}}}, 401, []string{"Send your own token in the Authorization header"}, nil),
		row("header and query differ", request{Method: "POST", Path: "/auth/" + name + "?access_token=" + other.Token, As: me.Token, Form: body}, 400, []string{`"in":"header","param":"access_token","code":"conflict"`}, nil),
		row("header", request{Method: "POST", Path: "/auth/" + name, As: me.Token, Form: body}, 201, mine, nil),
		row("query", request{Method: "POST", Path: "/auth/" + name + "?access_token=" + me.Token, Form: body}, 201, mine, nil),
		row("linked", request{Method: "POST", Path: "/auth/" + name, Form: body}, 201, mine, nil),
		row("linked, as JSON", request{Method: "POST", Path: "/auth/" + name, JSON: map[string]string{"access_token": fakes[name].Token(eve.ID)}}, 201, mine, nil),
		row("to another user", request{Method: "POST", Path: "/auth/" + name, As: other.Token, Form: body}, 409, []string{"linked to another user"}, []string{me.ID, me.Email}),
		row("another account", request{Method: "POST", Path: "/auth/" + name, As: me.Token, Form: url.Values{"access_token": {fakes[name].Token(ada.ID)}}}, 409, []string{"Another account of this provider"}, nil),
		row("email, name and picture stay", request{Method: "GET", Path: "/users/me", As: me.Token}, 200, []string{me.Email}, []string{eve.Email, "avatars"}),
	})
}

func TestTakeoverOverHTTP(t *testing.T) {
	t.Parallel()
	api, fakes, names := start(t)
	form := url.Values{"email": {ada.Email}, "password": {testkit.Password}, "access_token": {testkit.MasterKey}}
	api.Do(request{Method: "POST", Path: "/users", Form: form}).JSON(201) // by another person
	for _, name := range names {
		response := api.Do(request{Method: "POST", Path: "/auth/" + name, Form: code(fakes[name], ada.ID)})
		if response.Status != 409 || !strings.Contains(string(response.Body), "Reset that user's password") {
			t.Errorf("%s: %d %s", name, response.Status, response.Body)
		}
	}
	list := request{Method: "GET", Path: "/auth/identities", As: api.SignIn(ada.Email, testkit.Password).Token}
	if count := api.Do(list).JSON(200)["count"]; count != 0.0 {
		t.Errorf("%v accounts are linked", count)
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	api, fakes, names := start(t)
	name := names[0]
	first := enter(t, api, fakes, name, "")
	token := first.Token
	one := func(method, provider string) request {
		return request{Method: method, Path: "/auth/identities/" + provider, As: token}
	}
	all := request{Method: "GET", Path: "/auth/identities", As: token}
	created := `"createdAt":"` + store.At(api.Clock.Now()).String() + `"`
	api.Run(t, []testkit.Scenario{
		row("list", all, 200, []string{`{"rows":[{"provider":"` + name + `",` + created + `}],"count":1}`}, nil),
		row("the last way in", one("DELETE", name), 409, []string{"last way to sign in"}, nil),
		row("unknown", one("DELETE", "$gt"), 404, nil, nil),
		row("nobody", request{Method: "GET", Path: "/auth/identities"}, 401, nil, nil),
		row("nobody unlinks", request{Method: "DELETE", Path: "/auth/identities/" + name}, 401, nil, nil),
		row("master key", request{Method: "GET", Path: "/auth/identities", As: testkit.MasterKey}, 401, nil, nil),
	})
	for _, second := range names[1:] {
		enter(t, api, fakes, second, "")
		api.Run(t, []testkit.Scenario{
			row(second, all, 200, []string{`"provider":"` + name + `"`, `"provider":"` + second + `"`, `"count":2`}, []string{ada.ID, "subject", "epoch"}),
			row("unlink "+second, one("DELETE", second), 204, nil, nil),
			row("again", one("DELETE", second), 404, nil, nil),
			row("the session goes on", all, 200, []string{`"count":1`}, []string{second}),
		})
	}
	api.Do(request{Method: "DELETE", Path: "/users/me", As: token})
	if again := enter(t, api, fakes, name, ""); again.User.ID == first.User.ID {
		t.Error("a deleted user has come back")
	}
}

func TestProviderUnavailable(t *testing.T) {
	t.Parallel()
	api, fakes, names := start(t)
	name := withTokens(t, names)
	token := fakes[name].Token(ada.ID)
	for failure, cause := range map[providers.Failure]string{providers.Down: "EOF", providers.Nonsense: "invalid character '<'", providers.Broken: "status 500"} {
		fakes[name].Fail(failure)
		api.Clock.Advance(time.Minute) // a failed discovery is not repeated immediately
		response := api.Do(request{Method: "POST", Path: "/auth/" + name, Form: url.Values{"access_token": {token}}})
		if response.Status != 503 || !strings.Contains(string(response.Body), "The provider is unavailable or failed") {
			t.Errorf("%s: %d %s", cause, response.Status, response.Body)
		}
		if causes := strings.Join(api.Log.Lines(), ""); !strings.Contains(causes, cause) {
			t.Errorf("the log does not have %s:\n%s", cause, causes)
		}
	}
	for _, line := range api.Log.Lines() {
		for _, secret := range []string{token, "test-client-secret", "appsecret_proof="} {
			if strings.Contains(line, secret) {
				t.Errorf("the log has %s: %s", secret, line)
			}
		}
	}
}

func TestLimitOverHTTP(t *testing.T) {
	t.Parallel()
	api, fakes, names := start(t)
	name := withTokens(t, names)
	bad := request{Method: "POST", Path: "/auth/" + name, Form: url.Values{"access_token": {"x"}}}
	for n := range 100 {
		response := api.Do(bad)
		if response.Status != 401 {
			t.Fatalf("%d: %d", n, response.Status)
		}
		if left := response.Header.Get("RateLimit"); n == 99 && left != `"provider-calls";r=200;t=900, "provider";r=0;t=900` {
			t.Errorf("RateLimit %q", left)
		}
	}
	good := request{Method: "POST", Path: "/auth/" + name, Form: url.Values{"access_token": {fakes[name].Token(ada.ID)}}}
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
	api, fakes, names := start(t)
	name := names[0]
	responses := make(chan testkit.Response, 20)
	for range cap(responses) {
		go func() {
			responses <- api.Do(request{Method: "POST", Path: "/auth/" + name, Form: code(fakes[name], ada.ID)})
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

// TestIDTokenOnce accepts an ID token once, on two instances and however it is encoded. A sign-in that ends with a conflict does
// not use the ID token up: a user can send it again to link the account.
func TestIDTokenOnce(t *testing.T) {
	t.Parallel()
	var env map[string]string
	api, fakes, _ := start(t, func(c *testkit.Config) { env = c.Env })
	okta := fakes["okta"].(*providers.OpenID)
	send := func(api *testkit.API, as, token string) testkit.Response {
		return api.Do(request{Method: "POST", Path: "/auth/okta", As: as, Form: url.Values{"id_token": {token}}})
	}
	token := okta.IDToken(ada.ID)
	instances := []*testkit.API{api, api.Instance(func(c *testkit.Config) { maps.Copy(c.Env, env) })}
	var all sync.WaitGroup
	var accepted atomic.Int64
	for i := range 8 {
		all.Go(func() {
			switch r := send(instances[i%2], "", token); r.Status {
			case 201:
				accepted.Add(1)
			case 401:
			default:
				t.Errorf("%d: %s", r.Status, r.Body)
			}
		})
	}
	all.Wait()
	if n := accepted.Load(); n != 1 {
		t.Errorf("an ID token was accepted %d times", n)
	}
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(token) - 1 // the last 4 bits of the encoded signature have no meaning
	other := token[:last] + string(digits[strings.IndexByte(digits, token[last])^1])
	if r := send(api, "", other); r.Status != 401 {
		t.Errorf("with other unused bits: %d %s", r.Status, r.Body)
	}

	bob := api.SignUp("user") // has not verified the address
	token = okta.IDToken(okta.AddUser(providers.User{Email: bob.Email, EmailVerified: true}).ID)
	for i, want := range []int{409, 409, 201, 401} {
		as := ""
		if i >= 2 {
			as = bob.Token
		}
		if r := send(api, as, token); r.Status != want {
			t.Errorf("request %d: %d, want %d: %s", i, r.Status, want, r.Body)
		}
	}
	used := store.Open[store.Meta](api.DB, store.Spec{Name: "id-tokens"})
	for _, want := range []int64{2, 0} {
		if n, err := used.Count(t.Context(), nil); n != want || err != nil {
			t.Errorf("%d tokens are stored, want %d, %v", n, want, err)
		}
		api.Clock.Advance(2 * time.Hour)
		api.RunJobs()
	}
}

// TestProviders lists the configured providers, without a provider that is unavailable.
func TestProviders(t *testing.T) {
	t.Parallel()
	api, fakes, _ := start(t)
	fakes["okta"].Fail(providers.Down)
	list := request{Method: "GET", Path: "/auth/providers"}
	listed := func() map[string]map[string]any {
		t.Helper()
		rows := map[string]map[string]any{}
		response := api.Do(list).JSON(200)
		for _, row := range response["rows"].([]any) {
			rows[row.(map[string]any)["id"].(string)] = row.(map[string]any)
		}
		if response["count"] != float64(len(rows)) {
			t.Errorf("count %v of %v", response["count"], rows)
		}
		return rows
	}
	if rows := listed(); rows["okta"] != nil {
		t.Errorf("%v", rows)
	}
	response := api.Do(request{Method: "POST", Path: "/auth/okta", Form: code(fakes["okta"], ada.ID)})
	if response.Status != 503 {
		t.Errorf("sign-in with an unavailable provider: %d %s", response.Status, response.Body)
	}
	fakes["okta"].Fail(providers.None)
	api.Clock.Advance(time.Minute)
	rows := listed()
	for name := range fakes {
		mounted := slices.Contains(api.Handler.Routes(), "POST /auth/"+name)
		if row, ok := rows[name]; ok != mounted {
			t.Errorf("%s is listed: %t, mounted: %t", name, ok, mounted)
		} else if address, _ := row["authorizationUrl"].(string); ok && !strings.HasPrefix(address, "http://127.0.0.1:") {
			t.Errorf("%v", row)
		}
	}
	delete(rows["okta"], "authorizationUrl")
	want := map[string]any{"id": "okta", "name": "Okta", "type": "oidc", "clientId": "1234567890123456", "scopes": []any{"openid", "email", "profile"}, "pkce": true}
	if !reflect.DeepEqual(rows["okta"], want) {
		t.Errorf("%v", rows["okta"])
	}
	enter(t, api, fakes, "okta", "")
}

// TestNameOfTheClient sends a name with each sign-in, as clients of Apple do with the first sign-in. Only a new user without a
// name at the provider gets the name.
func TestNameOfTheClient(t *testing.T) {
	t.Parallel()
	api, fakes, _ := start(t)
	nameless := fakes["okta"].AddUser(providers.User{EmailVerified: true}).ID
	for _, test := range []struct {
		user, name string
		want       string
	}{{nameless, " Grace\x07 Hopper ", "Grace Hopper"}, {nameless, "Other", "Grace Hopper"}, {ada.ID, "Other", ada.Name}} {
		form := code(fakes["okta"], test.user)
		form.Set("name", test.name)
		if got := api.Do(request{Method: "POST", Path: "/auth/okta", Form: form}).JSON(201)["user"].(map[string]any)["name"]; got != test.want {
			t.Errorf("%q: %v", test.name, got)
		}
	}
}

// TestUnverifiedSignUp signs up with a provider that does not verify addresses, if the address is free. An existing user is never
// linked.
func TestUnverifiedSignUp(t *testing.T) {
	t.Parallel()
	api, fakes, _ := start(t)
	microsoft := fakes["microsoft"]
	if !slices.Contains(api.Handler.Routes(), "POST /auth/microsoft") {
		t.Skip("this project does not have Microsoft")
	}
	signIn := func(user string) testkit.Response {
		return api.Do(request{Method: "POST", Path: "/auth/microsoft", Form: code(microsoft, user)})
	}
	first := signIn(ada.ID).JSON(201)["user"].(map[string]any)
	if first["emailVerified"] != false || first["hasPassword"] != false || first["email"] != ada.Email || first["name"] != ada.Name {
		t.Errorf("%v", first)
	}
	if again := signIn(ada.ID).JSON(201)["user"].(map[string]any); again["id"] != first["id"] {
		t.Errorf("%v became %v", first, again)
	}
	if response := signIn(microsoft.AddUser(providers.User{Email: ada.Email}).ID); response.Status != 409 || !strings.Contains(string(response.Body), "is in use") {
		t.Errorf("another account with the address: %d %s", response.Status, response.Body)
	}
	if response := signIn(microsoft.AddUser(providers.User{NoEmail: true}).ID); response.Status != 409 {
		t.Errorf("no address: %d %s", response.Status, response.Body)
	}
	taken := api.SignUp("user")
	account := microsoft.AddUser(providers.User{Email: taken.Email, EmailVerified: true}).ID
	if response := signIn(account); response.Status != 409 {
		t.Errorf("a user's address: %d %s", response.Status, response.Body)
	}
	linked := request{Method: "POST", Path: "/auth/microsoft", As: taken.Token, Form: code(microsoft, account)}
	if status := api.Do(linked).Status; status != 201 {
		t.Errorf("linked by the user: %d", status)
	}
	if got := signIn(account).JSON(201)["user"].(map[string]any); got["id"] != taken.ID || got["emailVerified"] != false {
		t.Errorf("%v", got)
	}
}
