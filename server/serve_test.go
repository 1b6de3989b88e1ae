package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// TestServerLimits checks the size limit and the timeout of headers, while other clients are served.
func TestServerLimits(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := newHTTPServer(handler, slog.New(slog.DiscardHandler))
	if server.ReadHeaderTimeout != headerTimeout || server.WriteTimeout == 0 || server.IdleTimeout == 0 {
		t.Errorf("timeouts: %v %v %v", server.ReadHeaderTimeout, server.WriteTimeout, server.IdleTimeout)
	}
	server.ReadHeaderTimeout = 100 * time.Millisecond
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	address := listener.Addr().String()
	// A header that never ends: the connection is closed.
	slow, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	if _, err := io.WriteString(slow, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "); err != nil {
		t.Fatal(err)
	}
	get := func(header string) int {
		request, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Large", header)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	if status := get("small"); status != http.StatusNoContent {
		t.Errorf("another client: %d", status)
	}
	if status := get(strings.Repeat("x", 2*maxHeaderBytes)); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a huge header: %d", status)
	}
	if _, err := io.ReadAll(slow); err != nil {
		t.Errorf("the slow client: %v", err)
	}
}

// unavailable is a database that becomes available after some tries.
type unavailable struct {
	store.DB
	tries int
}

func (a *unavailable) Names(context.Context) ([]string, error) {
	if a.tries--; a.tries >= 0 {
		return nil, store.Unavailable(errors.New("connection refused"))
	}
	return nil, nil
}

func (a *unavailable) Prepare(context.Context) error { return nil }

func (a *unavailable) Atomic(context.Context, func(context.Context) error) error {
	return store.ErrNoTransactions
}

func TestDatabaseUnavailableAtStart(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	migrations := migrate.New(testdb.Open(t), time.Now)
	if err := prepare(t.Context(), &unavailable{tries: 2}, migrations, log, time.Minute, time.Millisecond); err != nil {
		t.Errorf("available later: %v", err)
	}
	for line, want := range map[string]int{"the database is unavailable": 2, "does not support transactions": 1} {
		if n := strings.Count(text.String(), line); n != want {
			t.Errorf("%d lines with %q:\n%s", n, line, &text)
		}
	}
	err := prepare(t.Context(), &unavailable{tries: 1 << 30}, migrations, log, time.Millisecond, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("unavailable: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := prepare(ctx, &unavailable{tries: 1 << 30}, migrations, log, time.Minute, time.Minute); err == nil {
		t.Error("it continues after the context is canceled")
	}
}
