package email_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/kit/seal"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/testkit/clock"
	"example.com/ginseng/testkit/testdb"
)

// fake is a Sender with preset errors.
type fake struct {
	mu    sync.Mutex
	fails []error // the errors of the first calls
	calls int
	hold  chan struct{} // if not nil, Send sends to begun and waits until hold is closed
	begun chan struct{}
}

func holding() *fake { return &fake{hold: make(chan struct{}), begun: make(chan struct{}, 100)} }

func (f *fake) Send(ctx context.Context, _ email.Message) error {
	f.mu.Lock()
	f.calls++
	var err error
	if len(f.fails) > 0 {
		err, f.fails = f.fails[0], f.fails[1:]
	}
	f.mu.Unlock()
	if f.hold != nil {
		f.begun <- struct{}{}
		select {
		case <-f.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// sent returns the number of calls of Send.
func (f *fake) sent() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

var (
	errBusy = &email.Error{Err: errors.New("451")}
	errNo   = &email.Error{Permanent: true, Err: errors.New("550")}
)

// bench is a database with instances that send emails.
type bench struct {
	t     *testing.T
	db    store.DB
	clock *clock.Clock
	log   logged
}

func newBench(t *testing.T) *bench { return newBenchOn(t, testdb.Open(t)) }

func newBenchOn(t *testing.T, db store.DB) *bench {
	b := &bench{t: t, db: db, clock: clock.At(time.Now())}
	t.Cleanup(func() { b.log.clean(t) })
	return b
}

var sealKey = bytes.Repeat([]byte{7}, 32)

// queue returns the queue of a new instance.
func (b *bench) queue(s email.Sender, keys ...[]byte) *email.Queue {
	b.t.Helper()
	if keys == nil {
		keys = [][]byte{sealKey}
	}
	q := email.NewQueue(email.QueueOptions{
		DB: b.db, Sender: s, Keys: seal.New(keys...), Now: b.clock.Now, Log: b.log.logger(), Backoff: email.Backoff[:],
	})
	q.Handle("always", func(context.Context, email.Entry) (*email.Message, error) { return &letter, nil })
	q.Handle("never", func(context.Context, email.Entry) (*email.Message, error) { return nil, nil })
	q.Handle("secret", func(_ context.Context, e email.Entry) (*email.Message, error) {
		m := letter
		m.Text = e.Secret
		return &m, nil
	})
	b.must(b.db.Prepare(b.t.Context()))
	b.t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		q.Close(ended)
	})
	return q
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) add(q *email.Queue, kind string) {
	b.t.Helper()
	b.must(q.Enqueue(b.t.Context(), email.Entry{Kind: kind, Address: address, Args: map[string]string{"link": link}}))
}

func (b *bench) wait(q *email.Queue) {
	b.t.Helper()
	b.must(q.Wait(b.t.Context()))
}

// check runs the job and waits for the emails that it sends.
func (b *bench) check(q *email.Queue) {
	b.t.Helper()
	b.must(q.Jobs()[0].Run(b.t.Context()))
	b.wait(q)
}

func (b *bench) rows(q *email.Queue) []email.Row {
	b.t.Helper()
	rows, err := q.Rows().List(b.t.Context(), store.Query{})
	b.must(err)
	return rows
}

func TestRetries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		fails  []error
		tries  int
		log    string
		status string // of the row, if there is one
	}{
		{"immediately", nil, 1, "", ""},
		{"at the last", slices.Repeat([]error{errBusy}, 11), 12, "attempts=11", ""},
		{"never", slices.Repeat([]error{errBusy}, 20), 12, `msg="email not sent after the last attempt" kind=always attempts=12`, email.Failed},
		{"rejected", []error{errNo}, 1, "permanent error", email.Failed},
		{"rejected later", []error{errBusy, errBusy, errNo}, 3, "permanent error", email.Failed},
		{"a sender that does not say", []error{errors.New("?")}, 2, "attempts=1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, f := newBench(t), &fake{fails: c.fails}
			q := b.queue(f)
			b.add(q, "always")
			b.wait(q)
			for i, delay := range email.Backoff {
				b.clock.Advance(delay - time.Millisecond)
				b.check(q)
				if want := min(i+1, c.tries); f.sent() != want {
					t.Fatalf("%d attempts before delay %d has passed, want %d", f.sent(), i, want)
				}
				b.clock.Advance(time.Millisecond)
				b.check(q)
			}
			if f.sent() != c.tries || !strings.Contains(b.log.text(), c.log) || c.log == "" && b.log.text() != "" {
				t.Errorf("%d attempts, log %q", f.sent(), b.log.text())
			}
			rows := b.rows(q)
			if c.status == "" && len(rows) != 0 {
				t.Errorf("left: %+v", rows)
			}
			if c.status == "" {
				return
			}
			if len(rows) != 1 || rows[0].Status != c.status || rows[0].NextAttemptAt != nil || int(rows[0].Attempts) != c.tries || !strings.Contains(rows[0].Error, ": ") {
				t.Errorf("%+v", rows)
			}
			b.clock.Advance(rows[0].UpdatedAt.Add(24*time.Hour - time.Millisecond).Sub(b.clock.Now()))
			b.check(q)
			if len(b.rows(q)) != 1 {
				t.Error("deleted within a day")
			}
			b.clock.Advance(time.Millisecond)
			b.check(q)
			if len(b.rows(q)) != 0 || f.sent() != c.tries {
				t.Error("not deleted after a day")
			}
		})
	}
}

// TestBackoff checks that retries are made for almost a day.
func TestBackoff(t *testing.T) {
	t.Parallel()
	var sum time.Duration
	for _, delay := range email.Backoff {
		sum += delay
	}
	if sum < 23*time.Hour || sum > 24*time.Hour {
		t.Error(sum)
	}
}

// TestBuilder: a Builder runs until it returns an email.
func TestBuilder(t *testing.T) {
	t.Parallel()
	b, f := newBench(t), &fake{}
	q := b.queue(f)
	var attempts []int
	q.Handle("later", func(_ context.Context, e email.Entry) (*email.Message, error) {
		if attempts = append(attempts, e.Attempt); len(attempts) < 3 {
			return nil, store.Unavailable(errors.New("refused"))
		}
		return &letter, nil
	})
	b.add(q, "later")
	for range 3 {
		b.wait(q)
		b.clock.Advance(5 * time.Second)
		q.Send()
	}
	b.wait(q)
	if !slices.Equal(attempts, []int{1, 2, 3}) || f.sent() != 1 || len(b.rows(q)) != 0 {
		t.Errorf("attempts %v, %d calls", attempts, f.sent())
	}
	q.Handle("error", func(context.Context, email.Entry) (*email.Message, error) {
		return nil, errors.New("a mistake of ours")
	})
	q.Handle("panic", func(context.Context, email.Entry) (*email.Message, error) { panic("another") })
	for _, kind := range []string{"never", "error", "panic", "always"} {
		b.add(q, kind)
	}
	b.wait(q)
	rows := b.rows(q)
	if text := b.log.text(); f.sent() != 2 || len(rows) != 2 || !strings.Contains(text, "a mistake of ours") || !strings.Contains(text, "another") {
		t.Errorf("%d calls, rows %+v, log %s", f.sent(), rows, text)
	}
	for _, r := range rows {
		if r.Status != email.Failed || strings.Contains(r.Error, "mistake") || strings.Contains(r.Error, "another") || !strings.Contains(r.Error, "see the log") {
			t.Errorf("%+v", r)
		}
	}
	b.add(q, "of another version")
	b.wait(q)
	if rows := b.rows(q); len(rows) != 3 || !slices.ContainsFunc(rows, func(r email.Row) bool { return r.Status == email.Pending && r.Attempts == 1 }) {
		t.Errorf("%+v", rows)
	}
}

// TestSlowEmail: emails that hang do not delay others.
func TestSlowEmail(t *testing.T) {
	t.Parallel()
	b, out := newBench(t), emailtest.NewOutbox()
	q := b.queue(out)
	release, begun := make(chan struct{}), make(chan struct{}, 3)
	q.Handle("slow", func(context.Context, email.Entry) (*email.Message, error) {
		begun <- struct{}{}
		<-release
		return nil, nil
	})
	for range 3 {
		b.add(q, "slow")
	}
	for range 3 {
		<-begun
	}
	for range 20 {
		b.add(q, "always")
	}
	for range 20 {
		out.Next(t)
	}
	close(release)
	b.wait(q)
}

func TestFull(t *testing.T) {
	t.Parallel()
	if mongotest.Available() {
		t.Skip("the server of scripts/mongod reads the whole collection for each query")
	}
	b := newBench(t)
	q := b.queue(&fake{})
	const capacity = 10_000
	due := store.At(b.clock.Now().Add(time.Hour))
	docs := make([]store.Document, capacity-1)
	for i := range docs {
		docs[i] = email.Row{Meta: store.NewMeta(store.NewID(), due), Kind: "always", Status: email.Pending, NextAttemptAt: &due}
	}
	b.must(q.Rows().Engine().Load(t.Context(), docs))
	b.must(b.db.Prepare(t.Context()))
	b.add(q, "always")
	b.wait(q) // the email is sent, so there is room for another email
	b.add(q, "always")
	b.wait(q)
	late := b.queue(&fake{})
	b.must(late.Enqueue(t.Context(), email.Entry{Kind: "of another version"}))
	for _, q := range []*email.Queue{q, late} {
		b.wait(q)
		var e *apperr.Error
		if err := q.Enqueue(t.Context(), email.Entry{Kind: "always"}); !errors.As(err, &e) || e.Code != apperr.Unavailable || !e.Overload || e.RetryAfter == 0 {
			t.Errorf("full queue: %v", err)
		}
	}
}

// TestFailedWhileFull checks that a queue of emailtest.Full keeps its failed emails.
func TestFailedWhileFull(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, emailtest.Full(testdb.Open(t)))
	q := b.queue(&fake{fails: []error{errNo}})
	now := store.At(b.clock.Now())
	b.must(q.Rows().Insert(t.Context(), email.Row{Meta: store.NewMeta(store.NewID(), now), Kind: "always", Status: email.Pending, NextAttemptAt: &now}))
	b.check(q)
	if rows := b.rows(q); len(rows) != 1 || rows[0].Status != email.Failed {
		t.Errorf("the emails are %+v, want one that has failed", rows)
	}
	if text := b.log.text(); !strings.Contains(text, "permanent error") {
		t.Errorf("the log is %q", text)
	}
}

// TestTogether: an email is stored and sent with the record that causes it, or not at all.
func TestTogether(t *testing.T) {
	t.Parallel()
	testdb.Each(t, testTogether)
}

func testTogether(t *testing.T, db store.DB) {
	b, out := newBenchOn(t, db), emailtest.NewOutbox()
	q := b.queue(out)
	failure := errors.New("failure")
	enqueue := func(ctx context.Context, result error) error {
		if err := q.Enqueue(ctx, email.Entry{Kind: "always", Address: address}); err != nil {
			return err
		}
		q.Send() // another instance could also call Send now
		if store.IsSeparate(ctx) {
			b.wait(q) // in a transaction, q waits for the end
			rows := b.rows(q)
			if _, err := q.Retry(ctx, rows[len(rows)-1].ID); !apperr.Is(err, apperr.Conflict) {
				t.Errorf("retried before the end: %v", err)
			}
		}
		out.None(t) // no email is sent before the end of the transaction
		return result
	}
	b.must(b.db.Together(t.Context(), func(ctx context.Context) error { return enqueue(ctx, nil) }))
	out.Next(t)
	err := b.db.Atomic(t.Context(), func(ctx context.Context) error { return enqueue(ctx, failure) })
	if errors.Is(err, store.ErrNoTransactions) {
		return
	}
	if !errors.Is(err, failure) {
		t.Error(err)
	}
	b.check(q)
	b.wait(q)
	out.None(t)
	if rows := b.rows(q); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
}

// TestInstances: each email is sent by one of two instances.
func TestInstances(t *testing.T) {
	t.Parallel()
	b, out := newBench(t), emailtest.NewOutbox()
	one, two := b.queue(out), b.queue(out)
	for range 20 {
		b.add(one, "always")
		two.Send()
	}
	b.wait(one)
	b.wait(two)
	for range 20 {
		out.Next(t)
	}
	out.None(t)
	if rows := b.rows(one); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
}

// TestPaused: if an instance ends or is paused during an attempt, another instance sends the email after the lease. The first
// instance then changes nothing.
func TestPaused(t *testing.T) {
	t.Parallel()
	b, paused, out := newBench(t), holding(), emailtest.NewOutbox()
	paused.fails = []error{errBusy}
	one, two := b.queue(paused), b.queue(out)
	b.add(one, "always")
	<-paused.begun
	b.clock.Advance(time.Minute - time.Millisecond)
	b.check(two)
	out.None(t)
	b.clock.Advance(time.Millisecond)
	b.check(two)
	out.Next(t)
	close(paused.hold)
	b.wait(one)
	if rows := b.rows(one); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
}

// TestSecret: the database does not have the secret of an email in clear.
func TestSecret(t *testing.T) {
	t.Parallel()
	b, busy, out := newBench(t), &fake{fails: []error{errBusy}}, emailtest.NewOutbox()
	q := b.queue(busy)
	const secret = "Zk3n0cXGk2-_0AqLrT7vBw5yHd8uJf1sPz4mNe6oGiQ"
	b.must(q.Enqueue(t.Context(), email.Entry{Kind: "secret", Secret: secret}))
	b.wait(q)
	raw, err := json.Marshal(b.rows(q))
	if err != nil || !strings.Contains(string(raw), `"pending"`) || strings.Contains(string(raw), secret[:8]) {
		t.Errorf("%s, %v", raw, err)
	}
	b.clock.Advance(time.Second)
	second := bytes.Repeat([]byte{8}, 32)
	b.check(b.queue(out, second, sealKey)) // after the key was replaced
	if m := out.Next(t); m.Text != secret {
		t.Errorf("%q", m.Text)
	}
	b.must(q.Enqueue(t.Context(), email.Entry{Kind: "secret", Secret: secret}))
	b.wait(q)
	lost := b.queue(out, second)
	busy.fails = []error{errBusy}
	b.must(q.Enqueue(t.Context(), email.Entry{Kind: "secret", Secret: secret}))
	b.wait(q)
	b.clock.Advance(time.Second)
	b.check(lost)
	out.None(t)
	if rows := b.rows(q); len(rows) != 1 || rows[0].Status != email.Failed || !strings.Contains(b.log.text(), "missing from MASTER_KEY") {
		t.Errorf("%+v, log %s", rows, b.log.text())
	}
}

// TestClose: Close waits for the emails that are being sent. Emails that wait for a retry, or for which there is no time,
// are sent after the next start.
func TestClose(t *testing.T) {
	t.Parallel()
	b, f, out := newBench(t), &fake{fails: []error{errBusy}}, emailtest.NewOutbox()
	q := b.queue(f)
	b.add(q, "always")
	b.wait(q)
	q.Close(t.Context())
	b.add(q, "always") // by a request that the server aborted
	b.clock.Advance(time.Second)
	q.Send()
	b.wait(q)
	if f.sent() != 1 {
		t.Errorf("%d attempts after Close", f.sent()-1)
	}

	hangs := holding()
	slow := b.queue(hangs)
	slow.Send()
	<-hangs.begun
	<-hangs.begun
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	slow.Close(ended)
	b.wait(slow) // on a slow database
	if !strings.Contains(b.log.text(), "not all emails were sent before shutdown") {
		t.Errorf("log %s", b.log.text())
	}
	b.check(b.queue(out))
	for range 2 {
		out.Next(t)
	}
	out.None(t)
}

// TestMetrics checks the metrics, even if the Builder returns no email, and the calls of the Tracer.
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
	b, f, trace := newBench(t), &fake{fails: []error{errNo, errBusy}}, &tracer{}
	q := b.queue(f)
	q.Tracer = trace
	for _, kind := range []string{"always", "always", "always", "never"} {
		b.must(q.Enqueue(context.WithValue(t.Context(), traceKey{}, "request"), email.Entry{Kind: kind}))
		b.wait(q)
	}
	if got := read(q); got != "failed 1, sent 1, waiting 1" {
		t.Error(got)
	}
	b.clock.Advance(time.Second)
	q.Send()
	b.wait(q)
	if got := read(q); got != "failed 1, sent 2" || trace.begun != 5 || trace.ended != 5 || trace.busy != 1 {
		t.Errorf("%s; %+v", got, trace)
	}

	hangs := holding()
	q = b.queue(hangs)
	for range 7 {
		b.add(q, "always")
	}
	for range 4 {
		<-hangs.begun
	}
	if got := read(q); got != "sending 4, waiting 3" {
		t.Error(got)
	}
	close(hangs.hold)
	b.wait(q)
}

type traceKey struct{}

// tracer counts the attempts of emails whose requests have the value "request".
type tracer struct {
	mu                 sync.Mutex
	begun, ended, busy int
}

func (r *tracer) Link(ctx context.Context) string { return ctx.Value(traceKey{}).(string) }

func (r *tracer) Begin(ctx context.Context, link string) (context.Context, func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if link == "request" {
		r.begun++
	}
	return ctx, func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended++
		if errors.Is(err, errBusy) {
			r.busy++
		}
	}
}

// TestHandleTwice: two modules cannot send emails of the same kind.
func TestHandleTwice(t *testing.T) {
	t.Parallel()
	q := newBench(t).queue(&fake{})
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	q.Handle("always", nil)
}
