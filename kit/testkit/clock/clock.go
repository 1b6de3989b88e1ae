// Package clock has a clock for tests, which stands still until a test sets it.
package clock

import (
	"sync"
	"time"
)

// Clock is a clock that stands still.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// At makes a clock that shows a time.
func At(now time.Time) *Clock { return &Clock{now: now} }

// Now is the time it shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance sets it forward, or back.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
