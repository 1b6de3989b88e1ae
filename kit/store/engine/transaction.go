package engine

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Transaction is the state of a running Atomic. Only engines use this type. The zero value is ready to use.
type Transaction struct {
	mu    sync.Mutex // held during each operation
	err   error      // the reason why nothing will be stored
	ended error      // the error that operations return after End; nil before End
}

// Do runs an operation of the Atomic. Operations run one at a time. An error other than NotFound ends the Atomic: later
// operations return the same error. ctx is the context of the operation.
func (t *Transaction) Do(ctx context.Context, operation func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := cmp.Or(t.ended, t.err); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		t.err = store.Unavailable(err)
		return t.err
	}
	err := operation()
	t.err = apperr.Replace(err, apperr.NotFound, nil)
	return err
}

// Run calls f and ends the Atomic, even if f panics. It returns nil if the writes are to be stored, and otherwise the reason
// why nothing is stored.
func (t *Transaction) Run(ctx context.Context, f func(context.Context) error) (err error) {
	err = errPanic
	defer func() { err = t.End(err, errEnded) }()
	if err = f(ctx); err == nil && ctx.Err() != nil {
		err = store.Unavailable(ctx.Err())
	}
	return err
}

// Join calls f as part of the Atomic. An error or a panic of f ends the Atomic.
func (t *Transaction) Join(ctx context.Context, f func(context.Context) error) (err error) {
	if err := t.Do(ctx, func() error { return nil }); err != nil {
		return err
	}
	err = errPanic
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.err = cmp.Or(t.err, err)
	}()
	err = f(ctx)
	return err
}

// errPanic ends an Atomic whose function panics.
var errPanic = errors.New("store: the function of an Atomic panicked")

// End ends the Atomic, unless the Atomic has already ended. If err is not nil, nothing is stored. later is the error that
// subsequent operations return. End returns nil if the writes are to be stored. Otherwise it returns the reason why nothing is
// stored: err, or the error of the operation that failed.
func (t *Transaction) End(err, later error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == nil {
		t.ended, t.err = later, cmp.Or(err, t.err)
	}
	return t.err
}

// errEnded is returned by an operation whose context belongs to an Atomic that has ended.
var errEnded = errors.New("store: the Atomic of this context has ended; use the context only inside the function of the Atomic")
