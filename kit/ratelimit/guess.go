package ratelimit

import (
	"context"
	"errors"
	"slices"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/slot"
)

// maxWaiting is the maximum number of guesses at one account that can wait in this process.
const maxWaiting = 32

// Guesses limits guesses at secrets, such as passwords. Within a process, only one guess at a time runs for the first counter of
// Guess.Shared or, if Shared is empty, of Guess.Own. Otherwise, many concurrent guesses could start before the first wrong guess is
// counted. Guesses at different accounts do not wait for each other.
type Guesses struct {
	limiter *Limiter
	running *slot.Keyed[Key]
}

// NewGuesses returns Guesses that count with the limiter l.
func NewGuesses(l *Limiter) *Guesses {
	return &Guesses{limiter: l, running: slot.NewKeyed[Key](1, maxWaiting+1)}
}

// Guess is a guess at the secret of an account. A wrong guess adds one to each counter, except the counters from which the
// client is exempt. A right guess resets the first counter of Own.
type Guess struct {
	Own    []Key // the counters for guesses of this client; at least one
	Shared []Key // the counters that guesses of other clients also use up, the counter of the account first; can be empty
	// Exempt reports whether the client is exempt from Shared. Try calls Exempt only if a counter of Shared is used up.
	Exempt func(context.Context) (bool, error)
	// Check reports whether the guess is right.
	Check func() (bool, error)
}

// Try makes a guess. TooManyRequests: a counter is used up. Unavailable: too many guesses at the account are waiting, or the
// context has ended. If Exempt or Check fails, Try returns the error unchanged and does not count the guess. If the states of
// Own and Shared are known, Try returns the states even with an error.
func (g *Guesses) Try(ctx context.Context, guess Guess) (right bool, own, shared States, err error) {
	split := func(states States) (own, shared States) {
		n := min(len(states), len(guess.Own))
		return states[:n:n], states[n:]
	}
	account := slices.Concat(guess.Shared, guess.Own)[0]
	if g.running.InUse(account) { // if a counter is used up, reject the client without waiting
		if states, _, _, err := g.check(ctx, guess); err != nil {
			own, shared = split(states)
			return false, own, shared, err
		}
	}
	release, err := g.wait(ctx, account)
	if err != nil {
		return false, nil, nil, err
	}
	defer release()
	states, keys, counted, err := g.check(ctx, guess)
	own, shared = split(states)
	if err != nil {
		return false, own, shared, err
	}
	right, err = guess.Check()
	if err != nil {
		return false, own, shared, err
	}
	if !right {
		taken, err := g.limiter.Take(context.WithoutCancel(ctx), keys...) // count the guess even if the client disconnects
		if taken != nil {
			own, shared = split(taken)
		}
		return false, own, shared, err
	}
	if counted {
		cleared, err := g.limiter.Clear(ctx, guess.Own[0])
		if err != nil {
			return false, own, shared, err
		}
		own = own.With(cleared)
	}
	return true, own, shared, nil
}

// check fails with TooManyRequests if a counter that applies to the guess is used up. keys are the counters that apply, and
// states are the states of these counters. counted reports whether the first counter of Own has counted a wrong guess.
func (g *Guesses) check(ctx context.Context, guess Guess) (states States, keys []Key, counted bool, err error) {
	keys = slices.Concat(guess.Own, guess.Shared)
	states, counters, err := g.limiter.read(ctx, keys)
	if err != nil {
		return nil, nil, false, err
	}
	n := len(guess.Own)
	if !slices.ContainsFunc(states[:n], State.usedUp) && slices.ContainsFunc(states[n:], State.usedUp) {
		exempt, err := guess.Exempt(ctx)
		if err != nil {
			return states, nil, false, err
		}
		if exempt {
			states, keys = states[:n], keys[:n]
		}
	}
	_, counted = counters[keys[0].id]
	return states, keys, counted, g.limiter.reject(states, State.usedUp)
}

// wait waits until no other guess at the account k is running. The caller must call release after the guess. Unavailable: too
// many guesses are waiting, or the context has ended.
func (g *Guesses) wait(ctx context.Context, k Key) (release func(), err error) {
	release, err = g.running.Acquire(ctx, k, 1, 0)
	switch {
	case errors.Is(err, slot.ErrFull):
		return nil, apperr.New(apperr.Unavailable, "Too many attempts for this account are in progress. Try again in a few seconds.").AsOverload()
	case err != nil:
		return nil, apperr.New(apperr.Unavailable, "The request took too long. Try again in a few seconds.").WithCause(err).AsOverload()
	}
	return release, nil
}
