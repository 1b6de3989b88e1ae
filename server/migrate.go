package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/gin-gonic/gin"
	"github.com/spf13/pflag"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/command"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/progress"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/settings"
)

// migratingRetry is the Retry-After of responses while a migration runs.
const migratingRetry = 10 * time.Second

// rejectWhileMigrating responds 503 while a migration runs, except to /livez.
func (h *Handler) rejectWhileMigrating(g *gin.Context) {
	if h.migrating.Load() && g.Request.URL.Path != livez {
		rest.Fail(g, apperr.New(apperr.Unavailable, "The service is migrating its stored data. Try again later.").WithRetryAfter(migratingRetry))
	}
}

// progressWriter returns the writer for the progress of a long task: stderr if it is a terminal, and otherwise the log.
func progressWriter(logger *slog.Logger, stderr io.Writer) io.Writer {
	if progress.IsTerminal(stderr) {
		return stderr
	}
	return lineWriter(func(line string) { logger.Info(line) })
}

// lineWriter is an io.Writer that calls the function with the data of each Write, which is one line.
type lineWriter func(line string)

func (f lineWriter) Write(data []byte) (int, error) {
	f(strings.TrimSpace(string(data)))
	return len(data), nil
}

const migrateUsage = `Usage: %[1]s migrate [--dry-run] [--again NAME] [--forget NAME]

Runs the pending migrations without serving; %[1]s serve runs them at start. A migration changes the stored documents of a
module to a new form, and is safe to interrupt and to repeat. The exit code is 1 if a migration fails.

Example:

	%[1]s migrate --dry-run

Flags:

`

func (p program) migrate(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := pflag.NewFlagSet("migrate", pflag.ContinueOnError)
	dryRun := flags.Bool("dry-run", false, "list the pending migrations, and what makes them fail, without running them")
	again := flags.String("again", "", "run the migration `NAME` even if it is done, for documents that old instances stored in the meantime")
	forget := flags.String("forget", "", "delete the record of the migration `NAME`, which was removed from the code, so that this version starts")
	if err := command.Parse(flags, fmt.Sprintf(migrateUsage, p.name), args, stdout); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; %w", flags.Arg(0), command.ErrUsage)
	}
	s, modules, _, err := p.load(settings.Load)
	if err != nil {
		return err
	}
	logger, flush := newLogger(s, stderr)
	defer flush()
	db, err := openDatabase(ctx, s.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	sender, err := email.New(s.Email, email.Options{Log: logger})
	if err != nil {
		return err
	}
	handler, err := p.assemble(s, modules, DepsOptions{DB: db, Log: logger, Sender: sender}, nil)
	if err != nil {
		return err
	}
	defer handler.close(ctx)
	runner := handler.Migrations
	runner.Log, runner.Progress = logger, progressWriter(logger, stderr)
	if *forget != "" {
		return runner.Forget(ctx, *forget)
	}
	if *dryRun {
		err = runner.CheckKnown(ctx)
	} else {
		err = prepare(ctx, db, runner, logger, databaseTimeout, databaseRetry)
	}
	if err != nil {
		return err
	}
	selected, err := runner.Pending(ctx)
	if err != nil {
		return err
	}
	if *again != "" {
		m, err := runner.Find(*again)
		if err != nil {
			return err
		}
		selected = []migrate.Migration{m}
	}
	if *dryRun {
		return dryRunMigrations(ctx, runner, selected, stdout)
	}
	if err := runner.Run(ctx, selected); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%d migrations completed\n", len(selected))
	return err
}

// dryRunMigrations prints the migrations. For each migration, it prints the number of documents in the collection, and the
// documents that make the migration fail. dryRunMigrations fails if a migration would fail.
func dryRunMigrations(ctx context.Context, runner *migrate.Runner, pending []migrate.Migration, w io.Writer) error {
	failed := 0
	for i, m := range pending {
		n, err := runner.Check(ctx, m, pending[:i])
		_, _ = fmt.Fprintf(w, "%s (%s documents): %s\n", m.Name, humanize.Comma(n), m)
		if err != nil {
			failed++
			_, _ = fmt.Fprintf(w, "%v\n", err)
		}
	}
	_, err := fmt.Fprintf(w, "%d migrations are pending\n", len(pending))
	if failed > 0 {
		return fmt.Errorf("%d of %d migrations would fail; nothing was changed", failed, len(pending))
	}
	return err
}
