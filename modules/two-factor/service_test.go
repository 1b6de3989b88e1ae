package twofactor

import (
	"encoding/base32"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// TestMatch checks the last 6 of the 8 digits of the codes in RFC 6238 appendix B.
func TestMatch(t *testing.T) {
	t.Parallel()
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{59: "287082", 1111111109: "081804", 1234567890: "005924", 20000000000: "353130"} {
		s := &Service{now: func() time.Time { return time.Unix(at, 0) }}
		if step, err := s.match(secret, code, 0); step != at/30 || err != nil {
			t.Errorf("at %d: step %d, %v", at, step, err)
		}
		if step, _ := s.match(secret, code, at/30); step != 0 {
			t.Errorf("at %d: accepted again", at)
		}
	}
	const at = 1111111109
	for offset, want := range map[int64]int64{-60: 0, -30: at / 30, 30: at / 30, 60: 0} {
		s := &Service{now: func() time.Time { return time.Unix(at+offset, 0) }}
		if step, err := s.match(secret, "081804", 0); step != want || err != nil {
			t.Errorf("%d seconds later: step %d, want %d, %v", offset, step, want, err)
		}
	}
}

// TestCreateForDeletedUser enrols a user who is deleted after the authentication.
func TestCreateForDeletedUser(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	s := &Service{users: user.New(testkit.Deps(t, db, time.Now), user.Settings{})}
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), access.Principal{UserID: store.NewID()}); !apperr.Is(err, apperr.Unauthorized) {
		t.Errorf("the error is %v", err)
	}
}
