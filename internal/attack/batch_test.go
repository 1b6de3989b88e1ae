package attack_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

func batchOf(token string, operations ...string) request {
	return request{Method: "POST", Path: "/batch", As: token, JSON: `{"operations":[` + strings.Join(operations, ",") + `]}`}
}

// TestBatchAttacks sends batches that try to do more than their caller may do with single requests.
func TestBatchAttacks(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	eve, ada := api.SignUp("user"), api.SignUp("user")
	create := `{"name":"a","method":"POST","path":"/articles","body":{"title":"T"}}`
	if probe := api.Do(batchOf(eve.Token, create)); probe.Status == http.StatusNotImplemented {
		t.Skip("the database has no transactions")
	}
	article := ok(t, api.Do(request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"T"}`}))
	location, tag := article.Header.Get("Location"), strings.ReplaceAll(article.Header.Get("ETag"), `"`, `\"`)
	path := func(method, path string) string {
		return fmt.Sprintf(`{"method":%q,"path":%q,"body":{"title":"U"}}`, method, path)
	}
	other := func() string { return api.SignUp("user").Token } // after a batch that takes long and fails, its user has to wait
	rejected(t, api, []attempt{
		{"no user", batchOf("", create), 401, ""},
		{"the master key", batchOf(testkit.MasterKey, create), 401, ""},
		{"another's record", batchOf(eve.Token, create, path("PATCH", location)), 403, `"operation":1`},
		{"a token in an operation", batchOf(eve.Token, `{"method":"PATCH","path":"`+location+`","body":{"title":"U","access_token":"`+ada.Token+`"}}`), 400, "access_token"},
		{"a role", batchOf(eve.Token, create, `{"method":"PATCH","path":"/users/me","body":{"role":"admin"}}`), 400, "not_allowed"},
		{"another owner", batchOf(eve.Token, create, `{"method":"PATCH","path":"/articles/$a.id","body":{"userId":"`+ada.ID+`"}}`, path("DELETE", location)), 403, ""},
		{"a hidden field", batchOf(eve.Token, create, `{"method":"POST","path":"/articles","body":{"title":"$a.version"}}`), 400, "unknown_reference"},
		{"an admin's route", batchOf(eve.Token, path("POST", "/policies")), 400, "not_allowed"},
		{"a sign-in", batchOf(eve.Token, path("POST", "/auth")), 400, "not_allowed"},
		{"a batch in a batch", batchOf(eve.Token, path("POST", "/batch")), 400, "not_allowed"},
		{"reading", batchOf(eve.Token, path("GET", "/users")), 400, "one_of"},
		{"a stale version last", batchOf(ada.Token, create, `{"method":"PATCH","path":"`+location+`","body":{"title":"U"},"ifMatch":"`+strings.Replace(tag, "-1-", "-2-", 1)+`"}`), 412, `"operation":1`},
		{"101 operations", batchOf(eve.Token, slices.Repeat([]string{path("POST", "/articles")}, 101)...), 400, "at most 100"},
		{"a large body", batchOf(eve.Token, `{"method":"POST","path":"/articles","body":{"title":"T","content":"`+strings.Repeat("x", 1<<20)+`"}}`), 413, ""},
		{"a large response", batchOf(other(), largeBatch()...), 413, "nothing was stored"},
		{"large values of references", batchOf(other(), repeatedReference("$a.content", 20)...), 413, `"operation":1`},
		{"many references to a large response", batchOf(other(), repeatedReference("$a.id", 30_000)...), 400, "operations[1].body.x"},
	})
	for _, escape := range []string{
		"//articles", "/articles/../users/me", "/articles/..", "http://example.com/articles", "/articles/%2e%2e/users", "/articles?access_token=x", "/Articles", "/articles/",
		"/articles\u0000", "\\articles", "/articles/x/y", "/docs/doc.json", "/livez", "",
	} {
		want(t, 400, api.Do(batchOf(eve.Token, path("POST", escape))), "the path "+escape)
	}
	if n := ok(t, api.Do(request{Method: "GET", Path: "/articles?limit=1"})).JSON(200)["count"]; n != 2.0 {
		t.Errorf("%v articles, not 2: a rejected batch has stored something", n)
	}

	again := func(title string) request {
		r := batchOf(eve.Token, `{"method":"POST","path":"/articles","body":{"title":"`+title+`"}}`)
		r.Header = http.Header{"Idempotency-Key": {"k"}}
		return r
	}
	ok(t, api.Do(again("A")))
	want(t, 422, api.Do(again("B")), "another batch with the same key")

	admin := api.SignUp("admin")
	ok(t, api.Do(request{Method: "PATCH", Path: "/users/" + eve.ID, As: admin.Token, Form: url.Values{"suspended": {"true"}}}))
	want(t, 401, api.Do(batchOf(eve.Token, create)), "a suspended user")
}

// repeatedReference returns the creation of a large article, and an operation that refers to it n times.
func repeatedReference(reference string, n int) []string {
	list := strings.TrimSuffix(strings.Repeat(`"`+reference+`",`, n), ",")
	return []string{largeBatch()[0], `{"method":"POST","path":"/articles","body":{"title":"T","x":[` + list + `]}}`}
}

// largeBatch returns operations with a small body, whose responses are larger than 1 MiB together.
func largeBatch() []string {
	operations := []string{`{"name":"a","method":"POST","path":"/articles","body":{"title":"T","content":"` + strings.Repeat("x", 100_000) + `"}}`}
	for range 20 {
		operations = append(operations, `{"method":"PATCH","path":"/articles/$a.id","body":{"title":"U"}}`)
	}
	return operations
}

// countedDB is a database that counts the Atomics in progress of each user.
type countedDB struct {
	store.DB
	mu      sync.Mutex
	running map[store.ID]int
	most    int // maximum of running
}

func (d *countedDB) Atomic(ctx context.Context, f func(context.Context) error) error {
	if by := store.AuthorOf(ctx).By; by != nil {
		d.count(*by, 1)
		defer d.count(*by, -1)
	}
	return d.DB.Atomic(ctx, f)
}

func (d *countedDB) count(user store.ID, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running[user] += n
	d.most = max(d.most, d.running[user])
}

// TestRepeatedBatches sends batches that fail at their last operation on ten connections of one user. Each must wait for the
// user's other batches before it makes others wait for the database.
func TestRepeatedBatches(t *testing.T) {
	t.Parallel()
	db := &countedDB{running: make(map[store.ID]int)}
	api := apitest.Start(t, func(c *testkit.Config) { db.DB, c.DB = c.DB, db })
	eve, ada := api.SignUp("user"), api.SignUp("user")
	create := `{"method":"POST","path":"/articles","body":{"title":"T"}}`
	failing := batchOf(eve.Token, create, create, `{"method":"DELETE","path":"/articles/`+eve.ID+`"}`)
	if probe := api.Do(failing); probe.Status == http.StatusNotImplemented {
		t.Skip("the database has no transactions")
	}
	var connections sync.WaitGroup
	for range 10 {
		connections.Go(func() {
			if got := api.Do(failing); got.Status != 404 && got.Status != 429 {
				t.Errorf("a batch that fails: status %d, %.300s", got.Status, got.Body)
			}
		})
	}
	for range 10 {
		ok(t, api.Do(request{Method: "PATCH", Path: "/users/me", As: ada.Token, JSON: `{"name":"Ada"}`}))
	}
	connections.Wait()
	if db.most != 1 {
		t.Errorf("%d batches of one user are in the database", db.most)
	}
	if n := ok(t, api.Do(request{Method: "GET", Path: "/articles?limit=1"})).JSON(200)["count"]; n != 0.0 {
		t.Errorf("%v articles: a batch that fails has stored something", n)
	}
}
