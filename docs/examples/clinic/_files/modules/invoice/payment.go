package invoice

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

const (
	paymentSignature = "Payment-Signature" // header with t=SECONDS,v1=HEX
	paymentRetention = 30 * 24 * time.Hour // longer than the provider repeats an event
	maxEvent         = 64 << 10            // bytes; longer events are rejected with 413
)

// Event is an event of the payment provider.
type Event struct {
	ID      string          `json:"id" example:"evt_1"`
	Type    string          `json:"type" example:"payment.succeeded"` // types other than payment.succeeded and payment.refunded are ignored
	Created int64           `json:"created" example:"1767366245"`     // time of the event in seconds since 1970
	Data    json.RawMessage `json:"data" swaggertype:"object"`        // depends on the type
} //	@name	PaymentEvent

// Payment is the data of payment.succeeded and payment.refunded.
type Payment struct {
	Invoice string        `json:"invoice" example:"65f0c1d2e3a4b5c6d7e8f902"` // ID of the invoice, as sent to the provider
	Amount  store.Decimal `json:"amount" swaggertype:"string" format:"decimal" example:"50"`
} //	@name	Payment

// receive receives an event of the payment provider.
//
//	@Summary		Receive an event of the payment provider
//	@Description	The header Payment-Signature is t=SECONDS,v1=HEX, an HMAC of SECONDS, a period and the body.
//	@Tags			invoices
//	@Accept			json
//	@Param			input	body	Event{data=Payment}	true	"the event"
//	@Success		204
//	@Failure		400	{object}	rest.Problem	"validation_failed: the signature is missing or wrong, or the timestamp is more than 5 minutes old; malformed_body: the body is not an event"
//	@Router			/payment-events [post]
func (c *controller) receive(g *gin.Context) error {
	body, err := rest.RawBody(g)
	if err != nil {
		return err
	}
	if err := c.verifier.Verify(g.Request.Header, body); err != nil {
		return err
	}
	var e Event
	if err := json.Unmarshal(body, &e); err != nil {
		return notEvent(err)
	}
	if err := c.service.apply(g.Request.Context(), e); err != nil {
		return err
	}
	return rest.NoContent(g)
}

func notEvent(err error) error {
	return apperr.New(apperr.MalformedBody, "The body is not an event.").WithCause(err)
}

// apply stores what an event states, once: an entry of the ledger and, if the amount is that of the invoice, when the invoice was
// paid or refunded.
func (s *Service) apply(ctx context.Context, e Event) error {
	field, known := map[string]string{"payment.succeeded": "paidAt", "payment.refunded": "refundedAt"}[e.Type]
	if !known {
		return nil
	}
	var p Payment
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return notEvent(err)
	}
	unmatched := func() {
		s.log.WarnContext(ctx, "a payment event matches no invoice", "event", e.ID, "type", e.Type, "invoice", p.Invoice, "amount", p.Amount)
	}
	invoiceID, valid := store.ParseID(p.Invoice)
	if !valid {
		unmatched()
		return nil // the same event would fail again
	}
	return s.events.Do(ctx, e.ID, func(ctx context.Context) error {
		entry := Entry{store.NewMeta(s.events.ID(e.ID), store.At(s.now())), invoiceID, e.Type, p.Amount}
		known, err := s.ledger.Exists(ctx, store.Eq("id", entry.ID))
		if err == nil && !known {
			err = s.ledger.Insert(ctx, entry)
		}
		if err != nil {
			return err
		}
		due := store.And(store.Eq("id", invoiceID), store.Eq("amount", p.Amount))
		_, err = s.invoices.Unrestricted().Update(ctx, due, store.Set(field, store.At(time.Unix(e.Created, 0))))
		if apperr.Is(err, apperr.NotFound) { // deleted, or of another amount; the ledger has the payment
			store.AfterCommit(ctx, unmatched)
			return nil
		}
		return err
	})
}

// state returns the state of the invoice. The refund counts whichever of the two events arrives first.
func (i Invoice) state() string {
	switch {
	case i.RefundedAt != nil:
		return "refunded"
	case i.PaidAt != nil:
		return "paid"
	}
	return "open"
}

// Entry is an entry of the ledger: a payment or a refund.
type Entry struct {
	store.Meta `bson:",inline"`
	InvoiceID  store.ID      `json:"invoiceId"`
	Type       string        `json:"type"`
	Amount     store.Decimal `json:"amount"`
}

func ledgerSpec() store.Spec {
	return store.Spec{Name: "ledger-entries", Indexes: []store.Index{{Fields: []string{"invoiceId"}}}}
}
