package sqlite

import (
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

// backupStep is how many pages of 4 KiB are copied before the context and the progress are looked at.
const backupStep = 1024

// Backup writes the database at path, as it is now, into a new file, and checks that. It takes no lock: another process
// may have the database open, and goes on reading and writing. What that writes meanwhile is not in the backup, and stays
// in the log of the database until the backup has ended. Nothing is left at the file's name unless all went well.
func Backup(ctx context.Context, path, file string, progress func(done, total int64)) error {
	if err := backup(ctx, path, file, progress); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return nil
}

func backup(ctx context.Context, path, file string, progress func(done, total int64)) (err error) {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s exists already; name a new file", file)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	source, err := openReadOnly(ctx, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer source.close()
	folder, name := filepath.Split(file)
	partial, err := os.CreateTemp(filepath.Clean(folder), "."+name+".*")
	if err != nil {
		return fmt.Errorf("the backup cannot be written: %w", err)
	}
	defer func() {
		partial.Close()
		if err != nil {
			os.Remove(partial.Name())
		}
	}()
	err = source.snapshot(ctx, func() error { return source.backup(ctx, partial.Name(), progress) })
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
	return syncFolder(filepath.Dir(file))
}

// openReadOnly opens a database of this package that another process may have open.
func openReadOnly(ctx context.Context, path string) (*conn, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("this is no file")
	}
	c, err := connectReadOnly(ctx, path, "")
	if codeOf(err)&0xff == sqlite3.SQLITE_CANTOPEN {
		// Where no file can be made beside it, and there is no log, nobody has it open to write.
		if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
			return connectReadOnly(ctx, path, "&immutable=1")
		}
	}
	return c, err
}

func connectReadOnly(ctx context.Context, path, options string) (*conn, error) {
	dsn, err := dataSource(path)
	if err != nil {
		return nil, err
	}
	c, err := connect(ctx, dsn+"?mode=ro"+options, readerCache)
	if err != nil {
		return nil, err
	}
	err = c.query(ctx, "SELECT application_id FROM pragma_application_id", nil, func(row []driver.Value) error {
		if row[0] != int64(applicationID) {
			return errors.New("this file is no database of the service")
		}
		return nil
	})
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// dataSource is how the driver names a file.
func dataSource(path string) (string, error) {
	path, err := filepath.Abs(path)
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(), err
}

// backup copies all pages into an empty file. It is called in a transaction, which began with the file as it is now: a
// copy in steps begins anew whenever another process has written between two of them, unless it reads in a transaction.
func (c *conn) backup(ctx context.Context, file string, progress func(done, total int64)) error {
	read := func([]driver.Value) error { return nil }
	if err := c.query(ctx, "SELECT count(*) FROM sqlite_schema", nil, read); err != nil { // BEGIN alone reads nothing
		return err
	}
	target, err := dataSource(file)
	if err != nil {
		return err
	}
	// Until it has its name, the file is worth nothing: no journal, and one sync in the end.
	b, err := c.driver.(interface {
		NewBackup(target string) (*sqlite.Backup, error)
	}).NewBackup(target + "?_pragma=journal_mode(off)&_pragma=synchronous(off)")
	if err != nil {
		return err
	}
	more := true
	for more && err == nil {
		if more, err = b.Step(backupStep); err == nil {
			total := int64(b.PageCount())
			progress((total-int64(b.Remaining()))*pageSize, total*pageSize)
			err = ctx.Err()
		}
	}
	if finished := b.Finish(); err == nil { // after an error it is the same one
		err = finished
	}
	return err
}

// pageSize is SQLite's own.
const pageSize = 4096

// checkFile fails unless all pages of a database that nobody has open are sound.
func checkFile(ctx context.Context, path string) error {
	c, err := connectReadOnly(ctx, path, "&immutable=1")
	if err != nil {
		return err
	}
	defer c.close()
	return c.query(ctx, "PRAGMA quick_check(1)", nil, func(row []driver.Value) error {
		if row[0] != "ok" {
			return fmt.Errorf("the copy is damaged, and most likely the database too: %v", row[0])
		}
		return nil
	})
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
