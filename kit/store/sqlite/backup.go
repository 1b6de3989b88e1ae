package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Backup writes a snapshot of the database at path to a new file and checks the file. It fails if the new file already exists.
// After any other error, the new file does not exist. As an exception, it exists if only the sync of the directory fails. Every
// few MiB, Backup calls progress with the number of copied bytes and the total number of bytes. Another process may use the
// database during the backup. The changes of that process are not in the backup, and stay in the write-ahead log until the backup
// ends.
func Backup(ctx context.Context, path, file string, progress func(done, total int64)) (err error) {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s already exists; name a new file", file)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	source, err := openReadOnly(ctx, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer source.close()
	dir, name := filepath.Split(file)
	partial, err := os.CreateTemp(filepath.Clean(dir), "."+name+".*")
	if err != nil {
		return fmt.Errorf("create the backup: %w", err)
	}
	defer func() {
		partial.Close()
		if err != nil {
			os.Remove(partial.Name())
		}
	}()
	err = source.snapshot(func() error { return source.backup(ctx, partial.Name(), progress) })
	if err != nil {
		return err
	}
	if err := partial.Sync(); err != nil {
		return err
	}
	if err := checkFile(ctx, partial.Name()); err != nil {
		return err
	}
	if err := os.Rename(partial.Name(), file); err != nil {
		return err
	}
	return syncDir(filepath.Dir(file))
}

// openReadOnly opens a database of this package for reading. Another process may have the database open.
func openReadOnly(ctx context.Context, path string) (*conn, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	c, err := connectReadOnly(ctx, path, "")
	if codeOf(err)&0xff == sqlite3.SQLITE_CANTOPEN {
		// In a read-only directory, SQLite cannot create the write-ahead log and its index. If there is no log, no process is
		// writing.
		if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
			return connectReadOnly(ctx, path, "&immutable=1")
		}
	}
	return c, err
}

// connectReadOnly opens a database for reading and checks that this package created it. options has additional parameters for
// the driver's data source name.
func connectReadOnly(ctx context.Context, path, options string) (*conn, error) {
	dsn, err := dataSource(path)
	if err != nil {
		return nil, err
	}
	c, err := connect(ctx, dsn+"?mode=ro"+options, readerCache)
	if err != nil {
		return nil, err
	}
	id, err := c.integer(ctx, new(builder).write("SELECT application_id FROM pragma_application_id"))
	if err == nil && id != applicationID {
		err = errors.New("this file is not a database of the service")
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// dataSource returns the driver's data source name for a file.
func dataSource(path string) (string, error) {
	path, err := filepath.Abs(path)
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(), err
}

// backup copies all pages to an empty file. The caller must have begun a transaction; otherwise the copy would start again
// after each write of another process.
func (c *conn) backup(ctx context.Context, file string, progress func(done, total int64)) error {
	_, err := c.integer(ctx, new(builder).write("SELECT count(*) FROM sqlite_schema")) // BEGIN alone does not start a snapshot
	if err != nil {
		return err
	}
	target, err := dataSource(file)
	if err != nil {
		return err
	}
	// Backup syncs the file later, so the copy needs neither a journal nor other syncs.
	b, err := c.driver.(interface {
		NewBackup(target string) (*sqlite.Backup, error)
	}).NewBackup(target + "?_pragma=journal_mode(off)&_pragma=synchronous(off)")
	if err != nil {
		return err
	}
	return cmp.Or(copyPages(ctx, b, progress), b.Finish()) // after a failed step, Finish returns the same error
}

// copyPages copies all pages. After each step, it calls progress with the number of copied bytes and the total number of bytes.
func copyPages(ctx context.Context, b *sqlite.Backup, progress func(done, total int64)) error {
	const pageSize = 4096 // bytes; SQLite's default
	const step = 1024     // pages between checks of ctx
	for {
		more, err := b.Step(step)
		if err != nil {
			return err
		}
		total := int64(b.PageCount())
		progress((total-int64(b.Remaining()))*pageSize, total*pageSize)
		if err := ctx.Err(); err != nil || !more {
			return err
		}
	}
}

// checkFile fails if pages of a database are damaged. No process may have the database open.
func checkFile(ctx context.Context, path string) error {
	c, err := connectReadOnly(ctx, path, "&immutable=1")
	if err != nil {
		return err
	}
	defer c.close()
	return c.query(ctx, "PRAGMA quick_check(1)", nil, func(row []driver.Value) error {
		if row[0] != "ok" {
			return fmt.Errorf("the backup is damaged, and most likely the database too: %v", row[0])
		}
		return nil
	})
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
