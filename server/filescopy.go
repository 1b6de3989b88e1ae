package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"example.com/ginseng/kit/command"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/settings"
)

// copyFiles copies all files between two addresses like FILES_URL.
func copyFiles(ctx context.Context, from, to string, stdout, stderr io.Writer) error {
	var s FileSettings
	if err := settings.LoadPart(".", &s); err != nil {
		return err
	}
	source, target := s, s
	source.FilesURL, target.FilesURL = from, to
	if err := errors.Join(source.checkArgument("--files-from"), target.checkArgument("--files-to")); err != nil {
		return fmt.Errorf("%w; %w", err, command.ErrUsage)
	}
	temp, err := tempDir(target)
	if err != nil {
		return invalidSetting("FILES_TMP", err)
	}
	openSource := func() (files.Partitioned, error) { return source.open(files.OpenLocal) }
	openTarget := func() (files.Partitioned, error) { return target.open(files.NewLocal) }
	copied, err := files.Copy(ctx, openSource, openTarget, copyOptions(temp, stdout, stderr))
	if errors.Is(err, files.ErrNoDatabases) {
		return fmt.Errorf("%s has no files of a service; name the directory or bucket of its FILES_URL", from)
	}
	return reportCopied(ctx, copied, err, stdout)
}

// checkArgument checks FilesURL, which is the value of a flag.
func (f *FileSettings) checkArgument(flag string) (err error) {
	if f.FilesURL == "" {
		return fmt.Errorf("%s is missing", flag)
	}
	f.FilesShared = true // the database is unknown
	f.check("", func(name, reason string) {
		if name == "FILES_URL" {
			name = flag
		}
		err = errors.Join(err, fmt.Errorf("%s %s", name, reason))
	})
	return err
}

func copyOptions(temp string, stdout, stderr io.Writer) files.CopyOptions {
	return files.CopyOptions{TempDir: temp, Progress: stderr, Report: func(found files.Finding) error {
		_, err := fmt.Fprintln(stdout, describe(found))
		return err
	}}
}

// reportCopied prints the result of a copy, and returns its error.
func reportCopied(ctx context.Context, copied files.Copied, err error, stdout io.Writer) error {
	n := func(n int) string { return humanize.Comma(int64(n)) }
	if err == nil || copied != (files.Copied{}) {
		_, _ = fmt.Fprintf(stdout, "%s files were copied, %s were there already\n", n(copied.Copied), n(copied.Present))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("the copy of files was interrupted; the same command continues it")
	case err != nil:
		return fmt.Errorf("%w; when that is corrected, the same command continues", err)
	}
	var failed []error
	if copied.Damaged > 0 {
		failed = append(failed, fmt.Errorf("%s files are damaged and were not copied; restore them from a backup", n(copied.Damaged)))
	}
	if copied.Different > 0 {
		failed = append(failed, fmt.Errorf("%s files have other bytes in the target than in the source and were not copied: one of the two is damaged; "+
			"delete the damaged one, and run the command again", n(copied.Different)))
	}
	return errors.Join(failed...)
}

// backupWithFiles writes a backup of the database at path to a new file, after the files that the backup names are in the directory.
func (p program) backupWithFiles(ctx context.Context, path, file, dir string, stdout, stderr io.Writer) (err error) {
	if file == "-" {
		return fmt.Errorf("with --files, FILE must be the name of a file; %w", command.ErrUsage)
	}
	if err := isNew(file); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(file), ".backup-*")
	if err != nil {
		return fmt.Errorf("create the backup: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	partial := filepath.Join(temp, "backup.db")
	if err := writeBackup(ctx, path, partial, stderr); err != nil {
		return err
	}
	to, err := files.NewLocal(dir)
	if err != nil {
		return err
	}
	copied, err := p.backupFiles(ctx, partial, to, copyOptions(temp, stdout, stderr), stderr)
	if err != nil {
		return reportCopied(ctx, copied, err, stdout)
	}
	err = isNew(file)
	if err == nil {
		err = os.Rename(partial, file)
	}
	if err == nil {
		err = syncDir(filepath.Dir(file))
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(stdout, file)
	if copied.Missing > 0 {
		err = fmt.Errorf("%s files were missing in FILES_URL when the backup copied them; repeat it, or restore them from an earlier backup", humanize.Comma(int64(copied.Missing)))
	}
	return errors.Join(reportCopied(ctx, copied, nil, stdout), err)
}

// backupFiles copies the files that the embedded database at path names.
func (p program) backupFiles(ctx context.Context, path string, to *files.Local, o files.CopyOptions, stderr io.Writer) (copied files.Copied, err error) {
	f, _, done, err := p.openFiles(ctx, path, stderr)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return copied, err
	}
	return f.Backup(ctx, to, o)
}

// isNew fails if the file exists.
func isNew(file string) error {
	_, err := os.Lstat(file)
	if err == nil {
		return fmt.Errorf("%s already exists; name a new file", file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
