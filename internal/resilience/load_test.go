package resilience_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Load is a number of clients that send requests as fast as the service responds. Each client is a user and checks that it
// gets its own data.
type Load struct {
	url       atomic.Pointer[string]
	masterKey string
	http      *http.Client
	clients   []*client
	running   sync.WaitGroup
	ctx       context.Context // ends with Stop
	cancel    context.CancelFunc
	succeeded atomic.Int64

	mu      sync.Mutex
	mark    time.Time
	samples []Sample
	wrong   []string
}

// Sample is the outcome of one request.
type Sample struct {
	Op     string
	Begun  time.Time
	Took   time.Duration
	Status int // 0 if the connection ended without a response
}

// Failed reports whether there was no response, or a status of 500 or more.
func (s Sample) Failed() bool { return s.Status == 0 || s.Status >= http.StatusInternalServerError }

const (
	responseTimeout = 45 * time.Second      // the service's own limit is 30 s
	retryDelay      = 20 * time.Millisecond // after a failure
	maxArticles     = 20                    // of a client; above it, the client deletes more than it creates
	maxWrong        = 20                    // violations that are kept
	pageLimit       = 100
)

// password is the password of every client.
const password = "analytical engine"

// NewLoad signs up the given number of clients with the master key.
func NewLoad(ctx context.Context, url, masterKey string, clients int) (*Load, error) {
	l := &Load{masterKey: masterKey, http: &http.Client{
		Timeout:   responseTimeout,
		Transport: &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true},
	}}
	l.SetURL(url)
	for i := range clients {
		c := &client{
			load: l, name: fmt.Sprintf("c%d", i), random: rand.New(rand.NewPCG(uint64(i), 1)),
			articles: make(map[string]*article), unconfirmed: make(map[string]bool),
		}
		if err := c.signUp(ctx); err != nil {
			return nil, err
		}
		l.clients = append(l.clients, c)
	}
	l.samples = nil
	return l, nil
}

// SetURL sets the base URL of the following requests.
func (l *Load) SetURL(url string) { l.url.Store(&url) }

// Start starts the clients.
func (l *Load) Start() {
	l.ctx, l.cancel = context.WithCancel(context.Background())
	for _, c := range l.clients {
		l.running.Go(c.run)
	}
}

// Stop waits for the last response to each client. Repetitions of a request with an Idempotency-Key are canceled: they
// would wait up to 10 s for a first request that was cut off.
func (l *Load) Stop() {
	l.cancel()
	l.running.Wait()
	l.http.CloseIdleConnections()
}

// Succeeded returns the number of successful requests.
func (l *Load) Succeeded() int64 { return l.succeeded.Load() }

// Await waits for the given number of further successful requests.
func (l *Load) Await(ctx context.Context, more int64) error {
	goal := l.Succeeded() + more
	return until(ctx, func() bool { return l.Succeeded() >= goal })
}

// Mark records that a failure ends now. Recovery counts from this time.
func (l *Load) Mark() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mark = time.Now()
}

// until polls done until it returns true.
func until(ctx context.Context, done func() bool) error {
	for !done() {
		select {
		case <-time.After(retryDelay / 4):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Recovery returns the time from the mark to the end of the last failed request.
func (l *Load) Recovery() (took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.samples {
		if s.Failed() {
			took = max(took, s.Begun.Add(s.Took).Sub(l.mark))
		}
	}
	return took
}

// Take returns the samples since the last call.
func (l *Load) Take() []Sample {
	l.mu.Lock()
	defer l.mu.Unlock()
	samples := l.samples
	l.samples = nil
	return samples
}

func (l *Load) add(s Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples = append(l.samples, s)
	if !s.Failed() {
		l.succeeded.Add(1)
	}
}

// violation records that the service broke a guarantee.
func (l *Load) violation(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wrong) < maxWrong {
		l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
	}
}
