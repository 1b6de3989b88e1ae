package attack_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/store"
	apikey "example.com/ginseng/modules/api-key"
	"example.com/ginseng/modules/auth"
	emailcode "example.com/ginseng/modules/email-code"
	emailverification "example.com/ginseng/modules/email-verification"
	"example.com/ginseng/modules/passkey"
	passwordreset "example.com/ginseng/modules/password-reset"
	"example.com/ginseng/modules/social"
	twofactor "example.com/ginseng/modules/two-factor"
	"example.com/ginseng/modules/user"
	"example.com/ginseng/modules/webhook"
	"example.com/ginseng/server"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/authenticator"
	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/providers"
)

// services are the services of accounts, without HTTP and with weak hashes, and what surrounds them: a clock, the mailboxes
// and GitHub.
type services struct {
	users         *user.Module
	sessions      *auth.Module
	social        *social.Module
	resets        *passwordreset.Module
	verifications *emailverification.Module
	codes         *emailcode.Module
	factors       *twofactor.Module
	keys          *apikey.Module
	passkeys      *passkey.Module
	handler       http.Handler // of all of them and of webhooks
	admin         string       // the address of the admin in scene.stealToken

	clock  *clock.Clock
	github *providers.GitHub
	emails *email.Queue
	mail   *mailboxes
}

// mailboxes are the emails that were sent and not read yet, by address.
type mailboxes struct {
	mu     sync.Mutex
	emails map[string][]email.Message
}

func (m *mailboxes) Send(_ context.Context, e email.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.emails[e.To] = append(m.emails[e.To], e)
	return nil
}

// read removes the emails to an address, and returns the tokens and the codes in them.
func (m *mailboxes) read(address string) (tokens, codes []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.emails[address] {
		for line := range strings.Lines(e.Text) {
			if link, ok := strings.CutPrefix(strings.TrimSpace(line), testkit.LinkOrigin+"/"); ok {
				tokens = append(tokens, link)
			}
		}
		if found := codeLine.FindStringSubmatch(e.Text); found != nil {
			codes = append(codes, found[1])
		}
	}
	delete(m.emails, address)
	return tokens, codes
}

// inProcess sends requests to a handler.
type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	p.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// startServices creates the services on a database.
func startServices(t *testing.T, db store.DB) *services {
	s := &services{clock: clock.At(time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)), mail: &mailboxes{emails: map[string][]email.Message{}}}
	app := providers.App{ID: "1234567890123456", Secret: testkit.ProviderSecret}
	s.github = providers.NewGitHub(app, s.clock.Now)
	d := server.NewDeps(server.DepsOptions{
		Name: "test", DB: db, MasterKeys: []string{testkit.MasterKey}, Now: s.clock.Now, Log: slog.New(slog.DiscardHandler),
		Sender: s.mail, Hasher: password.NewWeakHasher(), Development: true,
	})
	t.Cleanup(func() { d.Email.Close(context.Background()) })
	d.HTTP, s.emails = inProcess{s.github}, d.Email
	const long = 1000 * time.Hour // no link and no token expires, except those that undo a change
	s.users = user.New(d, user.Settings{})
	s.sessions = auth.New(d, auth.Settings{Secret: testkit.Secret, TTL: long, RefreshTTL: long}, s.users)
	s.social = social.New(d, social.Settings{GitHub: social.GitHubSettings{
		ID: app.ID, Secret: app.Secret, URL: "https://github.test", APIURL: "https://github.test" + providers.GitHubAPI,
	}}, s.users, s.sessions)
	s.resets = passwordreset.New(d, passwordreset.Settings{TTL: long, LinkOrigins: []string{testkit.LinkOrigin}}, s.users)
	s.verifications = emailverification.New(d, emailverification.Settings{TTL: long, LinkOrigins: []string{testkit.LinkOrigin}}, s.users)
	began, still := s.clock.Now(), d // a clock that stands still: no code expires
	still.Now = func() time.Time { return began }
	s.codes = emailcode.New(still, emailcode.Settings{}, s.users, s.sessions)
	s.factors = twofactor.New(d, twofactor.Settings{}, s.users, s.sessions)
	s.keys = apikey.New(d, s.users)
	s.passkeys = passkey.New(d, passkey.Settings{}, s.users, s.sessions)
	var err error
	s.handler, err = server.NewHandler(server.HandlerOptions{
		Settings: server.Settings{MasterKeys: []string{testkit.MasterKey}, MaxBodyBytes: 1 << 20}, Deps: d,
		Modules: []kit.Module{
			s.users, s.sessions, s.social, s.resets, s.verifications, s.codes, s.factors, s.keys, s.passkeys, webhook.New(d, webhook.Settings{}, s.users),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// person is the owner of an account, or an attacker, with all that they know.
type person struct {
	name      string
	mailboxes [2]string
	github    string // the ID of their account at GitHub, whose verified address is that of the first mailbox
	passwords []string
	links     []link // in emails to their mailboxes
	code      string // in the last email with one
	codes     []emailcode.SignInInput
	session   user.SignedIn
	secret    string // of the second factor that they enrolled last
	key       string // the API key that they created last
	device    authenticator.Authenticator
	passkey   store.ID // that they registered last, with the device
}

// link is a link in an email.
type link struct {
	purpose string // change, undo or reset
	token   string
	number  int // links are numbered in the order in which they were sent
}

// scene is one account, whose owner and attackers act in turn.
type scene struct {
	*services
	ctx    context.Context
	id     store.ID
	client access.Client
	owner  *person
	// insider knows the password that the account has at the start. former has the mailbox of the address that the account
	// had until shortly before.
	insider, former *person
	intruder        intruder

	password string  // the account's
	linked   *person // whose GitHub account was linked last
	factor   *person // who enrolled the second factor
	enrolled int     // the number of links before that
	numbers  int     // of links so far
	deleted  bool
}

const verifyLink, resetLink = testkit.LinkOrigin + "/verify/{token}", testkit.LinkOrigin + "/reset/{token}"

// open creates an account: with the address of the former mailbox, then changed to the owner's, so that the change can be
// undone.
func (s *services) open(ctx context.Context, n int) (*scene, error) {
	meet := func(i int, name string) *person {
		p := &person{name: name, mailboxes: [2]string{fmt.Sprintf("%s-%d@one.example", name, n), fmt.Sprintf("%s-%d@two.example", name, n)}}
		p.device.Origin = "http://localhost:3000"
		p.github = s.github.AddUser(providers.User{ID: fmt.Sprint(10*n + i), Email: p.mailboxes[0], EmailVerified: true}).ID
		return p
	}
	sc := &scene{services: s, ctx: ctx, owner: meet(1, "owner"), insider: meet(2, "insider"), former: meet(3, "former")}
	sc.client = access.Client{Address: fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)}
	sc.password = "first"
	sc.owner.passwords, sc.insider.passwords = []string{"first"}, []string{"first"}
	u, _, err := s.users.Create(ctx, access.Client{Trusted: true}, user.CreateInput{Email: sc.former.mailboxes[0], Password: "zeroth"})
	if err != nil {
		return nil, err
	}
	sc.id = u.ID
	if u, err = s.users.ResetPassword(ctx, u.ID, u.Epoch, "first"); err != nil { // verifies the address
		return nil, err
	}
	caller := access.Principal{UserID: u.ID, Epoch: u.Epoch, Role: u.Role}
	_, err = s.verifications.RequestChange(ctx, sc.client, caller, emailverification.ChangeInput{Email: sc.owner.mailboxes[0], Link: verifyLink})
	if err != nil {
		return nil, err
	}
	sc.read()
	if _, err = s.verifications.Confirm(ctx, sc.owner.links[0].token); err != nil {
		return nil, err
	}
	sc.read()
	return sc, sc.stealToken()
}

func (s *scene) people() []*person    { return []*person{s.owner, s.insider, s.former} }
func (s *scene) attackers() []*person { return s.people()[1:] }

// read gives everyone the links that were sent to their mailboxes.
func (s *scene) read() {
	_ = s.emails.Wait(s.ctx)
	for _, p := range s.people() {
		for _, mailbox := range p.mailboxes {
			tokens, codes := s.mail.read(mailbox)
			if len(codes) > 0 {
				p.code = codes[len(codes)-1]
			}
			for _, sent := range tokens {
				page, token, _ := strings.Cut(sent, "/")
				l := link{purpose: page, token: token, number: s.numbers}
				if page == "verify" {
					view, err := s.verifications.Get(s.ctx, token)
					if err != nil {
						continue
					}
					l.purpose = view.Purpose
				}
				s.numbers++
				p.links = append(p.links, l)
			}
		}
	}
}

// user returns the account.
func (s *scene) user() user.User {
	u, _ := s.users.Get(s.ctx, s.id) // the zero User, if it was deleted
	return u
}

// withPassword returns the person as a caller who knows the password. ok is false if they do not.
func (s *scene) withPassword(p *person) (access.Principal, bool) {
	if !slices.Contains(p.passwords, s.password) {
		return access.Principal{}, false
	}
	caller, _, err := s.users.VerifyPassword(s.ctx, s.client, s.user().Email, s.password)
	return caller, err == nil
}

// withSession returns the person as a caller with a session. ok is false if they have none.
func (s *scene) withSession(p *person) (access.Principal, bool) {
	caller, err := s.sessions.VerifyToken(s.ctx, p.session.Token)
	return caller, err == nil
}

// hasKey reports whether the person has an API key of the account.
func (s *scene) hasKey(p *person) bool {
	caller, err := s.keys.VerifyKey(s.ctx, s.client, p.key)
	return err == nil && caller.Is(s.id)
}

// live returns the links of the person for the purpose that work.
func (s *scene) live(p *person, purpose string) (links []link) {
	for _, l := range p.links {
		if l.purpose == purpose && s.works(l) {
			links = append(links, l)
		}
	}
	return links
}

func (s *scene) works(l link) bool {
	var err error
	if l.purpose == "reset" {
		_, err = s.resets.Get(s.ctx, l.token)
	} else {
		_, err = s.verifications.Get(s.ctx, l.token)
	}
	return err == nil
}

// provider signs the person in with GitHub, or links their account to the caller. It passes the second factor, if it is the
// person's own.
func (s *scene) provider(caller access.Principal, p *person) (user.SignedIn, error) {
	in, _, err := s.social.SignIn(s.ctx, caller, s.client, "github", social.Proof{AccessToken: s.github.Token(p.github)})
	return s.pass(p, in, err)
}

// pass passes the second factor, if that is missing and the person's own.
func (s *scene) pass(p *person, in user.SignedIn, err error) (user.SignedIn, error) {
	var required *access.ChallengeError
	if !errors.As(err, &required) || s.factor != p {
		return in, err
	}
	code, err := totp.GenerateCode(p.secret, s.clock.Now())
	if err != nil {
		return in, err
	}
	in, _, err = s.factors.SignIn(s.ctx, s.client, twofactor.SignInInput{Challenge: required.Challenge, Proof: access.Proof{Code: code}})
	return in, err
}

// hasPasskey reports whether the passkey that the person registered last is valid.
func (s *scene) hasPasskey(p *person) bool {
	list, err := s.passkeys.List(s.ctx, s.id)
	return err == nil && slices.ContainsFunc(list.Rows, func(v passkey.View) bool { return v.ID == p.passkey })
}

// register registers a passkey of the person.
func (s *scene) register(caller access.Principal, p *person) error {
	options, _, err := s.passkeys.RegistrationOptions(s.ctx, caller)
	if err != nil {
		return err
	}
	created, err := p.device.Create(options.PublicKey)
	if err != nil {
		return err
	}
	in := passkey.CreateInput{Challenge: options.Challenge}
	raw, _ := json.Marshal(created) // strings
	in.Credential.ParseInput("credential", raw)
	registered, err := s.passkeys.Create(s.ctx, caller, in)
	p.passkey = registered.ID
	return err
}

// usePasskey signs the person in with the passkey that they registered last, valid or not.
func (s *scene) usePasskey(p *person) (user.SignedIn, error) {
	options, _, err := s.passkeys.SignInOptions(s.ctx, s.client)
	if err != nil {
		return user.SignedIn{}, err
	}
	signed, err := p.device.Get(options.PublicKey)
	if err != nil {
		return user.SignedIn{}, err
	}
	in := passkey.SignInInput{Challenge: options.Challenge}
	raw, _ := json.Marshal(signed) // strings
	in.Credential.ParseInput("credential", raw)
	result, _, err := s.passkeys.SignIn(s.ctx, s.client, in)
	return result, err
}
