package attack_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/providers"
)

const emailCode = "/auth/email-code"

// askCode returns a request for a code by email.
func askCode(email string) request {
	form := keyed()
	form.Set("email", email)
	return request{Method: "POST", Path: emailCode, Form: form}
}

// enterCode returns a sign-in with a code.
func enterCode(challenge, code string) request {
	return request{Method: "PUT", Path: emailCode, Form: url.Values{"challenge": {challenge}, "code": {code}}}
}

// challengeOf requests a code and returns its challenge.
func challengeOf(t *testing.T, api *testkit.API, email string) string {
	t.Helper()
	return ok(t, api.Do(askCode(email))).JSON(202)["challenge"].(string)
}

var codeLine = regexp.MustCompile(`(?m)^Code: (\d{6})$`)

// codeIn returns the code in an email.
func codeIn(t *testing.T, m email.Message) string {
	t.Helper()
	found := codeLine.FindStringSubmatch(m.Text)
	if found == nil {
		t.Fatalf("no code in %s", m.Text)
	}
	return found[1]
}

// another returns a wrong code.
func another(code string) string { return string('0'+(code[0]-'0'+1)%10) + code[1:] }

// signInByCode signs in with a code by email.
func signInByCode(t *testing.T, api *testkit.API, email string) testkit.Response {
	t.Helper()
	challenge := challengeOf(t, api, email)
	return api.Do(enterCode(challenge, codeIn(t, api.Email.Next(t))))
}

// TestCodeAccountEnumeration compares the responses for known and unknown addresses, up to all limits, and counts the emails.
func TestCodeAccountEnumeration(t *testing.T) {
	t.Parallel()
	const email = "ada@example.com"
	there, absent := apitest.Start(t, public), apitest.Start(t, public)
	ok(t, there.Do(request{Method: "POST", Path: "/users", Form: url.Values{"email": {email}, "password": {testkit.Password}}}))
	ask := func(api *testkit.API) (r testkit.Response, challenge string) {
		r = api.Do(request{Method: "POST", Path: emailCode, Form: url.Values{"email": {email}}})
		challenge, _ = r.JSON(202)["challenge"].(string)
		r.Body = []byte(strings.Replace(string(r.Body), challenge, "", 1))
		return r, challenge
	}
	for range 7 {
		a, challenge := ask(there)
		b, other := ask(absent)
		sameResponse(t, a, b, "request of a code")
		for range 6 { // the limits of the challenge and of the account
			sameResponse(t, there.Do(enterCode(challenge, "000000")), absent.Do(enterCode(other, "000000")), "wrong code")
		}
	}
	there.Finish()
	absent.Finish()
	absent.Email.None(t)
	for range 5 {
		there.Email.Next(t)
	}
	there.Email.None(t)
}

// TestTimeOfCodeRequest checks that the response to a request of a code does not wait for the lookup of the account: its
// duration would show whether the account exists. Here no lookup ends before the response.
func TestTimeOfCodeRequest(t *testing.T) {
	t.Parallel()
	h := &held{free: make(chan struct{})}
	api := apitest.Start(t, func(c *testkit.Config) {
		h.DB = c.DB
		c.DB = h
	})
	responded := make(chan testkit.Response, 1)
	go func() { responded <- api.Do(askCode("ada@example.com")) }()
	select {
	case a := <-responded:
		ok(t, a)
		close(h.free)
	case <-time.After(time.Minute):
		t.Error("the attack succeeded: the response waits for a lookup of the account, and its duration shows whether the account exists")
		close(h.free)
		<-responded
	}
}

// traced is a database that records the calls that read and write.
type traced struct {
	store.DB
	mu    sync.Mutex
	calls []string
}

func (d *traced) Open(spec store.Spec) store.Engine {
	return &tracedEngine{d.DB.Open(spec), d, spec.Name}
}

// take returns the calls since the last take, without those with which the queue looks for the next emails, concurrently.
func (d *traced) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	calls := slices.DeleteFunc(d.calls, func(call string) bool { return call == "update emails" || call == "list emails" })
	d.calls = nil
	return calls
}

type tracedEngine struct {
	store.Engine
	db   *traced
	name string
}

func (e *tracedEngine) record(call string) {
	e.db.mu.Lock()
	defer e.db.mu.Unlock()
	e.db.calls = append(e.db.calls, call+" "+e.name)
}

func (e *tracedEngine) Insert(ctx context.Context, id store.ID, doc any) error {
	e.record("insert")
	return e.Engine.Insert(ctx, id, doc)
}

func (e *tracedEngine) First(ctx context.Context, f store.Filter, into any) error {
	e.record("first")
	return e.Engine.First(ctx, f, into)
}

func (e *tracedEngine) List(ctx context.Context, q store.Query, next func() any) (int64, error) {
	e.record("list")
	return e.Engine.List(ctx, q, next)
}

func (e *tracedEngine) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	e.record("update")
	return e.Engine.Update(ctx, f, changes, into)
}

func (e *tracedEngine) Delete(ctx context.Context, f store.Filter) (int64, error) {
	e.record("delete")
	return e.Engine.Delete(ctx, f)
}

// TestWritesOfCode compares the database calls of requests and wrong codes for known and unknown addresses: their number decides
// how long a request, or the next one, takes.
func TestWritesOfCode(t *testing.T) {
	t.Parallel()
	db := new(traced)
	api := apitest.Start(t, func(c *testkit.Config) {
		db.DB = c.DB
		c.DB = db
	})
	var calls [2]string
	for i, address := range []string{api.SignUp("user").Email, "nobody@example.com"} {
		api := api.Instance(func(c *testkit.Config) { c.DB = db })
		db.take()
		challenge := challengeOf(t, api, address)
		api.Finish() // the code is stored
		calls[i] = strings.Join(db.take(), ", ") + "; "
		want(t, 400, api.Do(enterCode(challenge, "000000")), "a guess")
		calls[i] += strings.Join(db.take(), ", ")
	}
	if calls[0] != calls[1] || !strings.Contains(calls[0], "insert email-codes, ") || !strings.Contains(calls[0], "delete emails; ") {
		t.Errorf("the attack succeeded: the calls for a known address are\n%s\nfor an unknown one\n%s", calls[0], calls[1])
	}
}

// TestPreHijackingByCode signs up with the victim's address, links the attacker's provider account, and keeps a session, a refresh
// token, an API key, a reset token and a code. After the victim signs in with a code, none of these may work.
func TestPreHijackingByCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "ada@example.com"
	form := url.Values{"email": {email}, "password": {guess}}
	id := ok(t, w.Do(request{Method: "POST", Path: "/users", Form: form})).JSON(201)["id"].(string)
	eve := w.SignIn(email, guess)
	w.GitHub.AddUser(providers.User{ID: "666", Email: "eve@example.com", EmailVerified: true})
	ok(t, w.Do(enter("github", eve.Token, "access_token", w.GitHub.Token("666"))))
	key := ok(t, w.Do(request{Method: "POST", Path: "/users/me/api-keys", As: eve.Token, JSON: `{"name":"n","scopes":["*:read"]}`})).JSON(201)["key"].(string)
	ok(t, w.Do(me(key)))
	reset := resetToken(t, w.API, email)
	challenge := challengeOf(t, w.API, email)
	code := codeIn(t, w.Email.Next(t))

	if got := userID(t, signInByCode(t, w.API, email)); got != id {
		t.Fatalf("the victim got in as %s", got)
	}

	rejected(t, w.API, []attempt{
		{"the attacker's session", me(eve.Token), 401, "unauthorized"},
		{"the attacker's refresh token", refresh(eve.RefreshToken), 401, "unauthorized"},
		{"the attacker's password", try(email, guess, ""), 401, "unauthorized"},
		{"the attacker's API key", me(key), 401, "unauthorized"},
		{"link another account", enter("google", eve.Token, "access_token", "x"), 401, "unauthorized"},
		{"a reset from before", complete(reset, guess), 404, "not_found"},
		{"a code from before", enterCode(challenge, code), 401, "unauthorized"},
	})
	if got := userID(t, w.Do(enter("github", "", "access_token", w.GitHub.Token("666")))); got == id {
		t.Errorf("GitHub: the attack succeeded: the attacker got in as %s", email)
	}
}

// TestCodeOfAnotherChallenge uses the code of the victim's email with challenges of the attacker, and the attacker's code with the
// victim's challenge.
func TestCodeOfAnotherChallenge(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada, eve := api.SignUp("user"), api.SignUp("user")
	victims := challengeOf(t, api, ada.Email)
	code := codeIn(t, api.Email.Next(t))
	attackers := challengeOf(t, api, eve.Email)
	attackersCode := codeIn(t, api.Email.Next(t))
	for code == attackersCode {
		attackers = challengeOf(t, api, eve.Email)
		attackersCode = codeIn(t, api.Email.Next(t))
	}
	second := challengeOf(t, api, ada.Email)
	if codeIn(t, api.Email.Next(t)) == code { // one in a million
		t.Skip("two codes are equal")
	}
	rejected(t, api, []attempt{
		{"the victim's code with the attacker's challenge", enterCode(attackers, code), 400, `"wrong"`},
		{"the attacker's code with the victim's challenge", enterCode(victims, attackersCode), 400, `"wrong"`},
		{"the code with another challenge of the victim", enterCode(second, code), 400, `"wrong"`},
		{"no challenge", enterCode("", code), 400, `"required"`},
		{"an unknown challenge", enterCode("x", code), 401, "unauthorized"},
		{"the challenge in lower case", enterCode(strings.ToLower(victims), code), 401, "unauthorized"},
	})
	ok(t, api.Do(enterCode(victims, code)))
}

// TestCodeWithoutSecondFactor signs in with a code to an account with a second factor: the attacker has the mailbox, not the
// authenticator app.
func TestCodeWithoutSecondFactor(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t)
	ada := api.SignUp("user")
	secret := ok(t, api.Do(request{Method: "POST", Path: "/users/me/two-factor", Email: ada.Email, Password: testkit.Password})).JSON(201)["secret"].(string)
	totpCode := func() url.Values {
		code, err := totp.GenerateCode(secret, api.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		return url.Values{"code": {code}}
	}
	ok(t, api.Do(request{Method: "PUT", Path: "/users/me/two-factor", As: ada.Token, Form: totpCode()}))
	for range 2 { // also after the first has verified the address
		api.Clock.Advance(30 * time.Second)
		response := signInByCode(t, api, ada.Email)
		rejectedCode, _ := response.JSON(401)["code"].(string)
		if rejectedCode != "second_factor_required" || strings.Contains(string(response.Body), "refreshToken") {
			t.Errorf("the attack succeeded: %s", response.Body)
		}
		form := totpCode()
		form.Set("challenge", response.JSON(401)["challenge"].(string))
		ok(t, api.Do(request{Method: "POST", Path: "/auth/second-factor", Form: form}))
	}
}

// TestGuessedCodes guesses the code of an account with several challenges, at two instances, from many networks: 25 in a day are
// compared. Sign-ins of the victim, also from other networks, neither count nor give the attacker more guesses.
func TestGuessedCodes(t *testing.T) {
	t.Parallel()
	proxies := testkit.Env("TRUSTED_PROXIES", "127.0.0.1/32")
	api := apitest.Start(t, public, proxies)
	ada := api.SignUp("user") // from 127.0.0.1
	instances := []*testkit.API{api, api.Instance(public, proxies)}
	from := func(r request, network string) request {
		r.Header = http.Header{"X-Forwarded-For": {network}}
		return r
	}
	compared := 0
	for round := range 8 {
		api.Clock.Advance(time.Hour)
		eves, victims := fmt.Sprintf("192.0.2.%d", round), fmt.Sprintf("198.51.100.%d", round)
		if round > 3 {
			victims = "127.0.0.1" // only from there, after 25 guesses
		}
		challenge := ok(t, api.Do(from(askCode(ada.Email), eves))).JSON(202)["challenge"].(string)
		code := codeIn(t, api.Email.Next(t))
		for i := range 7 {
			if strings.Contains(string(instances[i%2].Do(from(enterCode(challenge, another(code)), eves)).Body), `"wrong"`) {
				compared++
			}
		}
		challenge = ok(t, api.Do(from(askCode(ada.Email), victims))).JSON(202)["challenge"].(string)
		ok(t, api.Do(from(enterCode(challenge, codeIn(t, api.Email.Next(t))), victims)))
	}
	if compared != 25 {
		t.Errorf("the attacker guessed %d times in a day, not 25", compared)
	}
}

// TestLockoutByCodes uses up the limits of the victim's account: its emails and wrong codes. The victim, in a network from which
// they signed in before, still signs in with a code.
func TestLockoutByCodes(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, public, testkit.Env("TRUSTED_PROXIES", "127.0.0.1/32"))
	ada := api.SignUp("user") // from 127.0.0.1
	for range 6 {
		r := askCode(ada.Email)
		r.Form.Del("access_token")
		r.Header = http.Header{"X-Forwarded-For": {"192.0.2.1"}}
		challenge := ok(t, api.Do(r)).JSON(202)["challenge"].(string)
		for range 5 {
			r := enterCode(challenge, "000000")
			r.Header = http.Header{"X-Forwarded-For": {"192.0.2.1"}}
			api.Do(r)
		}
	}
	for range 5 {
		api.Email.Next(t)
	}
	ok(t, signInByCode(t, api, ada.Email))
}

// TestStolenCodes reads the stored codes: neither the code nor an unkeyed hash of it, which can be guessed, is stored.
func TestStolenCodes(t *testing.T) {
	t.Parallel()
	var db database
	api := apitest.Start(t, recorded(&db))
	ada := api.SignUp("user")
	challenge := challengeOf(t, api, ada.Email)
	code := codeIn(t, api.Email.Next(t))
	documents := db.documents(t, "email-codes")
	if len(documents) != 1 {
		t.Fatalf("%d codes are stored", len(documents))
	}
	var hashes []string
	for _, parts := range [][]string{{code}, {challenge, code}, {code, challenge}, {"email-code", challenge, code}} {
		for _, separator := range []string{"", "\x00", ":"} {
			sum := sha256.Sum256([]byte(strings.Join(parts, separator)))
			hashes = append(hashes, hex.EncodeToString(sum[:]))
		}
	}
	texts(documents[0], func(text string) {
		if text == code || strings.Contains(text, challenge) || slices.Contains(hashes, text) {
			t.Errorf("the attack succeeded: the attacker read the code in %v", documents[0])
		}
	})
}
