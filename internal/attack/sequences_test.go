package attack_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/modules/user"
)

// recover has an admin and then the owner act: the admin gives the account the owner's address or, if it has that, ends its
// sessions; the owner resets the password or, in some states in which the address is not verified, signs in with a code. Between
// the two, the attackers do what they can, except that they do not confirm another change of the address. The owner of a deleted
// account signs up again.
func (s *scene) recover() error {
	s.clock.Advance(time.Hour)
	if s.deleted {
		u, _, err := s.users.Create(s.ctx, access.Client{Trusted: true}, user.CreateInput{Email: s.owner.mailboxes[0], Password: "again"})
		s.id, s.password, s.owner.passwords = u.ID, "again", []string{"again"}
		return err
	}
	if s.user().Email == s.owner.mailboxes[0] {
		if err := s.sessions.EndAll(s.ctx, operator, s.id); err != nil {
			return err
		}
	} else if !s.adminChange() {
		return errors.New("the admin cannot change the address")
	}
	for _, p := range s.attackers() {
		for _, what := range []string{"undo", "reset", "sign in", "sign in with GitHub", "sign in with a code", "sign in with the passkey", "link", "create a key", "enrol", "register a passkey", "change"} {
			s.do(p.name + ": " + what)
		}
	}
	what := "reset"
	if !s.user().EmailVerified && s.numbers%2 == 0 {
		what = "sign in with a code"
	}
	if !actions[what](s, s.owner) {
		return errors.New("the owner cannot " + what)
	}
	return nil
}

// attack has the intruder and the attackers use everything that they know. It returns what gave one of them the account, or "".
func (s *scene) attack() string {
	if breach := s.breachOf(); breach != "" {
		return breach
	}
	for _, p := range s.attackers() {
		s.clock.Advance(time.Hour)
		if _, ok := s.withSession(p); ok {
			return p.name + ": the session"
		}
		if s.hasKey(p) {
			return p.name + ": the API key"
		}
		if _, _, err := s.sessions.Refresh(s.ctx, s.client, p.session.RefreshToken); err == nil {
			return p.name + ": the refresh token"
		}
		for _, pass := range p.passwords {
			_, _, err := s.sessions.SignIn(s.ctx, s.client, s.user().Email, pass)
			if !apperr.Is(err, apperr.Unauthorized) {
				return p.name + ": the password"
			}
		}
		for _, l := range p.links {
			if l.purpose == "reset" {
				if _, err := s.resets.Complete(s.ctx, s.client, l.token, "stolen"); err == nil {
					return p.name + ": the reset"
				}
			} else if s.follow([]link{l}) {
				return p.name + ": " + l.purpose
			}
		}
		for _, code := range p.codes {
			if _, _, err := s.codes.SignIn(s.ctx, s.client, code); !apperr.Is(err, apperr.Unauthorized) {
				return fmt.Sprintf("%s: the code: %v", p.name, err)
			}
		}
		if in, err := s.provider(access.Principal{}, p); in.User.ID == s.id || apperr.Is(err, apperr.SecondFactorRequired) {
			return p.name + ": GitHub"
		}
		if _, err := s.usePasskey(p); err == nil {
			return p.name + ": the passkey"
		}
	}
	s.clock.Advance(time.Hour)
	_, _, err := s.sessions.SignIn(s.ctx, s.client, s.owner.mailboxes[0], s.password)
	if s.password == "" {
		_, _, err = s.codes.SignIn(s.ctx, s.client, s.askCode(s.owner))
	}
	if err != nil && !apperr.Is(err, apperr.SecondFactorRequired) { // an admin turns off that of an attacker
		return "the owner has no access: " + err.Error()
	}
	return ""
}

// exploration are the states that sequences of actions lead to.
type exploration struct {
	t     *testing.T
	names []string // of the actions

	mu       sync.Mutex
	accounts int
	next     map[string][]string // the states that follow a state
	found    [][]string          // for each new state, the shortest sequence
}

// expand tries each action after a sequence. After an action that is possible, it continues in another account.
func (e *exploration) expand(s *services, sequence []string) {
	var sc *scene
	var before string
	for _, name := range e.names {
		if sc == nil {
			if sc = e.replay(s, sequence); sc == nil {
				return
			}
			if before == "" {
				before = sc.state()
			}
		}
		if sc.do(name) {
			e.record(sc, before, append(slices.Clone(sequence), name))
			sc = nil
		}
	}
}

// replay makes the actions of a sequence in a new account.
func (e *exploration) replay(s *services, sequence []string) *scene {
	e.mu.Lock()
	e.accounts++
	n := e.accounts
	e.mu.Unlock()
	sc, err := s.open(e.t.Context(), n)
	if err != nil {
		e.t.Errorf("setup failed: %v", err)
		return nil
	}
	for _, name := range sequence {
		if !sc.do(name) {
			e.t.Errorf("%q: %s is not possible again", sequence, name)
			return nil
		}
	}
	return sc
}

// record records the state after a sequence, and the state before its last action. If it is new, it has the account recovered
// and attacked.
func (e *exploration) record(sc *scene, before string, sequence []string) {
	state := sc.state()
	e.mu.Lock()
	_, known := e.next[state]
	if !known {
		e.next[state] = nil
		e.found = append(e.found, sequence)
	}
	if len(sequence) > 0 {
		e.next[before] = append(e.next[before], state)
	}
	e.mu.Unlock()
	if known {
		return
	}
	if err := sc.recover(); err != nil {
		e.t.Errorf("%q: %v", sequence, err)
	} else if breach := sc.attack(); breach != "" {
		e.t.Errorf("%q, then an admin and the owner: the attack succeeded: %s", sequence, breach)
	}
}

// sequences returns the number of sequences of up to length actions that are possible from a state.
func (e *exploration) sequences(state string, length int) int {
	if length == 0 {
		return 1
	}
	n := 1
	for _, next := range e.next[state] {
		n += e.sequences(next, length-1)
	}
	return n
}

// ownEmails is a database whose emails no other services send: each have their own mailboxes.
type ownEmails struct {
	store.DB
	number int
}

func (d ownEmails) Open(spec store.Spec) store.Engine {
	if spec.Name == email.Collection {
		spec.Name += fmt.Sprint("-", d.number)
	}
	return d.DB.Open(spec)
}

var maxActions = flag.Int("actions", 3, "length of the sequences of TestTakeoverSequences")

// TestTakeoverSequences tries all sequences of actions of the owner, an admin, an attacker with a past password, an attacker with a
// past mailbox and an intruder with an old session of an admin. After any of them, an admin and then the owner act. Then nothing
// that the attackers know gives them the account. Of the sequences that lead to the same state, one is tried.
func TestTakeoverSequences(t *testing.T) {
	t.Parallel()
	length, workers := *maxActions, 8
	if testing.Short() {
		length = 2
	}
	began := time.Now()
	db, err := engines.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "test.db")) // on MongoDB, it takes minutes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var free []*services
	for i := range workers {
		free = append(free, startServices(t, ownEmails{db, i}))
	}
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := &exploration{t: t, names: []string{adminChange}, next: map[string][]string{}}
	for _, what := range slices.Sorted(maps.Keys(actions)) {
		for _, who := range []string{"owner", "insider", "former"} {
			e.names = append(e.names, who+": "+what)
		}
	}
	for _, what := range []string{"change", "promote", "delete"} { // all of them are tried in attack
		e.names = append(e.names, "intruder: "+what)
	}
	start := e.replay(free[0], nil)
	if start == nil {
		return
	}
	initial := start.state()
	e.record(start, "", nil)
	for range length {
		frontier := make(chan []string, len(e.found))
		for _, sequence := range e.found {
			frontier <- sequence
		}
		close(frontier)
		e.found = nil
		var wg sync.WaitGroup
		for _, s := range free {
			wg.Go(func() {
				for sequence := range frontier {
					e.expand(s, sequence)
				}
			})
		}
		wg.Wait()
	}
	t.Logf("%d sequences of up to %d actions, %d states, %v", e.sequences(initial, length), length, len(e.next), time.Since(began))
}
