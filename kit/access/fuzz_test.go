package access

import (
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// FuzzToken verifies changed and random tokens. A token that Verify accepts must have exactly the claims that Sign wrote, even if
// its signature is encoded differently.
func FuzzToken(f *testing.F) {
	tokens := NewTokens(secret, time.Hour, func() time.Time { return start })
	sign := func(user, session store.ID) string {
		token, _, err := tokens.Sign(user, session)
		if err != nil {
			f.Fatal(err)
		}
		return token
	}
	good := sign(store.ID{1}, store.ID{2})
	f.Add(good, uint(0), byte(0), uint(0), secret)
	f.Add(good, uint(40), byte(1), uint(60), secret+"x")
	f.Add("eyJhbGciOiJub25lIn0.e30.", uint(3), byte(2), uint(9), "")
	f.Add("eyJhbGciOiJub25lIn0."+strings.Split(good, ".")[1]+".", uint(0), byte(0), uint(0), secret[1:])
	f.Add("..", uint(1), byte(0x20), uint(1), secret)
	f.Fuzz(func(t *testing.T, text string, place uint, flip byte, cut uint, other string) {
		altered := []byte(good)
		altered[place%uint(len(altered))] ^= flip
		for _, token := range []string{
			text, string(altered), good[:cut%uint(len(good))], good[cut%uint(len(good)):], good + text, text + good, string(altered) + "." + text,
		} {
			user, session, err := tokens.Verify(token)
			if err != nil {
				if !apperr.Is(err, apperr.Unauthorized) || !user.IsZero() && !session.IsZero() {
					t.Errorf("%q: %v %v %v", token, user, session, err)
				}
				continue
			}
			signed := sign(user, session)
			if end := strings.LastIndexByte(signed, '.'); !strings.HasPrefix(token, signed[:end+1]) {
				t.Errorf("%q is accepted, but Sign returned only %q", token, signed)
			}
		}
		// HMAC pads a key with zeros (RFC 2104 section 2), so secrets that differ only in zeros at the end are equal.
		if strings.TrimRight(other, "\x00") == secret {
			return
		}
		foreign, _, err := NewTokens(other, time.Hour, func() time.Time { return start }).Sign(store.ID{1}, store.ID{2})
		if err != nil {
			return // not a valid secret
		}
		if _, _, err := tokens.Verify(foreign); err == nil {
			t.Errorf("a token signed with %q is accepted", other)
		}
	})
}

// FuzzKeys checks that Match accepts only master keys.
func FuzzKeys(f *testing.F) {
	f.Add("one", "two", "one,two")
	f.Add("", "\x00", "")
	f.Fuzz(func(t *testing.T, first, second, text string) {
		if got, want := NewKeys([]string{first, second}).Match(text), text == first || text == second; got != want {
			t.Errorf("%q of %q and %q: %v", text, first, second, got)
		}
	})
}
