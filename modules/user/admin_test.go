package user

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/kit/seal"
	"example.com/ginseng/testkit/testdb"
)

// TestMakeAdmin makes admins of unknown, verified, unverified and suspended users, and checks what they keep and who is notified.
func TestMakeAdmin(t *testing.T) {
	t.Parallel()
	db, out := testdb.Open(t), emailtest.NewOutbox()
	d := deps(t, db, plain{}, time.Now)
	d.Email = email.NewQueue(email.QueueOptions{DB: db, Sender: out, Keys: seal.New(make([]byte, 32)), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { d.Email.Close(context.Background()) })
	m := New(d, Settings{SecurityNotices: true})
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	entered, asked := "short", 0
	make := func(email string) (kit.MadeAdmin, error) {
		return m.MakeAdmin(t.Context(), email, func() (string, error) { asked++; return entered, nil })
	}
	existing := func(address string, verified, suspended bool) User {
		t.Helper()
		u, err := m.newUser(Profile{Email: address})
		u.EmailVerified, u.Suspended, u.Password = verified, suspended, "old"
		if err := errors.Join(err, m.insert(t.Context(), u)); err != nil {
			t.Fatal(err)
		}
		return u
	}
	stored := func(u User) User {
		t.Helper()
		u, err := m.Get(t.Context(), u.ID)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	received := func(want ...string) {
		t.Helper()
		var got []string
		for range want {
			got = append(got, out.Next(t).To)
		}
		if err := d.Email.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		out.None(t)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("emails to %q, want %q", got, want)
		}
	}

	for address, wants := range map[string]apperr.Code{"root": apperr.ValidationFailed, "root@example.com": apperr.ValidationFailed} {
		if _, err := make(address); apperr.CodeOf(err) != wants {
			t.Errorf("%s: %v, want %s", address, err, wants)
		}
	}
	if has, err := m.HasAdmin(t.Context()); err != nil || has {
		t.Errorf("no admin yet: %t, %v", has, err)
	}
	entered = "analytical engine"
	made, err := make("Root@Example.com")
	root, byEmail := m.ByEmail(t.Context(), "root@example.com")
	if err := errors.Join(err, byEmail); err != nil || !made.Created || made.Link != "" || asked != 2 || root.Role != access.RoleAdmin || !root.EmailVerified || !root.HasPassword() {
		t.Errorf("a new user: %v, %+v, asked %d times, %+v", err, made, asked, root)
	}
	if has, err := m.HasAdmin(t.Context()); err != nil || !has {
		t.Errorf("with an admin: %t, %v", has, err)
	}
	received() // nothing about the first admin

	ada := existing("ada@example.com", true, false)
	made, err = make(ada.Email)
	if u := stored(ada); err != nil || made != (kit.MadeAdmin{}) || asked != 2 || u.Role != access.RoleAdmin || u.Password != "old" || u.Epoch != ada.Epoch {
		t.Errorf("a verified user: %v, %+v, %+v", err, made, u)
	}
	received("ada@example.com", "root@example.com")
	before := stored(ada)
	if _, err := make(ada.Email); err != nil || stored(ada) != before {
		t.Errorf("an admin: %v, %+v", err, stored(ada))
	}

	eve := existing("eve@example.com", true, true)
	if _, err := make(eve.Email); !apperr.Is(err, apperr.Forbidden) || stored(eve) != eve {
		t.Errorf("a suspended user: %v", err)
	}

	grace := existing("grace@example.com", false, false)
	m.ResetWith(func(_ context.Context, u User) (string, error) {
		return "https://example.com/" + u.ID.Hex(), nil
	})
	made, err = make(grace.Email)
	u := stored(grace)
	if err != nil || made.Link != "https://example.com/"+grace.ID.Hex() || made.Created || asked != 2 {
		t.Errorf("an unverified user, with a link: %v, %+v", err, made)
	}
	if u.Role != access.RoleAdmin || !u.EmailVerified || u.HasPassword() || u.Epoch != grace.Epoch+1 || u.LinksFrom != u.Epoch {
		t.Errorf("an unverified user keeps what somebody else may have added: %+v", u)
	}
	received("ada@example.com", "grace@example.com", "grace@example.com", "root@example.com") // grace: the address was verified
}
