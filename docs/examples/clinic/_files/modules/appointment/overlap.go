package appointment

import (
	"context"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
)

// Practitioners are the practitioners of appointments.
type Practitioners interface {
	resource.Target
	Lock(ctx context.Context, ids ...store.ID) error
}

// book stores an appointment with its first invoice. Conflict: the practitioner has another appointment at this time.
func (s *Service) book(ctx context.Context, caller access.Principal, a Appointment) (Appointment, error) {
	err := s.db.Atomic(ctx, func(ctx context.Context) error {
		if err := s.checkFree(ctx, a); err != nil {
			return err
		}
		if err := s.appointments.Create(ctx, asAdmin(caller), a); err != nil {
			return err
		}
		return s.invoices.CreateFirst(ctx, a.ID, fee(a.Minutes))
	})
	return a, err
}

// checkFree fails with Conflict if the practitioner has another appointment at the time of a.
func (s *Service) checkFree(ctx context.Context, a Appointment) error {
	// Every writer of appointments locks the practitioner. Create rejects a practitioner that does not exist.
	if err := s.practitioners.Lock(ctx, a.Practitioner); err != nil && !apperr.Is(err, apperr.NotFound) {
		return err
	}
	overlapping := store.And(store.Eq("practitioner", a.Practitioner), store.Eq("state", booked),
		store.Lt("startsAt", a.EndsAt), store.Gt("endsAt", a.StartsAt))
	if taken, err := s.appointments.Unrestricted().Exists(ctx, overlapping); err != nil {
		return err
	} else if taken {
		return errTaken
	}
	return nil
}

var errTaken = apperr.New(apperr.Conflict, "The practitioner has another appointment at this time.")
