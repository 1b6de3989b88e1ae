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

// reservedLater implements Addresses. It reserves every address after the first look-up.
type reservedLater struct {
	Addresses
	lookups int
}

func (r *reservedLater) Reserved(context.Context, store.ID, string) (bool, error) {
	r.lookups++
	return r.lookups > 1, nil
}

var errDelete = errors.New("no deletion")

// unable returns a service whose database returns errDelete, instead of deleting users, while fails is true.
func unable(t *testing.T, db store.DB, fails *bool) *Service {
	t.Helper()
	db = testdb.Intercept(db, func(_ context.Context, c testdb.Call, do func() error) error {
		if *fails && c.Name == "Delete users" {
			return errDelete
		}
		return do()
	})
	s := newService(deps(t, db, plain{}, time.Now), Settings{})
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFailedDeletion checks that a deletion whose last step fails can be repeated. On a database with transactions, the failed
// deletion changes nothing.
func TestFailedDeletion(t *testing.T) {
	t.Parallel()
	testdb.Each(t, testFailedDeletion)
}

func testFailedDeletion(t *testing.T, db store.DB) {
	fails := true
	s := unable(t, db, &fails)
	ada, _, err := s.Create(t.Context(), access.Client{Trusted: true}, CreateInput{Email: "ada@example.com", Password: "right"})
	if err != nil {
		t.Fatal(err)
	}
	if code := signIn(t, s, clientAt(1), ada.Email, "right"); code != "" {
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
	if err := s.Delete(t.Context(), caller, ada.ID, nil); !errors.Is(err, errDelete) {
		t.Errorf("a deletion that fails: %v", err)
	}
	u, err := s.Get(t.Context(), ada.ID)
	if err != nil || db.Serializable() && (u.Version != ada.Version || left() != 1) {
		t.Errorf("%+v and %d networks are left of %+v, %v", u, left(), ada, err)
	}
	fails = false
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
		testdb.Each(t, func(t *testing.T, db store.DB) {
			fails := !canDelete
			s := unable(t, db, &fails)
			s.addresses = &reservedLater{}
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
	testdb.Each(t, func(t *testing.T, db store.DB) {
		s := unable(t, db, new(bool))
		failure := errors.New("no link")
		_, _, err := s.CreateUnverified(t.Context(), access.Client{Trusted: true}, Profile{Email: "ada@example.com"}, func(context.Context, User) error { return failure })
		if n, countErr := s.users.Count(t.Context(), nil); !errors.Is(err, failure) || n != 0 || countErr != nil {
			t.Errorf("%v; %d users, %v", err, n, countErr)
		}
	})
}

var errGuard = errors.New("a reason that has appeared after MayDelete")

type guard struct{}

func (guard) MayDelete(context.Context, store.ID) error { return nil }

func (guard) DeleteOf(context.Context, store.ID) error { return errGuard }

// TestGuardsDeleteFirst checks that the error of a Guard leaves the user, with all sessions, and the data of other Dependents.
func TestGuardsDeleteFirst(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, db store.DB) {
		s := unable(t, db, new(bool))
		ada, _, err := s.Create(t.Context(), access.Client{Trusted: true}, CreateInput{Email: "ada@example.com", Password: "right"})
		if err != nil {
			t.Fatal(err)
		}
		late := &lateData{t: t, s: s}
		s.dependents = append(s.dependents, late, guard{})
		if err := s.Delete(t.Context(), access.Principal{UserID: ada.ID, Role: access.RoleUser}, ada.ID, nil); !errors.Is(err, errGuard) {
			t.Errorf("the deletion: %v", err)
		}
		if u, err := s.Get(t.Context(), ada.ID); err != nil || u.Epoch != ada.Epoch || late.exists != nil {
			t.Errorf("the epoch is %d, want %d; other data: %v, %v", u.Epoch, ada.Epoch, late.exists, err)
		}
	})
}
