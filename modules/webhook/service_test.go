package webhook

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/seal"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/testdb"
)

// privateNote is a record that only its owner and admins may see.
type privateNote struct {
	store.Meta `bson:",inline"`
	Text       string   `json:"text"`
	UserID     store.ID `json:"userId"`
}

func (n privateNote) view() privateNote { return n }

// noUsers implements Users.
type noUsers struct{}

func (noUsers) Admins(context.Context) ([]user.User, error) { return nil, nil }
func (noUsers) Get(context.Context, store.ID) (user.User, error) {
	return user.User{}, store.ErrNotFound
}

// fixture has a service without HTTP.
type fixture struct {
	kit.Deps
	*Module
	clock *clock.Clock
	notes *resource.Collection[privateNote]
}

func newFixture(t testing.TB, db store.DB, see resource.Access, networks ...string) fixture {
	t.Helper()
	c := clock.At(time.Now())
	d := testkit.Deps(t, db, c.Now)
	w := fixture{d, New(d, Settings{networks}, noUsers{}), c, resource.Open(d, store.Spec{Name: "private-notes", Changes: true}, privateNote.view, see, resource.Own)}
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// hook creates a webhook.
func (w fixture) hook(t testing.TB, address string, events ...string) Created {
	t.Helper()
	created, err := w.Create(t.Context(), store.ID{}, Fields{URL: address, Events: events, Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// receiver starts a server, and returns its address and the bodies of its requests.
func receiver(t *testing.T) (address string, bodies chan string) {
	bodies = make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
	}))
	t.Cleanup(server.Close)
	return server.URL, bodies
}

func (w fixture) add(t testing.TB, text string) store.ID {
	t.Helper()
	n := privateNote{Meta: store.NewMeta(store.NewID(), store.At(w.clock.Now())), Text: text, UserID: store.NewID()}
	if err := w.notes.Unrestricted().Insert(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return n.ID
}

func (w fixture) run(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { w.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		group.Wait()
	})
}

func next[T any](t testing.TB, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("timeout")
	}
	return v
}

// TestPrivateRecords checks that the event of a record that not everybody may see has only the ID.
func TestPrivateRecords(t *testing.T) {
	t.Parallel()
	address, bodies := receiver(t)
	w := newFixture(t, testdb.Open(t), resource.Own, "127.0.0.0/8")
	w.hook(t, address, "private-note.created")
	w.run(t)
	id := w.add(t, "secret")
	var event struct {
		Type string
		Data map[string]string
	}
	body := next(t, bodies)
	if err := json.Unmarshal([]byte(body), &event); err != nil || event.Type != "private-note.created" || len(event.Data) != 1 || event.Data["id"] != id.Hex() {
		t.Error(body)
	}
}

// TestExpiredPosition checks that deliveries continue with new events if the log no longer has the position.
func TestExpiredPosition(t *testing.T) {
	t.Parallel()
	address, bodies := receiver(t)
	w := newFixture(t, testdb.Open(t), resource.Public, "127.0.0.0/8")
	w.add(t, "before")
	w.hook(t, address, "*")
	w.add(t, "lost")
	w.add(t, "newest")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // on MongoDB, entries are in the log shortly after the change
		entries, err := w.DB.Log().Newest(t.Context(), store.LogFilter{Limit: 10})
		if err == nil && len(entries) >= 3 || time.Now().After(deadline) {
			break
		}
	}
	if _, err := w.DB.Log().Sweep(t.Context(), store.At(time.Now().Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.dispatchPortion(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.run(t)
	id := w.add(t, "later")
	var event struct{ Data struct{ ID, Text string } }
	if err := json.Unmarshal([]byte(next(t, bodies)), &event); err != nil || event.Data.ID != id.Hex() || event.Data.Text != "later" {
		t.Errorf("%+v, %v", event, err)
	}
}

// TestNewMasterKey checks that a secret is stored encrypted, and encrypted with the new key when it is used to sign.
func TestNewMasterKey(t *testing.T) {
	t.Parallel()
	w := newFixture(t, testdb.Open(t), resource.Public)
	created := w.hook(t, "https://example.com/", "*")
	raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(created.Secret, "whsec_"))
	if stored, err := w.webhooks.Get(t.Context(), created.ID); err != nil || stored.Secret == "" || strings.Contains(stored.Secret, base64.RawURLEncoding.EncodeToString(raw)) {
		t.Errorf("%v, %+v", err, stored)
	}
	old := w.keys
	w.keys = append(append(w.keys[:0:0], otherKeys()...), old...)
	for range 2 {
		stored, err := w.webhooks.Get(t.Context(), created.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.secrets(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
		w.keys = otherKeys()
	}
	w.keys = old
	stored, _ := w.webhooks.Get(t.Context(), created.ID)
	if _, err := w.secrets(t.Context(), stored); err != errSealed {
		t.Errorf("%v", err)
	}
}

// TestOldKeyRemoved removes the master key that encrypted the old secret of a webhook. The new secret signs requests.
func TestOldKeyRemoved(t *testing.T) {
	t.Parallel()
	w := newFixture(t, testdb.Open(t), resource.Public)
	created := w.hook(t, "https://example.com/", "*")
	w.keys = otherKeys()
	if _, err := w.Rotate(t.Context(), created.ID); err != nil {
		t.Fatal(err)
	}
	stored, err := w.webhooks.Get(t.Context(), created.ID)
	if err != nil {
		t.Fatal(err)
	}
	if secrets, err := w.secrets(t.Context(), stored); err != nil || len(secrets) != 1 {
		t.Errorf("%d secrets, %v", len(secrets), err)
	}
}

func otherKeys() seal.Keys { return seal.New(make([]byte, 32)) }

// TestCrash repeats the creation of deliveries, as after a crash before the cursor was stored, and takes a lane that another
// instance held when it was killed. Deliveries are created once.
func TestCrash(t *testing.T) {
	t.Parallel()
	testdb.Each(t, testCrash)
}

func testCrash(t *testing.T, db store.DB) {
	var calls atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	t.Cleanup(receiver.Close)
	w := newFixture(t, db, resource.Public, "127.0.0.0/8")
	created := w.hook(t, receiver.URL, "*")
	for range 3 {
		w.add(t, "a")
	}
	waiting := func() int64 {
		n, err := w.deliveries.Count(t.Context(), store.Eq("lane", first))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for deadline := time.Now().Add(time.Minute); waiting() < 3 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, _, err := w.dispatchPortion(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := w.cursors.Delete(t.Context(), store.Eq("id", cursorID)); err != nil || n != 1 { // as if it had not been stored
		t.Fatal(n, err)
	}
	if _, _, err := w.dispatchPortion(t.Context()); err != nil || waiting() != 3 {
		t.Fatalf("%v, %d deliveries", err, waiting())
	}
	held, err := w.claim(t.Context())
	if err != nil || len(held) != 1 || held[0].WebhookID != created.ID {
		t.Fatalf("%v, %v", held, err)
	}
	if again, err := w.claim(t.Context()); err != nil || len(again) != 0 {
		t.Fatalf("%v, %v", again, err)
	}
	w.run(t)
	w.clock.Advance(lease)
	for deadline := time.Now().Add(time.Minute); waiting() > 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	if n := calls.Load(); n != 3 || waiting() != 0 {
		t.Errorf("%d requests, %d waiting", n, waiting())
	}
}

var backlog = flag.Int("backlog", 500, "events of TestBacklog, for example 100000")

// TestBacklog sends a large number of events that happened while the workers did not run, and compares the memory before and
// after.
func TestBacklog(t *testing.T) {
	if testing.Short() {
		t.Skip("a long test")
	}
	var calls atomic.Int64
	done := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if calls.Add(1) == int64(*backlog) {
			close(done)
		}
	}))
	t.Cleanup(receiver.Close)
	w := newFixture(t, testdb.Open(t), resource.Public, "127.0.0.0/8")
	w.hook(t, receiver.URL, "*")
	for range *backlog {
		w.add(t, "a note")
	}
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapInuse) / (1 << 20)
	}
	before, highest, begun := heap(), 0.0, time.Now()
	w.run(t)
	for ticker := time.NewTicker(time.Second); ; {
		select {
		case <-done:
			t.Logf("%d events in %.0f s, %.0f/s; heap in use %.1f MiB before, at most %.1f MiB", *backlog, time.Since(begun).Seconds(),
				float64(*backlog)/time.Since(begun).Seconds(), before, highest)
			if highest > before+64 {
				t.Error("the memory grows")
			}
			return
		case <-ticker.C:
			highest = max(highest, heap())
		}
	}
}
