package ratelimit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

var rule = Rule{Name: "test", Max: 3, Window: time.Minute}

// start returns a Limiter with a fake clock, and a function that advances it.
func start(t *testing.T) (l *Limiter, advance func(time.Duration)) {
	t.Helper()
	db, now := testdb.Open(t), time.Now()
	l = New(db, func() time.Time { return now })
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l, func(d time.Duration) { now = now.Add(d) }
}

func tooMany(err error) bool { return apperr.Is(err, apperr.TooManyRequests) }

func TestTake(t *testing.T) {
	t.Parallel()
	l, advance := start(t)
	ada, eve := rule.Of("ada"), rule.Of("eve")
	for range rule.Max {
		if err := errors.Join(check(l, ada), take(l, ada)); err != nil {
			t.Fatal(err)
		}
	}
	advance(time.Minute - time.Millisecond)
	for _, err := range []error{check(l, ada), check(l, eve, ada), take(l, ada)} {
		var e *apperr.Error
		if !errors.As(err, &e) || e.Code != apperr.TooManyRequests || e.RetryAfter != time.Millisecond {
			t.Errorf("%v", err)
		}
	}
	if err := check(l, eve); err != nil {
		t.Errorf("another's counter: %v", err)
	}
	advance(time.Millisecond)
	if err := errors.Join(check(l, ada), take(l, ada)); err != nil {
		t.Errorf("after the window: %v", err)
	}
	advance(30 * time.Second)
	for range rule.Max - 1 {
		if err := take(l, ada); err != nil {
			t.Errorf("in the second window: %v", err)
		}
	}
	if !tooMany(take(l, ada)) {
		t.Error("the second window has no end")
	}
	if err := errors.Join(reset(l, ada), take(l, ada)); err != nil {
		t.Errorf("after Clear: %v", err)
	}
}

// TestConcurrentTake counts concurrent callers, at the beginning of a window and after it.
func TestConcurrentTake(t *testing.T) {
	t.Parallel()
	l, advance := start(t)
	key := rule.Of("ada")
	for range 2 {
		var wg sync.WaitGroup
		var taken atomic.Int64
		for range 20 {
			wg.Go(func() {
				if err := take(l, key); err == nil {
					taken.Add(1)
				} else if !tooMany(err) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if taken.Load() != int64(rule.Max) {
			t.Errorf("%d could take", taken.Load())
		}
		advance(rule.Window)
	}
}

func check(l *Limiter, keys ...Key) error {
	_, err := l.Check(context.Background(), keys...)
	return err
}

func take(l *Limiter, keys ...Key) error {
	_, err := l.Take(context.Background(), keys...)
	return err
}

func reset(l *Limiter, key Key) error {
	_, err := l.Clear(context.Background(), key)
	return err
}

func TestStates(t *testing.T) {
	t.Parallel()
	l, advance := start(t)
	ctx := t.Context()
	other := Rule{Name: "other", Max: 1, Window: time.Hour}
	_, _ = l.Take(ctx, rule.Of("ada"), other.Of("ada"))
	advance(time.Second)
	states, _ := l.Check(ctx, rule.Of("ada"), other.Of("ada"), rule.Of("eve"))
	want := []State{{rule, 2, 59 * time.Second}, {other, 0, time.Hour - time.Second}, {rule, 3, time.Minute}}
	for i := range want {
		if len(states) != len(want) || (states[i].Reset-want[i].Reset).Abs() > time.Millisecond { // the precision of the database
			t.Fatalf("%+v", states)
		}
		states[i].Reset = want[i].Reset
		if states[i] != want[i] {
			t.Errorf("%+v, want %+v", states[i], want[i])
		}
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	l, advance := start(t)
	_, _ = l.Take(t.Context(), rule.Of("old"))
	advance(rule.Window)
	_, _ = l.Take(t.Context(), rule.Of("new"))
	if err := l.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := l.counters.List(t.Context(), store.Query{})
	if err != nil || len(left) != 1 || left[0].ID != rule.Of("new").id {
		t.Errorf("%+v %v", left, err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	seen := make(map[store.ID]bool)
	for _, k := range []Key{rule.Of("a", "b"), rule.Of("a"), rule.Of("ab"), rule.Of("b", "a"), {id: Rule{Name: "other"}.Of("a").id}} {
		if seen[k.id] {
			t.Errorf("%+v is another's", k)
		}
		seen[k.id] = true
	}
	for address, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "2001:db8:1:2::": "2001:db8:1:2::/64",
		"fe80::1%eth0": "fe80::/64", "": "", "pipe": "pipe",
	} {
		if got := Site(address); got != strings.Replace(strings.Replace(want, ":2::/64", "::/48", 1), "/64", "/48", 1) {
			t.Errorf("the site of %s is %s", address, got)
		}
		if got := Network(address); got != want {
			t.Errorf("%s is in %s", address, got)
		}
	}
}

// try makes a guess with one counter of the client and one counter of the account.
func try(g *Guesses, ctx context.Context, account, client Key, check func() (bool, error)) (bool, error) {
	right, _, _, err := g.Try(ctx, Guess{
		Own: []Key{client}, Shared: []Key{account}, Check: check,
		Exempt: func(context.Context) (bool, error) { return false, nil },
	})
	return right, err
}

// TestGuess checks that exactly Max wrong guesses are allowed, even concurrently, and that a right guess is then rejected.
func TestGuess(t *testing.T) {
	t.Parallel()
	l, advance := start(t)
	g := NewGuesses(l)
	client, account := rule.Of("ada", "here"), Rule{Name: "account", Max: 100, Window: time.Minute}.Of("ada")
	guess := func(right bool) (bool, error) {
		ok, err := try(g, t.Context(), account, client, func() (bool, error) { return right, nil })
		return ok, err
	}
	for range 5 { // a right guess resets the counter
		_, _ = guess(false)
		_, _ = guess(false)
		if ok, err := guess(true); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	var wg sync.WaitGroup
	var let atomic.Int64
	for range 20 {
		wg.Go(func() {
			if ok, err := guess(false); ok || err == nil {
				let.Add(1)
			} else if !tooMany(err) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if let.Load() != int64(rule.Max) {
		t.Errorf("%d guesses", let.Load())
	}
	if ok, err := guess(true); ok || !tooMany(err) {
		t.Errorf("a right guess after them: %v %v", ok, err)
	}
	advance(time.Minute)
	broken := errors.New("broken")
	if ok, err := try(g, t.Context(), account, client, func() (bool, error) { return false, broken }); ok || !errors.Is(err, broken) {
		t.Errorf("%v %v", ok, err)
	}
	if ok, err := guess(true); !ok || err != nil {
		t.Errorf("after the window: %v %v", ok, err)
	}
	if g.running.InUse(account) {
		t.Error("the account is remembered")
	}
}

// TestGuessWithoutReset checks the states after a right guess whose counter cannot be reset.
func TestGuessWithoutReset(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	own := rule.Of("ada", "here")
	_, _ = l.Take(t.Context(), own)
	ctx, cancel := context.WithCancel(t.Context())
	check := func() (bool, error) { cancel(); return true, nil }
	if ok, states, _, err := NewGuesses(l).Try(ctx, Guess{Own: []Key{own}, Check: check}); ok || err == nil || states[0].Left != rule.Max-1 {
		t.Errorf("%v %v %v", ok, states, err)
	}
}

// TestExempt uses up the shared counter. A guess that is exempt is allowed; a wrong guess then counts only in the counter of
// the client. A guess that is not exempt is rejected.
func TestExempt(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	g := NewGuesses(l)
	shared, own := Rule{Name: "account", Max: 2, Window: time.Minute}.Of("ada"), rule.Of("ada", "here")
	_, _ = l.Take(t.Context(), shared, shared)
	exempt, right, asked := false, true, 0
	guess := Guess{
		Own: []Key{own}, Shared: []Key{shared},
		Exempt: func(context.Context) (bool, error) { asked++; return exempt, nil },
		Check:  func() (bool, error) { return right, nil },
	}
	if ok, mine, others, err := g.Try(t.Context(), guess); ok || !tooMany(err) || len(mine) != 1 || mine[0].Left != rule.Max || len(others) != 1 || others[0].Left != 0 {
		t.Errorf("not exempt: %v %v %v %v", ok, mine, others, err)
	}
	exempt = true
	if ok, _, others, err := g.Try(t.Context(), guess); !ok || err != nil || len(others) != 0 {
		t.Errorf("exempt: %v %v %v", ok, others, err)
	}
	right = false
	for i := range rule.Max {
		if ok, mine, _, err := g.Try(t.Context(), guess); ok || err != nil || mine[0].Left != rule.Max-i-1 {
			t.Errorf("exempt, wrong guess %d: %v %v %v", i+1, ok, mine, err)
		}
	}
	before := asked
	if ok, _, _, err := g.Try(t.Context(), guess); ok || !tooMany(err) || asked != before {
		t.Errorf("the client's own counter is used up: %v %v, asked %d times", ok, err, asked-before)
	}
	if states, err := l.Check(t.Context(), shared); !tooMany(err) || states[0].Left != 0 {
		t.Errorf("exempt guesses count in the shared counter: %v", states)
	}
}

// TestFlood checks that guesses at an account with too many waiting guesses are rejected, and guesses at another account allowed.
func TestFlood(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	g := NewGuesses(l)
	ada, eve := rule.Of("ada"), rule.Of("eve")
	hold := make(chan struct{})
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan struct{})
	wg.Go(func() {
		_, _ = try(g, t.Context(), ada, rule.Of("a"), func() (bool, error) { close(running); <-hold; return true, nil })
	})
	<-running
	rejected := make(chan error)
	for range maxWaiting + 1 {
		wg.Go(func() {
			_, err := try(g, ctx, ada, rule.Of("a"), func() (bool, error) { return true, nil })
			rejected <- err
		})
	}
	if err := <-rejected; !apperr.Is(err, apperr.Unavailable) { // the last guess; the other guesses wait
		t.Error(err)
	}
	if ok, err := try(g, t.Context(), eve, rule.Of("e"), func() (bool, error) { return true, nil }); !ok || err != nil {
		t.Errorf("another account: %v %v", ok, err)
	}
	cancel()
	for range maxWaiting {
		if err := <-rejected; !apperr.Is(err, apperr.Unavailable) {
			t.Error(err)
		}
	}
	close(hold)
	wg.Wait()
	if g.running.InUse(ada) {
		t.Error("the account is remembered")
	}
}

// TestFloodOfTheLimited floods an account with guesses of a client that has no guesses left. These guesses must not wait.
func TestFloodOfTheLimited(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	g := NewGuesses(l)
	account, thief, owner := Rule{Name: "account", Max: 100, Window: time.Minute}.Of("ada"), rule.Of("ada", "there"), rule.Of("ada", "here")
	for range rule.Max {
		_, _ = l.Take(t.Context(), thief)
	}
	hold, running := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = try(g, t.Context(), account, owner, func() (bool, error) { close(running); <-hold; return true, nil })
	})
	<-running
	ctx, cancel := context.WithCancel(t.Context())
	rejected := make(chan error, 2*maxWaiting)
	for range cap(rejected) {
		wg.Go(func() {
			_, err := try(g, ctx, account, thief, func() (bool, error) { return false, nil })
			rejected <- err
		})
	}
	for range maxWaiting { // only other clients may wait
		if err := <-rejected; !tooMany(err) {
			t.Errorf("the attack succeeded: %v", err)
			break
		}
	}
	cancel()
	close(hold)
	wg.Wait()
}

// TestGuessWithoutShared makes concurrent wrong guesses that only the counter of the client limits.
func TestGuessWithoutShared(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	g := NewGuesses(l)
	var wg sync.WaitGroup
	var made atomic.Int64
	for range 20 {
		wg.Go(func() {
			_, _, _, err := g.Try(t.Context(), Guess{Own: []Key{rule.Of("ada")}, Check: func() (bool, error) { made.Add(1); return false, nil }})
			if err != nil && !tooMany(err) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != int64(rule.Max) {
		t.Errorf("%d guesses", made.Load())
	}
}
