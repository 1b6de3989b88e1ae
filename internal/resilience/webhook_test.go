package resilience_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
)

// TestWebhookAfterKill kills the service with SIGKILL while it sends events: all arrive after the next start, in order and at
// least once.
func TestWebhookAfterKill(t *testing.T) {
	long(t)
	const events, killAt = 40, 10
	var mu sync.Mutex
	var received []string // IDs of articles
	kill := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct{ Data struct{ ID string } }
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		mu.Lock()
		received = append(received, event.Data.ID)
		n := len(received)
		mu.Unlock()
		if n == killAt {
			close(kill)
			<-r.Context().Done()
		}
	}))
	t.Cleanup(receiver.Close)
	env := settings(database(t), "WEBHOOK_NETWORKS=127.0.0.0/8")
	p := start(t, env)
	email := store.NewID().Hex() + "@example.com"
	do(t, newRequest(t, "POST", p.URL+"/users", masterKey, strings.NewReader(`{"email":"`+email+`","password":"`+password+`","role":"admin"}`)), http.StatusCreated)
	admin := session(t, p.URL, email, password).Token
	do(t, newRequest(t, "POST", p.URL+"/webhooks", admin, strings.NewReader(`{"url":"`+receiver.URL+`","events":["article.created"]}`)), http.StatusCreated)
	var created []string
	for i := range events {
		body := do(t, newRequest(t, "POST", p.URL+"/articles", admin, strings.NewReader(fmt.Sprintf(`{"title":"%d"}`, i))), http.StatusCreated)
		var article struct{ ID string }
		must(t, json.Unmarshal(body, &article))
		created = append(created, article.ID)
	}
	<-kill
	_ = p.Signal(os.Kill)
	p.Wait()
	begun := time.Now()
	p = start(t, env)
	var got, all []string
	for deadline := time.Now().Add(3 * time.Minute); len(got) < events; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %d of %d events arrived", len(got), events)
		}
		mu.Lock()
		all = slices.Clone(received)
		mu.Unlock()
		got = nil
		for _, id := range all {
			if !slices.Contains(got, id) {
				got = append(got, id)
			}
		}
	}
	if !slices.Equal(got, created) {
		t.Errorf("%v, but created %v", got, created)
	}
	if len(all) > events+1 {
		t.Errorf("%d requests for %d events", len(all), events)
	}
	t.Logf("| %s | kill -9 while events are sent to a webhook | — | nothing; %d of %d events again | all events have arrived %.1f s after the new start |",
		engine(), len(all)-events, events, time.Since(begun).Seconds())
	stop(t, p)
}
