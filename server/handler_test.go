package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/exchange"
	"example.com/ginseng/kit/ratelimit"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/transfer"
	"example.com/ginseng/kit/telemetry"
	"example.com/ginseng/middleware"
)

const (
	masterKey  = "the-master-key"
	userToken  = "user-token"
	adminToken = "admin-token"
	nurseToken = "nurse-token"   // of a user with a role of the project
	newToken   = "new-token"     // of a user who may only read
	stopped    = "stopped-token" // of an admin who may not even read
	formType   = "application/x-www-form-urlencoded"
)

var userID = store.NewID()

var errRestricted = apperr.New(apperr.Forbidden, "Verify it.").WithCode("restricted")

// verified is a module that verifies the credentials above.
type verified struct{ routes }

func (v verified) Parts() kit.Parts { return kit.Parts{Tokens: v, Passwords: v} }

func (verified) VerifyToken(_ context.Context, token string) (access.Principal, error) {
	switch token {
	case userToken:
		return access.Principal{UserID: userID, SessionID: userID, Role: access.RoleUser, AuthTime: time.Now()}, nil
	case adminToken:
		return access.Principal{UserID: userID, SessionID: userID, Role: access.RoleAdmin}, nil
	case nurseToken:
		return access.Principal{UserID: userID, Role: "nurse"}, nil
	case newToken:
		return access.Principal{UserID: userID, SessionID: userID, Role: access.RoleUser, AuthTime: time.Now(), Restriction: &access.Restriction{Err: errRestricted, Reads: true}}, nil
	case stopped:
		return access.Principal{UserID: userID, Role: access.RoleAdmin, Restriction: &access.Restriction{Err: errRestricted}}, nil
	}
	return access.Principal{}, access.InvalidToken()
}

func (verified) VerifyPassword(_ context.Context, _ access.Client, email, password string) (access.Principal, ratelimit.States, error) {
	if email == "new@example.com" {
		return access.Principal{UserID: userID, Restriction: &access.Restriction{Err: errRestricted, Reads: true}}, nil, nil
	}
	if email == "ada@example.com" && password == "a:b" {
		return access.Principal{UserID: userID, Role: access.RoleUser}, nil, nil
	}
	return access.Principal{}, nil, apperr.New(apperr.Unauthorized, "Wrong.")
}

// routes is a module. The function adds its routes.
type routes func(r *route.Router)

func (f routes) Routes(r *route.Router) { f(r) }

func (f routes) Parts() kit.Parts { return kit.Parts{} }

var who = func(g *gin.Context) error {
	p := rest.Caller(g)
	switch {
	case p.Master:
		return rest.OK(g, "master")
	case p.IsUser():
		return rest.OK(g, p.Role)
	}
	return rest.OK(g, "anonymous")
}

func newHandler(t testing.TB, log io.Writer, module routes, set ...func(*HandlerOptions)) *Handler {
	t.Helper()
	o := HandlerOptions{
		Settings: Settings{MasterKeys: []string{masterKey}, QueryTokens: true, MaxBodyBytes: 1024, Docs: true},
		Deps:     kit.Deps{DB: &transfer.Recorder{}, Resources: &kit.Resources{}, Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil))},
		Modules:  []kit.Module{verified{module}},
		Ready:    func(context.Context) error { return nil },
		Documents: Documents{
			OpenAPI: []byte(`{"openapi":"3.0.3","servers":[{"url":"."}]}`), Swagger: []byte(`{"swagger":"2.0","basePath":"/"}`),
		},
	}
	for _, f := range set {
		f(&o)
	}
	h, err := NewHandler(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestTwoVerifiers checks that a second module that verifies the same credential is an error.
func TestTwoVerifiers(t *testing.T) {
	t.Parallel()
	none := verified{func(*route.Router) {}}
	_, err := NewHandler(HandlerOptions{
		Deps:    kit.Deps{DB: &transfer.Recorder{}, Resources: &kit.Resources{}, Now: time.Now, Log: slog.New(slog.DiscardHandler)},
		Modules: []kit.Module{none, none},
	})
	for _, want := range []string{"both implement access.TokenVerifier; remove one", "both implement access.PasswordVerifier"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not have %q: %v", want, err)
		}
	}
}

// do sends a request. header has alternating names and values.
func do(s http.Handler, method, path, contentType, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func problem(t *testing.T, w *httptest.ResponseRecorder) rest.Problem {
	t.Helper()
	var p rest.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("status %d is no problem: %v: %s", w.Code, err, w.Body)
	}
	if p.Status != w.Code || p.RequestID == "" || p.RequestID != w.Header().Get("X-Request-Id") || p.Title == "" || p.Detail == "" {
		t.Errorf("not a whole problem: %s", w.Body)
	}
	return p
}

func TestGuard(t *testing.T) {
	t.Parallel()
	s := newHandler(t, io.Discard, func(r *route.Router) {
		for path, rule := range map[string]route.Caller{
			"/public": route.Public, "/sign-in": route.SignIn, "/provider": route.Provider, "/master": route.Master, "/user": route.User, "/admin": route.Admin, "/password": route.StepUp,
			"/step-up-admin": route.StepUpAdmin, "/users/:id": route.StepUpOthers,
			"/nurse": route.Role("doctor", "nurse"), "/doctor": route.Role("doctor", "surgeon"),
		} {
			r.POST(path, rule, who)
		}
	})
	basic := func(user, password string) string {
		r := httptest.NewRequest("GET", "/", nil)
		r.SetBasicAuth(user, password)
		return r.Header.Get("Authorization")
	}
	for _, test := range []struct {
		name, path, body, authorization string
		status                          int
		want                            string // in the body
	}{
		{"no user, public", "/public", "", "", 200, "anonymous"},
		{"user, public", "/public", "", "Bearer " + userToken, 200, "user"},
		{"master, public", "/public", "", "Bearer " + masterKey, 200, "master"},
		{"bad, public", "/public", "", "Bearer x", 401, ""},
		{"Basic, public", "/public", "", basic("ada@example.com", "a:b"), 401, "has no user token"},
		{"Basic, provider", "/provider", "", basic("ada@example.com", "a:b"), 401, "has no user token"},
		{"unknown scheme, public", "/public", "", "Digest x", 401, ""},
		{"no token, public", "/public", "", "Bearer", 401, ""},
		{"Basic beside a token, public", "/public", "access_token=" + userToken, basic("a", "b"), 200, "user"},
		{"Basic, sign-in", "/sign-in", "", basic("a", "b"), 200, "anonymous"},
		{"bad, sign-in", "/sign-in", "access_token=x", basic("a", "b"), 401, ""},
		{"bad in body, public", "/public", "access_token=x", "", 401, ""},
		{"no user, master", "/master", "", "", 401, "master key is missing"},
		{"master in body", "/master", "access_token=" + masterKey, "", 200, "master"},
		{"master in query", "/master?access_token=" + masterKey, "", "", 200, "master"},
		{"master in header", "/master", "", "bearer  " + masterKey, 200, "master"},
		{"same thrice", "/master?access_token=" + masterKey, "access_token=" + masterKey, "Bearer " + masterKey, 200, "master"},
		{"two values", "/master?access_token=" + userToken, "access_token=" + masterKey, "", 400, "conflict"},
		{"two values, header", "/user?access_token=" + userToken, "", "Bearer " + masterKey, 400, `"in":"header","param":"Authorization","code":"conflict"`},
		{"twice in body", "/master", "access_token=" + masterKey + "&access_token=" + masterKey, "", 400, "type"},
		{"spaces around", "/user", "access_token=+" + userToken + "+", "", 200, "user"},
		{"wrong key", "/master", "access_token=x", "", 401, "The master key is wrong."},
		{"empty", "/master", "access_token=", "", 401, ""},
		{"user for master", "/master", "", "Bearer " + userToken, 401, "takes the master key"},
		{"master for user", "/user", "", "Bearer " + masterKey, 401, "takes a user token"},
		{"master for admin", "/admin", "", "Bearer " + masterKey, 401, "takes a user token"},
		{"user", "/user", "access_token=" + userToken, "", 200, "user"},
		{"user for admin", "/admin", "", "Bearer " + userToken, 403, ""},
		{"admin", "/admin", "", "Bearer " + adminToken, 200, "admin"},
		{"role", "/nurse", "", "Bearer " + nurseToken, 200, "nurse"},
		{"role for admin", "/admin", "", "Bearer " + nurseToken, 403, ""},
		{"role for others", "/doctor", "", "Bearer " + nurseToken, 403, "Only an admin or a user with the role doctor or surgeon"},
		{"admin for role", "/nurse", "", "Bearer " + adminToken, 200, "admin"},
		{"user for role", "/nurse", "", "Bearer " + userToken, 403, ""},
		{"master for role", "/nurse", "", "Bearer " + masterKey, 401, "takes a user token"},
		{"no user, role", "/nurse", "", "", 401, "missing"},
		{"master beside Basic", "/master", "access_token=" + masterKey, basic("a", "b"), 200, "master"},
		{"Basic alone is no token", "/user", "", basic("a", "b"), 401, "missing"},
		{"null is not given", "/user", `{"access_token":null}`, "Bearer " + userToken, 200, "user"},
		{"a number", "/user", `{"access_token":5}`, "", 400, "type"},
		{"malformed query", "/user?a=%zz", "", "Bearer " + userToken, 400, "query"},
		{"semicolon in query", "/public?a=1;b=2", "", "", 400, "query"},
		{"Basic", "/password", "", basic("ada@example.com", "a:b"), 200, "user"},
		{"wrong Basic", "/password", "", basic("ada@example.com", "a"), 401, ""},
		{"no Basic", "/password", "", "", 401, "missing"},
		{"user, step-up", "/password", "", "Bearer " + userToken, 200, "user"},
		{"user who signed in long ago, step-up", "/password", "", "Bearer " + adminToken, 403, "reauthentication_required"},
		{"master, step-up", "/password", "", "Bearer " + masterKey, 401, "takes a user token"},
		{"user, step-up of admins", "/step-up-admin", "", "Bearer " + userToken, 403, `"forbidden"`},
		{"Basic of a user, step-up of admins", "/step-up-admin", "", basic("ada@example.com", "a:b"), 403, `"forbidden"`},
		{"admin who signed in long ago", "/step-up-admin", "", "Bearer " + adminToken, 403, "reauthentication_required"},
		{"master, step-up of admins", "/step-up-admin", "", "Bearer " + masterKey, 401, "takes a user token"},
		{"user, others", "/users/65f0c1d2e3a4b5c6d7e8f901", "", "Bearer " + userToken, 200, "user"}, // the handler rejects the user
		{"admin who signed in long ago, others", "/users/65f0c1d2e3a4b5c6d7e8f901", "", "Bearer " + adminToken, 403, "reauthentication_required"},
		{"admin who signed in long ago, me", "/users/me", "", "Bearer " + adminToken, 200, "admin"},
		{"long token", "/user", "", "Bearer " + strings.Repeat("x", 500_000), 401, ""},
		{"Basic without colon", "/password", "", "Basic YWRh", 401, ""},
		{"Basic not base64", "/password", "", "Basic !!!", 401, ""},
	} {
		contentType := ""
		if test.body != "" {
			contentType = formType
		}
		if strings.HasPrefix(test.body, "{") {
			contentType = "application/json"
		}
		w := do(s, "POST", test.path, contentType, test.body, "Authorization", test.authorization)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s: %d %s, want %d %s", test.name, w.Code, w.Body, test.status, test.want)
		}
		if w.Code != 401 {
			continue
		}
		problem(t, w)
		want := "Bearer"
		if test.path == "/password" && !strings.HasPrefix(test.authorization, "Bearer") {
			want = "Basic"
		}
		if got := w.Header().Get("WWW-Authenticate"); !strings.HasPrefix(got, want+` realm="ginseng"`) {
			t.Errorf("%s: WWW-Authenticate %q", test.name, got)
		}
	}
	two := httptest.NewRequest("POST", "/user", nil)
	two.Header["Authorization"] = []string{"Bearer " + userToken, "Bearer " + adminToken}
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, two)
	if recorder.Code != 400 {
		t.Errorf("two headers: %d", recorder.Code)
	}
	off := newHandler(t, io.Discard, func(r *route.Router) {
		r.GET("/user", route.User, who)
		r.GET("/public", route.Public, who)
	}, func(o *HandlerOptions) { o.Settings.QueryTokens = false })
	if w := do(off, "GET", "/user?access_token="+userToken, "", ""); w.Code != 401 {
		t.Errorf("QUERY_TOKENS=false: %d", w.Code)
	}
	if w := do(off, "GET", "/public?access_token="+userToken, "", ""); w.Code != 400 || !strings.Contains(w.Body.String(), `"code":"unknown"`) {
		t.Errorf("QUERY_TOKENS=false, public: %d %s", w.Code, w.Body)
	}
	for path, want := range map[string]int{"/public?access_token=" + userToken: 200, "/public?limit=1": 400, "/public?acess_token=x": 400} {
		if w := do(s, "POST", path, "", ""); w.Code != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	bare := newHandler(t, io.Discard, func(r *route.Router) { r.GET("/public", route.Public, who) }, func(o *HandlerOptions) { o.Modules = []kit.Module{o.Modules[0].(verified).routes} })
	if w := do(bare, "GET", "/public?access_token="+userToken, "", ""); w.Code != 401 {
		t.Errorf("a service without users: %d", w.Code)
	}
}

func TestRestriction(t *testing.T) {
	t.Parallel()
	s := newHandler(t, io.Discard, func(r *route.Router) {
		for path, rule := range map[string]route.Caller{
			"/public": route.Public, "/sign-in": route.SignIn, "/provider": route.Provider, "/user": route.User, "/admin": route.Admin, "/password": route.StepUp,
		} {
			r.GET(path, rule, who)
			r.POST(path, rule, who)
			r.POST("/restricted"+path, rule, who, route.AllowRestricted)
		}
	})
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("new@example.com:x"))
	for _, test := range []struct {
		path, authorization string
		statuses            [3]int // of GET, of POST, and of POST with AllowRestricted
	}{
		{"/public", newToken, [3]int{200, 403, 200}},
		{"/public", stopped, [3]int{403, 403, 200}},
		{"/sign-in", newToken, [3]int{200, 403, 200}},
		{"/provider", newToken, [3]int{200, 403, 200}},
		{"/user", newToken, [3]int{200, 403, 200}},
		{"/user", stopped, [3]int{403, 403, 200}},
		{"/admin", stopped, [3]int{403, 403, 200}},
		{"/password", basic, [3]int{200, 403, 200}},
	} {
		if !strings.HasPrefix(test.authorization, "Basic") {
			test.authorization = "Bearer " + test.authorization
		}
		for i, call := range []string{"GET ", "POST ", "POST /restricted"} {
			method, prefix, _ := strings.Cut(call, " ")
			w := do(s, method, prefix+test.path, "", "", "Authorization", test.authorization)
			if w.Code != test.statuses[i] || w.Code == 403 && problem(t, w).Code != errRestricted.Code {
				t.Errorf("%s%s, %s: %d %s, want %d", call, test.path, test.authorization, w.Code, w.Body, test.statuses[i])
			}
		}
		head := do(s, "HEAD", test.path, "", "", "Authorization", test.authorization)
		if head.Code != test.statuses[0] {
			t.Errorf("HEAD %s, %s: %d, want %d", test.path, test.authorization, head.Code, test.statuses[0])
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := newHandler(t, &log, func(r *route.Router) {
		r.POST("/body", route.User, who)
		r.GET("/panic", route.Public, func(*gin.Context) error { panic("secret inside") })
		r.GET("/unknown", route.Public, func(*gin.Context) error { return errors.New("secret inside") })
		r.GET("/unavailable", route.Public, func(*gin.Context) error { return store.Unavailable(errors.New("secret inside")) })
	})
	for _, test := range []struct {
		name, method, path, contentType, body string
		status                                int
		code                                  apperr.Code
	}{
		{"unknown route", "GET", "/nowhere", "", "", 404, apperr.NotFound},
		{"wrong method", "DELETE", "/panic", "", "", 405, apperr.MethodNotAllowed},
		{"wrong method, malformed query", "DELETE", "/panic?%zz", "", "", 405, apperr.MethodNotAllowed},
		{"unknown route, malformed query", "GET", "/nope?%zz", "", "", 404, apperr.NotFound},
		{"trailing slash", "GET", "/panic/", "", "", 404, apperr.NotFound},
		{"malformed before credential", "POST", "/body", "application/json", "{", 400, apperr.MalformedBody},
		{"large before credential", "POST", "/body", formType, "a=" + strings.Repeat("x", 2000), 413, apperr.PayloadTooLarge},
		{"text before credential", "POST", "/body", "text/plain", "x", 415, apperr.UnsupportedMediaType},
		{"credential", "POST", "/body", formType, "a=1", 401, apperr.Unauthorized},
		{"panic", "GET", "/panic", "", "", 500, apperr.Internal},
		{"unknown error", "GET", "/unknown", "", "", 500, apperr.Internal},
		{"unavailable", "GET", "/unavailable", "", "", 503, apperr.Unavailable},
		{"no such file of the docs", "GET", "/docs/nothing.js", "", "", 404, apperr.NotFound},
		{"directory of the docs", "GET", "/docs/a/index.html", "", "", 404, apperr.NotFound},
	} {
		w := do(s, test.method, test.path, test.contentType, test.body)
		if p := problem(t, w); w.Code != test.status || p.Code != test.code {
			t.Errorf("%s: %d %s, want %d %s", test.name, w.Code, p.Code, test.status, test.code)
		}
		if strings.Contains(w.Body.String(), "secret inside") {
			t.Errorf("%s: the response contains the cause: %s", test.name, w.Body)
		}
		if w.Code == 405 && w.Header().Get("Allow") != "GET, OPTIONS, HEAD" {
			t.Errorf("Allow: %q", w.Header().Get("Allow"))
		}
		if accept := w.Header().Get("Accept"); w.Code == 415 && !strings.HasPrefix(accept, "application/json, ") {
			t.Errorf("Accept: %q", accept)
		}
		if strings.HasSuffix(test.path, "/") && !strings.Contains(w.Body.String(), "slash") {
			t.Errorf("%s does not mention the slash: %s", test.path, w.Body)
		}
		if w.Code == 503 && w.Header().Get("Retry-After") != "5" {
			t.Errorf("Retry-After: %q", w.Header().Get("Retry-After"))
		}
	}
	if n := strings.Count(log.String(), "secret inside"); n != 3 {
		t.Errorf("three causes are in the log %d times:\n%s", n, log.String())
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := newHandler(t, &log, func(r *route.Router) {
		r.GET("/things/:id", route.Public, func(g *gin.Context) error { return rest.OK(g, map[string]string{"a": "<b>"}) })
	}, func(o *HandlerOptions) {
		o.Settings.CORSOrigins = []string{"https://app.example.com", "https://*.example.net"}
	})

	w := do(s, "GET", "/things/1?access_token="+userToken, "", "", "X-Request-Id", "mine-1")
	if w.Header().Get("X-Request-Id") != "mine-1" || w.Body.String() != "{\"a\":\"<b>\"}\n" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	for name, want := range map[string]string{
		"Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if vary := w.Header().Values("Vary"); !slices.Contains(vary, "Authorization") {
		t.Errorf("Vary: %q", vary)
	}
	line := log.String()
	for _, want := range []string{"requestId=mine-1", "route=/things/:id", "status=200", "userId=" + userID.Hex(), "duration="} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in the log: %s", want, line)
		}
	}
	if strings.Contains(line, userToken) {
		t.Errorf("the log holds a token: %s", line)
	}
	for _, id := range []string{"with blank", strings.Repeat("x", 65), "a\tb", "ä"} {
		if got := do(s, "GET", "/livez", "", "", "X-Request-Id", id).Header().Get("X-Request-Id"); got == id || got == "" {
			t.Errorf("request ID %q: response has %q", id, got)
		}
	}
	if w := do(s, "OPTIONS", "/things/1", "", ""); w.Code != 204 || !strings.Contains(w.Header().Get("Allow"), "GET") {
		t.Errorf("OPTIONS: %d %v", w.Code, w.Header())
	}
	for origin, allowed := range map[string]bool{
		"https://app.example.com": true, "https://evil.example.com": false, "https://app.example.com.evil.com": false, "http://app.example.com": false,
		"https://a.example.net": true, "https://a.b.example.net": true, "https://example.net": false, "https://evilexample.net": false,
		"https://a.example.net.evil.com": false, "http://a.example.net": false, "https://a.example.net:8443": false,
	} {
		want := ""
		if allowed {
			want = origin
		}
		w := do(s, "GET", "/things/1", "", "", "Origin", origin)
		if exposed := w.Header().Get("Access-Control-Expose-Headers"); allowed && !(strings.Contains(exposed, "Accept-Ranges") && strings.Contains(exposed, "Content-Range") && strings.Contains(exposed, "Etag") && strings.Contains(exposed, "Www-Authenticate")) {
			t.Errorf("exposed: %q", exposed)
		}
		if got := w.Header().Get("Access-Control-Allow-Origin"); got != want || w.Code != 200 {
			t.Errorf("origin %s: %q, %d", origin, got, w.Code)
		}
		w = do(s, "OPTIONS", "/things/1", "", "", "Origin", origin, "Access-Control-Request-Method", "PATCH", "Access-Control-Request-Headers", "authorization,baggage,content-disposition,if-range,range,sentry-trace,traceparent,tracestate")
		if got := w.Header().Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("preflight of %s: %q", origin, got)
		}
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ginseng ", 1000)
	s := newHandler(t, io.Discard, func(r *route.Router) {
		r.GET("/long", route.Public, func(g *gin.Context) error { return rest.Record(g, store.Meta{Version: 7}, long) })
		r.GET("/short", route.Public, who)
	})
	plain := do(s, "GET", "/long", "", "")
	packed := do(s, "GET", "/long", "", "", "Accept-Encoding", "gzip")
	if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len() > plain.Body.Len()/10 || packed.Header().Get("Vary") != "Accept-Encoding" {
		t.Errorf("%d bytes of %d, %v", packed.Body.Len(), plain.Body.Len(), packed.Header())
	}
	unpacked, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(unpacked); err != nil || string(text) != plain.Body.String() {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if w := do(s, "GET", "/long", "", "", "Accept-Encoding", "gzip, deflate, br, zstd"); w.Header().Get("Content-Encoding") != "gzip" { // rest.IfMatch knows no other ETags
		t.Errorf("for a browser: %v", w.Header())
	}
	if w := do(s, "GET", "/short", "", "", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" {
		t.Error("a short response is compressed")
	}
	for _, tag := range []string{plain.Header().Get("ETag"), packed.Header().Get("ETag")} {
		if w := do(s, "GET", "/long", "", "", "Accept-Encoding", "gzip", "If-None-Match", tag); w.Code != 304 || w.Body.Len() != 0 || tag == "" {
			t.Errorf("%s: %d", tag, w.Code)
		}
	}
	if plain.Header().Get("ETag") == packed.Header().Get("ETag") {
		t.Error("two representations share an ETag")
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newHandler(t, io.Discard, func(r *route.Router) { r.GET("/thing", route.Public, who) }))
	t.Cleanup(server.Close)
	response, err := http.Head(server.URL + "/thing")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || response.StatusCode != 200 || len(body) != 0 || response.ContentLength != int64(len("\"anonymous\"\n")) {
		t.Errorf("HEAD: %d, %d bytes of %d, %v", response.StatusCode, len(body), response.ContentLength, err)
	}
}

// everything is a list and a feed whose responses are an export and a stream without an end.
type everything struct{ rest.Feed }

func (everything) Check(context.Context, access.Principal) error { return nil }

func (everything) Export() *rest.Export {
	return &rest.Export{
		Format: exchange.NDJSON,
		Write:  func(*exchange.Writer) (int, error) { return 0, nil },
		Next:   func(ctx context.Context) (bool, error) { return true, ctx.Err() },
	}
}

// TestSlowBody checks that the read timeout applies to bodies without an end, and that their connections are closed while
// other clients are served.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newHandler(t, io.Discard, func(r *route.Router) {
		r.POST("/thing", route.Public, who)
		r.GET("/thing", route.Public, who)
		r.GET("/export", route.Public, func(g *gin.Context) error { return rest.Page(g, everything{}) }, route.AnyQuery)
		r.GET("/stream", route.Public, func(g *gin.Context) error { return rest.ServeFeed(g, everything{}) }, route.Stream)
		r.GET("/file", route.Public, who, route.Download)
	}, func(o *HandlerOptions) {
		o.BodyTimeout, o.Settings.ChangesStreams, o.Settings.ChangesUserStreams = 100*time.Millisecond, 8, 2
	}))
	t.Cleanup(server.Close)
	for request, status := range map[string]int{
		"POST /thing":                              408,
		"POST /thing\r\nAccept-Encoding: gzip":     408, // the deadline also applies with compression
		"GET /thing":                               200,
		"GET /export?format=ndjson":                408,
		"GET /stream\r\nAccept: text/event-stream": 408,
		"GET /file":                                408,
		"POST /nowhere":                            404,
		"DELETE /thing":                            405,
		"POST /thing\r\nTransfer-Encoding: chunked\r\nX: y": 408,
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		line, headers, _ := strings.Cut(request, "\r\n")
		length := "Content-Length: 1000\r\n"
		if strings.Contains(headers, "chunked") {
			length = ""
		}
		if headers != "" {
			headers += "\r\n"
		}
		if _, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n%s%s\r\n", line, formType, length, headers); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second)) // a response without an end is a failure
		other, err := http.Get(server.URL + "/thing")
		if err != nil || other.StatusCode != 200 {
			t.Fatalf("another client: %v", err)
		}
		_ = other.Body.Close()
		response, err := io.ReadAll(conn) // until the server closes the connection
		if want := fmt.Sprintf("HTTP/1.1 %d ", status); err != nil || !strings.HasPrefix(string(response), want) {
			t.Errorf("%s: %.80s, %v", request, response, err)
		}
		_ = conn.Close()
	}
}

// TestPanicInResponse checks that the connection is closed, so that the client does not accept a partial response.
func TestPanicInResponse(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newHandler(t, io.Discard, func(r *route.Router) {
		r.GET("/half", route.Public, func(g *gin.Context) error {
			g.Header("Content-Length", "100")
			_, _ = g.Writer.WriteString("half")
			panic("oh")
		})
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(server.Close)
	response, err := http.Get(server.URL + "/half")
	if err == nil {
		_, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
	}
	if err == nil {
		t.Error("the client received a complete response")
	}
}

// TestClientAddress checks that X-Forwarded-For is used only from trusted proxies. The client address is the last address that
// is not a trusted proxy. An unreadable address of a trusted proxy is logged once.
func TestClientAddress(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		trusted   []string
		forwarded string
		want      string
		warnings  int
	}{
		"no trusted proxy":      {nil, "203.0.113.7:40001", "192.0.2.1", 0},
		"one proxy":             {[]string{"192.0.2.0/24"}, "203.0.113.7", "203.0.113.7", 0},
		"a forged hop":          {[]string{"192.0.2.0/24"}, "198.51.100.1, 203.0.113.7", "203.0.113.7", 0},
		"two proxies":           {[]string{"192.0.2.0/24", "10.0.0.0/8"}, "203.0.113.7, 10.1.2.3", "203.0.113.7", 0},
		"another is trusted":    {[]string{"10.0.0.0/8"}, "me", "192.0.2.1", 0},
		"nonsense":              {[]string{"192.0.2.0/24"}, "me", "192.0.2.1", 1},
		"a port":                {[]string{"192.0.2.0/24"}, "203.0.113.7:40001", "203.0.113.7", 0},
		"two ports":             {[]string{"192.0.2.0/24", "10.0.0.0/8"}, "me, 203.0.113.7:40001 , 10.1.2.3:80", "203.0.113.7", 0},
		"IPv6":                  {[]string{"192.0.2.0/24"}, "2001:DB8::1", "2001:db8::1", 0},
		"IPv6 and a port":       {[]string{"192.0.2.0/24"}, "[2001:db8::1]:443", "2001:db8::1", 0},
		"IPv6 in brackets":      {[]string{"192.0.2.0/24"}, "[2001:db8::1]", "2001:db8::1", 0},
		"IPv4 in brackets":      {[]string{"192.0.2.0/24"}, "[203.0.113.7]", "192.0.2.1", 1},
		"an open bracket":       {[]string{"192.0.2.0/24"}, "[2001:db8::1", "192.0.2.1", 1},
		"a port that is none":   {[]string{"192.0.2.0/24"}, "203.0.113.7:http", "192.0.2.1", 1},
		"unreadable in between": {[]string{"192.0.2.0/24", "10.0.0.0/8"}, "203.0.113.7, unknown, 10.1.2.3", "192.0.2.1", 1},
	} {
		var log strings.Builder
		s := newHandler(t, &log, func(r *route.Router) {
			r.GET("/address", route.Public, func(g *gin.Context) error { return rest.OK(g, g.ClientIP()) })
		}, func(o *HandlerOptions) { o.Settings.TrustedProxies = test.trusted })
		// httptest's requests come from 192.0.2.1.
		for range 2 {
			w := do(s, "GET", "/address", "", "", "X-Forwarded-For", test.forwarded, "X-Real-Ip", "198.51.100.2", "Forwarded", "for=198.51.100.2")
			if got := strings.TrimSpace(w.Body.String()); got != `"`+test.want+`"` {
				t.Errorf("%s: %s, want %s", name, got, test.want)
			}
		}
		if n := strings.Count(log.String(), "level=WARN"); n != test.warnings {
			t.Errorf("%s: %d warnings, want %d: %s", name, n, test.warnings, &log)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	var down error
	var log strings.Builder
	s := newHandler(t, &log, func(*route.Router) {}, func(o *HandlerOptions) {
		o.Settings.APIRoot, o.Ready = "/api", func(context.Context) error { return down }
	})
	if w := do(s, "GET", "/readyz", "", ""); w.Code != 200 {
		t.Errorf("ready: %d", w.Code)
	}
	if log.Len() > 0 {
		t.Errorf("a probe is logged, not only to debug: %s", &log)
	}
	down = store.Unavailable(errors.New("gone"))
	if w := do(s, "GET", "/readyz", "", ""); w.Code != 503 {
		t.Errorf("not ready: %d", w.Code)
	}
	if !strings.Contains(log.String(), "ERROR") {
		t.Errorf("a probe that fails is logged as %s", &log)
	}
	if w := do(s, "GET", "/livez", "", ""); w.Code != 200 {
		t.Errorf("alive: %d", w.Code)
	}
}

func BenchmarkStack(b *testing.B) {
	s := newHandler(b, io.Discard, func(r *route.Router) { r.GET("/thing/:id", route.User, who) })
	r := httptest.NewRequest("GET", "/thing/1", nil)
	r.Header.Set("Authorization", "Bearer "+userToken)
	b.ReportAllocs()
	for b.Loop() {
		s.ServeHTTP(httptest.NewRecorder(), r)
	}
}

// TestEveryRequestHasALine checks that requests that are rejected early are logged, with their method.
func TestEveryRequestHasALine(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := newHandler(t, &log, func(r *route.Router) { r.GET("/things/:id", route.Public, who) }, func(o *HandlerOptions) { o.Settings.CORSOrigins = []string{"https://app.example.com"} })
	for _, test := range []struct {
		method, path string
		preflight    bool
		want         string
	}{
		{"GET", "/things/1", false, "method=GET route=/things/:id status=200"},
		{"HEAD", "/things/1", false, "method=HEAD route=/things/:id status=200"},
		{"HEAD", "/nowhere", false, `method=HEAD route="" status=404`},
		{"OPTIONS", "/things/1", false, `method=OPTIONS route="" status=204`},
		{"OPTIONS", "/things/1", true, `method=OPTIONS route="" status=204`},
		{"POST", "/things/1", false, `method=POST route="" status=405`},
	} {
		log.Reset()
		header := []string{"Origin", "https://app.example.com"}
		if test.preflight {
			header = append(header, "Access-Control-Request-Method", "PUT")
		}
		w := do(s, test.method, test.path, "", "", header...)
		if line := log.String(); strings.Count(line, "\n") != 1 || !strings.Contains(line, test.want) || w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s %s: %s", test.method, test.path, line)
		}
		if allowed := w.Header().Get("Access-Control-Allow-Methods"); (allowed == "PUT") != test.preflight {
			t.Errorf("%s %s, preflight %v: Access-Control-Allow-Methods %q", test.method, test.path, test.preflight, allowed)
		}
	}
}

// BenchmarkRequest measures a request without and with telemetry.
func BenchmarkRequest(b *testing.B) {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	b.Cleanup(receiver.Close)
	traced := telemetry.Settings{Endpoint: receiver.URL}
	for _, bench := range []struct {
		name    string
		options telemetry.Options
	}{
		{"off", telemetry.Options{}},
		{"metrics", telemetry.Options{Metrics: true}},
		{"traces", telemetry.Options{Traces: traced}},
		{"both", telemetry.Options{Metrics: true, Traces: traced}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			bench.options.Log = slog.New(slog.DiscardHandler)
			observer, err := telemetry.New(b.Context(), bench.options)
			if err != nil {
				b.Fatal(err)
			}
			s := newHandler(b, io.Discard, func(r *route.Router) { r.GET("/things/:id", route.Public, who) }, func(o *HandlerOptions) { o.Observer = observer })
			r := httptest.NewRequest("GET", "/things/1", nil)
			b.ReportAllocs()
			for b.Loop() {
				s.ServeHTTP(httptest.NewRecorder(), r)
			}
			b.StopTimer()
			if err := observer.Shutdown(context.Background()); err != nil {
				b.Error(err)
			}
		})
	}
}

// TestNotWatched checks that disabled telemetry does not allocate.
func TestNotWatched(t *testing.T) {
	var disabled *telemetry.Observer
	r := httptest.NewRequest("GET", "/things/1", nil)
	if n := testing.AllocsPerRun(100, func() {
		ctx, seen := disabled.Begin(r, r.Method, "/things/:id")
		if ctx != r.Context() || seen.TraceID() != "" {
			t.Error("disabled telemetry is active")
		}
		seen.End(200, "")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestThirdPartyMiddleware mounts middleware of Gin, which calls Next, on one route.
func TestThirdPartyMiddleware(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := newHandler(t, io.Discard, func(r *route.Router) {
		r.GET("/with", route.User, who, route.With(gin.LoggerWithWriter(&log)))
		r.GET("/without", route.User, who)
	})
	for path, want := range map[string]bool{"/with": true, "/without": false} {
		log.Reset()
		w := do(h, "GET", path, "", "", "Authorization", "Bearer "+userToken)
		if w.Code != 200 || strings.Contains(log.String(), "200") != want {
			t.Errorf("%s: %d, logged %q", path, w.Code, &log)
		}
	}
}

// TestBodyReplacedByMiddleware mounts middleware that wraps the body. The route keeps its limits.
func TestBodyReplacedByMiddleware(t *testing.T) {
	t.Parallel()
	wrap := route.With(func(g *gin.Context) { g.Request.Body = io.NopCloser(g.Request.Body) })
	h := newHandler(t, io.Discard, func(r *route.Router) {
		r.POST("/small", route.User, who, wrap)
		r.POST("/large", route.User, who, wrap, route.LargeBody)
	}, func(o *HandlerOptions) { o.Settings.MaxBodyBytes = 2 * middleware.SmallBody })
	for path, want := range map[string]int{"/small": 413, "/large": 200} {
		body := "text=" + strings.Repeat("x", middleware.SmallBody)
		if w := do(h, "POST", path, formType, body, "Authorization", "Bearer "+userToken); w.Code != want {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
}

// TestRaw verifies signatures of bodies over HTTP, and sends bodies that are too large or too slow.
func TestRaw(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	sign := func(body []byte) string {
		mac := hmac.New(sha256.New, []byte("secret"))
		mac.Write(body)
		return hex.EncodeToString(mac.Sum(nil))
	}
	verify := func(g *gin.Context) error {
		body, err := rest.RawBody(g)
		if err != nil {
			return err
		}
		if !hmac.Equal([]byte(sign(body)), []byte(g.GetHeader("Signature"))) {
			return apperr.New(apperr.Unauthorized, "The signature is wrong.")
		}
		return rest.OK(g, len(body))
	}
	var log strings.Builder
	h := newHandler(t, &log, func(r *route.Router) { r.POST("/forgotten", route.Public, verify) })
	if w := do(h, "POST", "/forgotten", formType, "a=1", "Signature", sign([]byte("a=1"))); w.Code != 500 || !strings.Contains(log.String(), "POST /forgotten does not keep its body: add route.Raw") {
		t.Errorf("without route.Raw: %d %s, logged %s", w.Code, w.Body, &log)
	}
	add := func(r *route.Router) {
		r.POST("/open", route.Open, verify, route.Raw(limit))
		r.POST("/public", route.Public, verify, route.Raw(limit))
		r.POST("/user", route.User, verify, route.Raw(limit), route.With(func(g *gin.Context) { g.Request.Body = io.NopCloser(g.Request.Body) }))
	}
	s := httptest.NewServer(newHandler(t, io.Discard, add))
	impatient := httptest.NewServer(newHandler(t, io.Discard, add, func(o *HandlerOptions) { o.BodyTimeout = 20 * time.Millisecond }))
	t.Cleanup(s.Close)
	t.Cleanup(impatient.Close)
	post := func(s *httptest.Server, path, contentType, signature string, body io.Reader) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Signature", signature)
		if path == "/user" {
			r.Header.Set("Authorization", "Bearer "+userToken)
		}
		response, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	for _, path := range []string{"/open", "/public", "/user"} {
		for contentType, body := range map[string]string{
			formType: "b=2&a=1&access_token=x&a=%e4", "application/json": "{ \"b\":1, \"b\":2 }\n", "image/png": "\x89PNG\r\n\x1a\n\x00" + strings.Repeat("\xff", 20<<10),
		} {
			for name, reader := range map[string]io.Reader{"announced": strings.NewReader(body), "chunked": io.MultiReader(strings.NewReader(body))} {
				if status, text := post(s, path, contentType, sign([]byte(body)), reader); status != 200 || text != fmt.Sprintln(len(body)) {
					t.Errorf("%s, %s, %s: %d %s", path, contentType, name, status, text)
				}
			}
		}
		large := strings.Repeat("x", limit+1)
		for name, reader := range map[string]io.Reader{"announced": strings.NewReader(large), "chunked": io.MultiReader(strings.NewReader(large))} {
			if status, text := post(s, path, "image/png", "", reader); status != 413 {
				t.Errorf("%s, too large, %s: %d %s", path, name, status, text)
			}
		}
		slow, end := io.Pipe()
		if status, text := post(impatient, path, "image/png", "", slow); status != 408 {
			t.Errorf("%s, too slow: %d %s", path, status, text)
		}
		_ = end.Close()
	}
}
