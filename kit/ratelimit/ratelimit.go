// Package ratelimit counts what may be tried only so often: guesses of a password, sign-ups, mails. The counters are in the
// database, so that all copies of the service count together and a restart forgets nothing.
package ratelimit

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Rule allows Max times in a Window, which begins with the first of them.
type Rule struct {
	Name   string // in the RateLimit headers
	Max    int
	Window time.Duration
}

// Key is the counter of one account, client or the like under a rule.
type Key struct {
	rule Rule
	id   store.ID
}

// Of is the rule's counter for what the parts name. They are not stored, only a digest.
func (r Rule) Of(parts ...string) Key {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{r.Name}, parts...), "\x00")))
	return Key{rule: r, id: store.ID(sum[:len(store.ID{})])}
}

// Network is the part of a client's address that is counted: all of IPv4, and of IPv6 the 64 bits that name a network,
// because a client has all addresses of its own (RFC 4291 section 2.5.1).
func Network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if ip = ip.Unmap(); ip.Is4() {
		return ip.String()
	}
	prefix, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return prefix.String()
}

// counter is a Key's count, as it is stored. Its id is the Key's.
type counter struct {
	store.Meta `bson:",inline"`
	Count      int64      `json:"count"`
	ExpiresAt  store.Time `json:"expiresAt"`
}

// Limiter keeps the counters.
type Limiter struct {
	counters *store.Collection[counter]
	now      func() time.Time
	rejected *prometheus.CounterVec // by the name of the rule
}

// New opens the collection.
func New(db store.DB, now func() time.Time) *Limiter {
	return &Limiter{
		counters: store.Open[counter](db, store.Spec{Name: "limits", Indexes: []store.Index{{Fields: []string{"expiresAt"}}}}),
		now:      now,
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "limit_refusals_total", Help: "Rejected requests, by the limit that they exceeded."}, []string{"limit"}),
	}
}

// Collectors implements telemetry.Metered.
func (l *Limiter) Collectors() []prometheus.Collector { return []prometheus.Collector{l.rejected} }

// State is how much of a rule is left.
type State struct {
	Rule
	Left  int
	Reset time.Duration // until all of it is there again
}

type observerKey struct{}

// WithObserver makes the Limiter tell observe the states of the counters that it looks at under the context it returns.
func WithObserver(ctx context.Context, observe func([]State)) context.Context {
	return context.WithValue(ctx, observerKey{}, observe)
}

// Check fails with TooManyRequests if one of the counters is used up. It counts nothing, and takes one query.
func (l *Limiter) Check(ctx context.Context, keys ...Key) error {
	_, err := l.check(ctx, keys)
	return err
}

func (l *Limiter) check(ctx context.Context, keys []Key) (map[store.ID]counter, error) {
	ids, now := make([]any, len(keys)), store.At(l.now())
	for i, k := range keys {
		ids[i] = k.id
	}
	found, err := l.counters.List(ctx, store.Query{Filter: store.And(store.In("id", ids...), store.Gt("expiresAt", now))})
	if err != nil {
		return nil, err
	}
	counters := make(map[store.ID]counter, len(found))
	for _, c := range found {
		counters[c.ID] = c
	}
	states := make([]State, len(keys))
	for i, k := range keys {
		if c := counters[k.id]; c.ExpiresAt.After(k.latest(now).Time) {
			delete(counters, k.id)
		}
		states[i] = k.state(counters[k.id], now)
	}
	return counters, l.judge(ctx, states, func(s State) bool { return s.Left <= 0 })
}

// Take counts one in each of the counters. TooManyRequests: one of them was used up before.
func (l *Limiter) Take(ctx context.Context, keys ...Key) error {
	states, now := make([]State, len(keys)), store.At(l.now())
	for i, k := range keys {
		c, err := l.take(ctx, k, now)
		if err != nil {
			return err
		}
		states[i] = k.state(c, now)
	}
	return l.judge(ctx, states, func(s State) bool { return s.Left < 0 })
}

// take counts one. Of callers at the same moment one begins the window, and the others find it.
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
		if err := l.counters.Insert(ctx, fresh); !apperr.Is(err, apperr.Conflict) {
			return fresh, err
		}
		c, err = l.counters.Update(ctx, store.And(id, over), store.Set("count", int64(1)), store.Set("expiresAt", fresh.ExpiresAt))
		if !apperr.Is(err, apperr.NotFound) {
			return c, err
		}
	}
}

// latest is when a window that began before now can end. One that ends later was begun by a clock that has been set back
// since, and nobody shall wait for it; another copy's clock may be ahead by up to a window.
func (k Key) latest(now store.Time) store.Time { return store.At(now.Add(2 * k.rule.Window)) }

// Clear sets a counter back to nothing.
func (l *Limiter) Clear(ctx context.Context, k Key) error {
	if _, err := l.counters.Delete(ctx, store.Eq("id", k.id)); err != nil {
		return err
	}
	return l.judge(ctx, []State{k.state(counter{}, store.Time{})}, func(State) bool { return false })
}

// Sweep deletes the counters whose window is over.
func (l *Limiter) Sweep(ctx context.Context) error {
	_, err := l.counters.Delete(ctx, store.Lte("expiresAt", store.At(l.now())))
	return err
}

// state of a key with a counter, which is the zero value where there is none.
func (k Key) state(c counter, now store.Time) State {
	s := State{Rule: k.rule, Left: k.rule.Max - int(c.Count), Reset: k.rule.Window}
	if c.Count > 0 {
		s.Reset = min(k.rule.Window, c.ExpiresAt.Sub(now.Time)) // another copy's clock may be ahead
	}
	return s
}

// judge tells the observer the states, and fails if a rule is broken. The longest wait is the one that helps.
func (l *Limiter) judge(ctx context.Context, states []State, broken func(State) bool) error {
	if observe, ok := ctx.Value(observerKey{}).(func([]State)); ok {
		observe(states)
	}
	var wait time.Duration
	for _, s := range states {
		if broken(s) {
			wait = max(wait, s.Reset)
			l.rejected.WithLabelValues(s.Name).Inc()
		}
	}
	if wait == 0 {
		return nil
	}
	return apperr.New(apperr.TooManyRequests, "This was tried too often. Wait as long as Retry-After says, and try again.").WithRetryAfter(wait)
}
