package user

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// keeping is a database that returns err, if it is not nil, instead of deleting users.
type keeping struct {
	store.DB
	err error
}

func (k *keeping) Open(s store.Spec) store.Engine {
	if s.Name != storeSpec().Name {
		return k.DB.Open(s)
	}
	return keptUsers{k.DB.Open(s), k}
}

type keptUsers struct {
	store.Engine
	db *keeping
}

func (u keptUsers) Delete(ctx context.Context, f store.Filter) (int64, error) {
	if u.db.err != nil {
		return 0, u.db.err
	}
	return u.Engine.Delete(ctx, f)
}

// reservedLater implements Addresses. It reserves every address after the first look-up.
type reservedLater struct {
	Addresses
	lookups int
}

func (r *reservedLater) Reserved(context.Context, store.ID, string) (bool, error) {
	r.lookups++
	return r.lookups > 1, nil
}

// unable returns a service whose database fails to delete users.
func unable(t *testing.T, db store.DB) (*Service, *keeping) {
	t.Helper()
	k := &keeping{db, errors.New("no deletion")}
	s := newService(deps(t, k, plain{}, time.Now), Settings{})
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, k
}

// TestFailedDeletion checks that a deletion whose last step fails can be repeated. On a database with transactions, the failed
// deletion changes nothing.
func TestFailedDeletion(t *testing.T) {
	t.Parallel()
	testdb.Each(t, testFailedDeletion)
}

func testFailedDeletion(t *testing.T, opened store.DB) {
	s, db := unable(t, opened)
	ada, _, err := s.Create(t.Context(), access.Client{Trusted: true}, CreateInput{Email: "ada@example.com", Password: "right"})
	if err != nil {
		t.Fatal(err)
	}
	if code := signIn(t, s, address(1), ada.Email, "right"); code != "" {
		t.Fatal(code)
	}
	left := func() int64 {
		n, err := s.networks.known.Count(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	caller := access.Principal{UserID: ada.ID, Role: access.RoleUser}
	if err := s.Delete(t.Context(), caller, ada.ID, nil); !errors.Is(err, db.err) {
		t.Errorf("a deletion that fails: %v", err)
	}
	u, err := s.Get(t.Context(), ada.ID)
	if err != nil || db.Serializable() && (u.Version != ada.Version || left() != 1) {
		t.Errorf("%+v and %d networks are left of %+v, %v", u, left(), ada, err)
	}
	db.err = nil
	if err := s.Delete(t.Context(), caller, ada.ID, nil); err != nil {
		t.Errorf("a second deletion: %v", err)
	}
	if _, err := s.Get(t.Context(), ada.ID); !apperr.Is(err, apperr.NotFound) || left() != 0 {
		t.Errorf("after the deletion: %v, and %d networks", err, left())
	}
}

// lateData is a Dependent that records, at each call, whether callers outside of the deletion still see the user.
type lateData struct {
	t      *testing.T
	s      *Service
	exists []bool
}

func (d *lateData) DeleteOf(_ context.Context, id store.ID) error {
	_, err := d.s.Get(d.t.Context(), id)
	d.exists = append(d.exists, err == nil)
	return apperr.Replace(err, apperr.NotFound, nil)
}

// TestDataCreatedDuringADeletion checks that the data of a user is deleted before the user, and again after it.
func TestDataCreatedDuringADeletion(t *testing.T) {
	t.Parallel()
	s, ada, _ := limited(t)
	d := &lateData{t: t, s: s}
	s.dependents = append(s.dependents, d)
	err := s.Delete(t.Context(), access.Principal{UserID: ada.ID, Role: access.RoleUser}, ada.ID, nil)
	if want := []bool{true, false}; err != nil || !slices.Equal(d.exists, want) {
		t.Errorf("the user exists: %v, want %v; %v", d.exists, want, err)
	}
}

// TestFailedSignUp checks that a sign-up with an address that is reserved in the meantime stores no user. On a database with
// transactions, this holds even if users cannot be deleted.
func TestFailedSignUp(t *testing.T) {
	t.Parallel()
	for _, canDelete := range []bool{true, false} {
		testdb.Each(t, func(t *testing.T, opened store.DB) {
			s, db := unable(t, opened)
			s.addresses = &reservedLater{}
			if canDelete {
				db.err = nil
			}
			_, _, err := s.Create(t.Context(), access.Client{Trusted: true}, CreateInput{Email: "ada@example.com", Password: "right"})
			if !apperr.Is(err, apperr.Conflict) {
				t.Errorf("a reserved address: %v", err)
			}
			if n, err := s.users.Count(t.Context(), nil); err != nil || n != 0 && (canDelete || db.Serializable()) {
				t.Errorf("can delete: %t; %d users, %v", canDelete, n, err)
			}
		})
	}
}

// TestFailedLink checks that CreateUnverified stores no user if the credential for sign-in cannot be stored.
func TestFailedLink(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, opened store.DB) {
		s, db := unable(t, opened)
		db.err = nil
		failure := errors.New("no link")
		_, _, err := s.CreateUnverified(t.Context(), access.Client{Trusted: true}, Profile{Email: "ada@example.com"}, func(context.Context, User) error { return failure })
		if n, countErr := s.users.Count(t.Context(), nil); !errors.Is(err, failure) || n != 0 || countErr != nil {
			t.Errorf("%v; %d users, %v", err, n, countErr)
		}
	})
}
