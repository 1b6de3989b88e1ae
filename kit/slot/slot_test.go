package slot

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"
)

func TestAcquire(t *testing.T) {
	t.Parallel()
	s := semaphore.NewWeighted(2)
	if err := Acquire(t.Context(), s, 2, 0); err != nil {
		t.Fatal(err)
	}
	if err := Acquire(t.Context(), s, 1, time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("more than its size after the time: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Acquire(ended, s, 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	acquired := make(chan error, 1)
	go func() { acquired <- Acquire(t.Context(), s, 1, 30*time.Second) }()
	s.Release(2)
	if err := <-acquired; err != nil {
		t.Errorf("after a release: %v", err)
	}
}

func TestKeyed(t *testing.T) {
	t.Parallel()
	k := NewKeyed[string](2, 2)
	acquire := func(key string, n int64) (func(), error) { return k.Acquire(t.Context(), key, n, time.Millisecond) }
	first, err := acquire("a", 1)
	if err != nil || !k.InUse("a") || k.InUse("b") {
		t.Fatalf("%v, a is in use: %t, b: %t", err, k.InUse("a"), k.InUse("b"))
	}
	if other, err := acquire("b", 2); err != nil {
		t.Errorf("another key waits: %v", err)
	} else {
		other()
	}
	if _, err := acquire("a", 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("more than its size: %v", err)
	}
	second, err := acquire("a", 1) // a caller that did not get a slot does not count
	if err != nil {
		t.Fatal(err)
	}
	if _, err := acquire("a", 1); !errors.Is(err, ErrFull) {
		t.Errorf("too many callers: %v", err)
	}
	first()
	second()
	if k.InUse("a") || k.InUse("b") {
		t.Error("a released key is in use")
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	s := NewShares(8)
	acquire := func(caller string, n int64, want error) func() {
		t.Helper()
		release, err := s.Acquire(t.Context(), caller, n, -1)
		if !errors.Is(err, want) {
			t.Fatalf("%s, %d: %v, want %v", caller, n, err, want)
		}
		return release
	}
	first := acquire("a", 1, nil)
	acquire("a", 1, nil)
	acquire("a", 1, ErrShare) // more than a quarter
	acquire("b", 3, ErrShare)
	for _, caller := range []string{"b", "c", "d"} {
		acquire(caller, 2, nil)
	}
	acquire("e", 1, ErrFull)
	if _, err := s.Acquire(t.Context(), "e", 1, time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the time: %v", err)
	}
	first()
	acquire("a", 2, ErrShare)
	acquire("e", 1, nil)()
	acquire("a", 1, nil)
	acquire("f", 1, ErrFull)
	acquire("b", 1, ErrShare)
	if one := NewShares(2); one.Quarter() != 1 {
		t.Errorf("a quarter of 2 is %d", one.Quarter())
	}
}
