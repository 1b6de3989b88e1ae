package passwordreset_test

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	netmail "net/mail"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

type request = testkit.Request

var row = testkit.Row

const (
	page        = testkit.LinkOrigin + "/reset/{token}"
	newPassword = "a better horse battery"
)

// ask requests a reset.
func ask(api *testkit.API, email string) testkit.Response {
	return api.Do(request{Method: "POST", Path: "/password-resets", As: testkit.MasterKey, Form: url.Values{"email": {email}, "link": {page}}})
}

// token requests a reset and returns the token of the email.
func token(t *testing.T, api *testkit.API, email string) string {
	t.Helper()
	ask(api, email).Want(202)
	return emailtest.Token(t, api.Email.Next(t))
}

// TestNotice completes a reset. The user receives a notice without a link.
func TestNotice(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("SECURITY_NOTICES", "true"))
	ada := api.SignUp("user")
	path := "/password-resets/" + token(t, api, ada.Email)
	api.Do(request{Method: "PUT", Path: path, Form: url.Values{"password": {newPassword}}}).JSON(200)
	if message := api.Email.Next(t); message.To != ada.Email || !strings.Contains(message.Text, "The password of your account was reset.") || strings.Contains(message.Text, "http") {
		t.Errorf("%+v", message)
	}
	api.Finish()
	api.Email.None(t)
}

func TestCreate(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	form := func(email, link string) url.Values { return url.Values{"email": {email}, "link": {link}} }
	post := func(r request) request {
		r.Method, r.Path = "POST", "/password-resets"
		return r
	}
	api.Run(t, []testkit.Scenario{
		row("form", post(request{As: testkit.MasterKey, Form: form(ada.Email, page)}), 202, []string{"{}"}, []string{ada.Email, ada.ID}),
		row("JSON with the key in the body", post(request{JSON: map[string]string{"email": ada.Email, "link": page, "access_token": testkit.MasterKey}}), 202, []string{"{}"}, nil),
		row("unknown address", post(request{As: testkit.MasterKey, Form: form("nobody@example.com", page)}), 202, []string{"{}"}, nil),
		row("no key", post(request{Form: form(ada.Email, page)}), 401, []string{"master key is missing"}, nil),
		row("empty body", post(request{As: testkit.MasterKey, Form: url.Values{}}), 400,
			[]string{`"param":"email","code":"required"`}, nil),
		row("no link", post(request{As: testkit.MasterKey, Form: url.Values{"email": {ada.Email}}}), 400, []string{`"param":"link","code":"required"`}, nil),
		row("invalid address", post(request{As: testkit.MasterKey, Form: form("ada", page)}), 400, []string{`"param":"email","code":"format"`}, nil),
		row("another site", post(request{As: testkit.MasterKey, Form: form(ada.Email, "https://evil.example/{token}")}), 400,
			[]string{`"param":"link","code":"one_of"`, `"expected":["https://app.example.com"]`}, []string{"evil"}),
		row("long link", post(request{As: testkit.MasterKey, Form: form(ada.Email, page+strings.Repeat("x", 2000))}), 400, []string{`"param":"link","code":"max_length"`}, nil),
		row("upper case", post(request{As: testkit.MasterKey, Form: form(strings.ToUpper(ada.Email), "HTTPS://APP.EXAMPLE.COM/reset")}), 202, []string{"{}"}, nil),
	})
	api.Finish()
	for range 3 {
		if m := api.Email.Next(t); m.To != ada.Email {
			t.Errorf("to %s", m.To)
		}
	}
	api.Email.None(t)
	for _, line := range api.Log.Lines() {
		if strings.Contains(line, ada.Email) || strings.Contains(line, "app.example.com") {
			t.Errorf("the log contains the address or link: %s", line)
		}
	}
}

// TestSameResponse checks that known, unknown and rate-limited addresses get the same status, headers and body.
func TestSameResponse(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	same := func(email string) string {
		response := ask(api, email)
		response.Header.Del("X-Request-Id")
		response.Header.Del("Date")
		var b strings.Builder
		_ = response.Header.Write(&b) // sorts by name
		return http.StatusText(response.Status) + "\n" + b.String() + string(response.Body)
	}
	for i := range 7 {
		known, unknown := same(ada.Email), same("nobody@example.com")
		if known != unknown || !strings.HasPrefix(known, "Accepted\n") || !strings.HasSuffix(known, "{}\n") {
			t.Errorf("request %d of a known address:\n%s\nunknown:\n%s", i+1, known, unknown)
		}
	}
	api.Finish()
	for range 5 {
		api.Email.Next(t)
	}
	api.Email.None(t)
}

func TestShowAndComplete(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	first, second := token(t, api, ada.Email), token(t, api, ada.Email)
	at := func(token string) string { return "/password-resets/" + token }
	show := api.Do(request{Method: "GET", Path: at(second)})
	if view := show.JSON(200); view["token"] != second || view["user"].(map[string]any)["id"] != ada.ID || len(view) != 3 || len(view["user"].(map[string]any)) != 3 {
		t.Errorf("%s", show.Body)
	}
	if cache := show.Header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("Cache-Control %q", cache)
	}
	expires := api.Clock.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.") // to the millisecond
	api.Run(t, []testkit.Scenario{
		row("show again", request{Method: "GET", Path: at(second)}, 200, []string{`"expiresAt":"` + expires}, []string{ada.Email}),
		row("no password", request{Method: "PUT", Path: at(second), Form: url.Values{}}, 400, []string{`"param":"password","code":"required"`}, nil),
		row("short", request{Method: "PUT", Path: at(second), Form: url.Values{"password": {"x"}}}, 400, []string{`"code":"min_length"`}, nil),
		row("common", request{Method: "PUT", Path: at(second), Form: url.Values{"password": {"password123"}}}, 400, []string{`"code":"too_common"`}, nil),
		row("huge", request{Method: "PUT", Path: at(second), JSON: map[string]string{"password": strings.Repeat("x", 15_000)}}, 400, []string{`"code":"max_length"`}, nil),
		row("sessions continue until then", request{Method: "GET", Path: "/users/me", As: ada.Token}, 200, nil, nil),
		row("set more", request{Method: "PUT", Path: at(second), Form: url.Values{"password": {newPassword}, "role": {"admin"}}}, 400, []string{`"param":"role","code":"unknown"`}, nil),
		row("set", request{Method: "PUT", Path: at(second), Form: url.Values{"password": {newPassword}}}, 200,
			[]string{`"id":"` + ada.ID, `"email":"` + ada.Email, `"role":"user"`, `"createdAt":"`}, []string{newPassword}),
		row("set again", request{Method: "PUT", Path: at(second), Form: url.Values{"password": {newPassword}}}, 404, []string{"This reset does not exist"}, nil),
		row("the other token", request{Method: "PUT", Path: at(first), Form: url.Values{"password": {newPassword}}}, 404, []string{"This reset does not exist"}, nil),
		row("show a used one", request{Method: "GET", Path: at(second)}, 404, []string{"This reset does not exist"}, nil),
		row("the sessions have ended", request{Method: "GET", Path: "/users/me", As: ada.Token}, 401, nil, nil),
		row("the old password", testkit.SignInRequest(ada.Email, testkit.Password), 401, nil, nil),
		row("the new password", testkit.SignInRequest(ada.Email, newPassword), 201, nil, nil),
	})
	if n := api.Count("resets"); n != 0 {
		t.Errorf("%d resets are left", n)
	}
}

// TestConcurrentComplete checks that one of twenty calls with two tokens succeeds.
func TestConcurrentComplete(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	resets := []string{token(t, api, ada.Email), token(t, api, ada.Email)}
	statuses := make(chan int)
	for i := range 20 {
		go func() {
			statuses <- api.Do(request{Method: "PUT", Path: "/password-resets/" + resets[i%2], Form: url.Values{"password": {newPassword}}}).Status
		}()
	}
	count := map[int]int{}
	for range 20 {
		count[<-statuses]++
	}
	if count[200] != 1 || count[404] != 19 {
		t.Errorf("statuses %v", count)
	}
}

// TestPublicSignup checks that without the master key the client's network is rate limited.
func TestPublicSignup(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("PUBLIC_SIGNUP", "true"))
	post := request{Method: "POST", Path: "/password-resets", Form: url.Values{"email": {"nobody@example.com"}, "link": {page}}}
	for range 100 {
		api.Do(post).Want(202)
	}
	response := api.Do(post)
	if response.Status != 429 || response.Header.Get("Retry-After") != "3600" || response.Header.Get("RateLimit") != `"reset-requests";r=0;t=3600` {
		t.Errorf("status %d, %v", response.Status, response.Header)
	}
	post.As = testkit.MasterKey
	if response := api.Do(post); response.Status != 202 {
		t.Errorf("with the master key: status %d", response.Status)
	}
}

// TestBySMTP resets a password with an email that a test SMTP server receives.
func TestBySMTP(t *testing.T) {
	t.Parallel()
	server := emailtest.StartSMTP(t, func(s *emailtest.SMTP) { s.User, s.Password = "ginseng", "hunter2" })
	sender, err := email.New(email.Settings{URL: server.URL(), From: "Ginseng <no-reply@example.org>"}, email.Options{RootCAs: server.RootCAs})
	if err != nil {
		t.Fatal(err)
	}
	api := apitest.Start(t, func(c *testkit.Config) { c.Sender = sender })
	ada := api.SignUp("user")
	ask(api, ada.Email).Want(202)
	got := server.Next(t)
	m, err := netmail.ReadMessage(bytes.NewReader(got.Data))
	if err != nil || got.To != ada.Email || !got.TLS {
		t.Fatalf("to %s, TLS %v, %v", got.To, got.TLS, err)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	part, err := multipart.NewReader(m.Body, params["boundary"]).NextRawPart()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(part))
	if err != nil {
		t.Fatal(err)
	}
	put := request{Method: "PUT", Path: "/password-resets/" + emailtest.Token(t, email.Message{Text: string(text)}), Form: url.Values{"password": {newPassword}}}
	api.Do(put).Want(200)
	api.Finish()
	server.None(t)
}

// TestLinkOfThePage sends wrong links without the master key, which must not use up the emails of the account. Without a
// link, the email leads to the only page in RESET_LINK_ORIGINS with a path.
func TestLinkOfThePage(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("PUBLIC_SIGNUP", "true"), testkit.Env("RESET_LINK_ORIGINS", testkit.LinkOrigin+"/account/reset"))
	ada := api.SignUp("user")
	post := func(link string) testkit.Response {
		form := url.Values{"email": {ada.Email}}
		if link != "" {
			form.Set("link", link)
		}
		return api.Do(request{Method: "POST", Path: "/password-resets", Form: form})
	}
	for _, wrong := range []string{"/nowhere", "/redirect?to=https://evil.example/&t={token}", "/account/reset/../x", "/account"} {
		if response := post(testkit.LinkOrigin + wrong); response.Status != 400 || response.Header.Get("RateLimit") != "" {
			t.Errorf("%s: %d %s", wrong, response.Status, response.Body)
		}
	}
	for i := range 5 {
		post("").Want(202)
		if m := api.Email.Next(t); !strings.Contains(m.Text, "\n"+testkit.LinkOrigin+"/account/reset/"+emailtest.Token(t, m)+"\n") {
			t.Errorf("email %d: %s", i+1, m.Text)
		}
	}
}

// TestResetAfterLockOut signs in after a reset, from a network whose wrong passwords have used up the limit.
func TestResetAfterLockOut(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("PUBLIC_SIGNUP", "true"))
	ada := api.SignUp("user")
	signIn := func(password string) int {
		return api.Do(request{Method: "POST", Path: "/auth", Email: ada.Email, Password: password}).Status
	}
	for range 10 {
		signIn("wrong")
	}
	if status := signIn(testkit.Password); status != 429 {
		t.Fatalf("before the reset: %d", status)
	}
	put := request{Method: "PUT", Path: "/password-resets/" + token(t, api, ada.Email), Form: url.Values{"password": {newPassword}}}
	api.Do(put).Want(200)
	if status := signIn(newPassword); status != 201 {
		t.Errorf("after the reset: %d", status)
	}
}
