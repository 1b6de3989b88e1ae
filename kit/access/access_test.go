package access

import (
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

var (
	userID    = store.NewID()
	sessionID = store.NewID()
	start     = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
)

const secret = "0123456789abcdefghijklmnopqrstuvwxyz"

func TestTokenRoundTrip(t *testing.T) {
	now := start
	tokens := NewTokens(secret, time.Hour, func() time.Time { return now })
	token, expires, err := tokens.Sign(userID, sessionID)
	if err != nil {
		t.Fatal(err)
	}
	if want := start.Add(time.Hour).Truncate(time.Second); !expires.Equal(want) {
		t.Errorf("expires %v, want %v", expires, want)
	}
	u, s, err := tokens.Verify(token)
	if err != nil || u != userID || s != sessionID {
		t.Fatalf("%v %v %v", u, s, err)
	}
	now = expires.Add(-time.Millisecond)
	if _, _, err := tokens.Verify(token); err != nil {
		t.Errorf("just before the end: %v", err)
	}
	now = expires
	if _, _, err := tokens.Verify(token); !apperr.Is(err, apperr.Unauthorized) {
		t.Errorf("at the end: %v", err)
	}
}

func TestVerifyRefuses(t *testing.T) {
	tokens := NewTokens(secret, time.Hour, func() time.Time { return start })
	good := jwt.MapClaims{"sub": userID.Hex(), "sid": sessionID.Hex(), "iat": start.Unix(), "exp": start.Add(time.Hour).Unix()}
	with := func(name string, value any) jwt.MapClaims {
		c := jwt.MapClaims{}
		for k, v := range good {
			c[k] = v
		}
		if c[name] = value; value == nil {
			delete(c, name)
		}
		return c
	}
	sign := func(m jwt.SigningMethod, key any, c jwt.Claims) string {
		s, err := jwt.NewWithClaims(m, c).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	key := []byte(secret)
	whole := sign(jwt.SigningMethodHS256, key, good)
	if _, _, err := tokens.Verify(whole); err != nil {
		t.Fatalf("the valid token is rejected: %v", err)
	}
	extended := jwt.NewWithClaims(jwt.SigningMethodHS256, good)
	extended.Header["crit"], extended.Header["b64"] = []string{"b64"}, false
	critical, err := extended.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"alg none":       sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good),
		"crit":           critical,
		"alg HS512":      sign(jwt.SigningMethodHS512, key, good),
		"other secret":   sign(jwt.SigningMethodHS256, []byte(strings.ToUpper(secret)), good),
		"no expiry":      sign(jwt.SigningMethodHS256, key, with("exp", nil)),
		"expired":        sign(jwt.SigningMethodHS256, key, with("exp", start.Add(-time.Second).Unix())),
		"not yet":        sign(jwt.SigningMethodHS256, key, with("nbf", start.Add(time.Minute).Unix())),
		"no user":        sign(jwt.SigningMethodHS256, key, with("sub", nil)),
		"odd user":       sign(jwt.SigningMethodHS256, key, with("sub", "x")),
		"no session":     sign(jwt.SigningMethodHS256, key, with("sid", nil)),
		"session number": sign(jwt.SigningMethodHS256, key, with("sid", 1)),
		"no signature":   whole[:strings.LastIndexByte(whole, '.')+1],
		"one part":       "x",
		"empty":          "",
	} {
		if _, _, err := tokens.Verify(token); !apperr.Is(err, apperr.Unauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeys(t *testing.T) {
	keys := NewKeys([]string{"one", "two"})
	for text, want := range map[string]bool{"one": true, "two": true, "three": false, "": false, "on": false, "one,two": false} {
		if keys.Match(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	if NewKeys(nil).Match("") {
		t.Error("no key matches the empty text")
	}
}

func TestMayChange(t *testing.T) {
	other := store.NewID()
	for name, test := range map[string]struct {
		caller Principal
		want   bool
	}{
		"anonymous":  {Principal{}, false},
		"master key": {Principal{Master: true}, true},
		"owner":      {Principal{UserID: userID, Role: RoleUser}, true},
		"other":      {Principal{UserID: other, Role: RoleUser}, false},
		"admin":      {Principal{UserID: other, Role: RoleAdmin}, true},
		"no user":    {Principal{Role: RoleAdmin}, false},
	} {
		if err := test.caller.MayChange(userID); (err == nil) != test.want || (err != nil && !apperr.Is(err, apperr.Forbidden)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	restriction := &Restriction{Err: apperr.New(apperr.Forbidden, "x")}
	if err := (Principal{UserID: other, Role: RoleAdmin, Restriction: restriction}).MayChange(userID); err != restriction.Err {
		t.Errorf("a restricted admin: %v", err)
	}
	if err := (Principal{UserID: userID, Role: RoleAdmin, Restriction: restriction}).MayChange(userID); err != nil {
		t.Errorf("a restricted owner: %v", err)
	}
	for _, p := range []Principal{{UserID: userID, Role: RoleUser}, {UserID: userID, Role: RoleAdmin}} {
		want := map[Role]store.ID{RoleUser: userID, RoleAdmin: other}[p.Role]
		if p.OwnerOf(&other) != want || p.OwnerOf(nil) != userID {
			t.Errorf("%s: a record for another user belongs to %s", p.Role, p.OwnerOf(&other))
		}
	}
	if (Principal{}).Is(store.ID{}) {
		t.Error("nobody is the zero id")
	}
}

func BenchmarkSign(b *testing.B) {
	tokens := NewTokens(secret, time.Hour, time.Now)
	for b.Loop() {
		if _, _, err := tokens.Sign(userID, sessionID); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	tokens := NewTokens(secret, time.Hour, time.Now)
	token, _, err := tokens.Sign(userID, sessionID)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := tokens.Verify(token); err != nil {
			b.Fatal(err)
		}
	}
}
