// Package ratelimit limits the rate of actions such as password attempts, sign-ups and emails. The counters are stored in the
// database, so that all instances share them and a restart does not reset them.
package ratelimit

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
)

// Rule allows Max attempts in a Window, which begins with the first attempt.
type Rule struct {
	Name   string // unique; sent to clients in the RateLimit headers
	Max    int
	Window time.Duration
}

// Key identifies a counter of a rule, for example the counter of an account or a network.
type Key struct {
	rule Rule
	id   store.ID
}

// Of returns the Key of a counter of the rule. The parts identify the counter, for example an account and a network. Only a
// digest of the parts is stored.
func (r Rule) Of(parts ...string) Key {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{r.Name}, parts...), "\x00")))
	return Key{rule: r, id: store.ID(sum[:len(store.ID{})])}
}

// Network returns the part of a client's address that identifies the client in a Key: the whole IPv4 address, or the /64 prefix
// of an IPv6 address. The client can choose the other bits of an IPv6 address (RFC 4291 section 2.5.1).
func Network(address string) string { return prefix(address, 64) }

// Site is like Network, but with the /48 prefix of an IPv6 address. This is the usual size of a customer's network (RFC 6177
// section 2).
func Site(address string) string { return prefix(address, 48) }

// prefix returns the whole IPv4 address, or the prefix of an IPv6 address. bits is the length of the prefix. prefix returns
// other strings unchanged.
func prefix(address string, bits int) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap()
	if ip.Is4() {
		return ip.String()
	}
	network, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return address
	}
	return network.String()
}

// counter is a stored counter. Its ID is the id of the Key.
type counter struct {
	store.Meta `bson:",inline"`
	Count      int64      `json:"count"`
	ExpiresAt  store.Time `json:"expiresAt"`
}

// Limiter counts attempts.
type Limiter struct {
	counters *store.Collection[counter]
	now      func() time.Time
	rejected *prometheus.CounterVec // number of rejected requests, by the name of the rule
}

// New returns a Limiter that stores its counters in db. Call New before DB.Prepare, because New opens a collection.
func New(db store.DB, now func() time.Time) *Limiter {
	return &Limiter{
		counters: store.Open[counter](db, store.Spec{Name: "limits", Indexes: []store.Index{{Fields: []string{"expiresAt"}}}}),
		now:      now,
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ratelimit_rejected_total", Help: "Rejected requests, by the limit that was exceeded."}, []string{"limit"}),
	}
}

// Collectors implements kit.Metered.
func (l *Limiter) Collectors() []prometheus.Collector { return []prometheus.Collector{l.rejected} }

// State is the state of one counter.
type State struct {
	Rule
	Left  int           // number of attempts that are left; negative if Take has counted more than Max attempts
	Reset time.Duration // time until the window ends and Left is Max again
}

// States are the states of the counters that a request used.
type States []State

// With returns the states of s and later. If both have a state for the same rule, With returns only the state in later.
func (s States) With(later States) States {
	if len(s) == 0 {
		return later
	}
	out := slices.DeleteFunc(slices.Clone(s), func(earlier State) bool {
		return slices.ContainsFunc(later, func(l State) bool { return l.Name == earlier.Name })
	})
	return append(out, later...)
}

// Check fails with TooManyRequests if one of the counters is used up. It does not change the counters, and performs one query.
// Check returns the states even with TooManyRequests.
func (l *Limiter) Check(ctx context.Context, keys ...Key) (States, error) {
	states, _, err := l.read(ctx, keys)
	if err != nil {
		return nil, err
	}
	return states, l.reject(states, State.usedUp)
}

// read returns the states of the counters, and, by ID, the stored counters whose windows have not ended.
func (l *Limiter) read(ctx context.Context, keys []Key) (States, map[store.ID]counter, error) {
	ids, now := make([]any, len(keys)), store.At(l.now())
	for i, k := range keys {
		ids[i] = k.id
	}
	found, err := l.counters.List(ctx, store.Query{Filter: store.And(store.In("id", ids...), store.Gt("expiresAt", now))})
	if err != nil {
		return nil, nil, err
	}
	counters := make(map[store.ID]counter, len(found))
	for _, c := range found {
		counters[c.ID] = c
	}
	states := make(States, len(keys))
	for i, k := range keys {
		if c := counters[k.id]; c.ExpiresAt.After(k.latest(now).Time) {
			delete(counters, k.id)
		}
		states[i] = k.state(counters[k.id], now)
	}
	return states, counters, nil
}

// Take adds one to each counter. It fails with TooManyRequests if one of the counters was already used up. Take returns the
// states even with TooManyRequests.
func (l *Limiter) Take(ctx context.Context, keys ...Key) (States, error) {
	states, now := make(States, len(keys)), store.At(l.now())
	for i, k := range keys {
		c, err := l.take(ctx, k, now)
		if err != nil {
			return nil, err
		}
		states[i] = k.state(c, now)
	}
	return states, l.reject(states, func(s State) bool { return s.Left < 0 })
}

// take adds one to a counter. If concurrent requests find no open window, one request begins a window, and the other requests
// count in the same window.
func (l *Limiter) take(ctx context.Context, k Key, now store.Time) (counter, error) {
	fresh := counter{Meta: store.NewMeta(k.id, now), Count: 1, ExpiresAt: store.At(now.Add(k.rule.Window))}
	id := store.Eq("id", k.id)
	open := store.And(store.Gt("expiresAt", now), store.Lte("expiresAt", k.latest(now)))
	over := store.Or(store.Lte("expiresAt", now), store.Gt("expiresAt", k.latest(now)))
	for {
		c, err := l.counters.Update(ctx, store.And(id, open), store.Inc("count", 1))
		if !apperr.Is(err, apperr.NotFound) {
			return c, err
		}
		err = l.counters.Insert(ctx, fresh)
		if !apperr.Is(err, apperr.Conflict) {
			return fresh, err
		}
		c, err = l.counters.Update(ctx, store.And(id, over), store.Set("count", int64(1)), store.Set("expiresAt", fresh.ExpiresAt))
		if !apperr.Is(err, apperr.NotFound) {
			return c, err
		}
	}
}

// latest returns the latest time at which a window that has already begun can end. This is now plus twice the length of a
// window, because the clock of another instance may be ahead by up to the length of a window. A window that ends later is
// ignored: the clock of the instance that began the window has since been set back.
func (k Key) latest(now store.Time) store.Time { return store.At(now.Add(2 * k.rule.Window)) }

// Clear resets the counters and returns their states.
func (l *Limiter) Clear(ctx context.Context, keys ...Key) (States, error) {
	ids, states := make([]any, len(keys)), make(States, len(keys))
	for i, k := range keys {
		ids[i], states[i] = k.id, k.state(counter{}, store.Time{})
	}
	_, err := l.counters.Delete(ctx, store.In("id", ids...))
	return states, err
}

// Undo subtracts one from each counter. Call Undo if Take counted an attempt before its result was known, and the result shows
// that the attempt must not count.
func (l *Limiter) Undo(ctx context.Context, keys ...Key) error {
	for _, k := range keys {
		counted := store.And(store.Eq("id", k.id), store.Gt("expiresAt", store.At(l.now())), store.Gt("count", int64(0)))
		_, err := l.counters.Update(ctx, counted, store.Inc("count", -1))
		if err != nil && !apperr.Is(err, apperr.NotFound) { // NotFound: the window has ended
			return err
		}
	}
	return nil
}

// Jobs returns the job that deletes expired counters.
func (l *Limiter) Jobs() []job.Job {
	return []job.Job{{Name: "expired-limits", Interval: job.SweepInterval, Run: l.sweep}}
}

func (l *Limiter) sweep(ctx context.Context) error {
	_, err := l.counters.Delete(ctx, store.Lte("expiresAt", store.At(l.now())))
	return err
}

// state returns the state of c, the counter of k. If the counter is not stored, c is the zero value.
func (k Key) state(c counter, now store.Time) State {
	s := State{Rule: k.rule, Left: k.rule.Max - int(c.Count), Reset: k.rule.Window}
	if c.Count > 0 {
		s.Reset = min(k.rule.Window, c.ExpiresAt.Sub(now.Time)) // the clock of another instance may be ahead
	}
	return s
}

func (s State) usedUp() bool { return s.Left <= 0 }

// reject fails with TooManyRequests if exceeded returns true for a state. RetryAfter is the longest Reset of these states.
func (l *Limiter) reject(states States, exceeded func(State) bool) error {
	var wait time.Duration
	for _, s := range states {
		if exceeded(s) {
			wait = max(wait, s.Reset)
			l.rejected.WithLabelValues(s.Name).Inc()
		}
	}
	if wait == 0 {
		return nil
	}
	return apperr.New(apperr.TooManyRequests, "Too many attempts. Wait for the time in Retry-After, then try again.").WithRetryAfter(wait)
}
