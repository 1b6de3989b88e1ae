package job_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/sqlite"
)

// Appointment is a record of the module.
type Appointment struct {
	store.Meta `bson:",inline"`
	Room       string      `json:"room"`
	StartsAt   store.Time  `json:"startsAt"`
	RemindedAt *store.Time `json:"remindedAt"` // nil: not yet
}

// Service has the rules of the module.
type Service struct {
	appointments *store.Collection[Appointment]
	now          func() time.Time
	send         func(Appointment)
}

// Jobs implements job.Module.
func (s *Service) Jobs() []job.Job {
	return []job.Job{{Name: "appointment-reminders", Interval: time.Minute, Run: s.remind}}
}

// remind sends a reminder of each appointment that starts within a day.
func (s *Service) remind(ctx context.Context) error {
	now := store.At(s.now())
	pending := store.And(store.Eq("remindedAt", nil), store.Gt("startsAt", now), store.Lt("startsAt", store.At(now.Add(24*time.Hour))))
	appointments, err := s.appointments.List(ctx, store.Query{Filter: pending, Limit: 1000})
	if err != nil {
		return err
	}
	for _, a := range appointments {
		// Of two runs, only one finds the appointment without remindedAt.
		claim := store.And(store.Eq("id", a.ID), store.Eq("remindedAt", nil))
		_, err := s.appointments.Update(ctx, claim, store.Set("remindedAt", now))
		if apperr.Is(err, apperr.NotFound) {
			continue
		}
		if err != nil {
			return err // the next run continues with this appointment
		}
		s.send(a)
	}
	return nil
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
		appointments: store.Open[Appointment](db, store.Spec{Name: "appointments"}), now: time.Now,
		send: func(a Appointment) { fmt.Println("an appointment in room", a.Room) },
	}
	runner := job.New(db, s.now, slog.Default(), s.Jobs()...)
	if err := db.Prepare(ctx); err != nil {
		log.Fatal(err)
	}
	for room, in := range map[string]time.Duration{"2.14": time.Hour, "2.15": 48 * time.Hour} {
		a := Appointment{Meta: store.NewMeta(store.NewID(), store.At(s.now())), Room: room, StartsAt: store.At(s.now().Add(in))}
		if err := s.appointments.Insert(ctx, a); err != nil {
			log.Fatal(err)
		}
	}
	if err := runner.RunDue(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: an appointment in room 2.14
}
