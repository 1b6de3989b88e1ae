package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ginseng/kit/store"
)

// maxBatch is the maximum number of writes in a transaction: many enough to share the cost of its fsync, few enough
// that the first does not wait long.
const maxBatch = 256

// maxBatchText limits the searched texts of a transaction, in bytes: it takes no more writes after that, because to index a
// text is slow.
const maxBatchText = 256 << 10

// writesPerCheckpoint is the number of writes between checkpoints: about 2000 pages of the log, fewer than those after which
// SQLite makes a checkpoint in a commit.
const writesPerCheckpoint = 300

// writer makes all changes, in one goroutine. It runs the queued writes in one transaction, commits, and then returns
// their results. So the writes that arrive during one fsync share the next one.
type writer struct {
	conn    *conn
	cache   *cache
	connMu  sync.Mutex // locks conn, for a batch or Prepare
	queue   chan *write
	queueMu sync.RWMutex // read-locked to send a write, locked to close the queue
	closed  bool
	done    chan struct{} // closed after the last write

	committed func(writes int, took time.Duration) // guarded by connMu; may be nil

	readers         *readers
	sinceCheckpoint int         // writes since the last checkpoint
	checkpointing   atomic.Bool // a checkpoint is running
}

// write is a queued change.
type write struct {
	do      func(*transaction) error
	claimed atomic.Bool // set by the writer when it begins the write, or by the caller when it gives up
	result  chan error
}

// transaction is the state that the writes of a batch share.
type transaction struct {
	ctx        context.Context
	conn       *conn
	cache      *cache
	changed    []cacheKey            // documents to remove from the cache
	clearCache bool                  // remove all: the changed documents are not known
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
		if job.claimed.CompareAndSwap(false, true) {
			return store.Unavailable(ctx.Err())
		}
		return translate(<-job.result)
	}
}

func (w *writer) send(ctx context.Context, job *write) error {
	w.queueMu.RLock()
	defer w.queueMu.RUnlock()
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

// batch makes the first write and those that are queued meanwhile, and sends their results.
func (w *writer) batch(first *write) {
	w.connMu.Lock()
	defer w.connMu.Unlock()
	type outcome struct {
		job *write
		err error
	}
	var outcomes []outcome
	tx := &transaction{
		ctx: context.Background(), conn: w.conn, cache: w.cache,
		documents: make(map[*collection]int64), texts: make(map[row]string),
	}
	batchErr := tx.begin()
	for job := first; job != nil; job = w.next(tx, len(outcomes)) {
		if !job.claimed.CompareAndSwap(false, true) {
			continue // its caller has given up
		}
		err := batchErr
		if err == nil {
			err = job.do(tx)
			if tx.broken || isUnavailable(err) {
				batchErr = err
			}
		}
		outcomes = append(outcomes, outcome{job, err})
	}
	begun := time.Now()
	batchErr = tx.end(batchErr)
	if batchErr == nil && w.committed != nil {
		w.committed(len(outcomes), time.Since(begun))
	}
	for _, o := range outcomes {
		if batchErr != nil {
			o.err = store.Unavailable(batchErr)
		}
		o.job.result <- o.err
	}
	w.sinceCheckpoint += len(outcomes)
	if w.sinceCheckpoint >= writesPerCheckpoint && w.checkpointing.CompareAndSwap(false, true) {
		w.sinceCheckpoint = 0
		go w.checkpoint()
	}
}

// checkpoint copies the log into the database while writes continue. Without it, a commit would do this, and delay its batch.
// If it fails, SQLite tries again in a later commit.
func (w *writer) checkpoint() {
	defer w.checkpointing.Store(false)
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

// alone makes a change in a separate transaction, which an error rolls back. If durable is false, it makes no fsync;
// that of the next other write includes the change. A crash of the process then loses nothing, a loss of power may lose the
// last changes.
func (w *writer) alone(ctx context.Context, durable bool, change func(*transaction) error) (err error) {
	w.queueMu.RLock()
	defer w.queueMu.RUnlock()
	if w.closed {
		return store.Unavailable(errClosed)
	}
	w.connMu.Lock()
	defer w.connMu.Unlock()
	if !durable {
		defer func() { err = errors.Join(err, w.conn.run(context.Background(), "PRAGMA synchronous=FULL")) }()
		if err := w.conn.run(ctx, "PRAGMA synchronous=NORMAL"); err != nil {
			return translate(err)
		}
	}
	tx := &transaction{ctx: ctx, conn: w.conn, cache: w.cache, clearCache: true}
	if err = tx.begin(); err == nil {
		err = change(tx)
	}
	return translate(tx.end(err))
}

// close makes the queued changes and closes the connection.
func (w *writer) close() error {
	w.queueMu.Lock()
	w.closed = true
	close(w.queue)
	w.queueMu.Unlock()
	<-w.done
	return w.conn.close()
}

func (tx *transaction) begin() error {
	_, err := tx.exec("BEGIN IMMEDIATE")
	return err
}

// keep records the searched text of a written row for index.
func (tx *transaction) keep(c *collection, n, text driver.Value) {
	if len(c.spec.Search) > 0 {
		tx.texts[row{c, n.(int64)}] = text.(string)
		tx.size += len(text.(string))
	}
}

// index stores the words of all kept texts. It is called before a search or a delete and at the end of the transaction, not
// after each write: FTS5 makes one segment of consecutive rows in ascending order, but one for each row if other statements
// come between.
func (tx *transaction) index() error {
	rows := slices.SortedFunc(maps.Keys(tx.texts), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.c.spec.Name, b.c.spec.Name), cmp.Compare(a.n, b.n))
	})
	size := int64(0)
	for i, row := range rows {
		text := tx.texts[row]
		_, err := tx.exec("REPLACE INTO "+row.c.words+"(rowid,words) VALUES(?,?)", row.n, strings.Join(store.Words(text), " "))
		size += int64(len(text))
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

// end commits the transaction. It rolls it back if err is not nil or the commit fails.
func (tx *transaction) end(err error) error {
	if err == nil {
		err = tx.commit()
	}
	if err != nil {
		tx.conn.run(context.Background(), "ROLLBACK") // fails if SQLite has rolled back already
	}
	return err
}

func (tx *transaction) commit() error {
	if err := tx.index(); err != nil {
		return err
	}
	for c, n := range tx.documents {
		if n == 0 {
			continue
		}
		if _, err := tx.exec("UPDATE _collections SET documents=documents+? WHERE name=?", n, c.spec.Name); err != nil {
			return err
		}
	}
	return tx.cache.commit(tx.changed, func() error {
		if tx.clearCache {
			tx.cache.clear()
		}
		_, err := tx.exec("COMMIT")
		return err
	})
}

// run executes statements without keeping them prepared.
func (tx *transaction) run(statements ...string) error {
	return tx.conn.run(tx.ctx, strings.Join(statements, ";"))
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
