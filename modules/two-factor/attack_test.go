package twofactor_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	twofactor "example.com/ginseng/modules/two-factor"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/providers"
)

func collection(api *testkit.API) *store.Collection[twofactor.Factor] {
	return store.Open[twofactor.Factor](api.DB, store.Spec{Name: "factors"})
}

func factors(t *testing.T, api *testkit.API) int64 {
	t.Helper()
	n, err := collection(api).Count(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestReplay uses a code, an earlier code and a recovery code twice, also concurrently and at two instances.
func TestReplay(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	h := enrol(t, api, api.SignUp("user"))
	challenge := h.challenge()
	answer(api, challenge, "code", code(t, api, h.secret, -30*time.Second)).Want(400, `"wrong"`) // the code of the enrolment
	for name, proof := range map[string]string{"code": h.code(), "recovery_code": h.recovery[0]} {
		instances := []*testkit.API{api, api.Instance()}
		var accepted atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if answer(instances[i%2], challenge, name, proof).Status == 201 {
					accepted.Add(1)
				}
			})
		}
		all.Wait()
		if n := accepted.Load(); n != 1 {
			t.Errorf("%s was accepted %d times", name, n)
		}
	}
	api.Do(basic("DELETE", mine, h.Account, values("code", h.code()))).Want(400, `"wrong"`)
	api.Do(basic("DELETE", mine, h.Account, values("recovery_code", h.recovery[0]))).Want(400, `"wrong"`)
}

// TestConfirmBruteForce guesses the first code of an enrolment with a stolen token.
func TestConfirmBruteForce(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	secret := create(api, ada)
	for range 10 {
		api.Do(request{Method: "PUT", Path: mine, As: ada.Token, Form: values("code", "000000")})
	}
	api.Do(request{Method: "PUT", Path: mine, As: ada.Token, Form: values("code", code(t, api, secret, 0))}).Want(429, "too_many_requests")
}

// TestWrongCodesOfFormerFactor uses up the limits of a second factor, which must not block the next second factor of the account.
func TestWrongCodesOfFormerFactor(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("TRUSTED_PROXIES", "127.0.0.1/32,::1/128"))
	h, admin := enrol(t, api, api.SignUp("user")), api.SignUp("admin")
	h.lockOut()
	api.Do(h.second("code", h.code()).From("203.0.113.1")).Want(429, "too_many_requests")
	api.Do(request{Method: "DELETE", Path: "/users/" + h.ID + "/two-factor", As: admin.Token}).Want(204)
	h = enrol(t, api, h.Account)
	api.Do(h.second("code", h.code()).From("203.0.113.1")).Want(201, h.Email)
}

// TestChallenges uses challenges that must not open a session.
func TestChallenges(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := enrol(t, api, api.SignUp("user")), enrol(t, api, api.SignUp("user"))
	rejected := func(what string, response testkit.Response, status int) {
		t.Helper()
		if response.Status != status {
			t.Errorf("%s: status %d: %s", what, response.Status, response.Body)
		}
	}
	challenge := ada.challenge()
	rejected("another user's code", answer(api, challenge, "code", eve.code()), 400)
	rejected("another user's recovery code", answer(api, challenge, "recovery_code", eve.recovery[0]), 400)
	forged := []byte(challenge)
	forged[20] ^= 1
	rejected("a forged challenge", answer(api, string(forged), "code", ada.code()), 401)
	stored, err := collection(api).First(t.Context(), store.Ne("confirmedAt", nil))
	if err != nil {
		t.Fatal(err)
	}
	rejected("a stored secret as a challenge", answer(api, stored.Secret, "code", ada.code()), 401)
	rejected("a user token as a challenge", answer(api, ada.Token[:200], "code", ada.code()), 401)

	api.Clock.Advance(5 * time.Minute)
	rejected("an expired challenge", answer(api, challenge, "code", ada.code()), 401)

	challenge = ada.challenge()
	api.Do(basic("PUT", "/users/me/password", ada.Account, values("password", "a better horse battery", "recovery_code", ada.recovery[0]))).Want(200, ada.Email)
	rejected("a challenge from before a password change", answer(api, challenge, "code", ada.code()), 401)
}

// TestStoredSecretOfAnother copies a user's encrypted secret to another user in the database.
func TestStoredSecretOfAnother(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := enrol(t, api, api.SignUp("user")), enrol(t, api, api.SignUp("user"))
	id := func(h *holder) store.Filter {
		parsed, _ := store.ParseID(h.ID)
		return store.Eq("id", parsed)
	}
	of, err := collection(api).First(t.Context(), id(eve))
	if err == nil {
		_, err = collection(api).Update(t.Context(), id(ada), store.Set("secret", of.Secret))
	}
	if err != nil {
		t.Fatal(err)
	}
	answer(api, ada.challenge(), "code", eve.code()).Want(500, "internal")
}

// TestStoredInClear looks for the secret and the recovery codes in the database.
func TestStoredInClear(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	h := enrol(t, api, api.SignUp("user"))
	stored, err := collection(api).First(t.Context(), store.Ne("confirmedAt", nil))
	if err != nil || strings.Contains(stored.Secret, h.secret) {
		t.Errorf("%v: the secret is stored as %s", err, stored.Secret)
	}
	for _, c := range h.recovery {
		if slices.Contains(stored.RecoveryCodes, c) || slices.Contains(stored.RecoveryCodes, strings.ReplaceAll(c, "-", "")) {
			t.Error("a recovery code is stored")
		}
	}
	for _, line := range api.Log.Lines() {
		if strings.Contains(line, h.secret) || strings.Contains(line, h.recovery[0]) {
			t.Errorf("the log has a secret: %s", line)
		}
	}
}

// TestDowngrade tries every other way to open a session of a user with a second factor.
func TestDowngrade(t *testing.T) {
	t.Parallel()
	var github *providers.GitHub
	api := apitest.Start(t, func(c *testkit.Config) { github = c.StartProviders(t).GitHub })
	has := func(route string) bool { return slices.Contains(api.Handler.Routes(), route) }
	ada := api.SignUp("user")
	before := api.SignIn(ada.Email, testkit.Password)
	github.AddUser(providers.User{ID: "1", Login: "ada", Email: ada.Email, EmailVerified: true})
	provider := func(as string) testkit.Response {
		return api.Do(request{Method: "POST", Path: "/auth/github", As: as, Form: values("access_token", github.Token("1"))})
	}
	if has("POST /auth/github") {
		provider(ada.Token).Want(201, ada.Email) // links the account
	}
	h := enrol(t, api, ada)

	api.Do(request{Method: "POST", Path: "/auth/refresh", Form: values("refresh_token", before.RefreshToken)}).Want(401, "unauthorized")
	api.Do(request{Method: "GET", Path: "/users/me", As: before.Token}).Want(401, "unauthorized")
	api.Do(request{Method: "GET", Path: "/users/me", As: ada.Token}).Want(200, ada.Email)
	if has("POST /auth/github") {
		challengeIn(t, provider(""))
		challengeIn(t, provider(ada.Token)) // a stolen token opens no other session
		answer(api, challengeIn(t, provider("")), "code", h.code()).Want(201, ada.Email)
	}
	admin := api.SignUp("admin")
	changed := values("email", "new-"+ada.Email)
	api.Do(request{Method: "PATCH", Path: "/users/" + ada.ID, As: admin.Token, Form: changed}).Want(200)
	h.Email = changed.Get("email")
	h.challenge()
	if has("POST /password-resets") {
		api.Do(request{Method: "POST", Path: "/password-resets", As: testkit.MasterKey, Form: values("email", h.Email, "link", link)}).JSON(202)
		api.Do(request{Method: "PUT", Path: "/password-resets/" + nextToken(t, api), Form: values("password", testkit.Password)}).Want(200)
		h.challenge()
	}
	if has("PUT /users/me/email") {
		changed.Set("link", link)
		changed.Set("email", "newer-"+ada.Email)
		changed.Set("recovery_code", h.recovery[0])
		api.Do(basic("PUT", "/users/me/email", h.Account, changed)).JSON(202)
		api.Do(request{Method: "PUT", Path: "/email-verifications/" + nextToken(t, api)}).Want(200, "newer-")
		h.Email = changed.Get("email")
		h.challenge()
	}
}

const link = testkit.LinkOrigin + "/{token}"

// nextToken returns the token in the next email.
func nextToken(t *testing.T, api *testkit.API) string {
	t.Helper()
	_, text, _ := strings.Cut(api.Email.Next(t).Text, testkit.LinkOrigin+"/")
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// TestUndoneChange undoes an attacker's change of the email address. A second factor that was confirmed after the change, or in
// the 7 days before the change, can be the attacker's, and is turned off. An earlier second factor is the owner's.
func TestUndoneChange(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, testkit.Env("SECURITY_NOTICES", "true"))
	apitest.Need(t, api, "PUT /users/me/email")
	change := func(a testkit.Account, to string, proof ...string) (undo request) {
		api.Do(basic("PUT", "/users/me/email", a, values(append(proof, "email", to, "link", link)...))).JSON(202)
		api.Do(request{Method: "PUT", Path: "/email-verifications/" + nextToken(t, api)}).Want(200, to)
		return request{Method: "PUT", Path: "/email-verifications/" + nextToken(t, api)}
	}
	const week = 7 * 24 * time.Hour
	for i, test := range []struct {
		before time.Duration // from the enrolment to the change
		left   int64
	}{{week + time.Minute, 1}, {week - time.Minute, 0}, {0, 0}} {
		protected := enrol(t, api, api.SignUp("user"))
		api.Email.Next(t) // the notice that the second factor was turned on
		api.Clock.Advance(test.before)
		before := factors(t, api) - 1
		api.Do(change(protected.Account, fmt.Sprint("eve", i, "@example.org"), "code", protected.code())).Want(200, protected.Email)
		if n := factors(t, api) - before; n != test.left {
			t.Errorf("enrolled %v before the change: %d second factors are left, want %d", test.before, n, test.left)
		}
		if test.left == 0 {
			api.Email.Next(t) // the notice that the second factor was turned off
		}
	}

	ada := api.SignUp("user")
	undo := change(ada, "eve2@example.com")
	api.Clock.Advance(time.Minute)
	eve := testkit.Account{Session: api.SignIn("eve2@example.com", testkit.Password), Email: "eve2@example.com"}
	enrol(t, api, eve)
	api.Do(undo).Want(200, ada.Email)
	if n := factors(t, api); n != 1 {
		t.Errorf("%d second factors are left, want the owner's", n)
	}
	m := api.Email.Next(t)
	for m.To == eve.Email { // notices about the enrolment
		m = api.Email.Next(t)
	}
	if m.To != ada.Email || !strings.Contains(m.Text, "was turned off") {
		t.Errorf("the notice to %s is %s", m.To, m.Text)
	}
}

// TestOldEnrolment checks that an enrolment cannot be confirmed after a password change, because an attacker may know the
// secret.
func TestOldEnrolment(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	secret := create(api, ada)
	api.Do(basic("PUT", "/users/me/password", ada, values("password", "a better horse battery"))).Want(200)
	token := api.SignIn(ada.Email, "a better horse battery").Token
	api.Do(request{Method: "PUT", Path: mine, As: token, Form: values("code", code(t, api, secret, 0))}).Want(409, "conflict")
}

// TestSignInDuringEnrolment confirms a second factor while a sign-in has checked the password and stores its session.
func TestSignInDuringEnrolment(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	secret := create(api, ada)
	held := &gate{DB: api.DB, reached: make(chan struct{}), release: make(chan struct{})}
	slow := api.Instance(func(c *testkit.Config) { c.DB = held })
	response := make(chan testkit.Response)
	go func() { response <- slow.Do(basic("POST", "/auth", ada, values("access_token", testkit.MasterKey))) }()
	<-held.reached
	api.Do(request{Method: "PUT", Path: mine, As: ada.Token, Form: values("code", code(t, api, secret, 0))}).Want(200)
	close(held.release)
	challengeIn(t, <-response)
	rows := api.Do(request{Method: "GET", Path: "/auth/sessions", As: ada.Token}).JSON(200)["rows"].([]any)
	if len(rows) != 1 {
		t.Errorf("%d sessions are left", len(rows))
	}
}

// gate is a database that blocks new sessions.
type gate struct {
	store.DB
	reached, release chan struct{}
}

func (g *gate) Open(spec store.Spec) store.Engine {
	if spec.Name == "sessions" {
		return gatedEngine{g.DB.Open(spec), g}
	}
	return g.DB.Open(spec)
}

type gatedEngine struct {
	store.Engine
	*gate
}

func (e gatedEngine) Insert(ctx context.Context, id store.ID, doc any) error {
	close(e.reached)
	<-e.release
	return e.Engine.Insert(ctx, id, doc)
}
