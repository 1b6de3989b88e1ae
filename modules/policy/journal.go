package policy

import (
	"context"
	"hash/maphash"
	"math/rand/v2"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// claim announces one write to a policy before it is made. The claims of a namespace are numbered without a gap, and a
// number is taken once: whoever has seen all claims up to a revision meets everything that is written later under a
// greater one.
type claim struct {
	store.Meta `bson:",inline"`
	Namespace  string   `json:"namespace"`
	Revision   int64    `json:"revision"`
	PolicyID   store.ID `json:"policyId"`
	Creates    bool     `json:"creates"` // there is no such policy before
	Void       bool     `json:"void"`    // nothing was written: the policy had changed, or its name is taken
}

// Times of claims. What is concluded from the age of a claim holds if the clocks of the copies of the service are within
// nine minutes of each other.
const (
	writeTime  = 10 * time.Second // for a claim and its write; then the writer gives up
	claimLife  = 10 * time.Minute // after which a claim's writer has surely ended, be it in a crash
	claimsKept = 24 * time.Hour
	trimEvery  = 64                     // revisions; then old claims go
	firstWait  = 2 * time.Millisecond   // at most, before another number is tried
	longestOf  = 128 * time.Millisecond // these waits
)

// journal keeps the claims of all namespaces.
type journal struct {
	claims *store.Collection[claim]
	seed   maphash.Seed
	turns  [64]chan struct{} // for the writers of this copy of the service; full while one writes
	now    func() time.Time
	newID  func() store.ID
}

func openJournal(o Options) *journal {
	j := &journal{
		seed: maphash.MakeSeed(),
		claims: store.Open[claim](o.DB, store.Spec{
			Name: "policy-claims",
			Indexes: []store.Index{
				{Fields: []string{"namespace", "revision"}, Unique: true},
				{Fields: []string{"namespace", "revision"}},
				{Fields: []string{"namespace", "createdAt"}},
			},
		}),
		now: o.Now, newID: o.NewID,
	}
	for i := range j.turns {
		j.turns[i] = make(chan struct{}, 1)
	}
	return j
}

var errBusy = apperr.New(apperr.Unavailable,
	"Too many policies of this namespace are written at once. Try again in a few seconds.")

// turn lets one writer of this copy of the service at a time have a namespace: many at once would take their revisions
// from each other. The caller ends it by calling end. Unavailable: it did not come before ctx ended.
func (j *journal) turn(ctx context.Context, namespace string) (end func(), err error) {
	turn := j.turns[maphash.String(j.seed, namespace)%uint64(len(j.turns))]
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, errBusy.WithCause(ctx.Err())
	}
}

// claim takes the next revision of the policy's namespace. Of several writers who try for one number the unique index
// lets one have it; the others take the next. Unavailable: there were others until ctx ended.
func (j *journal) claim(ctx context.Context, p Policy, creates bool) (claim, error) {
	c := claim{Namespace: p.Namespace, PolicyID: p.ID, Creates: creates}
	for wait := firstWait; ; wait = min(2*wait, longestOf) {
		last, err := j.last(ctx, store.Query{
			Filter: store.Eq("namespace", c.Namespace), Sort: []store.Order{{Field: "revision", Desc: true}},
		})
		if err != nil {
			return c, err
		}
		c.Meta = store.NewMeta(j.newID(), store.At(j.now()))
		c.Revision = last.Revision + 1
		err = j.claims.Insert(ctx, c)
		if err == nil {
			return c, j.trim(ctx, c)
		}
		if !apperr.Is(err, apperr.Conflict) {
			return c, err
		}
		select {
		case <-time.After(rand.N(wait)):
		case <-ctx.Done():
			return c, errBusy.WithCause(ctx.Err())
		}
	}
}

// void says that nothing will come of a claim, so that readers need not look for it.
func (j *journal) void(ctx context.Context, c claim) error {
	_, err := j.claims.Update(ctx, store.Eq("id", c.ID), store.Set("void", true))
	return err
}

// trim deletes the namespace's old claims now and then; never the latest, from which the count goes on, as that was
// just made.
func (j *journal) trim(ctx context.Context, latest claim) error {
	if latest.Revision%trimEvery != 0 {
		return nil
	}
	_, err := j.claims.Delete(ctx, store.And(
		store.Eq("namespace", latest.Namespace), store.Lt("createdAt", j.ago(claimsKept))))
	return err
}

// after returns the claims of a namespace beyond a revision, in order.
func (j *journal) after(ctx context.Context, namespace string, revision int64) ([]claim, error) {
	return j.claims.List(ctx, store.Query{
		Filter: store.And(store.Eq("namespace", namespace), store.Gt("revision", revision)),
		Sort:   []store.Order{{Field: "revision"}},
	})
}

// settled is a revision of a namespace up to which all writers have ended; 0 if none is known.
func (j *journal) settled(ctx context.Context, namespace string) (int64, error) {
	c, err := j.last(ctx, store.Query{
		Filter: store.And(store.Eq("namespace", namespace), store.Lt("createdAt", j.ago(claimLife))),
		Sort:   []store.Order{{Field: "createdAt", Desc: true}},
	})
	return c.Revision, err
}

// last is the first claim that a query in descending order finds; the zero claim if there is none.
func (j *journal) last(ctx context.Context, q store.Query) (claim, error) {
	q.Limit = 1
	claims, err := j.claims.List(ctx, q)
	if err != nil || len(claims) == 0 {
		return claim{}, err
	}
	return claims[0], nil
}

func (j *journal) ago(d time.Duration) store.Time { return store.At(j.now().Add(-d)) }
