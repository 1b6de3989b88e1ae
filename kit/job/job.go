// Package job runs periodic work. Normally, only one instance of the service runs a job at a time.
//
// A module has its jobs in its kit.Parts. The server runs the jobs after the migrations. The time of the next run of each job
// is stored in the database, so that all instances share the schedule and a restart does not change it. A new job runs
// immediately.
//
// Occasionally, two runs of a job overlap: an instance that was paused for longer than the time limit continues its run while
// another instance runs the job. Write jobs so that a second run has no further effect. A job has no caller: it uses
// resource.Collection.Unrestricted or, where rules must apply, access.Operator.
package job

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Job is periodic work.
type Job struct {
	Name     string        // unique in the service; used in the database, log lines and metrics
	Interval time.Duration // time from the start of a run to the start of the next run, at least a second
	// Run does the work. It must return when ctx ends: when the server stops, or at the time limit. The time limit is the
	// interval, but at most ten minutes. If work remains, Run should return ctx.Err: after nil, the next run starts only after
	// the interval. After a failed run, which is logged, it starts ten seconds after the time limit of the failed run: of a
	// daily job, 10 minutes and 10 seconds after its start.
	Run func(ctx context.Context) error
}

// SweepInterval is the Interval for jobs that delete expired data.
const SweepInterval = 10 * time.Minute

const (
	maxRun      = 10 * time.Minute // maximum time limit of a run; if the interval is shorter, the interval is the time limit
	leaseMargin = 10 * time.Second // time after the time limit for the run to end, and for differences between clocks
	maxWait     = time.Minute      // maximum time until an instance reads the state of a job again, in case a clock was changed
)

func (j Job) limit() time.Duration { return min(j.Interval, maxRun) }

// lease returns the time after the start of a run in which other instances do not run the job.
func (j Job) lease() time.Duration { return j.limit() + leaseMargin }

func (j Job) id() store.ID {
	sum := sha256.Sum256([]byte(j.Name))
	return store.ID(sum[:len(store.ID{})])
}

// state is the record of a job in the database.
type state struct {
	store.Meta  `bson:",inline"`
	Name        string      `json:"name"`
	NextAt      store.Time  `json:"nextAt"`      // the time at which the next run may start; during a run, the end of its lease
	LeasedUntil *store.Time `json:"leasedUntil"` // during a run, the end of its lease; nil: the last run has ended
	StartedAt   *store.Time `json:"startedAt"`   // the start of the last run
	SucceededAt *store.Time `json:"succeededAt"` // the end of the last successful run
	FailedAt    *store.Time `json:"failedAt"`    // the end of the last failed run
	Error       string      `json:"error"`       // the error of the last failed run
}

// Runner runs the jobs of a service.
type Runner struct {
	jobs      []Job
	wake      map[string]chan struct{} // by name of the job; see Start
	states    *store.Collection[state]
	now       func() time.Time
	log       *slog.Logger
	succeeded *prometheus.GaugeVec
	failures  *prometheus.CounterVec
	durations *prometheus.HistogramVec
}

// durationBuckets are the buckets of the histogram of durations, in seconds.
var durationBuckets = []float64{.01, .1, 1, 10, 60, 600}

// New returns a Runner. Call New before DB.Prepare, because New opens a collection. New panics if a job is invalid, or if two
// jobs have the same name.
func New(db store.DB, now func() time.Time, log *slog.Logger, jobs ...Job) *Runner {
	wake := map[string]chan struct{}{}
	for _, j := range jobs {
		if j.Name == "" || j.Interval < time.Second || j.Run == nil || wake[j.Name] != nil {
			panic(fmt.Sprintf("job: %q needs a name that no other job has, an interval of at least a second, and a function", j.Name))
		}
		wake[j.Name] = make(chan struct{}, 1)
	}
	label := []string{"job"}
	return &Runner{
		jobs: jobs, wake: wake, now: now, log: log, states: store.Open[state](db, store.Spec{Name: "job-states"}),
		succeeded: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "job_last_success_timestamp_seconds", Help: "Time at which the job last succeeded, on any instance.",
		}, label),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "job_failures_total", Help: "Failed runs of the job on this instance."}, label),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "job_duration_seconds", Help: "Duration of runs of the job on this instance, including failed runs.", Buckets: durationBuckets,
		}, label),
	}
}

// Collectors implements kit.Metered.
func (r *Runner) Collectors() []prometheus.Collector {
	return []prometheus.Collector{r.succeeded, r.failures, r.durations}
}

// Run runs the jobs when they are due, until ctx ends. The jobs of an instance run independently of each other.
func (r *Runner) Run(ctx context.Context) {
	var group sync.WaitGroup
	for _, j := range r.jobs {
		group.Go(func() { r.loop(ctx, j) })
	}
	group.Wait()
}

func (r *Runner) loop(ctx context.Context, j Job) {
	for ctx.Err() == nil {
		next, err := r.runIfDue(ctx, j)
		if err != nil && ctx.Err() == nil {
			r.log.Error("job failed", "job", j.Name, "error", err)
		}
		select {
		case <-time.After(min(next.Sub(r.now()), maxWait)):
		case <-r.wake[j.Name]:
		case <-ctx.Done():
		}
	}
}

// RunDue runs each due job once, one job after the other. It continues after an error and returns all errors.
func (r *Runner) RunDue(ctx context.Context) error {
	var failed []error
	for _, j := range r.jobs {
		if _, err := r.runIfDue(ctx, j); err != nil {
			failed = append(failed, fmt.Errorf("job %s: %w", j.Name, err))
		}
	}
	return errors.Join(failed...)
}

// runIfDue runs the job if the job is due and no other instance is running it. next is the time at which runIfDue must be
// called again.
func (r *Runner) runIfDue(ctx context.Context, j Job) (next time.Time, err error) {
	started := r.now()
	s, claimed, err := r.claim(ctx, j, started)
	if err != nil {
		return started.Add(j.limit()), err
	}
	if s.SucceededAt != nil {
		r.succeeded.WithLabelValues(j.Name).Set(seconds(*s.SucceededAt))
	}
	if !claimed {
		return s.NextAt.Time, nil
	}
	err = r.run(ctx, j)
	ended := r.now()
	r.durations.WithLabelValues(j.Name).Observe(ended.Sub(started).Seconds())
	at, next := store.At(ended), s.NextAt.Time
	changes := []store.Change{store.Unset("leasedUntil")}
	if err == nil {
		r.log.Debug("job completed", "job", j.Name, "took", ended.Sub(started).Round(time.Millisecond))
		r.succeeded.WithLabelValues(j.Name).Set(seconds(at))
		next = started.Add(j.Interval)
		changes = append(changes, store.Set("nextAt", store.At(next)), store.Set("succeededAt", at))
	} else {
		r.failures.WithLabelValues(j.Name).Inc()
		if ctx.Err() == nil { // otherwise, the server stops
			changes = append(changes, store.Set("failedAt", at), store.Set("error", errorText(err)))
		}
	}
	saveCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseMargin) // stores the result even if the server stops
	defer cancel()
	_, saveErr := r.states.UpdateByID(saveCtx, j.id(), store.Versions{s.Version}, changes...)
	// PreconditionFailed: this run took too long, and another instance is running the job.
	return next, errors.Join(err, apperr.Replace(saveErr, apperr.PreconditionFailed, nil))
}

func seconds(t store.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// claim returns the state of the job. If the job is due, claim takes the lease for one run. claimed is false if the job is not
// due, or if another instance has taken the lease at the same time.
func (r *Runner) claim(ctx context.Context, j Job, now time.Time) (s state, claimed bool, err error) {
	at, until := store.At(now), store.At(now.Add(j.lease()))
	s, err = r.states.Get(ctx, j.id())
	switch {
	case apperr.Is(err, apperr.NotFound):
		s = state{Meta: store.NewMeta(j.id(), at), Name: j.Name, NextAt: until, LeasedUntil: &until, StartedAt: &at}
		err = r.states.Insert(ctx, s)
		return s, err == nil, apperr.Replace(err, apperr.Conflict, nil)
	case err != nil || !s.due(j, now):
		return s, false, err
	}
	taken, err := r.states.UpdateByID(ctx, s.ID, store.Versions{s.Version},
		store.Set("nextAt", until), store.Set("leasedUntil", until), store.Set("startedAt", at))
	if apperr.Is(err, apperr.PreconditionFailed) {
		s.NextAt = until
		return s, false, nil
	}
	return taken, err == nil, err
}

// due reports whether a run may start. It ignores NextAt if the time until NextAt is longer than both the interval and the lease:
// the clock was set back, or the interval has been shortened.
func (s state) due(j Job, now time.Time) bool {
	return !now.Before(s.NextAt.Time) || s.NextAt.Sub(now) > max(j.Interval, j.lease())
}

// run runs the job with its time limit. If the job panics, run returns an error.
func (r *Runner) run(ctx context.Context, j Job) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, j.limit(), fmt.Errorf("the run exceeded its time limit of %s", j.limit()))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		} else if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}()
	return j.Run(ctx)
}
