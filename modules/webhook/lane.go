package webhook

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

const (
	lease        = 40 * time.Second // duration of the lease of a lane; longer than an attempt and its queries
	renewBefore  = 30 * time.Second // minimum remaining time of a lease before an attempt; otherwise, the lease is renewed
	lanesTick    = time.Second      // interval at which an instance looks for lanes that are due
	lanePage     = 100              // maximum number of delivery IDs that a lane reads together
	storeTimeout = 10 * time.Second // time limit for storing the result of an attempt
	stopTimeout  = 5 * time.Second  // how long attempts in progress may continue when the service stops

	releaseTimeout = time.Second // time limit for releasing the lanes after stopTimeout
)

// sendDue sends the deliveries that are due until ctx ends, and then completes the attempts in progress. It is a worker of
// kit.Parts.
func (s *Service) sendDue(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { s.dispatch(ctx) })
	attempts, stop := afterwards(ctx, stopTimeout)
	defer stop()
	for ctx.Err() == nil {
		lanes, err := s.claim(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("cannot look for deliveries of webhooks; trying again", "error", err)
		}
		for _, l := range lanes {
			group.Go(func() { s.runLane(ctx, attempts, l) })
		}
		pause(ctx, lanesTick, s.newDue)
	}
}

// afterwards returns a context that ends d after ctx ends.
func afterwards(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return later, cancel
}

// touch makes a lane due at the given time, unless the lane is due earlier. It always changes the version of the lane, so that a
// goroutine that is about to release the lane looks for deliveries again.
func (s *Service) touch(ctx context.Context, webhookID store.ID, kind string, at store.Time) error {
	store.AfterCommit(ctx, func() { wake(s.newDue) })
	id := store.Eq("id", laneID(webhookID, kind))
	later, earlier := store.Or(store.Eq("nextAt", nil), store.Gt("nextAt", at)), store.Lte("nextAt", at)
	for range 3 { // between the two updates, a release can change nextAt
		_, err := s.lanes.Update(ctx, store.And(id, later), store.Set("nextAt", at))
		if apperr.Is(err, apperr.NotFound) {
			_, err = s.lanes.Update(ctx, store.And(id, earlier), store.Inc("touches", 1))
		}
		if !apperr.Is(err, apperr.NotFound) {
			return err
		}
	}
	return nil // the webhook was deleted
}

// claim takes the lanes that are due and not leased.
func (s *Service) claim(ctx context.Context) (claimed []Lane, err error) {
	now := s.now()
	free := store.Or(store.Eq("leaseUntil", nil), store.Lte("leaseUntil", store.At(now)))
	due, err := s.lanes.List(ctx, store.Query{Filter: store.And(store.Lte("nextAt", store.At(now)), free)})
	if err != nil {
		return nil, err
	}
	for _, l := range due {
		l, err := s.lanes.Update(ctx, store.And(store.Eq("id", l.ID), free),
			store.Set("holder", rand.Text()), store.Set("leaseUntil", store.At(now.Add(lease))))
		if apperr.Is(err, apperr.NotFound) { // another instance has taken the lane
			continue
		}
		if err != nil {
			return claimed, err
		}
		claimed = append(claimed, l)
	}
	return claimed, nil
}

// runLane sends the due deliveries of a lane until no delivery is due or ctx ends. It then releases the lane. attempts is the
// context of the attempts, and ends later than ctx. After an error, another goroutine takes the lane when the lease ends.
func (s *Service) runLane(ctx, attempts context.Context, l Lane) {
	err := s.sendLane(ctx, attempts, l)
	if err != nil && !apperr.Is(err, apperr.NotFound) { // NotFound: the webhook was deleted, or another instance has the lane
		s.log.Warn("deliveries of a webhook are delayed", "webhook", l.WebhookID.Hex(), "error", err)
	}
}

func (s *Service) sendLane(ctx, attempts context.Context, l Lane) (err error) {
	for {
		l, err = s.lanes.First(attempts, l.held())
		if err != nil {
			return err
		}
		due, err := s.due(attempts, l)
		if err != nil {
			return err
		}
		if len(due) == 0 || ctx.Err() != nil {
			released, err := s.release(attempts, l, len(due) > 0)
			if released || err != nil {
				return err
			}
			continue
		}
		for _, d := range due {
			if l.LeaseUntil.Sub(s.now()) < renewBefore {
				l, err = s.lanes.Update(attempts, l.held(), store.Set("leaseUntil", store.At(s.now().Add(lease))))
			}
			if err == nil {
				err = s.deliver(attempts, d.ID, l.Kind)
			}
			if err != nil {
				return s.interrupted(attempts, l, err)
			}
			if ctx.Err() != nil {
				break
			}
		}
	}
}

// interrupted releases a lane if the context attempts has ended, and returns err.
func (s *Service) interrupted(attempts context.Context, l Lane, err error) error {
	if attempts.Err() != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(attempts), releaseTimeout)
		defer cancel()
		_, _ = s.release(ctx, l, true) // if release fails, the lane becomes free when the lease ends
	}
	return err
}

// held returns the filter that selects the lane unless another goroutine has taken the lane.
func (l Lane) held() store.Filter {
	return store.And(store.Eq("id", l.ID), store.Eq("holder", l.Holder))
}

// due returns the first deliveries of the lane that are due, with only their IDs.
func (s *Service) due(ctx context.Context, l Lane) ([]Delivery, error) {
	inLane := store.And(store.Eq("webhookId", l.WebhookID), store.Eq("lane", l.Kind))
	q := store.Query{Filter: inLane, Sort: []store.Order{{Field: "number"}}, Limit: lanePage, Fields: []string{"id"}}
	if l.Kind == retry {
		q.Filter, q.Sort = store.And(inLane, store.Lte("nextAttemptAt", store.At(s.now()))), []store.Order{{Field: "nextAttemptAt"}}
	}
	return s.deliveries.List(ctx, q)
}

// release releases a lane, unless deliveries may have been added since l was read. hasDue reports whether deliveries are due now.
func (s *Service) release(ctx context.Context, l Lane, hasDue bool) (released bool, err error) {
	changes := []store.Change{store.Unset("holder"), store.Unset("leaseUntil")}
	if !hasDue {
		next, err := s.deliveries.List(ctx, store.Query{
			Filter: store.And(store.Eq("webhookId", l.WebhookID), store.Eq("lane", l.Kind)), Sort: []store.Order{{Field: "nextAttemptAt"}}, Limit: 1,
			Fields: []string{"nextAttemptAt"},
		})
		if err != nil {
			return false, err
		}
		change := store.Unset("nextAt")
		if len(next) > 0 {
			change = store.Set("nextAt", next[0].NextAttemptAt)
		}
		changes = append(changes, change)
	}
	_, err = s.lanes.Update(ctx, store.And(l.held(), store.Eq("version", l.Version)), changes...)
	return err == nil, apperr.Replace(err, apperr.NotFound, nil)
}
