// Command soak loads the built service for minutes, as fast as it answers, and says whether it stayed as it was: whether
// its memory and open files are flat, no request failed, and all that was answered is there.
//
//	go run ./scripts/soak --minutes 10
//	go run ./scripts/soak --minutes 10 --database mongodb://127.0.0.1:27017/soak
//
// It runs in the root of the module. The exit code is 1 if something is not as it must be.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/ginseng/internal/resilience"
	"example.com/ginseng/kit/testkit/process"
)

// options are the command line's.
type options struct {
	lasts    time.Duration
	every    time.Duration
	clients  int
	database string
}

func main() {
	var o options
	minutes := flag.Float64("minutes", 10, "how long to load the service")
	seconds := flag.Float64("seconds", 0, "the same in seconds, for a try")
	flag.DurationVar(&o.every, "every", 10*time.Second, "how often to print a line")
	flag.IntVar(&o.clients, "clients", 16, "how many clients there are, each with one request at a time")
	flag.StringVar(&o.database, "database", "", "DATABASE_URL; the embedded engine in a temporary folder, if it is not given")
	flag.Parse()
	if o.lasts = time.Duration(*minutes * float64(time.Minute)); *seconds > 0 {
		o.lasts = time.Duration(*seconds * float64(time.Second))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		stop()
		os.Exit(1)
	}
}

// run builds, starts and loads the service, and writes a line now and then and a table at the end.
func run(ctx context.Context, o options, out io.Writer) error {
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	data := filepath.Join(dir, "data")
	if o.database == "" {
		o.database = "sqlite:" + filepath.Join(data, "soak.db")
	}
	key := rand.Text() + rand.Text()
	p, err := serve(ctx, dir, "DATABASE_URL="+o.database, "MASTER_KEY="+key, "JWT_SECRET="+key)
	if err != nil {
		return err
	}
	defer p.Stop(os.Kill) // it has ended, unless something went wrong
	load, err := resilience.NewLoad(ctx, p.URL, key, o.clients)
	if err != nil {
		return err
	}
	load.Start()
	rows := measure(ctx, o, load, func() row {
		return row{memory: p.Memory(), files: p.Files(), database: size(data)}
	}, out)
	load.Stop()
	verdict, err := load.Check(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	return errors.Join(judge(rows, verdict, out), rest(p, out))
}

// serve builds the service and starts it.
func serve(ctx context.Context, dir string, env ...string) (*process.Process, error) {
	binary, err := process.Build(ctx, dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), binary)
	cmd.Dir = dir
	cmd.Env = append(env, "APP_ENV=production", "HOST=127.0.0.1", "PORT=0", "LOG_LEVEL=warn")
	return process.Start(cmd)
}

// row is what was measured in one interval, or in several.
type row struct {
	at        time.Duration
	perSecond float64
	p50, p99  time.Duration
	failed    int
	memory    int64
	files     int
	database  int64
}

const header = "      time    req/s   p50 ms   p99 ms  failed  memory MiB  files  database MiB\n"

func (r row) String() string {
	return fmt.Sprintf("%10s %8.0f %8.1f %8.1f %7d %11.1f %6d %13.1f", r.at.Round(time.Second), r.perSecond, ms(r.p50), ms(r.p99), r.failed,
		mib(r.memory), r.files, mib(r.database))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// measure writes a line for each interval, until the time is over.
func measure(ctx context.Context, o options, load *resilience.Load, look func() row, out io.Writer) (rows []row) {
	_, _ = io.WriteString(out, header)
	begun := time.Now()
	last := begun
	ticker := time.NewTicker(o.every)
	defer ticker.Stop()
	ctx, cancel := context.WithTimeout(ctx, o.lasts)
	defer cancel()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return rows
		}
		r := look()
		now := time.Now()
		r.at = now.Sub(begun)
		r.sum(load.Take(), now.Sub(last))
		last = now
		rows = append(rows, r)
		_, _ = fmt.Fprintln(out, r)
	}
}

// sum puts together what became of the requests of an interval.
func (r *row) sum(samples []resilience.Sample, took time.Duration) {
	times := make([]time.Duration, 0, len(samples))
	for _, s := range samples {
		if s.Failed() {
			r.failed++
		}
		times = append(times, s.Took)
	}
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	r.perSecond = float64(len(times)) / took.Seconds()
	r.p50, r.p99 = times[len(times)/2], times[len(times)*99/100]
}

// size is what the files of a folder take.
func size(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}

// judge writes the thirds of the time as a table, and compares them. What was measured in the first is the warm-up.
func judge(rows []row, v resilience.Verdict, out io.Writer) error {
	if len(rows) < 3 {
		return errors.New("too short to compare: at least three lines are needed; see --every")
	}
	var thirds [3]row
	for i := range thirds {
		thirds[i] = mean(rows[i*len(rows)/3 : (i+1)*len(rows)/3])
	}
	_, _ = io.WriteString(out, "\n| third | req/s | p99 ms | failed | memory MiB | open files | database MiB |\n| :-- | --: | --: | --: | --: | --: | --: |\n")
	for i, r := range thirds {
		_, _ = fmt.Fprintf(out, "| %s | %.0f | %.1f | %d | %.1f | %d | %.1f |\n", []string{"first", "second", "last"}[i],
			r.perSecond, ms(r.p99), r.failed, mib(r.memory), r.files, mib(r.database))
	}
	_, _ = fmt.Fprintf(out, "\n%d records were answered 201; %d requests failed\n", v.Created, thirds[0].failed+thirds[1].failed+thirds[2].failed)
	return errors.Join(compare(thirds), broken(v))
}

// mean is the middle of several rows, with all their failures and the size at the end.
func mean(rows []row) (m row) {
	n := len(rows)
	for _, r := range rows {
		m.perSecond += r.perSecond / float64(n)
		m.p99 += r.p99 / time.Duration(n)
		m.memory += r.memory / int64(n)
		m.files += r.files
		m.failed += r.failed
		m.database = r.database
	}
	m.files /= n
	return m
}

// compare finds what grew from the second third to the last.
func compare(thirds [3]row) (err error) {
	const moreMemory, moreFiles = 10, 4 // percent; files and connections
	second, last := thirds[1], thirds[2]
	if last.memory*100 > second.memory*(100+moreMemory) {
		err = fmt.Errorf("the memory grows: %.1f MiB, then %.1f MiB", mib(second.memory), mib(last.memory))
	}
	if last.files > second.files+moreFiles {
		err = errors.Join(err, fmt.Errorf("the open files grow: %d, then %d", second.files, last.files))
	}
	for _, r := range thirds {
		if r.failed > 0 {
			err = errors.Join(err, fmt.Errorf("%d requests failed in a third", r.failed))
		}
	}
	return err
}

func broken(v resilience.Verdict) error {
	if len(v.Wrong) == 0 {
		return nil
	}
	return fmt.Errorf("promises were broken:\n%s", strings.Join(v.Wrong, "\n"))
}

// goroutines is how many a service may have that nobody uses.
const goroutines = 40

// rest ends the service, and looks at its goroutines.
func rest(p *process.Process, out io.Writer) error {
	running := 0
	for _, n := range p.Goroutines() {
		running += n
	}
	_, _ = fmt.Fprintf(out, "%d goroutines run at rest\n", running)
	if running == 0 || running > goroutines {
		return fmt.Errorf("%d goroutines run at rest, of at most %d", running, goroutines)
	}
	return nil
}
