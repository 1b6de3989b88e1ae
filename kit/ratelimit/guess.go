package ratelimit

import (
	"context"
	"sync"

	"example.com/ginseng/kit/apperr"
)

// maxWaiting bounds the guesses at one account that wait in this process.
const maxWaiting = 32

// Guesses runs one guess at an account at a time in this process. So concurrent guesses cannot all pass before the first
// is counted, and many guesses at one account do not delay those at others.
type Guesses struct {
	limiter *Limiter
	mu      sync.Mutex
	turns   map[Key]*turn
}

type turn struct {
	waiting int
	free    chan struct{} // has one token
}

// NewGuesses returns Guesses that count with the limiter.
func NewGuesses(l *Limiter) *Guesses { return &Guesses{limiter: l, turns: make(map[Key]*turn)} }

// Guess calls guess unless one of the counters is used up: that of the account, that of the account and the client, and
// others. A wrong guess counts in each; a right one clears that of the client. TooManyRequests: a counter is used up.
// Unavailable: too many guesses at the account wait. The states are also returned with an error, if they are known.
func (g *Guesses) Guess(ctx context.Context, account, client Key, others []Key, guess func() (right bool, err error)) (right bool, states States, err error) {
	keys := append([]Key{client, account}, others...)
	if g.busy(account) { // rejects a client without letting it wait
		if states, err = g.limiter.Check(ctx, keys...); err != nil {
			return false, states, err
		}
	}
	release, err := g.wait(ctx, account)
	if err != nil {
		return false, states, err
	}
	defer release()
	states, counters, err := g.limiter.check(ctx, keys)
	if err != nil {
		return false, states, err
	}
	if right, err = guess(); err != nil {
		return false, states, err
	}
	if !right {
		taken, err := g.limiter.Take(context.WithoutCancel(ctx), keys...) // also if the client disconnects
		return false, states.With(taken), err
	}
	if _, counted := counters[client.id]; counted {
		cleared, err := g.limiter.Clear(ctx, client)
		return err == nil, states.With(cleared), err
	}
	return true, states, nil
}

func (g *Guesses) busy(k Key) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.turns[k] != nil
}

func (g *Guesses) wait(ctx context.Context, k Key) (release func(), err error) {
	g.mu.Lock()
	t := g.turns[k]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		g.turns[k] = t
	}
	if t.waiting > maxWaiting {
		g.mu.Unlock()
		return nil, apperr.New(apperr.Unavailable, "Too many sign-ins to this account at the moment. Try again in a few seconds.").AsOverload()
	}
	t.waiting++
	g.mu.Unlock()
	leave := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if t.waiting--; t.waiting == 0 {
			delete(g.turns, k)
		}
	}
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, apperr.New(apperr.Unavailable, "The request took too long. Try again in a few seconds.").WithCause(ctx.Err()).AsOverload()
	}
}
