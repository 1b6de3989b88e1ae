// Package sqlite is the embedded engine of package store: one SQLite file, no server, for development, tests and
// deployments on one machine.
//
// A collection is a table of n, id and doc, the document as JSON text, which the sqlite3 shell shows to a person. Its
// indexes are over json_extract(doc,'$.field'). What is searched is in an FTS5 table of folded words beside it, and the
// number of its documents in the table _collections, both kept in the transaction of each write.
//
// All writes go through one goroutine, which commits what has queued up in one transaction and answers after the commit
// is on disk (see writer). Reads have connections of their own and never wait for it: the file is in WAL mode.
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

// Options are the settings of Open. The zero value is good for a service of any size.
type Options struct {
	// Readers is how many callers read at the same time; more wait for a turn. Each takes up to 1 MiB of memory for a
	// cache. 0 means one for each processor, at least 4 and at most 16.
	Readers int
	// Existing refuses a file that is not there, or not a database of this package.
	Existing bool
}

// The sizes of the caches, in KiB. Larger ones are no faster: what is not in them is in the system's. They take twice as
// much memory, as SQLite's allocator rounds a page of 4 KiB with its header up to 8.
const (
	writerCache = 2048
	readerCache = 512
)

// The file says what it is by two numbers in its header.
const (
	applicationID = 0x47494e53 // "GINS"
	schemaVersion = 1
)

// schema is what a new file has: for each collection the number of its documents, and the fields that its table of
// words was made for.
const schema = `
	BEGIN IMMEDIATE;
	CREATE TABLE _collections (name TEXT PRIMARY KEY, documents INTEGER NOT NULL, searched TEXT NOT NULL) WITHOUT ROWID;
	PRAGMA application_id=%d;
	PRAGMA user_version=%d;
	COMMIT`

// setup is for the connection that writes.
const setup = `
	PRAGMA journal_mode=WAL;             -- reads and writes do not wait for each other
	PRAGMA synchronous=FULL;             -- a commit is on disk when it returns
	PRAGMA wal_autocheckpoint=4000;      -- pages of 4 KiB, after which the log goes into the database
	PRAGMA journal_size_limit=67108864;  -- to which the log shrinks again after a long read made it grow`

// DB is an open file. It implements store.DB.
type DB struct {
	lock    *flock.Flock
	writer  *writer
	readers *readers
	closing sync.Once
	closed  error // what Close returns

	mu          sync.Mutex
	collections []*collection // in the order of Open
}

// Open opens the file at path, and makes it, and its folder, if they are missing: for their owner alone, as what is in
// it is private. One process has a file open at a time, which the lock of the file path.lock ensures.
func Open(ctx context.Context, path string, opts Options) (*DB, error) {
	db, err := open(ctx, path, opts)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	return db, nil
}

func open(ctx context.Context, path string, opts Options) (_ *DB, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder; name a file in it", path)
	} else if opts.Existing && err != nil {
		return nil, fmt.Errorf("there is no database: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("the folder for the database cannot be made: %w", err)
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	defer func() {
		if err != nil {
			lock.Close()
		}
	}()
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("the database cannot be locked: %w", err)
	}
	if !locked {
		return nil, fmt.Errorf("%s is open in another process; stop that one first, or give this one a file of its own", path)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the database cannot be opened: %w", err)
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
		err = errors.New("this file is no SQLite database; name another")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	n := opts.Readers
	if n <= 0 {
		n = min(max(4, runtime.GOMAXPROCS(0)), 16)
	}
	return &DB{lock: lock, writer: newWriter(c), readers: newReaders(n, dsn)}, nil
}

// claim makes a new file ours, checks that an old one is, and sets up the connection that writes.
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
		return errors.New("this file is the database of another program; name another")
	case version > schemaVersion:
		return fmt.Errorf("a newer version of the service has written this database (schema %d, and this one knows %d); "+
			"run that version, or go back to a copy of the file from before", version, schemaVersion)
	}
	if err := c.run(ctx, setup); err != nil || version == schemaVersion {
		return err
	}
	return c.run(ctx, fmt.Sprintf(schema, applicationID, schemaVersion))
}

// Open implements store.DB. The engine's first call tells of a mistake in the Spec, and so does Prepare.
func (db *DB) Open(spec store.Spec) store.Engine {
	c := newCollection(db, spec)
	db.mu.Lock()
	defer db.mu.Unlock()
	db.collections = slices.DeleteFunc(db.collections, func(old *collection) bool { return old.spec.Name == spec.Name })
	db.collections = append(db.collections, c)
	return c
}

// Prepare implements store.DB. It also takes away the indexes that a collection no longer declares. It fails where a
// unique index is declared over values that are not unique, naming the collection and the fields.
func (db *DB) Prepare(ctx context.Context) error {
	db.mu.Lock()
	collections := slices.Clone(db.collections)
	db.mu.Unlock()
	for _, c := range collections {
		if c.err != nil {
			return c.err
		}
		if err := db.writer.alone(ctx, c.prepare); err != nil {
			return translate(err)
		}
	}
	return nil
}

// System is how OpenTelemetry names the engine.
func (db *DB) System() string { return "sqlite" }

// ObserveCommits has committed told of each transaction of writes: how many there were, and how long it took until they
// were on disk.
func (db *DB) ObserveCommits(committed func(writes int, took time.Duration)) {
	db.writer.using.Lock()
	defer db.writer.using.Unlock()
	db.writer.committed = committed
}

// Ping implements store.DB. It reads the first page of the file.
func (db *DB) Ping(ctx context.Context) error {
	return db.readers.use(ctx, func(c *conn) error {
		return c.query(ctx, "SELECT count(*) FROM sqlite_schema", nil, func([]driver.Value) error { return nil })
	})
}

// Close implements store.DB. It moves the log into the database, whose folder then holds the file and its lock alone.
func (db *DB) Close() error {
	db.closing.Do(func() {
		// The last connection to close moves the log; it must be the one that may write.
		db.closed = errors.Join(db.readers.close(), db.writer.close(), db.lock.Close())
	})
	return db.closed
}
