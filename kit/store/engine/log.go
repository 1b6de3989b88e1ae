package engine

import (
	"context"
	"slices"
	"strings"
	"sync"

	"example.com/ginseng/kit/store"
)

// SweepPortion is the maximum number of entries that one call of Log.Sweep deletes.
const SweepPortion = 500

// ChangedFields returns Entry.Fields for an update: the top-level fields that the changes set, sorted.
func ChangedFields(changes []store.Change) []string {
	fields := make([]string, 0, len(changes))
	for _, c := range changes {
		name, _, _ := strings.Cut(c.Field, ".")
		if name != "updatedAt" {
			fields = append(fields, name)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// LogSignal wakes the callers of Log.Wait. Engines use it. The zero value is ready to use.
type LogSignal struct {
	mu      sync.Mutex
	newest  map[string]int64 // by collection: number of the newest known entry; "" is any collection
	changed map[string]chan struct{}
	waiting int
	from    int64 // the number after which the first of them waits for an entry
}

// Notify reports that the entry with the number in the collection can be read, and wakes the callers that wait for it.
func (s *LogSignal) Notify(collection string, number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest == nil {
		s.newest = make(map[string]int64)
	}
	for _, name := range []string{collection, ""} {
		s.newest[name] = max(s.newest[name], number)
		if c := s.changed[name]; c != nil {
			close(c)
			delete(s.changed, name)
		}
	}
}

// Waiting reports whether callers wait, and the number after which the first of them waits for an entry.
func (s *LogSignal) Waiting() (from int64, waiting bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from, s.waiting > 0
}

// Wait implements Log.Wait.
func (s *LogSignal) Wait(ctx context.Context, collection string, after store.Position) error {
	s.begin(after.Number)
	defer s.end()
	for {
		changed := s.next(collection, after.Number)
		if changed == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return store.Unavailable(ctx.Err())
		}
	}
}

func (s *LogSignal) begin(after int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == 0 {
		s.from = after
	}
	s.waiting++
}

func (s *LogSignal) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
}

// next returns a channel that the next Notify closes; nil if an entry after the number is known.
func (s *LogSignal) next(collection string, after int64) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest[collection] > after {
		return nil
	}
	if s.changed == nil {
		s.changed = make(map[string]chan struct{})
	}
	if s.changed[collection] == nil {
		s.changed[collection] = make(chan struct{})
	}
	return s.changed[collection]
}
