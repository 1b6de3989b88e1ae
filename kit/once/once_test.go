package once_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/once"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/testdb"
)

const retention = 24 * time.Hour

// account is what messages have an effect on.
type account struct {
	store.Meta `bson:",inline"`
	Balance    int64 `json:"balance"`
}

type fixture struct {
	t        *testing.T
	db       store.DB
	clock    *clock.Clock
	accounts *store.Collection[account]
	id       store.ID
	messages *once.Messages
}

func newFixture(t *testing.T, db store.DB) *fixture {
	c := clock.At(time.Now())
	f := &fixture{t, db, c, store.Open[account](db, store.Spec{Name: "accounts"}), store.NewID(), once.New(db, c.Now, "events", retention)}
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.accounts.Insert(t.Context(), account{Meta: store.NewMeta(f.id, store.At(c.Now()))}); err != nil {
		t.Fatal(err)
	}
	return f
}

// pay adds 1 to the balance.
func (f *fixture) pay(ctx context.Context) error {
	_, err := f.accounts.Update(ctx, store.Eq("id", f.id), store.Inc("balance", 1))
	return err
}

// wantBalance fails the test unless err has the code, and the balance is the number.
func (f *fixture) wantBalance(err error, code apperr.Code, want int64) {
	f.t.Helper()
	a, readErr := f.accounts.Get(f.t.Context(), f.id)
	if apperr.CodeOf(err) != code || readErr != nil || a.Balance != want {
		f.t.Errorf("%v, balance %d, %v, want %q, %d", err, a.Balance, readErr, code, want)
	}
}

func TestDo(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, db store.DB) {
		f := newFixture(t, db)
		f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), "", 1)
		f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), "", 1)
		f.wantBalance(f.messages.Do(t.Context(), "b", f.pay), "", 2)
		f.wantBalance(f.messages.Do(t.Context(), strings.Repeat("é", 1000), f.pay), "", 3)
		f.wantBalance(f.messages.Do(t.Context(), strings.Repeat("é", 1000), f.pay), "", 3)
		f.wantBalance(f.messages.Do(t.Context(), "", f.pay), apperr.ValidationFailed, 3)

		f.clock.Advance(retention - time.Second)
		if err := f.messages.Job().Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), "", 3)
		f.clock.Advance(time.Second)
		if err := f.messages.Job().Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), "", 4)
	})
}

// TestFailed repeats a message whose function has failed: with errors, which include those that Do returns itself, and with a panic.
func TestFailed(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, db store.DB) {
		f := newFixture(t, db)
		for _, failure := range []error{errors.New("broken"), apperr.New(apperr.Conflict, "Taken."), apperr.New(apperr.NotFound, "Unknown.")} {
			err := f.messages.Do(t.Context(), "a", func(context.Context) error { return failure })
			f.wantBalance(err, apperr.CodeOf(failure), 0)
		}
		f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), "", 1)
		func() {
			defer func() { _ = recover() }()
			_ = f.messages.Do(t.Context(), "b", func(context.Context) error { panic("b") })
		}()
		f.clock.Advance(time.Minute + time.Second) // without transactions, b is claimed until then
		f.wantBalance(f.messages.Do(t.Context(), "b", f.pay), "", 2)
	})
}

// TestConcurrent processes a message 20 times at the same time. Without transactions, calls that find it in progress fail; the
// sender repeats them.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, db store.DB) {
		f := newFixture(t, db)
		for n, id := range []string{"a", "b", "c"} {
			var group sync.WaitGroup
			for range 20 {
				group.Go(func() {
					if err := f.messages.Do(t.Context(), id, f.pay); err != nil && !apperr.Is(err, apperr.Unavailable) {
						t.Error(err)
					}
				})
			}
			group.Wait()
			f.wantBalance(f.messages.Do(t.Context(), id, f.pay), "", int64(n)+1)
		}
	})
}

// TestEffectIsAtomic checks that a transaction that fails after the effect leaves neither the effect nor the message.
func TestEffectIsAtomic(t *testing.T) {
	t.Parallel()
	f := newFixture(t, testdb.Open(t))
	if errors.Is(f.db.Atomic(t.Context(), func(context.Context) error { return nil }), store.ErrNoTransactions) {
		t.Skip("the server has no transactions")
	}
	broken := errors.New("broken")
	err := f.messages.Do(t.Context(), "a", func(ctx context.Context) error { return errors.Join(f.pay(ctx), broken) })
	f.wantBalance(err, apperr.Internal, 0)
	ended, cancel := context.WithCancel(t.Context())
	err = f.messages.Do(ended, "a", func(ctx context.Context) error {
		defer cancel()
		return f.pay(ctx)
	})
	f.wantBalance(err, apperr.Unavailable, 0)
	f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), "", 1)
}

// TestWithoutTransactions has what only a database without transactions does.
func TestWithoutTransactions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, testdb.Separate(testdb.Open(t)))

	// A second message during the first is rejected.
	err := f.messages.Do(t.Context(), "a", func(ctx context.Context) error {
		f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), apperr.Unavailable, 0)
		return f.pay(ctx)
	})
	f.wantBalance(err, "", 1)

	// The client disconnects after the effect: the message is done.
	ended, cancel := context.WithCancel(t.Context())
	err = f.messages.Do(ended, "b", func(ctx context.Context) error {
		defer cancel()
		return f.pay(ctx)
	})
	f.wantBalance(err, "", 2)
	f.wantBalance(f.messages.Do(t.Context(), "b", f.pay), "", 2)

	// The first call takes longer than its lease: the second has the message.
	err = f.messages.Do(t.Context(), "c", func(ctx context.Context) error {
		f.clock.Advance(time.Minute)
		f.wantBalance(f.messages.Do(t.Context(), "c", f.pay), "", 3)
		return errors.New("too late")
	})
	f.wantBalance(err, apperr.Internal, 3)
	f.wantBalance(f.messages.Do(t.Context(), "c", f.pay), "", 3)
}

// TestKilled leaves a message as a killed service does: after the effect, before its result. Without transactions, the effect is
// repeated after the lease.
func TestKilled(t *testing.T) {
	t.Parallel()
	killed := false
	db := testdb.Intercept(testdb.Separate(testdb.Open(t)), func(_ context.Context, c testdb.Call, do func() error) error {
		if killed && c.Name == "Update events" {
			return errors.New("killed")
		}
		return do()
	})
	f := newFixture(t, db)
	killed = true
	f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), apperr.Internal, 1)
	killed = false
	f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), apperr.Unavailable, 1)
	f.clock.Advance(time.Minute)
	f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), "", 2)
	f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), "", 2)
}

// TestClaimInTransaction repeats a message in a transaction that a process without transactions has claimed and not completed.
func TestClaimInTransaction(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	f := newFixture(t, db)
	if errors.Is(f.db.Atomic(t.Context(), func(context.Context) error { return nil }), store.ErrNoTransactions) {
		t.Skip("the server has no transactions")
	}
	separate := once.New(testdb.Separate(db), f.clock.Now, "events", retention)
	err := separate.Do(t.Context(), "a", func(context.Context) error {
		f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), apperr.Unavailable, 0)
		return nil
	})
	f.wantBalance(err, "", 0)
	f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), "", 0)

	f.leave(separate, "b")
	f.wantBalance(f.messages.Do(t.Context(), "b", f.pay), apperr.Unavailable, 0)
	f.clock.Advance(time.Minute)
	broken := errors.New("broken")
	f.wantBalance(f.messages.Do(t.Context(), "b", func(ctx context.Context) error { return errors.Join(f.pay(ctx), broken) }), apperr.Internal, 0)
	f.wantBalance(f.messages.Do(t.Context(), "b", f.pay), "", 1)
	f.wantBalance(f.messages.Do(t.Context(), "b", f.pay), "", 1)
	f.wantBalance(separate.Do(t.Context(), "b", f.pay), "", 1)

	f.leave(separate, "c")
	f.clock.Advance(retention - time.Second)
	f.wantBalance(f.messages.Do(t.Context(), "c", f.pay), "", 2)
	f.clock.Advance(retention - time.Second)
	if err := f.messages.Job().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.wantBalance(f.messages.Do(t.Context(), "c", f.pay), "", 2) // the retention begins with the effect
}

// TestClaimDuringTransaction repeats a message in a transaction that began before another process recorded or claimed the message.
func TestClaimDuringTransaction(t *testing.T) {
	t.Parallel()
	began, expire := false, false
	var f *fixture
	db := testdb.Open(t)
	f = newFixture(t, testdb.Intercept(db, func(_ context.Context, c testdb.Call, do func() error) error {
		if began && c.Name == "First events" {
			began = false
			return apperr.New(apperr.NotFound, "The transaction does not see the message.")
		}
		err := do()
		if expire && c.Name == "Together" {
			expire = false
			f.clock.Advance(retention)
			err = errors.Join(err, f.messages.Job().Run(t.Context()))
		}
		return err
	}))
	if errors.Is(db.Atomic(t.Context(), func(context.Context) error { return nil }), store.ErrNoTransactions) {
		t.Skip("the server has no transactions")
	}
	separate := once.New(testdb.Separate(db), f.clock.Now, "events", retention)

	f.wantBalance(separate.Do(t.Context(), "a", f.pay), "", 1)
	began = true
	f.wantBalance(f.messages.Do(t.Context(), "a", f.pay), "", 1)

	f.leave(separate, "b")
	began = true
	f.wantBalance(f.messages.Do(t.Context(), "b", f.pay), apperr.Unavailable, 1)
	began, expire = true, true // the other process fails and deletes its claim
	f.wantBalance(f.messages.Do(t.Context(), "b", f.pay), apperr.Unavailable, 1)
	f.wantBalance(f.messages.Do(t.Context(), "b", f.pay), "", 2)
}

// leave claims a message without completing it, as a killed process without transactions does.
func (f *fixture) leave(separate *once.Messages, id string) {
	defer func() { _ = recover() }()
	_ = separate.Do(f.t.Context(), id, func(context.Context) error { panic(id) })
}

// TestTimeLimit checks that the time limit of a function begins with its claim, however long the database takes to store the claim.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	var claimed time.Time
	db := testdb.Before(testdb.Separate(testdb.Open(t)), "Insert events", func() {
		claimed = time.Now()
		time.Sleep(20 * time.Millisecond)
	})
	f := newFixture(t, db)
	err := f.messages.Do(t.Context(), "a", func(ctx context.Context) error {
		if deadline, ok := ctx.Deadline(); !ok || deadline.After(claimed.Add(50*time.Second)) {
			t.Errorf("deadline %v after the claim", deadline.Sub(claimed))
		}
		return f.pay(ctx)
	})
	f.wantBalance(err, "", 1)
}

// TestID checks that messages of two senders with the same id have different IDs.
func TestID(t *testing.T) {
	t.Parallel()
	db := testdb.Open(t)
	one, two := once.New(db, time.Now, "events", retention), once.New(db, time.Now, "other-events", retention)
	again := once.New(db, time.Now, "events", retention)
	if one.ID("a") == two.ID("a") || one.ID("a") == one.ID("b") || one.ID("a") != again.ID("a") {
		t.Error(one.ID("a"), two.ID("a"), one.ID("b"), again.ID("a"))
	}
}
