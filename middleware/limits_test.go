package middleware

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// users verifies tokens that are IDs of users.
type users struct{}

// VerifyToken accepts the ID of a user, after keyPrefix for an API key of the user.
func (users) VerifyToken(_ context.Context, token string) (access.Principal, error) {
	token, isKey := strings.CutPrefix(token, keyPrefix)
	id, ok := store.ParseID(token)
	if !ok {
		return access.Principal{}, access.InvalidToken()
	}
	p := access.Principal{UserID: id, Role: access.RoleUser}
	if isKey {
		p.Key = &access.Key{}
	}
	return p, nil
}

const keyPrefix = "key-"

// userLimit is the limit of UserWrites in the handler of limited: two small requests, or one large request.
const userLimit = 2 * minWrite

// limited returns a handler with the routes POST /small, POST /account with AllowRestricted, POST /alone with Alone, and POST and
// PATCH /large with LargeBody, which respond 204.
func limited(timeout time.Duration, handlers ...gin.HandlerFunc) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	authenticator := Authenticator{Tokens: users{}, Writes: NewUserWrites(userLimit, time.Millisecond)}
	bodies := NewBodyLimits(1<<20, timeout)
	var table route.Table
	r := table.Router()
	r.POST("/small", route.Public, rest.NoContent)
	r.POST("/account", route.Public, rest.NoContent, route.AllowRestricted)
	r.POST("/alone", route.Public, rest.NoContent, route.Alone)
	r.POST("/large", route.Public, rest.NoContent, route.LargeBody)
	r.PATCH("/large", route.Public, rest.NoContent, route.LargeBody)
	for _, row := range table.Routes() {
		engine.Handle(row.Method, row.Path, slices.Concat([]gin.HandlerFunc{bodies.Handler(row), authenticator.Handler(row)}, handlers, []gin.HandlerFunc{rest.Handle(row.Handler, rest.AnyQuery)})...)
	}
	return engine
}

// post sends a form, and returns the status. size is the Content-Length, or -1 if there is none.
func post(h http.Handler, path, token string, body io.Reader, size int64) int {
	return send(h, "POST", path, token, body, size)
}

func send(h http.Handler, method, path, token string, body io.Reader, size int64) int {
	return sendFrom(h, "192.0.2.1", method, path, token, body, size)
}

// sendFrom is like send, from a client with the IP address.
func sendFrom(h http.Handler, address, method, path, token string, body io.Reader, size int64) int {
	r := httptest.NewRequest(method, path, body)
	r.RemoteAddr = net.JoinHostPort(address, "1")
	r.ContentLength = size
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func TestBodySize(t *testing.T) {
	t.Parallel()
	h := limited(time.Minute)
	for _, test := range []struct {
		path string
		size int
		want int
	}{
		{"/small", SmallBody, 204}, {"/small", SmallBody + 1, 413}, {"/large", SmallBody + 1, 204}, {"/large", 1 << 20, 204}, {"/large", 1<<20 + 1, 413},
	} {
		for _, announced := range []int64{int64(test.size), -1} {
			if got := post(h, test.path, "", strings.NewReader(strings.Repeat("x", test.size)), announced); got != test.want {
				t.Errorf("%d bytes to %s, announced as %d: status %d, want %d", test.size, test.path, announced, got, test.want)
			}
		}
	}
	body := &endless{}
	if got := post(h, "/large", "", body, -1); got != 413 || body.read > 2<<20 {
		t.Errorf("a body without end: status %d after %d bytes", got, body.read)
	}
}

// endless is a body without end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return copy(p, strings.Repeat("x", len(p))), nil
}

// stalled is a body that ends when end is closed. Each read is reported to reading.
type stalled struct {
	reading chan<- struct{}
	end     <-chan struct{}
}

func (s stalled) Read(p []byte) (int, error) {
	s.reading <- struct{}{}
	<-s.end
	return 0, io.EOF
}

// TestStalledBodies sends large bodies that do not end, from four networks, each of which gets a quarter of the memory. When they
// use all memory for anonymous callers, further large bodies of anonymous callers get 503. Small bodies and users are still served.
func TestStalledBodies(t *testing.T) {
	t.Parallel()
	h := limited(300 * time.Millisecond)
	const large = 1 << 20
	reading, end, ended := make(chan struct{}), make(chan struct{}), make(chan int)
	for i := range anonymousBodies / large {
		from := fmt.Sprintf("2001:db8:%d:%d::1", i/2, i)
		go func() { ended <- sendFrom(h, from, "POST", "/large", "invalid", stalled{reading, end}, large) }()
		<-reading
		if i == 1 {
			if got := sendFrom(h, "2001:db8:0:ffff::1", "POST", "/large", "", strings.NewReader(strings.Repeat("x", large)), large); got != 503 {
				t.Errorf("a third body from the network: status %d, want 503", got)
			}
			if got := post(h, "/large", "", strings.NewReader(strings.Repeat("x", large)), large); got != 204 {
				t.Errorf("another network: status %d", got)
			}
		}
	}
	for _, announced := range []int64{large, -1} {
		if got := post(h, "/large", "", strings.NewReader(strings.Repeat("x", large)), announced); got != 503 {
			t.Errorf("announced as %d: status %d, want 503", announced, got)
		}
	}
	if got := post(h, "/large", "", strings.NewReader("x=y"), -1); got != 204 {
		t.Errorf("a small body: status %d", got)
	}
	if got := post(h, "/large", store.NewID().Hex(), strings.NewReader(strings.Repeat("x", large)), large); got != 204 {
		t.Errorf("a user: status %d", got)
	}
	close(end)
	for range anonymousBodies / large {
		<-ended
	}
	if got := post(h, "/large", "", strings.NewReader(strings.Repeat("x", large)), large); got != 204 {
		t.Errorf("after the others: status %d", got)
	}
}

// TestUserWrites sends changes while other changes of the user have reached the limit, before and after the bodies of those
// changes have been read.
func TestUserWrites(t *testing.T) {
	t.Parallel()
	user, other := store.NewID().Hex(), store.NewID().Hex()
	running, end, ended := make(chan struct{}), make(chan struct{}), make(chan int)
	h := limited(time.Minute, func(g *gin.Context) {
		if g.Query("wait") != "" {
			running <- struct{}{}
			<-end
		}
	})
	body := func(size int64) io.Reader { return strings.NewReader(strings.Repeat("x", int(size))) }
	expect := func(want int, what, path, token string, body io.Reader, size int64) {
		t.Helper()
		if got := post(h, path, token, body, size); got != want {
			t.Errorf("%s: status %d, want %d", what, got, want)
		}
	}
	hold := func(requests ...func()) (release func()) {
		for _, request := range requests {
			go request()
			<-running
		}
		return func() {
			for range requests {
				end <- struct{}{}
			}
			for range requests {
				<-ended
			}
		}
	}
	small := func() { ended <- post(h, "/small?wait=1", user, body(10), -1) }
	long := func() { ended <- post(h, "/small?wait=1", user, body(minWrite+1), -1) }
	large := func() { ended <- post(h, "/large", user, stalled{running, end}, 1<<20) }
	alone := func() { ended <- post(h, "/alone?wait=1", user, body(0), 0) }
	change := func() { ended <- send(h, "PATCH", "/large?wait=1", user, body(0), 0) }

	release := hold(small)
	expect(204, "a second small change", "/small", user, body(minWrite), minWrite)
	expect(429, "a second, long change", "/small", user, body(minWrite+1), minWrite+1)
	expect(429, "a second, long change of unknown size", "/small", user, body(minWrite+1), -1)
	expect(429, "a large change beside a small one", "/large", user, body(1<<20), 1<<20)
	expect(429, "a change that runs alone beside a small one", "/alone", user, body(0), 0)
	release()
	for what, requests := range map[string][]func(){
		"two small changes": {small, small}, "a long change": {long}, "a large change": {large}, "a change of a large record": {change}, "a change that runs alone": {alone},
	} {
		release := hold(requests...)
		expect(429, "another change beside "+what, "/small", user, body(0), 0)
		expect(204, "another user beside "+what, "/small", other, body(10), -1)
		expect(204, "a change of the account beside "+what, "/account", user, body(10), -1)
		release()
	}
	expect(204, "a large change alone", "/large", user, body(1<<20), 1<<20)
	release = hold(func() { ended <- post(h, "/large", keyPrefix+user, stalled{running, end}, 1<<20) })
	expect(429, "a large change with an API key beside another one", "/large", keyPrefix+user, body(1<<20), 1<<20)
	expect(204, "a change of the user beside one with an API key", "/small", user, body(0), 0)
	release()
}

// TestPause rolls a batch of a user back. The user's next request waits in proportion to the time of the transaction.
func TestPause(t *testing.T) {
	t.Parallel()
	for rolledBack, want := range map[time.Duration]time.Duration{
		0: 0, freeRollback: 0, 20 * time.Millisecond: 1980 * time.Millisecond, time.Hour: maxPause,
	} {
		synctest.Test(t, func(t *testing.T) {
			user := store.NewID().Hex()
			h := limited(time.Minute, func(g *gin.Context) {
				if g.Query("fails") != "" {
					store.AddRollback(g.Request.Context(), rolledBack)
				}
			})
			expect := func(want int, path, user string) {
				t.Helper()
				if got := post(h, path, user, nil, 0); got != want {
					t.Errorf("%v: status %d, want %d", rolledBack, got, want)
				}
				synctest.Wait()
			}
			expect(204, "/alone?fails=1", user)
			if want > 0 {
				time.Sleep(want - 2*time.Millisecond)
				expect(429, "/alone?fails=1", user)
				expect(204, "/small", store.NewID().Hex())
				time.Sleep(2 * time.Millisecond)
			}
			expect(204, "/small", user)
		})
	}
}

// TestForgetUsers checks that users without a change in progress use no memory.
func TestForgetUsers(t *testing.T) {
	t.Parallel()
	w, id := NewUserWrites(1, time.Millisecond), writer{user: store.NewID()}
	end, err := w.begin(t.Context(), id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.begin(t.Context(), id, 0, 0); !apperr.Is(err, apperr.TooManyRequests) {
		t.Error(err)
	}
	if end(); w.running.InUse(id) {
		t.Error("the user is remembered")
	}
}

// TestResponseBudget sends large responses while other large responses of the caller, or of others, are in progress.
func TestResponseBudget(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	const page, record = 1 << 20, 200 << 10
	engine.Use(ResponseBudget(rest.NewBudget(4*page, 4*220<<10, time.Millisecond)))
	running, end, ended := make(chan struct{}), make(chan struct{}), make(chan int)
	respond := func(g *gin.Context, size int) {
		if err := rest.OK(g, strings.Repeat("x", size)); err != nil {
			rest.Fail(g, err)
			return
		}
		if g.Query("wait") != "" { // like the response to a client that does not read
			running <- struct{}{}
			<-end
		}
	}
	engine.GET("/page", func(g *gin.Context) {
		if err := rest.ReservePage(g.Request.Context(), page); err != nil {
			rest.Fail(g, err)
			return
		}
		respond(g, page-100)
	})
	engine.GET("/record", func(g *gin.Context) { respond(g, record) })
	engine.POST("/record", func(g *gin.Context) { respond(g, record) })
	engine.GET("/small", func(g *gin.Context) { respond(g, 1000) })
	expect := func(want int, method, path string) {
		t.Helper()
		if got := sendFrom(engine, "192.0.2.1", method, path, "", nil, 0); got != want {
			t.Errorf("%s %s: status %d, want %d", method, path, got, want)
		}
	}
	hold := func(address, path string) {
		go func() { ended <- sendFrom(engine, address, "GET", path+"?wait=1", "", nil, 0) }()
		<-running
	}
	hold("192.0.2.1", "/page")
	expect(503, "GET", "/page")
	expect(200, "GET", "/record")
	hold("192.0.2.1", "/record")
	expect(503, "GET", "/record")
	for _, other := range []string{"192.0.2.2", "192.0.2.3", "2001:db8::1"} {
		hold(other, "/page")
		hold(other, "/record")
	}
	for _, path := range []string{"/page", "/record"} {
		if got := sendFrom(engine, "2001:db8:1::1", "GET", path, "", nil, 0); got != 503 {
			t.Errorf("%s of a fifth network: status %d", path, got)
		}
	}
	expect(200, "POST", "/record") // not 503, because the change has been made
	expect(200, "GET", "/small")
	close(end)
	for range 8 {
		<-ended
	}
	expect(200, "GET", "/page")
	expect(200, "GET", "/record")
}
