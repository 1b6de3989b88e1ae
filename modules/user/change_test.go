package user

import (
	"reflect"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/store"
)

// TestChanges checks which changes of a user end the sessions, which invalidate the links that undo a change of the address, and
// which write nothing. Each change must be one write.
func TestChanges(t *testing.T) {
	t.Parallel()
	const ended = 1 // the epoch after a change that ends all sessions
	self := func(u User) access.Principal {
		return access.Principal{UserID: u.ID, Role: access.RoleUser, Epoch: u.Epoch}
	}
	selfAsAdmin := func(u User) access.Principal {
		return access.Principal{UserID: u.ID, Role: access.RoleAdmin, AuthTime: u.UpdatedAt.Time}
	}
	admin := func(u User) access.Principal {
		p := selfAsAdmin(u)
		p.UserID = store.NewID()
		return p
	}
	update := func(caller func(User) access.Principal, in UpdateInput, given ...string) func(*Service, User) (User, error) {
		return func(s *Service, u User) (User, error) {
			return s.Update(t.Context(), caller(u), u.ID, nil, store.Patch[UpdateInput]{Fields: in, Given: given})
		}
	}
	endSessions := func(caller func(User) access.Principal) func(*Service, User) (User, error) {
		return func(s *Service, u User) (User, error) { return s.EndSessions(t.Context(), caller(u), u.ID) }
	}
	type state struct {
		email, name                string
		verified, password         bool
		epoch, linksFrom, undoFrom int64
	}
	const ada, other = "ada@example.com", "b@example.com"
	unchanged := state{ada, "ada", true, true, 0, 0, 0}
	for name, test := range map[string]struct {
		change func(*Service, User) (User, error)
		want   state
	}{
		"nothing":          {update(self, UpdateInput{Name: "Eve"}), unchanged},
		"the same address": {update(self, UpdateInput{Email: "ada@EXAMPLE.com"}, "email"), unchanged},
		"name":             {update(self, UpdateInput{Name: "Ada"}, "name"), state{ada, "Ada", true, true, 0, 0, 0}},
		"suspended":        {update(admin, UpdateInput{Suspended: true}, "suspended"), state{ada, "ada", true, true, ended, 0, 0}},
		"address by admin": {update(admin, UpdateInput{Email: other}, "email"), state{other, "ada", false, true, ended, 0, ended}},
		"own address":      {update(selfAsAdmin, UpdateInput{Email: other}, "email"), state{other, "ada", false, true, ended, 0, 0}},
		"address and suspended": {
			update(admin, UpdateInput{Email: other, Suspended: true}, "email", "suspended", "name"),
			state{other, "ada", false, true, ended, 0, ended},
		},
		"sessions":          {endSessions(self), state{ada, "ada", true, true, ended, 0, 0}},
		"sessions by admin": {endSessions(admin), state{ada, "ada", true, true, ended, 0, ended}},
		"confirmed address": {
			func(s *Service, u User) (User, error) { return s.ChangeEmail(t.Context(), u, other) },
			state{other, "ada", true, true, ended, 0, 0},
		},
		"restored address": {
			func(s *Service, u User) (User, error) { return s.RestoreEmail(t.Context(), u.ID, other, 0) },
			state{other, "ada", true, false, ended, ended, 0},
		},
		"password": {
			func(s *Service, u User) (User, error) {
				return s.ChangePassword(t.Context(), self(u), u.ID, nil, PasswordInput{Password: "new"})
			},
			state{ada, "ada", true, true, ended, 0, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, before, advance := limited(t)
			before, err := s.VerifyEmail(t.Context(), before.ID, 0)
			if err != nil {
				t.Fatal(err)
			}
			advance(time.Minute)
			returned, err := test.change(s, before)
			if err != nil {
				t.Fatal(err)
			}
			u, err := s.Get(t.Context(), before.ID)
			if err != nil || !reflect.DeepEqual(u, returned) {
				t.Errorf("%+v is returned, %+v is stored, %v", returned, u, err)
			}
			if got := (state{u.Email, u.Name, u.EmailVerified, u.HasPassword(), u.Epoch, u.LinksFrom, u.UndoFrom}); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
			version, updated := before.Version+1, store.At(s.now())
			if test.want == unchanged {
				version, updated = before.Version, before.UpdatedAt
			}
			if u.Version != version || u.UpdatedAt != updated {
				t.Errorf("version %d of %v, want %d of %v", u.Version, u.UpdatedAt, version, updated)
			}
		})
	}
}
