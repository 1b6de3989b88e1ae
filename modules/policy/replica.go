package policy

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/modules/policy/type/v1beta1"
)

// replica is what this copy of the service has in memory of a namespace: its policies, and an index over their selectors.
// It is not a cache that grows stale: before each answer the database is asked, by one look-up in an index, for claims
// beyond those that were settled, which as a rule finds none; what they announce is read before the answer is given. So
// whoever evaluates sees every write that was acknowledged, by whichever copy, before the call.
//
// Why that holds. A writer first takes a claim, which has the next revision of the namespace (see journal), then writes
// the policy, on condition that it is as it was before the claim. Claims become visible in the order of their revisions,
// so a reader who knows of all up to one misses none below it. A claim is settled, and never looked at again, once its
// write can be no news: the policy bears its revision or a later one, or is gone for good, or the claim is void, or so
// old that its writer has ended. An acknowledged write is of one of two kinds then: its claim was settled when the
// policy was read, which had the write in it; or it is not settled, and the policy is read again.
//
// A plain counter of writes, raised before or after the write, would not do: of two writers the one with the greater
// number may be the first to finish, and a reader who has seen it would take the other's write for known. Nor would the
// greatest revision among the policies: an update moves a policy's revision on and leaves a gap, into which a writer may
// put what a reader has passed by.
type replica struct {
	namespace string
	known     atomic.Pointer[progress] // what the policies hold at least
	turn      chan struct{}            // full while a refresh is under way
	begun     atomic.Int64             // refreshes so far

	// Of the refresh under way.
	done     int64              // the last refresh that succeeded
	progress                    // what will be known
	settled  map[int64]struct{} // claims beyond the watermark that are settled

	mu       sync.RWMutex
	policies map[store.ID]*Policy // none of them is changed
	index    *v1beta1.Index[store.ID]
	weight   int
}

// progress is how far a replica has come.
type progress struct {
	builtAt   time.Time // when all policies were read; zero if they have to be
	watermark int64     // all claims up to this revision are settled
}

// replicaLife is how long a replica goes on before it is made anew. That heals what was done to the database behind the
// service's back: an edit by hand, or a failover of MongoDB that took back a write it had shown. It must be well below
// claimsKept.
const replicaLife = time.Hour

// selected returns the policies that apply to the proxy, in order; and if asked for, all of the namespace.
func (r *replica) selected(proxy v1beta1.Proxy, all bool) (applying, considered []*Policy) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	ids := r.index.Select(proxy, nil)
	applying = make([]*Policy, len(ids))
	for i, id := range ids {
		applying[i] = r.policies[id]
	}
	if all {
		considered = make([]*Policy, 0, len(r.policies))
		for _, p := range r.policies {
			considered = append(considered, p)
		}
	}
	return applying, considered
}

// put adds a policy, or replaces it.
func (r *replica) put(p *Policy) error {
	old := r.policies[p.ID]
	if old != nil && old.Version == p.Version {
		return nil
	}
	err := r.index.Put(v1beta1.Entry[store.ID]{
		ID: p.ID, Namespace: p.Namespace, Name: p.Name, CreatedAt: p.CreatedAt.Time, Selector: p.Selector.message(),
	})
	if err != nil {
		return err
	}
	r.policies[p.ID] = p
	r.weight += weight(p) - weight(old)
	return nil
}

func (r *replica) remove(id store.ID) {
	r.index.Delete(r.namespace, id)
	r.weight -= weight(r.policies[id])
	delete(r.policies, id)
}

// isSettled reports whether nothing new will come of the claim, by what is in memory.
func (r *replica) isSettled(c claim) bool {
	_, known := r.settled[c.Revision]
	p := r.policies[c.PolicyID]
	return known || c.Void || p != nil && p.Revision >= c.Revision
}

// advance moves the watermark on over the claims, which begin after it, as far as they are settled.
func (r *replica) advance(claims []claim) {
	for _, c := range claims {
		if !r.isSettled(c) {
			return
		}
		delete(r.settled, c.Revision)
		r.watermark = c.Revision
	}
}

// baseWeight is about the bytes that a replica without policies takes in memory.
const baseWeight = 2 << 10

// weight is about the bytes that a policy takes in memory, with its part of the index: rather more, as labels that
// policies share are counted for each.
func weight(p *Policy) int {
	if p == nil {
		return 0
	}
	total := 512
	if p.Selector != nil {
		for key, value := range p.Selector.MatchLabels {
			total += 192 + len(key) + len(value)
		}
	}
	return total
}

// maxReplicas bounds the weight of the replicas that are kept, in bytes. The one used last stays, whatever its weight.
const maxReplicas = 256 << 20

// replicas are those of the namespaces that were asked for last.
type replicas struct {
	policies *store.Collection[Policy]
	journal  *journal
	maximum  int

	mu       sync.Mutex
	named    map[string]*list.Element
	lastUsed *list.List // of *kept, the one used last in front
	weight   int
}

// kept is a replica with the weight it is counted with.
type kept struct {
	*replica
	weight int
}

func newReplicas(policies *store.Collection[Policy], j *journal, maximum int) *replicas {
	return &replicas{
		policies: policies, journal: j, maximum: maximum, named: make(map[string]*list.Element), lastUsed: list.New(),
	}
}

// current returns the replica of a namespace with all that was acknowledged before the call.
func (rs *replicas) current(ctx context.Context, namespace string) (*replica, error) {
	r := rs.use(namespace)
	known := r.known.Load()
	if !rs.old(*known) {
		claims, err := rs.journal.after(ctx, namespace, known.watermark)
		if err != nil || len(claims) == 0 {
			return r, err
		}
	}
	return r, rs.refresh(ctx, r)
}

// old reports whether the replica has to be made anew.
func (rs *replicas) old(p progress) bool { return rs.journal.now().Sub(p.builtAt) >= replicaLife }

// refresh brings a replica up to date. Callers who come while one does wait, and share the next refresh.
func (rs *replicas) refresh(ctx context.Context, r *replica) error {
	before := r.begun.Load()
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return store.Unavailable(ctx.Err())
	}
	if r.done > before { // it began after this call
		return nil
	}
	number := r.begun.Add(1)
	if rs.old(r.progress) {
		if err := rs.build(ctx, r); err != nil {
			return err
		}
	}
	if err := rs.catchUp(ctx, r); err != nil {
		return err
	}
	r.done = number
	reached := r.progress
	r.known.Store(&reached)
	return nil
}

// use returns the replica of a namespace, empty if it is not kept.
func (rs *replicas) use(namespace string) *replica {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if e, ok := rs.named[namespace]; ok {
		rs.lastUsed.MoveToFront(e)
		return e.Value.(*kept).replica
	}
	r := &replica{namespace: namespace, turn: make(chan struct{}, 1)}
	r.known.Store(&progress{})
	rs.named[namespace] = rs.lastUsed.PushFront(&kept{replica: r})
	rs.count(r, baseWeight)
	return r
}

// count counts a replica with its weight, and drops those that were not used for longest while all weigh too much.
func (rs *replicas) count(r *replica, weight int) {
	e, ok := rs.named[r.namespace]
	if !ok || e.Value.(*kept).replica != r { // it was dropped
		return
	}
	k := e.Value.(*kept)
	rs.weight += weight - k.weight
	k.weight = weight
	for rs.weight > rs.maximum && rs.lastUsed.Len() > 1 {
		oldest := rs.lastUsed.Remove(rs.lastUsed.Back()).(*kept)
		delete(rs.named, oldest.namespace)
		rs.weight -= oldest.weight
	}
}

// catchUp reads what the claims beyond the watermark announce.
func (rs *replicas) catchUp(ctx context.Context, r *replica) error {
	claims, err := rs.journal.after(ctx, r.namespace, r.watermark)
	if err != nil {
		return err
	}
	open := slices.DeleteFunc(slices.Clone(claims), r.isSettled)
	if err := rs.apply(ctx, r, open); err != nil {
		return err
	}
	r.advance(claims)
	return nil
}

// build reads all policies of the namespace, after it has found up to which revision they must have been written. It reads
// them in an order that no write changes, so that none is passed over.
func (rs *replicas) build(ctx context.Context, r *replica) error {
	now := rs.journal.now()
	watermark, err := rs.journal.settled(ctx, r.namespace)
	if err != nil {
		return err
	}
	policies, err := rs.policies.List(ctx, store.Query{
		Filter: store.Eq("namespace", r.namespace), Sort: []store.Order{{Field: "createdAt"}},
	})
	if err != nil {
		return err
	}
	fresh := replica{
		namespace: r.namespace,
		policies:  make(map[store.ID]*Policy, len(policies)),
		index:     new(v1beta1.Index[store.ID]),
		weight:    baseWeight,
	}
	for _, p := range policies {
		if err := fresh.put(&p); err != nil {
			return err
		}
	}
	r.mu.Lock()
	r.policies, r.index, r.weight = fresh.policies, fresh.index, fresh.weight
	r.mu.Unlock()
	r.progress, r.settled = progress{now, watermark}, make(map[int64]struct{})
	rs.recount(r)
	return nil
}

// apply reads the policies that the claims are about, and notes which of the claims are settled by that.
func (rs *replicas) apply(ctx context.Context, r *replica, claims []claim) error {
	if len(claims) == 0 {
		return nil
	}
	found := make(map[store.ID]*Policy, len(claims))
	existed := make(map[store.ID]bool, len(claims)) // it is not about to be created
	ids := make([]any, 0, len(claims))
	for _, c := range claims {
		if _, known := existed[c.PolicyID]; !known {
			ids = append(ids, c.PolicyID)
		}
		existed[c.PolicyID] = existed[c.PolicyID] || !c.Creates
	}
	policies, err := rs.policies.List(ctx, store.Query{Filter: store.In("id", ids...)})
	if err != nil {
		return err
	}
	for _, p := range policies {
		found[p.ID] = &p
	}
	if err := r.change(found, ids); err != nil {
		return err
	}
	old := rs.journal.ago(claimLife)
	for _, c := range claims {
		gone := found[c.PolicyID] == nil && existed[c.PolicyID]
		if gone || c.CreatedAt.Before(old.Time) {
			r.settled[c.Revision] = struct{}{}
		}
	}
	rs.recount(r)
	return nil
}

// change makes the policies with the ids what was found of them; nothing was found of those that are not there.
func (r *replica) change(found map[store.ID]*Policy, ids []any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		id := id.(store.ID)
		if p := found[id]; p == nil {
			r.remove(id)
		} else if err := r.put(p); err != nil {
			return err
		}
	}
	return nil
}

func (rs *replicas) recount(r *replica) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.count(r, r.weight)
}
