//go:build race

package attack_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/testkit"
)

// TestLoad calls all routes of the matrix as several callers at the same time, while each of them has an open stream and the
// workers deliver webhooks. It is the test of the whole service with the race detector, and is not compiled without it.
func TestLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testkit.Env("WEBHOOK_NETWORKS", "127.0.0.0/8"))
	delivered := make(chan struct{}, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case delivered <- struct{}{}:
		default:
		}
	}))
	t.Cleanup(receiver.Close)
	for range 2 { // each has its own lane
		ok(t, w.Do(request{Method: "POST", Path: "/webhooks", As: w.SignUp("admin").Token, JSON: `{"url":"` + receiver.URL + `","events":["*"]}`}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var callers, background sync.WaitGroup
	for _, worker := range w.Handler.Workers {
		background.Go(func() { worker(ctx) })
	}
	for _, column := range []int{anonymous, owner, owner, admin, admin, ownerKey} {
		background.Go(func() { readStream(ctx, t, w.URL+"/articles/changes") })
		callers.Go(func() {
			for _, row := range matrix {
				route, _, _ := strings.Cut(row.route, " (public)")
				if strings.HasSuffix(route, "/:token") || route == "POST /webhooks" { // would take emails of other callers; send events to another host
					continue
				}
				c := newMatrixCell(t, w, column)
				if got := w.Do(c.request(route, row.body)); got.Status >= 500 && got.Status != http.StatusServiceUnavailable { // which a busy machine can cause
					t.Errorf("%s, column %d: status %d: %.300s", row.route, column+1, got.Status, got.Body)
				}
			}
		})
	}
	callers.Wait()
	select {
	case <-delivered:
	case <-time.After(time.Minute):
		t.Error("no webhook was delivered")
	}
	cancel()
	background.Wait()
}

// readStream reads the events of a stream until ctx ends.
func readStream(ctx context.Context, t *testing.T, url string) {
	r, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
	r.Header.Set("Accept", "text/event-stream")
	got, err := http.DefaultClient.Do(r)
	if err != nil || got.StatusCode != http.StatusOK {
		t.Errorf("the stream did not open: %v %v", got, err)
		return
	}
	defer got.Body.Close()
	if n, _ := io.Copy(io.Discard, got.Body); n == 0 {
		t.Error("the stream is empty")
	}
}
