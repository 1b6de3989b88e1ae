package attack_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/providers"
)

// useAccount runs most flows of an account except its deletion. It returns the account and its secrets by name.
func useAccount(t *testing.T, api *world) (ada testkit.Account, secrets map[string]string) {
	t.Helper()
	const first, second, third, wrong, foreign = "a first pass phrase", "a second pass phrase", "a third pass phrase", "a wrong pass phrase", "eyJhbGciOiJIUzI1NiJ9.e30.Zm9yZWlnbg"
	secrets = map[string]string{
		"the master key": testkit.MasterKey, "the secret of tokens": testkit.Secret, "the client secret": testkit.ProviderSecret,
		"a first password": first, "a second password": second, "a third password": third, "a wrong password": wrong, "a foreign token": foreign,
	}
	ada.Email = "ada-lovelace@example.com"
	keep := func(name string, a testkit.Response) testkit.Session {
		var s testkit.Session
		if err := json.Unmarshal(ok(t, a).Body, &s); err != nil || s.Token == "" || s.RefreshToken == "" {
			t.Fatalf("%v: %s", err, a.Body)
		}
		secrets[name+" token"], secrets[name+" refresh token"] = s.Token, s.RefreshToken
		return s
	}
	account := keyed()
	account.Set("email", ada.Email)
	account.Set("password", first)
	ada.ID = ok(t, api.Do(request{Method: "POST", Path: "/users", Form: account, Header: http.Header{"Idempotency-Key": {"key-of-a-sign-up"}}})).JSON(201)["id"].(string)
	api.Do(request{Method: "POST", Path: "/users", Form: account})
	api.Do(signIn(ada.Email, wrong))
	ada.Session = keep("sign-in", api.Do(signIn(ada.Email, first)))
	other := keep("second sign-in", api.Do(request{Method: "POST", Path: "/auth?access_token=" + testkit.MasterKey, Email: ada.Email, Password: first}))
	other = keep("refreshed", api.Do(refresh(other.RefreshToken)))
	keep("refreshed again", api.Do(refresh(other.RefreshToken)))
	for _, token := range []string{ada.Token, foreign, testkit.MasterKey} {
		api.Do(request{Method: "GET", Path: "/users/me?access_token=" + token})
		api.Do(request{Method: "GET", Path: "/nowhere/" + token + "?access_token=" + token})
		api.Do(me(token))
		api.Do(refresh(token))
		api.Do(request{Method: "PATCH", Path: "/users/me", JSON: map[string]any{"access_token": token, "name": 5}})
		api.Do(request{Method: "PATCH", Path: "/users/me", JSON: `{"access_token":"` + token + `","name":`})
		api.Do(request{Method: "PATCH", Path: "/users/me?access_token=" + token, Form: url.Values{"access_token": {token + "x"}}})
		api.Do(request{Method: "DELETE", Path: "/auth/sessions/" + token, As: token})
	}
	ok(t, api.Do(request{Method: "GET", Path: "/auth/sessions", As: ada.Token}))
	change := url.Values{"password": {second}}
	api.Do(request{Method: "PUT", Path: "/users/me/password", Email: ada.Email, Password: wrong, Form: change})
	ok(t, api.Do(request{Method: "PUT", Path: "/users/me/password", Email: ada.Email, Password: first, Form: change}))
	ada.Session = keep("third sign-in", api.Do(signIn(ada.Email, second)))
	maps.Copy(secrets, useProviders(t, api, ada))
	ada.Session = keep("fourth sign-in", resetPassword(t, api, ada.Email, third, secrets))
	secrets["a challenge"] = challengeOf(t, api.API, ada.Email)
	ok(t, api.Do(enterCode(secrets["a challenge"], codeIn(t, api.Email.Next(t)))))
	secrets["another challenge"] = challengeOf(t, api.API, ada.Email)
	api.Email.Next(t)
	ok(t, api.Do(askChange(ada.Email, third, "ada@example.org")))
	secrets["a change of address"] = tokenIn(t, api.Email.Next(t))
	ok(t, api.Do(request{Method: "GET", Path: "/email-verifications/" + secrets["a change of address"]}))
	for _, credentials := range []string{ada.Email + ":" + first, ada.Email + ":" + second, ada.Email + ":" + wrong} {
		secrets["Basic of "+credentials] = base64.StdEncoding.EncodeToString([]byte(credentials))
	}
	return ada, secrets
}

// resetPassword resets the password and signs in with the new one. It adds the reset tokens to secrets.
func resetPassword(t *testing.T, api *world, email, password string, secrets map[string]string) testkit.Response {
	t.Helper()
	secrets["a used reset"], secrets["a reset"] = resetToken(t, api.API, email), resetToken(t, api.API, email)
	ok(t, api.Do(complete(secrets["a used reset"], password)))
	api.Do(complete(secrets["a used reset"], password))
	api.Do(complete(secrets["a reset"], password+"\x00"))
	secrets["a reset"] = resetToken(t, api.API, email)
	ok(t, api.Do(request{Method: "GET", Path: "/password-resets/" + secrets["a reset"]}))
	return api.Do(signIn(email, password))
}

// useProviders signs in with valid and invalid proofs at all providers, also while they are unavailable.
func useProviders(t *testing.T, api *world, ada testkit.Account) (secrets map[string]string) {
	t.Helper()
	secrets = make(map[string]string)
	verifier := strings.Repeat("a-verifier", 5)
	secrets["a verifier"] = verifier
	for name, provider := range api.all() {
		provider.AddUser(providers.User{ID: "7", Email: ada.Email, EmailVerified: true})
		token, code, other := provider.Token("7"), provider.Code("7", page, providers.Challenge(verifier)), provider.ForeignToken("7")
		ok(t, api.Do(enter(name, ada.Token, "access_token", token)))
		ok(t, api.Do(enter(name, "", "code", code, "redirect_uri", page, "code_verifier", verifier)))
		api.Do(enter(name, "", "code", code, "redirect_uri", page, "code_verifier", verifier))
		api.Do(enter(name, "", "access_token", other))
		secrets["token of "+name], secrets["code of "+name], secrets["foreign token of "+name] = token, code, other
		for _, failure := range []providers.Failure{providers.Down, providers.Nonsense, providers.Broken} {
			provider.Fail(failure)
			for _, proof := range []string{"access_token", "id_token", "code"} {
				api.Do(enter(name, "", proof, token, "redirect_uri", page, "code_verifier", verifier))
			}
		}
		provider.Fail(providers.None)
	}
	secrets["an ID token"] = api.Google.IDToken("7")
	ok(t, api.Do(enter("google", "", "id_token", secrets["an ID token"])))
	api.Do(enter("google", "", "id_token", secrets["an ID token"]+"x"))
	return secrets
}

// refresh returns a request with a refresh token.
func refresh(token string) request {
	return request{Method: "POST", Path: "/auth/refresh", Form: url.Values{"refresh_token": {token}}}
}

// TestSecretsInTheLog looks for secrets in the log of all flows.
func TestSecretsInTheLog(t *testing.T) {
	t.Parallel()
	api := newWorld(t)
	ada, secrets := useAccount(t, api)
	ok(t, api.Do(request{Method: "DELETE", Path: "/users/me", As: ada.Token}))
	secrets["her address"] = ada.Email
	lines := api.Log.Lines()
	if len(lines) < 30 || !strings.Contains(strings.Join(lines, ""), ada.ID) {
		t.Fatalf("the user's requests are not in the log:\n%s", lines)
	}
	for name, secret := range secrets {
		for _, line := range lines {
			if strings.Contains(line, secret) {
				t.Errorf("the attack succeeded: the attacker read %s in the log: %s", name, line)
			}
		}
	}
}

// TestForgedLogLine tries to add lines to the log with line breaks in a request.
func TestForgedLogLine(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	const mark = "level=ERROR msg=forged"
	for _, r := range []request{
		{Method: "GET", Path: "/articles/" + url.PathEscape("x\n"+mark)},
		{Method: "GET", Path: "/articles?q=" + url.QueryEscape("x\n"+mark)},
		{Method: "GET", Path: "/livez", Header: http.Header{"X-Request-Id": {mark}}},
		{Method: "GET", Path: "/livez", Header: http.Header{"User-Agent": {mark}, "X-Forwarded-For": {mark}}},
		{Method: "POST", Path: "/auth", Email: "x\n" + mark, Password: "x", Form: keyed()},
		{Method: "POST", Path: "/articles", JSON: `{"` + mark + `":`},
	} {
		api.Do(r)
	}
	for _, line := range api.Log.Lines() {
		if strings.Contains(line, mark) || strings.Count(line, "\n") != 1 {
			t.Errorf("the attack succeeded: the attacker wrote %q into the log", line)
		}
	}
}
