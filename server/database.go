package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"example.com/ginseng/kit/command"
	"example.com/ginseng/kit/progress"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/sqlite"
	"example.com/ginseng/kit/store/transfer"
)

const copyUsage = `Usage: %[1]s copy [--from ADDRESS] --to ADDRESS [--skip COLLECTION]... [--replace]
       %[1]s copy --files-from URL --files-to URL

Copies all collections, documents and indexes of a database. An address is mongodb://…, mongodb+srv://… or sqlite:PATH.
After copying, both databases are read again and compared. Stop the services that use them first. To continue a copy that
was interrupted, run the same command again. No service starts on the target before the copy is finished.

An address env:NAME is read from the environment variable NAME, so that the password does not appear in process lists.

With --files-from and --files-to, it copies files between directories and buckets, and compares their SHA-256. The addresses
are like FILES_URL; both buckets have the keys of S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY. The service can run meanwhile: run the
command again when it is stopped. Files that the target has already are compared, not copied. No file is replaced or deleted: if
a file differs, the command prints it, and the exit code is 1.

Examples:

	%[1]s copy --from sqlite:data/ginseng.db --to env:TARGET_URL
	%[1]s copy --files-from file:data/files --files-to 's3://my-files?region=eu-central-1'

Flags:

`

const backupUsage = `Usage: %[1]s backup FILE [--files DIR]

Writes a snapshot of the embedded database (DATABASE_URL=sqlite:PATH) to a new file. The service may run meanwhile. The
FILE - is the standard output: docker exec %[1]s %[1]s backup - >FILE. To restore a backup, stop the service and
replace the database with the file.

With --files, it then copies the files that the snapshot names from FILES_URL to a directory, and compares their SHA-256 with that
in the database. The directory can have the files of earlier backups, which are not copied again. FILE appears when all of them are
copied. A service with FILES_URL=file:DIR uses the directory. The command needs the settings of the service. The exit code is 1 if
a file is missing or damaged.

Examples:

	%[1]s backup %[1]s-$(date +%%F).db
	%[1]s backup backups/%[1]s-$(date +%%F).db --files backups/files

Flags:

`

func (p program) copy(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := pflag.NewFlagSet("copy", pflag.ContinueOnError)
	from := flags.String("from", "", "`address` of the source (default DATABASE_URL)")
	to := flags.String("to", "", "`address` of the target")
	filesFrom := flags.String("files-from", "", "`URL` of the files to copy: file:DIR, or s3://BUCKET/PREFIX?region=REGION")
	filesTo := flags.String("files-to", "", "`URL` of the target of files")
	o := transfer.Options{Progress: stderr, Report: stdout}
	flags.BoolVar(&o.Replace, "replace", false, "delete the documents of the target; without --replace, documents in the target are an error")
	flags.StringArrayVar(&o.Skip, "skip", nil, "skip a `collection` of the source; may be repeated")
	err := command.Parse(flags, fmt.Sprintf(copyUsage, p.name), args, stdout)
	switch {
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; %w", flags.Arg(0), command.ErrUsage)
	case flags.Changed("files-from") || flags.Changed("files-to"):
		if flags.NFlag() > 2 {
			return fmt.Errorf("--files-from and --files-to exclude other flags; %w", command.ErrUsage)
		}
		return copyFiles(ctx, *filesFrom, *filesTo, stdout, stderr)
	case *to == "":
		return fmt.Errorf("--to is missing; %w", command.ErrUsage)
	}
	if *from == "" {
		if *from, err = databaseURL(); err != nil {
			return err
		}
	}
	if o.From, err = address(*from); err != nil {
		return err
	}
	if o.To, err = address(*to); err != nil {
		return err
	}
	if o.Specs, err = p.collections(); err != nil {
		return err
	}
	err = transfer.Copy(ctx, o)
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("the copy was interrupted; the same command continues it")
	case errors.Is(err, engines.ErrAddress):
		return fmt.Errorf("%w; %w", err, command.ErrUsage)
	}
	return err
}

// address returns the address that an argument names: the argument itself, or for env:NAME the value of the variable NAME.
func address(argument string) (string, error) {
	name, isVariable := strings.CutPrefix(argument, "env:")
	if !isVariable {
		return argument, nil
	}
	value := os.Getenv(name)
	if value == "" {
		return "", fmt.Errorf("the environment variable %s is not set; %w", name, command.ErrUsage)
	}
	return value, nil
}

func (p program) backup(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := pflag.NewFlagSet("backup", pflag.ContinueOnError)
	dir := flags.String("files", "", "copy the files to a `DIR`, too")
	if err := command.Parse(flags, fmt.Sprintf(backupUsage, p.name), args, stdout); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("one FILE is needed; %w", command.ErrUsage)
	}
	if flags.Changed("files") && *dir == "" { // for example an empty variable of the shell
		return fmt.Errorf("--files needs a directory; %w", command.ErrUsage)
	}
	address, err := databaseURL()
	if err != nil {
		return err
	}
	path, file := engines.Path(address), flags.Arg(0)
	if path == "" {
		return fmt.Errorf("the database is %s: use mongodump, or `%s copy --to sqlite:%s`", engines.Redact(address), p.name, file)
	}
	if *dir != "" {
		return p.backupWithFiles(ctx, path, file, *dir, stdout, stderr)
	}
	if file == "-" {
		return p.backupToStdout(ctx, path, stdout, stderr)
	}
	if err := writeBackup(ctx, path, file, stderr); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, file)
	return err
}

// backupToStdout first writes the backup to a temporary file next to the database, so that only a complete and checked backup is
// written to the standard output.
func (p program) backupToStdout(ctx context.Context, path string, stdout, stderr io.Writer) (err error) {
	if progress.IsTerminal(stdout) {
		return fmt.Errorf("the standard output is a terminal; redirect it: %s backup - >FILE; %w", p.name, command.ErrUsage)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".backup-*")
	if err != nil {
		return fmt.Errorf("the backup needs a temporary directory next to the database: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "backup.db")
	if err := writeBackup(ctx, path, file, stderr); err != nil {
		return err
	}
	backup, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = backup.Close() }()
	// A write to a closed pipe ends the process, so remove the file before writing. On systems that cannot remove open files, the
	// deferred call removes it.
	_ = os.RemoveAll(dir)
	_, err = io.Copy(stdout, backup)
	return err
}

// writeBackup writes a backup of the database at path to a new file, and shows the progress on stderr.
func writeBackup(ctx context.Context, path, file string, stderr io.Writer) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("the database does not exist: %w", err)
	}
	const mb = 1_000_000
	bar := progress.Start(stderr, "backup", "MB", info.Size()/mb)
	var before int64
	err = sqlite.Backup(ctx, path, file, func(done, _ int64) {
		bar.Add(done/mb - before)
		before = done / mb
	})
	bar.Stop()
	if err != nil && ctx.Err() != nil {
		return errors.New("the backup was interrupted; the incomplete file was removed")
	}
	return err
}
