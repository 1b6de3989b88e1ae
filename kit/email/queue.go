package email

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/ginseng/kit/apperr"
)

// Limits of a Queue.
const (
	capacity       = 1000             // emails that wait or are being sent
	parallel       = 4                // emails being sent at the same time
	attemptTimeout = 45 * time.Second // of one attempt: the job and the sending of its email
)

// Backoff has the delays between the attempts to send an email. After the last delay there is one more attempt.
var Backoff = [...]time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// Job returns an email, or nil if there is none to send. It runs after the request that enqueued it, so that the time of the
// request does not depend on, for example, whether an account exists. The Queue calls it again only after an error that is
// Unavailable; other errors are permanent.
type Job func(ctx context.Context) (*Message, error)

// Queue sends emails in the background and retries failures. It keeps them in memory: emails queued at a crash are lost;
// users can request another. Its log has no addresses and no content.
type Queue struct {
	// Trace, if not nil, is called for each job with the context of the request that enqueues it. The returned function
	// is called at the start of each attempt; the function that it returns, at the end.
	Trace func(requestCtx context.Context) (begin func(attemptCtx context.Context) (context.Context, func(error)))

	sender  Sender
	log     *slog.Logger
	backoff []time.Duration
	slots   chan struct{}   // has an element for each email being sent
	closing chan struct{}   // closed by Close
	ctx     context.Context // of all attempts
	cancel  context.CancelFunc

	mu      sync.Mutex
	closed  bool
	pending int           // emails that wait or are being sent
	idle    chan struct{} // closed while nothing is pending

	outcomes *prometheus.CounterVec
}

// NewQueue returns a Queue that retries with the delays backoff, usually Backoff[:]. Call Close when the service stops.
func NewQueue(sender Sender, backoff []time.Duration, log *slog.Logger) *Queue {
	q := &Queue{
		sender: sender, log: log, backoff: backoff,
		slots: make(chan struct{}, parallel), closing: make(chan struct{}), idle: make(chan struct{}),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mail_mails_total", Help: "Emails by outcome: sent, failed (no more attempts), lost (at shutdown).",
		}, []string{"outcome"}),
	}
	for _, outcome := range []string{outcomeSent, outcomeFailed, outcomeLost} {
		q.outcomes.WithLabelValues(outcome)
	}
	close(q.idle)
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q
}

// The values of the label outcome.
const (
	outcomeSent   = "sent"
	outcomeFailed = "failed"
	outcomeLost   = "lost"
)

// Collectors implements telemetry.Metered.
func (q *Queue) Collectors() []prometheus.Collector {
	state := func(name string, read func(pending, sending float64) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "mail_queue_mails", Help: "Emails that are being sent, and those that wait for an attempt.", ConstLabels: prometheus.Labels{"state": name},
		}, func() float64 {
			q.mu.Lock()
			defer q.mu.Unlock()
			return read(float64(q.pending), float64(len(q.slots)))
		})
	}
	return []prometheus.Collector{
		state("sending", func(_, sending float64) float64 { return sending }),
		state("waiting", func(pending, sending float64) float64 { return max(0, pending-sending) }),
		q.outcomes,
	}
}

// Enqueue adds a job and returns immediately. The error is Unavailable if the queue is full or closed.
func (q *Queue) Enqueue(ctx context.Context, job Job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return apperr.New(apperr.Unavailable, "The service is shutting down. Try again in a few seconds.").AsOverload()
	}
	if q.pending == capacity {
		return apperr.New(apperr.Unavailable, "Too many emails are queued. Try again in a minute.").WithRetryAfter(time.Minute).AsOverload()
	}
	if q.pending == 0 {
		q.idle = make(chan struct{})
	}
	q.pending++
	begin := untraced
	if q.Trace != nil {
		begin = q.Trace(ctx)
	}
	go q.run(job, begin)
	return nil
}

func untraced(attempt context.Context) (context.Context, func(error)) { return attempt, func(error) {} }

// Wait waits until no email is left to send or retry. It returns the error of ctx if that ends first.
func (q *Queue) Wait(ctx context.Context) error {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close rejects new jobs, makes one more attempt for each email that is left, and waits until these end or ctx does. It
// logs the number of lost emails.
func (q *Queue) Close(ctx context.Context) {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.closing)
	}
	q.mu.Unlock()
	_ = q.Wait(ctx)
	q.mu.Lock()
	lost := q.pending
	q.mu.Unlock()
	if lost > 0 && q.ctx.Err() == nil {
		q.outcomes.WithLabelValues(outcomeLost).Add(float64(lost))
		q.log.Error("emails are lost: there was no time to send them", "emails", lost)
	}
	q.cancel()
}

// run attempts a job until it succeeds, fails permanently or the queue is closed.
func (q *Queue) run(job Job, begin func(context.Context) (context.Context, func(error))) {
	defer q.done()
	var m *Message // the result of job
	for attempt := 0; ; attempt++ {
		last, err := q.attempt(job, begin, &m)
		switch {
		case err == nil:
			if m != nil {
				q.outcomes.WithLabelValues(outcomeSent).Inc()
			}
			return
		case q.ctx.Err() != nil: // Close counts it
			return
		case Permanent(err):
			q.outcomes.WithLabelValues(outcomeFailed).Inc()
			q.log.Error("email not sent: permanent error", "error", err)
			return
		case last || attempt == len(q.backoff):
			q.outcomes.WithLabelValues(outcomeFailed).Inc()
			q.log.Error("email not sent after the last attempt", "attempts", attempt+1, "error", err)
			return
		}
		q.log.Warn("email not sent yet", "attempts", attempt+1, "next", q.backoff[attempt], "error", err)
		select {
		case <-time.After(q.backoff[attempt]):
		case <-q.closing:
		}
	}
}

// attempt waits for a slot and makes one attempt. It calls job unless *m, the email, is known. last reports whether the
// queue was closed before, so that there must be no further attempt.
func (q *Queue) attempt(job Job, begin func(context.Context) (context.Context, func(error)), m **Message) (last bool, err error) {
	select {
	case q.slots <- struct{}{}:
		defer func() { <-q.slots }()
	case <-q.ctx.Done():
		return true, q.ctx.Err()
	}
	select {
	case <-q.closing:
		last = true
	default:
	}
	ctx, cancel := context.WithTimeout(q.ctx, attemptTimeout)
	defer cancel()
	ctx, end := begin(ctx)
	defer func() { end(err) }()
	defer func() {
		if p := recover(); p != nil { // must not end the process
			err = failed(true, "panic: %v", p)
		}
	}()
	if *m == nil {
		*m, err = job(ctx)
		if err != nil && !apperr.Is(err, apperr.Unavailable) {
			err = &Error{Permanent: true, Err: err}
		}
		if err != nil || *m == nil {
			return last, err
		}
	}
	return last, q.sender.Send(ctx, **m)
}

// done records that an email is no longer pending.
func (q *Queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending--
	if q.pending == 0 {
		close(q.idle)
	}
}
