// Package slot limits how much runs at the same time: callers wait, for a limited time, until there is room.
package slot

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrFull is returned by Keyed.Acquire if too many callers use a key or wait for it.
var ErrFull = errors.New("slot: too many callers wait")

// Acquire acquires n of s. It waits for at most the given time, or until ctx ends if that is 0, and then returns the error of
// the context.
func Acquire(ctx context.Context, s *semaphore.Weighted, n int64, wait time.Duration) error {
	if s.TryAcquire(n) {
		return nil
	}
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	return s.Acquire(ctx, n)
}

// Keyed has a semaphore for each key in use.
type Keyed[K comparable] struct {
	size    int64 // of each semaphore
	callers int   // maximum number that use a key or wait for it; 0 means no limit

	mu    sync.Mutex
	inUse map[K]*entry
}

type entry struct {
	*semaphore.Weighted
	callers int
}

// NewKeyed returns a Keyed with semaphores of the given size, each with at most the given number of callers that use it or wait;
// 0 means no limit.
func NewKeyed[K comparable](size int64, callers int) *Keyed[K] {
	return &Keyed[K]{size: size, callers: callers, inUse: make(map[K]*entry)}
}

// Acquire acquires n of the semaphore of the key, as the function Acquire does, or returns ErrFull without waiting. Call
// release at the end.
func (k *Keyed[K]) Acquire(ctx context.Context, key K, n int64, wait time.Duration) (release func(), err error) {
	e := k.enter(key)
	if e == nil {
		return nil, ErrFull
	}
	if err := Acquire(ctx, e.Weighted, n, wait); err != nil {
		k.leave(key, e)
		return nil, err
	}
	return func() { e.Release(n); k.leave(key, e) }, nil
}

// InUse reports whether callers use the key or wait for it.
func (k *Keyed[K]) InUse(key K) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.inUse[key] != nil
}

// enter adds a caller to a key; it returns nil if the key has too many.
func (k *Keyed[K]) enter(key K) *entry {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.inUse[key]
	if e == nil {
		e = &entry{Weighted: semaphore.NewWeighted(k.size)}
		k.inUse[key] = e
	}
	if k.callers > 0 && e.callers == k.callers {
		return nil
	}
	e.callers++
	return e
}

func (k *Keyed[K]) leave(key K, e *entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e.callers--
	if e.callers == 0 {
		delete(k.inUse, key)
	}
}
