package storetest

import (
	"context"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// patience bounds how long a database may take to be noticed as away, and to be found again.
const patience = 30 * time.Second

// Away checks that a handle outlives the loss of its database: while it is away every verb fails with Unavailable, and
// once it is back the handle works again by itself, with all that was stored. Its callers supply how to take the
// database away and how to give it back.
func Unavailable(t *testing.T, db store.DB, take, giveBack func()) {
	c := prepare(t, db, docSpec())
	before := newDoc("before")
	insert(t, c, before)

	take()
	calls := verbs(c)
	calls["Ping"] = db.Ping
	for name, call := range calls {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if err := call(ctx); !apperr.Is(err, apperr.Unavailable) {
			t.Errorf("while the database is away, %s returns %v, want Unavailable", name, err)
		}
		cancel()
	}

	giveBack()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for err := db.Ping(ctx); err != nil; err = db.Ping(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("the handle does not find the database again: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	got, err := c.Get(t.Context(), before.ID)
	must(t, err)
	wantDoc(t, got, before)
	insert(t, c, newDoc("after"))
}
