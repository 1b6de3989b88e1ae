package email

import (
	"context"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// dispatch starts attempts until no email is due. If Send was called in the meantime, dispatch starts over.
func (q *Queue) dispatch() {
	for q.dispatchAgain() {
		for q.dispatchNext() {
		}
		q.plan()
	}
}

// plan schedules a call of Send for the time at which the next email is due. The email can come from any instance. If no email
// is due within checkInterval, plan does nothing: the job calls Send in time.
func (q *Queue) plan() {
	now := q.now()
	next, err := q.rows.List(q.ctx, store.Query{
		Filter: store.Lt("nextAttemptAt", store.At(now.Add(checkInterval))), Sort: []store.Order{{Field: "nextAttemptAt"}}, Limit: 1, Fields: []string{"nextAttemptAt"},
	})
	if err != nil || len(next) == 0 {
		return // after an error, the job calls Send
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.timer != nil {
		q.timer.Stop()
	}
	q.timer = time.AfterFunc(max(minDelay, next[0].NextAttemptAt.Sub(now)), q.Send)
}

// dispatchAgain reports whether dispatch must look for due emails again: Send was called since dispatch last looked for them, and
// Close has not canceled the attempts. If dispatchAgain returns false, it marks dispatch as ended.
func (q *Queue) dispatchAgain() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	again := q.wanted && q.ctx.Err() == nil
	q.wanted = false
	if !again {
		q.running = false
		q.end()
	}
	return again
}

// dispatchNext waits for a slot, and starts an attempt for a due email. It returns false if no email is due, if the database
// fails, or if Close has canceled the attempts.
func (q *Queue) dispatchNext() bool {
	select {
	case q.slots <- struct{}{}:
	case <-q.ctx.Done():
		return false
	}
	if q.ctx.Err() != nil { // both cases of the select were ready
		<-q.slots
		return false
	}
	r, err := q.claim()
	if err != nil {
		<-q.slots
		if !apperr.Is(err, apperr.NotFound) && q.ctx.Err() == nil {
			q.log.Warn("cannot look for emails to send; trying again within a minute", "error", err)
		}
		return false
	}
	q.mu.Lock()
	q.begin()
	q.mu.Unlock()
	go func() {
		q.run(r)
		<-q.slots
		q.mu.Lock()
		defer q.mu.Unlock()
		q.end()
	}()
	return true
}

// claim reserves a due email for one attempt. One write selects the email and moves its due time to the end of the lease.
// NotFound: no email is due. Close does not interrupt claim. If it did, the database might still complete the write, and the
// email would stay reserved until its lease expires.
func (q *Queue) claim() (Row, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.ctx), saveTimeout)
	defer cancel()
	now := q.now()
	until := store.At(now.Add(lease))
	return q.rows.Update(ctx, store.Lte("nextAttemptAt", store.At(now)), store.Inc("attempts", 1),
		store.Set("nextAttemptAt", until), store.Set("leasedUntil", until))
}

// run makes an attempt and stores its result.
func (q *Queue) run(r Row) {
	m, sent, err := q.attempt(r)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.ctx), saveTimeout)
	defer cancel()
	switch {
	case err == nil:
		if m != nil {
			q.outcomes.WithLabelValues(outcomeSent).Inc()
		}
		if _, err := q.rows.Delete(ctx, store.Eq("id", r.ID)); err != nil {
			q.log.Warn("a sent or obsolete email cannot be removed from the queue; another attempt follows", "kind", r.Kind, "error", err)
		}
	case q.ctx.Err() != nil: // Close has interrupted the attempt
		q.save(ctx, r, r.Error, 0)
	case Permanent(err):
		q.log.Error("email not sent: permanent error", "kind", r.Kind, "error", err)
		q.fail(ctx, r, reason(sent, err))
	case int(r.Attempts) > len(q.backoff):
		q.log.Error("email not sent after the last attempt", "kind", r.Kind, "attempts", r.Attempts, "error", err)
		q.fail(ctx, r, reason(sent, err))
	default:
		delay := q.backoff[r.Attempts-1]
		q.log.Warn("email not sent yet", "kind", r.Kind, "attempts", r.Attempts, "next", delay, "error", err)
		q.save(ctx, r, reason(sent, err), delay)
		q.Send() // dispatch then plans the next attempt
	}
}

// reason returns Row.Error for an error. sent reports whether err comes from the Sender. Only errors of the Sender are certain
// not to contain the address or the content of the email.
func reason(sent bool, err error) string {
	if !sent {
		return "the email cannot be built: " + string(apperr.CodeOf(err)) + "; see the log"
	}
	text := err.Error()
	return text[:min(len(text), maxReason)]
}

// fail marks the email as failed. If too many failed emails are already stored, fail deletes the email instead.
func (q *Queue) fail(ctx context.Context, r Row, reason string) {
	q.outcomes.WithLabelValues(outcomeFailed).Inc()
	if n, err := q.count(Failed); err == nil && n >= capacity {
		_, _ = q.rows.Delete(ctx, store.Eq("id", r.ID)) // if Delete fails, the email becomes due again, and fails again
		return
	}
	q.update(ctx, r, store.Set("status", Failed), store.Set("error", reason), store.Unset("nextAttemptAt"))
}

// save stores reason and schedules the next attempt after delay.
func (q *Queue) save(ctx context.Context, r Row, reason string, delay time.Duration) {
	q.update(ctx, r, store.Set("error", reason), store.Set("nextAttemptAt", store.At(q.now().Add(delay))))
}

// update changes a row after an attempt, unless another instance has claimed the email after the lease expired. If update fails, the email
// becomes due when the lease expires.
func (q *Queue) update(ctx context.Context, r Row, changes ...store.Change) {
	_, err := q.rows.Update(ctx, store.And(store.Eq("id", r.ID), store.Eq("version", r.Version)), append(changes, store.Unset("leasedUntil"))...)
	if err != nil && !apperr.Is(err, apperr.NotFound) {
		q.log.Warn("the result of an attempt to send an email cannot be stored; the next attempt is in a minute", "kind", r.Kind, "error", err)
	}
}

// attempt builds the email of a row and sends it. m is nil if there is no email to send. sent reports whether err comes from
// the Sender.
func (q *Queue) attempt(r Row) (m *Message, sent bool, err error) {
	ctx, cancel := context.WithTimeout(q.ctx, attemptTimeout)
	defer cancel()
	if q.Tracer != nil {
		var end func(error)
		ctx, end = q.Tracer.Begin(ctx, r.Trace)
		defer func() { end(err) }()
	}
	defer func() {
		if p := recover(); p != nil { // a panic in a Builder or Sender must not end the process
			sent, err = false, failed(true, "panic: %v", p)
		}
	}()
	m, err = q.build(ctx, r)
	if err != nil || m == nil {
		return nil, false, err
	}
	return m, true, q.sender.Send(ctx, *m)
}

// build calls the Builder for the kind of the row. Any error other than Unavailable is permanent.
func (q *Queue) build(ctx context.Context, r Row) (*Message, error) {
	build := q.builders[r.Kind]
	if build == nil { // another version of the service may have the Builder
		return nil, apperr.New(apperr.Unavailable, "This instance has no module that sends emails of kind %s.", r.Kind)
	}
	e := Entry{Kind: r.Kind, Address: r.Address, Args: r.Args, Attempt: int(r.Attempts), CreatedAt: r.CreatedAt.Time}
	if r.UserID != nil {
		e.UserID = *r.UserID
	}
	if r.Secret != "" {
		secret, _, ok := q.keys.Open(r.use(), r.Secret)
		if !ok {
			return nil, failed(true, "the secret of the email cannot be decrypted: its key is missing from MASTER_KEY")
		}
		e.Secret = string(secret)
	}
	m, err := build(ctx, e)
	if err != nil && !apperr.Is(err, apperr.Unavailable) {
		err = &Error{Permanent: true, Err: err}
	}
	return m, err
}
