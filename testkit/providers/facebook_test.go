package providers_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"example.com/ginseng/testkit/providers"
)

func TestFacebookExchange(t *testing.T) {
	t.Parallel()
	f, s := start(t, providers.NewFacebook)
	code := func() string { return f.Code(ada.ID, callback, providers.Challenge(verifier)) }
	s.get("/oauth/access_token?"+exchange(code()).Encode()).holds(t, 200, `"access_token":"EAA`, `"token_type":"bearer"`, `"expires_in":5183944`)
	used := code()
	s.token("/oauth/access_token", exchange(used))
	for _, row := range []struct {
		form  url.Values
		texts string
	}{
		{exchange(code(), "client_id", "-"), `"code":101`},
		{exchange(code(), "client_id", "x"), `"code":101`},
		{exchange(code(), "client_secret", "x"), `"code":1,`},
		{exchange(code(), "redirect_uri", "-"), `"code":191`},
		{exchange(code(), "redirect_uri", "https://x.example"), `"code":100`},
		{exchange(used), `"code":100`},
		{exchange("x"), `"code":100`},
		{exchange(code(), "code_verifier", "-"), `code_verifier`},
	} {
		s.do("POST", "/oauth/access_token", row.form).holds(t, 400, `{"error":{`, `"message":"`, `"type":"OAuthException"`, `"fbtrace_id":"`, row.texts)
	}
}

// TestFacebookDialog checks that the redirect has the fragment that Facebook adds.
func TestFacebookDialog(t *testing.T) {
	t.Parallel()
	_, s := start(t, providers.NewFacebook)
	if to := s.back("/dialog/oauth", ask(), url.Values{"user": {ada.ID}, "decision": {"allow"}}); to.Fragment != "_=_" {
		t.Error(to)
	}
}

func TestFacebookDebugToken(t *testing.T) {
	t.Parallel()
	f, s := start(t, providers.NewFacebook)
	debug := func(token, caller string) response {
		return s.get("/debug_token?" + url.Values{"input_token": {token}, "access_token": {caller}}.Encode())
	}
	ours := app.ID + "|" + app.Secret
	token := f.Token(ada.ID)
	debug(token, ours).holds(t, 200, `{"data":{`, `"app_id":"1234567890"`, `"is_valid":true`, `"user_id":"1815"`, `"scopes":["public_profile","email"]`, `"type":"USER"`)
	debug("x", ours).holds(t, 200, `"is_valid":false`, `"code":190`)
	debug("", ours).holds(t, 400, `"code":100`)
	debug(f.ForeignToken(ada.ID), ours).holds(t, 400, "did not match the Viewing App")
	for _, caller := range []string{"", token, app.ID + "|x", "x|" + app.Secret, providers.ForeignClientID + "|"} {
		debug(token, caller).holds(t, 400, `"code":190`)
	}
	f.Expire(token)
	debug(token, ours).holds(t, 200, `"is_valid":false`, `"code":190`)
}

func TestFacebookMe(t *testing.T) {
	t.Parallel()
	f, s := start(t, providers.NewFacebook)
	proof := func(token, secret string) string {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(token))
		return hex.EncodeToString(mac.Sum(nil))
	}
	me := func(token, proof, fields string) response {
		q := url.Values{"access_token": {token}, "fields": {fields}, "appsecret_proof": {proof}}
		return s.get("/me?" + q.Encode())
	}
	good := func(token, fields string) response { return me(token, proof(token, app.Secret), fields) }
	token, foreign := f.Token(ada.ID), f.ForeignToken(ada.ID)
	good(token, "id,name,email,picture.type(large)").
		holds(t, 200, `"id":"1815"`, `"name":"Ada Lovelace"`, `"email":"ada@example.com"`, `"picture":{"data":{`, `"url":"https://example.com/ada.png"`)
	for _, hidden := range []string{f.Token(eve.ID), f.Token(bob.ID), f.Token(ada.ID, "public_profile")} {
		if a := good(hidden, "id,email"); a.status != 200 || strings.Contains(a.body, "email") {
			t.Errorf("%+v", a)
		}
	}
	me(token, proof(token, "x"), "id").holds(t, 400, "Invalid appsecret_proof", `"code":100`)
	me(token, "", "id").holds(t, 400, "require an appsecret_proof", `"code":100`)
	good(foreign, "id").holds(t, 400, "Invalid appsecret_proof")
	me(foreign, "", "id").holds(t, 200)
	me("", "", "id").holds(t, 400, `"code":190`)
	good("x", "id").holds(t, 400, `"code":190`)
	f.Expire(token)
	good(token, "id").holds(t, 400, `"code":190`)
}
