package twofactor_test

import (
	"encoding/base32"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/modules/auth"
	twofactor "example.com/ginseng/modules/two-factor"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// TestMatch sends the codes of the time steps around the current one, each twice. First, it checks that the codes of the tests are the
// last 6 of the 8 digits of those in RFC 6238 appendix B.
func TestMatch(t *testing.T) {
	t.Parallel()
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804", 1234567890: "005924", 20000000000: "353130"} {
		if got, err := totp.GenerateCode(secret, time.Unix(at, 0)); got != want || err != nil {
			t.Errorf("at %d: %s, want %s, %v", at, got, want, err)
		}
	}
	api := apitest.Start(t)
	h := enrol(t, api, api.SignUp("user"))
	api.Clock.Advance(time.Minute)
	for _, test := range []struct{ offset, want int }{{-60, 400}, {60, 400}, {-30, 201}, {0, 201}, {30, 201}} {
		sent := code(t, api, h.secret, time.Duration(test.offset)*time.Second)
		for _, want := range []int{test.want, 400} {
			if got := answer(api, h.challenge(), "code", sent).Status; got != want {
				t.Errorf("the code of %d seconds later: status %d, want %d", test.offset, got, want)
			}
		}
	}
}

// TestCreateForDeletedUser enrols a user who is deleted after the authentication.
func TestCreateForDeletedUser(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	d := testkit.Deps(t, db, time.Now)
	users := user.New(d, user.Settings{})
	m := twofactor.New(d, twofactor.Settings{}, users, auth.New(d, auth.Settings{}, users))
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Create(t.Context(), access.Principal{UserID: store.NewID()}); !apperr.Is(err, apperr.Unauthorized) {
		t.Errorf("the error is %v", err)
	}
}
