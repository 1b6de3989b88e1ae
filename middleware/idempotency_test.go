package middleware

import (
	"testing"
	"time"

	"example.com/ginseng/internal/store"
	"example.com/ginseng/internal/testdb"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	now := time.Now()
	i := NewIdempotency(db, "secret", func() time.Time { return now }, store.NewID)
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for key, expires := range map[string]time.Time{"old": now, "new": now.Add(time.Second)} {
		a := savedAnswer{Meta: store.NewMeta(store.NewID(), store.At(now)), Key: key, ExpiresAt: store.At(expires)}
		if err := i.answers.Insert(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if err := i.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := i.answers.List(t.Context(), store.Query{})
	if err != nil || len(left) != 1 || left[0].Key != "new" {
		t.Errorf("%+v, %v", left, err)
	}
}
