package attack_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"testing"

	"example.com/ginseng/kit/testkit"
)

type request = testkit.Request

// guess is a password that is nobody's.
const guess = "not her password"

// keyed is a form with the master key, which a frontend's server holds and an attacker calls through.
func keyed() url.Values { return url.Values{"access_token": {testkit.MasterKey}} }

// signIn is a sign-in through the frontend's server.
func signIn(email, password string) request {
	return request{Method: "POST", Path: "/auth", Email: email, Password: password, Form: keyed()}
}

// me asks who the token's user is.
func me(token string) request { return request{Method: "GET", Path: "/users/me", As: token} }

// attempt is one row of a table of requests, each of which must be refused.
type attempt struct {
	name string
	request
	status int
	holds  string // stands in the answer, which refuses the request for the right reason
}

// refused makes the attempts.
func refused(t *testing.T, api *testkit.API, attempts []attempt) {
	t.Helper()
	for _, a := range attempts {
		got := api.Do(a.request)
		want(t, a.status, got, a.name)
		if got.Status == a.status && !bytes.Contains(got.Body, []byte(a.holds)) {
			t.Errorf("%s: refused, but without %s: %.300s", a.name, a.holds, got.Body)
		}
	}
}

// want fails the test unless the answer has the status: what it holds instead is what the attacker got.
func want(t *testing.T, status int, got testkit.Response, attack string) {
	t.Helper()
	if got.Status != status {
		t.Errorf("%s: the attack succeeded: the attacker got %d, not %d: %.300s", attack, got.Status, status, got.Body)
	}
}

// ok fails the test unless the answer is a success: the attack has no meaning if what it builds on does not work.
func ok(t *testing.T, got testkit.Response) testkit.Response {
	t.Helper()
	if got.Status < 200 || got.Status > 299 {
		t.Fatalf("a good request was refused with %d: %s", got.Status, got.Body)
	}
	return got
}

// sameAnswer fails the test if two answers differ in anything but what differs between any two.
func sameAnswer(t *testing.T, a, b testkit.Response, attack string) {
	t.Helper()
	body := func(raw []byte) string {
		var fields map[string]any
		if json.Unmarshal(raw, &fields) != nil {
			return string(raw)
		}
		delete(fields, "requestId")
		text, _ := json.Marshal(fields) // what was just read
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
		t.Errorf("%s: the attack succeeded: the attacker can tell %d %s%s from %d %s%s", attack, a.Status, headers(a), body(a.Body), b.Status, headers(b), body(b.Body))
	}
}
