package resilience_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// TestStopUnderLoad stops the service under load and starts it again.
func TestStopUnderLoad(t *testing.T) {
	long(t)
	env := settings(database(t))
	p := start(t, env)
	load := clients(t, p.URL, 8)
	await(t, load, 200)
	stop(t, p)
	samples := load.Take()
	p = start(t, env)
	load.SetURL(p.URL)
	load.Mark()
	await(t, load, 200)
	v := verify(t, load)
	samples = append(samples, load.Take()...)
	stop(t, p)
	report(t, "SIGTERM under load, and a new start", samples, v)
}

// TestBodyInProgress stops the service while it reads a body. The request succeeds, then the process ends.
func TestBodyInProgress(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	p := start(t, settings(database(t)))
	_, token := account(t, p.URL)
	body, send := io.Pipe()
	request := newRequest(t, "POST", p.URL+"/articles", token, body)
	request.Header.Set("Expect", "100-continue") // the server sends 100 Continue when it begins to read
	begun, status := make(chan struct{}), make(chan int, 1)
	go func() {
		response, err := (&http.Transport{ExpectContinueTimeout: time.Minute}).RoundTrip(request)
		if err != nil {
			t.Error(err)
			status <- 0
			return
		}
		_ = response.Body.Close()
		status <- response.StatusCode
	}()
	go func() {
		_, _ = io.WriteString(send, `{"title":`) // returns after 100 Continue
		close(begun)
	}()
	<-begun
	must(t, p.Signal(syscall.SIGTERM))
	closed := func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
		if err != nil {
			return true
		}
		_ = conn.Close()
		return false
	}
	within(t, func(ctx context.Context) error { return until(ctx, closed) }, "it still listens")
	_, err := io.WriteString(send, `"late"}`)
	must(t, err)
	_ = send.Close()
	if got := <-status; got != http.StatusCreated {
		t.Errorf("the request in progress has status %d", got)
	}
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestSlowReader stops the service while a client does not read a large response. The shutdown is not delayed.
func TestSlowReader(t *testing.T) {
	testdb.SQLiteOnly(t)
	long(t)
	p := start(t, settings(database(t)))
	_, token := account(t, p.URL)
	for range 100 {
		text, err := json.Marshal(map[string]string{"title": "T", "content": strings.Repeat("x", 100_000)})
		must(t, err)
		do(t, newRequest(t, "POST", p.URL+"/articles", token, bytes.NewReader(text)), http.StatusCreated)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
	must(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "GET /articles?limit=100 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	must(t, err)
	_, err = io.ReadFull(conn, make([]byte, 100)) // the response has begun
	must(t, err)
	begun := time.Now()
	stop(t, p)
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("a client that does not read delayed the shutdown by %v", took)
	}
	t.Logf("| %s | SIGTERM while a client does not read its response | cut off after 5 s | nothing | ended within %.1f s |", engine(), time.Since(begun).Seconds())
}

// account creates a user and a session.
func account(t *testing.T, service string) (email, token string) {
	t.Helper()
	email = store.NewID().Hex() + "@example.com"
	do(t, newRequest(t, "POST", service+"/users", masterKey, strings.NewReader(`{"email":"`+email+`","password":"`+password+`"}`)), http.StatusCreated)
	return email, session(t, service, email, password).Token
}

// newRequest returns a request with a JSON body.
func newRequest(t *testing.T, method, address, token string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, body)
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

// do sends a request and checks the status of the response.
func do(t *testing.T, r *http.Request, status int) []byte {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	if response.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d: %s", r.Method, r.URL.Path, response.StatusCode, status, body)
	}
	return body
}
