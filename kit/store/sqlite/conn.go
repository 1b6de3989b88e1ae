package sqlite

import (
	"container/list"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// maxStatements is the maximum number of prepared statements of a connection. Statements with the same SQL share one prepared
// statement.
const maxStatements = 128

// conn is a connection to the file with its prepared statements. Only one goroutine may use it at a time.
//
// conn uses the driver without database/sql, because database/sql does not limit the number of prepared statements, and allocates
// much memory for each row.
type conn struct {
	driver   driver.Conn
	prepared map[string]*list.Element // the elements of lastUsed, by SQL
	lastUsed *list.List               // values are of type statement; most recently used first

	pool *readers // nil for the writer's connection
}

type statement struct {
	query string
	stmt  driver.Stmt
}

// connect opens a connection. cache is the size of its page cache in KiB.
func connect(ctx context.Context, dsn string, cache int) (*conn, error) {
	c := &conn{prepared: make(map[string]*list.Element), lastUsed: list.New()}
	var err error
	if c.driver, err = new(sqlite.Driver).Open(dsn); err != nil {
		return nil, err
	}
	err = c.run(ctx, fmt.Sprintf(`
		PRAGMA busy_timeout=5000;  -- ms to wait for a lock of another program, such as the sqlite3 shell
		PRAGMA temp_store=MEMORY;  -- sorting for a query needs no directory for temporary files
		PRAGMA cache_size=-%d`, cache))
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *conn) close() error {
	for e := c.lastUsed.Front(); e != nil; e = e.Next() {
		e.Value.(statement).stmt.Close()
	}
	return c.driver.Close()
}

// run executes one or more statements, separated by semicolons, without keeping them prepared.
func (c *conn) run(ctx context.Context, query string) error {
	_, err := c.driver.(driver.ExecerContext).ExecContext(ctx, query, nil)
	return err
}

// exec executes a statement that returns no rows.
func (c *conn) exec(ctx context.Context, query string, args ...any) (driver.Result, error) {
	stmt, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.(driver.StmtExecContext).ExecContext(ctx, named(args))
}

// rows returns the rows of a statement. No row follows an error. The slice of a row is only valid until the next row.
//
// For a statement that takes less than a few milliseconds, pass a ctx that cannot be cancelled. For other contexts, the driver
// starts a goroutine that interrupts the statement when ctx ends.
func (c *conn) rows(ctx context.Context, query string, args []any) iter.Seq2[[]driver.Value, error] {
	return func(yield func([]driver.Value, error) bool) {
		stmt, err := c.prepare(ctx, query)
		if err != nil {
			yield(nil, err)
			return
		}
		rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, named(args))
		if err != nil {
			yield(nil, err)
			return
		}
		values := make([]driver.Value, len(rows.Columns()))
		for {
			err := rows.Next(values)
			if err == nil {
				if !yield(values, nil) {
					rows.Close()
					return
				}
				err = ctx.Err()
			} else if err == io.EOF {
				if err := rows.Close(); err != nil {
					yield(nil, err)
				}
				return
			}
			if err != nil {
				rows.Close() // ignore the error of Close: the caller receives err
				yield(nil, err)
				return
			}
		}
	}
}

// query calls row with each row of a statement. If row returns an error, query stops and returns this error. See rows for ctx.
func (c *conn) query(ctx context.Context, query string, args []any, row func([]driver.Value) error) error {
	for values, err := range c.rows(ctx, query, args) {
		if err == nil {
			err = row(values)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// integer executes b and returns the first column of the last row; 0 if there are no rows.
func (c *conn) integer(ctx context.Context, b *builder) (n int64, err error) {
	if b.err != nil {
		return 0, b.err
	}
	err = c.query(ctx, b.String(), b.args, func(row []driver.Value) error {
		n = row[0].(int64)
		return nil
	})
	return n, err
}

// prepare returns the prepared statement of a query. If the connection then has more than maxStatements, prepare closes the
// least recently used statement.
func (c *conn) prepare(ctx context.Context, query string) (driver.Stmt, error) {
	if e, ok := c.prepared[query]; ok {
		c.lastUsed.MoveToFront(e)
		return e.Value.(statement).stmt, nil
	}
	stmt, err := c.driver.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.prepared[query] = c.lastUsed.PushFront(statement{query, stmt})
	if c.lastUsed.Len() > maxStatements {
		oldest := c.lastUsed.Remove(c.lastUsed.Back()).(statement)
		delete(c.prepared, oldest.query)
		oldest.stmt.Close()
	}
	return stmt, nil
}

func named(args []any) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return values
}

// snapshot calls read in a transaction, so that all statements of read see the same state of the file.
func (c *conn) snapshot(read func() error) error {
	if _, err := c.exec(context.Background(), "BEGIN"); err != nil {
		return err
	}
	err := read()
	if _, commitErr := c.exec(context.Background(), "COMMIT"); err == nil {
		err = commitErr
	}
	return err
}

// readers is a pool of connections for reads. A connection is opened when it is first needed, and never waits for the writer.
type readers struct {
	dsn      string
	maxScans int64         // maximum cost of a scan; see maxReaderScans
	costly   bool          // the pool is DB.searches: plans may look up common words
	wait     time.Duration // how long use waits for a connection; with 0, it waits until the context ends
	idle     chan *conn    // connections that are not in use; nil stands for a connection that is not open yet
	closed   chan struct{} // closed by close
}

func newReaders(n int, dsn string) *readers {
	r := &readers{dsn: dsn, maxScans: maxReaderScans, idle: make(chan *conn, n), closed: make(chan struct{})}
	for range n {
		r.idle <- nil
	}
	return r
}

// use waits for a connection and calls read with it. It translates the error that read returns. Other errors: store.Busy if
// ctx ends first; Unavailable if the pool is closed; ErrSearches if no connection is free within r.wait.
func (r *readers) use(ctx context.Context, read func(*conn) error) (err error) {
	var c *conn
	select {
	case c = <-r.idle: // use a free connection even if r.wait is very short
	default:
		if c, err = r.await(ctx); err != nil {
			return err
		}
	}
	defer func() { r.idle <- c }()
	if err := ctx.Err(); err != nil {
		return store.Busy(err)
	}
	if c == nil {
		if c, err = r.open(ctx); err != nil {
			return translate(err)
		}
	}
	return translate(read(c))
}

// await waits for an idle connection. The result is nil if the connection is not open yet.
func (r *readers) await(ctx context.Context) (*conn, error) {
	var timeout <-chan time.Time
	if r.wait > 0 {
		timeout = time.After(r.wait)
	}
	select {
	case c := <-r.idle:
		return c, nil
	case <-timeout:
		return nil, store.ErrSearches
	case <-r.closed:
		return nil, store.Unavailable(errClosed)
	case <-ctx.Done():
		return nil, store.Busy(ctx.Err())
	}
}

func (r *readers) open(ctx context.Context) (*conn, error) {
	c, err := connect(ctx, r.dsn, readerCache)
	if err != nil {
		return nil, err
	}
	c.pool = r
	if err := c.run(ctx, "PRAGMA query_only=ON"); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// close waits for running reads and closes the connections.
func (r *readers) close() (err error) {
	close(r.closed)
	for range cap(r.idle) {
		if c := <-r.idle; c != nil {
			err = errors.Join(err, c.close())
		}
	}
	return err
}

// errClosed is the cause of the Unavailable that methods return after Close.
var errClosed = errors.New("sqlite: the database was closed")

// translate converts an error of the driver to an error of package store. It returns other errors unchanged.
func translate(err error) error {
	if err == nil {
		return nil
	}
	var translated *apperr.Error
	switch code := codeOf(err); {
	case errors.As(err, &translated):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), isUnavailable(err):
		return store.Unavailable(err)
	case code == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return store.Duplicate(uniqueFields(err)...).WithCause(err)
	}
	return err
}

// isUnavailable reports whether err is an SQLite error that prevents the use of the file, such as a full disk or a lock of
// another program. It returns false for the error of an invalid statement.
func isUnavailable(err error) bool {
	switch codeOf(err) & 0xff {
	case sqlite3.SQLITE_OK, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG,
		sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_RANGE:
		return false
	}
	return true
}

// codeOf returns the extended result code of an error of SQLite; 0 for nil and other errors.
func codeOf(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return sqlite3.SQLITE_OK
	}
	return e.Code()
}

// uniqueFields returns the fields of the unique index that SQLite's message names. If the message names no index, the duplicate
// is in the id column.
func uniqueFields(err error) []string {
	_, after, ok := strings.Cut(err.Error(), "index '")
	if !ok {
		return []string{"id"}
	}
	name, _, _ := strings.Cut(after, "'")
	return fieldsOf(name)
}
