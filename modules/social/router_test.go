package social_test

import (
	"encoding/json"
	"maps"
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
	id := enter(t, api, fakes, names[0], "").User.ID
	for _, name := range names {
		proof := url.Values{"access_token": {fakes[name].Token(ada.ID)}}
		if !acceptsTokens(name) {
			proof = url.Values{"id_token": {fakes[name].(*providers.OpenID).IDToken(ada.ID)}}
		}
		for _, form := range []url.Values{code(fakes[name], ada.ID), proof} {
			response := api.Do(request{Method: "POST", Path: "/auth/" + name, Form: form})
			var result signedIn
			if err := json.Unmarshal(response.Body, &result); err != nil || response.Status != 201 || response.Header.Get("Cache-Control") != "no-store" {
				t.Fatalf("%s: %d %v %s", name, response.Status, response.Header, response.Body)
			}
			if result.User.ID != id || result.User.Email != ada.Email || result.RefreshToken == "" || result.ExpiresAt == "" {
				t.Errorf("%s: %s", name, response.Body)
			}
		}
	}
}

// TestBadProof sends invalid proofs, which count toward the rate limits unless a trusted server sends them.
func TestBadProof(t *testing.T) {
	t.Parallel()
	api, _, names := start(t)
	name := withTokens(t, names)
	post := func(as, provider string, body any) request {
		return request{Method: "POST", Path: "/auth/" + provider, As: as, JSON: body}
	}
	type body = map[string]any
	for as, want := range map[string]string{"": `"provider-calls";r=299;t=900, "provider";r=99;t=900`, testkit.MasterKey: ""} {
		if got := api.Do(post(as, name, body{"access_token": "x"})).Header.Get("RateLimit"); got != want {
			t.Errorf("RateLimit %q, want %q", got, want)
		}
	}
	api.Run(t, []testkit.Scenario{
		row("none", post("", name, body{}), 400, []string{`"param":"access_token","code":"required"`}, nil),
		row("no body", request{Method: "POST", Path: "/auth/" + name}, 400, []string{`"param":"access_token","code":"required"`}, nil),
		row("characters", post("", name, body{"access_token": "x\r\nHost: evil", "code": "ä"}), 400, []string{`"param":"access_token","code":"format"`, `"param":"code","code":"format"`}, []string{"evil"}),
		row("too long", post("", name, body{"id_token": strings.Repeat("x", 8193)}), 400, []string{`"param":"id_token","code":"max_length"`}, nil),
		row("as long as may be", post("", name, body{"access_token": strings.Repeat("x", 4096)}), 401, []string{"rejected the token or code"}, nil),
		row("no such provider", post("", "twitter", body{"access_token": "x"}), 404, []string{"not_found"}, []string{"twitter"}),
	})
}

// TestWhoseToken sends the user's token in the header or the query, and the provider's token in the body.
func TestWhoseToken(t *testing.T) {
	t.Parallel()
	api, fakes, names := start(t)
	name := withTokens(t, names)
	me := api.SignUp("user")
	body := url.Values{"access_token": {fakes[name].Token(eve.ID)}}
	mine := []string{`"id":"` + me.ID, me.Email}
	api.Run(t, []testkit.Scenario{
		row("a bad token in the header", request{Method: "POST", Path: "/auth/" + name, As: "nonsense", Form: body}, 401, []string{"access token is invalid"}, nil),
		row("a user token in the body is not a proof", request{Method: "POST", Path: "/auth/" + name, Form: url.Values{"access_token": {me.Token}}}, 401, []string{"Send your own token in the Authorization header"}, nil),
		row("the master key is not a proof", request{Method: "POST", Path: "/auth/" + name, Form: url.Values{"access_token": {testkit.MasterKey}}}, 401, []string{"Send your own token in the Authorization header"}, nil),
		row("header and query differ", request{Method: "POST", Path: "/auth/" + name + "?access_token=x", As: me.Token, Form: body}, 400, []string{`"in":"header","param":"Authorization","code":"conflict"`}, nil),
		row("header", request{Method: "POST", Path: "/auth/" + name, As: me.Token, Form: body}, 201, mine, nil),
		row("query, as JSON", request{Method: "POST", Path: "/auth/" + name + "?access_token=" + me.Token, JSON: map[string]string{"access_token": fakes[name].Token(eve.ID)}}, 201, mine, nil),
	})
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	api, fakes, names := start(t)
	name := names[0]
	token := enter(t, api, fakes, name, "").Token
	unlink := func(provider string) request {
		return request{Method: "DELETE", Path: "/auth/identities/" + provider, As: token}
	}
	all := request{Method: "GET", Path: "/auth/identities", As: token}
	created := `"createdAt":"` + store.At(api.Clock.Now()).String() + `"`
	api.Run(t, []testkit.Scenario{
		row("list", all, 200, []string{`{"rows":[{"provider":"` + name + `",` + created + `}],"count":1}`}, nil),
		row("the last way in", unlink(name), 409, []string{"last way to sign in"}, nil),
		row("unknown", unlink("$gt"), 404, nil, nil),
	})
	if len(names) > 1 {
		enter(t, api, fakes, names[1], "")
		api.Run(t, []testkit.Scenario{
			row("unlink", unlink(name), 204, nil, nil),
			row("the session continues", all, 200, []string{`"provider":"` + names[1] + `"`, `"count":1`}, []string{name, ada.ID, "subject", "epoch"}),
		})
	}
}

// TestAdmin lists and unlinks the account of a user as an admin, also if it is the only sign-in method. Admins cannot remove their own
// last one.
func TestAdmin(t *testing.T) {
	t.Parallel()
	api, fakes, names := start(t, testkit.Env("SECURITY_NOTICES", "true"))
	name, admin := names[0], api.SignUp("admin")
	user := enter(t, api, fakes, name, "").User.ID
	path := "/users/" + user + "/identities"
	call := func(method, path string) testkit.Response {
		return api.Do(request{Method: method, Path: path, As: admin.Token})
	}
	call("GET", path).Want(200, `"count":1`)
	call("GET", "/users/"+store.NewID().Hex()+"/identities").Want(404)
	call("DELETE", path+"/other").Want(404)
	call("DELETE", path+"/"+name).Want(204)
	if message := api.Email.Next(t); !strings.Contains(message.Text, "An administrator unlinked the account at ") {
		t.Errorf("%+v", message)
	}
	call("DELETE", path+"/"+name).Want(404)
	call("GET", path).Want(200, `"count":0`)
	enter(t, api, fakes, name, admin.Token)
	api.Email.Next(t) // of the link
	call("DELETE", "/users/"+admin.ID+"/identities/"+name).Want(204)
	if message := api.Email.Next(t); !strings.Contains(message.Text, "was unlinked from") {
		t.Errorf("%+v", message)
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
