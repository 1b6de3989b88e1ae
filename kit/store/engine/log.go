package engine

import (
	"context"
	"slices"
	"strings"
	"sync"

	"example.com/ginseng/kit/store"
)

// SweepBatch is the maximum number of entries that one call of Log.Sweep deletes.
const SweepBatch = 500

// LoggedFields returns the value of Entry.Fields for an update: the sorted names of the top-level fields that the changes affect,
// without updatedAt. logged is false if the log does not record the update, because of Spec.LogFields.
func LoggedFields(s store.Spec, changes []store.Change) (fields []string, logged bool) {
	fields = make([]string, 0, len(changes))
	for _, c := range changes {
		name, _, _ := strings.Cut(c.Field, ".")
		if name != "updatedAt" && (len(s.LogFields) == 0 || slices.Contains(s.LogFields, name)) {
			fields = append(fields, name)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields), len(s.LogFields) == 0 || len(fields) > 0
}

// LogSignal wakes the callers of Log.Wait. Only engines use this type. The zero value is ready to use.
type LogSignal struct {
	mu      sync.Mutex
	newest  map[string]int64 // number of the newest known entry, by collection; the key "" stands for all collections
	changed map[string]chan struct{}
	waiting int
	from    int64 // position of the caller that began to wait when waiting was 0
}

// Notify records that the collection's entry with this number can be read. It wakes the callers that are waiting for entries of
// this collection or of any collection.
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

// Waiting reports whether callers are waiting. from is the position of the caller that began to wait first. This caller may
// have stopped waiting while others continue.
func (s *LogSignal) Waiting() (from int64, waiting bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from, s.waiting > 0
}

// Wait does what store.Log.Wait specifies.
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

// next returns a channel that the next Notify for the collection closes. It returns nil if the collection already has an entry
// with a number greater than after.
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
