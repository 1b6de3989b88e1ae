package webhook

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Body is a request body that the deliveries of an event share. Deliveries of one event have several bodies if the record has
// changed between their first attempts.
//
// A delivery never lacks its body, also on servers without transactions: the body is stored before the delivery refers to it,
// and is not deleted while its UsedAt is recent. Bodies that a crash leaves without deliveries are deleted when they are old.
type Body struct {
	store.Meta `bson:",inline"`
	Body       string     `json:"body"`
	UsedAt     store.Time `json:"usedAt"` // when a delivery began to use the body
}

const (
	maxOwnBody = 512         // bytes of a body that a delivery stores itself, because sharing it would save nothing
	beginUse   = time.Minute // longest time between setting UsedAt and storing the reference; much longer than storeTimeout
	// bodyRetention is how long a body without deliveries is stored. Deliveries are deleted earlier: they are created before their
	// body is used. An hour allows for different clocks of the instances.
	bodyRetention = retention + time.Hour
)

func bodySpec() store.Spec {
	return store.Spec{Name: "webhook-bodies", Indexes: []store.Index{{Fields: []string{"usedAt"}}}}
}

var errNoBody = errors.New("webhook: the body of a delivery is missing")

// bodyOf returns the body of a delivery. Before the first attempt, bodyOf builds the body and stores it. NotFound: the delivery was
// deleted, or another instance has the lane. errNoBody: the body was deleted, for example by another program.
func (s *Service) bodyOf(ctx context.Context, d Delivery) (string, error) {
	if d.Body != "" {
		return d.Body, nil
	}
	if d.BodyID != nil {
		stored, err := s.bodies.Get(ctx, *d.BodyID)
		return stored.Body, apperr.Replace(err, apperr.NotFound, errNoBody)
	}
	body, err := s.newBody(ctx, d)
	if err != nil {
		return "", err
	}
	change := store.Set("body", body)
	if len(body) > maxOwnBody {
		id := idOf("body", d.RecordID.Hex(), body)
		if err := s.use(ctx, id, body); err != nil {
			return "", err
		}
		change = store.Set("bodyId", id)
	}
	_, err = s.deliveries.Update(ctx, store.And(store.Eq("id", d.ID), store.Eq("body", ""), store.Eq("bodyId", nil)), change)
	return body, err
}

// use stores a body unless it is stored, and sets UsedAt.
func (s *Service) use(ctx context.Context, id store.ID, body string) error {
	for {
		now := store.At(s.now())
		err := s.bodies.Insert(ctx, Body{Meta: store.NewMeta(id, now), Body: body, UsedAt: now})
		if !apperr.Is(err, apperr.Conflict) {
			return err
		}
		_, err = s.bodies.Update(ctx, store.Eq("id", id), store.Set("usedAt", now))
		if !apperr.Is(err, apperr.NotFound) { // NotFound: the body was deleted in the meantime
			return err
		}
	}
}

// newBody returns the body of the requests of a delivery. The body has the public view of the record. If the record is not public
// or was deleted, the body has only the ID of the record.
func (s *Service) newBody(ctx context.Context, d Delivery) (string, error) {
	var data any = map[string]any{"id": d.RecordID}
	if r := s.resources.Named(d.Collection); r != nil && !strings.HasSuffix(d.Type, "."+string(store.Deleted)) {
		view, err := r.PublicView(ctx, *d.RecordID)
		if err == nil {
			data = view
		} else if !apperr.Is(err, apperr.NotFound) {
			return "", err
		}
	}
	return encode(d.Type, d.EventAt, data)
}

const deletePortion = 500

// deleteDeliveries deletes the deliveries that f selects, and the bodies that no other delivery uses. It works in portions, so that
// other writes do not wait long.
func (s *Service) deleteDeliveries(ctx context.Context, f store.Filter) error {
	for {
		portion, err := s.deliveries.List(ctx, store.Query{Filter: f, Limit: deletePortion, Fields: []string{"id", "bodyId"}})
		if err != nil || len(portion) == 0 {
			return err
		}
		ids, bodies := make([]any, len(portion)), map[any]bool{}
		for i, d := range portion {
			ids[i] = d.ID
			if d.BodyID != nil {
				bodies[*d.BodyID] = true
			}
		}
		if _, err := s.deliveries.Delete(ctx, store.In("id", ids...)); err != nil {
			return err
		}
		if err := s.deleteUnused(ctx, bodies); err != nil {
			return err
		}
	}
}

// deleteUnused deletes the bodies that no delivery uses, except bodies that a delivery is beginning to use.
func (s *Service) deleteUnused(ctx context.Context, bodies map[any]bool) error {
	if len(bodies) == 0 {
		return nil
	}
	using, err := s.deliveries.List(ctx, store.Query{Filter: store.In("bodyId", slices.Collect(maps.Keys(bodies))...), Fields: []string{"bodyId"}})
	if err != nil {
		return err
	}
	for _, d := range using {
		delete(bodies, *d.BodyID)
	}
	_, err = s.bodies.Delete(ctx, store.And(store.In("id", slices.Collect(maps.Keys(bodies))...), store.Lte("usedAt", store.At(s.now().Add(-beginUse)))))
	return err
}

// sweep deletes the old deliveries, and then the old bodies, which no delivery uses.
func (s *Service) sweep(ctx context.Context) error {
	if err := s.deleteDeliveries(ctx, store.Lt("createdAt", store.At(s.now().Add(-retention)))); err != nil {
		return err
	}
	_, err := s.bodies.Delete(ctx, store.Lt("usedAt", store.At(s.now().Add(-bodyRetention))))
	return err
}
