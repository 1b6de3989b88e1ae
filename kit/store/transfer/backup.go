package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"example.com/ginseng/kit/progress"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/sqlite"
)

// BackupCommand is the command backup.
func BackupCommand(ctx context.Context, args []string, h Host) error {
	flags := pflag.NewFlagSet("backup", pflag.ContinueOnError)
	if err := Parse(flags, fmt.Sprintf(backupUsage, h.Program), args, h.Stdout); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("one FILE is needed; %w", ErrUsage)
	}
	address, err := h.Database()
	if err != nil {
		return err
	}
	path, file := engines.Path(address), flags.Arg(0)
	if path == "" {
		return fmt.Errorf("the database is %s: use mongodump, or `%s copy --to sqlite:%s`", engines.Redact(address), h.Program, file)
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("the database does not exist: %w", err)
	}
	if file == "-" {
		return backupToStdout(ctx, path, h)
	}
	if err := backup(ctx, path, file, h); err != nil {
		return err
	}
	_, err = fmt.Fprintln(h.Stdout, file)
	return err
}

// backupToStdout writes the backup to a file beside the database first, so that it is complete and checked before any of
// it is written to the standard output.
func backupToStdout(ctx context.Context, path string, h Host) (err error) {
	if progress.IsTerminal(h.Stdout) {
		return fmt.Errorf("the standard output is a terminal; redirect it: %s backup - >FILE; %w", h.Program, ErrUsage)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".backup-*")
	if err != nil {
		return fmt.Errorf("the backup needs a temporary directory beside the database: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "backup.db")
	if err := backup(ctx, path, file, h); err != nil {
		return err
	}
	backup, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = backup.Close() }()
	// A closed pipe ends the process, so remove the file before writing. Where open files cannot be removed, this fails.
	_ = os.RemoveAll(dir)
	_, err = io.Copy(h.Stdout, backup)
	return err
}

// backup writes a backup and shows its progress.
func backup(ctx context.Context, path, file string, h Host) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	const mb = 1_000_000
	bar := progress.Start(h.Stderr, "backup", "MB", info.Size()/mb)
	var before int64
	err = sqlite.Backup(ctx, path, file, func(done, _ int64) {
		bar.Add(done/mb - before)
		before = done / mb
	})
	bar.Stop()
	if err != nil && ctx.Err() != nil {
		return errors.New("the backup was interrupted; its file was removed")
	}
	return err
}
