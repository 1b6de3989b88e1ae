package auth

import (
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// openSessions creates a session for each user.
func openSessions(t *testing.T, now time.Time, expire map[store.ID][]time.Duration) *Service {
	t.Helper()
	db := testdb.Open(t)
	s := &Service{sessions: store.Open[Session](db, storeSpec()), now: func() time.Time { return now }}
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for user, times := range expire {
		for _, d := range times {
			id := store.NewID()
			session := Session{Meta: store.NewMeta(id, store.At(now)), UserID: user, ExpiresAt: store.At(now.Add(d)), Family: id.Hex()}
			if err := s.sessions.Insert(t.Context(), session); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func TestSweep(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := openSessions(t, now, map[store.ID][]time.Duration{store.NewID(): {-time.Hour, 0, time.Millisecond}})
	if err := s.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := s.sessions.List(t.Context(), store.Query{})
	if err != nil || len(left) != 1 || !left[0].ExpiresAt.After(store.At(now).Time) {
		t.Errorf("%+v, %v", left, err)
	}
}

// TestDeletedUser checks that the sessions of a deleted user are deleted, but not the sessions of other users.
func TestDeletedUser(t *testing.T) {
	t.Parallel()
	ada, eve := store.NewID(), store.NewID()
	s := openSessions(t, time.Now(), map[store.ID][]time.Duration{ada: {time.Hour, time.Hour}, eve: {time.Hour}})
	if err := s.DeleteOf(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	left, err := s.sessions.List(t.Context(), store.Query{})
	if err != nil || len(left) != 1 || left[0].UserID != eve {
		t.Errorf("%+v, %v", left, err)
	}
}

func TestRefreshToken(t *testing.T) {
	t.Parallel()
	token := newRefreshToken()
	if again, ok := parseRefreshToken(token.String()); !ok || again != token {
		t.Errorf("%v was read as %v, %v", token, again, ok)
	}
	for _, bad := range []string{"", "x", token.String() + "A", token.String()[1:], token.String()[:63] + "=", token.String()[:63] + "+"} {
		if _, ok := parseRefreshToken(bad); ok {
			t.Errorf("%q is a token", bad)
		}
	}
	if other := newRefreshToken(); other.family == token.family || other.secret == token.secret {
		t.Error("two tokens share bytes")
	}
	next := token.next("salt")
	if next != token.next("salt") || next.family != token.family || next.secret == token.secret || next == token.next("pepper") {
		t.Error("the next token does not depend only on the last one and the salt")
	}
}

// TestFollow finds the current token for each token that was used within the grace period.
func TestFollow(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	tokens := []refreshToken{newRefreshToken()}
	var s Session
	for i, salt := range []string{"a", "b", "c"} {
		last := tokens[i]
		s.Rotated = append(s.Rotated, rotation{Digest: digest(last.secret[:]), Salt: salt, At: store.At(begin.Add(time.Duration(i) * time.Second))})
		tokens = append(tokens, last.next(salt))
	}
	newest := tokens[3]
	s.Current = digest(newest.secret[:])
	for i, token := range tokens[:3] {
		if got, ok := s.follow(token, store.At(begin.Add(grace))); !ok || got != newest {
			t.Errorf("token %d returns %v, %v", i, got, ok)
		}
	}
	for _, now := range []time.Time{begin.Add(grace + time.Millisecond), begin.Add(-grace - time.Millisecond)} {
		if _, ok := s.follow(tokens[0], store.At(now)); ok {
			t.Errorf("a token is accepted %v after it was used", now.Sub(begin))
		}
	}
	if _, ok := s.follow(newRefreshToken(), store.At(begin)); ok {
		t.Error("an unknown token is accepted")
	}
}
