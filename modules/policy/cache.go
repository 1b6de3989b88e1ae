package policy

import (
	"container/list"
	"context"
	"crypto/rand"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

const (
	maxAge    = 30 * time.Second // maximum age of a snapshot
	maxCached = 64 << 20         // approximate maximum bytes of all snapshots; one snapshot may be larger
	timeout   = 10 * time.Second // time limit for writing a stamp and for a load; both continue if the client disconnects
)

// cache keeps snapshots of namespaces in memory. Every evaluation sees all writes that any instance acknowledged before the
// evaluation, because each namespace has a stamp in the database:
//
//   - A writer sets a new random stamp after every attempt to write, even a failed attempt, before it responds. If the writer
//     cannot set the stamp, it responds 503.
//   - A reader reads the stamp, then the policies, both from the primary server of the database. It reuses a snapshot only if the
//     stamp is identical, and for at most maxAge.
//
// A snapshot that lacks an acknowledged write has an older stamp, so it is not reused. If an instance crashes before it sets the
// stamp, its write is not acknowledged, and becomes visible within maxAge. Stamps are never deleted, so an outdated snapshot
// never becomes valid again.
type cache struct {
	policies   *store.Collection[Policy]
	stamps     *store.Collection[stamp]
	now        func() time.Time
	loads      singleflight.Group
	seed       maphash.Seed
	turns      [64]sync.Mutex // locked while a namespace is loaded; several namespaces can share a mutex
	mu         sync.Mutex
	kept       map[string]*list.Element // by namespace
	recent     *list.List               // of *snapshot, most recently used first
	bytes, max int                      // bytes is the approximate size of the kept snapshots; max is its limit
}

func newCache(db store.DB, policies *store.Collection[Policy], now func() time.Time) *cache {
	unique := store.Index{Fields: []string{"namespace"}, Unique: true}
	return &cache{
		policies: policies, now: now, seed: maphash.MakeSeed(), max: maxCached,
		stamps: store.Open[stamp](db, store.Spec{Name: "policy-stamps", Indexes: []store.Index{unique}}),
		kept:   make(map[string]*list.Element), recent: list.New(),
	}
}

// write calls do, which attempts to write a policy of the namespace. It then sets a new stamp, and returns the error of do.
// Unavailable: the stamp could not be written; the policy may have been written.
func (c *cache) write(ctx context.Context, namespace string, do func() error) error {
	result := do()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	for {
		value := rand.Text()
		_, err := c.stamps.Update(ctx, store.Eq("namespace", namespace), store.Set("value", value))
		if apperr.Is(err, apperr.NotFound) {
			err = c.stamps.Insert(ctx, stamp{store.NewMeta(store.NewID(), store.At(c.now())), namespace, value})
		}
		switch {
		case err == nil:
			return result
		case !apperr.Is(err, apperr.Conflict): // after a conflict, write tries again: another writer has inserted the first stamp
			return store.Unavailable(err)
		}
	}
}

// get returns a snapshot that contains every write that was acknowledged before the call. Concurrent calls share a load that has
// not begun; a call during a load waits for the next load. Unavailable: ctx ended, or the database is unavailable.
func (c *cache) get(ctx context.Context, namespace string) (*snapshot, error) {
	_, s, err := c.lookup(ctx, namespace)
	if s != nil || err != nil {
		return s, err
	}
	loading := c.loads.DoChan(namespace, func() (any, error) {
		turn := &c.turns[maphash.String(c.seed, namespace)%uint64(len(c.turns))]
		turn.Lock()
		defer turn.Unlock()
		c.loads.Forget(namespace)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		return c.load(ctx, namespace)
	})
	select {
	case loaded := <-loading:
		s, _ = loaded.Val.(*snapshot) // nil if Err is set
		return s, loaded.Err
	case <-ctx.Done():
		return nil, store.Unavailable(ctx.Err())
	}
}

// lookup returns the stamp of a namespace in the database, and the kept snapshot with this stamp. stamp is "" before the first
// write. s is nil if the cache has no such snapshot, or if the snapshot has expired.
func (c *cache) lookup(ctx context.Context, namespace string) (stamp string, s *snapshot, err error) {
	current, err := c.stamps.First(ctx, store.Eq("namespace", namespace))
	if err != nil && !apperr.Is(err, apperr.NotFound) {
		return "", nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.kept[namespace]; e != nil {
		c.recent.MoveToFront(e)
		if s := e.Value.(*snapshot); s.stamp == current.Value && c.now().Before(s.expires) {
			return current.Value, s, nil
		}
	}
	return current.Value, nil, nil
}

// load reads a namespace and keeps the snapshot. If another load has just kept a valid snapshot, load returns that snapshot.
func (c *cache) load(ctx context.Context, namespace string) (*snapshot, error) {
	expires := c.now().Add(maxAge)
	stamp, s, err := c.lookup(ctx, namespace)
	if s != nil || err != nil {
		return s, err
	}
	order := []store.Order{{Field: "createdAt"}} // createdAt never changes, so an update during the scan cannot move a policy
	policies, err := c.policies.List(ctx, store.Query{Filter: store.Eq("namespace", namespace), Sort: order})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(policies, compareAge)
	s = &snapshot{namespace: namespace, stamp: stamp, expires: expires, policies: policies, bytes: 1 << 10}
	s.index.Grow(namespace, len(policies))
	for i := range policies {
		if err := s.index.Put(policies[i].entry()); err != nil {
			return nil, err
		}
		s.bytes += policies[i].size()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.kept[namespace])
	c.kept[namespace] = c.recent.PushFront(s)
	c.bytes += s.bytes
	for c.bytes > c.max && c.recent.Len() > 1 {
		c.remove(c.recent.Back())
	}
	return s, nil
}

// remove removes a snapshot from the cache. If e is nil, it does nothing. The caller must hold mu.
func (c *cache) remove(e *list.Element) {
	if e != nil {
		s := c.recent.Remove(e).(*snapshot)
		delete(c.kept, s.namespace)
		c.bytes -= s.bytes
	}
}
