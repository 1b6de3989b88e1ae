// Command bench loads the built service as its users would and prints one table of what it does: how many requests a
// second, how long they take, how much memory and CPU they cost.
//
// From the project's root:
//
//	go -C scripts/checks run ./bench [--articles N] [--seconds S] [--rows REGEXP] [--json FILE] [--chart FILE.svg]
//
// It seeds N articles through the service's own API, once, and keeps the database for the next time in the user's cache
// folder (--dir); what it measures is a copy. It starts each server it needs on a free port of the loopback interface,
// one for N articles and one for 10,000, and ends it. 32 connections ask for one thing at a time; the next request of a
// connection follows the answer to the one before.
//
// Beside each row stands what a bare net/http handler that answers the same bytes does on this machine.
//
// If a PocketBase is up, its figures for the same work stand there too, with the service's at PocketBase's number of
// records. It needs a collection articles (title, content, author: a relation to users; created, updated), and these
// variables:
//
//	POCKETBASE_URL       http://127.0.0.1:8090
//	POCKETBASE_PID       its process, whose memory and CPU are read
//	POCKETBASE_TOKEN     of the user who wrote the articles
//	POCKETBASE_USER      that user's id
//	POCKETBASE_EMAIL     that user's e-mail and password, for signing in
//	POCKETBASE_PASSWORD
//
// The module is apart from the service's, so that what draws the chart is none of its dependencies. Memory and CPU are
// read from /proc: it runs on Linux.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == bareCommand {
		if err := serveBare(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// small is the number of articles that the main figures are held against, to show what growth costs.
const small = 10_000

type options struct {
	articles int
	seconds  time.Duration
	rows     *regexp.Regexp
	json     string
	chart    string
	dir      string
	binary   string
}

// run is main without the process: it returns the exit code, 2 for a wrong command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	if err := bench(ctx, o, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.articles, "articles", 1_000_000, "how many articles there are, at least 1000")
	seconds := flags.Float64("seconds", 3, "how long each row is loaded")
	rows := flags.String("rows", "", "measure only the rows whose name this `regexp` matches")
	flags.StringVar(&o.json, "json", "", "write every figure to this `file`")
	flags.StringVar(&o.chart, "chart", "", "draw the figures into this `file`, an SVG")
	flags.StringVar(&o.dir, "dir", "", "keep the databases in this `folder` (default: ginseng-bench in the cache folder)")
	flags.StringVar(&o.binary, "binary", "", "measure this built `file` of the service (default: build one)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.articles < 1000 || *seconds <= 0 {
		flags.Usage()
		return o, errors.New("wrong command line")
	}
	o.seconds = time.Duration(*seconds * float64(time.Second))
	if o.rows, err = regexp.Compile(*rows); err != nil {
		return o, err
	}
	if o.dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return o, err
		}
		o.dir = filepath.Join(cache, "ginseng-bench")
	}
	// go -C moves to this module; what the caller names is seen from where the caller stands.
	if wd := os.Getenv("PWD"); wd != "" {
		return o, os.Chdir(wd)
	}
	return o, nil
}

func bench(ctx context.Context, o options, stdout, stderr io.Writer) error {
	work, err := os.MkdirTemp("", "ginseng-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if o.binary == "" {
		o.binary = filepath.Join(work, "ginseng")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "nomsgpack,validator_novalidatefn", "-ldflags", "-s -w",
			"-o", o.binary, ".")
		build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("the service cannot be built; run this from the project's root: %w", err)
		}
	} else if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	peer, err := findPeer(ctx)
	if err != nil {
		return err
	}
	report := newReport(o, peer)
	subjects, stop, err := start(ctx, o, peer, work, stderr, report)
	defer stop()
	if err != nil {
		return err
	}
	for _, row := range rows {
		if !o.rows.MatchString(row.name) {
			continue
		}
		line, err := row.measure(ctx, o, subjects, stderr)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		report.Rows = append(report.Rows, line)
	}
	if isTerminal(stderr) {
		fmt.Fprint(stderr, clearLine)
	}
	report.print(stdout)
	if o.json != "" {
		if err := report.save(o.json); err != nil {
			return err
		}
	}
	if o.chart != "" {
		return report.draw(o.chart)
	}
	return nil
}

// subjects are the servers that are measured.
type subjects struct {
	main  *service // with as many articles as was asked for
	small *service // with 10,000; nil where main has no more
	equal *service // with as many as the peer; nil without one
	peer  *peer    // nil if none is up
}

// start seeds, then starts the servers. stop ends those that were started, whatever the error.
func start(
	ctx context.Context, o options, p *peer, work string, stderr io.Writer, r *report,
) (s subjects, stop func(), err error) {
	running := make(map[int]*service)
	stop = func() {
		for _, service := range running {
			service.stop()
		}
	}
	sized := func(articles int) (*service, error) {
		if running[articles] != nil {
			return running[articles], nil
		}
		set, err := seed(ctx, o, articles, stderr)
		if err != nil {
			return nil, err
		}
		database := filepath.Join(work, filepath.Base(set.file))
		if err := copyFile(database, set.file); err != nil {
			return nil, err
		}
		took, err := startUp(ctx, o.binary, database)
		if err != nil {
			return nil, err
		}
		r.StartUp = append(r.StartUp, startUpTime{articles, took})
		service, err := startService(ctx, o.binary, database)
		if err != nil {
			return nil, err
		}
		running[articles] = service
		service.data = set
		return service, service.prepare(ctx, stderr)
	}
	if s.main, err = sized(o.articles); err != nil {
		return s, stop, err
	}
	if o.articles > small {
		if s.small, err = sized(small); err != nil {
			return s, stop, err
		}
	}
	if p != nil {
		s.peer = p
		s.equal, err = sized(p.articles)
	}
	return s, stop, err
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
