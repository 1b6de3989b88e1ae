package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ginseng/kit/store"
)

// maxBatch is the maximum number of writes in a transaction: many enough to share the cost of its fsync, few enough
// that the first does not wait long.
const maxBatch = 256

// maxBatchText is the size in bytes of the searched texts of a transaction after which it takes no more writes: to store
// the words of a text takes long.
const maxBatchText = 256 << 10

// writesPerCheckpoint is the number of writes after which the log is moved into the database: about 2000 pages, fewer than
// those after which SQLite does it in a commit.
const writesPerCheckpoint = 300

// writer makes all changes, in one goroutine. It runs the queued writes in one transaction, commits, and then returns
// their results. So one fsync makes all writes durable that came during the previous one.
type writer struct {
	conn    *conn
	cache   *cache
	using   sync.Mutex // locks conn, for a batch or Prepare
	queue   chan *write
	sending sync.RWMutex // read-locked to send a write, locked to close the queue
	closed  bool
	done    chan struct{} // closed after the last write

	committed func(writes int, took time.Duration) // guarded by using; may be nil

	readers *readers
	logged  int         // writes since the last checkpoint
	moving  atomic.Bool // a checkpoint is running
}

// write is a queued change.
type write struct {
	do     func(*transaction) error
	taken  atomic.Bool // set by the writer when it begins, or by a caller that gives up
	result chan error
}

// transaction is the state that the writes of a batch share.
type transaction struct {
	ctx        context.Context
	conn       *conn
	cache      *cache
	changed    []cacheKey            // changed and deleted documents
	changesAny bool                  // and any others
	documents  map[*collection]int64 // change of the number of documents
	texts      map[row]string        // searched texts of written rows
	size       int                   // of all texts
	broken     bool                  // a write is incomplete, so the batch must be rolled back
}

type row struct {
	c *collection
	n int64
}

func newWriter(c *conn, readers *readers, cache *cache) *writer {
	w := &writer{conn: c, readers: readers, cache: cache, queue: make(chan *write, maxBatch), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for job := range w.queue {
			w.batch(job)
		}
	}()
	return w
}

// do makes a change and waits until it is on disk. If ctx ends before the change begins, it is not made; if it has
// begun, do waits for it.
func (w *writer) do(ctx context.Context, change func(*transaction) error) error {
	job := &write{do: change, result: make(chan error, 1)}
	if err := w.send(ctx, job); err != nil {
		return store.Unavailable(err)
	}
	select {
	case err := <-job.result:
		return translate(err)
	case <-ctx.Done():
		if job.taken.CompareAndSwap(false, true) {
			return store.Unavailable(ctx.Err())
		}
		return translate(<-job.result)
	}
}

func (w *writer) send(ctx context.Context, job *write) error {
	w.sending.RLock()
	defer w.sending.RUnlock()
	if w.closed {
		return errClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case w.queue <- job:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// batch makes the changes of job and of the writes that are queued meanwhile, and sends their results.
func (w *writer) batch(job *write) {
	w.using.Lock()
	defer w.using.Unlock()
	type outcome struct {
		job *write
		err error
	}
	var outcomes []outcome
	tx := &transaction{
		ctx: context.Background(), conn: w.conn, cache: w.cache,
		documents: make(map[*collection]int64), texts: make(map[row]string),
	}
	err := tx.begin()
	for ; job != nil; job = w.next(tx, len(outcomes)) {
		if !job.taken.CompareAndSwap(false, true) {
			continue
		}
		own := err
		if err == nil {
			if own = job.do(tx); tx.broken || isUnavailable(own) {
				err = own
			}
		}
		outcomes = append(outcomes, outcome{job, own})
	}
	begun := time.Now()
	if err = tx.end(err); err == nil && w.committed != nil {
		w.committed(len(outcomes), time.Since(begun))
	}
	for _, o := range outcomes {
		if err != nil {
			o.err = store.Unavailable(err)
		}
		o.job.result <- o.err
	}
	if w.logged += len(outcomes); w.logged >= writesPerCheckpoint && w.moving.CompareAndSwap(false, true) {
		w.logged = 0
		go w.moveLog()
	}
}

// moveLog moves the log into the database beside the next writes, which would wait for it in a commit. If it fails, SQLite
// tries again in a later commit.
func (w *writer) moveLog() {
	defer w.moving.Store(false)
	_ = w.readers.use(context.Background(), func(c *conn) error {
		return c.run(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
	})
}

// next returns a queued write, or nil. If the queue is empty, it lets other goroutines run first: the callers of the
// last batch are about to send their next writes, and an fsync for the first of them would delay the others.
func (w *writer) next(tx *transaction, taken int) *write {
	if taken == maxBatch || tx.size > maxBatchText {
		return nil
	}
	if len(w.queue) == 0 {
		runtime.Gosched()
	}
	select {
	case job := <-w.queue: // nil once the queue is closed
		return job
	default:
		return nil
	}
}

// alone makes a change in a separate transaction, which an error rolls back.
func (w *writer) alone(ctx context.Context, change func(*transaction) error) error {
	return w.exclusively(func() error { return w.transact(ctx, change) })
}

// lazily is alone, but does not wait until the change is on disk; the next other write does. A crash of the process
// loses nothing, a loss of power may lose the last changes.
func (w *writer) lazily(ctx context.Context, change func(*transaction) error) error {
	return w.exclusively(func() error {
		err := w.conn.run(ctx, "PRAGMA synchronous=NORMAL")
		if err == nil {
			err = w.transact(ctx, change)
		}
		return errors.Join(err, w.conn.run(context.Background(), "PRAGMA synchronous=FULL"))
	})
}

func (w *writer) transact(ctx context.Context, change func(*transaction) error) error {
	tx := &transaction{ctx: ctx, conn: w.conn, cache: w.cache, changesAny: true}
	err := tx.begin()
	if err == nil {
		err = change(tx)
	}
	return tx.end(err)
}

// exclusively calls use between two batches.
func (w *writer) exclusively(use func() error) error {
	w.sending.RLock()
	defer w.sending.RUnlock()
	if w.closed {
		return store.Unavailable(errClosed)
	}
	w.using.Lock()
	defer w.using.Unlock()
	return use()
}

// close makes the queued changes and closes the connection.
func (w *writer) close() error {
	w.sending.Lock()
	w.closed = true
	close(w.queue)
	w.sending.Unlock()
	<-w.done
	return w.conn.close()
}

func (tx *transaction) begin() error {
	_, err := tx.exec("BEGIN IMMEDIATE")
	return err
}

// keep stores the searched text of a written row for index.
func (tx *transaction) keep(c *collection, n, text driver.Value) {
	if len(c.spec.Search) > 0 {
		tx.texts[row{c, n.(int64)}] = text.(string)
		tx.size += len(text.(string))
	}
}

// index stores the words of all texts kept so far. A search or a delete calls it, or the end of the transaction: FTS5
// makes one segment of consecutive rows in ascending order, but one for each row if other statements come between.
func (tx *transaction) index() error {
	rows := slices.SortedFunc(maps.Keys(tx.texts), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.c.spec.Name, b.c.spec.Name), cmp.Compare(a.n, b.n))
	})
	size := int64(0)
	for i, row := range rows {
		err := row.c.index(tx, row.n, tx.texts[row])
		size += int64(len(tx.texts[row]))
		if err == nil && (i == len(rows)-1 || rows[i+1].c != row.c) {
			err = row.c.merge(tx, size)
			size = 0
		}
		if err != nil {
			tx.broken = true
			return err
		}
	}
	clear(tx.texts)
	return nil
}

// end commits the transaction, or rolls it back after an error.
func (tx *transaction) end(err error) error {
	if err == nil {
		err = tx.index()
	}
	for c, n := range tx.documents {
		if err == nil && n != 0 {
			_, err = tx.exec("UPDATE _collections SET documents=documents+? WHERE name=?", n, c.spec.Name)
		}
	}
	if err == nil {
		err = tx.cache.commit(tx.changed, func() error {
			if tx.changesAny {
				tx.cache.clear()
			}
			_, err := tx.exec("COMMIT")
			return err
		})
	}
	if err != nil {
		tx.conn.run(context.Background(), "ROLLBACK") // fails if SQLite has rolled back already
	}
	return err
}

// exec executes a statement and returns the number of changed rows.
func (tx *transaction) exec(text string, args ...any) (int64, error) {
	result, err := tx.conn.exec(tx.ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (tx *transaction) query(b *builder, row func([]driver.Value) error) error {
	return tx.conn.query(tx.ctx, b.String(), b.args, row)
}
