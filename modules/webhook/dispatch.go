package webhook

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

const (
	portionRows    = 500             // maximum number of deliveries that are created together
	maxPortion     = 500             // maximum number of log entries that are read together
	eventsInterval = 5 * time.Second // longest time between two reads of the webhooks
	errorDelay     = time.Second     // delay before another attempt after an error
)

// dispatch creates the deliveries of the events in the log until ctx ends. Several instances can run dispatch at the same time,
// because a delivery has the same ID no matter which instance creates it.
func (s *Service) dispatch(ctx context.Context) {
	if len(s.resources.Recorded()) == 0 {
		return
	}
	for ctx.Err() == nil {
		at, more, err := s.dispatchPortion(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			s.log.Warn("cannot create deliveries of webhooks; trying again", "error", err)
			pause(ctx, errorDelay, s.newEvents)
		case more:
		case at.Number == 0: // no webhook is enabled
			pause(ctx, eventsInterval, s.newEvents)
		default:
			waitCtx, stop := context.WithTimeout(ctx, eventsInterval)
			_ = s.db.Log().Wait(waitCtx, "", at)
			stop()
		}
	}
}

// pause waits until d has passed, c has an element, or ctx ends.
func pause(ctx context.Context, d time.Duration, c <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c:
	case <-ctx.Done():
	}
}

// dispatchPortion creates the deliveries of the next events in the log. at is the position after these events, or zero if no
// webhook is enabled. more reports whether the log may have more events.
func (s *Service) dispatchPortion(ctx context.Context) (at store.Position, more bool, err error) {
	webhooks, err := s.enabled(ctx)
	if err != nil || len(webhooks) == 0 {
		return at, false, err
	}
	c, err := s.cursor(ctx, webhooks)
	if err != nil {
		return at, false, err
	}
	limit := max(1, min(maxPortion, portionRows/len(webhooks)))
	entries, next, err := s.db.Log().Read(ctx, store.LogQuery{After: c.position(), Limit: limit})
	if errors.Is(err, store.ErrPosition) {
		s.log.Warn("webhooks: the log of changes no longer has the position of the last event, so events are lost; continuing with new events")
		next, err = s.db.Log().Last(ctx)
	}
	if err != nil || next == c.position() {
		return c.position(), false, err
	}
	create := func(ctx context.Context) error { return s.create(ctx, webhooks, entries, c, next) }
	err = s.db.Together(ctx, create)
	if apperr.Is(err, apperr.Conflict) { // some deliveries exist already, and an Atomic cannot ignore a Conflict
		err = store.Separately(ctx, create)
	}
	if apperr.Is(err, apperr.NotFound) { // another instance has created the deliveries
		return next, true, nil
	}
	return next, len(entries) == limit, err
}

// cursor returns the position in the log after which events must be sent to the webhooks.
func (s *Service) cursor(ctx context.Context, webhooks []Webhook) (Cursor, error) {
	c, err := s.cursors.Get(ctx, cursorID)
	if apperr.Is(err, apperr.NotFound) {
		c = Cursor{Meta: store.NewMeta(cursorID, store.At(s.now()))}
		err = apperr.Replace(s.cursors.Insert(ctx, c), apperr.Conflict, nil)
	}
	earliest := slices.MinFunc(webhooks, func(a, b Webhook) int { return int(a.FromNumber - b.FromNumber) })
	if earliest.FromNumber > c.Number { // no enabled webhook receives the events in between
		c.Number, c.ChangeID = earliest.FromNumber, earliest.FromChange
	}
	return c, err
}

// create creates the deliveries of entries and moves the cursor to next. If an instance crashed, some deliveries may exist
// already. NotFound: another instance has moved the cursor. Conflict: a delivery exists, and ctx belongs to an Atomic.
func (s *Service) create(ctx context.Context, webhooks []Webhook, entries []store.Entry, c Cursor, next store.Position) error {
	now := store.At(s.now())
	due := map[store.ID]bool{}
	for _, e := range entries {
		r := s.resources.Named(e.Collection)
		if r == nil || e.Type == store.Reset {
			continue
		}
		for _, w := range webhooks {
			if e.Number <= w.FromNumber || !w.receives(r.Record, e.Type) {
				continue
			}
			due[w.ID] = true
			d := Delivery{
				Meta: store.NewMeta(deliveryID(w.ID, e.Position), now), WebhookID: w.ID, Type: r.Record + "." + string(e.Type), Collection: e.Collection,
				RecordID: &e.RecordID, EventAt: e.At, Number: e.Number, Lane: first, Status: pending, NextAttemptAt: &now,
			}
			err := s.deliveries.Insert(ctx, d)
			if apperr.Is(err, apperr.Conflict) && store.IsSeparate(ctx) {
				err = nil
			}
			if err != nil {
				return err
			}
		}
	}
	for _, w := range webhooks {
		if due[w.ID] {
			if err := s.touch(ctx, w.ID, first, now); err != nil {
				return err
			}
		}
	}
	_, err := s.cursors.Update(ctx, store.And(store.Eq("id", cursorID), store.Eq("version", c.Version)),
		store.Set("number", next.Number), store.Set("changeId", next.ChangeID))
	return err
}
