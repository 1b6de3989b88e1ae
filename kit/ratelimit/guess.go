package ratelimit

import (
	"context"
	"sync"

	"example.com/ginseng/kit/apperr"
)

// waitingGuesses is how many guesses at one account may wait for their turn in this process.
const waitingGuesses = 32

// Guesses lets one guess at an account run at a time in this process, so that guesses in parallel cannot all pass
// before the first is counted, and a flood at one account leaves the others their turns.
type Guesses struct {
	limiter *Limiter
	mu      sync.Mutex
	turns   map[Key]*turn
}

type turn struct {
	waiting int
	free    chan struct{} // holds one token
}

// NewGuesses counts with the limiter.
func NewGuesses(l *Limiter) *Guesses { return &Guesses{limiter: l, turns: make(map[Key]*turn)} }

// Guess runs guess unless one of the counters is used up: that of the account, that of the account and the client who
// guesses, and others. A wrong guess counts in each; a right one clears the client's. TooManyRequests: a counter is used
// up. Unavailable: too many guesses at the account wait.
func (g *Guesses) Guess(ctx context.Context, account, client Key, others []Key, guess func() (right bool, err error)) (right bool, err error) {
	keys := append([]Key{client, account}, others...)
	if g.busy(account) { // who may not guess does not wait either, and takes nobody's place
		if err := g.limiter.Check(ctx, keys...); err != nil {
			return false, err
		}
	}
	release, err := g.wait(ctx, account)
	if err != nil {
		return false, err
	}
	defer release()
	counters, err := g.limiter.check(ctx, keys)
	if err != nil {
		return false, err
	}
	if right, err = guess(); err != nil {
		return false, err
	}
	if !right {
		return false, g.limiter.Take(context.WithoutCancel(ctx), keys...) // also of a caller who hangs up
	}
	if _, counted := counters[client.id]; counted {
		err = g.limiter.Clear(ctx, client)
	}
	return err == nil, err
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
	if t.waiting > waitingGuesses {
		g.mu.Unlock()
		return nil, apperr.New(apperr.Unavailable, "Too many people sign in to this account at the moment. Try again in a few seconds.").AsOverload()
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
