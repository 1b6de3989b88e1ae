package social

import (
	"context"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/testkit"
	"example.com/ginseng/kit/testkit/clock"
	"example.com/ginseng/kit/testkit/testdb"
	"example.com/ginseng/modules/user"
)

// fakeProvider accepts the IDs of its accounts as access tokens.
type fakeProvider map[string]Profile

func (fakeProvider) configured() bool { return true }

func (p fakeProvider) profile(_ context.Context, proof Proof) (Profile, error) {
	account, ok := p[proof.AccessToken]
	if !ok {
		return Profile{}, rejected()
	}
	return account, nil
}

type fakeSessions struct{}

func (fakeSessions) Open(_ context.Context, u user.User, _ access.Client) (user.SignedIn, error) {
	return user.SignedIn{Token: "token", User: u.View()}, nil
}

// TestProvider signs in with a provider that is not one of the real ones.
func TestProvider(t *testing.T) {
	t.Parallel()
	db, now := testdb.Open(t), clock.At(time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC))
	d := testkit.Deps(t, db, now.Now)
	users := user.New(d, user.Settings{})
	s := newService(d, Settings{}, users, fakeSessions{}, providerTimeout)
	s.providers["fake"] = fakeProvider{
		"1": {Subject: "1", Email: "ann@example.com", EmailVerified: true, Name: "Ann"},
		"2": {Subject: "2", Email: "ann@example.com"},
		"3": {Subject: "3", Email: "bob@example.com", EmailVerified: true},
		"4": {Subject: "4"},
	}
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	signIn := func(caller access.Principal, provider, account string, want apperr.Code) user.View {
		t.Helper()
		result, _, err := s.SignIn(t.Context(), caller, access.Client{Address: "192.0.2.1"}, provider, Proof{AccessToken: account})
		if apperr.CodeOf(err) != want && (want != "" || err != nil) {
			t.Fatalf("account %s: %v, want %q", account, err, want)
		}
		return result.User
	}
	anyone := access.Principal{}
	ann := signIn(anyone, "fake", "1", "")
	if ann.Name != "Ann" || ann.Email != "ann@example.com" {
		t.Errorf("the new user is %+v", ann)
	}
	if again := signIn(anyone, "fake", "1", ""); again.ID != ann.ID {
		t.Error("the second sign-in created another user")
	}
	if bob := signIn(anyone, "fake", "3", ""); bob.ID == ann.ID {
		t.Error("another account signed in the same user")
	}
	signIn(anyone, "fake", "2", apperr.Conflict) // its email address is unverified
	signIn(anyone, "fake", "4", apperr.Conflict) // it has no email address
	signIn(anyone, "fake", "5", apperr.Unauthorized)
	signIn(anyone, "other", "1", apperr.NotFound)
}
