package user

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/testkit/testdb"
)

// counting counts the verified hashes.
type counting struct {
	*password.Hasher
	verified int
}

func (c *counting) Verify(ctx context.Context, pass, hash string) (match, outdated bool, err error) {
	c.verified++
	return c.Hasher.Verify(ctx, pass, hash)
}

// TestUnknownAddressIsHashed checks that a sign-in with an unknown address takes as many hashes as one with a known address.
func TestUnknownAddressIsHashed(t *testing.T) {
	t.Parallel()
	db, hasher := testdb.Open(t), &counting{Hasher: password.NewHasher()}
	s := newService(deps(t, db, hasher, time.Now), Settings{})
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, email := range []string{"nobody@example.com", "", "not an address"} {
		if _, _, err := s.Authenticate(t.Context(), access.Client{}, email, "x"); !apperr.Is(err, apperr.Unauthorized) || hasher.verified != i+1 {
			t.Errorf("%q: %v after %d hashes", email, err, hasher.verified)
		}
	}
}

// TestImportedHash signs in an imported user with a bcrypt hash, which is then replaced.
func TestImportedHash(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	s := newService(deps(t, db, password.NewHasher(), time.Now), Settings{})
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	hash, err := bcrypt.GenerateFromPassword([]byte("old"), bcrypt.MinCost) // shorter than the current minimum
	if err != nil {
		t.Fatal(err)
	}
	u := User{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), Email: "old@example.com", Role: access.RoleUser, Password: string(hash)}
	if err := s.users.Insert(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Authenticate(t.Context(), access.Client{}, u.Email, "wrong"); !apperr.Is(err, apperr.Unauthorized) {
		t.Errorf("a wrong password: %v", err)
	}
	for range 2 {
		if _, _, err := s.Authenticate(t.Context(), access.Client{}, u.Email, "old"); err != nil {
			t.Fatal(err)
		}
		now, err := s.Get(t.Context(), u.ID)
		if err != nil || !strings.HasPrefix(now.Password, "$argon2id$") || now.Epoch != u.Epoch {
			t.Fatalf("the hash is %.10s, epoch %d, %v", now.Password, now.Epoch, err)
		}
	}
}
