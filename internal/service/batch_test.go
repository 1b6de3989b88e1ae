package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

func batchOf(token string, operations ...string) testkit.Request {
	return testkit.Request{Method: "POST", Path: "/batch", As: token, JSON: `{"operations":[` + strings.Join(operations, ",") + `]}`}
}

// startBatch starts a service whose database has transactions.
func startBatch(t *testing.T, options ...testkit.Option) *testkit.API {
	t.Helper()
	api := apitest.Start(t, options...)
	if probe := api.Do(batchOf(api.SignUp("user").Token, `{"method":"DELETE","path":"/articles/x"}`)); probe.Status == http.StatusNotImplemented {
		t.Skip("the database has no transactions")
	}
	return api
}

func articles(t *testing.T, api *testkit.API) float64 {
	t.Helper()
	return api.Do(testkit.Request{Method: "GET", Path: "/articles?limit=1"}).JSON(200)["count"].(float64)
}

// TestBatch creates, changes and deletes articles in one batch, with references to earlier results.
func TestBatch(t *testing.T) {
	t.Parallel()
	api := startBatch(t)
	ada := api.SignUp("user")
	response := api.Do(batchOf(ada.Token,
		`{"name":"one","method":"POST","path":"/articles","body":{"title":"One","content":"$$1"}}`,
		`{"name":"two","method":"POST","path":"/articles","body":{"title":"Two","content":"$one.id"}}`,
		`{"method":"PATCH","path":"/articles/$one.id","body":{"content":"$two.title"}}`,
		`{"method":"DELETE","path":"/articles/$two.id"}`,
	))
	var body struct {
		Results []struct {
			Status         int
			Location, ETag string
			Body           map[string]any
		}
	}
	if response.Status != 200 || json.Unmarshal(response.Body, &body) != nil || len(body.Results) != 4 {
		t.Fatalf("%d %s", response.Status, response.Body)
	}
	one, two, changed, deleted := body.Results[0], body.Results[1], body.Results[2], body.Results[3]
	if one.Status != 201 || one.Location != fmt.Sprint("/articles/", one.Body["id"]) || one.ETag == "" || one.Body["content"] != "$1" || one.Body["userId"] != ada.ID {
		t.Errorf("the first creation: %+v", one)
	}
	if two.Status != 201 || two.Body["content"] != one.Body["id"] {
		t.Errorf("the second creation: %+v", two)
	}
	if changed.Status != 200 || changed.Body["content"] != "Two" || changed.Location != "" {
		t.Errorf("the change: %+v", changed)
	}
	if deleted.Status != 204 || deleted.Body != nil || deleted.ETag != "" {
		t.Errorf("the deletion: %+v", deleted)
	}
	stored := api.Do(testkit.Request{Method: "GET", Path: one.Location})
	if got := stored.JSON(200); got["content"] != "Two" || stored.Header.Get("ETag") != changed.ETag {
		t.Errorf("stored: %v with %s", got, stored.Header.Get("ETag"))
	}
	if n := articles(t, api); n != 1 {
		t.Errorf("%v articles", n)
	}
}

// TestBatchFails checks that a batch with an operation that fails stores nothing, and responds with the operation's error.
func TestBatchFails(t *testing.T) {
	t.Parallel()
	api := startBatch(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	article := api.Do(testkit.Request{Method: "POST", Path: "/articles", As: eve.Token, JSON: `{"title":"T"}`}).Header.Get("Location")
	create := `{"name":"a","method":"POST","path":"/articles","body":{"title":"T"}}`
	row := func(name string, status int, last string, want ...string) testkit.Scenario {
		return testkit.Row(name, batchOf(ada.Token, create, last), status, want, nil)
	}
	api.Run(t, []testkit.Scenario{
		row("invalid", 400, `{"method":"POST","path":"/articles","body":{"title":5,"extra":1}}`,
			`"operation":1`, `"param":"operations[1].body.title","code":"type"`, `"param":"operations[1].body.extra","code":"unknown"`),
		row("not found", 404, `{"method":"DELETE","path":"/articles/65f0c1d2e3a4b5c6d7e8f902"}`, `"code":"not_found"`, `"operation":1`),
		row("forbidden", 403, `{"method":"DELETE","path":"`+article+`"}`, `"code":"forbidden"`, `"operation":1`),
		row("stale", 412, `{"method":"PATCH","path":"/articles/$a.id","body":{"title":"U"},"ifMatch":"\"65f0c1d2e3a4b5c6d7e8f902-7-View\""}`, `"operation":1`),
		row("unknown field of a response", 400, `{"method":"POST","path":"/articles","body":{"title":"$a.password"}}`,
			`"param":"operations[1].body.title","code":"unknown_reference"`, `"operation":1`),
		row("not a part of a path", 400, `{"method":"DELETE","path":"/articles/$a.createdAt"}`, `"param":"operations[1].path","code":"unknown_reference"`),
		row("no resource", 400, `{"method":"POST","path":"/users","body":{"email":"x@example.com","password":"a long password"}}`,
			`"param":"operations[1].path","code":"not_allowed"`, `"expected":["articles"]`),
		row("all mistakes", 400, `{"name":"","method":"POST","path":"/users","body":5}`,
			`"param":"operations[1].name"`, `"param":"operations[1].body"`, `"param":"operations[1].path","code":"not_allowed"`),
		testkit.Row("no operations", testkit.Request{Method: "POST", Path: "/batch", As: ada.Token, JSON: `{}`}, 400, []string{`"param":"operations","code":"required"`}, nil),
		testkit.Row("text", testkit.Request{Method: "POST", Path: "/batch", As: ada.Token, Body: "x", ContentType: "text/plain"}, 415, []string{"must be application/json."}, nil),
		testkit.Row("a form", testkit.Request{Method: "POST", Path: "/batch", As: ada.Token, Body: "operations=[]", ContentType: "application/x-www-form-urlencoded"}, 415,
			[]string{"must be application/json."}, nil),
	})
	if n := articles(t, api); n != 1 {
		t.Errorf("%v articles", n)
	}
}

// TestBatchStoresNothing sends a batch to a service whose database cannot store it, now or never. Nothing was stored, so the
// key can be used again, later or after a move to another server.
func TestBatchStoresNothing(t *testing.T) {
	t.Parallel()
	api := startBatch(t)
	ada := api.SignUp("user")
	for _, test := range []struct {
		err    error
		status int
		code   string
	}{
		{store.ErrNoTransactions, http.StatusNotImplemented, `"code":"not_supported"`},
		{store.ErrTooLong, http.StatusServiceUnavailable, `"code":"unavailable"`},
	} {
		failing := api.Instance(func(c *testkit.Config) {
			c.DB = testdb.Intercept(c.DB, func(_ context.Context, call testdb.Call, do func() error) error {
				if call.Name == "Atomic" {
					return test.err
				}
				return do()
			})
		})
		r := batchOf(ada.Token, `{"method":"POST","path":"/articles","body":{"title":"T"}}`)
		r.Header = http.Header{"Idempotency-Key": {test.code}}
		before := articles(t, api)
		if got := failing.Do(r); got.Status != test.status || !strings.Contains(string(got.Body), test.code) {
			t.Errorf("%d %s", got.Status, got.Body)
		}
		if n := articles(t, api); n != before {
			t.Errorf("%s: %v articles, not %v", test.code, n, before)
		}
		if got := api.Do(r); got.Status != http.StatusOK {
			t.Errorf("%s, then the same key: %d %s", test.code, got.Status, got.Body)
		}
	}
	if log := api.Log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("logged as an error: %s", log)
	}
}

// TestBatchIdempotency sends a batch with an Idempotency-Key concurrently and again. It runs once.
func TestBatchIdempotency(t *testing.T) {
	t.Parallel()
	api := startBatch(t)
	ada := api.SignUp("user")
	send := func(title string) testkit.Response {
		r := batchOf(ada.Token, `{"method":"POST","path":"/articles","body":{"title":"`+title+`"}}`, `{"method":"POST","path":"/articles","body":{"title":"B"}}`)
		r.Header = http.Header{"Idempotency-Key": {"k"}}
		return api.Do(r)
	}
	if failed := send(""); failed.Status != 400 {
		t.Fatalf("%d %s", failed.Status, failed.Body)
	}
	var wg sync.WaitGroup
	bodies := make([]string, 8)
	for i := range bodies {
		wg.Go(func() { bodies[i] = string(send("A").Body) })
	}
	wg.Wait()
	for _, body := range bodies {
		if body != bodies[0] || !strings.Contains(body, `"status":201`) {
			t.Errorf("%s, the first was %s", body, bodies[0])
		}
	}
	if again := send("other"); again.Status != http.StatusUnprocessableEntity {
		t.Errorf("another batch with the key: %d", again.Status)
	}
	if n := articles(t, api); n != 2 {
		t.Errorf("%v articles", n)
	}
}
