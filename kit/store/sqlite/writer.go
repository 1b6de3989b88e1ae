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
	"example.com/ginseng/kit/store/engine"
)

// maxBatch is the maximum number of writes in a transaction. With more writes, the first write would wait too long.
const maxBatch = 256

// maxBatchText limits the searched texts of a transaction, in bytes. A transaction that exceeds maxBatchText accepts no further
// writes. Indexing this many bytes takes up to 40 ms.
const maxBatchText = 64 << 10

// maxHeld limits the total time of the Atomics in a transaction. After this time, the transaction accepts no further Atomic,
// because earlier writes are waiting for the commit.
const maxHeld = 10 * time.Millisecond

// writesPerCheckpoint is the number of writes after which a checkpoint starts. These writes fill about 2000 pages of the
// write-ahead log. If the log reaches wal_autocheckpoint pages, a commit makes the checkpoint itself.
const writesPerCheckpoint = 300

// writer makes all changes. Its goroutine runs the queued writes in one transaction (a batch), commits, and then returns their
// results. Writes that arrive during one fsync share the next fsync.
type writer struct {
	conn    *conn
	cache   *cache
	connMu  sync.Mutex // guards conn; locked during each transaction
	queue   chan *write
	waiting []*write      // Atomics from the queue that have not begun; used only by the writer's goroutine
	limit   time.Duration // time limit of an Atomic
	queueMu sync.RWMutex  // guards closed; read-locked by callers that use the queue or conn
	closed  bool
	done    chan struct{} // closed after the last write

	log *engine.LogSignal

	committed func(writes int, took time.Duration) // see ObserveCommits; guarded by connMu; may be nil

	readers         *readers
	sinceCheckpoint int         // writes since the last checkpoint
	checkpointing   atomic.Bool // a checkpoint is running
}

// write is a queued change.
type write struct {
	do      func(*transaction) error
	atomic  bool        // the write is an Atomic
	claimed atomic.Bool // set by the writer when it begins the write, or by the caller when the context ends earlier
	result  chan error  // receives the error of the write after the commit; buffered
}

// transaction is the state that the writes of a batch share.
type transaction struct {
	ctx        context.Context
	conn       *conn
	cache      *cache
	changed    []cacheKey            // documents to remove from the cache
	clearCache bool                  // remove all documents from the cache, because changed is incomplete
	documents  map[*collection]int64 // change in the number of documents
	texts      map[row]string        // searched texts of written rows that are not indexed yet
	words      map[string][]string   // the words of long texts, by text; other texts are split when they are indexed
	size       int                   // total size of the searched texts so far, in bytes
	held       time.Duration         // total time of Atomics so far
	writes     int                   // number of writes so far, without the running write
	log        *engine.LogSignal
	logged     map[string]int64 // number of the newest log entry that this transaction has added, by collection
	broken     bool             // a write failed halfway, so the transaction must be rolled back
}

// row identifies row n of a collection's table.
type row struct {
	c *collection
	n int64
}

func newWriter(c *conn, readers *readers, cache *cache) *writer {
	w := &writer{conn: c, readers: readers, cache: cache, log: new(engine.LogSignal), queue: make(chan *write, maxBatch), done: make(chan struct{}), limit: atomicLimit}
	go func() {
		defer close(w.done)
		for job := range w.queue {
			w.batch(job)
			for len(w.waiting) > 0 {
				w.batch(w.nextAtomic())
			}
		}
	}()
	return w
}

// do queues a change, waits until the change is on disk, and returns the error of the change. If ctx ends before the change
// begins, do returns store.Busy and the change is not made. Once the change has begun, do waits regardless of ctx.
func (w *writer) do(ctx context.Context, change func(*transaction) error) error {
	job := &write{do: change, result: make(chan error, 1)}
	if err := w.send(ctx, job); err != nil {
		return err
	}
	select {
	case err := <-job.result:
		return translate(err)
	case <-ctx.Done():
		if job.claimed.CompareAndSwap(false, true) {
			return store.Busy(ctx.Err())
		}
		return translate(<-job.result)
	}
}

// send queues a write. Errors: store.Busy if ctx ends first; Unavailable if the writer is closed.
func (w *writer) send(ctx context.Context, job *write) error {
	w.queueMu.RLock()
	defer w.queueMu.RUnlock()
	if w.closed {
		return store.Unavailable(errClosed)
	}
	if err := ctx.Err(); err != nil {
		return store.Busy(err)
	}
	select {
	case w.queue <- job:
		return nil
	case <-ctx.Done():
		return store.Busy(ctx.Err())
	}
}

// batch makes the first write and the writes that are queued in the meantime, in one transaction. Then it sends their results.
// If a write fails, batch commits the other writes, unless the error makes the transaction unusable.
func (w *writer) batch(first *write) {
	w.connMu.Lock()
	defer w.connMu.Unlock()
	type outcome struct {
		job *write
		err error
	}
	var outcomes []outcome
	tx := &transaction{
		ctx: context.Background(), conn: w.conn, cache: w.cache, log: w.log,
		documents: make(map[*collection]int64), texts: make(map[row]string),
	}
	batchErr := tx.begin()
	for job := first; job != nil; job = w.next(tx) {
		if !job.claimed.CompareAndSwap(false, true) {
			continue // the context of the write's caller has ended
		}
		err := batchErr
		if err == nil {
			err = job.do(tx)
			if tx.broken || isUnavailable(err) {
				batchErr = err
			}
		}
		outcomes = append(outcomes, outcome{job, err})
		tx.writes++
	}
	start := time.Now()
	batchErr = tx.end(batchErr)
	if batchErr == nil && w.committed != nil {
		w.committed(len(outcomes), time.Since(start))
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

// checkpoint copies the write-ahead log into the database while writes continue. A commit that copied the log would delay its
// batch. If checkpoint fails, a later checkpoint or commit copies the log.
func (w *writer) checkpoint() {
	defer w.checkpointing.Store(false)
	_ = w.readers.use(context.Background(), func(c *conn) error {
		return c.run(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
	})
}

// next returns the next write of a batch; nil if the batch is full or no write is queued. If the queue is empty, next first
// lets other goroutines run: the callers of the last batch are about to send writes, which can share one fsync. next returns
// the queued Atomics last, so that many Atomics do not delay other writes much longer than one Atomic does.
func (w *writer) next(tx *transaction) *write {
	if tx.writes == maxBatch || tx.size > maxBatchText {
		return nil
	}
	if len(w.queue) == 0 && len(w.waiting) == 0 {
		runtime.Gosched()
	}
	for {
		select {
		case job := <-w.queue: // nil once the queue is closed
			if job == nil || !job.atomic {
				return job
			}
			w.waiting = append(w.waiting, job)
		default:
			if len(w.waiting) == 0 || tx.held > maxHeld {
				return nil
			}
			return w.nextAtomic()
		}
	}
}

func (w *writer) nextAtomic() *write {
	job := w.waiting[0]
	w.waiting = slices.Delete(w.waiting, 0, 1)
	return job
}

// doAlone makes a change in a separate transaction. If the change fails, doAlone rolls the transaction back. If durable is
// false, the commit does not call fsync. Until the next durable commit, a power failure may lose the change; a crash of the
// process cannot.
func (w *writer) doAlone(ctx context.Context, durable bool, change func(*transaction) error) (err error) {
	if w.atomicOf(ctx) != nil {
		return errors.New("sqlite: Prepare, Load, Drop and Reset cannot be part of an Atomic; call them before the Atomic, with another context")
	}
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
	tx := &transaction{ctx: ctx, conn: w.conn, cache: w.cache, log: w.log, clearCache: true}
	if err = tx.begin(); err == nil {
		err = change(tx)
	}
	return translate(tx.end(err))
}

// close waits for the queued changes and closes the connection. Later changes return Unavailable.
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

// addText records text, the searched text of the written row n, for indexTexts.
func (tx *transaction) addText(c *collection, n, text driver.Value) {
	if len(c.spec.Search) > 0 {
		tx.texts[row{c, n.(int64)}] = text.(string)
		tx.size += len(text.(string))
	}
}

// indexTexts stores the words of the recorded texts. FTS5 makes one segment of consecutive rows in ascending order, but one
// segment for each row if other statements run in between. Therefore indexTexts is not called after each write, but before a
// search, before a delete, and at the end of the transaction.
func (tx *transaction) indexTexts() error {
	rows := slices.SortedFunc(maps.Keys(tx.texts), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.c.spec.Name, b.c.spec.Name), cmp.Compare(a.n, b.n))
	})
	size := int64(0) // size of the texts of this collection, with up to maxMerged bytes for each text
	for i, row := range rows {
		text := tx.texts[row]
		_, err := tx.exec("REPLACE INTO "+row.c.words+"(rowid,words) VALUES(?,?)", row.n, tx.joined(text))
		size += int64(min(len(text), maxMerged))
		if err == nil && (i == len(rows)-1 || rows[i+1].c != row.c) {
			err = row.c.merge(tx, size)
			size = 0
		}
		if err != nil {
			return tx.fail(err)
		}
	}
	clear(tx.texts)
	return nil
}

// end commits the transaction if err is nil. If err is not nil or the commit fails, end rolls the transaction back and returns
// the error.
func (tx *transaction) end(err error) error {
	if err == nil {
		err = tx.commit()
	}
	if err != nil {
		tx.conn.run(context.Background(), "ROLLBACK") // ignore the error: SQLite may have rolled back already
	}
	return err
}

// commit indexes the recorded texts, updates the numbers of documents and the cache, and commits the transaction.
func (tx *transaction) commit() error {
	if err := tx.indexTexts(); err != nil {
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
	err := tx.cache.commit(tx.changed, func() error {
		if tx.clearCache {
			tx.cache.clear()
		}
		_, err := tx.exec("COMMIT")
		return err
	})
	if err == nil {
		tx.notify()
	}
	return err
}

// run executes statements without keeping them prepared.
func (tx *transaction) run(statements ...string) error {
	return tx.conn.run(tx.ctx, strings.Join(statements, ";"))
}

// exec executes a statement and returns the number of changed rows.
func (tx *transaction) exec(query string, args ...any) (int64, error) {
	result, err := tx.conn.exec(tx.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (tx *transaction) query(b *builder, row func([]driver.Value) error) error {
	return tx.conn.query(tx.ctx, b.String(), b.args, row)
}
