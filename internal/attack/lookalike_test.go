package attack_test

import (
	"net/url"
	"testing"

	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/providers"
)

// lookalikes are domains whose letters resemble those of the victim's, or become them when converted to upper case: the
// dotless i and the long s (Unicode, UnicodeData.txt). The first can be registered, the second cannot (RFC 5892).
var lookalikes = []struct {
	victims, attackers string
	registrable        bool
}{
	{"ada@gmail.example", "ada@gmaıl.example", true},
	{"ada@gmail.example", "ada@xn--gmal-nza.example", true},
	{"ada@site.example", "ada@\u017Fite.example", false},
	{"ada`@site.example", "ada\u1FEF@site.example", false}, // a backtick in normalization form C
}

// TestLookalikeDomain has GitHub and Google verify an address that looks like the victim's. It must not find the victim's
// account, nor be linked to it.
func TestLookalikeDomain(t *testing.T) {
	t.Parallel()
	for _, test := range lookalikes {
		w := newWorld(t)
		w.Facebook.AddUser(providers.User{ID: "7", Email: test.victims, EmailVerified: true})
		ada := ok(t, w.Do(enter("facebook", "", "access_token", w.Facebook.Token("7")))).JSON(201)
		id := ada["user"].(map[string]any)["id"].(string)
		for _, name := range []string{"github", "google"} {
			provider := w.all()[name]
			provider.AddUser(providers.User{ID: "666", Email: test.attackers, EmailVerified: true})
			got := w.Do(enter(name, "", "access_token", provider.Token("666")))
			if test.registrable {
				if userID(t, got) == id {
					t.Errorf("%s, %+q: the attack succeeded: the attacker got in as %s", name, test.attackers, test.victims)
				}
			} else {
				want(t, 409, got, name+" "+test.attackers)
			}
		}
		list := w.Do(request{Method: "GET", Path: "/auth/identities", As: ada["token"].(string)}).JSON(200)
		if list["count"] != 1.0 {
			t.Errorf("%+q: the attack succeeded: the victim's account has %v", test.attackers, list)
		}
	}
}

// TestLookalikeAccount signs up with an address that looks like another user's: neither account blocks the other, nor is
// found by the other's address.
func TestLookalikeAccount(t *testing.T) {
	t.Parallel()
	signUp := func(email string) request {
		return request{Method: "POST", Path: "/users", Form: url.Values{"email": {email}, "password": {testkit.Password}}}
	}
	for _, test := range lookalikes {
		w := newWorld(t)
		status := 400
		if test.registrable {
			status = 201
		}
		want(t, status, w.Do(signUp(test.attackers)), "sign-up as "+test.attackers)
		want(t, 401, w.Do(try(test.victims, testkit.Password, "")), "sign-in as "+test.victims)
		want(t, 201, w.Do(signUp(test.victims)), "sign-up of the victim")
		w = newWorld(t)
		ok(t, w.Do(signUp(test.victims)))
		want(t, 401, w.Do(try(test.attackers, testkit.Password, "")), "sign-in as "+test.attackers)
		want(t, status, w.Do(signUp(test.attackers)), "sign-up as "+test.attackers)
		eve := w.SignUp("user")
		change := askChange(eve.Email, testkit.Password, test.attackers)
		if test.registrable {
			want(t, 409, w.Do(change), "a change to an address in use")
		} else {
			want(t, 400, w.Do(change), "a change to "+test.attackers)
		}
	}
}

// TestSpellings spreads guesses and reset requests over spellings of one address: they count together.
func TestSpellings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "äda@xn--bcher-kva.example"
	ok(t, w.Do(request{Method: "POST", Path: "/users", Form: url.Values{"email": {email}, "password": {testkit.Password}}}))
	spellings := []string{
		email, "äDA@BÜCHER.example", "a\u0308da@bücher.example", "äda@bu\u0308cher.EXAMPLE", " äda@XN--BCHER-KVA.example",
	}
	for i := range 10 {
		want(t, 401, w.Do(try(spellings[i%len(spellings)], guess, "")), "a guess")
	}
	for _, spelling := range spellings {
		want(t, 429, w.Do(try(spelling, testkit.Password, "")), "the eleventh guess, at "+spelling)
		ok(t, w.Do(askReset(spelling)))
		if m := w.Email.Next(t); m.To != email {
			t.Errorf("a reset of %s went to %s", spelling, m.To)
		}
	}
	for _, spelling := range spellings {
		ok(t, w.Do(askReset(spelling)))
	}
	w.Finish()
	w.Email.None(t)
}
