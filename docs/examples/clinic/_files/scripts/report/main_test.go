package main

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.com/clinic/modules/appointment"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

// TestMinutes reads the stored form, which can change with an upgrade of the runtime, while the service has the database open.
func TestMinutes(t *testing.T) {
	t.Parallel()
	address := "sqlite:" + filepath.Join(t.TempDir(), "clinic.db")
	if mongotest.Available() {
		address = mongotest.New(t).String()
	}
	db, err := engines.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	appointments := store.Open[appointment.Appointment](db, store.Spec{Name: "appointments"})
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	grace, ada := store.ID{11: 1}, store.ID{11: 2}
	for _, a := range []appointment.Appointment{
		{Fields: appointment.Fields{Practitioner: grace, Minutes: 30}, State: "booked"},
		{Fields: appointment.Fields{Practitioner: grace, Minutes: 45}, State: "booked"},
		{Fields: appointment.Fields{Practitioner: grace, Minutes: 60}, State: "cancelled"},
		{Fields: appointment.Fields{Practitioner: ada, Minutes: 15}, State: "booked"},
	} {
		a.Meta = store.NewMeta(store.NewID(), store.At(time.Now()))
		if err := appointments.Insert(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	got, err := minutes(t.Context(), address)
	if want := []Row{{grace.Hex(), 75}, {ada.Hex(), 15}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
