package mongo

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Some servers store documents in PostgreSQL, which checks a unique index after a write. Concurrent writes of the same value
// therefore wait for each other until PostgreSQL's deadlock_timeout (1 s). Then PostgreSQL aborts one write after the other until
// one write is left. If an aborted write is repeated too early, the other writes wait again. Therefore an instance sends only one
// write of a value at a time, and pauses before it repeats a write.

// writeUnique calls f, which writes a document. While f runs, no other caller in this instance writes the same values of a unique
// index. After a deadlock, writeUnique calls f again; see retryDeadlock. In a transaction, writeUnique only calls f, because a
// deadlock ends the transaction. value returns the value that f stores at a path; nil if f does not store a value there, or does
// not change the value.
func (c *collection) writeUnique(ctx context.Context, value func(path string) any, f func() error) error {
	if transactionOf(ctx, c.client) != nil {
		return f()
	}
	keys, err := c.uniqueKeys(value)
	if err != nil {
		return err
	}
	unlock, err := c.writing.lock(ctx, keys)
	if err != nil {
		return err
	}
	defer unlock()
	return retryDeadlock(ctx, f)
}

// uniqueKeys returns a key for each unique index for which value returns at least one value.
func (s *schema) uniqueKeys(value func(path string) any) ([]string, error) {
	var keys []string
	for _, idx := range s.indexes {
		if !idx.unique {
			continue
		}
		values := bson.D{{Key: "index", Value: idx.name}}
		for _, k := range idx.keys {
			if v := value(k.Key); v != nil {
				values = append(values, bson.E{Key: k.Key, Value: v})
			}
		}
		if len(values) == 1 {
			continue
		}
		key, err := bson.Marshal(values)
		if err != nil {
			return nil, err
		}
		keys = append(keys, string(key))
	}
	return keys, nil
}

// locks lets one caller at a time hold a key. The zero value is ready to use.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the caller that holds the key releases it
}

// lock waits until no other caller holds any of the keys, and holds them until unlock is called. It fails if ctx ends first.
func (l *locks) lock(ctx context.Context, keys []string) (unlock func(), err error) {
	released := make(chan struct{})
	for busy := l.take(keys, released); busy != nil; busy = l.take(keys, released) {
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, k := range keys {
			delete(l.held, k)
		}
		close(released)
	}, nil
}

// take marks all keys as held. If another caller holds one of the keys, take marks no key and returns the channel of the held
// key.
func (l *locks) take(keys []string, released chan struct{}) (busy chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		if l.held[k] != nil {
			return l.held[k]
		}
	}
	if l.held == nil {
		l.held = make(map[string]chan struct{})
	}
	for _, k := range keys {
		l.held[k] = released
	}
	return nil
}

// isDeadlock reports whether PostgreSQL aborted the command because of a deadlock. An aborted command has no effect. Index builds
// can also cause a deadlock.
func isDeadlock(err error) bool { return hasMessage(err, "deadlock detected") }

// The first and the longest pause of retryDeadlock, without the random part. Each pause is twice as long as the previous pause.
const deadlockPause, maxDeadlockPause = 500 * time.Millisecond, 4 * time.Second

// retryDeadlock calls f. While f fails because of a deadlock, retryDeadlock pauses and calls f again. It returns the last error
// of f after the longest pause, or if ctx ends.
func retryDeadlock(ctx context.Context, f func() error) error {
	for pause := deadlockPause; ; pause *= 2 {
		err := f()
		if !isDeadlock(err) || pause > maxDeadlockPause {
			return err
		}
		select {
		case <-time.After(pause + rand.N(pause)): // random, so that instances that start together do not collide again
		case <-ctx.Done():
			return err
		}
	}
}
