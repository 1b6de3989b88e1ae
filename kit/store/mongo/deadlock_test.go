package mongo

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"

	"example.com/ginseng/kit/store"
)

var errDeadlock = driver.CommandError{Code: 1, Message: "deadlock detected"}

// titled returns the values of a write that stores a title.
func titled(title string) func(string) any {
	return func(path string) any {
		if path == "title" {
			return title
		}
		return nil
	}
}

// titles returns a collection whose titles are unique.
func titles() *collection {
	return &collection{schema: newSchema(store.Spec{Indexes: []store.Index{{Fields: []string{"title"}, Unique: true}}})}
}

// TestOneWriteOfAValue checks that writes of one value run one after the other, even while one of them pauses after a deadlock,
// and that these writes do not delay writes of other values.
func TestOneWriteOfAValue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := titles()
		var begun, running, done atomic.Int64
		proceed := make(chan error)
		const writers = 8
		for range writers {
			go func() {
				err := c.writeUnique(t.Context(), titled("a"), func() error {
					begun.Add(1)
					defer running.Add(-1)
					if running.Add(1) > 1 {
						t.Error("two writes of the value at the same time")
					}
					return <-proceed
				})
				if err != nil {
					t.Error(err)
				}
				done.Add(1)
			}()
		}
		synctest.Wait()
		if n := begun.Load(); n != 1 {
			t.Errorf("%d writes have begun, want 1", n)
		}
		for _, value := range []func(string) any{titled("b"), func(string) any { return nil }} {
			if err := c.writeUnique(t.Context(), value, func() error { return nil }); err != nil {
				t.Error(err)
			}
		}
		proceed <- errDeadlock
		synctest.Wait()
		if n := begun.Load(); n != 1 {
			t.Errorf("%d writes have begun while the first one pauses, want 1", n)
		}
		for range writers {
			proceed <- nil
		}
		synctest.Wait()
		if done.Load() != writers || len(c.writing.held) > 0 {
			t.Errorf("%d of %d writes are done, and %d keys are held", done.Load(), writers, len(c.writing.held))
		}
	})
}

// TestWaitEnds checks that a write stops waiting for another write when its context ends.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := titles()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := c.writeUnique(t.Context(), titled("a"), func() error {
			return c.writeUnique(ctx, titled("a"), func() error {
				t.Error("it wrote")
				return nil
			})
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// TestDeadlockPauses checks when a write is repeated.
func TestDeadlockPauses(t *testing.T) {
	t.Parallel()
	for _, deadlocks := range []int{0, 1, 4, 5} {
		synctest.Test(t, func(t *testing.T) {
			begun, tries := time.Now(), 0
			err := retryDeadlock(t.Context(), func() error {
				if tries++; tries <= deadlocks {
					return errDeadlock
				}
				return nil
			})
			retries := min(deadlocks, 4)
			if tries != retries+1 || isDeadlock(err) != (deadlocks > 4) {
				t.Errorf("%d deadlocks: %d tries, %v", deadlocks, tries, err)
			}
			least := 500 * time.Millisecond * (1<<retries - 1) // each pause is twice as long as the previous pause
			if took := time.Since(begun); took < least || took > 2*least {
				t.Errorf("%d deadlocks: the pauses took %v, want %v to %v", deadlocks, took, least, 2*least)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), deadlockPause/2)
		defer cancel()
		begun := time.Now()
		if err := retryDeadlock(ctx, func() error { return errDeadlock }); !isDeadlock(err) || time.Since(begun) != deadlockPause/2 {
			t.Errorf("after the end of the context: %v after %v", err, time.Since(begun))
		}
	})
}

// TestWritesHoldValues checks which values of unique indexes a write holds until it ends.
func TestWritesHoldValues(t *testing.T) {
	t.Parallel()
	received, proceed := make(chan struct{}), make(chan struct{})
	_, address := newProxy(t, func(request []byte) bson.D {
		if isCommand(request, "insert") || isCommand(request, "findAndModify") {
			received <- struct{}{}
			<-proceed
		}
		return nil
	})
	db := open(t, address, nil)
	c := store.Open[note](db, store.Spec{Name: "notes", Indexes: []store.Index{
		{Fields: []string{"short"}, Unique: true}, {Fields: []string{"title", "size"}, Unique: true}, {Fields: []string{"place.city"}, Unique: true},
	}})
	n := note{Meta: store.NewMeta(store.NewID(), noon), Title: "a", Size: 1, Short: "b"}
	update := func(changes ...store.Change) func() error {
		return func() error {
			_, err := c.Update(t.Context(), store.Eq("id", n.ID), changes...)
			return err
		}
	}
	type values map[string]any
	for _, test := range []struct {
		name  string
		write func() error
		held  []values
	}{
		{"insert", func() error { return c.Insert(t.Context(), n) }, []values{{"short": "b"}, {"title": "a", "size": int64(1)}}},
		{"set", update(store.Set("short", "c"), store.Set("body", "c")), []values{{"short": "c"}}},
		{"set one of two", update(store.Set("title", "c")), []values{{"title": "c"}}},
		{"set the parent", update(store.Set("place", place{City: "Oslo"})), []values{{"place.city": "Oslo"}}},
		{"no unique field", update(store.Set("body", "c"), store.Unset("short")), nil},
	} {
		done := make(chan error)
		go func() { done <- test.write() }()
		<-received
		engine := c.Engine().(atomicCollection)
		engine.writing.mu.Lock()
		if len(engine.writing.held) != len(test.held) {
			t.Errorf("%s: %d values are held, want %d", test.name, len(engine.writing.held), len(test.held))
		}
		for _, v := range test.held {
			keys, err := engine.uniqueKeys(func(path string) any { return v[path] })
			if err != nil || len(keys) != 1 || engine.writing.held[keys[0]] == nil {
				t.Errorf("%s: %v is not held: %v", test.name, v, err)
			}
		}
		engine.writing.mu.Unlock()
		proceed <- struct{}{}
		if err := <-done; err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
