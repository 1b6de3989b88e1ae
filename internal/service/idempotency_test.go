package service_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

func keyed(key, token, title string) testkit.Request {
	return testkit.Request{
		Method: "POST", Path: "/articles", As: token,
		Form: url.Values{"title": {title}}, Header: http.Header{"Idempotency-Key": {key}},
	}
}

// TestIdempotency sends 20 equal requests concurrently, to two instances, one of which has a new master key. One creates a record,
// and all responses are equal.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	instances := []*testkit.API{api, api.Instance(testkit.Env("MASTER_KEY", "a new key that replaces the old one soon, "+testkit.MasterKey))}
	ada := api.SignUp("user")
	const callers = 20
	responses := make(chan testkit.Response, callers)
	for i := range callers {
		go func() { responses <- instances[i%2].Do(keyed("k", ada.Token, "T")) }()
	}
	first, replayed := <-responses, 0
	for i := range callers {
		a := first
		if i > 0 {
			a = <-responses
		}
		if a.Status != 201 || string(a.Body) != string(first.Body) || a.Header.Get("Location") != first.Header.Get("Location") || a.Header.Get("ETag") != first.Header.Get("ETag") {
			t.Errorf("%d %s, the first was %s", a.Status, a.Body, first.Body)
		}
		if a.Header.Get("Idempotency-Replayed") == "true" {
			replayed++
		}
	}
	if replayed != callers-1 {
		t.Errorf("%d responses are marked as replayed", replayed)
	}
	if page := api.Do(testkit.Request{Method: "GET", Path: "/articles"}).JSON(200); page["count"] != 1.0 {
		t.Errorf("%v records", page["count"])
	}
}

// TestIdempotencyScope checks that a stored response is limited to its caller, route, parameters and TTL.
func TestIdempotencyScope(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	id := func(r testkit.Request) string { return api.Do(r).JSON(201)["id"].(string) }
	first := id(keyed("k", ada.Token, "T"))
	inBody := func(token string) testkit.Request {
		r := keyed("k", "", "T")
		r.Form.Set("access_token", token)
		return r
	}
	if id(keyed("k", ada.Token, "T")) != first || id(inBody(api.SignIn(ada.Email, testkit.Password).Token)) != first {
		t.Error("the same request with another token is not replayed")
	}
	if id(keyed("k", eve.Token, "T")) == first {
		t.Errorf("another caller gets the response: %s", eve.ID)
	}
	if id(keyed("other", ada.Token, "T")) == first {
		t.Error("another key gets the response")
	}
	long := strings.Repeat("x", 256)
	api.Run(t, []testkit.Scenario{
		testkit.Row("other parameters", keyed("k", ada.Token, "U"), 422, []string{"idempotency_mismatch"}, nil),
		testkit.Row("a failure", keyed("f", ada.Token, ""), 400, nil, nil),
		testkit.Row("is not kept", keyed("f", ada.Token, "T"), 201, nil, nil),
		testkit.Row("long key", keyed(long, ada.Token, "T"), 400, []string{"Idempotency-Key"}, nil),
		testkit.Row("odd key", keyed("a b", ada.Token, "T"), 400, nil, nil),
		testkit.Row("no user", keyed("k", "", "T"), 401, nil, nil),
	})
	user := testkit.Request{
		Method: "POST", Path: "/users", As: testkit.MasterKey, Header: http.Header{"Idempotency-Key": {"k"}},
		Form: url.Values{"email": {"grace@example.com"}, "password": {testkit.Password}},
	}
	if first, again := id(user), id(user); first != again {
		t.Error("a sign-up is not replayed")
	}
	api.Clock.Advance(24 * time.Hour)
	if again := keyed("k", api.SignIn(ada.Email, testkit.Password).Token, "T"); id(again) == first {
		t.Error("a response is stored for longer than a day")
	}
}
