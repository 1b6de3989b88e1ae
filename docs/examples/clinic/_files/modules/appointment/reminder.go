package appointment

import (
	"context"
	"embed"
	"time"

	"example.com/clinic/modules/user"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/store"
)

//go:embed emails
var templates embed.FS

var reminderEmail = email.NewTemplate(templates, "reminder", user.EmailLayout)

const reminderKind = "appointment-reminder"

// buildReminder implements email.Builder. There is no email if the user or the appointment is deleted, or it is cancelled.
func (s *Service) buildReminder(ctx context.Context, e email.Entry) (*email.Message, error) {
	id, _ := store.ParseID(e.Args["appointment"])
	a, err := s.appointments.Unrestricted().Get(ctx, id)
	if err != nil || a.State != booked {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	u, err := s.users.Get(ctx, e.UserID)
	if err != nil || u.Email == "" {
		return nil, apperr.Replace(err, apperr.NotFound, nil)
	}
	return newReminder(u, a.StartsAt), nil
}

func newReminder(u user.User, start store.Time) *email.Message {
	return reminderEmail.Message(u.Email, map[string]string{"name": u.Greeting(), "start": start.Format("2 January 2006 at 15:04 MST")})
}

// emailPreviews returns examples of the emails.
func emailPreviews() []email.Preview {
	ada := user.User{Email: "ada@example.com", Name: "Ada Lovelace"}
	start := store.At(time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC))
	return []email.Preview{{Name: reminderKind, Message: newReminder(ada, start)}}
}

// remind queues a reminder of each appointment that starts within a day.
func (s *Service) remind(ctx context.Context) error {
	now := store.At(s.now())
	unsent := store.And(store.Eq("state", booked), store.Eq("remindedAt", nil),
		store.Gt("startsAt", now), store.Lte("startsAt", store.At(now.Add(24*time.Hour))))
	due, err := s.appointments.Unrestricted().List(ctx, store.Query{Filter: unsent, Limit: 1000})
	if err != nil {
		return err
	}
	for _, a := range due {
		err := s.db.Together(ctx, func(ctx context.Context) error {
			// of two runs, only one finds the appointment without remindedAt
			claim := store.And(store.Eq("id", a.ID), unsent)
			if _, err := s.appointments.Unrestricted().Update(ctx, claim, store.Set("remindedAt", now)); err != nil {
				return err
			}
			return s.emails.Enqueue(ctx, email.Entry{Kind: reminderKind, UserID: a.UserID, Args: map[string]string{"appointment": a.ID.Hex()}})
		})
		if err != nil && !apperr.Is(err, apperr.NotFound) {
			return err // the next run continues with this appointment
		}
	}
	return nil
}
