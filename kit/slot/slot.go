// Package slot limits concurrency with semaphores. If a semaphore is full, callers wait for room, or fail.
package slot

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrFull is returned if a semaphore is full and wait is negative. Keyed.Acquire also returns it if too many callers are using the
// semaphore of the key or waiting for it.
var ErrFull = errors.New("slot: there is no room")

// Acquire acquires s with a weight of n, and waits if s is full. If ctx ends or the duration wait passes first, Acquire returns
// a context error. If wait is 0, only ctx limits the wait. If wait is negative, Acquire returns ErrFull instead of waiting. If n
// exceeds the size of s, Acquire never succeeds.
func Acquire(ctx context.Context, s *semaphore.Weighted, n int64, wait time.Duration) error {
	switch {
	case s.TryAcquire(n):
		return nil
	case wait < 0:
		return ErrFull
	}
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	return s.Acquire(ctx, n)
}

// Keyed has one semaphore for each key that is in use.
type Keyed[K comparable] struct {
	size       int64 // the size of each semaphore
	maxCallers int   // maximum number of callers that use a key or wait for it; 0 means no limit

	mu    sync.Mutex
	inUse map[K]*entry
}

type entry struct {
	*semaphore.Weighted
	callers int
}

// NewKeyed returns a Keyed whose semaphores have the given size. maxCallers is the maximum number of callers that use a semaphore or
// wait for it; 0 means no limit.
func NewKeyed[K comparable](size int64, maxCallers int) *Keyed[K] {
	return &Keyed[K]{size: size, maxCallers: maxCallers, inUse: make(map[K]*entry)}
}

// Acquire acquires the semaphore of the key like the function Acquire. It returns ErrFull without waiting if too many callers
// are using the semaphore or waiting for it. The caller must call release exactly once, when it no longer needs the
// semaphore.
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

// InUse reports whether a caller is using the semaphore of the key or waiting for it.
func (k *Keyed[K]) InUse(key K) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.inUse[key] != nil
}

// enter adds a caller to the entry of the key and returns the entry. It returns nil if the entry has too many callers.
func (k *Keyed[K]) enter(key K) *entry {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.inUse[key]
	if e == nil {
		e = &entry{Weighted: semaphore.NewWeighted(k.size)}
		k.inUse[key] = e
	}
	if k.maxCallers > 0 && e.callers == k.maxCallers {
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
