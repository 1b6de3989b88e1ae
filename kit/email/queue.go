package email

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/meter"
)

// The bounds of a Queue.
const (
	queued      = 1000             // mails that wait or are being sent
	parallel    = 4                // mails being sent at once: a slow server holds up one of them
	attemptTime = 45 * time.Second // for a job and one try at sending what it made
)

// Backoff is how long a Queue waits before each further try at a mail.
var Backoff = [...]time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// Job makes a mail, or nil where there is none to send. It runs in the queue, after the request that enqueued it: what
// depends on whether an account exists belongs here, so that the request takes the same time either way. It runs once,
// or again after an error that is Unavailable: the database was away.
type Job func(ctx context.Context) (*Message, error)

// Queue sends mails in the background, and tries again after a failure. It keeps them in memory: a mail that the
// process takes with it is lost, and its reader asks for another. Its log holds no address and nothing of a mail.
type Queue struct {
	// Trace, if set, is told of each job in the context of the request that enqueues it. What it returns begins each try:
	// it gets the try's context and returns the one to go on with, and what is to be told of the try's end.
	Trace func(request context.Context) (begin func(try context.Context) (context.Context, func(error)))

	sender  Sender
	log     *slog.Logger
	backoff []time.Duration
	slots   chan struct{} // one for each mail being sent
	closing chan struct{} // closed by Close: no more, and no more waiting
	ctx     context.Context
	cancel  context.CancelFunc

	mu      sync.Mutex
	closed  bool
	pending int
	idle    chan struct{} // closed while nothing is pending

	sent, failed, lost atomic.Int64
}

// NewQueue makes a Queue, which waits as long as backoff says before each further try (usually Backoff[:]). Close it.
func NewQueue(sender Sender, backoff []time.Duration, log *slog.Logger) *Queue {
	q := &Queue{
		sender: sender, log: log, backoff: backoff,
		slots: make(chan struct{}, parallel), closing: make(chan struct{}), idle: make(chan struct{}),
	}
	close(q.idle)
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q
}

// Enqueue takes a job and returns at once. Unavailable: too many mails wait, or the service is about to stop.
func (q *Queue) Enqueue(ctx context.Context, job Job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return apperr.New(apperr.Unavailable, "The service is about to stop. Try again in a few seconds.").AsOverload()
	}
	if q.pending == queued {
		return apperr.New(apperr.Unavailable, "Too many mails wait to be sent. Try again in a minute.").WithRetryAfter(time.Minute).AsOverload()
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

func untraced(try context.Context) (context.Context, func(error)) { return try, func(error) {} }

// Metrics implements meter.Metered.
func (q *Queue) Metrics() []meter.Metric {
	return []meter.Metric{
		{
			Name: "mail_queue_mails", Help: "Mails that are being sent, and those that wait for that or for a further try.", Label: "state",
			Read: func() map[string]float64 {
				q.mu.Lock()
				defer q.mu.Unlock()
				sending := float64(len(q.slots))
				return map[string]float64{"sending": sending, "waiting": max(0, float64(q.pending)-sending)}
			},
		},
		{
			Name: "mail_mails_total", Help: "Mails by what became of them: sent, failed (given up), lost with the process.", Label: "outcome", Counter: true,
			Read: func() map[string]float64 {
				return map[string]float64{"sent": float64(q.sent.Load()), "failed": float64(q.failed.Load()), "lost": float64(q.lost.Load())}
			},
		},
	}
}

// Wait waits until nothing is left to send, not even to try again, or ctx ends, whose error it returns.
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

// Close takes no more jobs, gives each mail that is left one more try, and waits until that is done or ctx ends. It
// logs how many mails were lost by that.
func (q *Queue) Close(ctx context.Context) {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.closing)
	}
	q.mu.Unlock()
	_ = q.Wait(ctx) // what is still there then is lost
	q.mu.Lock()
	lost := q.pending
	q.mu.Unlock()
	if lost > 0 {
		q.lost.Store(int64(lost))
		q.log.Error("mails are lost: there was no time to send them", "mails", lost)
	}
	q.cancel()
}

// run tries a job until it is done, given up or lost.
func (q *Queue) run(job Job, begin func(context.Context) (context.Context, func(error))) {
	defer q.done()
	var m *Message // what job made
	for try := 0; ; try++ {
		last, err := q.try(job, begin, &m)
		switch {
		case err == nil:
			if m != nil {
				q.sent.Add(1)
			}
			return
		case q.ctx.Err() != nil: // Close counts what it cuts short
			return
		case Permanent(err):
			q.failed.Add(1)
			q.log.Error("a mail is given up: it cannot be sent", "error", err)
			return
		case last || try == len(q.backoff):
			q.failed.Add(1)
			q.log.Error("a mail is given up after the last try", "tries", try+1, "error", err)
			return
		}
		q.log.Warn("a mail could not be sent yet", "tries", try+1, "next", q.backoff[try], "error", err)
		select {
		case <-time.After(q.backoff[try]):
		case <-q.closing:
		}
	}
}

// try waits for its turn and tries once. It is the last try if the queue was closed before it began.
func (q *Queue) try(job Job, begin func(context.Context) (context.Context, func(error)), m **Message) (last bool, err error) {
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
	ctx, cancel := context.WithTimeout(q.ctx, attemptTime)
	defer cancel()
	ctx, end := begin(ctx)
	defer func() { end(err) }()
	defer func() {
		if p := recover(); p != nil { // one mail must not take the service down
			err = failed(true, "panic: %v", p)
		}
	}()
	if *m == nil {
		if *m, err = job(ctx); err != nil && !apperr.Is(err, apperr.Unavailable) {
			err = &Error{Permanent: true, Err: err}
		}
		if err != nil || *m == nil {
			return last, err
		}
	}
	return last, q.sender.Send(ctx, **m)
}

func (q *Queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.pending--; q.pending == 0 {
		close(q.idle)
	}
}
