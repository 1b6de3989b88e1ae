package auth

import (
	"testing"
	"time"

	"example.com/ginseng/internal/store"
	"example.com/ginseng/internal/testdb"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	sessions := NewSessions(db)
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := store.At(time.Now())
	s := &Service{sessions: sessions, now: func() time.Time { return now.Time }}
	for _, expires := range []time.Duration{-time.Hour, 0, time.Millisecond} {
		session := Session{Meta: store.NewMeta(store.NewID(), now), UserID: store.NewID(), ExpiresAt: store.At(now.Add(expires))}
		if err := sessions.all.Insert(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := sessions.all.List(t.Context(), store.Query{})
	if err != nil || len(left) != 1 || !left[0].ExpiresAt.After(now.Time) {
		t.Errorf("%+v, %v", left, err)
	}
}

// TestDeletedUser leaves none of a deleted user's sessions behind, and all of the others'.
func TestDeletedUser(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	sessions := NewSessions(db)
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ada, eve := store.NewID(), store.NewID()
	for _, user := range []store.ID{ada, eve, ada} {
		session := Session{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), UserID: user}
		if err := sessions.all.Insert(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	if err := sessions.DeleteOf(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	left, err := sessions.all.List(t.Context(), store.Query{})
	if err != nil || len(left) != 1 || left[0].UserID != eve {
		t.Errorf("%+v, %v", left, err)
	}
}
