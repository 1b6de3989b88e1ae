package webhook

import (
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// bodiesTest has three webhooks with one delivery each, which are sent only when the test calls send.
type bodiesTest struct {
	fixture
	hooks      []store.ID
	deliveries []store.ID
	sent       chan string
}

func startBodies(t *testing.T, text string) (b bodiesTest, note store.ID) {
	t.Helper()
	var address string
	address, b.sent = receiver(t)
	b.fixture = newFixture(t, testdb.Open(t), resource.Public, "127.0.0.0/8")
	for range 3 {
		b.hooks = append(b.hooks, b.hook(t, address, "*").ID)
	}
	note = b.add(t, text)
	for deadline := time.Now().Add(time.Minute); len(b.deliveries) < 3 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, _, err := b.dispatchPortion(t.Context()); err != nil { // on MongoDB, the log has the change shortly after the response
			t.Fatal(err)
		}
		b.deliveries = nil
		for _, hook := range b.hooks {
			if d, err := b.Module.deliveries.First(t.Context(), store.Eq("webhookId", hook)); err == nil {
				b.deliveries = append(b.deliveries, d.ID)
			}
		}
	}
	return b, note
}

// send sends delivery n, and returns the body of the request.
func (b bodiesTest) send(t *testing.T, n int, lane string) string {
	t.Helper()
	if err := b.deliver(t.Context(), b.deliveries[n], lane); err != nil {
		t.Fatal(err)
	}
	return next(t, b.sent)
}

func (b bodiesTest) want(t *testing.T, step string, bodies int64) {
	t.Helper()
	if n, err := b.bodies.Count(t.Context(), store.Ne("id", nil)); n != bodies || err != nil {
		t.Errorf("%s: %d bodies, want %d, %v", step, n, bodies, err)
	}
}

// TestSharedBodies sends an event to three webhooks. The deliveries with the same body share it, and it is deleted with the last
// of them.
func TestSharedBodies(t *testing.T) {
	t.Parallel()
	b, note := startBodies(t, strings.Repeat("x", 1000))
	before := b.send(t, 0, first)
	if _, err := b.notes.Unrestricted().Update(t.Context(), store.Eq("id", note), store.Set("text", strings.Repeat("y", 1000))); err != nil {
		t.Fatal(err)
	}
	after := b.send(t, 1, first)
	if shared := b.send(t, 2, first); shared != after || after == before {
		t.Errorf("%s\n%s\n%s", before, after, shared)
	}
	b.want(t, "sent", 2)
	for n, want := range []string{before, after, after} {
		if _, err := b.Retry(t.Context(), b.hooks[n], b.deliveries[n]); err != nil {
			t.Fatal(err)
		}
		if got := b.send(t, n, retry); got != want {
			t.Errorf("retry %d sent\n%s, want\n%s", n, got, want)
		}
	}
	b.clock.Advance(beginUse)
	for n, left := range []int64{1, 1, 0} {
		if err := b.Delete(t.Context(), b.hooks[n]); err != nil {
			t.Fatal(err)
		}
		b.want(t, "a webhook was deleted", left)
	}
}

// TestUnusedBodies checks that a body that a delivery is beginning to use is not deleted, and that a body that a crash left without
// deliveries is deleted later. It also sends small bodies and bodies of an earlier version, which deliveries store themselves.
func TestUnusedBodies(t *testing.T) {
	t.Parallel()
	b, _ := startBodies(t, "small")
	b.send(t, 0, first)
	b.want(t, "small", 0)
	earlier := strings.Repeat("z", 2*maxOwnBody)
	if _, err := b.Module.deliveries.Update(t.Context(), store.Eq("id", b.deliveries[1]), store.Set("body", earlier)); err != nil {
		t.Fatal(err)
	}
	if got := b.send(t, 1, first); got != earlier {
		t.Errorf("sent %s", got)
	}
	crashed := idOf("crashed")
	for range 2 { // the second call is another delivery, when the body is old
		if err := b.use(t.Context(), crashed, earlier); err != nil {
			t.Fatal(err)
		}
		if err := b.deleteUnused(t.Context(), map[any]bool{crashed: true}); err != nil {
			t.Fatal(err)
		}
		b.want(t, "begun", 1)
		b.clock.Advance(retention)
		if err := b.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.want(t, "old", 1)
	}
	b.clock.Advance(bodyRetention)
	if err := b.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.want(t, "swept", 0)
	if n, err := b.Module.deliveries.Count(t.Context(), store.Ne("id", nil)); n != 0 || err != nil {
		t.Errorf("%d deliveries, %v", n, err)
	}
}

// TestMissingBody sends a delivery whose body is missing, as after an incomplete restoration. The delivery fails.
func TestMissingBody(t *testing.T) {
	t.Parallel()
	b, _ := startBodies(t, "a note")
	if _, err := b.Module.deliveries.Update(t.Context(), store.Eq("id", b.deliveries[0]), store.Set("bodyId", idOf("missing"))); err != nil {
		t.Fatal(err)
	}
	if err := b.deliver(t.Context(), b.deliveries[0], first); err != nil {
		t.Fatal(err)
	}
	if d, err := b.Module.deliveries.Get(t.Context(), b.deliveries[0]); err != nil || d.Status != failed || d.Error == "" || d.Lane != "" {
		t.Errorf("%+v, %v", d, err)
	}
}
