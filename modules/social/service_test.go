package social

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/providers"
	"example.com/ginseng/testkit/testdb"
)

var (
	bob    = providers.User{ID: "7", Login: "bob", Email: "bob@example.com", EmailVerified: true}
	nobody = access.Principal{}
	home   = access.Client{Address: "192.0.2.1"}
)

// fixture is a Service with three fake providers, a database, and Sessions that record the users.
type fixture struct {
	*Service
	t       *testing.T
	db      store.DB
	clock   *clock.Clock
	members *user.Module
	fakes   map[string]*fakeProvider

	mu     sync.Mutex
	opened []user.User
}

// Open implements Sessions.
func (h *fixture) Open(_ context.Context, u user.User, _ access.Client, _ ...access.Method) (user.SignedIn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened = append(h.opened, u)
	return user.SignedIn{Token: "token", User: h.members.View(u)}, nil
}

func build(t *testing.T) *fixture {
	t.Helper()
	return buildOn(t, testdb.Open(t))
}

func buildOn(t *testing.T, db store.DB) *fixture {
	t.Helper()
	h := &fixture{t: t, db: db, clock: clock.At(time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)), fakes: map[string]*fakeProvider{}}
	d := testkit.Deps(t, h.db, h.clock.Now)
	h.members = user.New(d, user.Settings{})
	h.Service = newService(d, Settings{}, h.members, h, providerTimeout)
	for _, name := range []string{"alpha", "beta", "gamma"} {
		h.fakes[name] = &fakeProvider{}
		h.fakes[name].AddUser(ada)
		h.fakes[name].AddUser(bob)
		h.providers[name] = provider{profile: h.fakes[name].profile}
	}
	if err := h.db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

// enter signs in with an account of a provider.
func (h *fixture) enter(caller access.Principal, provider, account string) (user.View, error) {
	h.t.Helper()
	result, _, err := h.SignIn(h.t.Context(), caller, home, provider, Proof{AccessToken: account})
	return result.User, err
}

// welcome calls enter, which must succeed.
func (h *fixture) welcome(caller access.Principal, provider, account string) user.View {
	h.t.Helper()
	u, err := h.enter(caller, provider, account)
	if err != nil {
		h.t.Fatalf("%s %s: %v", provider, account, err)
	}
	return u
}

// reject calls enter, which must fail with the code and open no session.
func (h *fixture) reject(code apperr.Code, words string, caller access.Principal, provider, account string) {
	h.t.Helper()
	before := len(h.opened)
	if u, err := h.enter(caller, provider, account); apperr.CodeOf(err) != code || !strings.Contains(err.Error(), words) {
		h.t.Errorf("%s %s: %+v, %v, want %s: …%s…", provider, account, u, err, code, words)
	}
	if len(h.opened) != before {
		h.t.Errorf("%s %s: a session was opened", provider, account)
	}
}

// as returns the principal of a user in an open session.
func (h *fixture) as(id store.ID) access.Principal {
	h.t.Helper()
	u := h.user(id)
	return access.Principal{UserID: u.ID, Epoch: u.Epoch, Role: u.Role}
}

func (h *fixture) user(id store.ID) user.User {
	h.t.Helper()
	u, err := h.members.Get(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return u
}

// signUp creates a user with a password and an unverified email address.
func (h *fixture) signUp(email string) access.Principal {
	h.t.Helper()
	u, _, err := h.members.Create(h.t.Context(), home, user.CreateInput{Email: email, Password: "analytical engine"})
	if err != nil {
		h.t.Fatal(err)
	}
	return h.as(u.ID)
}

// reset completes a password reset.
func (h *fixture) reset(id store.ID) {
	h.t.Helper()
	if _, err := h.members.ResetPassword(h.t.Context(), id, h.user(id).Epoch, "difference engine"); err != nil {
		h.t.Fatal(err)
	}
}

// links returns the names of the providers to which the caller is linked.
func (h *fixture) links(caller access.Principal) string {
	h.t.Helper()
	list, err := h.List(h.t.Context(), caller)
	if err != nil || list.Count != len(list.Rows) {
		h.t.Fatalf("%+v, %v", list, err)
	}
	names := make([]string, len(list.Rows))
	for n, row := range list.Rows {
		names[n] = row.Provider
	}
	return strings.Join(names, " ")
}

// count returns the number of stored identities.
func (h *fixture) count() int64 {
	h.t.Helper()
	n, err := h.identities.Count(h.t.Context(), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func TestNewAndKnown(t *testing.T) {
	t.Parallel()
	h := build(t)
	first := h.welcome(nobody, "alpha", ada.ID)
	if first.Email != "ada@example.com" || first.Name != ada.Name || first.Picture != ada.Picture || first.Role != access.RoleUser {
		t.Errorf("%+v", first)
	}
	if u := h.user(first.ID); !u.EmailVerified || u.HasPassword() {
		t.Errorf("%+v", u)
	}
	h.fakes["alpha"].AddUser(providers.User{ID: ada.ID, Login: "x", Name: "X", Email: "x@example.com", EmailVerified: true, Picture: "https://example.com/x"})
	if again := h.welcome(nobody, "alpha", ada.ID); again != first {
		t.Errorf("%+v became %+v", first, again)
	}
	h.fakes["alpha"].AddUser(providers.User{ID: ada.ID, NoEmail: true})
	if again := h.welcome(nobody, "alpha", ada.ID); again != first {
		t.Errorf("without an email address %+v became %+v", first, again)
	}
	if h.count() != 1 || h.links(h.as(first.ID)) != "alpha" {
		t.Errorf("%d identities, %s", h.count(), h.links(h.as(first.ID)))
	}
}

func TestUnknownProvider(t *testing.T) {
	t.Parallel()
	h := build(t)
	if configured := (Settings{}).providers(environment{}); len(configured) != 0 {
		t.Errorf("without settings there are %v", configured)
	}
	for _, name := range []string{"twitter", "", "ALPHA", "identities"} {
		if _, _, err := h.SignIn(t.Context(), nobody, home, name, Proof{}); !apperr.Is(err, apperr.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProofCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		proof Proof
		want  string
	}{
		{Proof{}, "access_token required"},
		{Proof{RedirectURI: callback, CodeVerifier: verifier}, "access_token required"},
		{Proof{AccessToken: "x", IDToken: "y"}, "access_token conflict, id_token conflict"},
		{Proof{AccessToken: "x", Code: "y", RedirectURI: callback}, "access_token conflict, code conflict"},
		{Proof{IDToken: "x", Code: "y"}, "id_token conflict, code conflict, redirect_uri required"},
		{Proof{Code: "y"}, "redirect_uri required"},
		{Proof{AccessToken: "x", RedirectURI: callback}, ""},
		{Proof{IDToken: "x"}, ""},
		{Proof{IDToken: "x", Nonce: "n"}, ""},
		{Proof{AccessToken: "x", Nonce: "n"}, "nonce conflict"},
		{Proof{Code: "x", RedirectURI: callback}, ""},
	} {
		var got []string
		var e *apperr.Error
		if errors.As(test.proof.check(), &e) {
			for _, f := range e.Fields {
				got = append(got, f.Param+" "+string(f.Code))
			}
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%+v: %v", test.proof, got)
		}
	}
}

// TestPlainAddress checks the warning in production about a provider whose URL begins with http://.
func TestPlainAddress(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		address     string
		development bool
		want        int
	}{{"http://x", false, 1}, {"http://x", true, 0}, {"https://x", false, 0}} {
		var log bytes.Buffer
		d := kit.Deps{Log: slog.New(slog.NewTextHandler(&log, nil)), Development: test.development}
		warnPlain(d, map[string]provider{"alpha": {address: test.address}})
		if got := strings.Count(log.String(), "level=WARN"); got != test.want {
			t.Errorf("%+v: %s", test, log.String())
		}
	}
}

// TestListedURLs omits an OpenID provider whose authorization URL does not have the scheme of the issuer.
func TestListedURLs(t *testing.T) {
	t.Parallel()
	s := Service{timeout: time.Minute, providers: map[string]provider{}}
	for name, address := range map[string]string{"good": "https://example.com/x?y", "script": "javascript://example.com/%0aalert(1)", "plain": "http://example.com"} {
		s.providers[name] = provider{
			address: "https://example.com", isOpenID: true, authorization: func(context.Context) (string, bool, error) { return address, false, nil },
		}
	}
	if list := s.Providers(t.Context()); list.Count != 1 || list.Rows[0].ID != "good" {
		t.Errorf("%+v", list)
	}
}

// together calls f n times concurrently, with the numbers from 0, and returns the results.
func together[T any](n int, f func(i int) T) []T {
	results, begin := make([]T, n), make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-begin
			results[i] = f(i)
		})
	}
	close(begin)
	all.Wait()
	return results
}

// TestFirstSignInsInParallel checks that 20 concurrent first sign-ins create one user, or link an existing user.
func TestFirstSignInsInParallel(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		t.Run(fmt.Sprint(known), func(t *testing.T) {
			t.Parallel()
			h := build(t)
			if known {
				h.reset(h.signUp("ada@example.com").UserID)
			}
			ids := together(20, func(int) store.ID {
				result, _, err := h.SignIn(t.Context(), nobody, home, "beta", Proof{AccessToken: ada.ID})
				if err != nil {
					t.Error(err)
				}
				return result.User.ID
			})
			if n := len(slices.Compact(ids)); n != 1 || h.count() != 1 {
				t.Errorf("%d users, %d identities", n, h.count())
			}
		})
	}
}

// TestTwoProviders links accounts with one verified address to one user. It links accounts with two addresses to two users, even
// if both accounts have the same ID.
func TestTwoProviders(t *testing.T) {
	t.Parallel()
	h := build(t)
	first := h.welcome(nobody, "alpha", ada.ID)
	if second := h.welcome(nobody, "beta", ada.ID); second != first {
		t.Errorf("%+v and %+v", first, second)
	}
	h.fakes["gamma"].AddUser(providers.User{ID: ada.ID, Email: "eve@example.com", EmailVerified: true})
	if eve := h.welcome(nobody, "gamma", ada.ID); eve.ID == first.ID || eve.Email != "eve@example.com" {
		t.Errorf("the same ID at another provider: %+v", eve)
	}
	if links := h.links(h.as(first.ID)); links != "alpha beta" {
		t.Errorf("links %s", links)
	}
}

func TestUselessEmail(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.welcome(nobody, "gamma", ada.ID)
	for _, test := range []struct {
		u     providers.User
		words string
	}{
		{providers.User{ID: "20", NoEmail: true}, "returns no email address"},
		{providers.User{ID: "21", Email: "eve@example.com"}, "has not verified"},
		{providers.User{ID: "27", Email: "ada@example.com"}, "has not verified"}, // the address of a user
		{providers.User{ID: "22", Email: "not an address", EmailVerified: true}, "cannot be used"},
		{providers.User{ID: "23", Email: strings.Repeat("x", 243) + "@example.com", EmailVerified: true}, "cannot be used"},
		{providers.User{ID: "24", Email: `"a:b"@example.com`, EmailVerified: true}, "cannot be used"},
		{providers.User{ID: "25", Email: "a@example.com\x00", EmailVerified: true}, "cannot be used"},
		{providers.User{ID: "26", Email: "a@example.com, b@example.com", EmailVerified: true}, "cannot be used"},
	} {
		h.fakes["alpha"].AddUser(test.u)
		h.reject(apperr.Conflict, test.words, nobody, "alpha", test.u.ID)
		h.reject(apperr.Conflict, "user token in the Authorization header, which links", nobody, "alpha", test.u.ID)
		eve := h.signUp(test.u.ID + "@example.com")
		if u := h.welcome(eve, "alpha", test.u.ID); u.ID != eve.UserID {
			t.Errorf("linked to %+v", u)
		}
		if u := h.welcome(nobody, "alpha", test.u.ID); u.ID != eve.UserID || u.Email != test.u.ID+"@example.com" {
			t.Errorf("signed in as %+v", u)
		}
	}
}

// TestHostileProfile checks that profiles are cleaned before they are stored.
func TestHostileProfile(t *testing.T) {
	t.Parallel()
	h := build(t)
	for n, test := range []struct{ name, picture, wantName, wantPicture string }{
		{"  Ada \x00\r\nLovelace\x1b[2J ", "javascript:alert(1)", "Ada Lovelace[2J", ""},
		{strings.Repeat("ä", 99) + " ä", "https://example.com/" + strings.Repeat("x", 2048), strings.Repeat("ä", 99), ""},
		{"Ada \u202eLovelace", "https://ada:secret@example.com/", "Ada Lovelace", ""},
		{"Ada", `http://x/"><script>`, "Ada", ""},
		{"\u0085", "data:image/png;base64,x", "", ""},
		{"Ada", "//example.com/x.png", "Ada", ""},
		{"Ada", "http://example.com/x.png", "Ada", "http://example.com/x.png"},
	} {
		u := h.fakes["alpha"].AddUser(providers.User{ID: fmt.Sprint(30 + n), Name: test.name, Picture: test.picture, EmailVerified: true})
		got := h.welcome(nobody, "alpha", u.ID)
		if test.wantName == "" {
			test.wantName = "user" + u.ID // the default of package user
		}
		if got.Name != test.wantName {
			t.Errorf("%q became %q", test.name, got.Name)
		}
		if got.Picture != test.wantPicture && !(test.wantPicture == "" && strings.HasPrefix(got.Picture, "https://www.gravatar.com/")) {
			t.Errorf("%q became %q", test.picture, got.Picture)
		}
	}
}

// TestNameOfTheClient sends a name with each proof, as clients of Apple do with the first sign-in. Only a new user without a name at
// the provider gets the name.
func TestNameOfTheClient(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.fakes["alpha"].AddUser(providers.User{ID: "20", EmailVerified: true})
	for _, test := range []struct{ account, name, want string }{
		{"20", " Grace\x07 Hopper ", "Grace Hopper"}, {"20", "Other", "Grace Hopper"}, {ada.ID, "Other", ada.Name},
	} {
		result, _, err := h.SignIn(t.Context(), nobody, home, "alpha", Proof{AccessToken: test.account, Name: test.name})
		if err != nil || result.User.Name != test.want {
			t.Errorf("%q: %+v, %v", test.name, result.User, err)
		}
	}
}

// TestTakeover signs up with another person's address, and links an account before that person signs in.
func TestTakeover(t *testing.T) {
	t.Parallel()
	h := build(t)
	eve := h.signUp("ada@example.com")
	h.fakes["beta"].AddUser(providers.User{ID: "666", Email: "eve@example.com", EmailVerified: true})
	h.welcome(eve, "beta", "666") // Eve links an account to the user with Ada's address
	h.reject(apperr.Conflict, "Reset that user's password", nobody, "alpha", ada.ID)
	if links := h.links(eve); links != "beta" {
		t.Errorf("links %s", links)
	}
	h.reset(eve.UserID) // by Ada, who receives the email
	if links := h.links(h.as(eve.UserID)); links != "" {
		t.Errorf("Eve's links are still valid: %s", links)
	}
	if u := h.welcome(nobody, "alpha", ada.ID); u.ID != eve.UserID {
		t.Errorf("Ada is %+v", u)
	}
	if u := h.welcome(nobody, "beta", "666"); u.ID == eve.UserID || u.Email != "eve@example.com" {
		t.Errorf("Eve's account belongs to %+v", u)
	}
	if links := h.links(h.as(eve.UserID)); links != "alpha" {
		t.Errorf("links %s", links)
	}
	h.reset(eve.UserID) // Ada links the account again at the next sign-in
	if u := h.welcome(nobody, "alpha", ada.ID); u.ID != eve.UserID {
		t.Errorf("after a second reset Ada is %+v", u)
	}
}

// TestUnverified signs in with a provider that does not verify addresses. Concurrent first sign-ins create one user, and an
// existing user is never linked.
func TestUnverified(t *testing.T) {
	t.Parallel()
	testdb.Each(t, testUnverified)
}

func testUnverified(t *testing.T, db store.DB) {
	h := buildOn(t, db)
	p, alpha := h.providers["alpha"], h.fakes["alpha"]
	p.unverified = true
	h.providers["alpha"] = p
	alpha.AddUser(providers.User{ID: "20", Email: "free@example.com"})
	ids := together(10, func(int) store.ID {
		result, _, err := h.SignIn(t.Context(), nobody, home, "alpha", Proof{AccessToken: "20"})
		if err != nil {
			t.Error(err)
		}
		return result.User.ID
	})
	if n := len(slices.Compact(ids)); n != 1 || h.count() != 1 {
		t.Errorf("%d users, %d identities", n, h.count())
	}
	if u := h.user(ids[0]); u.EmailVerified || u.HasPassword() || u.Email != "free@example.com" {
		t.Errorf("%+v", u)
	}
	alpha.AddUser(providers.User{ID: "21", Email: "free@example.com"})
	h.reject(apperr.Conflict, "is in use", nobody, "alpha", "21")
	alpha.AddUser(providers.User{ID: "22", NoEmail: true})
	h.reject(apperr.Conflict, "returns no email address", nobody, "alpha", "22")
	taken := h.signUp("taken@example.com")
	alpha.AddUser(providers.User{ID: "23", Email: "taken@example.com", EmailVerified: true})
	h.reject(apperr.Conflict, "is in use", nobody, "alpha", "23")
	h.welcome(taken, "alpha", "23")
	if u := h.welcome(nobody, "alpha", "23"); u.ID != taken.UserID || h.user(u.ID).EmailVerified {
		t.Errorf("%+v", u)
	}
}

// TestEndedSession makes requests with a session that a password reset has ended. The requests must fail and open no session.
func TestEndedSession(t *testing.T) {
	t.Parallel()
	h := build(t)
	eve := h.signUp("ada@example.com")
	h.welcome(eve, "beta", bob.ID)
	h.reset(eve.UserID)
	for _, provider := range []string{"beta", "alpha"} {
		h.reject(apperr.Unauthorized, "Sign in again", eve, provider, bob.ID)
	}
	if _, err := h.List(t.Context(), eve); !apperr.Is(err, apperr.Unauthorized) {
		t.Errorf("list: %v", err)
	}
	if err := h.Unlink(t.Context(), eve, "beta"); !apperr.Is(err, apperr.Unauthorized) {
		t.Errorf("unlink: %v", err)
	}
	gone := access.Principal{UserID: store.NewID()}
	h.reject(apperr.Unauthorized, "Sign in again", gone, "alpha", bob.ID)
}

func TestLinking(t *testing.T) {
	t.Parallel()
	h := build(t)
	me := h.signUp("me@example.com")
	before := h.user(me.UserID)
	for range 2 { // already linked: no error
		if u := h.welcome(me, "alpha", ada.ID); u.ID != me.UserID {
			t.Errorf("%+v", u)
		}
	}
	if after := h.user(me.UserID); after != before {
		t.Errorf("linking changed %+v to %+v", before, after)
	}
	h.reject(apperr.Conflict, "Another account of this provider", me, "alpha", bob.ID)
	other := h.signUp("other@example.com")
	h.reject(apperr.Conflict, "linked to another user", other, "alpha", ada.ID)
	if u := h.welcome(nobody, "alpha", ada.ID); u.ID != me.UserID {
		t.Errorf("%+v", u)
	}
	if u := h.welcome(access.Principal{Master: true}, "alpha", bob.ID); u.Email != bob.Email {
		t.Errorf("the master key is linked: %+v", u)
	}
	if h.links(me) != "alpha" || h.links(other) != "" || h.count() != 2 {
		t.Errorf("links %s and %s, %d", h.links(me), h.links(other), h.count())
	}
}

// TestIdentitiesAreUnique checks the unique indexes that concurrent requests rely on.
func TestIdentitiesAreUnique(t *testing.T) {
	t.Parallel()
	h := build(t)
	me, other := store.NewID(), store.NewID()
	for _, test := range []struct {
		provider, subject string
		user              store.ID
		want              apperr.Code
	}{
		{"alpha", "1", me, ""}, {"alpha", "1", other, apperr.Conflict}, {"alpha", "2", me, apperr.Conflict}, {"beta", "1", me, ""}, {"alpha", "2", other, ""},
	} {
		i := Identity{Meta: store.NewMeta(store.NewID(), store.At(h.clock.Now())), Provider: test.provider, Subject: test.subject, UserID: test.user}
		if err := h.identities.Insert(t.Context(), i); apperr.CodeOf(err) != test.want {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestLinkingInParallel links one account to two users concurrently, and two accounts to one user: one request succeeds.
func TestLinkingInParallel(t *testing.T) {
	t.Parallel()
	h := build(t)
	me, other := h.signUp("me@example.com"), h.signUp("other@example.com")
	for _, test := range []struct {
		provider string
		callers  [2]access.Principal
		accounts [2]string
	}{
		{"alpha", [2]access.Principal{me, other}, [2]string{ada.ID, ada.ID}},
		{"beta", [2]access.Principal{me, me}, [2]string{ada.ID, bob.ID}},
	} {
		codes := together(2, func(n int) apperr.Code {
			_, _, err := h.SignIn(t.Context(), test.callers[n], home, test.provider, Proof{AccessToken: test.accounts[n]})
			return apperr.CodeOf(err)
		})
		if codes[0] == codes[1] || codes[0]+codes[1] != apperr.Conflict {
			t.Errorf("%s: %q", test.provider, codes)
		}
	}
	if h.count() != 2 {
		t.Errorf("%d identities", h.count())
	}
}

func TestDeletedUser(t *testing.T) {
	t.Parallel()
	h := build(t)
	first := h.welcome(nobody, "alpha", ada.ID)
	h.welcome(nobody, "beta", bob.ID)
	if err := h.members.Delete(t.Context(), h.as(first.ID), first.ID, nil); err != nil {
		t.Fatal(err)
	}
	if h.count() != 1 {
		t.Errorf("%d identities remain", h.count())
	}
	leftover := Identity{Meta: store.NewMeta(store.NewID(), store.At(h.clock.Now())), Provider: "alpha", Subject: ada.ID, UserID: first.ID}
	if err := h.identities.Insert(t.Context(), leftover); err != nil {
		t.Fatal(err)
	}
	second := h.welcome(nobody, "alpha", ada.ID)
	if second.ID == first.ID || second.Email != first.Email || h.count() != 2 {
		t.Errorf("%+v, %d identities", second, h.count())
	}
}

func TestRejectionsAreLimited(t *testing.T) {
	t.Parallel()
	h := build(t)
	try := func(client access.Client, token string) apperr.Code {
		_, _, err := h.SignIn(t.Context(), nobody, client, "beta", Proof{AccessToken: token})
		return apperr.CodeOf(err)
	}
	good := ada.ID
	v6 := func(host string) access.Client { return access.Client{Address: "2001:db8:1:2::" + host} }
	server := access.Client{Address: "2001:db8:1:2::1", Trusted: true}
	for n := range rejections.Max {
		if got := try(v6(fmt.Sprint(n)), "bad"); got != apperr.Unauthorized {
			t.Fatalf("rejection %d: %s", n+1, got)
		}
		if got := try(server, "bad"); got != apperr.Unauthorized {
			t.Fatalf("rejection %d of a trusted server: %s", n+1, got)
		}
	}
	asked := h.fakes["beta"].asked
	for _, token := range []string{"bad", good} {
		if got := try(v6("ffff"), token); got != apperr.TooManyRequests {
			t.Errorf("one more: %s", got)
		}
	}
	if got := h.fakes["beta"].asked; got != asked {
		t.Errorf("the provider received %d more requests", got-asked)
	}
	if got := try(server, good); got != "" {
		t.Errorf("a trusted server: %s", got)
	}
	if got := try(access.Client{Address: "2001:db8:1:3::1"}, good); got != "" {
		t.Errorf("another network: %s", got)
	}
	h.clock.Advance(rejections.Window)
	if got := try(v6("1"), good); got != "" {
		t.Errorf("after the window: %s", got)
	}
}

// TestOtherErrorsAreNotCounted checks that only errors of the caller count toward the rate limit.
func TestOtherErrorsAreNotCounted(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.fakes["beta"].Fail(providers.Broken)
	for n := range rejections.Max + 1 {
		if _, err := h.enter(nobody, "beta", ada.ID); !apperr.Is(err, apperr.Unavailable) {
			t.Fatalf("%d: %v", n, err)
		}
	}
	h.fakes["beta"].Fail(providers.None)
	h.welcome(nobody, "beta", ada.ID)
}

func TestNewUsersAreLimited(t *testing.T) {
	t.Parallel()
	h := build(t)
	for n := range 21 {
		u := h.fakes["alpha"].AddUser(providers.User{ID: fmt.Sprint(100 + n), EmailVerified: true})
		_, err := h.enter(nobody, "alpha", u.ID)
		if limited := apperr.Is(err, apperr.TooManyRequests); limited != (n == 20) || !limited && err != nil {
			t.Errorf("user %d: %v", n+1, err)
		}
	}
	h.welcome(nobody, "alpha", "100")
}

// TestSlowProvider checks that all requests of a sign-in share one timeout.
func TestSlowProvider(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.timeout = 50 * time.Millisecond
	h.fakes["beta"].Fail(providers.Slow)
	h.reject(apperr.Unavailable, "context deadline exceeded", nobody, "beta", ada.ID)
}

// TestAccountWithoutID rejects an account without an ID, or with an ID that is too long.
func TestAccountWithoutID(t *testing.T) {
	t.Parallel()
	h := build(t)
	for _, subject := range []string{"", strings.Repeat("1", 256)} {
		h.fakes["alpha"].users["odd"] = providers.User{ID: subject, Email: "odd@example.com", EmailVerified: true}
		if _, err := h.enter(nobody, "alpha", "odd"); !apperr.Is(err, apperr.Unavailable) {
			t.Errorf("%d bytes: %v", len(subject), err)
		}
	}
}

func TestUnlink(t *testing.T) {
	t.Parallel()
	h := build(t)
	unlink := func(caller access.Principal, provider string, want apperr.Code) {
		t.Helper()
		if err := h.Unlink(t.Context(), caller, provider); apperr.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", provider, err, want)
		}
	}
	caller := h.as(h.welcome(nobody, "alpha", ada.ID).ID)
	unlink(caller, "alpha", apperr.Conflict)
	unlink(caller, "beta", apperr.NotFound)
	unlink(caller, "twitter", apperr.NotFound)
	h.welcome(nobody, "beta", ada.ID)
	h.welcome(nobody, "gamma", bob.ID) // a link of another user does not count
	unlink(caller, "alpha", "")
	unlink(caller, "alpha", apperr.NotFound)
	unlink(caller, "beta", apperr.Conflict)
	if links := h.links(caller); links != "beta" {
		t.Errorf("links %s", links)
	}
	h.welcome(nobody, "beta", ada.ID)
	h.reset(caller.UserID)
	caller = h.as(caller.UserID)
	unlink(caller, "beta", apperr.NotFound)
	h.welcome(nobody, "beta", ada.ID) // linked again by the verified email address
	unlink(caller, "beta", "")
	if links := h.links(caller); links != "" || h.count() != 1 {
		t.Errorf("links %s, %d", links, h.count())
	}
}

// TestInvalidLinkIsNotCounted checks that keepOne does not count an invalid link.
func TestInvalidLinkIsNotCounted(t *testing.T) {
	t.Parallel()
	h := build(t)
	u := h.user(h.welcome(nobody, "alpha", ada.ID).ID)
	u.LinksFrom = 1
	i, err := h.identities.First(t.Context(), link(u.ID, "alpha"))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.keepOne(t.Context(), u, i, nil); !apperr.Is(err, apperr.Conflict) {
		t.Errorf("%v", err)
	}
}

// TestUnlinkBothInParallel unlinks two accounts concurrently. At least one link remains.
func TestUnlinkBothInParallel(t *testing.T) {
	t.Parallel()
	h := build(t)
	caller := h.as(h.welcome(nobody, "alpha", ada.ID).ID)
	for range 20 {
		h.welcome(nobody, "alpha", ada.ID)
		h.welcome(nobody, "beta", ada.ID)
		codes := together(2, func(n int) apperr.Code {
			return apperr.CodeOf(h.Unlink(t.Context(), caller, []string{"alpha", "beta"}[n]))
		})
		if !slices.Contains(codes, apperr.Conflict) || slices.ContainsFunc(codes, func(c apperr.Code) bool { return c != "" && c != apperr.Conflict }) {
			t.Errorf("%q", codes)
		}
		if h.links(caller) == "" {
			t.Fatal("no way to sign in remains")
		}
	}
}

// TestUnlinkInParallel unlinks an account with two concurrent requests. One request succeeds.
func TestUnlinkInParallel(t *testing.T) {
	t.Parallel()
	h := build(t)
	caller := h.signUp("me@example.com")
	for range 20 {
		h.welcome(caller, "alpha", ada.ID)
		codes := together(2, func(int) apperr.Code { return apperr.CodeOf(h.Unlink(t.Context(), caller, "alpha")) })
		if codes[0] == codes[1] || codes[0]+codes[1] != apperr.NotFound {
			t.Errorf("%q", codes)
		}
	}
}

// TestRetry checks that retry pauses between attempts, but not after the last attempt.
func TestRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin, calls := time.Now(), 0
		err := retry(t.Context(), func() error { calls++; return errConcurrent })
		if want := firstPause * (1<<(maxRounds-1) - 1); !apperr.Is(err, apperr.Unavailable) || calls != maxRounds || time.Since(begin) != want {
			t.Errorf("%d attempts in %v, %v; want %d in %v", calls, time.Since(begin), err, maxRounds, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = retry(ctx, func() error { cancel(); return errConcurrent })
		if !apperr.Is(err, apperr.Unavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("after the end of the request: %v", err)
		}
	})
}

// TestOvertaken checks that attach returns errConcurrent if a concurrent request has linked the account.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	h := build(t)
	u := h.user(h.welcome(nobody, "alpha", ada.ID).ID)
	if err := h.attach(t.Context(), u, "alpha", ada.ID); !errors.Is(err, errConcurrent) {
		t.Error(err)
	}
}

// TestRestoreLink checks that the last link is stored after an error, whether the error occurred before or after the deletion.
func TestRestoreLink(t *testing.T) {
	t.Parallel()
	h := build(t)
	u := h.user(h.welcome(nobody, "alpha", ada.ID).ID)
	i, err := h.identities.First(t.Context(), link(u.ID, "alpha"))
	if err != nil {
		t.Fatal(err)
	}
	failed := apperr.New(apperr.Unavailable, "down")
	for _, remove := range []bool{true, false} {
		if remove {
			if _, err := h.identities.Delete(t.Context(), store.Eq("id", i.ID)); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.keepOne(t.Context(), u, i, failed); !errors.Is(err, failed) {
			t.Errorf("%v", err)
		}
		if links := h.links(h.as(u.ID)); links != "alpha" {
			t.Errorf("links %q", links)
		}
	}
}

func TestDatabaseUnavailable(t *testing.T) {
	t.Parallel()
	h := build(t)
	caller := h.as(h.welcome(nobody, "alpha", ada.ID).ID)
	if err := h.db.Close(); err != nil {
		t.Fatal(err)
	}
	h.reject(apperr.Unavailable, "database", nobody, "alpha", ada.ID)
	if _, err := h.List(t.Context(), caller); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("list: %v", err)
	}
	if err := h.Unlink(t.Context(), caller, "alpha"); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("unlink: %v", err)
	}
}

// TestRouteOrder checks that the routes of the providers are sorted, so that the command routes prints the same at each run.
func TestRouteOrder(t *testing.T) {
	t.Parallel()
	m := &Module{Service: &Service{}, clientIDs: map[string]string{"e": "", "b": "", "d": "", "a": "", "c": ""}}
	m.controller = &controller{m.Service}
	var table route.Table
	m.Routes(table.Router())
	order := ""
	for _, r := range table.Describe().Routes {
		if name, ok := strings.CutPrefix(r.Path, "/auth/"); ok && len(name) == 1 {
			order += name
		}
	}
	if order != "abcde" {
		t.Errorf("the order %q", order)
	}
}
