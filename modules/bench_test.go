package modules_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/ginseng/internal/testkit"
)

// nowhere is a ResponseWriter that keeps nothing, so that a benchmark counts the service and not the recorder.
type nowhere struct {
	header http.Header
	status int
}

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n *nowhere) WriteHeader(status int)      { n.status = status }

// BenchmarkService is the whole service on the embedded engine (or TEST_MONGODB_URI), less the network.
func BenchmarkService(b *testing.B) {
	api := testkit.Start(b, func(c *testkit.Config) {
		c.Middleware.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	})
	ada := api.SignUp("user")
	body := fmt.Sprintf(`{"title":"An article of middling length","content":%q}`, strings.Repeat("lorem ipsum dolor ", 18))
	var id string
	for range 1000 {
		id = api.Do(testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, JSON: body}).JSON(201)["id"].(string)
	}
	run := func(name, method, path, body string, status int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var failed atomic.Int64
			b.SetParallelism(16) // 32 callers on two cores
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r := httptest.NewRequest(method, path, strings.NewReader(body))
					r.Header.Set("Authorization", "Bearer "+ada.Token)
					r.Header.Set("Content-Type", "application/json")
					w := &nowhere{header: http.Header{}}
					api.Handler.ServeHTTP(w, r)
					if w.status != status {
						failed.Add(1)
					}
				}
			})
			if n := failed.Load(); n > 0 {
				b.Errorf("%d of %d were not answered with %d", n, b.N, status)
			}
		})
	}
	run("one", "GET", "/articles/"+id, "", 200)
	run("list", "GET", "/articles?count=false", "", 200)
	run("list+count", "GET", "/articles", "", 200)
	run("search", "GET", "/articles?q=lorem+dol", "", 200)
	run("me", "GET", "/users/me", "", 200)
	run("create", "POST", "/articles", body, 201)
	run("update", "PATCH", "/articles/"+id, `{"title":"New"}`, 200)
}
