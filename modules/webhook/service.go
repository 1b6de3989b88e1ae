package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"log/slog"
	"slices"
	"strings"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/seal"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/telemetry"
)

// Service has the business rules of webhooks.
type Service struct {
	db         store.DB
	users      Users
	webhooks   *store.Collection[Webhook]
	deliveries *store.Collection[Delivery]
	bodies     *store.Collection[Body]
	lanes      *store.Collection[Lane]
	cursors    *store.Collection[Cursor]
	resources  *kit.Resources
	keys       seal.Keys // keys that encrypt the secrets
	sender     *sender
	emails     *email.Queue
	now        func() time.Time
	log        *slog.Logger
	newEvents  chan struct{} // an element wakes dispatch
	newDue     chan struct{} // an element wakes Run
	attempts   telemetry.Counter
}

func newService(d kit.Deps, users Users, sender *sender) *Service {
	return &Service{
		db: d.DB, users: users, resources: d.Resources, keys: d.SealKeys("webhooks"), sender: sender, emails: d.Email, now: d.Now, log: d.Log,
		webhooks: store.Open[Webhook](d.DB, webhookSpec()), deliveries: store.Open[Delivery](d.DB, deliveryStoreSpec()),
		bodies: store.Open[Body](d.DB, bodySpec()),
		lanes:  store.Open[Lane](d.DB, laneSpec()), cursors: store.Open[Cursor](d.DB, cursorSpec()),
		newEvents: make(chan struct{}, 1), newDue: make(chan struct{}, 1),
		attempts: telemetry.NewCounter("webhook_attempts_total", "Attempts to send an event to a webhook by result: delivered, retried (failed, and repeated later), failed (no more attempts).",
			"result", delivered, retried, failed),
	}
}

const (
	secretBytes  = 32
	secretPrefix = "whsec_"       // prefix of a secret in Standard Webhooks
	overlap      = 24 * time.Hour // how long the old secret also signs requests
)

// newSecret returns a new secret of a webhook, and the encrypted secret.
func (s *Service) newSecret(id store.ID) (secret, sealed string) {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(raw), s.keys.Seal(secretUse(id), raw)
}

// secretUse returns the use that binds an encrypted secret to its webhook (see seal.Keys).
func secretUse(id store.ID) string { return "secret of webhook " + id.Hex() }

// Create creates a webhook of the admin by, and returns it with its secret. ValidationFailed: the URL or an event is invalid.
// Conflict: there are already maxWebhooks webhooks.
func (s *Service) Create(ctx context.Context, by store.ID, in Fields) (Created, error) {
	if err := s.check(in); err != nil {
		return Created{}, err
	}
	last, err := s.db.Log().Last(ctx)
	if err != nil {
		return Created{}, err
	}
	in.Events = normalEvents(in.Events)
	now, id := store.At(s.now()), store.NewID()
	w := Webhook{Meta: store.NewMeta(id, now), Fields: in, UserID: by, FromNumber: last.Number, FromChange: last.ChangeID}
	secret, sealed := s.newSecret(id)
	w.Secret = sealed
	err = s.db.Together(ctx, func(ctx context.Context) error {
		for _, kind := range []string{first, retry} {
			if err := s.lanes.Insert(ctx, Lane{Meta: store.NewMeta(laneID(id, kind), now), WebhookID: id, Kind: kind}); err != nil {
				return err
			}
		}
		return s.webhooks.Insert(ctx, w)
	})
	if err != nil {
		return Created{}, err
	}
	// Count after the insertion, so that the last of several concurrent requests counts all webhooks. Without a filter, the count
	// can be inexact.
	count, err := s.webhooks.Count(ctx, store.Ne("id", nil))
	if err == nil && count > maxWebhooks {
		err = apperr.New(apperr.Conflict, "There are %d webhooks. Delete one first.", maxWebhooks)
	}
	if err != nil {
		_ = s.Delete(context.WithoutCancel(ctx), id) // if this fails, the webhook remains, but nobody knows its secret
		return Created{}, err
	}
	wake(s.newEvents)
	return Created{w.View(), secret}, nil
}

// check fails with ValidationFailed if a field is not zero and breaks a rule that its tag does not state.
func (s *Service) check(in Fields) error {
	return apperr.JoinInvalid(s.checkURL(in.URL), s.checkEvents(in.Events))
}

// checkURL fails with ValidationFailed unless requests can be sent to the URL.
func (s *Service) checkURL(address string) error {
	if reason := s.sender.checkURL(address); reason != "" {
		return apperr.Invalid(apperr.Field{In: "body", Param: "url", Code: apperr.Format, Message: reason})
	}
	return nil
}

// List returns all webhooks.
func (s *Service) List(ctx context.Context) (List, error) {
	list := List{Rows: []View{}}
	webhooks, err := s.webhooks.List(ctx, store.Query{Sort: []store.Order{{Field: "createdAt", Desc: true}}, Limit: maxWebhooks})
	for _, w := range webhooks {
		list.Rows = append(list.Rows, w.View())
	}
	list.Count = len(list.Rows)
	return list, err
}

// Get returns a webhook, or NotFound.
func (s *Service) Get(ctx context.Context, id store.ID) (Webhook, error) {
	return s.webhooks.Get(ctx, id)
}

// Update changes the given fields for the admin by. A webhook that Update enables receives only later events. NotFound: there is
// no such webhook. ValidationFailed: see Create.
func (s *Service) Update(ctx context.Context, by, id store.ID, in store.Patch[Input]) (Webhook, error) {
	if err := s.check(in.Fields.Fields); err != nil {
		return Webhook{}, err
	}
	in.Fields.Events = normalEvents(in.Fields.Events)
	last, err := s.db.Log().Last(ctx)
	if err != nil {
		return Webhook{}, err
	}
	w, err := s.webhooks.Modify(ctx, id, func(w *Webhook) error {
		before := *w
		if err := in.Apply(w); err != nil {
			return err
		}
		if w.Enabled && !before.Enabled {
			w.FromNumber, w.FromChange = last.Number, last.ChangeID
		}
		if w.Enabled != before.Enabled || w.URL != before.URL {
			w.FailingSince = nil
		}
		if w.Enabled {
			w.DisabledReason = ""
		}
		if w.Enabled != before.Enabled || w.URL != before.URL || !slices.Equal(w.Events, before.Events) {
			w.UserID = by
		}
		return nil
	})
	wake(s.newEvents)
	return w, err
}

// Delete deletes a webhook and its deliveries, or returns NotFound.
func (s *Service) Delete(ctx context.Context, id store.ID) error {
	err := s.db.Together(ctx, func(ctx context.Context) error {
		if err := s.webhooks.DeleteByID(ctx, id, nil); err != nil {
			return err
		}
		_, err := s.lanes.Delete(ctx, store.Eq("webhookId", id))
		return err
	})
	if err != nil {
		return err
	}
	// If deleteDeliveries fails, sweep deletes the deliveries when they are old.
	return s.deleteDeliveries(context.WithoutCancel(ctx), store.Eq("webhookId", id))
}

// Rotate gives a webhook a new secret. For 24 hours, the old secret also signs requests. NotFound: there is no such webhook.
func (s *Service) Rotate(ctx context.Context, id store.ID) (Created, error) {
	secret, sealed := s.newSecret(id)
	until := store.At(s.now().Add(overlap))
	w, err := s.webhooks.Modify(ctx, id, func(w *Webhook) error {
		w.OldSecret, w.OldSecretUntil, w.Secret = w.Secret, &until, sealed
		return nil
	})
	return Created{w.View(), secret}, err
}

// secrets returns the secrets that sign requests now, the new secret first. If the new secret is not encrypted with the first
// key, secrets encrypts it again with that key. An old secret that cannot be decrypted is omitted: receivers that know the new
// secret still receive valid requests.
func (s *Service) secrets(ctx context.Context, w Webhook) ([][]byte, error) {
	sealed := []string{w.Secret}
	if w.OldSecretUntil != nil && s.now().Before(w.OldSecretUntil.Time) {
		sealed = append(sealed, w.OldSecret)
	}
	var secrets [][]byte
	for _, text := range sealed {
		secret, current, ok := s.keys.Open(secretUse(w.ID), text)
		switch {
		case !ok && text == w.Secret:
			return nil, errSealed
		case !ok:
			continue
		}
		if !current && text == w.Secret {
			_, err := s.webhooks.Update(ctx, store.And(store.Eq("id", w.ID), store.Eq("secret", text)), store.Set("secret", s.keys.Seal(secretUse(w.ID), secret)))
			if apperr.Replace(err, apperr.NotFound, nil) != nil {
				return nil, err
			}
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// Deliveries returns a page of the deliveries of a webhook. NotFound: the webhook does not exist.
func (s *Service) Deliveries(ctx context.Context, id store.ID, q listing.Query) (listing.Page[DeliveryView], error) {
	if _, err := s.webhooks.Get(ctx, id); err != nil {
		return listing.Page[DeliveryView]{}, err
	}
	q.Filter = store.And(store.Eq("webhookId", id), q.Filter)
	return listing.Run(ctx, s.deliveries, q, Delivery.View)
}

// Retry makes a delivery due now, with the same body. It does not change a delivery whose first attempt has not been completed.
// NotFound: there is no such webhook or delivery. Conflict: the webhook is disabled.
func (s *Service) Retry(ctx context.Context, webhookID, id store.ID) (Delivery, error) {
	w, err := s.webhooks.Get(ctx, webhookID)
	if err == nil && !w.Enabled {
		err = apperr.New(apperr.Conflict, "The webhook is disabled. Enable it first: PATCH /webhooks/:id with enabled=true.")
	}
	if err != nil {
		return Delivery{}, err
	}
	d, err := s.deliveries.First(ctx, store.And(store.Eq("id", id), store.Eq("webhookId", webhookID)))
	if err != nil || d.Lane == first {
		return d, err
	}
	now := store.At(s.now())
	d, err = s.deliveries.Update(ctx, store.And(store.Eq("id", id), store.Ne("lane", first)),
		store.Set("status", pending), store.Set("lane", retry), store.Set("nextAttemptAt", now))
	if err != nil {
		return d, err
	}
	return d, s.touch(context.WithoutCancel(ctx), webhookID, retry, now)
}

// maxPending is the maximum number of pending deliveries that are counted.
const maxPending = 10_000

const countTimeout = 5 * time.Second

// metrics returns the metrics of deliveries.
func (s *Service) metrics() []kit.Metered {
	waiting := telemetry.NewGauge("webhook_deliveries_pending", "Deliveries of the enabled webhooks that are waiting for an attempt, counted up to 10000.", func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
		defer cancel()
		n, _ := s.countPending(ctx) // 0 while the database is unavailable, which other metrics show
		return float64(n)
	})
	return []kit.Metered{s.attempts, waiting}
}

func (s *Service) countPending(ctx context.Context) (total int64, err error) {
	webhooks, err := s.enabled(ctx)
	for _, w := range webhooks {
		_, n, err := s.deliveries.Page(ctx, store.Query{
			Filter: store.And(store.Eq("webhookId", w.ID), store.Eq("status", pending)), Limit: 1, Fields: []string{"id"}, MaxCount: maxPending - total,
		})
		if total += n; err != nil || total >= maxPending {
			return total, err
		}
	}
	return total, err
}

func (s *Service) enabled(ctx context.Context) ([]Webhook, error) {
	return s.webhooks.List(ctx, store.Query{Filter: store.Eq("enabled", true), Limit: maxWebhooks})
}

// anyChange in an event selects all types of changes.
const anyChange = "*"

var changeTypes = []string{string(store.Created), string(store.Updated), string(store.Deleted)}

// allEvents selects the events of all resources.
const allEvents = "*"

// validEvents returns the values that Fields.Events can contain.
func (s *Service) validEvents() []string {
	valid := []string{allEvents}
	for _, r := range s.resources.Recorded() {
		for _, change := range append([]string{anyChange}, changeTypes...) {
			valid = append(valid, r.Record+"."+change)
		}
	}
	return valid
}

// checkEvents fails with ValidationFailed unless all events are valid.
func (s *Service) checkEvents(events []string) error {
	valid := s.validEvents()
	for _, event := range events {
		if !slices.Contains(valid, event) {
			return apperr.Invalid(apperr.Field{
				In: "body", Param: "events", Code: apperr.OneOf, Message: "Must contain only " + strings.Join(valid, ", ") + ".", Expected: valid,
			})
		}
	}
	return nil
}

// normalEvents returns the events sorted and without duplicates.
func normalEvents(events []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(events)))
}

// receives reports whether the events of the webhook include changes of this type to records with this name.
func (w Webhook) receives(record string, change store.ChangeType) bool {
	return slices.ContainsFunc(w.Events, func(event string) bool {
		return event == allEvents || event == record+"."+anyChange || event == record+"."+string(change)
	})
}

// wake puts an element into a channel, unless the channel has one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
