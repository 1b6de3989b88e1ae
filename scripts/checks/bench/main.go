// Command bench measures the built service: requests per second, latency, memory and CPU time of typical requests.
//
// From the root of the repository:
//
//	go -C scripts/checks run ./bench [--articles N] [--seconds S] [--rows REGEXP] [--json FILE] [--chart FILE.svg]
//	go -C scripts/checks run ./bench --minutes 10 [--database URL]
//	go -C scripts/checks run ./bench --attacks [--before FILE] [--chart FILE.svg]
//
// It creates N articles through the service's API, once, and keeps the database for the next run in the user's cache
// directory (--dir); it measures a copy. Each server listens on a free port of the loopback interface; there is one with N
// articles and one with 10,000. On each of 32 connections, the next request follows the response to the one before. Each
// row also has the rate of a bare net/http handler that sends the same bytes.
//
// With --minutes it runs a soak test instead: 16 clients that check every response use the service for this time. It fails
// if a request fails, if memory or open files grow, or if acknowledged data is missing.
//
// With --attacks it measures the memory of the service and the latency of one client while others attack it.
//
// If a PocketBase is running, its figures for the same requests are added, and the service's with as many articles. It
// needs a collection articles (title, content, author: a relation to users; created, updated), and these variables:
//
//	POCKETBASE_URL       http://127.0.0.1:8090
//	POCKETBASE_PID       the process whose memory and CPU time are measured
//	POCKETBASE_TOKEN     a token of the user who wrote the articles
//	POCKETBASE_USER      the user's ID
//	POCKETBASE_EMAIL     the user's email and password, to sign in
//	POCKETBASE_PASSWORD
//
// Memory and CPU time are read from /proc: bench runs on Linux.
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

// small is the number of articles to which the main figures are compared.
const small = 10_000

type options struct {
	articles int
	seconds  time.Duration
	minutes  time.Duration // of a soak test
	database string        // of a soak test
	rows     *regexp.Regexp
	json     string
	chart    string
	attacks  bool
	before   string // another binary to attack
	dir      string
	binary   string
}

const usage = `Measures the built service: requests per second, latency, memory and CPU time of typical requests.

Usage: go -C scripts/checks run ./bench [flags]                  measure
       go -C scripts/checks run ./bench --minutes N [flags]      run a soak test
       go -C scripts/checks run ./bench --attacks [flags]        measure attacks

Example: go -C scripts/checks run ./bench --articles 20000 --seconds 1 --rows page

Exit codes: 0 success, 1 failure, 2 invalid usage.

Flags:
`

// run is main without the process: it returns the exit code, 2 for wrong arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	work, err := os.MkdirTemp("", "ginseng-bench-")
	if err == nil {
		defer os.RemoveAll(work)
		err = o.build(ctx, work, stderr)
	}
	switch {
	case err != nil:
	case o.minutes > 0:
		err = soak(ctx, o, stdout)
	case o.attacks:
		err = measureAttacks(ctx, o, work, stdout, stderr)
	default:
		err = bench(ctx, o, work, stdout, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.IntVar(&o.articles, "articles", 1_000_000, "`number` of articles, at least 1000")
	seconds := flags.Float64("seconds", 3, "duration of each row, in `seconds`")
	minutes := flags.Float64("minutes", 0, "run a soak test of this many `minutes` instead")
	flags.StringVar(&o.database, "database", "", "`DATABASE_URL` of the soak test (default: a temporary embedded database)")
	rows := flags.String("rows", "", "measure only rows whose name matches this `regexp`")
	flags.StringVar(&o.json, "json", "", "write all figures to this `file`")
	flags.StringVar(&o.chart, "chart", "", "draw the figures as SVG in this `file`")
	flags.StringVar(&o.dir, "dir", "", "keep the databases in this `directory` (default: ginseng-bench-2 in the cache directory)")
	flags.StringVar(&o.binary, "binary", "", "measure this built `file` of the service (default: build one)")
	flags.BoolVar(&o.attacks, "attacks", false, "measure attacks by a few clients instead")
	flags.StringVar(&o.before, "before", "", "measure the attacks on this `file`, too, an older binary")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.articles < 1000 || *seconds <= 0 || *minutes < 0 {
		flags.Usage()
		return o, errors.New("wrong arguments")
	}
	o.seconds = time.Duration(*seconds * float64(time.Second))
	o.minutes = time.Duration(*minutes * float64(time.Minute))
	if o.rows, err = regexp.Compile(*rows); err != nil {
		return o, err
	}
	if o.dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return o, err
		}
		o.dir = filepath.Join(cache, "ginseng-bench-2") // raise the number if the accounts or the data change
	}
	// go -C changes to this module's directory; file names are relative to the caller's.
	if wd := os.Getenv("PWD"); wd != "" {
		return o, os.Chdir(wd)
	}
	return o, nil
}

// build builds the service in a directory, unless there is a binary to measure.
func (o *options) build(ctx context.Context, dir string, stderr io.Writer) (err error) {
	if o.binary != "" {
		o.binary, err = filepath.Abs(o.binary)
		return err
	}
	o.binary = filepath.Join(dir, "ginseng")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "nomsgpack,validator_novalidatefn", "-ldflags", "-s -w",
		"-o", o.binary, ".")
	build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the service (run bench in the root of the repository): %w", err)
	}
	return nil
}

// bench measures all rows and prints the report.
func bench(ctx context.Context, o options, work string, stdout, stderr io.Writer) error {
	peer, err := findPeer(ctx)
	if err != nil {
		return err
	}
	report := newReport(o, peer)
	servers, stop, err := startServers(ctx, o, peer, work, stderr, report)
	defer stop()
	if err != nil {
		return err
	}
	if err := measureRows(ctx, o, servers, report, stderr); err != nil {
		return err
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
