package attack_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"testing"

	"example.com/ginseng/testkit"
)

type request = testkit.Request

// guess is a password that no user has.
const guess = "not the password"

// keyed returns a form with the master key, as a trusted frontend server sends it.
func keyed() url.Values { return url.Values{"access_token": {testkit.MasterKey}} }

// signIn returns a sign-in request of a trusted frontend server.
func signIn(email, password string) request {
	return request{Method: "POST", Path: "/auth", Email: email, Password: password, Form: keyed()}
}

// me returns a request for the token's user.
func me(token string) request { return request{Method: "GET", Path: "/users/me", As: token} }

// attempt is a request that the service must reject.
type attempt struct {
	name string
	request
	status int
	holds  string // a string that the response body must contain
}

// rejected sends the requests and checks the status and body of each response.
func rejected(t *testing.T, api *testkit.API, attempts []attempt) {
	t.Helper()
	for _, a := range attempts {
		got := api.Do(a.request)
		want(t, a.status, got, a.name)
		if got.Status == a.status && !bytes.Contains(got.Body, []byte(a.holds)) {
			t.Errorf("%s: rejected, but the body does not contain %s: %.300s", a.name, a.holds, got.Body)
		}
	}
}

// want fails the test unless the response has the status.
func want(t *testing.T, status int, got testkit.Response, attack string) {
	t.Helper()
	if got.Status != status {
		t.Errorf("%s: the attack succeeded: the attacker got %d, not %d: %.300s", attack, got.Status, status, got.Body)
	}
}

// ok stops the test unless the response is a success. It checks the setup of an attack.
func ok(t *testing.T, got testkit.Response) testkit.Response {
	t.Helper()
	if got.Status < 200 || got.Status > 299 {
		t.Fatalf("setup failed with status %d: %s", got.Status, got.Body)
	}
	return got
}

// sameResponse fails the test if two responses differ in more than the request ID and the date.
func sameResponse(t *testing.T, a, b testkit.Response, attack string) {
	t.Helper()
	body := func(raw []byte) string {
		var fields map[string]any
		if json.Unmarshal(raw, &fields) != nil {
			return string(raw)
		}
		delete(fields, "requestId")
		text, _ := json.Marshal(fields)
		return string(text)
	}
	headers := func(a testkit.Response) string {
		h := maps.Clone(a.Header)
		h.Del("Date")
		h.Del("X-Request-Id")
		var text bytes.Buffer
		_ = h.Write(&text) // into memory
		return text.String()
	}
	if a.Status != b.Status || body(a.Body) != body(b.Body) || headers(a) != headers(b) {
		t.Errorf("%s: the attack succeeded: the responses differ: %d %s%s and %d %s%s", attack, a.Status, headers(a), body(a.Body), b.Status, headers(b), body(b.Body))
	}
}
