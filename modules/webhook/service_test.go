package webhook

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
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

// logged waits until the log has n entries. On MongoDB, it has them shortly after the changes.
func (w fixture) logged(t testing.TB, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if entries, err := w.DB.Log().Newest(t.Context(), store.LogFilter{Limit: n}); err == nil && len(entries) >= n {
			return
		}
	}
	t.Fatal("timeout")
}

func (w fixture) run(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { w.sendDue(ctx) })
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
	w.logged(t, 3)
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

// TestPortions creates the deliveries of more events than one portion has: at most portionRows deliveries are created together.
func TestPortions(t *testing.T) {
	t.Parallel()
	w := newFixture(t, testdb.Open(t), resource.Public)
	const hooks, events = 10, portionRows/10 + 1
	for range hooks {
		w.hook(t, "https://example.com/", "*")
	}
	for range events {
		w.add(t, "a note")
	}
	w.logged(t, events)
	for most := int64(portionRows); ; most += portionRows {
		_, more, err := w.dispatchPortion(t.Context())
		n, countErr := w.deliveries.Count(t.Context(), store.Ne("id", nil))
		if err != nil || countErr != nil || n > most || !more && n != hooks*events {
			t.Errorf("%d deliveries, want at most %d; more is %t, %v, %v", n, most, more, err, countErr)
		}
		if !more {
			return
		}
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
