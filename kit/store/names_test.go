package store

import (
	"fmt"
	"strings"
	"testing"
)

type shelf struct {
	Meta    `bson:",inline"`
	Status  string            `json:"status"`
	Address *place            `json:"address"`
	Labels  map[string]string `json:"labels"`
	Rooms   []place           `json:"rooms"`
	Price   Decimal           `json:"price"`
}

type place struct {
	City string `json:"city"`
	When Time   `json:"when"`
}

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	shelves := Open[shelf](nothing{}, Spec{Name: "shelves", Search: []string{"status"}, Indexes: []Index{{Fields: []string{"address.city", "id"}}}})
	for _, name := range []string{"id", "version", "createdAt", "updatedAt", "status", "address", "address.city", "address.when", "labels", "labels.a", "labels.a.b", "rooms", "price"} {
		if err := shelves.names.check(name); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		"statuss":        `store: the collection shelves has no field "statuss"; did you mean "status"?`,
		"Status":         `store: the collection shelves has no field "Status"; did you mean "status"?`,
		"address.cty":    `store: the collection shelves has no field "address.cty"; did you mean "address.city"?`,
		"address.when.x": `store: the collection shelves has no field "address.when.x"`,
		"rooms.city":     `store: the collection shelves has no field "rooms.city"`,
		"price.value":    `store: the collection shelves has no field "price.value"`,
		"hidden":         `store: the collection shelves has no field "hidden"`,
		"Meta":           `store: the collection shelves has no field "Meta"`,
		"*":              `store: the collection shelves has no field "*"`,
		"":               `store: the collection shelves has no field ""`,
		"startsAt":       `store: the collection shelves has no field "startsAt"`,
	} {
		if err := shelves.names.check(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// chain is a document that refers to its own type.
type chain struct {
	Meta  `bson:",inline"`
	Name  string `json:"name"`
	First *link  `json:"first"`
}

type link struct {
	Next *link  `json:"next"`
	Of   *chain `json:"of"`
}

func TestNamesOfRecursiveTypes(t *testing.T) {
	t.Parallel()
	chains := Open[chain](nothing{}, Spec{Name: "chains"})
	for name, ok := range map[string]bool{"first.next.next.of.first.of.name": true, "first.next.name": false, "first.of.of": false} {
		if err := chains.names.check(name); err == nil != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnknownNamesFail checks that each method fails for an unknown name, and does not call the engine.
func TestUnknownNamesFail(t *testing.T) {
	t.Parallel()
	ctx, shelves, wrong := t.Context(), Open[shelf](nothing{}, Spec{Name: "shelves"}), And(nil, Or(Eq("id", NewID()), Eq("statuss", "new")))
	query := Query{Filter: wrong}
	for name, call := range map[string]func() error{
		"First":          func() error { _, err := shelves.First(ctx, wrong); return err },
		"Exists":         func() error { _, err := shelves.Exists(ctx, In("statuss", 1)); return err },
		"List":           func() error { _, err := shelves.List(ctx, query); return err },
		"sort":           func() error { _, err := shelves.List(ctx, Query{Sort: []Order{{Field: "statuss"}}}); return err },
		"fields":         func() error { _, err := shelves.List(ctx, Query{Fields: []string{"statuss"}}); return err },
		"Page":           func() error { _, _, err := shelves.Page(ctx, query); return err },
		"Count":          func() error { _, err := shelves.Count(ctx, wrong); return err },
		"Update, filter": func() error { _, err := shelves.Update(ctx, wrong, Set("status", "new")); return err },
		"Update, change": func() error { _, err := shelves.Update(ctx, nil, Set("statuss", "new")); return err },
		"UpdateByID":     func() error { _, err := shelves.UpdateByID(ctx, NewID(), nil, Unset("statuss")); return err },
		"Delete":         func() error { _, err := shelves.Delete(ctx, wrong); return err },
		"DeleteList":     func() error { return shelves.DeleteList(ctx, query) },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), `did you mean "status"?`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, spec := range []Spec{{Search: []string{"statuss"}}, {Indexes: []Index{{Fields: []string{"id", "statuss"}}}}} {
		func() {
			defer func() {
				if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), `did you mean "status"?`) {
					t.Errorf("Open with %+v: %v", spec, err)
				}
			}()
			Open[shelf](nothing{}, spec)
		}()
	}
}

// nothing is a database whose collections have no engine: a call of an engine's method panics.
type nothing struct{ DB }

func (nothing) Open(Spec) Engine { return nil }

// TestUniqueList declares unique indexes of lists.
func TestUniqueList(t *testing.T) {
	t.Parallel()
	for _, fields := range [][]string{{"rooms"}, {"status", "rooms"}} {
		func() {
			defer func() {
				if err := recover(); err == nil || !strings.Contains(fmt.Sprint(err), `the list "rooms"`) {
					t.Errorf("%v: %v", fields, err)
				}
			}()
			Open[shelf](nothing{}, Spec{Name: "shelves", Indexes: []Index{{Fields: fields, Unique: true}}})
		}()
	}
	Open[shelf](nothing{}, Spec{Name: "shelves", Indexes: []Index{{Fields: []string{"status", "address.city", "price"}, Unique: true}, {Fields: []string{"rooms"}}}})
}

type priced struct {
	Price int64 `json:"price"`
}

// Priced is exported, so that only its tag matters.
type Priced struct {
	Price int64 `json:"price"`
}

// TestEmbedded opens collections of documents that MongoDB would store otherwise than the embedded database.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	db := nothing{}
	for name, open := range map[string]func(){
		"not exported": func() {
			Open[struct {
				Meta   `bson:",inline"`
				priced `bson:",inline"`
			}](db, Spec{Name: "shelves"})
		},
		"without inline": func() {
			Open[struct {
				Meta `bson:",inline"`
				Priced
			}](db, Spec{Name: "shelves"})
		},
	} {
		func() {
			defer func() {
				if err := recover(); err == nil || !strings.Contains(fmt.Sprint(err), "riced, which MongoDB would not store") {
					t.Errorf("%s: %v", name, err)
				}
			}()
			open()
		}()
	}
	Open[struct {
		Meta   `bson:",inline"`
		Priced `bson:",inline"`
	}](db, Spec{Name: "shelves"})
}
