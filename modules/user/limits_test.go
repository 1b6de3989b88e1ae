package user

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// plain is a Hasher that stores passwords in plain text.
type plain struct{}

func (plain) Hash(_ context.Context, password string) (string, error) {
	return "hash of " + password, nil
}

func (plain) Verify(_ context.Context, password, hash string) (match, outdated bool, err error) {
	return hash == "hash of "+password, false, nil
}

// deps returns dependencies with the hasher.
func deps(t *testing.T, db store.DB, hasher kit.Hasher, now func() time.Time) kit.Deps {
	d := testkit.Deps(t, db, now)
	d.Hasher = hasher
	return d
}

// limited returns a service with a plain hasher and one user, and a function that advances its clock.
func limited(t *testing.T) (s *Service, ada User, advance func(time.Duration)) {
	t.Helper()
	db, now := testdb.Open(t), time.Now()
	clock := func() time.Time { return now }
	s = newService(deps(t, db, plain{}, clock), Settings{})
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ada, _, err := s.Create(t.Context(), access.Client{Trusted: true}, CreateInput{Email: "ada@example.com", Password: "right"})
	if err != nil {
		t.Fatal(err)
	}
	return s, ada, func(d time.Duration) { now = now.Add(d) }
}

func clientAt(i int) access.Client { return access.Client{Address: fmt.Sprintf("192.0.2.%d", i)} }

// TestGuessing checks the rate limits of wrong passwords, for known and unknown addresses.
func TestGuessing(t *testing.T) {
	t.Parallel()
	for _, email := range []string{"ada@example.com", "nobody@example.com"} {
		t.Run(email, func(t *testing.T) {
			t.Parallel()
			s, _, advance := limited(t)
			guess := func(client access.Client, email, password string) apperr.Code {
				_, _, err := s.Authenticate(t.Context(), client, email, password)
				return apperr.CodeOf(err)
			}
			for i := range 10 { // clients with 10 guesses each
				for range 10 {
					if code := guess(clientAt(i), email, "wrong"); code != apperr.Unauthorized {
						t.Fatalf("client %d: %s", i, code)
					}
				}
				if i < 9 {
					if code := guess(clientAt(i), " "+email, "right"); code != apperr.TooManyRequests {
						t.Fatalf("client %d is not limited: %q", i, code)
					}
				}
			}
			if code := guess(clientAt(99), email, "right"); code != apperr.TooManyRequests {
				t.Errorf("after 100 guesses another client is not limited: %q", code)
			}
			if code := guess(access.Client{Trusted: true}, email, "right"); code != apperr.TooManyRequests {
				t.Errorf("after 100 guesses a trusted server is not limited: %q", code)
			}
			advance(15 * time.Minute)
			if code := guess(clientAt(0), "ada@example.com", "right"); code != "" {
				t.Errorf("after the window: %s", code)
			}
		})
	}
}

// TestSpraying checks the rate limit of one client's guesses at many accounts. It does not apply to a trusted server with
// the master key.
func TestSpraying(t *testing.T) {
	t.Parallel()
	s, ada, _ := limited(t)
	spray := func(client access.Client) {
		t.Helper()
		for i := range 100 {
			_, _, err := s.Authenticate(t.Context(), client, fmt.Sprintf("user%d@example.com", i), "wrong")
			if !apperr.Is(err, apperr.Unauthorized) {
				t.Fatalf("guess %d: %v", i, err)
			}
		}
	}
	spray(access.Client{Address: "2001:db8::1"})
	if _, _, err := s.Authenticate(t.Context(), access.Client{Address: "2001:db8::2"}, ada.Email, "right"); !apperr.Is(err, apperr.TooManyRequests) {
		t.Errorf("the same network: %v", err)
	}
	if _, _, err := s.Authenticate(t.Context(), clientAt(1), ada.Email, "right"); err != nil {
		t.Errorf("another network: %v", err)
	}
	server := access.Client{Address: "192.0.2.9", Trusted: true}
	spray(server)
	if _, _, err := s.Authenticate(t.Context(), server, ada.Email, "right"); err != nil {
		t.Errorf("a trusted server: %v", err)
	}
}

// TestCounterReset checks that a successful sign-in resets the client's counter.
func TestCounterReset(t *testing.T) {
	t.Parallel()
	s, ada, _ := limited(t)
	for range 3 {
		for range 9 {
			if _, _, err := s.Authenticate(t.Context(), clientAt(1), ada.Email, "wrong"); !apperr.Is(err, apperr.Unauthorized) {
				t.Fatal(err)
			}
		}
		if _, _, err := s.Authenticate(t.Context(), clientAt(1), ada.Email, "right"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSignups(t *testing.T) {
	t.Parallel()
	s, ada, advance := limited(t)
	create := func(client access.Client, i int) error {
		_, _, err := s.Create(t.Context(), client, CreateInput{Email: fmt.Sprintf("%d@example.com", i), Password: "x"})
		return err
	}
	for i := range 19 {
		if err := create(clientAt(1), i); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Create(t.Context(), clientAt(1), CreateInput{Email: ada.Email}); !apperr.Is(err, apperr.Conflict) {
		t.Errorf("an address in use: %v", err) // this sign-up counts, because the error reveals an account
	}
	if err := create(clientAt(1), 20); !apperr.Is(err, apperr.TooManyRequests) {
		t.Errorf("the 21st: %v", err)
	}
	if _, _, err := s.CreateVerified(t.Context(), clientAt(1), Profile{Email: "g@example.com"}); !apperr.Is(err, apperr.TooManyRequests) {
		t.Errorf("with a provider: %v", err)
	}
	for i, client := range []access.Client{clientAt(2), {Address: clientAt(1).Address, Trusted: true}} {
		if err := create(client, 100+i); err != nil {
			t.Errorf("%+v: %v", client, err)
		}
	}
	advance(time.Hour)
	if err := create(clientAt(1), 200); err != nil {
		t.Errorf("after the window: %v", err)
	}
}

// TestSignupsOfSite signs up from many /64 networks of one /48, which one customer can have.
func TestSignupsOfSite(t *testing.T) {
	t.Parallel()
	s, _, _ := limited(t)
	create := func(address string, i int) error {
		_, _, err := s.Create(t.Context(), access.Client{Address: address}, CreateInput{Email: fmt.Sprintf("%d@example.com", i), Password: "x"})
		return err
	}
	for i := range signupsOfSite.Max {
		if err := create(fmt.Sprintf("2001:db8:1:%x::1", i), i); err != nil {
			t.Fatal(err)
		}
	}
	if err := create("2001:db8:1:ffff::1", 100); !apperr.Is(err, apperr.TooManyRequests) {
		t.Errorf("another network of the site: %v", err)
	}
	if err := create("2001:db8:2:ffff::1", 101); err != nil {
		t.Errorf("another site: %v", err)
	}
}

// TestResetPassword checks that a reset verifies the email address, begins a new epoch, and succeeds once.
func TestResetPassword(t *testing.T) {
	t.Parallel()
	s, ada, _ := limited(t)
	reset, err := s.ResetPassword(t.Context(), ada.ID, ada.Epoch, "new")
	if err != nil || !reset.EmailVerified || reset.Epoch != ada.Epoch+1 || reset.LinksFrom != reset.Epoch || reset.Version != ada.Version+1 {
		t.Fatalf("%+v %v", reset, err)
	}
	if _, err := s.ResetPassword(t.Context(), ada.ID, ada.Epoch, "newer"); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("again: %v", err)
	}
	if _, _, err := s.Authenticate(t.Context(), clientAt(1), ada.Email, "new"); err != nil {
		t.Error(err)
	}
	again, err := s.ResetPassword(t.Context(), ada.ID, reset.Epoch, "newest")
	if err != nil || again.LinksFrom != again.Epoch {
		t.Errorf("earlier linked identities are still valid: %+v %v", again, err)
	}
	if _, err := s.ResetPassword(t.Context(), store.NewID(), 0, "x"); !apperr.Is(err, apperr.NotFound) {
		t.Errorf("unknown user: %v", err)
	}
}

func TestCreateVerified(t *testing.T) {
	t.Parallel()
	s, ada, _ := limited(t)
	eve, _, err := s.CreateVerified(t.Context(), clientAt(1), Profile{Email: " Eve@Example.com", Name: "Eve"})
	if err != nil || eve.Email != "eve@example.com" || eve.Name != "Eve" || eve.Picture == "" || !eve.EmailVerified || eve.Role != access.RoleUser {
		t.Fatalf("%+v %v", eve, err)
	}
	if eve.HasPassword() || !ada.HasPassword() {
		t.Error("HasPassword is wrong")
	}
	if _, _, err := s.Authenticate(t.Context(), clientAt(1), eve.Email, ""); !apperr.Is(err, apperr.Unauthorized) {
		t.Errorf("an account without a password: %v", err)
	}
	if _, _, err := s.CreateVerified(t.Context(), clientAt(1), Profile{Email: ada.Email}); !apperr.Is(err, apperr.Conflict) {
		t.Errorf("an address in use: %v", err)
	}
}
