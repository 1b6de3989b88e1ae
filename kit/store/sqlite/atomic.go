package sqlite

import (
	"context"
	"maps"
	"slices"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
)

// atomicLimit is the time limit of an Atomic. Other writes wait until the Atomic ends.
const atomicLimit = 5 * time.Second

// atomicCall is a running Atomic. The function of the Atomic runs in the goroutine that called Atomic, and uses the connection of
// the writer. Meanwhile the writer waits.
type atomicCall struct {
	engine.Transaction
	tx     *transaction
	broken error         // the error of a write that has made the transaction unusable
	begun  chan struct{} // closed by the writer when the function may run
	done   chan struct{} // closed by the caller when the function has returned

	rolledBack time.Duration // how long other writes have waited, if the Atomic was rolled back; set by the writer
}

// atomicKey is the context key for the Atomic of a writer.
type atomicKey struct{ w *writer }

// atomicOf returns the Atomic of ctx, even if the Atomic has ended; nil if ctx belongs to no Atomic.
func (w *writer) atomicOf(ctx context.Context) *atomicCall {
	a, _ := ctx.Value(atomicKey{w}).(*atomicCall)
	return a
}

// Atomic implements store.DB. The Atomic is one of the queued writes that share a transaction; see writer.serve.
func (db *DB) Atomic(ctx context.Context, f func(context.Context) error) (err error) {
	w := db.writer
	if a := w.atomicOf(ctx); a != nil {
		return a.Join(ctx, f)
	}
	a := &atomicCall{begun: make(chan struct{}), done: make(chan struct{})}
	job := &write{do: func(tx *transaction) error { return w.serve(tx, a) }, atomic: true, result: make(chan error, 1)}
	if err := w.send(ctx, job); err != nil {
		return err
	}
	abandoned := ctx.Done()
	for begun := false; !begun; {
		select {
		case <-a.begun:
			begun = true
		case err := <-job.result:
			return translate(err)
		case <-abandoned:
			if job.claimed.CompareAndSwap(false, true) {
				return store.Busy(ctx.Err()).AsOverload()
			}
			abandoned = nil
		}
	}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, atomicKey{w}, a), w.limit)
	defer cancel()
	ctx, commit := store.WithCommit(ctx)
	returned := false // false if f panics
	defer func() {
		close(a.done)
		if commitErr := <-job.result; commitErr != nil {
			err = translate(commitErr)
		}
		store.AddRollback(ctx, a.rolledBack)
		if returned && err == nil {
			commit.Run()
		}
	}()
	err = a.Run(ctx, f)
	returned = true
	return err
}

// Together implements store.DB.
func (db *DB) Together(ctx context.Context, f func(context.Context) error) error {
	return db.Atomic(ctx, f)
}

// Serializable implements store.DB.
func (db *DB) Serializable() bool { return true }

// serve lets the caller of an Atomic use the transaction until the function returns or the time limit expires. If the Atomic
// fails, serve rolls back its changes. If serve returns an error, the transaction is unusable.
func (w *writer) serve(tx *transaction, a *atomicCall) error {
	begun := time.Now()
	defer func() { tx.held += time.Since(begun) }()
	before := *tx
	before.documents, before.texts, before.logged = maps.Clone(tx.documents), maps.Clone(tx.texts), maps.Clone(tx.logged)
	first := tx.writes == 0
	if !first {
		if _, err := tx.exec("SAVEPOINT atomic"); err != nil {
			return tx.fail(err)
		}
	}
	a.tx = tx
	close(a.begun)
	timer := time.NewTimer(w.limit)
	defer timer.Stop()
	select {
	case <-a.done:
	case <-timer.C:
	}
	rejected := a.End(store.ErrTooLong, store.ErrTooLong)
	if a.broken != nil {
		return a.broken
	}
	if rejected != nil {
		if err := tx.undo(first); err != nil {
			return tx.fail(err)
		}
		a.rolledBack = time.Since(begun)
		tx.changed, tx.documents, tx.texts, tx.size, tx.logged = before.changed, before.documents, before.texts, before.size, before.logged
	}
	if first {
		return nil
	}
	if _, err := tx.exec("RELEASE atomic"); err != nil {
		return tx.fail(err)
	}
	return nil
}

// undo rolls back to the start of an Atomic. If the Atomic is the first write of the transaction, there is no savepoint, and
// undo begins the transaction again. A savepoint would make SQLite copy each page before its change, which takes half of the
// time of a large Atomic.
func (tx *transaction) undo(first bool) error {
	if !first {
		_, err := tx.exec("ROLLBACK TO atomic")
		return err
	}
	if _, err := tx.exec("ROLLBACK"); err != nil {
		return err
	}
	return tx.begin()
}

// fail marks the transaction as unusable and returns err.
func (tx *transaction) fail(err error) error {
	tx.broken = true
	return err
}

// write makes a change as part of the Atomic.
func (a *atomicCall) write(ctx context.Context, b *builder, do func(*transaction) error) error {
	return a.Do(ctx, func() error {
		if b.searches {
			return store.ErrSearchInAtomic
		}
		err := do(a.tx)
		if a.tx.broken || isUnavailable(err) { // SQLite may have rolled back the transaction
			a.broken = a.tx.fail(err)
		}
		return translate(err)
	})
}

// read calls read with the connection of the Atomic. It fails if f, the filter of the operation, has a search.
func (a *atomicCall) read(ctx context.Context, f store.Filter, read func(*conn) error) error {
	return a.Do(ctx, func() error {
		if engine.HasSearch(f) {
			return store.ErrSearchInAtomic
		}
		return translate(read(a.tx.conn))
	})
}

// list calls read for a List. n points to the number of documents that read counts. If q has no filter, read does not count the
// changes of the transaction, so list adds these changes to the number.
func (a *atomicCall) list(ctx context.Context, c *collection, q store.Query, n *int64, read func(*conn) error) error {
	return a.read(ctx, q.Filter, func(conn *conn) error {
		err := read(conn)
		if q.MaxCount > 0 && q.Filter == nil {
			for other, added := range a.tx.documents {
				if other.spec.Name == c.spec.Name {
					*n += added
				}
			}
		}
		return err
	})
}

// Lock implements store.Engine. During an Atomic, nothing else writes, so Lock only checks that the documents exist.
func (c *collection) Lock(ctx context.Context, ids ...store.ID) error {
	a := c.db.writer.atomicOf(ctx)
	if a == nil {
		return store.ErrNoAtomic
	}
	ids = slices.Compact(slices.SortedFunc(slices.Values(ids), func(a, b store.ID) int { return slices.Compare(a[:], b[:]) }))
	f := store.In("id", store.Values(ids)...)
	return a.read(ctx, f, func(conn *conn) error {
		n, err := conn.integer(ctx, c.countStatement(f, nil, int64(len(ids))))
		if err == nil && n < int64(len(ids)) {
			err = store.ErrNotFound
		}
		return err
	})
}
