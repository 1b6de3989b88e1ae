package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/ginseng/internal/resilience"
	"example.com/ginseng/kit/testkit/process"
)

// Limits of a soak. What is measured in the first third of the time is the warm-up.
const (
	soakClients    = 16
	moreMemory     = 10 // percent, from the second third to the last
	moreFiles      = 4  // open files and connections, likewise
	idleGoroutines = 40 // of an idle service
)

// soak loads the built service with clients that check every response, and prints a row per interval and a table at the
// end. It returns an error if memory or open files grew, a request failed, or acknowledged data is missing.
func soak(ctx context.Context, o options, out io.Writer) error {
	dir, err := os.MkdirTemp("", "ginseng-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	data := filepath.Join(dir, "data")
	cmd := exec.CommandContext(context.WithoutCancel(ctx), o.binary)
	cmd.Dir = dir
	cmd.Env = []string{
		"APP_ENV=production", "HOST=127.0.0.1", "PORT=0", "LOG_LEVEL=warn", "MASTER_KEY=" + masterKey, "JWT_SECRET=" + jwtSecret,
		"DATABASE_URL=" + cmp.Or(o.database, "sqlite:"+filepath.Join(data, "soak.db")), "GOMEMLIMIT=200MiB", "GOGC=300", // as in the Dockerfile
	}
	p, err := process.Start(cmd)
	if err != nil {
		return err
	}
	defer p.Stop(os.Kill) // no effect unless an error ended the soak early
	load, err := resilience.NewLoad(ctx, p.URL, masterKey, soakClients)
	if err != nil {
		return err
	}
	load.Start()
	samples := sample(ctx, o, load, func() sampled {
		return sampled{memory: p.Memory(), files: p.Files(), database: directorySize(data)}
	}, out)
	load.Stop()
	verdict, err := load.Check(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	err = evaluate(samples, verdict, out)
	goroutines := 0
	for _, n := range p.Goroutines() { // ends the process
		goroutines += n
	}
	fmt.Fprintf(out, "%d goroutines when idle\n", goroutines)
	if goroutines == 0 || goroutines > idleGoroutines {
		err = errors.Join(err, fmt.Errorf("%d goroutines when idle, limit %d", goroutines, idleGoroutines))
	}
	return err
}

// sampled is what was measured in one interval, or the mean of several.
type sampled struct {
	perSecond float64
	p99       time.Duration
	failed    int
	memory    int64
	files     int
	database  int64
}

func (s sampled) String() string {
	return fmt.Sprintf("| %.0f | %s | %d | %s | %d | %s |", s.perSecond, milliseconds(s.p99), s.failed, mebibytes(s.memory), s.files, mebibytes(s.database))
}

const soakHeader = "| req/s | p99 ms | failed | memory MiB | open files | database MiB |\n"

// sample prints and returns a row for each interval until the time is over.
func sample(ctx context.Context, o options, load *resilience.Load, measure func() sampled, out io.Writer) (samples []sampled) {
	fmt.Fprint(out, "| time ", soakHeader)
	started := time.Now()
	last := started
	ticker := time.NewTicker(min(10*time.Second, o.minutes/12))
	defer ticker.Stop()
	ctx, cancel := context.WithTimeout(ctx, o.minutes)
	defer cancel()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return samples
		}
		s, now := measure(), time.Now()
		s.add(load.Take(), now.Sub(last))
		last = now
		samples = append(samples, s)
		fmt.Fprintf(out, "| %s %s\n", now.Sub(started).Round(time.Second), s)
	}
}

// add adds the requests of an interval.
func (s *sampled) add(requests []resilience.Sample, interval time.Duration) {
	if len(requests) == 0 {
		return
	}
	times := make([]time.Duration, 0, len(requests))
	for _, r := range requests {
		if r.Failed() {
			s.failed++
		}
		times = append(times, r.Took)
	}
	slices.Sort(times)
	s.perSecond = float64(len(times)) / interval.Seconds()
	s.p99 = times[len(times)*99/100]
}

func directorySize(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // a file that was deleted meanwhile
		}
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}

// evaluate prints a row for each third of the time and compares them.
func evaluate(samples []sampled, v resilience.Verdict, out io.Writer) (err error) {
	if len(samples) < 3 {
		return errors.New("too short: at least three intervals are needed")
	}
	fmt.Fprint(out, "\n| third ", soakHeader, "| :-- | --: | --: | --: | --: | --: | --: |\n")
	var thirds [3]sampled
	failed := 0
	for i, name := range []string{"first", "second", "last"} {
		thirds[i] = mean(samples[i*len(samples)/3 : (i+1)*len(samples)/3])
		fmt.Fprintln(out, "|", name, thirds[i])
		failed += thirds[i].failed
	}
	fmt.Fprintf(out, "\n%d records created; %d requests failed\n", v.Created, failed)
	second, last := thirds[1], thirds[2]
	if last.memory*100 > second.memory*(100+moreMemory) {
		err = fmt.Errorf("memory grows: %s MiB, then %s MiB", mebibytes(second.memory), mebibytes(last.memory))
	}
	if last.files > second.files+moreFiles {
		err = errors.Join(err, fmt.Errorf("open files grow: %d, then %d", second.files, last.files))
	}
	if failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d requests failed", failed))
	}
	if len(v.Wrong) > 0 {
		err = errors.Join(err, fmt.Errorf("wrong responses or data:\n%s", strings.Join(v.Wrong, "\n")))
	}
	return err
}

// mean is the mean of some samples, with the sum of their failures and the last size of the database.
func mean(samples []sampled) (m sampled) {
	n := len(samples)
	for _, s := range samples {
		m.perSecond += s.perSecond / float64(n)
		m.p99 += s.p99 / time.Duration(n)
		m.memory += s.memory / int64(n)
		m.files += s.files
		m.failed += s.failed
		m.database = s.database
	}
	m.files /= n
	return m
}
