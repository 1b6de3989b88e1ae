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

// session is a running Atomic. The function of the Atomic runs in the goroutine that called Atomic, and uses the connection of
// the writer. Meanwhile the writer waits.
type session struct {
	engine.Transaction
	tx     *transaction
	broken error         // the error of a write that has made the transaction unusable
	begun  chan struct{} // closed by the writer when the function may run
	done   chan struct{} // closed by the caller when the function has returned

	rolledBack time.Duration // how long other writes have waited, if the Atomic was rolled back; set by the writer
}

// sessionKey is the context key for a session of a writer.
type sessionKey struct{ w *writer }

// session returns the Atomic of ctx, even if the Atomic has ended; nil if ctx belongs to no Atomic.
func (w *writer) session(ctx context.Context) *session {
	s, _ := ctx.Value(sessionKey{w}).(*session)
	return s
}

// Atomic implements store.DB. The Atomic is one of the queued writes that share a transaction; see writer.serve.
func (db *DB) Atomic(ctx context.Context, f func(context.Context) error) (err error) {
	w := db.writer
	if s := w.session(ctx); s != nil {
		return s.Join(ctx, f)
	}
	s := &session{begun: make(chan struct{}), done: make(chan struct{})}
	job := &write{do: func(tx *transaction) error { return w.serve(tx, s) }, atomic: true, result: make(chan error, 1)}
	if err := w.send(ctx, job); err != nil {
		return err
	}
	abandoned := ctx.Done()
	for begun := false; !begun; {
		select {
		case <-s.begun:
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
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, sessionKey{w}, s), w.limit)
	defer cancel()
	ctx, commit := store.WithCommit(ctx)
	returned := false // false if f panics
	defer func() {
		close(s.done)
		if commitErr := <-job.result; commitErr != nil {
			err = translate(commitErr)
		}
		store.AddRollback(ctx, s.rolledBack)
		if returned && err == nil {
			commit.Run()
		}
	}()
	err = s.Run(ctx, f)
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
func (w *writer) serve(tx *transaction, s *session) error {
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
	s.tx = tx
	close(s.begun)
	timer := time.NewTimer(w.limit)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
	}
	rejected := s.End(store.ErrTooLong, store.ErrTooLong)
	if s.broken != nil {
		return s.broken
	}
	if rejected != nil {
		if err := tx.undo(first); err != nil {
			return tx.fail(err)
		}
		s.rolledBack = time.Since(begun)
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
func (s *session) write(ctx context.Context, b *builder, do func(*transaction) error) error {
	return s.Do(ctx, func() error {
		if b.searches {
			return store.ErrSearchInAtomic
		}
		err := do(s.tx)
		if s.tx.broken || isUnavailable(err) { // SQLite may have rolled back the transaction
			s.broken = s.tx.fail(err)
		}
		return translate(err)
	})
}

// read calls read with the connection of the Atomic. It fails if f, the filter of the operation, has a search.
func (s *session) read(ctx context.Context, f store.Filter, read func(*conn) error) error {
	return s.Do(ctx, func() error {
		if engine.HasSearch(f) {
			return store.ErrSearchInAtomic
		}
		return translate(read(s.tx.conn))
	})
}

// list calls read for a List. n points to the number of documents that read counts. If q has no filter, read does not count the
// changes of the transaction, so list adds these changes to the number.
func (s *session) list(ctx context.Context, c *collection, q store.Query, n *int64, read func(*conn) error) error {
	return s.read(ctx, q.Filter, func(conn *conn) error {
		err := read(conn)
		if q.MaxCount > 0 && q.Filter == nil {
			for other, added := range s.tx.documents {
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
	s := c.db.writer.session(ctx)
	if s == nil {
		return store.ErrNoAtomic
	}
	ids = slices.Compact(slices.SortedFunc(slices.Values(ids), func(a, b store.ID) int { return slices.Compare(a[:], b[:]) }))
	f := store.In("id", store.Values(ids)...)
	return s.read(ctx, f, func(conn *conn) error {
		n, err := conn.integer(ctx, c.countStatement(f, nil, int64(len(ids))))
		if err == nil && n < int64(len(ids)) {
			err = store.ErrNotFound
		}
		return err
	})
}
