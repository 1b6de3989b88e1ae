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

// maxBatch is how many writes one transaction takes: enough that its fsync costs each of them little, few enough that
// the first does not wait for long.
const maxBatch = 256

// writer makes all changes, in one goroutine. It takes what has queued up, runs it in one transaction, commits, and
// only then answers: the fsync that makes a write durable is shared by all that came while the one before was under
// way.
type writer struct {
	conn    *conn
	using   sync.Mutex // held by whoever uses conn: a batch, or Prepare
	queue   chan *write
	sending sync.RWMutex // held for reading while a write is sent, for writing to close the queue
	closed  bool
	done    chan struct{} // closed when the last write is answered

	committed func(writes int, took time.Duration) // under using; may be nil
}

// write is one change on its way.
type write struct {
	do     func(*transaction) error
	taken  atomic.Bool // set by whoever comes first: the writer, or the caller who waits no longer
	answer chan error
}

// transaction is what the writes of a batch share.
type transaction struct {
	ctx       context.Context
	conn      *conn
	documents map[*collection]int64 // how many more there are
	texts     map[row]string        // to be searched, of the rows written
	broken    bool                  // a write is half done: none of the batch may be committed
}

type row struct {
	c *collection
	n int64
}

func newWriter(c *conn) *writer {
	w := &writer{conn: c, queue: make(chan *write, maxBatch), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for job := range w.queue {
			w.batch(job)
		}
	}()
	return w
}

// do has a change made and waits until it is on disk. A change that was not begun when ctx ends is not made; one that
// was is waited for.
func (w *writer) do(ctx context.Context, change func(*transaction) error) error {
	job := &write{do: change, answer: make(chan error, 1)}
	if err := w.send(ctx, job); err != nil {
		return store.Unavailable(err)
	}
	select {
	case err := <-job.answer:
		return translate(err)
	case <-ctx.Done():
		if job.taken.CompareAndSwap(false, true) {
			return store.Unavailable(ctx.Err())
		}
		return translate(<-job.answer)
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

// batch makes the changes of the job and of those that queue up meanwhile, and answers them.
func (w *writer) batch(job *write) {
	w.using.Lock()
	defer w.using.Unlock()
	type outcome struct {
		job *write
		err error
	}
	var outcomes []outcome
	tx := &transaction{
		ctx: context.Background(), conn: w.conn,
		documents: make(map[*collection]int64), texts: make(map[row]string),
	}
	err := tx.begin()
	for ; job != nil; job = w.next(len(outcomes)) {
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
	if err = w.end(tx, len(outcomes), err); err != nil {
		for i := range outcomes {
			outcomes[i].err = store.Unavailable(err)
		}
	}
	for _, o := range outcomes {
		o.job.answer <- o.err
	}
}

// end ends the transaction of a batch, and tells of one that is on disk.
func (w *writer) end(tx *transaction, writes int, err error) error {
	if w.committed == nil {
		return tx.end(err)
	}
	begun := time.Now()
	if err = tx.end(err); err == nil {
		w.committed(writes, time.Since(begun))
	}
	return err
}

// next is a job that waits already, or nil. Where none waits it lets others run first: the callers of the last batch,
// just answered, are about to come again, and an fsync for the first of them alone would keep all the others waiting.
func (w *writer) next(taken int) *write {
	if taken == maxBatch {
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

// alone makes a change in a transaction of its own, which an error rolls back.
func (w *writer) alone(ctx context.Context, change func(*transaction) error) error {
	return w.exclusively(func() error { return w.transact(ctx, change) })
}

// lazily is alone, but does not wait until the change is on disk: what comes next, and is not made lazily, does. The end
// of the process loses nothing then, that of the machine perhaps the last changes.
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
	tx := &transaction{ctx: ctx, conn: w.conn}
	err := tx.begin()
	if err == nil {
		err = change(tx)
	}
	return tx.end(err)
}

// exclusively lends the connection, in turn with the batches.
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

// close makes the changes that wait, and closes the connection.
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

// keep remembers the text to search of a row that was written.
func (tx *transaction) keep(c *collection, n, text driver.Value) {
	if len(c.spec.Search) > 0 {
		tx.texts[row{c, n.(int64)}] = text.(string)
	}
}

// index makes the words of all texts kept so far. It waits until a search or a delete needs them, or the end: FTS5
// makes one segment of rows that come one after the other, upwards, and one for each row if other statements lie
// between.
func (tx *transaction) index() error {
	rows := slices.SortedFunc(maps.Keys(tx.texts), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.c.spec.Name, b.c.spec.Name), cmp.Compare(a.n, b.n))
	})
	for _, row := range rows {
		if err := row.c.index(tx, row.n, tx.texts[row]); err != nil {
			tx.broken = true
			return err
		}
	}
	clear(tx.texts)
	return nil
}

// end commits, or rolls back after an error.
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
		_, err = tx.exec("COMMIT")
	}
	if err != nil {
		tx.conn.run(context.Background(), "ROLLBACK") // fails where SQLite has done it by itself
	}
	return err
}

// exec runs a statement and says how many rows it changed.
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
