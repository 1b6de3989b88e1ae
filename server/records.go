package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/command"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/exchange"
	"example.com/ginseng/kit/progress"
	"example.com/ginseng/kit/records"
	"example.com/ginseng/kit/settings"
)

const importUsage = `Usage: %[1]s import [--format FORMAT] [--dry-run] [--update-by FIELD] RESOURCE FILE

Stores the records of a file, with the rules of the API: one JSON object per line (NDJSON), or CSV whose first line has the
names of the fields. The FILE - is the standard input. Stop the service first, unless the database is MongoDB.

A record whose id is already stored is not changed, so that the same command continues an import that was interrupted. Lines
with errors are reported, and the exit code is 1. The other lines are stored.

Example:

	%[1]s import articles articles.ndjson

Flags:

`

const exportUsage = `Usage: %[1]s export [--format FORMAT] RESOURCE [FILE]

Writes all records of a resource, with all fields that the API shows. Without a FILE, or with the FILE -, the records are
written to the standard output, by default as NDJSON. Stop the service first, unless the database is MongoDB.

Example:

	%[1]s export articles articles.csv

Flags:

`

// maxPrinted is the maximum number of rejected lines that import prints.
const maxPrinted = 20

const formatUsage = "`FORMAT` of the file, ndjson or csv (default the extension of FILE)"

func (p program) importRecords(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := pflag.NewFlagSet("import", pflag.ContinueOnError)
	format := flags.String("format", "", formatUsage)
	o := records.ImportOptions{}
	flags.BoolVar(&o.DryRun, "dry-run", false, "check the lines, and store nothing")
	flags.StringVar(&o.UpdateBy, "update-by", "", "update the record that has the same value of `FIELD` (id or a unique field); fields that are not in the file stay unchanged")
	if err := command.Parse(flags, fmt.Sprintf(importUsage, p.name), args, stdout); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return fmt.Errorf("a RESOURCE and a FILE are needed; %w", command.ErrUsage)
	}
	name := flags.Arg(1)
	o.Resource = flags.Arg(0)
	if o.Format, err = exchange.FormatOf(name, *format); err != nil {
		return fmt.Errorf("%w; %w", err, command.ErrUsage)
	}
	in, size, closeFile, err := input(name)
	if err != nil {
		return err
	}
	defer closeFile()
	service, done, err := p.records(ctx, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	rejected := 0
	o.Reject = func(line int, err error) {
		if rejected++; rejected <= maxPrinted {
			_, _ = fmt.Fprintf(stderr, "%s:%d: %s\n", name, line, reason(err))
		}
	}
	read := &meter{Reader: in, bar: progress.Start(stderr, "import", "kB", max(size/kilobyte, -1))}
	result, err := service.Import(ctx, read, o)
	read.bar.Stop()
	if rejected > maxPrinted {
		_, _ = fmt.Fprintf(stderr, "… and %s more lines\n", humanize.Comma(int64(rejected-maxPrinted)))
	}
	return reportImport(ctx, stdout, o, result, err)
}

// reportImport prints the result. err is the error of the import. reportImport fails if err is not nil, or if lines were
// rejected.
func reportImport(ctx context.Context, stdout io.Writer, o records.ImportOptions, r records.Result, err error) error {
	n := func(n int) string { return humanize.Comma(int64(n)) }
	stored := n(r.Created) + " created"
	if o.UpdateBy != "" {
		stored += ", " + n(r.Updated) + " updated"
	} else {
		stored += ", " + n(r.Kept) + " stored before"
	}
	if o.DryRun {
		stored += " (dry run: nothing is stored)"
	}
	_, _ = fmt.Fprintf(stdout, "%s: %s, %s rejected\n", o.Resource, stored, n(r.Rejected))
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("the import was interrupted; the same command continues it")
	case err != nil:
		return fmt.Errorf("the import is not complete: %w; after a correction, the same command continues it", err)
	case r.Rejected > 0:
		return fmt.Errorf("%s lines were rejected; correct them and run the same command again", n(r.Rejected))
	}
	return nil
}

func (p program) exportRecords(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := pflag.NewFlagSet("export", pflag.ContinueOnError)
	format := flags.String("format", "", formatUsage)
	if err := command.Parse(flags, fmt.Sprintf(exportUsage, p.name), args, stdout); err != nil {
		return err
	}
	if flags.NArg() < 1 || flags.NArg() > 2 {
		return fmt.Errorf("a RESOURCE is needed, and at most one FILE; %w", command.ErrUsage)
	}
	file := flags.Arg(1)
	toStdout := file == "" || file == "-"
	if toStdout && *format == "" {
		*format = string(exchange.NDJSON)
	}
	o := records.ExportOptions{Resource: flags.Arg(0)}
	if o.Format, err = exchange.FormatOf(file, *format); err != nil {
		return fmt.Errorf("%w; %w", err, command.ErrUsage)
	}
	service, done, err := p.records(ctx, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	total, err := service.Count(ctx, o.Resource)
	if err != nil {
		return err
	}
	write := func(out io.Writer) error {
		bar := progress.Start(stderr, "export", "records", total)
		o.Progress = func(n int) { bar.Add(int64(n)) }
		buffered := bufio.NewWriterSize(out, 64<<10)
		err := service.Export(ctx, buffered, o)
		bar.Stop()
		if err != nil && ctx.Err() != nil {
			return errors.New("the export was interrupted")
		}
		return errors.Join(err, buffered.Flush())
	}
	if toStdout {
		return write(stdout)
	}
	return toNewFile(file, write)
}

// toNewFile calls write with a new file, and removes the file after an error.
func toNewFile(name string, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// records opens the database, and returns the resources of the service. done closes the database.
func (p program) records(ctx context.Context, stderr io.Writer) (service *records.Service, done func() error, err error) {
	handler, done, err := p.open(ctx, stderr)
	if err != nil {
		return nil, nil, err
	}
	return records.NewService(handler.deps), done, nil
}

// open opens the database, and returns the handler of the service. done closes the database. open fails if a migration is pending.
func (p program) open(ctx context.Context, stderr io.Writer) (handler *Handler, done func() error, err error) {
	return p.openWith(ctx, stderr, func(s Settings, o *DepsOptions) (err error) {
		o.DB, err = openDatabase(ctx, s.DatabaseURL)
		return err
	})
}

// openWith is like open, with a function that opens the database, and what else the command needs.
func (p program) openWith(ctx context.Context, stderr io.Writer, connect func(Settings, *DepsOptions) error) (handler *Handler, done func() error, err error) {
	s, modules, _, err := p.load(settings.Load)
	if err != nil {
		return nil, nil, err
	}
	logger, flush := newLogger(s, stderr)
	o := DepsOptions{Log: logger}
	if err := connect(s, &o); err != nil {
		flush()
		return nil, nil, err
	}
	closeAll := func() error {
		defer flush()
		if handler != nil {
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
			defer cancel()
			handler.close(closing)
		}
		return o.DB.Close()
	}
	err = func() error {
		if o.Sender, err = email.New(s.Email, email.Options{Log: logger}); err != nil {
			return err
		}
		if handler, err = p.assemble(s, modules, o, nil); err != nil {
			return err
		}
		if err := prepare(ctx, o.DB, handler.Migrations, logger, databaseTimeout, databaseRetry); err != nil {
			return err
		}
		pending, err := handler.Migrations.Pending(ctx)
		if err == nil && len(pending) > 0 {
			err = fmt.Errorf("the migration %s is pending; run %s migrate first", pending[0].Name, p.name)
		}
		return err
	}()
	if err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	return handler, closeAll, nil
}

// input opens the file of an import. If the size is unknown, size is negative.
func input(name string) (in io.Reader, size int64, closeFile func(), err error) {
	if name == "-" {
		return os.Stdin, -kilobyte, func() {}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, nil, err
	}
	size = -kilobyte
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return file, size, func() { _ = file.Close() }, nil
}

const kilobyte = 1000

// meter shows how much of a file has been read.
type meter struct {
	io.Reader
	bar  *progress.Bar
	read int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	before := m.read / kilobyte
	m.read += int64(n)
	m.bar.Add(m.read/kilobyte - before)
	return n, err
}

// reason returns why a line was rejected.
func reason(err error) string {
	var e *apperr.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if len(e.Fields) == 0 {
		return e.Message
	}
	var all []string
	for _, f := range e.Fields {
		all = append(all, strings.TrimPrefix(f.Param+": "+f.Message, ": "))
	}
	return strings.Join(all, " ")
}
