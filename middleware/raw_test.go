package middleware

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// rawLimit is the limit of the routes of rawHandler. It is a quarter of the memory for bodies of anonymous callers, and the most that rest.RawBody reads.
const rawLimit = 2 << 20

// rawHandler returns a handler with routes that have route.Raw: the path is the kind of callers, and /stream reads g.Request.Body.
// They respond with the caller and the size of the body. wait, if not nil, is called by routes when they have read the body.
func rawHandler(wait func(*gin.Context)) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	whole := func(g *gin.Context) error {
		body, err := rest.RawBody(g)
		if err != nil {
			return err
		}
		if wait != nil {
			wait(g)
		}
		p := rest.Caller(g)
		return rest.OK(g, fmt.Sprintf("%v %v %v %d %s", p.Master, p.IsUser(), p.Key != nil, len(body), strings.Trim(string(body), "x")))
	}
	stream := func(g *gin.Context) error {
		n, err := io.Copy(io.Discard, g.Request.Body)
		if err != nil {
			return err
		}
		if wait != nil {
			wait(g)
		}
		return rest.OK(g, n)
	}
	bodies := NewBodyLimits(1<<20, 30*time.Millisecond)
	a := Authenticator{
		Tokens: users{}, APIKeys: anyKey{}, Keys: access.NewKeys([]string{"master"}), QueryTokens: true, Writes: NewUserWrites(userLimit, time.Millisecond), Now: time.Now,
	}
	engine, table := gin.New(), route.Table{}
	r := table.Router()
	for path, caller := range map[string]route.Caller{
		"/public": route.Public, "/user": route.User, "/master": route.Master, "/sign-in": route.SignIn, "/refresh": route.Refresh, "/step-up": route.StepUp,
	} {
		r.POST(path, caller, whole, route.Raw(rawLimit), route.AllowAPIKey)
	}
	r.POST("/stream", route.Public, stream, route.Raw(rawLimit), route.AllowAPIKey)
	r.POST("/tiny", route.Public, whole, route.Raw(2))
	for _, row := range table.Routes() {
		engine.Handle(row.Method, row.Path, bodies.Handler(row), a.Handler(row), rest.Handle(row.Handler))
	}
	engine.POST("/open", bodies.Handler(&route.Route{Kind: route.KindOpen, Raw: rawLimit}), rest.Handle(whole))
	return engine
}

// sendRaw sends a body. size is the Content-Length, or -1 if it is unknown.
func sendRaw(h http.Handler, path, token, contentType string, body io.Reader, size int64) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", path, body)
	r.ContentLength = size
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestRawCallers sends bodies of any type with the credentials of every kind of caller. access_token in a body is not read.
func TestRawCallers(t *testing.T) {
	t.Parallel()
	h := rawHandler(nil)
	user := store.NewID().Hex()
	const png, jsonType, formType = "image/png", "application/json", "application/x-www-form-urlencoded"
	for _, test := range []struct {
		path, token, contentType, body string
		status                         int
		want                           string
	}{
		{"/public", "", png, "\x89PNG\r\n\x1a\n\x00\xff", 200, `"false false false 10`},
		{"/public", "", "", "a", 200, `"false false false 1 a"`},
		{"/public", "", "", "", 200, `"false false false 0 "`},
		{"/public", "", jsonType, `{"access_token":"invalid"`, 200, "false false false 25"},
		{"/public", "", formType, "access_token=invalid&a=%zz", 200, "false false false 26 access_token=invalid&a=%zz"},
		{"/public", "invalid", formType, "a=1", 401, "unauthorized"},
		{"/public?access_token=" + user, "", png, "a", 200, "false true false 1 a"},
		{"/public?access_token=" + user, user + "0", png, "a", 400, "Is given twice"},
		{"/user", user, png, "a", 200, "false true false 1 a"},
		{"/user", access.KeyPrefix, png, "a", 200, "false true true 1 a"},
		{"/user", "", formType, "access_token=" + user, 401, "A user token is missing"},
		{"/user?access_token=" + user, "", formType, "access_token=other", 200, "false true false 18"},
		{"/user", "master", png, "a", 401, "unauthorized"},
		{"/master", "master", png, "a", 200, "true false false 1 a"},
		{"/master", "", formType, "access_token=master", 401, "Authorization: Bearer"},
		{"/master", user, png, "a", 401, "unauthorized"},
		{"/sign-in", "", formType, "access_token=master", 200, "false false false 19"},
		{"/refresh", "expired", formType, "access_token=master", 200, "false false false 19"},
		{"/step-up", user, formType, "a=1", 403, "reauthentication_required"},
	} {
		w := sendRaw(h, test.path, test.token, test.contentType, strings.NewReader(test.body), int64(len(test.body)))
		if w.Code != test.status || !strings.Contains(strings.ReplaceAll(w.Body.String(), `\u0026`, "&"), test.want) {
			t.Errorf("%+v: %d %s", test, w.Code, w.Body)
		}
	}
}

// second is an access.SecondFactorVerifier that accepts the code "123456".
type second struct{}

func (second) VerifySecondFactor(_ context.Context, _ store.ID, _ access.Client, p access.Proof) (ratelimit.States, error) {
	if p.Code == "123456" {
		return nil, nil
	}
	return nil, apperr.New(apperr.SecondFactorRequired, "Required.")
}

// TestRawStepUp sends a code of the second factor in the body of a step-up route, which is not read with route.Raw.
func TestRawStepUp(t *testing.T) {
	t.Parallel()
	p := access.Principal{UserID: store.NewID(), SessionID: store.NewID(), Role: access.RoleUser, AuthTime: time.Now()}
	for multiFactor, want := range map[bool]int{true: 204, false: 403} {
		p.MultiFactor = multiFactor
		engine := mounted(Authenticator{Tokens: verifier{p}, SecondFactors: second{}, Now: time.Now}, func(r *route.Router) {
			r.POST("/raw", route.StepUp, rest.NoContent, route.Raw(100))
			r.POST("/form", route.StepUp, rest.NoContent)
		})
		for path, want := range map[string]int{"/raw": want, "/form": 204} {
			if got := post(engine, path, "token", strings.NewReader("code=123456"), 11); got != want {
				t.Errorf("%s, with the second factor %v: %d, want %d", path, multiFactor, got, want)
			}
		}
	}
}

// TestRawSize sends bodies at and above the limit, with and without Content-Length.
func TestRawSize(t *testing.T) {
	t.Parallel()
	h := rawHandler(nil)
	for path, limit := range map[string]int{"/public": rawLimit, "/stream": rawLimit, "/tiny": 2} {
		for size, want := range map[int]int{limit: 200, limit + 1: 413} {
			for _, announced := range []int64{int64(size), -1} {
				w := sendRaw(h, path, "", "", strings.NewReader(strings.Repeat("x", size)), announced)
				if w.Code != want || want == 413 && !strings.Contains(w.Body.String(), fmt.Sprintf("payload_too_large\",\"detail\":\"The body is larger than %d bytes", limit)) {
					t.Errorf("%d bytes to %s, announced as %d: %d %.200s", size, path, announced, w.Code, w.Body)
				}
			}
		}
	}
	unread := &endless{}
	if w := sendRaw(h, "/public", "invalid", "", unread, rawLimit+1); w.Code != 413 || unread.read > 0 || w.Header().Get("Connection") != "close" {
		t.Errorf("announced as too large: %d after %d bytes", w.Code, unread.read)
	}
	if w := sendRaw(h, "/user", "", "", unread, rawLimit); w.Code != 401 || unread.read > 0 {
		t.Errorf("without a credential: %d after %d bytes", w.Code, unread.read)
	}
	if w := sendRaw(h, "/stream", "", "", unread, -1); w.Code != 413 || unread.read > rawLimit+1 {
		t.Errorf("a body without end: %d after %d bytes", w.Code, unread.read)
	}
}

// TestRawShares reads large raw bodies until the memory for bodies is full. RawBody counts; a handler that streams does not. Callers
// with a credential have other memory than those without, and count as changes in progress.
func TestRawShares(t *testing.T) {
	t.Parallel()
	running, end, ended := make(chan struct{}), make(chan struct{}), make(chan int)
	h := rawHandler(func(g *gin.Context) {
		if g.GetHeader("Wait") != "" {
			running <- struct{}{}
			<-end
		}
	})
	request := func(path, address, token string, wait bool) int {
		r := httptest.NewRequest("POST", path, strings.NewReader(strings.Repeat("x", rawLimit)))
		r.RemoteAddr = address + ":1"
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if wait {
			r.Header.Set("Wait", "true")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	expect := func(want int, what, path, address, token string) {
		t.Helper()
		if got := request(path, address, token, false); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	hold := func(path, address, token string) {
		go func() { ended <- request(path, address, token, true) }()
		select {
		case <-running:
		case status := <-ended:
			t.Fatalf("%s from %s: %d", path, address, status)
		}
	}
	release := func(n int) {
		for range n {
			end <- struct{}{}
		}
		for range n {
			if status := <-ended; status != 200 {
				t.Errorf("a body that was held: %d", status)
			}
		}
	}
	hold("/public", "192.0.2.1", "")
	expect(503, "a second body of the network", "/public", "192.0.2.1", "")
	expect(503, "a second body of the network to an open route", "/open", "192.0.2.1", "")
	expect(200, "a second body that is streamed", "/stream", "192.0.2.1", "")
	for i := 2; i <= 4; i++ {
		hold("/public", fmt.Sprintf("192.0.2.%d", i), "")
	}
	expect(503, "a fifth network", "/public", "192.0.2.5", "")
	expect(503, "a fifth network and an open route, which ignores the credential", "/open", "192.0.2.5", "master")
	user, other := store.NewID().Hex(), store.NewID().Hex()
	expect(200, "a user", "/public", "192.0.2.5", user)
	expect(200, "the master key", "/public", "192.0.2.5", "master")
	expect(200, "an API key", "/public", "192.0.2.5", access.KeyPrefix)
	release(4)
	expect(200, "after the others", "/public", "192.0.2.5", "")

	hold("/stream", "192.0.2.1", user)
	expect(429, "another change of the user", "/public", "192.0.2.1", user)
	expect(200, "another user", "/public", "192.0.2.1", other)
	release(1)
}
