package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"example.com/ginseng/kit/command"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/sqlite"
)

const filesUsage = `Usage: %[1]s files check [--delete]

Compares the records with the stored files, while the service runs or not. Prints a line for each file that a record refers to and
that is missing, and for each file that no record refers to:

	missing FILE of COLLECTION RECORD
	unreferenced FILE of COLLECTION RECORD

The service deletes unreferenced files itself: an hour after the record was changed or deleted, other files within a day.
The exit code is 1 if a file is missing.

After a restore of an older database, --delete deletes the files that are newer than the database.

With the embedded database, the command reads a snapshot, which needs as much space as the database, in the same directory.

Flags:

`

func (p program) files(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := pflag.NewFlagSet("files", pflag.ContinueOnError)
	remove := flags.Bool("delete", false, "delete the unreferenced files, except those of the last hour")
	if err := command.Parse(flags, fmt.Sprintf(filesUsage, p.name), args, stdout); err != nil {
		return err
	}
	if flags.NArg() != 1 || flags.Arg(0) != "check" {
		return fmt.Errorf("the argument check is needed; %w", command.ErrUsage)
	}
	f, snapshot, done, err := p.openFiles(ctx, "", stderr)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return err
	}
	return checkFiles(ctx, f, snapshot, *remove, stdout)
}

// openFiles opens the storage of the service with its database. Of an embedded database, it opens a snapshot, because a running service
// has locked the database. If path is not "", it is that of another embedded database. snapshot is the time of the snapshot, or zero.
// done closes the database and removes the snapshot; call it also after an error.
func (p program) openFiles(ctx context.Context, path string, stderr io.Writer) (f *files.Files, snapshot time.Time, done func() error, err error) {
	remove := func() error { return nil }
	handler, closeAll, err := p.openWith(ctx, stderr, func(s Settings, o *DepsOptions) (err error) {
		if s.Files.FilesURL == "" {
			return errors.New("FILES_URL is not set, so the service stores no files")
		}
		if o.Files.Store, err = s.Files.open(files.OpenLocal); err != nil {
			return invalidSetting("FILES_URL", err)
		}
		if path = cmp.Or(path, engines.Path(s.DatabaseURL)); path == "" {
			o.DB, err = openDatabase(ctx, s.DatabaseURL)
			o.DB = unprepared{o.DB}
			return err
		}
		snapshot = time.Now()
		var address string
		if address, remove, err = takeSnapshot(ctx, path); err == nil {
			o.DB, err = openDatabase(ctx, address)
		}
		return err
	})
	if err != nil {
		return nil, snapshot, remove, err
	}
	done = func() error { return errors.Join(closeAll(), remove()) }
	if err := handler.deps.Files.Enter(ctx); err != nil {
		return nil, snapshot, done, invalidSetting("FILES_URL", err)
	}
	return handler.deps.Files, snapshot, done, nil
}

// unprepared is a database whose collections and indexes are not created.
type unprepared struct{ store.DB }

// Prepare does nothing.
func (unprepared) Prepare(context.Context) error { return nil }

// takeSnapshot copies an embedded database. It returns the address of the copy, and a function that removes it.
func takeSnapshot(ctx context.Context, path string) (address string, remove func() error, err error) {
	keep := func() error { return nil }
	if _, err := os.Stat(path); err != nil {
		return "", keep, fmt.Errorf("the database does not exist: %w", err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".check-*")
	if err != nil {
		return "", keep, fmt.Errorf("a snapshot needs a temporary directory next to the database: %w", err)
	}
	remove = func() error { return os.RemoveAll(dir) }
	file := filepath.Join(dir, "snapshot.db")
	return "sqlite:" + file, remove, sqlite.Backup(ctx, path, file, func(int64, int64) {})
}

// describe returns the line for a difference.
func describe(found files.Finding) string {
	line := "unreferenced "
	switch {
	case found.Missing:
		line = "missing "
	case found.Damaged:
		line = "damaged "
	case found.Differs:
		line = "differs "
	}
	line += found.ID.Hex()
	if found.Collection != "" {
		line += " of " + found.Collection + " " + found.Record.Hex()
	}
	if found.Differs {
		line += fmt.Sprintf(": %s bytes in the source, %s in the target", humanize.Comma(found.SourceSize), humanize.Comma(found.TargetSize))
	}
	return line
}

// checkFiles prints the differences. It fails if a file is missing.
func checkFiles(ctx context.Context, f *files.Files, snapshot time.Time, remove bool, stdout io.Writer) error {
	result, err := f.Check(ctx, snapshot, func(found files.Finding) error {
		line := describe(found)
		if remove {
			deleted, err := f.Delete(ctx, found)
			if err != nil {
				return err
			}
			if deleted {
				line += ", deleted"
			}
		}
		_, err := fmt.Fprintln(stdout, line)
		return err
	})
	if err != nil {
		return err
	}
	n := func(n int) string { return humanize.Comma(int64(n)) }
	_, err = fmt.Fprintf(stdout, "%s files are stored, %s are missing, %s are unreferenced\n", n(result.Stored), n(result.Missing), n(result.Unreferenced))
	if result.Unknown > 0 {
		_, _ = fmt.Fprintf(stdout, "%s files of resources that this service does not have were not checked\n", n(result.Unknown))
	}
	if result.Missing > 0 {
		err = fmt.Errorf("%s files are missing; restore them from a backup", n(result.Missing))
	}
	return err
}
