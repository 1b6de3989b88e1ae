package job_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/process"
	"example.com/ginseng/testkit/testdb"
)

// service has several instances with the same database and clock.
type service struct {
	t     *testing.T
	db    store.DB
	clock *clock.Clock
	log   process.Buffer
}

func newService(t *testing.T) *service {
	t.Parallel()
	return &service{t: t, db: testdb.Open(t), clock: clock.At(time.Now())}
}

// instance returns the runner of a new instance.
func (s *service) instance(jobs ...job.Job) *job.Runner {
	s.t.Helper()
	r := job.New(s.db, s.clock.Now, slog.New(slog.NewTextHandler(&s.log, nil)), jobs...)
	if err := s.db.Prepare(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// due runs the due jobs on an instance, and checks how often the job has run so far.
func (s *service) due(r *job.Runner, runs *atomic.Int64, want int64) {
	s.t.Helper()
	if err := r.RunDue(s.t.Context()); err != nil || runs.Load() != want {
		s.t.Errorf("%d runs, %v, want %d", runs.Load(), err, want)
	}
}

func counting(name string, interval time.Duration, runs *atomic.Int64) job.Job {
	return job.Job{Name: name, Interval: interval, Run: func(context.Context) error {
		runs.Add(1)
		return nil
	}}
}

// TestSchedule runs a job immediately and then at its interval, on any instance.
func TestSchedule(t *testing.T) {
	s := newService(t)
	var runs atomic.Int64
	daily := counting("daily", 24*time.Hour, &runs)
	a, b := s.instance(daily), s.instance(daily)
	s.due(a, &runs, 1)
	s.due(b, &runs, 1)
	s.clock.Advance(24*time.Hour - time.Second)
	s.due(a, &runs, 1)
	s.clock.Advance(time.Second)
	s.due(b, &runs, 2)
	s.due(a, &runs, 2)
	s.due(s.instance(daily), &runs, 2)                               // a restart does not change the schedule
	s.due(s.instance(counting("daily", time.Hour, &runs)), &runs, 3) // a shorter interval changes the schedule
	s.clock.Advance(-48 * time.Hour)                                 // a clock that is set back also changes the schedule
	s.due(a, &runs, 4)
}

// TestOneInstance starts a job on many instances at the same time.
func TestOneInstance(t *testing.T) {
	s := newService(t)
	var runs atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		r := s.instance(counting("once", time.Minute, &runs))
		group.Go(func() {
			for range 3 {
				if err := r.RunDue(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if runs.Load() != 1 {
		t.Errorf("%d runs, want 1", runs.Load())
	}
}

// TestPause pauses an instance during a run. Another instance runs the job when the lease has ended. When the first instance
// continues, it must not change the new schedule.
func TestPause(t *testing.T) {
	s := newService(t)
	var runs atomic.Int64
	started, paused := make(chan struct{}), make(chan struct{})
	first := s.instance(job.Job{Name: "paused", Interval: time.Hour, Run: func(context.Context) error {
		close(started)
		<-paused
		return nil
	}})
	second := s.instance(counting("paused", time.Hour, &runs))
	ended := make(chan error)
	go func() { ended <- first.RunDue(t.Context()) }()
	<-started
	s.clock.Advance(10 * time.Minute)
	s.due(second, &runs, 0)
	s.clock.Advance(11 * time.Second)
	s.due(second, &runs, 1)
	close(paused)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	s.clock.Advance(59 * time.Minute)
	s.due(second, &runs, 1)
	s.clock.Advance(time.Minute)
	s.due(second, &runs, 2)
}

// TestFailure repeats a run that failed, panicked or exceeded its time limit.
func TestFailure(t *testing.T) {
	s := newService(t)
	other := errors.New("the printer is out of paper")
	outcomes := []func(context.Context) error{
		func(context.Context) error { return other },
		func(context.Context) error { panic("no paper") },
		func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		},
	}
	run := 0
	r := s.instance(job.Job{Name: "printer", Interval: time.Second, Run: func(ctx context.Context) error {
		run++
		return outcomes[run-1](ctx)
	}})
	for _, want := range []string{"printer is out of paper", "panic: no paper\ngoroutine ", "exceeded its time limit of 1s"} {
		if err := r.RunDue(t.Context()); err == nil || !strings.Contains(err.Error(), "job printer: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if err := r.RunDue(t.Context()); err != nil {
			t.Errorf("repeated immediately: %v", err)
		}
		s.clock.Advance(11 * time.Second)
	}
}

// TestRun runs jobs until the context ends, even after a job has failed, and checks the log and the metrics.
func TestRun(t *testing.T) {
	s := newService(t)
	ctx, cancel := context.WithCancel(t.Context())
	var runs atomic.Int64
	r := s.instance(
		job.Job{Name: "failing", Interval: time.Hour, Run: func(context.Context) error { return errors.New("no paper") }},
		job.Job{Name: "waiting", Interval: time.Hour, Run: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}},
		counting("repeated", time.Second, &runs),
	)
	ended := make(chan struct{})
	go func() {
		r.Run(ctx)
		close(ended)
	}()
	deadline := time.Now().Add(time.Minute)
	for runs.Load() < 3 || !strings.Contains(s.log.String(), "no paper") {
		if time.Now().After(deadline) {
			t.Fatalf("%d runs, log:\n%s", runs.Load(), s.log.String())
		}
		s.clock.Advance(time.Second)
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	<-ended
	if log := s.log.String(); !strings.Contains(log, `level=ERROR msg="job failed" job=failing error="no paper"`) || strings.Contains(log, "waiting") {
		t.Errorf("log:\n%s", log)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(r.Collectors()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var metrics []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			metrics = append(metrics, f.GetName()+" "+m.GetLabel()[0].GetValue())
		}
	}
	if got, want := strings.Join(metrics, ", "), "job_duration_seconds failing, job_duration_seconds repeated, job_duration_seconds waiting, "+
		"job_failures_total failing, job_failures_total waiting, job_last_success_timestamp_seconds repeated"; got != want {
		t.Errorf("metrics %s, want %s", got, want)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	run := func(context.Context) error { return nil }
	valid := job.Job{Name: "a", Interval: time.Second, Run: run}
	for name, jobs := range map[string][]job.Job{
		"no name":     {{Interval: time.Second, Run: run}},
		"no interval": {{Name: "a", Run: run}},
		"no function": {{Name: "a", Interval: time.Second}},
		"same name":   {valid, valid},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			job.New(testdb.Open(t), time.Now, slog.New(slog.DiscardHandler), jobs...)
		})
	}
}

// TestGuide checks that the guide contains the code of the example.
func TestGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(guide, -1)
	if len(blocks) == 0 {
		t.Error("the guide has no code")
	}
	for _, block := range blocks {
		if !bytes.Contains(example, block[1]) {
			t.Errorf("example_test.go does not have:\n%s", block[1])
		}
	}
}
