package migrate_test

import (
	"fmt"
	"time"

	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/store"
)

// Appointment has a new field, ends.
type Appointment struct {
	store.Meta `bson:",inline"`
	Starts     store.Time `json:"starts"`
	Duration   int64      `json:"duration"` // minutes
	Ends       store.Time `json:"ends"`
}

// Module is the module of appointments.
type Module struct {
	appointments *store.Collection[Appointment]
}

// migrations are the migrations of Module, for its kit.Parts. In a project, they are in the module's migrations.go.
func (m *Module) migrations() []migrate.Migration {
	return []migrate.Migration{
		{
			Name: "appointment-1", Collection: m.appointments.Engine(),
			Steps: []migrate.Step{
				migrate.Derive("ends", func(a Appointment) (store.Time, error) {
					return store.At(a.Starts.Add(time.Duration(a.Duration) * time.Minute)), nil
				}),
			},
		},
	}
}

func ExampleDerive() {
	var m Module
	m.appointments = new(store.Collection[Appointment]) // in a project, the module has opened it
	fmt.Println(m.migrations()[0].Steps[0])
	// Output: derive ends from id, version, createdAt, updatedAt, starts, duration, ends where it is missing
}
