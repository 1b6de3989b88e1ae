package service_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/testkit"
	"example.com/ginseng/modules/apitest"
)

func keyed(key, token, title string) testkit.Request {
	return testkit.Request{
		Method: "POST", Path: "/articles", As: token,
		Form: url.Values{"title": {title}}, Header: http.Header{"Idempotency-Key": {key}},
	}
}

// TestIdempotency sends 20 equal requests at once: one record, 20 equal answers.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	const callers = 20
	answers := make(chan testkit.Response, callers)
	for range callers {
		go func() { answers <- api.Do(keyed("k", ada.Token, "T")) }()
	}
	first, replayed := <-answers, 0
	for i := range callers {
		a := first
		if i > 0 {
			a = <-answers
		}
		if a.Status != 201 || string(a.Body) != string(first.Body) || a.Header.Get("Location") != first.Header.Get("Location") || a.Header.Get("ETag") != first.Header.Get("ETag") {
			t.Errorf("%d %s, the first was %s", a.Status, a.Body, first.Body)
		}
		if a.Header.Get("Idempotency-Replayed") == "true" {
			replayed++
		}
	}
	if replayed != callers-1 {
		t.Errorf("%d answers say that they are repeated", replayed)
	}
	if page := api.Do(testkit.Request{Method: "GET", Path: "/articles"}).JSON(200); page["count"] != 1.0 {
		t.Errorf("%v records", page["count"])
	}
}

// TestIdempotencyScope holds a key to its caller, route, parameters and time.
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
		t.Error("the same request, be it with another token, is not repeated")
	}
	if id(keyed("k", eve.Token, "T")) == first {
		t.Errorf("another caller shares the answer: %s", eve.ID)
	}
	if id(keyed("other", ada.Token, "T")) == first {
		t.Error("another key shares the answer")
	}
	long := strings.Repeat("x", 256)
	api.Run(t, []testkit.Scenario{
		testkit.Row("other parameters", keyed("k", ada.Token, "U"), 422, []string{"idempotency_mismatch"}, nil),
		testkit.Row("a failure", keyed("f", ada.Token, ""), 400, nil, nil),
		testkit.Row("is not kept", keyed("f", ada.Token, "T"), 201, nil, nil),
		testkit.Row("long key", keyed(long, ada.Token, "T"), 400, []string{"Idempotency-Key"}, nil),
		testkit.Row("odd key", keyed("a b", ada.Token, "T"), 400, nil, nil),
		testkit.Row("nobody", keyed("k", "", "T"), 401, nil, nil),
	})
	user := testkit.Request{
		Method: "POST", Path: "/users", As: testkit.MasterKey, Header: http.Header{"Idempotency-Key": {"k"}},
		Form: url.Values{"email": {"grace@example.com"}, "password": {testkit.Password}},
	}
	if first, again := id(user), id(user); first != again {
		t.Error("a sign-up is not repeated")
	}
	api.Clock.Advance(24 * time.Hour)
	if again := keyed("k", api.SignIn(ada.Email, testkit.Password).Token, "T"); id(again) == first {
		t.Error("an answer is kept for longer than a day")
	}
}

// TestIdempotencyAcrossCopies has two copies of the service share a database.
func TestIdempotencyAcrossCopies(t *testing.T) {
	t.Parallel()
	one := apitest.Start(t)
	two := one.Instance(testkit.Env("MASTER_KEY", "a new key that replaces the old one soon, "+testkit.MasterKey))
	ada := one.SignUp("user")
	const pairs = 10
	answers := make(chan testkit.Response, 2*pairs)
	for range pairs {
		for _, api := range []*testkit.API{one, two} {
			go func() { answers <- api.Do(keyed("k", ada.Token, "T")) }()
		}
	}
	first := <-answers
	for range 2*pairs - 1 {
		if a := <-answers; a.Status != 201 || string(a.Body) != string(first.Body) {
			t.Errorf("%d %s, the first was %s", a.Status, a.Body, first.Body)
		}
	}
}
