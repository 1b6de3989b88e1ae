// Package sqlite is the embedded engine of package store: one SQLite file without a server, for development, tests and
// deployments on one machine.
//
// A collection is a table with the columns n (the row number), id, and doc (the document as JSON). Its indexes are on
// json_extract(doc,'$.field'). An FTS5 table (SQLite's full-text index) indexes the words of the searched fields. The table
// _collections has the number of documents. Each write updates these tables in its transaction. The table _changes is the log
// of changes.
//
// One goroutine makes all writes. It commits the queued writes in one transaction and returns their results when the commit is
// on disk (see writer). Reads use other connections and never wait for writes, because the file has a write-ahead log (WAL).
// Documents that are read by ID stay in memory for the next read (see cache). Therefore other programs may read the open file,
// but must not change it.
package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/semaphore"
	sqlite3 "modernc.org/sqlite/lib"

	"example.com/ginseng/kit/store"
)

// Options are the options of Open.
type Options struct {
	Existing bool // Open fails if the file does not exist or is not a database of this package
}

// searchWait is how long a search waits for a connection of DB.searches before it fails with store.ErrSearches.
const searchWait = 5 * time.Second

// The sizes of SQLite's page caches, in KiB per connection. Larger caches are not faster, because the operating system caches the
// file too. A cache takes twice its size in memory: SQLite's allocator rounds a page of 4 KiB with its header up to 8 KiB.
const (
	writerCache = 2048
	readerCache = 512
)

// Two numbers in the header of the file, which identify the application and the version of its schema.
const (
	applicationID = 0x47494e53 // "GINS"
	schemaVersion = 1
)

// schema initializes a new file. _collections has a row for each collection. documents is the number of documents. searched
// records how the FTS5 table was built: the version of textsearch.Words and the searched fields. See prepareWords.
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
	PRAGMA wal_autocheckpoint=4000;      -- checkpoint when the log has this many 4 KiB pages
	PRAGMA journal_size_limit=67108864;  -- maximum size of the log after a checkpoint`

// DB is an open file. It implements store.DB.
type DB struct {
	lock    *flock.Flock
	writer  *writer
	cache   *cache
	byID    *readers // for reads of single documents, so that these reads do not wait for lists
	readers *readers // for lists: one connection for each processor, at least 4 and at most 16
	// searches is for costly searches, each of which uses a processor for many milliseconds. It has one connection fewer than
	// there are processors, but at least one, so that one processor stays free for other requests.
	searches  *readers
	large     *semaphore.Weighted // serializes writes with many words (see writeText)
	closeOnce sync.Once
	closeErr  error // the result of the first Close, which later calls also return

	mu          sync.Mutex
	collections []*collection // in the order of the calls to Open
}

// Open opens the file at path. It creates the file and its directory if they are missing, accessible only to their owner. A lock
// on the file path.lock ensures that only one process has the database open. If another process has the database open, Open
// fails.
func Open(ctx context.Context, path string, opts Options) (_ *DB, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a directory; name a file in it", path)
	case opts.Existing && errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the database does not exist: %w", err)
	case opts.Existing && err != nil:
		return nil, fmt.Errorf("open the database: %w", err)
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
		err = errors.New("this file is not an SQLite database; use another file")
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
		byID: newReaders(max(2, processors), dsn), readers: readers, searches: searches,
		large: semaphore.NewWeighted(1),
	}, nil
}

// claim checks that the file is a database of this package, in a supported version. If existing is false, the file may also be
// empty. claim then configures the connection for writes and initializes an empty file.
func (c *conn) claim(ctx context.Context, existing bool) error {
	var application, version, tables int64
	const query = "SELECT application_id,user_version,(SELECT count(*) FROM sqlite_schema)" +
		" FROM pragma_application_id,pragma_user_version"
	err := c.query(ctx, query, nil, func(row []driver.Value) error {
		application, version, tables = row[0].(int64), row[1].(int64), row[2].(int64)
		return nil
	})
	switch {
	case err != nil:
		return err
	case application != applicationID && (existing || application != 0 || version != 0 || tables != 0):
		return errors.New("this file is the database of another program; use another file")
	case version > schemaVersion:
		return fmt.Errorf("a newer version of the service wrote this database (schema %d; this version supports %d); "+
			"run that version, or restore an older backup", version, schemaVersion)
	}
	if err := c.run(ctx, setup); err != nil || version == schemaVersion {
		return err
	}
	return c.run(ctx, fmt.Sprintf(schema, applicationID, schemaVersion))
}

// Open implements store.DB. If the Spec is invalid, Prepare and each method of the engine return the error.
func (db *DB) Open(spec store.Spec) store.Engine {
	c := newCollection(db, spec)
	db.mu.Lock()
	defer db.mu.Unlock()
	db.collections = slices.DeleteFunc(db.collections, func(old *collection) bool { return old.spec.Name == spec.Name })
	db.collections = append(db.collections, c)
	return c
}

// Prepare implements store.DB. It also drops indexes that are no longer declared. It fails if documents have duplicate
// values in a unique index; the error names the collection and the fields.
func (db *DB) Prepare(ctx context.Context) error {
	db.mu.Lock()
	collections := slices.Clone(db.collections)
	db.mu.Unlock()
	for _, c := range collections {
		if c.err != nil {
			return c.err
		}
	}
	// Two transactions, because prepareWords reads documents with other connections, which see only committed tables.
	err := db.writer.doAlone(ctx, true, func(tx *transaction) error {
		// Sort the entries of a new index in a file: in memory they would take about 110 bytes for each document.
		defer tx.conn.run(context.Background(), "PRAGMA temp_store=MEMORY")
		if err := tx.run("PRAGMA temp_store=FILE"); err != nil {
			return err
		}
		for _, c := range collections {
			if c.spec.Changes {
				if err := prepareLog(tx); err != nil {
					return err
				}
			}
			if err := c.prepareIndexes(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return db.writer.doAlone(ctx, true, func(tx *transaction) error {
		for _, c := range collections {
			if err := c.prepareWords(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// System returns OpenTelemetry's name for the engine.
func (db *DB) System() string { return "sqlite" }

// ObserveCommits sets a function that is called after each commit of queued writes. Its arguments are the number of these
// writes and the duration of the commit. The function must return quickly, because the next writes wait for it.
func (db *DB) ObserveCommits(committed func(writes int, took time.Duration)) {
	db.writer.connMu.Lock()
	defer db.writer.connMu.Unlock()
	db.writer.committed = committed
}

// Ping implements store.DB. It reads the first page of the file.
func (db *DB) Ping(ctx context.Context) error {
	return db.byID.use(ctx, func(c *conn) error {
		return c.query(ctx, "SELECT count(*) FROM sqlite_schema", nil, func([]driver.Value) error { return nil })
	})
}

// Close implements store.DB. It copies the write-ahead log into the database and removes the log, so that only the file and
// path.lock remain.
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		err := db.byID.close()
		db.cache.clear()
		// Closing the last connection copies the log into the database. Close the writer last: the other connections cannot write.
		db.closeErr = errors.Join(err, db.readers.close(), db.searches.close(), db.writer.close(), db.lock.Close())
	})
	return db.closeErr
}
