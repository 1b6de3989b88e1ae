package engine

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Transaction is the state of a running call of DB.Atomic. Only engines use this type. The zero value is ready to use.
type Transaction struct {
	mu    sync.Mutex // held during each operation
	err   error      // the reason why nothing will be stored
	ended error      // the error that operations return after End; nil before End
}

// Do runs an operation of the transaction. Operations run one at a time. An error other than NotFound fails the transaction:
// later operations return the same error, and nothing is stored. ctx is the context of the operation.
func (t *Transaction) Do(ctx context.Context, operation func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := cmp.Or(t.ended, t.err); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		t.err = store.Busy(err).AsOverload()
		return t.err
	}
	err := operation()
	t.err = apperr.Replace(err, apperr.NotFound, nil)
	return err
}

// Run calls f and ends the transaction, even if f panics. It returns nil if the engine must store the writes, and otherwise the
// reason why the engine must store nothing.
func (t *Transaction) Run(ctx context.Context, f func(context.Context) error) (err error) {
	err = errPanic
	defer func() { err = t.End(err, errEnded) }()
	if err = f(ctx); err == nil && ctx.Err() != nil {
		err = store.Busy(ctx.Err()).AsOverload()
	}
	return err
}

// Join calls f as part of the transaction. An error or a panic of f fails the transaction.
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

// errPanic fails a transaction whose function panics.
var errPanic = errors.New("store: the function passed to Atomic panicked")

// End ends the transaction, unless End was called before. If err is not nil, nothing is stored. later is the error that
// subsequent operations return. End returns nil if the engine must store the writes. Otherwise it returns the reason why the
// engine must store nothing: err, or the error of the operation that failed.
func (t *Transaction) End(err, later error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == nil {
		t.ended, t.err = later, cmp.Or(err, t.err)
	}
	return t.err
}

// errEnded is returned by an operation whose context belongs to a call of Atomic that has ended.
var errEnded = errors.New("store: the Atomic of this context has ended; use the context only inside the function of the Atomic")
