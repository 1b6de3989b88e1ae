// Package clock has a clock for tests.
package clock

import (
	"sync"
	"time"
)

// Clock is a clock that only Advance changes.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// At returns a clock with a time.
func At(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance adds d, which can be negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
