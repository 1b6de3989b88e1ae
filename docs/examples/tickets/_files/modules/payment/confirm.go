package payment

import (
	"context"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// confirm confirms a payment.
//
//	@Summary		Confirm a payment
//	@Description	Marks the payment as paid, and creates the ticket of its user.
//	@Tags			payments
//	@Success		200	{object}	View
//	@Header			200	{string}	ETag			"version of the payment"
//	@Failure		409	{object}	rest.Problem	"conflict: the payment is already paid"
//	@Router			/payments/{id}/confirm [post]
func (c *controller) confirm(g *gin.Context) error {
	if _, err := rest.Bind[struct{}](g); err != nil { // no parameters
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	p, err := c.service.Confirm(g.Request.Context(), id)
	if err != nil {
		return err
	}
	return rest.Record(g, p.Meta, p.View())
}

// Tickets creates the tickets of payments.
type Tickets interface {
	Issue(ctx context.Context, eventID, userID store.ID) error
}

// Confirm marks a payment as paid and creates its ticket. NotFound: there is no such payment. Conflict: it is paid already.
func (s *Service) Confirm(ctx context.Context, id store.ID) (p Payment, err error) {
	err = s.db.Atomic(ctx, func(ctx context.Context) error {
		p, err = s.payments.Unrestricted().Modify(ctx, id, func(p *Payment) error {
			if p.State != "open" {
				return errPaid
			}
			p.State = "paid"
			return nil
		})
		if err != nil {
			return err
		}
		return s.tickets.Issue(ctx, p.Event, p.UserID)
	})
	return p, err
}

var errPaid = apperr.New(apperr.Conflict, "The payment is paid already.")
