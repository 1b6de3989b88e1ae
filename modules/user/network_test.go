package user

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// signIn signs in as module auth does, and returns the error code.
func signIn(t *testing.T, s *Service, client access.Client, email, password string) apperr.Code {
	t.Helper()
	u, _, err := s.Authenticate(t.Context(), client, email, password)
	if err == nil {
		err = s.RecordNetwork(t.Context(), u.ID, client.Address)
	}
	return apperr.CodeOf(err)
}

// lockOut uses up the limit of an account with wrong passwords from ten networks.
func lockOut(t *testing.T, s *Service, email string) {
	t.Helper()
	for i := range 100 {
		if code := signIn(t, s, clientAt(100+i/10), email, "wrong"); code != apperr.Unauthorized {
			t.Fatalf("guess %d: %s", i+1, code)
		}
	}
}

// TestKnownNetwork signs in while the limit of the account is used up, from a known network and from other networks. A known
// network keeps its own limit.
func TestKnownNetwork(t *testing.T) {
	t.Parallel()
	s, ada, advance := limited(t)
	home, phone := access.Client{Address: "2001:db8:1:2::1"}, clientAt(1)
	for _, client := range []access.Client{home, phone} {
		if code := signIn(t, s, client, ada.Email, "right"); code != "" {
			t.Fatal(code)
		}
	}
	lockOut(t, s, ada.Email)
	for name, test := range map[string]struct {
		client access.Client
		want   apperr.Code
	}{
		"known":                 {phone, ""},
		"known /64":             {access.Client{Address: "2001:db8:1:2:ffff::9"}, ""},
		"another /64":           {access.Client{Address: "2001:db8:1:3::1"}, apperr.TooManyRequests},
		"another address":       {clientAt(2), apperr.TooManyRequests},
		"a server with the key": {access.Client{Address: "192.0.2.3", Trusted: true}, apperr.TooManyRequests},
	} {
		if code := signIn(t, s, test.client, ada.Email, "right"); code != test.want {
			t.Errorf("%s: %q, want %q", name, code, test.want)
		}
	}
	for i := range 10 {
		if code := signIn(t, s, phone, ada.Email, "wrong"); code != apperr.Unauthorized {
			t.Errorf("known, guess %d: %s", i+1, code)
		}
	}
	if code := signIn(t, s, phone, ada.Email, "right"); code != apperr.TooManyRequests {
		t.Errorf("known, guess 11: %q", code)
	}
	advance(networkTTL)
	lockOut(t, s, ada.Email)
	if code := signIn(t, s, home, ada.Email, "right"); code != apperr.TooManyRequests {
		t.Errorf("30 days later: %q", code)
	}
}

// TestSite guesses from many /64 networks of one /48, which one customer can have. The guesses must not use up the limit of the
// account for other networks. Networks from which the user signed in are exempt.
func TestSite(t *testing.T) {
	t.Parallel()
	s, ada, _ := limited(t)
	at := func(network string) access.Client { return access.Client{Address: network + "::1"} }
	if code := signIn(t, s, at("2001:db8:1:ffff"), ada.Email, "right"); code != "" {
		t.Fatal(code)
	}
	for i := range 30 {
		if code := signIn(t, s, at(fmt.Sprintf("2001:db8:1:%x", i/3)), ada.Email, "wrong"); code != apperr.Unauthorized {
			t.Fatalf("guess %d: %s", i+1, code)
		}
	}
	for name, test := range map[string]struct {
		network, password string
		want              apperr.Code
	}{
		"guess 31":                    {"2001:db8:1:f", "wrong", apperr.TooManyRequests},
		"another network of the site": {"2001:db8:1:e", "right", apperr.TooManyRequests},
		"a known network of the site": {"2001:db8:1:ffff", "right", ""},
		"another site":                {"2001:db8:2:0", "right", ""},
	} {
		if code := signIn(t, s, at(test.network), ada.Email, test.password); code != test.want {
			t.Errorf("%s: %q, want %q", name, code, test.want)
		}
	}
}

// TestReportedLimits checks that only a trusted client receives the states of limits that other clients share.
func TestReportedLimits(t *testing.T) {
	t.Parallel()
	s, ada, _ := limited(t)
	names := func(client access.Client, password string) string {
		_, states, _ := s.Authenticate(t.Context(), client, ada.Email, password)
		var out []string
		for _, state := range states {
			out = append(out, state.Name)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	check := func(when string) {
		for _, password := range []string{"right", "wrong"} {
			if got := names(access.Client{Address: "2001:db8::1"}, password); got != "sign-in sign-in-address" {
				t.Errorf("%s, %s: %s", when, password, got)
			}
			if got := names(access.Client{Address: "192.0.2.9", Trusted: true}, password); got != "sign-in sign-in-account" {
				t.Errorf("%s, %s, trusted: %s", when, password, got)
			}
		}
	}
	check("before")
	if err := s.networks.DeleteOf(t.Context(), ada.ID); err != nil {
		t.Fatal(err)
	}
	lockOutRest(t, s, ada.Email)
	check("when the account's limit is used up")
}

// lockOutRest guesses until the limit of the account is used up.
func lockOutRest(t *testing.T, s *Service, email string) {
	t.Helper()
	for i := range 200 {
		if signIn(t, s, clientAt(i), email, "wrong") == apperr.TooManyRequests {
			return
		}
	}
	t.Fatal("no limit")
}

// TestClearAttempts checks that the user can sign in again from a new network, and from the client's network.
func TestClearAttempts(t *testing.T) {
	t.Parallel()
	s, ada, _ := limited(t)
	eve, _, err := s.Create(t.Context(), access.Client{Trusted: true}, CreateInput{Email: "eve@example.com", Password: "right"})
	if err != nil {
		t.Fatal(err)
	}
	lockOut(t, s, ada.Email)
	lockOut(t, s, eve.Email)
	if err := s.ClearAttempts(t.Context(), clientAt(100), ada); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]apperr.Code{1: "", 100: "", 101: apperr.TooManyRequests} { // 101 has used up its own limit
		if code := signIn(t, s, clientAt(i), ada.Email, "right"); code != want {
			t.Errorf("network %d: %q, want %q", i, code, want)
		}
	}
	if code := signIn(t, s, clientAt(1), eve.Email, "right"); code != apperr.TooManyRequests {
		t.Errorf("another account: %q", code)
	}
}

// TestNetworks checks the stored networks: no IP address, at most maxNetworks per user, no expired network, and no network of a
// deleted user.
func TestNetworks(t *testing.T) {
	t.Parallel()
	s, ada, advance := limited(t)
	eve, _, err := s.Create(t.Context(), access.Client{Trusted: true}, CreateInput{Email: "eve@example.com", Password: "right"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxNetworks + 5 {
		signIn(t, s, clientAt(i), ada.Email, "right")
		advance(time.Hour)
		signIn(t, s, clientAt(0), ada.Email, "right") // stays the most recent
	}
	signIn(t, s, clientAt(0), eve.Email, "right")
	stored := func() []network {
		t.Helper()
		list, err := s.networks.known.List(t.Context(), store.Query{})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	raw, err := json.Marshal(stored())
	if err != nil || strings.Contains(string(raw), "192.0.2.") {
		t.Errorf("%s, %v", raw, err)
	}
	if n := len(stored()); n != maxNetworks+1 {
		t.Errorf("%d networks of two users", n)
	}
	if known, err := s.networks.has(t.Context(), ada.ID, clientAt(0).Address); !known || err != nil {
		t.Errorf("the network in use was replaced: %v", err)
	}
	if known, err := s.networks.has(t.Context(), ada.ID, clientAt(1).Address); known || err != nil {
		t.Errorf("the oldest was not replaced: %v", err)
	}
	if err := s.Delete(t.Context(), access.Principal{UserID: ada.ID}, ada.ID, nil); err != nil {
		t.Fatal(err)
	}
	if left := stored(); len(left) != 1 || left[0].UserID != eve.ID {
		t.Errorf("after the deletion: %+v", left)
	}
	advance(networkTTL)
	if err := s.sweep(t.Context()); err != nil || len(stored()) != 0 {
		t.Errorf("after 30 days: %+v, %v", stored(), err)
	}
}

// deleting is a hasher that deletes a user while it verifies the password.
type deleting struct {
	plain
	delete func()
}

func (d *deleting) Verify(ctx context.Context, password, hash string) (match, outdated bool, err error) {
	if d.delete != nil {
		d.delete()
	}
	return d.plain.Verify(ctx, password, hash)
}

// TestNetworkOfADeletedUser deletes a user during the sign-in. No network of the user may be left.
func TestNetworkOfADeletedUser(t *testing.T) {
	t.Parallel()
	db, hasher := testdb.Open(t), &deleting{}
	s := newService(deps(t, db, hasher, time.Now), Settings{})
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ada, _, err := s.Create(t.Context(), access.Client{Trusted: true}, CreateInput{Email: "ada@example.com", Password: "right"})
	if err != nil {
		t.Fatal(err)
	}
	hasher.delete = func() {
		if err := s.Delete(t.Context(), access.Principal{UserID: ada.ID}, ada.ID, nil); err != nil {
			t.Error(err)
		}
	}
	signIn(t, s, clientAt(1), ada.Email, "right")
	if n, err := s.networks.known.Count(t.Context(), nil); n != 0 || err != nil {
		t.Errorf("%d networks are left, %v", n, err)
	}
}

// TestSpellingsShareALimit guesses with other spellings of an address.
func TestSpellingsShareALimit(t *testing.T) {
	t.Parallel()
	s, _, _ := limited(t)
	for i, email := range []string{"äda@bücher.example", "a\u0308da@bücher.example", "äda@BÜCHER.example", "äda@xn--bcher-kva.example", " äda@XN--BCHER-KVA.example "} {
		for range 2 {
			if code := signIn(t, s, clientAt(1), email, "wrong"); code != apperr.Unauthorized {
				t.Fatalf("spelling %d: %s", i, code)
			}
		}
	}
	if code := signIn(t, s, clientAt(1), "äda@bücher.example", "wrong"); code != apperr.TooManyRequests {
		t.Errorf("guess 11: %s", code)
	}
}
