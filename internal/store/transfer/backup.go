package transfer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"example.com/ginseng/internal/progress"
	"example.com/ginseng/internal/store/engines"
	"example.com/ginseng/internal/store/sqlite"
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
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("there is no database: %w", err)
	}
	const mb = 1_000_000
	bar := progress.Start(h.Stderr, "backup", "MB", info.Size()/mb, 0)
	var before int64
	err = sqlite.Backup(ctx, path, file, func(done, _ int64) {
		bar.Add(done/mb - before)
		before = done / mb
	})
	bar.Stop()
	if err != nil && ctx.Err() != nil {
		return errors.New("the backup was stopped; nothing is left of it")
	}
	if err == nil {
		_, err = fmt.Fprintln(h.Stdout, file)
	}
	return err
}
