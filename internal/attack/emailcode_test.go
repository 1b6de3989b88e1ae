package attack_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
