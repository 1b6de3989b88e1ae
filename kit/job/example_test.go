package job_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/sqlite"
)

// Appointment is a record of the module.
type Appointment struct {
	store.Meta `bson:",inline"`
	UserID     store.ID    `json:"userId"`
	StartsAt   store.Time  `json:"startsAt"`
	RemindedAt *store.Time `json:"remindedAt"` // nil: not yet
}

// View returns the representation of the appointment.
func (a Appointment) View() Appointment { return a }

// Queue sends emails. *email.Queue implements it.
type Queue interface {
	Enqueue(ctx context.Context, e email.Entry) error
}

const reminderKind = "appointment-reminder"

// Service has the rules of the module.
type Service struct {
	appointments *resource.Collection[Appointment]
	db           store.DB
	emails       Queue
	now          func() time.Time
}

// Module has a job. Its routes are left out.
type Module struct{ controller struct{ service *Service } }

// Parts implements kit.Module.
func (m *Module) Parts() kit.Parts {
	return kit.Parts{Jobs: []job.Job{{Name: "appointment-reminders", Interval: time.Minute, Run: m.controller.service.remind}}}
}

// remind sends a reminder of each appointment that starts within a day.
func (s *Service) remind(ctx context.Context) error {
	now := store.At(s.now())
	pending := store.And(store.Eq("remindedAt", nil), store.Gt("startsAt", now), store.Lt("startsAt", store.At(now.Add(24*time.Hour))))
	appointments, err := s.appointments.Unrestricted().List(ctx, store.Query{Filter: pending, Limit: 1000})
	if err != nil {
		return err
	}
	for _, a := range appointments {
		// Of two runs, only one finds the appointment without remindedAt.
		claim := store.And(store.Eq("id", a.ID), store.Eq("remindedAt", nil))
		err := s.db.Together(ctx, func(ctx context.Context) error {
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

// printer implements Queue.
type printer struct{}

func (printer) Enqueue(_ context.Context, e email.Entry) error {
	_, err := fmt.Println("an email:", e.Kind)
	return err
}

// The server creates the Runner from the modules; a test runs the jobs with testkit's RunJobs.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(ctx, filepath.Join(dir, "clinic.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	s := &Service{
		appointments: resource.Open(kit.Deps{DB: db, Now: time.Now, Resources: &kit.Resources{}}, store.Spec{Name: "appointments"}, Appointment.View, resource.Own, resource.Own),
		db:           db, emails: printer{}, now: time.Now,
	}
	var m Module
	m.controller.service = s
	runner := job.New(db, s.now, slog.Default(), m.Parts().Jobs...)
	if err := db.Prepare(ctx); err != nil {
		log.Fatal(err)
	}
	for _, in := range []time.Duration{time.Hour, 48 * time.Hour} {
		a := Appointment{Meta: store.NewMeta(store.NewID(), store.At(s.now())), StartsAt: store.At(s.now().Add(in))}
		if err := s.appointments.Unrestricted().Insert(ctx, a); err != nil {
			log.Fatal(err)
		}
	}
	if err := runner.RunDue(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: an email: appointment-reminder
}
