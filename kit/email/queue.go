package email

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/seal"
	"example.com/ginseng/kit/store"
)

// Limits of a Queue.
const (
	capacity       = 10_000           // approximate maximum number of waiting emails, and of failed emails, in the database
	countEvery     = 100              // number of new emails after which an instance counts the waiting emails again
	countTimeout   = 5 * time.Second  // time limit for counting the waiting emails
	parallel       = 4                // number of emails that an instance sends concurrently
	attemptTimeout = 45 * time.Second // time limit of one attempt, which runs the Builder and sends the email
	// lease is the time from the start of an attempt during which no other instance sends the email. It exceeds attemptTimeout,
	// because clocks differ and storing the result takes time.
	lease         = attemptTimeout + 15*time.Second
	saveTimeout   = 10 * time.Second       // time limit for storing the result of an attempt
	retention     = 24 * time.Hour         // time after which a failed email is deleted
	maxReason     = 300                    // maximum length of Row.Error in bytes
	releaseWait   = 1 * time.Second        // time at shutdown to make interrupted emails due again
	checkInterval = time.Minute            // interval of the job that looks for due emails
	minDelay      = 100 * time.Millisecond // minimum delay of the call of Send that plan schedules
)

// Backoff lists the delays between the attempts to send an email. The delays add up to almost a day.
var Backoff = [...]time.Duration{
	time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour,
}

// Entry is an accepted email. It is stored until the email is sent, or for a day after the email has failed.
type Entry struct {
	Kind    string            // selects the Builder
	UserID  store.ID          // the user that the email concerns; zero if no user is known
	Address string            // an email address that the Builder needs; can be ""
	Args    map[string]string // other values that the Builder needs; must not contain tokens, codes or passwords
	Secret  string            // a secret that the Builder needs; it is stored encrypted

	// The Queue sets these fields for a Builder.
	Attempt   int // number of the attempt; the first attempt is 1
	CreatedAt time.Time
}

// Builder returns the email of an entry, or nil if the email should no longer be sent, for example because the account was
// deleted. The Queue calls the Builder at each attempt, not in the request that enqueued the entry. Therefore, the duration of
// the request does not reveal whether an account exists. A Builder creates links and codes, so that the queue never stores
// them. If the error is Unavailable, the Queue tries again; any other error is permanent.
type Builder func(ctx context.Context, e Entry) (*Message, error)

// Tracer links the attempts to send an email to the request that enqueued the email.
type Tracer interface {
	// Link returns a reference to the request, which is stored with the entry.
	Link(requestCtx context.Context) string
	// Begin is called at the start of an attempt. end is called at the end of the attempt, with the error of the attempt.
	Begin(attemptCtx context.Context, link string) (ctx context.Context, end func(error))
}

// The values of Row.Status.
const (
	Pending = "pending" // the email is waiting for an attempt or is being sent
	Failed  = "failed"  // the email will not be sent; it is deleted after a day
)

// Row is a stored Entry. The Row is deleted when the email has been sent, or when the Builder returns nil.
type Row struct {
	store.Meta `bson:",inline"`
	Kind       string            `json:"kind"`
	UserID     *store.ID         `json:"userId"`
	Address    string            `json:"address"`
	Args       map[string]string `json:"args"`
	Secret     string            `json:"secret"` // Entry.Secret, encrypted; can be ""
	Trace      string            `json:"trace"`  // the reference that Tracer.Link returned
	Status     string            `json:"status"`
	Attempts   int64             `json:"attempts"` // number of attempts that have started; Retry sets it to 1
	Error      string            `json:"error"`    // why the last attempt failed; "" if no attempt has failed
	// NextAttemptAt is the time at which the next attempt can start. During an attempt, it is the end of the attempt's lease.
	// nil means that no more attempts follow.
	NextAttemptAt *store.Time `json:"nextAttemptAt"`
	LeasedUntil   *store.Time `json:"leasedUntil"` // during an attempt, the end of its lease; nil: no attempt is in progress
}

// Collection is the name of the collection of the rows.
const Collection = "emails"

// QueueOptions are the arguments of NewQueue.
type QueueOptions struct {
	DB      store.DB
	Sender  Sender
	Keys    seal.Keys // keys that encrypt Entry.Secret
	Now     func() time.Time
	Log     *slog.Logger
	Backoff []time.Duration // usually Backoff[:]
}

// Queue sends emails in the background and retries failed attempts. It stores the emails in the database, so that no email is
// lost in a crash, and any instance can send them. An instance stores the result after it has sent an email. If the instance is
// killed, pauses for more than a minute or cannot reach the database before it stores the result, the email is sent twice.
// Addresses and content are never logged.
type Queue struct {
	Tracer Tracer // can be nil

	sender   Sender
	rows     *store.Collection[Row]
	keys     seal.Keys
	now      func() time.Time
	log      *slog.Logger
	backoff  []time.Duration
	builders map[string]Builder
	slots    chan struct{}   // has an element for each email being sent
	ctx      context.Context // parent context of all attempts
	cancel   context.CancelFunc

	mu      sync.Mutex
	closed  bool
	wanted  bool          // Send was called, so dispatch must look for due emails
	active  int           // number of attempts in progress, plus 1 while dispatch is running
	running bool          // dispatch is running
	idle    chan struct{} // closed while active is 0
	timer   *time.Timer   // calls Send when the next email is due; can be nil

	countMu sync.Mutex
	counted int64 // number of waiting emails at the last count; -1 before the first count
	added   int64 // number of emails that this instance has added since the last count

	outcomes *prometheus.CounterVec
}

// NewQueue returns a Queue. Call NewQueue before DB.Prepare, because NewQueue opens a collection. Call Close when the service
// stops.
func NewQueue(o QueueOptions) *Queue {
	q := &Queue{
		sender: o.Sender, keys: o.Keys, now: o.Now, log: o.Log, backoff: o.Backoff, builders: map[string]Builder{},
		rows:  store.Open[Row](o.DB, store.Spec{Name: Collection, Indexes: []store.Index{{Fields: []string{"nextAttemptAt"}}, {Fields: []string{"status", "createdAt"}}, {Fields: []string{"createdAt"}}}}),
		slots: make(chan struct{}, parallel), idle: make(chan struct{}), counted: -1,
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "emails_total", Help: "Emails by outcome: sent, or failed without further attempts.",
		}, []string{"outcome"}),
	}
	for _, outcome := range []string{outcomeSent, outcomeFailed} {
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
)

// Collectors implements kit.Metered.
func (q *Queue) Collectors() []prometheus.Collector {
	state := func(name string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "emails_queued", Help: "Emails that this instance is sending (sending), and emails in the database that are not being sent yet (waiting).",
			ConstLabels: prometheus.Labels{"state": name},
		}, read)
	}
	return []prometheus.Collector{
		state("sending", func() float64 { return float64(len(q.slots)) }),
		state("waiting", func() float64 {
			n, _ := q.count(Pending) // n is 0 if the database is unavailable, which other metrics show
			return max(0, float64(n)-float64(len(q.slots)))
		}),
		q.outcomes,
	}
}

// Rows returns the collection of the emails that have not been sent yet or that failed in the last day.
func (q *Queue) Rows() *store.Collection[Row] { return q.rows }

// Handle registers the Builder for a kind of email. Call Handle before the server starts. Handle panics if the kind already has
// a Builder.
func (q *Queue) Handle(kind string, build Builder) {
	if q.builders[kind] != nil {
		panic("email: two modules send emails of kind " + kind)
	}
	q.builders[kind] = build
}

// Enqueue stores an entry and then sends the email in the background. If ctx is the context of DB.Atomic or DB.Together,
// Enqueue stores the entry in that transaction, and the email is sent after Atomic or Together has ended. Unavailable: too many
// emails are waiting, or the database is unavailable. If too many emails are waiting, the transaction of ctx remains usable.
func (q *Queue) Enqueue(ctx context.Context, e Entry) error {
	if err := q.checkRoom(); err != nil {
		return err
	}
	now := store.At(q.now())
	r := Row{
		Meta: store.NewMeta(store.NewID(), now), Kind: e.Kind, Address: e.Address, Args: e.Args, Status: Pending, NextAttemptAt: &now,
	}
	if !e.UserID.IsZero() {
		r.UserID = &e.UserID
	}
	if e.Secret != "" {
		r.Secret = q.keys.Seal(r.use(), []byte(e.Secret))
	}
	if q.Tracer != nil {
		r.Trace = q.Tracer.Link(ctx)
	}
	if !store.IsSeparate(ctx) {
		err := q.rows.Insert(ctx, r)
		store.AfterCommit(ctx, q.Send)
		return err
	}
	after := store.At(q.now().Add(lease)) // q.release makes the email due earlier, unless the process is killed
	r.NextAttemptAt, r.LeasedUntil = &after, &after
	err := q.rows.Insert(ctx, r)
	store.AfterCommit(ctx, func() { q.release(r) })
	return err
}

// release makes a new row due, after the DB.Together that stored the row has ended. Until then, no instance sends the email.
func (q *Queue) release(r Row) {
	ctx, cancel := context.WithTimeout(context.Background(), saveTimeout)
	defer cancel()
	q.save(ctx, r, "", 0)
	q.Send()
}

// use returns the purpose string to pass to seal.Keys. It contains the row ID, so that the secret cannot be decrypted in another
// row.
func (r Row) use() string { return "email " + r.ID.Hex() }

// checkRoom fails with Unavailable if too many emails are waiting or the database is unavailable. Counting is slow, so
// checkRoom uses the last count plus the number of emails that this instance has enqueued since then.
func (q *Queue) checkRoom() error {
	q.countMu.Lock()
	defer q.countMu.Unlock()
	if q.counted < 0 || q.added >= countEvery || q.counted+q.added >= capacity {
		n, err := q.count(Pending)
		if err != nil {
			return err
		}
		q.counted, q.added = n, 0
	}
	if q.counted+q.added >= capacity {
		return apperr.New(apperr.Unavailable, "Too many emails are queued. Try again in a minute.").WithRetryAfter(time.Minute).AsOverload()
	}
	q.added++
	return nil
}

// count returns the number of emails with the status. It does not use the context of a request, so that it never runs in the
// transaction of a request.
func (q *Queue) count(status string) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	return q.rows.Count(ctx, store.Eq("status", status))
}

// Send starts to send the due emails in the background. The server calls Send at startup, to send emails left unsent by a
// stopped instance.
func (q *Queue) Send() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.wanted = true
	if !q.running {
		q.running = true
		q.begin()
		go q.dispatch()
	}
}

// begin adds one attempt, or the goroutine of dispatch, to active. The caller must hold mu.
func (q *Queue) begin() {
	if q.active == 0 {
		q.idle = make(chan struct{})
	}
	q.active++
}

// end reverses begin. The caller must hold mu.
func (q *Queue) end() {
	q.active--
	if q.active == 0 {
		close(q.idle)
	}
}

// Wait waits until this instance has completed its attempts and knows of no other due email. If ctx ends first, Wait returns
// the error of ctx.
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

// Close waits until the due emails are sent or ctx ends. Other emails remain in the database. Another instance, or this
// instance after its next start, sends them.
func (q *Queue) Close(ctx context.Context) {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	if q.Wait(ctx) == nil {
		q.cancel()
		return
	}
	q.cancel()
	released, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWait)
	defer cancel()
	_ = q.Wait(released)
	q.log.Warn("not all emails were sent before shutdown; the remaining emails are sent after the next start")
}

// Jobs returns the job that sends emails left unsent by a stopped instance, and deletes failed emails after a day.
func (q *Queue) Jobs() []job.Job {
	return []job.Job{{Name: "emails", Interval: checkInterval, Run: func(ctx context.Context) error {
		q.Send()
		_, err := q.rows.Delete(ctx, store.And(store.Eq("status", Failed), store.Lte("updatedAt", store.At(q.now().Add(-retention)))))
		return err
	}}}
}
