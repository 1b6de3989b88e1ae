package attack_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/authenticator"
	"example.com/ginseng/testkit/providers"
)

// The callers of the matrix, in the order of its columns.
const (
	anonymous = iota
	masterKey
	owner // the user, or the author of the record, in the path
	other
	admin
	deleted    // a deleted user, with a token from before
	demoted    // an admin who became a user, with a token from before
	stale      // an admin whose session was opened more than 10 minutes ago, and refreshed
	suspended  // a suspended user, with a token from before
	unverified // an admin and the owner, without a verified address at a service that requires one
	adminKey   // an API key of an admin, with all scopes
	ownerKey   // an API key of the owner, with the scopes of articles
)

type matrixRow struct{ route, body, statuses string }

// matrix has the status of each route for each caller, or - if there is none. The route can be followed by (public): a service that
// allows sign-up without the master key, or by (sign-in): one that allows only sign-in without it. The body is JSON, after the
// replacements of matrixCell.request. A status with * has a response with the owner's email address; no other response may have it.
var matrix = []matrixRow{
	//                                                            anonymous master owner other admin deleted demoted stale suspended unverified adminKey ownerKey
	{"GET /livez", "", "200 200 200 200 200 200 200 200 200 200 200 200"},
	{"GET /readyz", "", "200 200 200 200 200 200 200 200 200 200 200 200"},
	{"GET /openapi.json", "", "200 200 200 200 200 200 200 200 200 200 200 200"},
	{"GET /docs", "", "302 302 302 302 302 302 302 302 302 302 302 302"},
	{"GET /docs/*any", "", "200 200 200 200 200 200 200 200 200 200 200 200"},

	{"POST /users", `{"email":"{new}@example.com","password":"a long password","role":"admin"}`, "401 201 401 401 401 401 401 401 401 401 403 403"},
	{"POST /users (public)", `{"email":"{new}@example.com","password":"a long password","role":"admin"}`, "403 201 403 403 403 401 403 403 401 - 403 403"},
	{"POST /users (sign-in)", `{"email":"{new}@example.com","password":"a long password","role":"admin"}`, "401 201 401 401 401 401 401 401 401 - 403 403"},
	{"GET /users", "", "401 401 403 403 200* 401 403 200* 401 200* 403 403"},
	{"GET /users/me", "", "401 401 200* 200 200 401 200 200 401 200* 200 200*"},
	{"GET /users/:id", "", "200 200 200* 200 200* 401 200 200* 401 200* 403 403"},
	{"PUT /users/:id", `{"name":"N"}`, "401 401 200* 403 200* 401 403 200* 401 403 403 403"},
	{"PATCH /users/:id", `{"name":"N"}`, "401 401 200* 403 200* 401 403 200* 401 403 403 403"},
	{"PUT /users/:id", `{"suspended":true}`, "401 401 403 403 200* 401 403 403 401 403 403 403"},
	{"PATCH /users/:id", `{"role":"admin"}`, "401 401 403 403 200* 401 403 403 401 403 403 403"},
	{"PATCH /users/:id", `{"email":"{new}@example.com"}`, "401 401 400 403 200 401 403 403 401 403 403 403"},
	{"PUT /users/:id/password", `{"password":"another password"}`, "401 401 200* 403 403 401 403 403 403 200* 403 403"},
	{"GET /users/:id/sessions", "", "401 401 403 403 200 401 403 200 401 200 200 403"},
	{"DELETE /users/:id/sessions/:sessionId", "", "401 401 403 403 204 401 403 403 401 403 403 403"},
	{"DELETE /users/:id/sessions", "", "401 401 204 403 204 401 403 403 401 204 403 403"},
	{"DELETE /users/:id", "", "401 401 204 403 204 401 403 403 401 204 403 403"},
	{"PUT /users/:id/picture", "", "401 401 400 403 400 401 403 400 401 403 403 403"},
	{"GET /users/:id/picture", "", "404 404 404 404 404 401 404 404 401 404 403 403"},
	{"DELETE /users/:id/picture", "", "401 401 404 403 404 401 403 404 401 403 403 403"},

	{"POST /organizations", `{"name":"O"}`, "401 401 201 201 201 401 201 201 401 403 403 403"},
	{"GET /organizations", "", "401 401 200 200 200 401 200 200 401 200 403 403"},
	{"GET /organizations/:id", "", "401 401 200 404 200 401 404 200 401 200 403 403"},
	{"PATCH /organizations/:id", `{"name":"P"}`, "401 401 200 404 200 401 404 200 401 403 403 403"},
	{"DELETE /organizations/:id", "", "401 401 204 404 204 401 404 403 401 403 403 403"},
	{"GET /organizations/:id/members", "", "401 401 200 404 200 401 404 200 401 200 403 403"},
	{"PATCH /organizations/:id/members/:userId", `{"role":"owner"}`, "401 401 200 404 200 401 404 200 401 403 403 403"},
	{"DELETE /organizations/:id/members/:userId", "", "401 401 409 404 409 401 404 409 401 403 403 403"},
	{"POST /organizations/:id/invitations", `{"email":"{new}@example.com","role":"member","link":"` + testkit.LinkOrigin + `/{token}"}`, "401 401 202 404 202 401 404 202 401 403 403 403"},
	{"GET /organizations/:id/invitations", "", "401 401 200 404 200 401 404 200 401 200 403 403"},
	{"DELETE /organizations/:id/invitations/:invitationId", "", "401 401 204 404 204 401 404 204 401 403 403 403"},
	{"GET /organization-invitations/:token", "", "200 200 200 200 200 401 200 200 401 200 403 403"},
	{"PUT /organization-invitations/:token", "", "401 401 403 403 403 401 403 403 401 403 403 403"}, // no address is verified

	{"POST /auth", "", "401 201* 401 401 401 401 401 401 401 401 403 403"},
	{"POST /auth (public)", "", "201* 201* 201* 201 201 401 201 201 401 - 403 403"},
	{"POST /auth (sign-in)", "", "201* 201* 201* 201 201 401 201 201 401 - 403 403"},
	{"POST /auth/refresh", `{"refresh_token":"{refresh}"}`, "201* 201* 201* 201* 201* 201* 201* 201* 201* 201* 201* 201*"},
	{"GET /auth/sessions", "", "401 401 200 200 200 401 200 200 401 200 403 403"},
	{"DELETE /auth", "", "401 401 204 204 204 401 204 204 401 204 403 403"},
	{"DELETE /auth/sessions", "", "401 401 204 204 204 401 204 204 401 204 403 403"},
	{"DELETE /auth/sessions/:id", "", "401 401 204 404 404 401 404 404 401 204 403 403"},

	{"POST /auth/apple", `{"id_token":"{apple}"}`, "201 201 201* 201 201 401 201 403 401 403 403 403"},
	{"POST /auth/facebook", `{"access_token":"{facebook}"}`, "201 201 201* 201 201 401 201 403 401 403 403 403"},
	{"POST /auth/github", `{"access_token":"{github}"}`, "201 201 201* 201 201 401 201 403 401 403 403 403"},
	{"POST /auth/gitlab", `{"id_token":"{gitlab}"}`, "201 201 201* 201 201 401 201 403 401 403 403 403"},
	{"POST /auth/google", `{"access_token":"{google}"}`, "201 201 201* 201 201 401 201 403 401 403 403 403"},
	{"POST /auth/microsoft", `{"id_token":"{microsoft}"}`, "201 201 201* 201 201 401 201 403 401 403 403 403"},
	{"POST /auth/okta", `{"id_token":"{okta}"}`, "201 201 201* 201 201 401 201 403 401 403 403 403"},
	{"GET /auth/providers", "", "200 200 200 200 200 401 200 200 401 200 403 403"},
	{"GET /auth/identities", "", "401 401 200 200 200 401 200 200 401 200 403 403"},
	{"GET /users/:id/identities", "", "401 401 403 403 200 401 403 200 401 200 200 403"},
	{"DELETE /users/:id/identities/:provider", "", "401 401 403 403 204 401 403 403 401 403 403 403"},
	{"DELETE /auth/identities/:provider", "", "401 401 204 404 404 401 404 404 401 403 403 403"},

	{"POST /password-resets", `{"email":"{email}","link":"` + testkit.LinkOrigin + `/{token}"}`, "401 202 401 401 401 401 401 401 401 401 403 403"},
	{"POST /password-resets (public)", `{"email":"{email}","link":"` + testkit.LinkOrigin + `/{token}"}`, "202 202 202 202 202 401 202 202 401 - 403 403"},
	{"POST /password-resets (sign-in)", `{"email":"{email}","link":"` + testkit.LinkOrigin + `/{token}"}`, "202 202 202 202 202 401 202 202 401 - 403 403"},
	{"GET /password-resets/:token", "", "200 200 200 200 200 401 200 200 401 200 403 403"},
	{"PUT /password-resets/:token", `{"password":"another password"}`, "200* 200* 200* 200* 200* 401 200* 200* 401 200* 403 403"},

	{"GET /users/me/two-factor", "", "401 401 200 200 200 401 200 200 401 200 403 403"},
	{"POST /users/me/two-factor", "", "401 401 201* 201 201 401 201 201 403 201* 403 403"},
	{"PUT /users/me/two-factor", `{"code":"123456"}`, "401 401 409 409 409 401 409 409 401 409 403 403"},
	{"DELETE /users/me/two-factor", `{"code":"123456"}`, "401 401 404 404 404 401 404 404 403 404 403 403"},
	{"GET /users/:id/two-factor", "", "401 401 403 403 200 401 403 200 401 200 200 403"},
	{"DELETE /users/:id/two-factor", "", "401 401 403 403 404 401 403 403 401 403 403 403"},
	{"POST /auth/second-factor", `{"challenge":"x","code":"123456"}`, "401 401 401 401 401 401 401 401 401 401 403 403"},

	{"POST /users/me/passkeys/options", "", "401 401 200* 200 200 401 200 403 401 403 403 403"},
	{"POST /users/me/passkeys", `{"challenge":"x","credential":{passkey}}`, "401 401 400 400 400 401 400 400 401 403 403 403"},
	{"GET /users/me/passkeys", "", "401 401 200 200 200 401 200 200 401 200 403 403"},
	{"GET /users/me/passkeys/:id", "", "401 401 200 404 404 401 404 404 401 200 403 403"},
	{"PATCH /users/me/passkeys/:id", `{"name":"N"}`, "401 401 200 404 404 401 404 403 401 403 403 403"},
	{"DELETE /users/me/passkeys/:id", "", "401 401 204 404 404 401 404 403 401 403 403 403"},
	{"GET /users/:id/passkeys", "", "401 401 403 403 200 401 403 200 401 200 403 403"},
	{"DELETE /users/:id/passkeys/:passkeyId", "", "401 401 403 403 204 401 403 403 401 403 403 403"},
	{"POST /auth/passkey/options", "", "401 200 401 401 401 401 401 401 401 401 403 403"},
	{"POST /auth/passkey/options (public)", "", "200 200 200 200 200 401 200 200 401 - 403 403"},
	{"POST /auth/passkey/options (sign-in)", "", "200 200 200 200 200 401 200 200 401 - 403 403"},
	{"POST /auth/passkey", `{"challenge":"{passkeyChallenge}","credential":{passkey}}`, "201* 201* 201* 201* 201* 401 201* 201* 401 201* 403 403"},

	{"POST /users/me/api-keys", `{"name":"n","scopes":["articles:read"]}`, "401 401 201 201 201 401 201 201 403 403 403 403"},
	{"GET /users/:id/api-keys", "", "401 401 200 403 200 401 403 200 401 200 403 403"},
	{"GET /users/:id/api-keys/:keyId", "", "401 401 200 403 200 401 403 200 401 200 403 403"},
	{"DELETE /users/:id/api-keys/:keyId", "", "401 401 204 403 204 401 403 403 401 204 403 403"},
	{"POST /auth/email-code", `{"email":"{email}"}`, "401 202 401 401 401 401 401 401 401 401 403 403"},
	{"POST /auth/email-code (public)", `{"email":"{email}"}`, "202 202 202 202 202 401 202 202 401 - 403 403"},
	{"POST /auth/email-code (sign-in)", `{"email":"{email}"}`, "202 202 202 202 202 401 202 202 401 - 403 403"},
	{"PUT /auth/email-code", `{"challenge":"x","code":"123456"}`, "401 401 401 401 401 401 401 401 401 401 403 403"},

	{"POST /users/me/email-verification", `{"link":"` + testkit.LinkOrigin + `/{token}"}`, "401 401 202 202 202 401 202 202 401 202 403 403"},
	{"PUT /users/me/email", `{"email":"{new}@example.com","link":"` + testkit.LinkOrigin + `/{token}"}`, "401 401 202 202 202 401 202 202 403 202 403 403"},
	{"GET /email-verifications/:token", "", "200* 200* 200* 200* 200* 401 200* 200* 401 200* 403 403"},
	{"PUT /email-verifications/:token", `{}`, "200* 200* 200* 200* 200* 401 200* 200* 401 200* 403 403"},

	{"POST /articles", `{"title":"T"}`, "401 401 201 201 201 401 201 201 401 403 201 201"},
	{"GET /articles", "", "200 200 200 200 200 401 200 200 401 200 200 200"},
	{"GET /articles/changes", "", "200 200 200 200 200 401 200 200 401 200 200 200"},
	{"GET /articles/:id", "", "200 200 200 200 200 401 200 200 401 200 200 200"},
	{"PUT /articles/:id", `{"title":"T"}`, "401 401 200 403 200 401 403 200 401 403 200 200"},
	{"PATCH /articles/:id", `{"title":"T"}`, "401 401 200 403 200 401 403 200 401 403 200 200"},
	{"DELETE /articles/:id", "", "401 401 204 403 204 401 403 204 401 403 204 204"},

	{"GET /jobs", "", "401 401 403 403 200 401 403 200 401 200 200 403"},
	{"POST /jobs/:name/run", "", "401 401 403 403 202 401 403 202 401 403 202 403"},
	{"POST /emails/:id/retry", "", "401 401 403 403 202 401 403 202 401 403 202 403"},
	{"DELETE /emails/:id", "", "401 401 403 403 204 401 403 204 401 403 204 403"},
	{"GET /emails", "", "401 401 403 403 200 401 403 200 401 200 200 403"},
	{"GET /changes", "", "401 401 403 403 200 401 403 200 401 200 403 403"},
	{"POST /batch", `{"operations":[{"method":"POST","path":"/articles","body":{"title":"T"}}]}`, "401 401 200 200 200 401 200 200 401 403 200 200"},

	{"POST /mcp", `{"jsonrpc":"2.0","id":"1","method":"tools/list"}`, "401 401 200 200 200 401 200 200 401 200 200 200"},

	{"POST /webhooks", `{"url":"https://example.com/","events":["article.*"]}`, "401 401 403 403 201 401 403 403 401 403 403 403"},
	{"GET /webhooks", "", "401 401 403 403 200 401 403 200 401 200 403 403"},
	{"GET /webhooks/:id", "", "401 401 403 403 200 401 403 200 401 200 403 403"},
	{"PATCH /webhooks/:id", `{"enabled":false}`, "401 401 403 403 200 401 403 403 401 403 403 403"},
	{"POST /webhooks/:id/secret", "", "401 401 403 403 201 401 403 403 401 403 403 403"},
	{"POST /webhooks/:id/test", "", "401 401 403 403 200 401 403 200 401 403 403 403"},
	{"GET /webhooks/:id/deliveries", "", "401 401 403 403 200 401 403 200 401 200 403 403"},
	{"POST /webhooks/:id/deliveries/:deliveryId/retry", "", "401 401 403 403 404 401 403 404 401 403 403 403"},
	{"DELETE /webhooks/:id", "", "401 401 403 403 204 401 403 403 401 403 403 403"},

	{"POST /policies", `{"namespace":"shop","name":"{new}"}`, "401 401 403 403 201 401 403 201 401 403 403 403"},
	{"POST /policies/evaluate", `{"namespace":"shop"}`, "401 401 200 200 200 401 200 200 401 403 403 403"},
	{"GET /policies", "", "401 401 200 200 200 401 200 200 401 200 403 403"},
	{"GET /policies/:id", "", "401 401 200 200 200 401 200 200 401 200 403 403"},
	{"PUT /policies/:id", `{"name":"{new}"}`, "401 401 403 403 200 401 403 200 401 403 403 403"},
	{"PATCH /policies/:id", `{"name":"{new}"}`, "401 401 403 403 200 401 403 200 401 403 403 403"},
	{"DELETE /policies/:id", "", "401 401 403 403 204 401 403 204 401 403 403 403"},
}

// TestAuthorizationMatrix calls every route as every kind of caller. A new route must be added to the matrix.
func TestAuthorizationMatrix(t *testing.T) {
	t.Parallel()
	var env map[string]string // with the addresses of the providers
	w := newWorld(t, testkit.Env("PUBLIC_SIGNUP", "false"), func(c *testkit.Config) { env = c.Env })
	required := w.Instance(func(c *testkit.Config) { maps.Copy(c.Env, env) }, testkit.Env("SIGNUP_EMAIL", "required"))
	open, signIn := w.Instance(public), w.Instance(testkit.Env("PUBLIC_SIGNUP", "false"), testkit.Env("PUBLIC_SIGNIN", "true"))
	missing := w.Handler.Routes()
	for i, row := range matrix {
		route, isPublic := strings.CutSuffix(row.route, " (public)")
		route, isSignIn := strings.CutSuffix(route, " (sign-in)")
		missing = slices.DeleteFunc(missing, func(mounted string) bool { return mounted == route })
		if i%8 != 0 && testing.Short() {
			continue
		}
		for caller, want := range strings.Fields(row.statuses) {
			api := w.API
			switch {
			case want == "-":
				continue
			case isPublic:
				api = open
			case isSignIn:
				api = signIn
			case caller == unverified:
				api = required
			}
			status, sees := strings.CutSuffix(want, "*")
			c := newMatrixCell(t, w, caller)
			got := api.Do(c.request(route, row.body))
			if fmt.Sprint(got.Status) != status || bytes.Contains(got.Body, []byte(c.owner.Email)) != sees {
				t.Errorf("%s, column %d: status %d, want %s: %.300s", row.route, caller+1, got.Status, want, got.Body)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("the matrix does not have %s", strings.Join(missing, ", "))
	}
}

// basicRoutes have HTTP Basic.
var basicRoutes = []string{"PUT /users/:id/password", "POST /users/me/two-factor", "DELETE /users/me/two-factor", "PUT /users/me/email", "POST /users/me/api-keys"}

// matrixCell is a call of a route by a caller.
type matrixCell struct {
	*world
	t             *testing.T
	caller, owner testkit.Account
	authenticator authenticator.Authenticator // of the owner
}

func newMatrixCell(t *testing.T, w *world, column int) *matrixCell {
	c := &matrixCell{world: w, t: t, authenticator: authenticator.Authenticator{Origin: testkit.LinkOrigin}}
	switch column {
	case anonymous:
	case masterKey:
		c.caller.Token = testkit.MasterKey
	case admin, unverified, adminKey:
		c.caller = w.SignUp("admin")
	case deleted:
		c.caller = w.DeletedUser()
	case suspended:
		c.caller = w.SignUp("user")
		ok(t, w.Do(request{Method: "PATCH", Path: "/users/" + c.caller.ID, As: w.SignUp("admin").Token, Form: url.Values{"suspended": {"true"}}}))
	case demoted:
		c.caller = w.DemotedAdmin()
	case stale:
		c.caller = w.SignUp("admin")
		w.Clock.Advance(10*time.Minute + time.Second)
		c.caller.Token = ok(t, w.Do(refresh(c.caller.RefreshToken))).JSON(http.StatusCreated)["token"].(string)
	default:
		c.caller = w.SignUp("user")
	}
	if c.owner = c.caller; column != owner && column != unverified && column != ownerKey {
		c.owner = w.SignUp("user")
	}
	switch column {
	case adminKey:
		c.caller = c.keyOf(c.caller, "*:read,*:write,admin")
	case ownerKey:
		c.caller = c.keyOf(c.caller, "articles:read,articles:write")
	}
	return c
}

// keyOf returns a caller with an API key of the account.
func (c *matrixCell) keyOf(a testkit.Account, scopes string) testkit.Account {
	create := request{Method: "POST", Path: "/users/me/api-keys", As: a.Token, Form: url.Values{"name": {"n"}, "scopes": {scopes}}}
	return testkit.Account{Session: testkit.Session{Token: ok(c.t, c.Do(create)).JSON(http.StatusCreated)["key"].(string)}}
}

func (c *matrixCell) request(route, body string) request {
	method, pattern, _ := strings.Cut(route, " ")
	collection, param, _ := strings.Cut(pattern, "/:")
	r := request{Method: method, Path: collection, As: c.caller.Token}
	if param != "" {
		r.Path += "/" + c.record(collection)
	}
	if _, below, ok := strings.Cut(param, "/"); ok {
		below = strings.NewReplacer(":passkeyId", c.passkey(), ":userId", c.owner.ID).Replace(below)
		if invitations, ok := strings.CutSuffix(below, ":invitationId"); ok {
			below = invitations + c.invitation(strings.TrimPrefix(r.Path, "/organizations/"))
		}
		r.Path += "/" + below
	}
	r.Path = strings.TrimSuffix(r.Path, "*any")
	for _, below := range []struct{ parameter, collection string }{{"/:sessionId", "/auth/sessions"}, {"/:provider", "/auth/identities"}} {
		if before, has := strings.CutSuffix(r.Path, below.parameter); has {
			r.Path = before + "/" + c.record(below.collection)
		}
	}
	if strings.HasSuffix(r.Path, "/:keyId") {
		create := request{Method: "POST", Path: "/users/me/api-keys", Email: c.owner.Email, Password: testkit.Password, JSON: `{"name":"n","scopes":["*:read"]}`}
		r.Path = strings.Replace(r.Path, ":keyId", ok(c.t, c.Do(create)).JSON(201)["id"].(string), 1)
	}
	switch {
	case route == "POST /auth": // those without a password use the owner's
		r.Email, r.Password = cmp.Or(c.caller.Email, c.owner.Email), testkit.Password
		if r.As != "" {
			r.As, r.JSON = "", map[string]string{"access_token": r.As}
		}
	case slices.Contains(basicRoutes, route):
		r.Email, r.Password = c.caller.Email, testkit.Password
	}
	if body != "" {
		body = c.withPasskey(body)
		body = strings.NewReplacer("{new}", store.NewID().Hex(), "{email}", c.owner.Email, "{refresh}", c.owner.RefreshToken,
			"{facebook}", c.Facebook.Token(c.Facebook.AddUser(newPerson()).ID), "{github}", c.githubToken(),
			"{google}", c.Google.Token(c.Google.AddUser(newPerson()).ID)).Replace(body)
		for name, p := range map[string]*providers.OpenID{"{apple}": c.Apple, "{gitlab}": c.GitLab, "{microsoft}": c.Microsoft, "{okta}": c.Okta} {
			if before, after, found := strings.Cut(body, name); found { // creating an ID token is slow
				body = before + p.IDToken(p.AddUser(newPerson()).ID) + after
			}
		}
		r.JSON = body
	}
	return r
}

// newPerson returns a user of a provider with a new address.
func newPerson() providers.User {
	return providers.User{Email: store.NewID().Hex() + "@example.com", EmailVerified: true}
}

func (c *matrixCell) githubToken() string {
	return c.GitHub.Token(c.GitHub.AddUser(newPerson()).ID)
}

// record returns the last part of the path of a record of the owner.
func (c *matrixCell) record(collection string) string {
	create := func(as, body string) string {
		location := ok(c.t, c.Do(request{Method: "POST", Path: collection, As: as, JSON: body})).Header.Get("Location")
		return strings.TrimPrefix(location, collection+"/")
	}
	switch collection {
	case "/users":
		return c.owner.ID
	case "/articles":
		return create(c.owner.Token, `{"title":"T"}`)
	case "/webhooks":
		return create(c.SignUp("admin").Token, `{"url":"https://127.0.0.1.invalid/","events":["*"]}`)
	case "/policies":
		return create(c.SignUp("admin").Token, `{"namespace":"shop","name":"`+store.NewID().Hex()+`"}`)
	case "/organizations":
		return create(c.owner.Token, `{"name":"O"}`)
	case "/organization-invitations":
		c.invitation(c.record("/organizations"))
		return c.emailedToken(c.invited())
	case "/password-resets", "/email-verifications":
		ask := askReset(c.owner.Email)
		if collection == "/email-verifications" {
			ask = request{Method: "POST", Path: "/users/me/email-verification", As: c.owner.Token, Form: ask.Form}
			ask.Form.Del("access_token")
			ask.Form.Del("email")
		}
		ok(c.t, c.Do(ask))
		return c.emailedToken(c.owner.Email)
	case "/emails":
		row := email.Row{Meta: store.NewMeta(store.NewID(), store.At(c.Clock.Now())), Kind: "none", Status: email.Failed}
		testkit.Insert(c.API, "emails", row)
		return row.ID.Hex()
	case "/jobs":
		return "expired-responses"
	case "/users/me/passkeys":
		return c.passkey()
	case "/auth/sessions": // the session before this one
		rows := c.Do(request{Method: "GET", Path: collection, As: c.SignIn(c.owner.Email, testkit.Password).Token}).JSON(http.StatusOK)["rows"].([]any)
		return rows[1].(map[string]any)["id"].(string)
	case "/auth/identities":
		ok(c.t, c.Do(enter("github", c.owner.Token, "access_token", c.githubToken())))
	}
	return "github"
}

// emailedToken returns the token in the next email to the address.
func (c *matrixCell) emailedToken(to string) string {
	for {
		if message := c.Email.Next(c.t); message.To == to { // not of another cell
			return tokenIn(c.t, message)
		}
	}
}

// invited returns the address that the owner of an organization invites.
func (c *matrixCell) invited() string { return "invited-" + c.owner.Email }

// invitation invites to an organization of the owner, and returns the ID of the invitation.
func (c *matrixCell) invitation(organization string) string {
	path := "/organizations/" + organization + "/invitations"
	in := map[string]string{"email": c.invited(), "role": "member", "link": testkit.LinkOrigin + "/{token}"}
	ok(c.t, c.Do(request{Method: "POST", Path: path, As: c.owner.Token, JSON: in}))
	rows := ok(c.t, c.Do(request{Method: "GET", Path: path, As: c.owner.Token})).JSON(http.StatusOK)["rows"].([]any)
	return rows[0].(map[string]any)["id"].(string)
}

// passkey registers a passkey of the owner with the authenticator of the cell, if it has none, and returns its ID.
func (c *matrixCell) passkey() string {
	options := ok(c.t, c.Do(request{Method: "POST", Path: "/users/me/passkeys/options", As: c.owner.Token})).JSON(http.StatusOK)
	credential, err := c.authenticator.Create(options["publicKey"])
	if err != nil {
		c.t.Fatal(err)
	}
	in := map[string]any{"challenge": options["challenge"], "credential": credential}
	return ok(c.t, c.Do(request{Method: "POST", Path: "/users/me/passkeys", As: c.owner.Token, JSON: in})).JSON(http.StatusCreated)["id"].(string)
}

// withPasskey replaces {passkey} and {passkeyChallenge} with those of a sign-in of the owner.
func (c *matrixCell) withPasskey(body string) string {
	if !strings.Contains(body, "{passkey}") {
		return body
	}
	c.passkey()
	options := ok(c.t, c.Do(request{Method: "POST", Path: "/auth/passkey/options", As: testkit.MasterKey})).JSON(http.StatusOK)
	credential, err := c.authenticator.Get(options["publicKey"])
	if err != nil {
		c.t.Fatal(err)
	}
	encoded, _ := json.Marshal(credential) // strings
	return strings.NewReplacer("{passkey}", string(encoded), "{passkeyChallenge}", options["challenge"].(string)).Replace(body)
}
