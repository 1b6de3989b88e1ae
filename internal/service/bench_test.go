package service_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/modules/policy"
	"example.com/ginseng/testkit"
)

// nowhere is a ResponseWriter that discards the response, so that a benchmark does not measure a recorder.
type nowhere struct {
	header http.Header
	status int
}

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n *nowhere) WriteHeader(status int)      { n.status = status }

// load sends requests as a user, 32 at a time on two cores. Each response must have the status. The bodies are used in
// turn.
func load(b *testing.B, api *testkit.API, token, name, method, path string, status int, bodies ...string) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		var made, failed atomic.Int64
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				body := bodies[int(made.Add(1))%len(bodies)]
				r := httptest.NewRequest(method, path, strings.NewReader(body))
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Content-Type", "application/json")
				w := &nowhere{header: http.Header{}}
				api.Handler.ServeHTTP(w, r)
				if w.status != status {
					failed.Add(1)
				}
			}
		})
		if n := failed.Load(); n > 0 {
			b.Errorf("%d of %d responses do not have status %d", n, b.N, status)
		}
	})
}

// quiet disables the log.
func quiet(c *testkit.Config) { c.Log = slog.New(slog.NewTextHandler(io.Discard, nil)) }

// BenchmarkBatch compares 100 creations in one batch with 100 requests, one after the other.
func BenchmarkBatch(b *testing.B) {
	api := apitest.Start(b, quiet)
	ada := api.SignUp("user")
	article := fmt.Sprintf(`{"title":"An article of middling length","content":%q}`, strings.Repeat("lorem ipsum dolor ", 18))
	operation := `{"method":"POST","path":"/articles","body":` + article + `},`
	send := func(b *testing.B, path, body string, status int) {
		if got := api.Do(testkit.Request{Method: "POST", Path: path, As: ada.Token, JSON: body}); got.Status != status {
			b.Fatalf("%d %s", got.Status, got.Body)
		}
	}
	b.Run("100 requests", func(b *testing.B) {
		for b.Loop() {
			for range 100 {
				send(b, "/articles", article, 201)
			}
		}
	})
	b.Run("batch of 100", func(b *testing.B) {
		for b.Loop() {
			send(b, "/batch", `{"operations":[`+strings.TrimSuffix(strings.Repeat(operation, 100), ",")+`]}`, 200)
		}
	})
}

// BenchmarkService measures the service without the network, with SQLite or the database of TEST_MONGODB_URI.
func BenchmarkService(b *testing.B) {
	api := apitest.Start(b, quiet)
	ada := api.SignUp("user")
	body := fmt.Sprintf(`{"title":"An article of middling length","content":%q}`, strings.Repeat("lorem ipsum dolor ", 18))
	var id string
	for range 1000 {
		id = api.Do(testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, JSON: body}).JSON(201)["id"].(string)
	}
	load(b, api, ada.Token, "one", "GET", "/articles/"+id, 200, "")
	load(b, api, ada.Token, "list", "GET", "/articles?count=false", 200, "")
	load(b, api, ada.Token, "list+count", "GET", "/articles", 200, "")
	load(b, api, ada.Token, "search", "GET", "/articles?q=lorem+dol", 200, "")
	load(b, api, ada.Token, "me", "GET", "/users/me", 200, "")
	load(b, api, newKey(api, ada), "me, key", "GET", "/users/me", 200, "")
	load(b, api, ada.Token, "create", "POST", "/articles", 201, body)
	load(b, api, ada.Token, "update", "PATCH", "/articles/"+id, 200, `{"title":"New"}`)
}

// newKey creates an API key.
func newKey(api *testkit.API, a testkit.Account) string {
	r := testkit.Request{Method: "POST", Path: "/users/me/api-keys", As: a.Token, JSON: `{"name":"n","scopes":["*:read"]}`}
	return api.Do(r).JSON(201)["key"].(string)
}

// BenchmarkPolicies measures evaluations, and reads of one policy to compare: in a namespace of 10,000 policies, also with
// concurrent writes, and in 1,000 namespaces of 10.
func BenchmarkPolicies(b *testing.B) {
	api := apitest.Start(b, quiet)
	admin := api.SignUp("admin")
	path := "/policies/" + seedPolicies(b, api, "large", 10_000)
	small := make([]string, 1000)
	for i := range small {
		namespace := fmt.Sprint("small-", i)
		seedPolicies(b, api, namespace, 10)
		small[i] = proxy(namespace)
	}
	update := `{"selector":{"matchLabels":{"app":"app-7"}}}`
	load(b, api, admin.Token, "one", "GET", path, 200, "")
	load(b, api, admin.Token, "evaluate/10000", "POST", "/policies/evaluate", 200, proxy("large"))
	load(b, api, admin.Token, "evaluate/1000x10", "POST", "/policies/evaluate", 200, small...)
	load(b, api, admin.Token, "update", "PATCH", path, 200, update)
	ctx, stop := context.WithCancel(b.Context())
	var writer sync.WaitGroup
	var writes int
	writer.Go(func() {
		for ; ctx.Err() == nil; writes++ {
			api.Do(testkit.Request{Method: "PATCH", Path: path, As: admin.Token, JSON: update}).JSON(200)
		}
	})
	began := time.Now()
	load(b, api, admin.Token, "one+writes", "GET", path, 200, "")
	load(b, api, admin.Token, "evaluate/10000+writes", "POST", "/policies/evaluate", 200, proxy("large"))
	stop()
	writer.Wait()
	b.Logf("%.0f writes/s meanwhile", float64(writes)/time.Since(began).Seconds())
}

// proxy returns the body of an evaluation for a workload with 10 labels.
func proxy(namespace string) string {
	return `{"namespace":"` + namespace + `","metadata":{"labels":{"app":"app-7","version":"v1","zone":"zone-2","a":"1","b":"2"}},` +
		`"instance":{"labels":{"c":"3","d":"4","e":"5","f":"6","g":"7"}}}`
}

// seedPolicies stores policies with three labels, a few of which apply to the proxy, and returns the ID of the last.
func seedPolicies(b *testing.B, api *testkit.API, namespace string, n int) string {
	policies := store.Open[policy.Policy](api.DB, store.Spec{Name: "policies"}) // the service has created the indexes
	var group errgroup.Group
	group.SetLimit(64)
	var last store.ID
	for i := range n {
		last = store.NewID()
		p := policy.Policy{
			Meta: store.NewMeta(last, store.At(time.Now())), Namespace: namespace, Name: fmt.Sprint("policy-", i),
			Selector: &policy.Selector{MatchLabels: map[string]string{
				"app": fmt.Sprint("app-", i%1000), "version": fmt.Sprint("v", i%3), "zone": fmt.Sprint("zone-", i%5),
			}},
		}
		group.Go(func() error { return policies.Insert(b.Context(), p) })
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
	return last.Hex()
}
