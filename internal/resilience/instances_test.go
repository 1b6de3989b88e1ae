package resilience_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/ginseng/testkit/process"
)

// balancer is a reverse proxy for several instances. It checks their readiness and distributes requests to the ready
// ones, in turn.
type balancer struct {
	URL       string
	instances []*upstream
	turn      atomic.Uint64
}

type upstream struct {
	url   atomic.Pointer[url.URL]
	ready atomic.Bool
}

const checkInterval = 50 * time.Millisecond

func newBalancer(t *testing.T, services ...*process.Process) *balancer {
	t.Helper()
	b := new(balancer)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	checked := make(chan struct{})
	for _, p := range services {
		u := new(upstream)
		u.serve(t, p)
		b.instances = append(b.instances, u)
		go func() {
			u.check(ctx)
			checked <- struct{}{}
		}()
	}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(b.next(r.In.Context()))
			r.SetXForwarded()
		},
		Transport:    &http.Transport{MaxIdleConnsPerHost: 64},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // close the connection without a response
	})
	b.URL = server.URL
	t.Cleanup(func() {
		stop()
		for range b.instances {
			<-checked
		}
		server.Close()
	})
	return b
}

// serve sets the process that receives the requests of u.
func (u *upstream) serve(t *testing.T, p *process.Process) {
	t.Helper()
	address, err := url.Parse(p.URL)
	must(t, err)
	u.url.Store(address)
}

func (u *upstream) check(ctx context.Context) {
	client := http.Client{Timeout: timeout} // a slow response does not mean that the instance is not ready
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.url.Load().String()+"/readyz", nil)
		if err != nil {
			panic(err)
		}
		response, err := client.Do(r)
		if err == nil {
			_ = response.Body.Close()
		}
		u.ready.Store(err == nil && response.StatusCode == http.StatusOK)
		select {
		case <-time.After(checkInterval):
		case <-ctx.Done():
		}
	}
}

// next returns the URL for the next request. It waits until an instance is ready: a busy database can delay the readiness
// checks of all.
func (b *balancer) next(ctx context.Context) (next *url.URL) {
	first := b.turn.Add(1)
	_ = until(ctx, func() bool {
		for i := range uint64(len(b.instances)) {
			if u := b.instances[(first+i)%uint64(len(b.instances))]; u.ready.Load() {
				next = u.url.Load()
				return true
			}
		}
		return false
	})
	if next == nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
	return next
}

// drainDelay is the DRAIN_DELAY of the instances, long enough for the readiness check of the balancer on a busy machine.
const drainDelay = 3 * time.Second

// startTwo starts two instances on one database.
func startTwo(t *testing.T) (one, two *process.Process, env []string) {
	t.Helper()
	env = settings(mongoDB(t).String(), "TRUSTED_PROXIES=127.0.0.0/8", "DRAIN_DELAY="+drainDelay.String())
	return start(t, env), start(t, env), env
}

// TestInstances checks that an instance sees every change of another one immediately.
func TestInstances(t *testing.T) {
	long(t)
	one, two, _ := startTwo(t)
	email, token := account(t, one.URL)
	other := session(t, two.URL, email, password).Token
	t.Run("sessions", func(t *testing.T) {
		do(t, newRequest(t, "GET", two.URL+"/users/me", token, nil), 200)
		do(t, newRequest(t, "DELETE", two.URL+"/auth", token, nil), 204)
		do(t, newRequest(t, "GET", one.URL+"/users/me", token, nil), 401)
		do(t, newRequest(t, "GET", one.URL+"/users/me", other, nil), 200)
	})
	t.Run("refresh", func(t *testing.T) {
		first := session(t, one.URL, email, password)
		second := refresh(t, two.URL, first.RefreshToken)
		third := refresh(t, one.URL, second.RefreshToken)
		do(t, newRequest(t, "GET", two.URL+"/users/me", third.Token, nil), 200)
	})
	t.Run("a new password", func(t *testing.T) {
		r := newRequest(t, "PUT", one.URL+"/users/me/password", "", strings.NewReader(`{"password":"`+password+` still"}`))
		r.SetBasicAuth(email, password)
		do(t, r, 200)
		do(t, newRequest(t, "GET", two.URL+"/users/me", other, nil), 401)
		session(t, two.URL, email, password+" still")
	})
	t.Run("limits", func(t *testing.T) {
		email, _ := account(t, one.URL)
		guess := func(service string, status int) {
			r := newRequest(t, "POST", service+"/auth", "", strings.NewReader(`{"access_token":"`+masterKey+`"}`))
			r.SetBasicAuth(email, "not the password")
			do(t, r, status)
		}
		for i := range 10 {
			guess([]string{one.URL, two.URL}[i%2], 401)
		}
		guess(one.URL, 429)
		guess(two.URL, 429)
	})
	t.Run("Idempotency-Key", func(t *testing.T) {
		_, token := account(t, one.URL)
		const callers = 20
		responses := make(chan []byte, callers)
		for i := range callers {
			r := newRequest(t, "POST", []string{one.URL, two.URL}[i%2]+"/articles", token, strings.NewReader(`{"title":"once"}`))
			r.Header.Set("Idempotency-Key", "once")
			go func() {
				response, err := http.DefaultClient.Do(r)
				if err != nil {
					responses <- []byte(err.Error())
					return
				}
				defer func() { _ = response.Body.Close() }()
				body, _ := io.ReadAll(response.Body)
				responses <- append(fmt.Appendf(nil, "%d ", response.StatusCode), body...)
			}()
		}
		first := <-responses
		if !bytes.HasPrefix(first, []byte("201 ")) {
			t.Errorf("the first response: %s", first)
		}
		for range callers - 1 {
			if next := <-responses; !bytes.Equal(next, first) {
				t.Errorf("the responses differ: %s and %s", first, next)
			}
		}
		var page struct{ Count int }
		must(t, json.Unmarshal(do(t, newRequest(t, "GET", two.URL+"/articles?q=once", token, nil), 200), &page))
		if page.Count != 1 {
			t.Errorf("%d records", page.Count)
		}
	})
	stop(t, one)
	stop(t, two)
}

type tokens struct{ Token, RefreshToken string }

func session(t *testing.T, service, email, password string) (s tokens) {
	t.Helper()
	r := newRequest(t, "POST", service+"/auth", "", strings.NewReader(`{"access_token":"`+masterKey+`"}`))
	r.SetBasicAuth(email, password)
	must(t, json.Unmarshal(do(t, r, http.StatusCreated), &s))
	return s
}

func refresh(t *testing.T, service, token string) (s tokens) {
	t.Helper()
	body := strings.NewReader(`{"refresh_token":"` + token + `"}`)
	must(t, json.Unmarshal(do(t, newRequest(t, "POST", service+"/auth/refresh", "", body), http.StatusCreated), &s))
	return s
}

// TestInstanceKilled kills one of two instances under load.
func TestInstanceKilled(t *testing.T) {
	long(t)
	one, two, env := startTwo(t)
	b := newBalancer(t, one, two)
	load := balanced(t, b)
	await(t, load, 150)
	load.Mark()
	one.Stop(os.Kill)
	await(t, load, 150)
	one = start(t, env)
	b.instances[0].serve(t, one)
	await(t, load, 150)
	v := verify(t, load)
	samples := load.Take()
	if failures(samples) == 0 {
		t.Error("no request was cut off: the test is void")
	}
	report(t, "one of two instances: kill -9 under load", samples, v)
	stop(t, one)
	stop(t, two)
}

// TestRollingRestart restarts two instances under load, one after the other. No request fails.
func TestRollingRestart(t *testing.T) {
	long(t)
	one, two, env := startTwo(t)
	b := newBalancer(t, one, two)
	load := balanced(t, b)
	await(t, load, 100)
	load.Mark()
	for i, p := range []*process.Process{one, two} {
		must(t, p.Signal(syscall.SIGTERM))
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		fresh := start(t, env)
		b.instances[i].serve(t, fresh)
		within(t, func(ctx context.Context) error { return until(ctx, b.instances[i].ready.Load) }, "the new instance is not ready")
		await(t, load, 50)
	}
	v := verify(t, load)
	samples := load.Take()
	if n := failures(samples); n > 0 {
		t.Errorf("%d requests failed", n)
	}
	report(t, "rolling restart of two instances under load", samples, v)
}

// balanced starts clients that use two instances.
func balanced(t *testing.T, b *balancer) *Load {
	t.Helper()
	both := func() bool { return b.instances[0].ready.Load() && b.instances[1].ready.Load() }
	within(t, func(ctx context.Context) error { return until(ctx, both) }, "the instances are not ready")
	return clients(t, b.URL, 8)
}
