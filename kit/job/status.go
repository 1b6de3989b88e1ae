package job

import (
	"context"
	"slices"
	"strings"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Status describes a job and its last runs on any instance.
type Status struct {
	Job
	Running     bool        // an instance is running the job
	StartedAt   *store.Time // the start of the last run; nil: there was none
	SucceededAt *store.Time // the end of the last successful run; nil: there was none
	FailedAt    *store.Time // the end of the last failed run; nil: there was none
	Error       string      // the error of the last failed run, of at most 300 bytes
	NextAt      store.Time  // the time at which the next run can start
}

const maxError = 300 // maximum length of Status.Error in bytes

// errorText returns the text of the error of a run, as it is stored. The stack of a panic is only in the log.
func errorText(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\ngoroutine ")
	return strings.ToValidUTF8(text[:min(len(text), maxError)], "")
}

// isRunning reports whether an instance is running the job.
func (s state) isRunning(now store.Time) bool {
	return s.LeasedUntil != nil && now.Before(s.LeasedUntil.Time)
}

func (s state) status(j Job, now store.Time) Status {
	return Status{
		Job: j, Running: s.isRunning(now), StartedAt: s.StartedAt, SucceededAt: s.SucceededAt, FailedAt: s.FailedAt, Error: s.Error, NextAt: s.NextAt,
	}
}

// List returns the jobs of the service in the order of their names.
func (r *Runner) List(ctx context.Context) ([]Status, error) {
	now := store.At(r.now())
	ids := make([]store.ID, len(r.jobs))
	for i, j := range r.jobs {
		ids[i] = j.id()
	}
	found, err := r.states.List(ctx, store.Query{Filter: store.In("id", store.Values(ids)...)})
	if err != nil {
		return nil, err
	}
	states := map[store.ID]state{}
	for _, s := range found {
		states[s.ID] = s
	}
	list := make([]Status, len(r.jobs))
	for i, j := range r.jobs {
		s, has := states[j.id()]
		if !has {
			s.NextAt = now
		}
		list[i] = s.status(j, now)
	}
	slices.SortFunc(list, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Start makes a job due. This instance runs the job immediately; if it stops before that, another instance runs the job within a
// minute. NotFound: no job has the name. Conflict: an instance is running the job.
func (r *Runner) Start(ctx context.Context, name string) (Status, error) {
	i := slices.IndexFunc(r.jobs, func(j Job) bool { return j.Name == name })
	if i < 0 {
		return Status{}, store.ErrNotFound
	}
	j, now := r.jobs[i], store.At(r.now())
	idle := store.Or(store.Eq("leasedUntil", nil), store.Lte("leasedUntil", now))
	s, err := r.states.Update(ctx, store.And(store.Eq("id", j.id()), idle), store.Set("nextAt", now))
	if apperr.Is(err, apperr.NotFound) {
		s, err = r.states.Get(ctx, j.id())
		switch {
		case err == nil:
			return Status{}, apperr.New(apperr.Conflict, "The job is running.")
		case apperr.Is(err, apperr.NotFound): // a job that has never run is due
			s, err = state{NextAt: now}, nil
		}
	}
	if err != nil {
		return Status{}, err
	}
	select {
	case r.wake[j.Name] <- struct{}{}:
	default: // the loop has not read the last one yet
	}
	return s.status(j, now), nil
}
