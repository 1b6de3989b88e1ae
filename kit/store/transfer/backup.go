package transfer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/ginseng/kit/progress"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/sqlite"
)

// BackupCommand is `ginseng backup`.
func BackupCommand(ctx context.Context, args []string, h Host) error {
	flags := flag.NewFlagSet("backup", flag.ContinueOnError)
	if err := parse(flags, backupUsage, args, h); err != nil {
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
		return fmt.Errorf("the database is %s: use mongodump, or `ginseng copy --to sqlite:%s`", engines.Shown(address), file)
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("there is no database: %w", err)
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

// backupToStdout makes the backup beside the database, so that it is whole and checked before a byte of it goes out.
func backupToStdout(ctx context.Context, path string, h Host) (err error) {
	if progress.IsTerminal(h.Stdout) {
		return fmt.Errorf("a backup is nothing for a terminal to show: ginseng backup - >FILE; %w", ErrUsage)
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), ".backup-*")
	if err != nil {
		return fmt.Errorf("the backup is made beside the database first, where it cannot be written: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	file := filepath.Join(folder, "backup.db")
	if err := backup(ctx, path, file, h); err != nil {
		return err
	}
	made, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = made.Close() }()
	// Who reads may go away, which ends the process: nothing may lie about then. Where an open file cannot go, it does later.
	_ = os.RemoveAll(folder)
	_, err = io.Copy(h.Stdout, made)
	return err
}

// backup makes a backup and shows how far it is.
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
		return errors.New("the backup was stopped; nothing is left of it")
	}
	return err
}
