package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/testkit/proxy"
)

// timeout is the time within which an engine must notice that the database is unreachable, or reachable again.
const timeout = 30 * time.Second

// TestUnavailable checks a handle whose server becomes unreachable. Until the server is reachable again, every method fails with
// Unavailable. Then the handle works again. The embedded database has no connection, so the test does not run on it.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	address := mongotest.New(t, "directConnection=true", "heartbeatFrequencyMS=500")
	network, err := proxy.New(address.Host, nil)
	must(t, err)
	t.Cleanup(network.Close)
	address.Host = network.Addr()
	db, err := engines.Open(t.Context(), address.String())
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	c := prepare(t, db, docSpec())
	before := newDoc("before")
	insert(t, c, before)

	network.Cut()
	calls := methods(c)
	calls["Ping"] = db.Ping
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var group sync.WaitGroup
	for name, call := range calls { // at the same time, because each waits several seconds for a server
		group.Go(func() {
			if err := call(ctx); !apperr.Is(err, apperr.Unavailable) {
				t.Errorf("while the database is unavailable, %s returns %v, want Unavailable", name, err)
			}
		})
	}
	group.Wait()

	must(t, network.Heal())
	ctx, cancel = context.WithTimeout(t.Context(), timeout)
	defer cancel()
	for err := db.Ping(ctx); err != nil; err = db.Ping(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("the handle does not find the database again: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	got, err := c.Get(t.Context(), before.ID)
	must(t, err)
	wantDoc(t, got, before)
	insert(t, c, newDoc("after"))
}
