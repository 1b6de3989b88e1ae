// Command bench measures the built service: requests per second, CPU time, latency and memory of typical requests.
//
// docs/performance.md and docs/reliability.md describe its use. --help lists its flags.
//
// It creates a database of N articles once and keeps the database in the user's cache directory. It measures a copy of the
// database, unless the database has more than 1,000,000 articles. To create up to 200,000 articles, 20 accounts send
// POST /articles on 32 connections to the service. A database with more articles is bulk-loaded, which leaves no fragments in the
// index of words; --bulk measures the cost of the fragments. Each server listens on a free port of the loopback interface, and
// has only the settings that an operator must choose, PUBLIC_URL and FILES_URL for pictures, and ADMIN. On each of 32 connections, a
// request follows the response to the previous request. The servers are measured in turn:
//
//	Ginseng       the service, also with other numbers of articles (--articles)
//	before        an older binary (--before)
//	bulk-loaded   the service with a bulk-loaded database, for searches (--bulk)
//	direct        a program written by hand with net/http, database/sql and the service's driver, statements and number of
//	              connections, on a copy of the database; only for single records, pages and, with http.ServeContent, downloads
//	zombiezen     the same with zombiezen.com/go/sqlite
//	PocketBase    a running PocketBase
//	bare handler  net/http that sends the same bytes as the service
//
// With --mongo, the service and a program written by hand with MongoDB's driver are measured on a database of a MongoDB server,
// and no other server.
//
// Before it measures direct and zombiezen, it checks that they send the same JSON and picture as the service.
//
// PocketBase is measured if these variables are set. It needs accounts, and a collection articles (title, content, author: a
// relation to users; created, updated) without articles: bench creates as many as the service has, with the same texts. Rows of
// pictures need the field avatar of users, which a new PocketBase has.
//
//	POCKETBASE_URL       http://127.0.0.1:8090
//	POCKETBASE_PID       the process whose version, memory and CPU time are read
//	POCKETBASE_EMAILS    email addresses of the accounts, separated by commas; rows with 20 users need 20
//	POCKETBASE_PASSWORD  password of each account
//
// The service keeps a replaced picture for an hour: each second of uploads needs about 200 MB of disk until bench ends.
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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/ginseng/testkit/process"
)

func main() {
	if len(os.Args) == 3 && commands[os.Args[1]] != nil {
		fmt.Fprintln(os.Stderr, "bench:", commands[os.Args[1]](os.Args[2]))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// commands has the servers that this program can run as, by the first argument. The second argument is a file. Each server runs
// in a separate process, which is measured.
var commands = map[string]func(file string) error{
	bareCommand: serveBare, directCommand: serveDirect, zombiezenCommand: serveZombiezen,
	driverCommand: serveDriver,
}

// minArticles is the smallest number of articles.
const minArticles = 1000

// maxCopied is the largest number of articles of which a copy is measured: disks may have no room for two larger databases.
const maxCopied = 1_000_000

type options struct {
	articles []int
	seconds  time.Duration // of each row and server, in all rounds
	wrk      bool
	minutes  time.Duration // duration of a soak test
	database string        // address of the database of a soak test
	mongo    string        // address of an empty MongoDB database: the service is measured there
	rows     *regexp.Regexp
	json     string
	chart    string
	attacks  bool
	before   string // path of an older binary, which is also measured
	bulk     bool   // searches are also measured on a bulk-loaded database
	dir      string // directory of the databases
	binary   string
}

const usage = `Measures the built service: requests per second, latency, memory and CPU time of typical requests.

Usage: go -C scripts/checks run ./bench [flags]                  measure
       go -C scripts/checks run ./bench --minutes N [flags]      run a soak test
       go -C scripts/checks run ./bench --attacks [flags]        measure attacks

Example: go -C scripts/checks run ./bench --before OLDER_BINARY --rows page

Exit codes: 0 success, 1 failure, 2 invalid usage.

Flags:
`

// run executes the command line and returns the exit code: 2 for invalid arguments, 1 for other errors.
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
		err = o.build(ctx, work)
	}
	switch {
	case err != nil:
	case o.minutes > 0:
		err = soak(ctx, o, stdout, stderr)
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
	o.articles = []int{100_000}
	flags.Func("articles", "`numbers` of articles, at least 1000, separated by commas (default 100000)", func(s string) (err error) {
		o.articles, err = parseArticles(s)
		return err
	})
	seconds := flags.Float64("seconds", 15, "measure each row of each server for these `seconds`, in five rounds")
	flags.BoolVar(&o.wrk, "wrk", false, "send the requests with wrk, except those for pictures; rounds take whole seconds")
	minutes := flags.Float64("minutes", 0, "run a soak test of this many `minutes` instead")
	flags.StringVar(&o.database, "database", "", "`DATABASE_URL` of the soak test (default: a temporary embedded database)")
	flags.StringVar(&o.mongo, "mongo", "", "measure on the empty MongoDB database at this `URL`, beside a program that uses only the driver")
	rows := flags.String("rows", "", "measure only rows whose name matches this `regexp`")
	flags.StringVar(&o.json, "json", "", "write all figures to this `file`")
	flags.StringVar(&o.chart, "chart", "", "draw the figures as SVG in this `file`")
	flags.StringVar(&o.binary, "binary", "", "measure this built `file` of the service (default: build one)")
	flags.BoolVar(&o.attacks, "attacks", false, "measure attacks by a few clients instead")
	flags.StringVar(&o.before, "before", "", "compare with this `file`, an older binary")
	flags.BoolVar(&o.bulk, "bulk", false, "compare searches with those on a bulk-loaded database, whose word index has no fragments")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || *seconds <= 0 || *minutes < 0 {
		flags.Usage()
		return o, errors.New("wrong arguments")
	}
	if o.before != "" && slices.Max(o.articles) > maxCopied {
		return o, fmt.Errorf("--before needs a copy of the database: at most %d articles", maxCopied)
	}
	if o.bulk && o.articles[0] > maxPosted {
		return o, fmt.Errorf("--bulk is for at most %d articles: more are bulk-loaded anyway", maxPosted)
	}
	o.seconds = time.Duration(*seconds * float64(time.Second))
	o.minutes = time.Duration(*minutes * float64(time.Minute))
	if o.rows, err = regexp.Compile(*rows); err != nil {
		return o, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return o, err
	}
	o.dir = filepath.Join(cache, "ginseng-bench-6") // raise the number if the accounts, the data or their index change
	// go -C changes to this module's directory; file names are relative to the caller's.
	if wd := os.Getenv("PWD"); wd != "" {
		return o, os.Chdir(wd)
	}
	return o, nil
}

func parseArticles(s string) (numbers []int, err error) {
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < minArticles {
			return nil, fmt.Errorf("%q is not a number of at least %d", part, minArticles)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// build builds the service in a directory, unless there is a binary to measure.
func (o *options) build(ctx context.Context, dir string) error {
	for _, file := range []*string{&o.before, &o.binary} {
		if *file == "" {
			continue
		}
		path, err := filepath.Abs(*file)
		if err != nil {
			return err
		}
		*file = path
	}
	if o.binary != "" {
		return nil
	}
	var err error
	o.binary, err = process.Build(ctx, dir)
	return err
}

// soak runs the soak test of internal/resilience on the built service.
func soak(ctx context.Context, o options, stdout, stderr io.Writer) error {
	test := exec.CommandContext(ctx, "go", "test", "./internal/resilience", "-count=1", "-v", "-timeout=0", "-run=^TestSoak$",
		"-args", "-soak="+o.minutes.String(), "-binary="+o.binary, "-database="+o.database)
	test.Stdout, test.Stderr = stdout, stderr
	test.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with the processes that go test starts
	test.Cancel = func() error { return syscall.Kill(-test.Process.Pid, syscall.SIGTERM) }
	return test.Run()
}

// bench measures all rows and prints the report.
func bench(ctx context.Context, o options, work string, stdout, stderr io.Writer) error {
	peer, err := findPeer(ctx, o.articles[0], stderr)
	if err != nil {
		return err
	}
	start := startServers
	if o.mongo != "" {
		start = startMongo
	}
	servers, err := start(ctx, o, work, stderr)
	defer func() {
		for _, s := range servers {
			s.stop()
		}
	}()
	if err != nil {
		return err
	}
	if peer != nil {
		servers = append(servers, peer.server())
	}
	report := newReport(o, servers)
	if err := report.measure(ctx, o, work, stderr); err != nil {
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
