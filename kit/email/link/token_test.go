package link

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/testdb"
)

// earlier is a password-reset token as the first version of the service stored it.
type earlier struct {
	store.Meta `bson:",inline"`
	UserID     store.ID   `json:"userId"`
	Epoch      int64      `json:"epoch"`
	TokenHash  string     `json:"tokenHash"`
	ExpiresAt  store.Time `json:"expiresAt"`
}

func TestTokens(t *testing.T) {
	t.Parallel()
	now, ctx := clock.At(time.Now()), t.Context()
	db := testdb.Open(t)
	old := store.Open[earlier](db, store.Spec{Name: "resets"})
	tokens := NewTokens(db, now.Now, store.Spec{Name: "resets"})
	if err := db.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	ada, eve := store.NewID(), store.NewID()
	secret, issued, err := tokens.Issue(ctx, Token{UserID: ada, Epoch: 3, Purpose: "undo", Email: "ada@example.com"}, time.Hour)
	if err != nil || len(secret) != 43 {
		t.Fatalf("%q, %v", secret, err)
	}
	found, err := tokens.Find(ctx, secret)
	if raw, _ := json.Marshal(found); err != nil || found != issued || strings.Contains(string(raw), secret[:20]) {
		t.Errorf("%s, %v", raw, err)
	}
	for _, wrong := range []string{"", secret + "A", secret[1:], strings.ToUpper(secret), found.TokenHash, found.ID.Hex()} {
		if _, err := tokens.Find(ctx, wrong); !apperr.Is(err, apperr.NotFound) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	for address, want := range map[string]bool{"ada@example.com": true, "eve@example.com": false} {
		if got, err := tokens.Exists(ctx, store.Eq("email", address)); got != want || err != nil {
			t.Errorf("%s: %t, %v", address, got, err)
		}
	}

	at := store.At(now.Now())
	if err := old.Insert(ctx, earlier{store.NewMeta(store.NewID(), at), eve, 7, Digest("old"), store.At(now.Now().Add(2 * time.Hour))}); err != nil {
		t.Fatal(err)
	}
	now.Advance(time.Hour)
	if _, err := tokens.Find(ctx, secret); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("expired: %v", err)
	}
	if got, err := tokens.Exists(ctx, store.Eq("email", "ada@example.com")); got || err != nil {
		t.Errorf("expired: %t, %v", got, err)
	}
	if err := tokens.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if n, err := tokens.tokens.Count(ctx, nil); n != 1 || err != nil {
		t.Errorf("%d are left, %v", n, err)
	}
	if r, err := tokens.Find(ctx, "old"); err != nil || r.UserID != eve || r.Epoch != 7 || r.Purpose != "" {
		t.Errorf("of an earlier version: %+v, %v", r, err)
	}
	if err := tokens.DeleteOf(ctx, eve); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Find(ctx, "old"); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("deleted: %v", err)
	}
}
