// Package sqlite is the embedded engine of package store: one SQLite file without a server, for development, tests and
// deployments on one machine.
//
// A collection is a table of n, id and doc, the document as JSON. Its indexes are on json_extract(doc,'$.field'). An
// FTS5 table has the folded words of the searched fields, and the table _collections has the number of documents. Each
// write updates both in its transaction.
//
// One goroutine makes all writes. It commits the queued writes in one transaction and returns their results when the
// commit is on disk (see writer). Reads use separate connections and never wait for writes: the file is in WAL mode.
// Documents that are read by ID stay in memory for the next read (see cache), so other programs may read the file while it is
// open, but must not change it.
package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
	sqlite3 "modernc.org/sqlite/lib"

	"example.com/ginseng/kit/store"
)

// Options are the options of Open.
type Options struct {
	Existing bool // it is an error if the file does not exist or is not a database of this package
}

// searchWait is how long a search waits while others use all connections for costly searches. It then fails with
// Unavailable.
const searchWait = 5 * time.Second

// The sizes of the caches, in KiB. Larger ones are not faster, because the operating system caches the file too. They use
// twice as much memory: SQLite's allocator rounds a page of 4 KiB with its header up to 8.
const (
	writerCache = 2048
	readerCache = 512
)

// Two numbers in the header of the file identify the application and the schema.
const (
	applicationID = 0x47494e53 // "GINS"
	schemaVersion = 1
)

// schema initializes a new file. _collections has the number of documents of each collection, and the fields that its
// table of words has.
const schema = `
	BEGIN IMMEDIATE;
	CREATE TABLE _collections (name TEXT PRIMARY KEY, documents INTEGER NOT NULL, searched TEXT NOT NULL) WITHOUT ROWID;
	PRAGMA application_id=%d;
	PRAGMA user_version=%d;
	COMMIT`

// setup configures the connection that writes.
const setup = `
	PRAGMA journal_mode=WAL;             -- reads and writes do not block each other
	PRAGMA synchronous=FULL;             -- a commit is on disk when it returns
	PRAGMA wal_autocheckpoint=4000;      -- pages of 4 KiB after which a commit moves the log into the database
	PRAGMA journal_size_limit=67108864;  -- maximum size of the log after a checkpoint`

// DB is an open file. It implements store.DB.
type DB struct {
	lock    *flock.Flock
	writer  *writer
	cache   *cache
	lookUps *readers // for single documents, which do not wait for lists
	readers *readers // for lists: one for each processor, at least 4 and at most 16
	// searches is for costly searches: one connection less than there are processors. A search runs for many
	// milliseconds, and goroutines that became ready would wait for a processor.
	searches *readers
	closing  sync.Once
	closed   error // result of Close

	mu          sync.Mutex
	collections []*collection // in the order of Open
}

// Open opens the file at path and creates it, and its directory, if they are missing. Only their owner can access them.
// Only one process can open a file at a time; the file path.lock ensures it.
func Open(ctx context.Context, path string, opts Options) (_ *DB, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; name a file in it", path)
	} else if opts.Existing && err != nil {
		return nil, fmt.Errorf("the database does not exist: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of the database: %w", err)
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	defer func() {
		if err != nil {
			lock.Close()
		}
	}()
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the database: %w", err)
	}
	if !locked {
		return nil, fmt.Errorf("%s is open in another process; stop that process, or use another file", path)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	file.Close()

	dsn, err := dataSource(path)
	if err != nil {
		return nil, err
	}
	c, err := connect(ctx, dsn, writerCache)
	if err == nil {
		if err = c.claim(ctx, opts.Existing); err != nil {
			c.close()
		}
	}
	if codeOf(err) == sqlite3.SQLITE_NOTADB {
		err = errors.New("this file is no SQLite database; use another")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	processors := runtime.GOMAXPROCS(0)
	searches := newReaders(max(1, processors-1), dsn)
	searches.costly, searches.maxScans, searches.wait = true, maxSearchScans, searchWait
	cache, readers := newCache(), newReaders(min(max(4, processors), 16), dsn)
	return &DB{
		lock: lock, writer: newWriter(c, readers, cache), cache: cache,
		lookUps: newReaders(max(2, processors), dsn), readers: readers, searches: searches,
	}, nil
}

// claim initializes a new file, checks an existing one, and configures the connection that writes.
func (c *conn) claim(ctx context.Context, existing bool) error {
	var application, version, tables int64
	const text = "SELECT application_id,user_version,(SELECT count(*) FROM sqlite_schema)" +
		" FROM pragma_application_id,pragma_user_version"
	err := c.query(ctx, text, nil, func(row []driver.Value) error {
		application, version, tables = row[0].(int64), row[1].(int64), row[2].(int64)
		return nil
	})
	switch {
	case err != nil:
		return err
	case application != applicationID && (existing || application != 0 || version != 0 || tables != 0):
		return errors.New("this file is the database of another program; use another")
	case version > schemaVersion:
		return fmt.Errorf("a newer version of the service wrote this database (schema %d; this version supports %d); "+
			"run that version, or restore an older backup", version, schemaVersion)
	}
	if err := c.run(ctx, setup); err != nil || version == schemaVersion {
		return err
	}
	return c.run(ctx, fmt.Sprintf(schema, applicationID, schemaVersion))
}

// Open implements store.DB. The first call of the engine and Prepare return an error of the Spec.
func (db *DB) Open(spec store.Spec) store.Engine {
	c := newCollection(db, spec)
	db.mu.Lock()
	defer db.mu.Unlock()
	db.collections = slices.DeleteFunc(db.collections, func(old *collection) bool { return old.spec.Name == spec.Name })
	db.collections = append(db.collections, c)
	return c
}

// Prepare implements store.DB. It also drops indexes that are no longer declared. It fails if the values of a unique
// index are not unique; the error names the collection and the fields.
func (db *DB) Prepare(ctx context.Context) error {
	db.mu.Lock()
	collections := slices.Clone(db.collections)
	db.mu.Unlock()
	for _, c := range collections {
		if c.err != nil {
			return c.err
		}
		for _, step := range []func(*transaction) error{c.prepareIndexes, c.prepareWords} {
			if err := db.writer.alone(ctx, true, step); err != nil {
				return err
			}
		}
	}
	return nil
}

// System returns OpenTelemetry's name of the engine.
func (db *DB) System() string { return "sqlite" }

// ObserveCommits sets a function that is called after each commit with its number of writes and its duration.
func (db *DB) ObserveCommits(committed func(writes int, took time.Duration)) {
	db.writer.connMu.Lock()
	defer db.writer.connMu.Unlock()
	db.writer.committed = committed
}

// Ping implements store.DB. It reads the first page of the file.
func (db *DB) Ping(ctx context.Context) error {
	return db.lookUps.use(ctx, func(c *conn) error {
		return c.query(ctx, "SELECT count(*) FROM sqlite_schema", nil, func([]driver.Value) error { return nil })
	})
}

// Close implements store.DB. It moves the write-ahead log into the database, so that only the file and its lock remain.
func (db *DB) Close() error {
	db.closing.Do(func() {
		// The last connection to close moves the log, so it must be the one that can write.
		db.closed = db.lookUps.close()
		db.cache.clear()
		db.closed = errors.Join(db.closed, db.readers.close(), db.searches.close(), db.writer.close(), db.lock.Close())
	})
	return db.closed
}
