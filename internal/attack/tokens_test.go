package attack_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// claimsOf returns the claims of a token without verifying it.
func claimsOf(t *testing.T, token string) jwt.MapClaims {
	t.Helper()
	var claims jwt.MapClaims
	if _, _, err := jwt.NewParser().ParseUnverified(token, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

// TestTokenAlgorithms sends tokens with real claims and another algorithm: unsigned, with a copied signature, and
// signed with the secret as the key of another algorithm.
func TestTokenAlgorithms(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	parts := strings.Split(ada.Token, ".")
	var rows []attempt
	for _, header := range []string{
		`{"alg":"none","typ":"JWT"}`, `{"alg":"None"}`, `{"alg":"NONE"}`, `{"alg":""}`, `{"typ":"JWT"}`, `{"alg":null}`,
		`{"alg":"HS384"}`, `{"alg":"RS256"}`, `{"alg":"ES256"}`, `{"alg":"PS256"}`, `{"alg":"EdDSA"}`,
		`{"alg":"HS256","jwk":{"kty":"oct","k":"AA"}}`, `{"alg":"HS256","kid":"../../dev/null"}`, `{"alg":"HS256","crit":["exp"]}`,
	} {
		head := base64.RawURLEncoding.EncodeToString([]byte(header))
		for _, signature := range []string{"", parts[2], "AA"} {
			token := head + "." + parts[1] + "." + signature
			rows = append(rows, attempt{header + " " + signature[:min(2, len(signature))], me(token), 401, ""})
		}
		rows = append(rows, attempt{header + ", two parts", me(head + "." + parts[1]), 401, ""})
	}
	rejected(t, api, rows)
	for _, method := range []jwt.SigningMethod{jwt.SigningMethodHS384, jwt.SigningMethodHS512} {
		token, err := jwt.NewWithClaims(method, claimsOf(t, ada.Token)).SignedString([]byte(testkit.Secret))
		if err != nil {
			t.Fatal(err)
		}
		want(t, 401, api.Do(me(token)), "a token signed with "+method.Alg())
	}
}

// TestCriticalExtension signs a token with an extension that its readers must understand (RFC 7515 section 4.1.11), as
// another service with the same secret could.
func TestCriticalExtension(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	extended := jwt.NewWithClaims(jwt.SigningMethodHS256, claimsOf(t, ada.Token))
	extended.Header["crit"] = []string{"https://example.com/only-for-reports"}
	token, err := extended.SignedString([]byte(testkit.Secret))
	if err != nil {
		t.Fatal(err)
	}
	want(t, 401, api.Do(me(token)), "a token with an unknown critical extension")
}

// TestTokenNotYetValid uses a token before its nbf time.
func TestTokenNotYetValid(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	sign := func(claims jwt.MapClaims) string {
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(testkit.Secret))
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	claims := claimsOf(t, ada.Token)
	ok(t, api.Do(me(sign(claims))))
	claims["nbf"] = api.Clock.Now().Add(10 * time.Minute).Unix()
	want(t, 401, api.Do(me(sign(claims))), "a token that becomes valid in ten minutes (nbf)")
}

// TestTokenAfterSignOut uses a stolen token after its user has signed out.
func TestTokenAfterSignOut(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	ok(t, api.Do(request{Method: "DELETE", Path: "/auth", As: ada.Token}))
	want(t, 401, api.Do(me(ada.Token)), "the token of a session that has ended")
}

// TestTokenAfterPasswordChange uses a stolen token after its user has changed the password.
func TestTokenAfterPasswordChange(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	ok(t, api.Do(request{
		Method: "PUT", Path: "/users/me/password", Email: ada.Email, Password: testkit.Password, Form: url.Values{"password": {guess}},
	}))
	want(t, 401, api.Do(me(ada.Token)), "a token from before the password change")
}

// TestUserTokenAsMasterKey creates accounts with a user token.
func TestUserTokenAsMasterKey(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	eve := api.SignUp("admin")
	account := url.Values{"email": {"mallory@example.com"}, "password": {guess}}
	want(t, 401, api.Do(request{Method: "POST", Path: "/users", As: eve.Token, Form: account}), "a user token where the master key is required")
	admin := url.Values{"email": {"root@example.com"}, "password": {guess}, "role": {"admin"}}
	open := api.Instance(testkit.Env("PUBLIC_SIGNUP", "true"))
	want(t, 403, open.Do(request{Method: "POST", Path: "/users", As: eve.Token, Form: admin}), "a user token to choose a role at public sign-up")
}

// TestTwoCredentials sends two credentials, in case the service authenticates one and authorizes the other.
func TestTwoCredentials(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	body := url.Values{"name": {"Eve was here"}, "access_token": {eve.Token}}
	path := "/users/" + eve.ID // allowed for either credential
	rejected(t, api, []attempt{
		{"body and header", request{Method: "PATCH", Path: path, As: ada.Token, Form: body}, 400, "conflict"},
		{"query and header", request{Method: "PATCH", Path: path + "?access_token=" + eve.Token, As: ada.Token}, 400, "conflict"},
		{"query and body", request{Method: "PATCH", Path: path + "?access_token=" + ada.Token, Form: body}, 400, "conflict"},
		{"twice in the query", request{Method: "GET", Path: path + "?access_token=" + ada.Token + "&access_token=" + eve.Token}, 400, "conflict"},
		{"twice in the body", request{Method: "PATCH", Path: path, Form: url.Values{"access_token": {ada.Token, eve.Token}}}, 400, "type"},
		{"two headers", request{Method: "PATCH", Path: path, Header: map[string][]string{"Authorization": {"Bearer " + ada.Token, "Bearer " + eve.Token}}}, 400, "conflict"},
	})
}
