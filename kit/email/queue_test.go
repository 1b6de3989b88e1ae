package email_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/store"
)

// fake is a Sender with preset errors that records when it was called.
type fake struct {
	mu     sync.Mutex
	fails  []error       // of the first calls
	calls  []time.Time   // of all
	blocks bool          // Send waits until block is closed
	block  chan struct{} // made in the bubble
}

func (f *fake) Send(ctx context.Context, _ email.Message) error {
	f.mu.Lock()
	f.calls = append(f.calls, time.Now())
	var err error
	if len(f.fails) > 0 {
		err, f.fails = f.fails[0], f.fails[1:]
	}
	f.mu.Unlock()
	if f.blocks {
		select {
		case <-f.block:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// since returns the times of the calls after start.
func (f *fake) since(start time.Time) (out []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, call := range f.calls {
		out = append(out, call.Sub(start))
	}
	return out
}

func always(context.Context) (*email.Message, error) { return &letter, nil }

var (
	errBusy = &email.Error{Err: errors.New("451")}
	errNo   = &email.Error{Permanent: true, Err: errors.New("550")}
)

// add enqueues jobs, all of which must be accepted.
func add(t *testing.T, q *email.Queue, jobs ...email.Job) {
	t.Helper()
	for _, job := range jobs {
		if err := q.Enqueue(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
}

// bubble runs a test of a queue in a synctest bubble.
func bubble(t *testing.T, f *fake, test func(t *testing.T, q *email.Queue, log *logged)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if f.blocks {
			f.block = make(chan struct{})
		}
		log := new(logged)
		q := email.NewQueue(f, email.Backoff[:], log.logger())
		test(t, q, log)
		q.Close(t.Context())
		log.clean(t)
	})
}

func TestRetries(t *testing.T) {
	t.Parallel()
	const s, m = time.Second, time.Minute
	waits := []time.Duration{0, s, 6 * s, 36 * s, 2*m + 36*s, 12*m + 36*s}
	for _, c := range []struct {
		name  string
		fails []error
		tries int
		log   string
	}{
		{"at once", nil, 1, ""},
		{"at the last", slices.Repeat([]error{errBusy}, 5), 6, "attempts=5"},
		{"never", slices.Repeat([]error{errBusy}, 9), 6, `msg="email not sent after the last attempt" attempts=6`},
		{"rejected", []error{errNo}, 1, "permanent error"},
		{"rejected later", []error{errBusy, errBusy, errNo}, 3, "permanent error"},
		{"a sender that does not say", []error{errors.New("?")}, 2, "attempts=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{fails: c.fails}
			bubble(t, f, func(t *testing.T, q *email.Queue, log *logged) {
				start := time.Now()
				add(t, q, always)
				if err := q.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := f.since(start); !slices.Equal(got, waits[:c.tries]) {
					t.Errorf("attempts after %v", got)
				}
				if !strings.Contains(log.text(), c.log) || c.log == "" && log.text() != "" {
					t.Errorf("log %q", log.text())
				}
			})
		})
	}
}

// TestJob: a job runs until it returns an email.
func TestJob(t *testing.T) {
	t.Parallel()
	f, runs := &fake{fails: []error{errBusy}}, 0
	bubble(t, f, func(t *testing.T, q *email.Queue, log *logged) {
		start := time.Now()
		add(t, q, func(context.Context) (*email.Message, error) {
			if runs++; runs < 3 {
				return nil, store.Unavailable(errors.New("refused"))
			}
			return &letter, nil
		})
		if err := q.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := f.since(start); runs != 3 || !slices.Equal(got, []time.Duration{6 * time.Second, 36 * time.Second}) {
			t.Errorf("the job ran %d times, attempts after %v", runs, got)
		}
	})
	f, runs = &fake{}, 0
	bubble(t, f, func(t *testing.T, q *email.Queue, log *logged) {
		add(t, q,
			func(context.Context) (*email.Message, error) { runs++; return nil, nil },
			func(context.Context) (*email.Message, error) { return nil, errors.New("a mistake of ours") },
			func(context.Context) (*email.Message, error) { panic("another") },
			always,
		)
		if err := q.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if text := log.text(); runs != 1 || len(f.calls) != 1 || strings.Count(text, "\n") != 2 || !strings.Contains(text, "a mistake of ours") || !strings.Contains(text, "another") {
			t.Errorf("%d runs, %d calls, log %s", runs, len(f.calls), text)
		}
	})
}

// TestSlowEmail: an email that hangs, or waits for its next attempt, does not delay others.
func TestSlowEmail(t *testing.T) {
	t.Parallel()
	f := &fake{}
	bubble(t, f, func(t *testing.T, q *email.Queue, log *logged) {
		start := time.Now()
		for range 3 {
			add(t, q, func(ctx context.Context) (*email.Message, error) { <-ctx.Done(); return nil, nil })
		}
		for range 20 {
			add(t, q, always)
		}
		synctest.Wait()
		if got := f.since(start); len(got) != 20 || got[19] != 0 {
			t.Errorf("sent after %v", got)
		}
		if err := q.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if passed := time.Since(start); passed > time.Minute {
			t.Errorf("a job may take %s", passed)
		}
	})
}

func TestFull(t *testing.T) {
	t.Parallel()
	f := &fake{blocks: true}
	bubble(t, f, func(t *testing.T, q *email.Queue, log *logged) {
		for range 1000 {
			add(t, q, always)
		}
		var e *apperr.Error
		if err := q.Enqueue(t.Context(), always); !errors.As(err, &e) || e.Code != apperr.Unavailable || !e.Overload || e.RetryAfter == 0 {
			t.Errorf("full queue: %v", err)
		}
		close(f.block)
		if err := q.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		add(t, q, always)
		if err := q.Wait(t.Context()); err != nil || len(f.calls) != 1001 {
			t.Errorf("%d calls, %v", len(f.calls), err)
		}
	})
}

// TestClose: emails that wait for their next attempt, or are being sent, are tried once more without delay.
func TestClose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fails []error
		tries int
		log   string
	}{
		{"to be sent", []error{errBusy}, 2, ""},
		{"to be lost", []error{errBusy, errBusy, errBusy}, 2, "after the last attempt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{fails: c.fails}
			bubble(t, f, func(t *testing.T, q *email.Queue, log *logged) {
				start := time.Now()
				add(t, q, always)
				synctest.Wait() // it waits for its second attempt
				q.Close(t.Context())
				if got := f.since(start); len(got) != c.tries || got[c.tries-1] != 0 || !strings.Contains(log.text(), c.log) {
					t.Errorf("attempts after %v, log %s", got, log.text())
				}
				var e *apperr.Error
				if err := q.Enqueue(t.Context(), always); !errors.As(err, &e) || e.Code != apperr.Unavailable || !e.Overload {
					t.Errorf("after Close: %v", err)
				}
			})
		})
	}
	f := &fake{fails: []error{errBusy}, blocks: true}
	bubble(t, f, func(t *testing.T, q *email.Queue, _ *logged) {
		add(t, q, always)
		synctest.Wait() // it is being sent, and will fail
		time.AfterFunc(time.Second, func() { close(f.block) })
		start := time.Now()
		q.Close(t.Context())
		if got := f.since(start); !slices.Equal(got, []time.Duration{0, time.Second}) {
			t.Errorf("attempts after %v", got)
		}
	})
}

// TestLost: a server that hangs does not delay Close beyond its timeout.
func TestLost(t *testing.T) {
	t.Parallel()
	f := &fake{blocks: true}
	bubble(t, f, func(t *testing.T, q *email.Queue, log *logged) {
		for range 7 {
			add(t, q, always)
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		q.Close(ctx)
		if passed := time.Since(start); passed != 10*time.Second || !strings.Contains(log.text(), "emails=7") {
			t.Errorf("after %s, log %s", passed, log.text())
		}
		synctest.Wait() // the senders stop
		if err := q.Wait(t.Context()); err != nil || len(f.calls) != 4 {
			t.Errorf("%d calls, %v", len(f.calls), err)
		}
	})
}

// TestMetrics checks the metrics, also for a job without an email, and the calls of Trace.
func TestMetrics(t *testing.T) {
	t.Parallel()
	read := func(q *email.Queue) string {
		var out []string
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(q.Collectors()...)
		families, err := registry.Gather()
		if err != nil {
			t.Error(err)
		}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				if value := m.GetGauge().GetValue() + m.GetCounter().GetValue(); value != 0 {
					out = append(out, fmt.Sprintf("%s %v", m.GetLabel()[0].GetValue(), value))
				}
			}
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	f := &fake{fails: []error{errNo, errBusy}}
	bubble(t, f, func(t *testing.T, q *email.Queue, _ *logged) {
		type key struct{}
		var asked, begun, ended, busy int
		q.Trace = func(request context.Context) func(context.Context) (context.Context, func(error)) {
			asked += request.Value(key{}).(int)
			return func(try context.Context) (context.Context, func(error)) {
				begun++
				return context.WithValue(try, key{}, 1), func(err error) {
					ended++
					if errors.Is(err, errBusy) {
						busy++
					}
				}
			}
		}
		nobody := func(ctx context.Context) (*email.Message, error) {
			if ctx.Value(key{}) != 1 {
				t.Error("a job does not get the context that traces it")
			}
			return nil, nil
		}
		for _, job := range []email.Job{always, always, always, nobody} {
			if err := q.Enqueue(context.WithValue(t.Context(), key{}, 1), job); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if got := read(q); got != "failed 1, sent 1, waiting 1" {
			t.Error(got)
		}
		if err := q.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := read(q); got != "failed 1, sent 2" || asked != 4 || begun != 5 || ended != 5 || busy != 1 {
			t.Errorf("%s; %d requested, %d attempts, %d ended, %d busy", got, asked, begun, ended, busy)
		}
	})
	f = &fake{blocks: true}
	bubble(t, f, func(t *testing.T, q *email.Queue, log *logged) {
		add(t, q, slices.Repeat([]email.Job{always}, 7)...)
		synctest.Wait()
		if got := read(q); got != "sending 4, waiting 3" {
			t.Error(got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		q.Close(ctx)
		if got := read(q); !strings.Contains(got, "lost 7") || strings.Contains(got, "sent") {
			t.Error(got)
		}
	})
}
