package appointment

import (
	"context"

	"github.com/gin-gonic/gin"

	"example.com/clinic/modules/user"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// cancel cancels an appointment.
//
//	@Summary		Cancel an appointment
//	@Description	Patients can cancel until CANCEL_NOTICE before the start. The reception and admins can always cancel.
//	@Tags			appointments
//	@Success		200	{object}	View
//	@Header			200	{string}	ETag			"version of the appointment"
//	@Failure		403	{object}	rest.Problem	"forbidden: the appointment is not the caller's"
//	@Failure		409	{object}	rest.Problem	"conflict: the appointment is already cancelled, or starts too soon"
//	@Router			/appointments/{id}/cancel [post]
func (c *controller) cancel(g *gin.Context) error {
	if _, err := rest.Bind[struct{}](g); err != nil { // no parameters
		return err
	}
	id, err := rest.ID(g)
	if err != nil {
		return err
	}
	a, err := c.service.Cancel(g.Request.Context(), rest.Caller(g), id)
	if err != nil {
		return err
	}
	return rest.Record(g, a.Meta, a.View())
}

// Cancel cancels an appointment. NotFound: there is no such appointment. Forbidden: it is another user's. Conflict: it is cancelled already, or starts too soon.
func (s *Service) Cancel(ctx context.Context, caller access.Principal, id store.ID) (Appointment, error) {
	if err := s.appointments.MayChange(ctx, caller, id); err != nil {
		return Appointment{}, err
	}
	return s.appointments.Unrestricted().Modify(ctx, id, func(a *Appointment) error {
		if a.State != booked {
			return errCancelled
		}
		if !caller.HasRole(user.RoleReception) && a.StartsAt.Sub(s.now()) < s.settings.CancelNotice {
			return errTooLate
		}
		a.State = cancelled
		return nil
	})
}

var (
	errCancelled = apperr.New(apperr.Conflict, "The appointment is cancelled already.")
	errTooLate   = apperr.New(apperr.Conflict, "The appointment starts too soon. Call the reception.")
)
