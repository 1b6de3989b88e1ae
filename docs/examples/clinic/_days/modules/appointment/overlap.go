package appointment

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Day has the times of a practitioner that are taken on a day.
type Day struct {
	store.Meta `bson:",inline"`
	Slots      []Slot `json:"slots"`
}

// Slot is the time of an appointment. It is free if the appointment is cancelled or deleted.
type Slot struct {
	Appointment store.ID   `json:"appointment"`
	StartsAt    store.Time `json:"startsAt"`
	EndsAt      store.Time `json:"endsAt"`
}

func (t Slot) overlaps(other Slot) bool {
	return t.StartsAt.Before(other.EndsAt.Time) && t.EndsAt.After(other.StartsAt.Time)
}

// book stores an appointment with its first invoice. Conflict: the practitioner has another appointment at this time. The
// appointment is pending until the last write. If the service is killed before, another caller or a job cancels it.
func (s *Service) book(ctx context.Context, caller access.Principal, a Appointment) (Appointment, error) {
	if a.StartsAt.UTC().Truncate(day) != a.EndsAt.Add(-1).UTC().Truncate(day) {
		return a, apperr.Invalid(apperr.Field{In: "body", Param: "minutes", Code: apperr.Max, Message: "An appointment must end on the day on which it starts."})
	}
	if err := s.appointments.Create(ctx, asAdmin(caller), a); err != nil {
		return a, err
	}
	err := s.confirm(ctx, a)
	if err == nil {
		return s.Get(ctx, caller, a.ID) // as booked
	}
	if apperr.Is(err, apperr.Unavailable) {
		return a, err
	}
	all := access.Principal{UserID: caller.UserID, Role: access.RoleAdmin}
	return a, errors.Join(err, s.appointments.Delete(ctx, all, a.ID, nil)) // and its invoice
}

// confirm makes a pending appointment a booked one.
func (s *Service) confirm(ctx context.Context, a Appointment) error {
	if err := s.reserve(ctx, a); err != nil {
		return err
	}
	if err := s.invoices.CreateFirst(ctx, a.ID, fee(a.Minutes)); err != nil {
		return err
	}
	_, err := s.setState(ctx, a.ID, pending, booked)
	return apperr.Replace(err, apperr.NotFound, errTaken) // another caller has cancelled it
}

// reserve adds the time of a pending appointment to the document of its day.
func (s *Service) reserve(ctx context.Context, a Appointment) error {
	slot, id := Slot{a.ID, a.StartsAt, a.EndsAt}, dayID(a)
	for {
		d, err := s.days.Get(ctx, id)
		if apperr.Is(err, apperr.NotFound) {
			err = s.days.Insert(ctx, Day{Meta: store.NewMeta(id, store.At(s.now()))})
			if err == nil || apperr.Is(err, apperr.Conflict) {
				continue
			}
		}
		if err != nil {
			return err
		}
		free, err := s.release(ctx, d, slot)
		if err != nil {
			return err
		}
		_, err = s.days.Modify(ctx, id, func(d *Day) error { // again, if another caller has changed it meanwhile
			slots := []Slot{slot}
			for _, other := range d.Slots {
				if free[other.Appointment] {
					continue
				}
				if other.overlaps(slot) {
					return errAgain
				}
				slots = append(slots, other)
			}
			d.Slots = slots
			return nil
		})
		if !errors.Is(err, errAgain) {
			return err
		}
	}
}

// release cancels the pending appointments at the time of a slot, and returns those whose time is free. Conflict: one is booked.
func (s *Service) release(ctx context.Context, d Day, slot Slot) (free map[store.ID]bool, err error) {
	free = make(map[store.ID]bool)
	for _, other := range d.Slots {
		if !other.overlaps(slot) {
			continue
		}
		if _, err := s.setState(ctx, other.Appointment, pending, cancelled); err != nil && !apperr.Is(err, apperr.NotFound) {
			return nil, err
		}
		a, err := s.appointments.Unrestricted().Get(ctx, other.Appointment)
		if err == nil && a.State == booked {
			return nil, errTaken
		}
		if err != nil && !apperr.Is(err, apperr.NotFound) {
			return nil, err
		}
		free[other.Appointment] = true
	}
	return free, nil
}

// setState changes the state of an appointment, if it has the state from. Otherwise the error is NotFound.
func (s *Service) setState(ctx context.Context, id store.ID, from, to string) (Appointment, error) {
	return s.appointments.Unrestricted().Update(ctx, store.And(store.Eq("id", id), store.Eq("state", from)), store.Set("state", to))
}

// cancelPending is a job: it cancels the appointments that have been pending for a minute, because an instance was killed.
func (s *Service) cancelPending(ctx context.Context) error {
	old := store.And(store.Eq("state", pending), store.Lt("createdAt", store.At(s.now().Add(-time.Minute))))
	list, err := s.appointments.Unrestricted().List(ctx, store.Query{Filter: old, Limit: 1000})
	for _, a := range list {
		if _, err := s.setState(ctx, a.ID, pending, cancelled); err != nil && !apperr.Is(err, apperr.NotFound) {
			return err
		}
	}
	return err
}

const day = 24 * time.Hour

// dayID returns the ID of the document of a practitioner and day.
func dayID(a Appointment) (id store.ID) {
	sum := sha256.Sum256([]byte(a.Practitioner.Hex() + a.StartsAt.UTC().Format(time.DateOnly)))
	copy(id[:], sum[:])
	return id
}

var (
	errTaken = apperr.New(apperr.Conflict, "The practitioner has another appointment at this time.")
	errAgain = errors.New("another caller has reserved the time")
)
