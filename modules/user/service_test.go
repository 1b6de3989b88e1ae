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
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
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

// TestUnknownAddressIsHashed checks that sign-ins with unknown and known addresses verify the same number of hashes.
func TestUnknownAddressIsHashed(t *testing.T) {
	t.Parallel()
	db, hasher := testdb.Open(t), &counting{Hasher: password.NewWeakHasher()}
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

// TestRestrict registers several checks: the strictest restriction applies, whatever the order is.
func TestRestrict(t *testing.T) {
	t.Parallel()
	reads, none := &access.Restriction{Reads: true}, &access.Restriction{}
	for _, test := range []struct {
		checks []*access.Restriction
		want   *access.Restriction
	}{
		{nil, nil},
		{[]*access.Restriction{none, nil}, none},
		{[]*access.Restriction{none, reads}, none},
		{[]*access.Restriction{reads, none}, none},
		{[]*access.Restriction{reads, nil}, reads},
	} {
		m := New(deps(t, testdb.Open(t), password.NewWeakHasher(), time.Now), Settings{})
		for _, r := range test.checks {
			m.Restrict(func(context.Context, User) (*access.Restriction, error) { return r, nil })
		}
		if p, err := m.Principal(t.Context(), User{}, store.ID{}); err != nil || p.Restriction != test.want {
			t.Errorf("%v: %v %v", test.checks, p.Restriction, err)
		}
	}
}

// TestPrincipal compares the restriction of users with and without a verified address.
func TestPrincipal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		setting              string
		verified, restricted bool
	}{
		{"optional", false, false},
		{"required", false, true},
		{"required", true, false},
	} {
		s := newService(deps(t, testdb.Open(t), password.NewWeakHasher(), time.Now), Settings{SignupEmail: test.setting})
		u, session := User{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), Role: access.RoleAdmin, Epoch: 3, EmailVerified: test.verified}, store.NewID()
		p, err := s.Principal(t.Context(), u, session)
		if err != nil || !p.Is(u.ID) || p.SessionID != session || p.Epoch != 3 || !p.IsAdmin() || (p.Restriction != nil) != test.restricted {
			t.Errorf("SIGNUP_EMAIL=%s, verified %t: %+v", test.setting, test.verified, p)
		}
	}
}

// TestImportedHash signs in an imported user with a bcrypt hash. The sign-in replaces the hash.
func TestImportedHash(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	s := newService(deps(t, db, password.NewWeakHasher(), time.Now), Settings{})
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

// note is a record that refers to a user.
type note struct {
	store.Meta `bson:",inline"`
	Author     store.ID  `json:"author"`
	Reader     *store.ID `json:"reader"`
}

// TestReferences deletes users that notes refer to. A rejected deletion ends no session.
func TestReferences(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	d := deps(t, db, password.NewWeakHasher(), time.Now)
	m := New(d, Settings{})
	view := func(n note) note { return n }
	notes := resource.Open(d, store.Spec{Name: "notes"}, view, resource.Public, resource.Public,
		resource.To("author", m, resource.Restrict), resource.To("reader", m, resource.Clear))
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	signUp := func(email string) User {
		u, _, err := m.CreateVerified(t.Context(), access.Client{Trusted: true}, Profile{Email: email})
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	author, reader := signUp("author@example.com"), signUp("reader@example.com")
	n := note{Meta: store.NewMeta(store.NewID(), store.At(time.Now())), Author: author.ID, Reader: &reader.ID}
	if err := notes.Create(t.Context(), access.Principal{}, n); err != nil {
		t.Fatal(err)
	}
	remove := func(u User) error {
		return m.Delete(t.Context(), access.Principal{UserID: u.ID, Role: access.RoleUser}, u.ID, nil)
	}
	if err := remove(author); !apperr.Is(err, apperr.Conflict) {
		t.Errorf("delete the author: %v", err)
	}
	if u, err := m.Get(t.Context(), author.ID); err != nil || u.Epoch != author.Epoch {
		t.Errorf("the author is %+v, %v", u, err)
	}
	if err := remove(reader); err != nil {
		t.Errorf("delete the reader: %v", err)
	}
	if got, err := notes.Get(t.Context(), access.Principal{}, n.ID); err != nil || got.Reader != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLock locks users as a rule of another module does. Unknown users are not found.
func TestLock(t *testing.T) {
	t.Parallel()
	testdb.SQLiteOnly(t) // a single MongoDB server has no Atomic
	db := testdb.Open(t)
	m := New(deps(t, db, password.NewWeakHasher(), time.Now), Settings{})
	var users interface {
		resource.Target
		Lock(context.Context, ...store.ID) error
	} = m
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	u, _, err := m.CreateVerified(t.Context(), access.Client{Trusted: true}, Profile{Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Atomic(t.Context(), func(ctx context.Context) error {
		if err := users.Lock(ctx, u.ID); err != nil {
			return err
		}
		if err := users.Lock(ctx, u.ID, store.NewID()); !apperr.Is(err, apperr.NotFound) {
			t.Errorf("lock an unknown user: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Errorf("lock a user: %v", err)
	}
}
