package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
)

// TestList shows the runs of a job on another instance: before the first run, during a run, and after each kind of result.
func TestList(t *testing.T) {
	s := newService(t)
	begun, end := make(chan struct{}), make(chan error)
	runs := job.Job{Name: "b", Interval: time.Hour, Run: func(ctx context.Context) error {
		begun <- struct{}{}
		select {
		case err := <-end:
			if errors.Is(err, errPanic) {
				panic(err)
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	idle := counting("a", time.Minute, new(atomic.Int64))
	first, second := s.instance(runs), s.instance(runs, idle)
	zero := s.clock.Now()
	shown := func(want string) {
		t.Helper()
		list, err := second.List(t.Context())
		if err != nil || len(list) != 2 || list[0].Name != "a" || list[0].Interval != time.Minute {
			t.Fatalf("%v, %v", list, err)
		}
		b := list[1]
		got := fmt.Sprintf("running %t", b.Running)
		for _, at := range []struct {
			name string
			time *store.Time
		}{{"started", b.StartedAt}, {"succeeded", b.SucceededAt}, {"failed", b.FailedAt}, {"next", &b.NextAt}} {
			if at.time != nil {
				got += fmt.Sprintf(" %s %s", at.name, at.time.Sub(zero).Round(time.Second))
			}
		}
		if got += " " + b.Error; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	run := func(ctx context.Context, result error) {
		ended := make(chan struct{})
		go func() {
			_ = first.RunDue(ctx)
			close(ended)
		}()
		<-begun
		s.clock.Advance(5 * time.Second)
		if result == nil {
			shown("running true started 0s next 10m10s ")
		}
		if ctx.Err() == nil {
			end <- result
		}
		<-ended
	}
	shown("running false next 0s ")
	run(t.Context(), nil)
	shown("running false started 0s succeeded 5s next 1h0m0s ")
	s.clock.Advance(time.Hour)
	run(t.Context(), errors.New("no paper "+strings.Repeat("é", 300)))
	shown("running false started 1h0m5s succeeded 5s failed 1h0m10s next 1h10m15s no paper " + strings.Repeat("é", 145))
	s.clock.Advance(time.Hour)
	run(t.Context(), errPanic)
	shown("running false started 2h0m10s succeeded 5s failed 2h0m15s next 2h10m20s panic: burnt")

	// The server stops, which is no failure of the job.
	s.clock.Advance(time.Hour)
	stopped, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		_ = first.RunDue(stopped)
		close(ended)
	}()
	<-begun
	stop()
	<-ended
	shown("running false started 3h0m15s succeeded 5s failed 2h0m15s next 3h10m25s panic: burnt")

	// A run whose instance was killed: the lease ends.
	s.clock.Advance(time.Hour)
	go func() { _ = first.RunDue(t.Context()) }()
	<-begun
	shown("running true started 4h0m15s succeeded 5s failed 2h0m15s next 4h10m25s panic: burnt")
	s.clock.Advance(10*time.Minute + 11*time.Second)
	shown("running false started 4h0m15s succeeded 5s failed 2h0m15s next 4h10m25s panic: burnt")
	end <- nil
}

var errPanic = errors.New("burnt")

// TestStart runs a job that is not due, on another instance that looks for due jobs, and rejects a job that is running.
func TestStart(t *testing.T) {
	s := newService(t)
	var runs atomic.Int64
	first, second := s.instance(counting("daily", 24*time.Hour, &runs)), s.instance(counting("daily", 24*time.Hour, &runs))
	start := func(r *job.Runner, name string, want apperr.Code) {
		t.Helper()
		if _, err := r.Start(t.Context(), name); apperr.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	start(first, "daily", "") // before the first run
	s.due(second, &runs, 1)
	start(first, "other", apperr.NotFound)
	start(first, "daily", "")
	start(second, "daily", "")
	s.due(second, &runs, 2)
	s.due(first, &runs, 2)

	begun, end := make(chan struct{}), make(chan struct{})
	busy := s.instance(job.Job{Name: "daily", Interval: 24 * time.Hour, Run: func(context.Context) error {
		close(begun)
		<-end
		return nil
	}})
	start(first, "daily", "")
	ended := make(chan error)
	go func() { ended <- busy.RunDue(t.Context()) }()
	<-begun
	start(first, "daily", apperr.Conflict)
	close(end)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	start(first, "daily", "")
	s.due(second, &runs, 3)
}

// TestStartWakes starts a job on the instance that receives the request: it does not wait for the interval, nor for the minute in
// which instances look for due jobs.
func TestStartWakes(t *testing.T) {
	s := newService(t)
	ran := make(chan struct{}, 1)
	r := s.instance(job.Job{Name: "daily", Interval: 24 * time.Hour, Run: func(context.Context) error {
		ran <- struct{}{}
		return nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		r.Run(ctx)
		close(ended)
	}()
	for range 2 {
		select {
		case <-ran:
		case <-time.After(30 * time.Second):
			t.Fatal("the job does not run")
		}
		for { // until the run has ended
			if _, err := r.Start(t.Context(), "daily"); !apperr.Is(err, apperr.Conflict) {
				break
			}
		}
	}
	cancel()
	<-ended
}
