package emailcode_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	emailcode "example.com/ginseng/modules/email-code"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

type request = testkit.Request

var row = testkit.Row

const path = "/auth/email-code"

// signup is an Option with which codes create accounts.
var signup = testkit.Env("EMAIL_CODE_SIGNUP", "true")

// ask requests a code and returns the challenge.
func ask(t *testing.T, api *testkit.API, address string) string {
	t.Helper()
	return askFrom(t, api, address, "127.0.0.1")
}

// askFrom is like ask, for a client with another address. The API must trust proxies.
func askFrom(t *testing.T, api *testkit.API, address, client string) string {
	t.Helper()
	r := api.Do(request{Method: "POST", Path: path, As: testkit.MasterKey, Form: url.Values{"email": {address}}}.From(client))
	if r.Status == 202 && r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a challenge with Cache-Control %q", r.Header.Get("Cache-Control"))
	}
	return r.JSON(202)["challenge"].(string)
}

func with(challenge, code string) request {
	return request{Method: "PUT", Path: path, Form: url.Values{"challenge": {challenge}, "code": {code}}}
}

func codes(api *testkit.API) *store.Collection[emailcode.Code] {
	return store.Open[emailcode.Code](api.DB, store.Spec{Name: "email-codes"})
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	challenge := ask(t, api, strings.ToUpper(ada.Email))
	message := api.Email.Next(t)
	code := apitest.Code(t, message)
	second := ask(t, api, ada.Email)
	secondCode := apitest.Code(t, api.Email.Next(t))
	if message.To != ada.Email || !strings.Contains(message.Text, "within 10 minutes") || !strings.Contains(message.HTML, ">"+code+"<") ||
		strings.Contains(message.Text+message.HTML, "http") {
		t.Errorf("%+v", message)
	}
	form := func(pairs ...string) request {
		f := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			f.Set(pairs[i], pairs[i+1])
		}
		return request{Method: "PUT", Path: path, Form: f}
	}
	json := func(body string) request { return request{Method: "PUT", Path: path, JSON: body} }
	api.Run(t, []testkit.Scenario{
		row("nothing", form(), 400, []string{`"param":"challenge","code":"required"`, `"param":"code","code":"required"`}, nil),
		row("five digits", with(challenge, code[1:]), 400, []string{`"param":"code","code":"format"`}, nil),
		row("letters", with(challenge, "abcdef"), 400, []string{`"param":"code","code":"format"`}, nil),
		row("other digits", with(challenge, "١٢٣٤٥٦"), 400, []string{`"param":"code","code":"format"`}, nil),
		row("a number", json(`{"challenge":"`+challenge+`","code":`+strings.TrimLeft(code, "0")+`}`), 400, []string{`"param":"code","code":"type"`}, nil),
		row("an operator", json(`{"challenge":{"$gt":""},"code":"`+code+`"}`), 400, []string{`"param":"challenge","code":"type"`}, nil),
		row("null", json(`{"challenge":null,"code":"`+code+`"}`), 400, []string{`"param":"challenge","code":"required"`}, nil),
		row("a long challenge", with(strings.Repeat("x", 15_000), code), 400, []string{`"code":"max_length"`}, nil),
		row("more", form("challenge", challenge, "code", code, "email", ada.Email), 400, []string{`"param":"email","code":"unknown"`}, nil),
		row("another challenge", with("x", code), 401, []string{"Request another code"}, nil),
		row("the code of the second", with(challenge, secondCode), 400, []string{`"param":"code","code":"wrong"`}, []string{secondCode}),
		row("a bad token", request{Method: "PUT", Path: path, As: "x", Form: with(challenge, code).Form}, 401, nil, nil),
		row("with spaces", with(" "+challenge, code[:3]+" "+code[3:]+" "), 201, []string{`"refreshToken"`, ada.ID, `"emailVerified":true`}, nil),
		row("again", with(challenge, code), 401, []string{"Request another code"}, nil),
		row("the second, from before the address was verified", with(second, secondCode), 401, nil, nil),
	})
	third := ask(t, api, ada.Email)
	code = apitest.Code(t, api.Email.Next(t))
	api.Clock.Advance(10*time.Minute - time.Second)
	api.Do(with(third, apitest.WrongCode(code))).Want(400, `"wrong"`)
	api.Clock.Advance(time.Second)
	api.Do(with(third, code)).Want(401, "expired")
	api.RunJobs()
	if n, err := codes(api).Count(t.Context(), nil); n != 0 || err != nil {
		t.Errorf("%d codes are left, %v", n, err)
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("TRUSTED_PROXIES", "127.0.0.1/32"))
	ada := api.SignUp("user")
	post := func(r request) request {
		r.Method, r.Path = "POST", path
		return r
	}
	form := url.Values{"email": {ada.Email}}
	api.Run(t, []testkit.Scenario{
		row("JSON with the key in the body", post(request{JSON: map[string]string{"email": ada.Email, "access_token": testkit.MasterKey}}), 202, []string{`{"challenge":"`}, []string{ada.ID}),
		row("no key", post(request{Form: form}), 401, []string{"master key is missing"}, nil),
		row("empty body", post(request{As: testkit.MasterKey, Form: url.Values{}}), 400, []string{`"param":"email","code":"required"`}, nil),
		row("invalid address", post(request{As: testkit.MasterKey, Form: url.Values{"email": {"ada"}}}), 400, []string{`"param":"email","code":"format"`}, nil),
	})
	api.Instance(testkit.Env("PUBLIC_SIGNIN", "true")).Do(post(request{Form: form})).Want(202, "challenge")
	for range 2 {
		api.Email.Next(t)
	}
	for range 4 { // three emails are left in this hour
		ask(t, api, ada.Email)
		ask(t, api, "nobody@example.com")
	}
	for range 3 {
		if m := api.Email.Next(t); m.To != ada.Email {
			t.Errorf("to %s", m.To)
		}
	}
	for site := range 4 { // networks from which the user has not signed in
		for range 6 {
			askFrom(t, api, ada.Email, fmt.Sprint("192.0.2.", site))
		}
	}
	for range 15 {
		api.Email.Next(t)
	}
	api.Finish()
	api.Email.None(t)
}

// TestSignUp creates an account with a code, once.
func TestSignUp(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, signup, testkit.Env("SIGNUP_EMAIL", "required"))
	const address = "new@bücher.example"
	first, second := ask(t, api, address), ask(t, api, address)
	emails := map[string]string{}
	for range 2 { // in any order
		m := api.Email.Next(t)
		if m.To != "new@xn--bcher-kva.example" {
			t.Errorf("to %s", m.To)
		}
		for _, challenge := range []string{first, second} {
			if r := api.Do(with(challenge, apitest.Code(t, m))); r.Status == 201 {
				body := r.JSON(201)
				u := body["user"].(map[string]any)
				emails[u["id"].(string)] = fmt.Sprint(u["email"], u["name"], u["role"], u["hasPassword"], u["emailVerified"])
				me := api.Do(request{Method: "PATCH", Path: "/users/me", As: body["token"].(string), Form: url.Values{"name": {"new"}}})
				me.Want(200, `"name":"new"`)
			}
		}
	}
	if len(emails) != 1 {
		t.Fatalf("%d accounts: %v", len(emails), emails)
	}
	for id, got := range emails {
		if got != "new@xn--bcher-kva.examplenewuserfalse true" {
			t.Errorf("%s: %s", id, got)
		}
	}
	challenge := ask(t, api, address)
	api.Do(with(challenge, apitest.Code(t, api.Email.Next(t)))).Want(201, "new")

	off := api.Instance(testkit.Env("EMAIL_CODE_SIGNUP", "false"))
	ask(t, off, "other@example.com")
	off.Finish()
	api.Email.None(t)

	// Without the master key, a code creates an account only with PUBLIC_SIGNUP.
	open := request{Method: "POST", Path: path, Form: url.Values{"email": {"third@example.com"}}}
	signIn := api.Instance(testkit.Env("PUBLIC_SIGNIN", "true"))
	signIn.Do(open).Want(202)
	signIn.Finish()
	api.Email.None(t)
	api.Instance(testkit.Env("PUBLIC_SIGNUP", "true")).Do(open).Want(202)
	api.Email.Next(t)
}

// TestSignUpLimit creates accounts with codes up to the limit of a network.
func TestSignUpLimit(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, signup)
	for i := range 21 {
		challenge := ask(t, api, fmt.Sprintf("user-%d@example.com", i))
		status := 201
		if i == 20 {
			status = 429
		}
		api.Do(with(challenge, apitest.Code(t, api.Email.Next(t)))).Want(status)
	}
}

// TestAttemptsOfChallenge makes concurrent attempts on two instances: five are compared. The code is not accepted afterwards.
func TestAttemptsOfChallenge(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	challenge := ask(t, api, ada.Email)
	code := apitest.Code(t, api.Email.Next(t))
	first := api.Do(with(challenge, apitest.WrongCode(code)))
	if got := first.Header.Get("RateLimit"); !strings.Contains(got, `"email-code";r=4;t=600`) {
		t.Errorf("RateLimit: %s", got)
	}
	if n := wrong(api, slices.Repeat([]request{with(challenge, apitest.WrongCode(code))}, 12)); n != 4 {
		t.Errorf("%d wrong codes were compared after the first", n)
	}
	api.Do(with(challenge, code)).Want(401, "too many wrong codes")
}

// wrong makes the requests concurrently on two instances, and returns how many responses report a wrong code.
func wrong(api *testkit.API, requests []request, options ...testkit.Option) int64 {
	instances := []*testkit.API{api, api.Instance(options...)}
	var n atomic.Int64
	var all sync.WaitGroup
	for i, r := range requests {
		all.Go(func() {
			if response := instances[i%2].Do(r); strings.Contains(string(response.Body), `"wrong"`) {
				n.Add(1)
			}
		})
	}
	all.Wait()
	return n.Load()
}

// TestAttemptsOfAccount makes concurrent attempts with many challenges, at a known and an unknown address: 10 per site and 25 in a
// day are compared. A right code does not count, a site that has used up its attempts leaves emails and attempts for others, and
// the networks from which the user signed in have a separate limit.
func TestAttemptsOfAccount(t *testing.T) {
	t.Parallel()
	const home, elsewhere = "198.51.100.1", "198.51.100.2"
	options := []testkit.Option{testkit.Env("TRUSTED_PROXIES", "127.0.0.1/32"), testkit.Env("PUBLIC_SIGNUP", "true")}
	api := apitest.Start(t, options...)
	for _, address := range []string{api.SignUp("user").Email, "nobody@example.com"} {
		known := address != "nobody@example.com"
		signIn := func(client string, status int) {
			t.Helper()
			challenge := askFrom(t, api, address, client)
			api.Do(with(challenge, apitest.Code(t, api.Email.Next(t))).From(client)).Want(status)
		}
		if known {
			signIn(home, 201)
		}
		for i, strangers := range [][]string{{"2001:db8:0:1::1", "2001:db8:0:2::1"}, {"192.0.2.1"}, {"192.0.2.2"}} { // a site each
			var guesses []request
			for n := range 6 {
				stranger := strangers[n%len(strangers)]
				challenge := askFrom(t, api, address, stranger)
				for range 5 {
					guesses = append(guesses, with(challenge, "000000").From(stranger))
				}
			}
			if n := wrong(api, guesses, options...); n != []int64{10, 10, 5}[i] {
				t.Errorf("%s: %d wrong codes of site %d were compared", address, n, i+1)
			}
			for range 5 { // of 6 requests
				if known {
					api.Email.Next(t)
				}
			}
			if known && i == 0 {
				signIn(elsewhere, 201)
			}
			api.Clock.Advance(time.Hour) // more emails can be sent
		}
		r := api.Do(with(askFrom(t, api, address, elsewhere), "000000").From("192.0.2.3"))
		if r.Want(429, "too_many_requests"); r.Header.Get("Retry-After") == "" || strings.Contains(r.Header.Get("RateLimit"), "account") {
			t.Errorf("%s: %v", address, r.Header)
		}
		if known {
			api.Email.Next(t)
			signIn("192.0.2.3", 429)
			signIn(home, 201)
		}
	}
}

// TestOnce uses a code concurrently on two instances, which have both compared it before either deletes it.
func TestOnce(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	challenge := ask(t, api, ada.Email)
	api.Do(with(challenge, apitest.Code(t, api.Email.Next(t)))).Want(201) // verifies the address, which ends other codes
	challenge = ask(t, api, ada.Email)
	code := apitest.Code(t, api.Email.Next(t))
	var both sync.WaitGroup
	both.Add(2)
	gated := func(c *testkit.Config) {
		c.DB = testdb.Before(c.DB, "Delete email-codes", func() {
			both.Done()
			both.Wait()
		})
	}
	var accepted atomic.Int64
	var all sync.WaitGroup
	for _, instance := range []*testkit.API{api.Instance(gated), api.Instance(gated)} {
		all.Go(func() {
			if instance.Do(with(challenge, code)).Status == 201 {
				accepted.Add(1)
			}
		})
	}
	all.Wait()
	if accepted.Load() != 1 {
		t.Errorf("the code was accepted %d times", accepted.Load())
	}
}

// TestEnded uses codes after events that invalidate them.
func TestEnded(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	admin := api.SignUp("admin")
	for name, event := range map[string]func(ada testkit.Account) request{
		"end of all sessions": func(ada testkit.Account) request {
			return request{Method: "DELETE", Path: "/users/me/sessions", As: ada.Token}
		},
		"password change": func(ada testkit.Account) request {
			return request{Method: "PUT", Path: "/users/me/password", Email: ada.Email, Password: testkit.Password, Form: url.Values{"password": {"a better horse battery"}}}
		},
		"another address": func(ada testkit.Account) request {
			return request{Method: "PATCH", Path: "/users/" + ada.ID, As: admin.Token, Form: url.Values{"email": {"x" + ada.Email}}}
		},
		"deletion": func(ada testkit.Account) request { return request{Method: "DELETE", Path: "/users/me", As: ada.Token} },
	} {
		ada := api.SignUp("user")
		challenge := ask(t, api, ada.Email)
		code := apitest.Code(t, api.Email.Next(t))
		if r := api.Do(event(ada)); r.Status >= 300 {
			t.Fatalf("%s: %s", name, r.Body)
		}
		api.Do(with(challenge, code)).Want(401, "Request another code")
	}
	ada := api.SignUp("user")
	suspend := func(value string) {
		api.Do(request{Method: "PATCH", Path: "/users/" + ada.ID, As: admin.Token, Form: url.Values{"suspended": {value}}}).JSON(200)
	}
	suspend("true")
	challenge := ask(t, api, ada.Email)
	api.Do(with(challenge, apitest.Code(t, api.Email.Next(t)))).Want(403, "suspended")
	suspend("false")
	api.SignIn(ada.Email, testkit.Password) // the address was not claimed
}

// TestClaim signs in to an account with an address that was not verified, which removes the password. A second sign-in ends no
// session.
func TestClaim(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("SECURITY_NOTICES", "true"))
	ada := api.SignUp("user")
	signIn := func() testkit.Session {
		challenge := ask(t, api, ada.Email)
		return api.Do(with(challenge, apitest.Code(t, api.Email.Next(t)))).Session()
	}
	mine := signIn()
	if notice := api.Email.Next(t); !strings.Contains(notice.Text, "were removed") {
		t.Errorf("%s", notice.Text)
	}
	api.Do(request{Method: "GET", Path: "/users/me", As: mine.Token}).Want(200, `"hasPassword":false`)
	signIn()
	api.Do(request{Method: "GET", Path: "/users/me", As: mine.Token}).Want(200, `"emailVerified":true`)
	api.Finish()
	api.Email.None(t)
}
