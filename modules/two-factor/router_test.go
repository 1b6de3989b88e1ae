package twofactor_test

import (
	"encoding/base64"
	"encoding/xml"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

type request = testkit.Request

const (
	mine       = "/users/me/two-factor"
	secondStep = "/auth/second-factor"
)

// holder is a user with a second factor.
type holder struct {
	testkit.Account
	t        *testing.T
	api      *testkit.API
	secret   string
	recovery []string
}

// code returns the code that is current after the duration future.
func code(t *testing.T, api *testkit.API, secret string, future time.Duration) string {
	t.Helper()
	c, err := totp.GenerateCode(secret, api.Clock.Now().Add(future))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// basic returns a request with the user's password.
func basic(method, path string, a testkit.Account, form url.Values) request {
	return request{Method: method, Path: path, Email: a.Email, Password: testkit.Password, Form: form}
}

func values(pairs ...string) url.Values {
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

// create starts the enrolment of a user and returns the secret.
func create(api *testkit.API, a testkit.Account) string {
	return api.Do(basic("POST", mine, a, nil)).JSON(201)["secret"].(string)
}

// enrol enrols a user, and then advances the clock by one time step.
func enrol(t *testing.T, api *testkit.API, a testkit.Account) *holder {
	t.Helper()
	h := &holder{Account: a, t: t, api: api, secret: create(api, a)}
	body := api.Do(request{Method: "PUT", Path: mine, As: a.Token, Form: values("code", code(t, api, h.secret, 0))}).JSON(200)
	for _, c := range body["recoveryCodes"].([]any) {
		h.recovery = append(h.recovery, c.(string))
	}
	api.Clock.Advance(30 * time.Second)
	return h
}

func (h *holder) code() string { return code(h.t, h.api, h.secret, 0) }

// challenge signs in with the password and returns the challenge.
func (h *holder) challenge() string {
	h.t.Helper()
	return challengeIn(h.t, h.api.Do(basic("POST", "/auth", h.Account, values("access_token", testkit.MasterKey))))
}

// challengeIn returns the challenge of a response, which must have one.
func challengeIn(t *testing.T, response testkit.Response) string {
	t.Helper()
	body := response.JSON(401)
	challenge, _ := body["challenge"].(string)
	if body["code"] != "second_factor_required" || challenge == "" || body["token"] != nil {
		t.Fatalf("no challenge: %s", response.Body)
	}
	if cache := response.Header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("a challenge with Cache-Control %q", cache)
	}
	return challenge
}

// answer completes a sign-in.
func answer(api *testkit.API, challenge, name, code string) testkit.Response {
	return api.Do(request{Method: "POST", Path: secondStep, Form: values("challenge", challenge, name, code)})
}

func TestSequence(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	state := func(enabled bool, left float64) {
		t.Helper()
		body := api.Do(request{Method: "GET", Path: mine, As: ada.Token}).JSON(200)
		if body["enabled"] != enabled || body["recoveryCodesLeft"] != left {
			t.Errorf("the state is %v, want %t, %v", body, enabled, left)
		}
	}
	state(false, 0)
	api.Do(request{Method: "PUT", Path: mine, As: ada.Token, Form: values("code", "123456")}).Want(409, "POST /users/me/two-factor")

	response := api.Do(basic("POST", mine, ada, nil))
	body := response.JSON(201)
	link, err := url.Parse(body["otpauthUrl"].(string))
	if err != nil || link.Scheme != "otpauth" || link.Host != "totp" || link.Path != "/test:"+ada.Email || link.Query().Get("secret") != body["secret"] {
		t.Errorf("the URL is %v, %v", link, err)
	}
	checkSVG(t, body["qr"].(string))
	if got := response.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control of the secret is %q", got)
	}
	state(false, 0)
	api.SignIn(ada.Email, testkit.Password) // not confirmed: no effect

	h := enrol(t, api, ada) // the second secret replaces the first
	if len(h.recovery) != 10 {
		t.Errorf("%d recovery codes", len(h.recovery))
	}
	state(true, 10)
	api.Do(basic("POST", mine, ada, nil)).Want(403, "second_factor_required")
	api.Do(basic("POST", mine, ada, values("recovery_code", h.recovery[0]))).Want(409, "is on")
	api.Do(request{Method: "PUT", Path: mine, As: ada.Token, Form: values("code", h.code())}).Want(409, "is on")

	answer(api, h.challenge(), "code", h.code()).Want(201, `"refreshToken"`)
	answer(api, h.challenge(), "recovery_code", strings.ToUpper(strings.ReplaceAll(h.recovery[3], "-", " "))).Want(201, `"refreshToken"`)
	api.Do(request{Method: "GET", Path: "/auth/sessions?fields=amr", As: ada.Token}).Want(200, `"amr":["pwd","otp","mfa"]`)
	state(true, 8)

	api.Clock.Advance(30 * time.Second)
	api.Do(basic("DELETE", mine, ada, nil)).Want(403, "second_factor_required")
	api.Do(basic("DELETE", mine, ada, values("code", h.code()))).Want(204)
	state(false, 0)
	api.Do(basic("DELETE", mine, ada, values("code", h.code()))).Want(404, "not_found")
	api.SignIn(ada.Email, testkit.Password)
}

// checkSVG checks that a data URL has a square SVG image.
func checkSVG(t *testing.T, address string) {
	t.Helper()
	encoded, ok := strings.CutPrefix(address, "data:image/svg+xml;base64,")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || !strings.Contains(string(raw), `viewBox="0 0 5`) {
		t.Errorf("%v: %s", err, raw)
	}
	for d := xml.NewDecoder(strings.NewReader(string(raw))); err == nil; {
		_, err = d.Token()
	}
	if err != io.EOF {
		t.Errorf("the SVG is not XML: %v", err)
	}
}

func TestProofs(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	h := enrol(t, api, api.SignUp("user"))
	for name, test := range map[string]struct {
		form url.Values
		code string
	}{
		"none":         {url.Values{}, `"param":"code","code":"required"`}, // beside challenge
		"both":         {values("code", h.code(), "recovery_code", h.recovery[0]), `"code":"required"`},
		"letters":      {values("code", "abcdef"), `"code":"format"`},
		"too short":    {values("code", "12345"), `"Must be 6 digits."`},
		"wrong":        {values("recovery_code", "abcd-efgh-ijkl-mnop"), `"param":"recovery_code","code":"wrong"`},
		"unknown name": {values("recoveryCode", h.recovery[0]), `"code":"unknown"`},
	} {
		if name != "none" {
			test.form.Set("challenge", h.challenge())
		}
		t.Run(name, func(t *testing.T) {
			api.Do(request{Method: "POST", Path: secondStep, Form: test.form}).Want(400, test.code)
		})
	}
	answer(api, "x", "code", h.code()).Want(401, "Sign in again")
	answer(api, h.challenge(), "code", " "+h.code()[:3]+" "+h.code()[3:]).Want(201, h.Email)
}

func TestAdminRemoves(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	h, admin := enrol(t, api, api.SignUp("user")), api.SignUp("admin")
	remove := func(id string, as testkit.Account) testkit.Response {
		return api.Do(request{Method: "DELETE", Path: "/users/" + id + "/two-factor", As: as.Token})
	}
	get := func(id string) testkit.Response {
		return api.Do(request{Method: "GET", Path: "/users/" + id + "/two-factor", As: admin.Token})
	}
	get(h.ID).Want(200, `{"enabled":true,"recoveryCodesLeft":10}`)
	get(admin.ID).Want(200, `"enabled":false`)
	get(store.NewID().Hex()).Want(404, "not_found")
	remove(admin.ID, admin).Want(403, "with a code")
	pending := h.challenge()
	remove(h.ID, admin).Want(204)
	remove(h.ID, admin).Want(404, "not_found")
	answer(api, pending, "code", h.code()).Want(401, "Sign in again")
	api.SignIn(h.Email, testkit.Password)
	h.secret = create(api, h.Account) // not confirmed
	answer(api, pending, "code", h.code()).Want(401, "Sign in again")
	api.Do(basic("DELETE", mine, h.Account, values("code", h.code()))).Want(404, "not_found")
	remove(h.ID, admin).Want(404, "not_found")
	if n := factors(t, api); n != 0 {
		t.Errorf("%d second factors are left", n)
	}
}

// TestRequired checks what an admin without a second factor may do.
func TestRequired(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("REQUIRE_TWO_FACTOR", "admin"))
	admin, user := api.SignUp("admin"), api.SignUp("user")
	allowed := []string{
		"GET /users/me", "DELETE /users/:id", "DELETE /users/:id/sessions", "DELETE /auth", "DELETE /auth/sessions", "DELETE /auth/sessions/:id",
		"POST /auth/refresh", "POST /auth/passkey", "POST " + secondStep, "PUT /auth/email-code", "GET " + mine, "PUT " + mine, "POST " + mine, "DELETE " + mine,
		"PUT /users/me/email", "PUT /users/:id/password", "DELETE /users/:id/api-keys/:keyId", "POST /users/me/email-verification",
		"GET /users/:id/picture", "GET /organization-invitations/:token",
	}
	others := []string{"livez", "readyz", "openapi.json", "docs", "password-resets", "email-verifications", "mcp"} // without an account, or with other credentials
	for _, route := range api.Handler.Routes() {
		method, path, _ := strings.Cut(route, " ")
		if slices.Contains(allowed, route) || slices.Contains(others, strings.Split(path, "/")[1]) {
			continue
		}
		response := api.Do(request{Method: method, Path: strings.Replace(path, ":id", user.ID, 1), As: admin.Token})
		if response.Status != 401 { // 401: the route requires another kind of credential
			response.Want(403, "two_factor_required")
		}
	}
	list := request{Method: "GET", Path: "/users", As: admin.Token}
	api.Do(list).Want(403, "two_factor_required")
	api.Do(request{Method: "DELETE", Path: "/users/" + user.ID, As: admin.Token}).Want(403, "two_factor_required")
	api.Do(request{Method: "GET", Path: "/users/me", As: admin.Token}).Want(200, admin.Email)
	api.Do(request{Method: "GET", Path: mine, As: admin.Token}).Want(200, `"enabled":false`)
	api.Do(request{Method: "GET", Path: "/users/me", As: user.Token}).Want(200, user.Email)

	h := enrol(t, api, admin)
	api.Do(list).Want(200, user.Email) // the same session
	api.Do(basic("DELETE", mine, admin, values("code", h.code()))).Want(204)
	api.Do(list).Want(403, "two_factor_required")
	api.Do(request{Method: "DELETE", Path: "/auth", As: admin.Token}).Want(204)

	promoted := api.SignUp("user")
	boss := enrol(t, api, api.SignUp("admin"))
	api.Do(request{Method: "PATCH", Path: "/users/" + promoted.ID, As: boss.Token, Form: values("role", "admin")}).Want(200, `"admin"`)
	api.Do(request{Method: "GET", Path: "/users", As: promoted.Token}).Want(403, "two_factor_required")
}

// TestNotices checks the emails to a user whose second factor changes.
func TestNotices(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("SECURITY_NOTICES", "true"))
	next := func(event string) {
		t.Helper()
		if message := api.Email.Next(t); !strings.Contains(message.Text, event) {
			t.Errorf("the notice is %s, want %q", message.Text, event)
		}
	}
	h, admin := enrol(t, api, api.SignUp("user")), api.SignUp("admin")
	next("was turned on")
	api.Do(basic("DELETE", mine, h.Account, values("code", h.code()))).Want(204)
	next("was turned off")
	h = enrol(t, api, h.Account)
	next("was turned on")
	api.Do(request{Method: "DELETE", Path: "/users/" + h.ID + "/two-factor", As: admin.Token}).Want(204)
	next("An administrator turned off")
	create(api, h.Account) // not confirmed
	api.Do(request{Method: "DELETE", Path: "/users/" + h.ID + "/two-factor", As: admin.Token}).Want(404)
	api.Finish()
	api.Email.None(t)
}

func TestDeletedWithUser(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	h := enrol(t, api, api.SignUp("user"))
	pending := h.challenge()
	api.Do(request{Method: "DELETE", Path: "/users/me", As: h.Token, Form: values("recovery_code", h.recovery[0])}).Want(204)
	answer(api, pending, "code", h.code()).Want(401, "Sign in again")
	if n := factors(t, api); n != 0 {
		t.Errorf("%d second factors are left", n)
	}
}

// TestKeyRotation changes the key that encrypts secrets.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	const first, second = "first-two-factor-key-0123456789abcdef", "second-two-factor-key-0123456789abcde"
	h := enrol(t, api, api.SignUp("user"))
	for _, step := range []struct {
		name   string
		env    map[string]string
		status int
	}{
		{"another key, JWT_SECRET still decrypts", map[string]string{"TWO_FACTOR_KEY": first}, 201}, // encrypts with first
		{"another JWT_SECRET", map[string]string{"TWO_FACTOR_KEY": first, "JWT_SECRET": second}, 201},
		{"a second key", map[string]string{"TWO_FACTOR_KEY": second + "," + first}, 201}, // encrypts with second
		{"without the first", map[string]string{"TWO_FACTOR_KEY": second}, 201},
		{"the key as JWT_SECRET", map[string]string{"JWT_SECRET": second}, 201},
		{"lost", map[string]string{"TWO_FACTOR_KEY": first}, 500},
	} {
		var options []testkit.Option
		for name, value := range step.env {
			options = append(options, testkit.Env(name, value))
		}
		h.api = api.Instance(options...)
		api.Clock.Advance(30 * time.Second)
		t.Log(step.name)
		answer(h.api, h.challenge(), "code", h.code()).Want(step.status)
	}
	answer(h.api, h.challenge(), "recovery_code", h.recovery[0]).Want(201)
}
