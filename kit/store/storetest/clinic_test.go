package storetest

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/testkit/testdb"
)

// appointment reserves a room from the minute Start until the minute End.
type appointment struct {
	store.Meta `bson:",inline"`
	Room       store.ID `json:"room"`
	Start      int64    `json:"start"`
	End        int64    `json:"end"`
	Reason     string   `json:"reason"`
}

type invoice struct {
	store.Meta  `bson:",inline"`
	Appointment store.ID `json:"appointment"`
}

// clinic has a rule for several records: the appointments of a room do not overlap, and each appointment has one invoice.
type clinic struct {
	db           store.DB
	rooms        *store.Collection[doc]
	appointments *store.Collection[appointment]
	invoices     *store.Collection[invoice]
}

// theRooms are the IDs of the rooms, and day is the number of minutes in which the rooms have appointments.
var theRooms = []store.ID{{1}, {2}, {3}}

const day = 200

func openClinic(ctx context.Context, db store.DB) (clinic, error) {
	index := func(fields ...string) []store.Index { return []store.Index{{Fields: fields}} }
	c := clinic{
		db, store.Open[doc](db, store.Spec{Name: "rooms"}),
		store.Open[appointment](db, store.Spec{Name: "appointments", Indexes: index("room", "start"), Search: []string{"reason"}}),
		store.Open[invoice](db, store.Spec{Name: "invoices", Indexes: index("appointment")}),
	}
	err := db.Prepare(ctx)
	for _, id := range theRooms {
		insertErr := c.rooms.Insert(ctx, newDoc("room", func(d *doc) { d.ID = id }))
		err = errors.Join(err, apperr.Replace(insertErr, apperr.Conflict, nil))
	}
	return c, err
}

var errTaken = errors.New("the room is taken")

// book stores an appointment with its invoice.
func (c clinic) book(ctx context.Context, a appointment) error {
	return c.db.Atomic(ctx, func(ctx context.Context) error {
		if err := c.rooms.Lock(ctx, a.Room); err != nil {
			return err
		}
		overlapping := store.And(store.Eq("room", a.Room), store.Lt("start", a.End), store.Gt("end", a.Start))
		if taken, err := c.appointments.Exists(ctx, overlapping); err != nil || taken {
			return errors.Join(err, errTaken)
		}
		if err := c.appointments.Insert(ctx, a); err != nil {
			return err
		}
		return c.invoices.Insert(ctx, invoice{store.NewMeta(store.NewID(), noon), a.ID})
	})
}

// cancel deletes an appointment with its invoice.
func (c clinic) cancel(ctx context.Context, id store.ID) error {
	return c.db.Atomic(ctx, func(ctx context.Context) error {
		if _, err := c.appointments.Delete(ctx, store.Eq("id", id)); err != nil {
			return err
		}
		_, err := c.invoices.Delete(ctx, store.Eq("appointment", id))
		return err
	})
}

// work books and cancels appointments at random, n times. It reports an event before each call and, if the call succeeds, after
// the call.
func (c clinic) work(ctx context.Context, n int, report func(event string, id store.ID)) error {
	var own []store.ID
	for range n {
		start := rand.N(int64(day))
		a := appointment{store.NewMeta(store.NewID(), noon), theRooms[rand.N(len(theRooms))], start, start + 1 + rand.N(int64(5)), "cough"}
		report("book", a.ID)
		err := c.book(ctx, a)
		if err == nil {
			report("booked", a.ID)
			own = append(own, a.ID)
		} else if !errors.Is(err, errTaken) {
			return err
		}
		if len(own) > 3 || err != nil && len(own) > 0 {
			report("cancel", own[0])
			if err := c.cancel(ctx, own[0]); err != nil {
				return err
			}
			report("canceled", own[0])
			own = own[1:]
		}
	}
	return nil
}

// check checks the rule, and that the appointments match the reported events and can be found. It returns the number of appointments.
func (c clinic) check(t *testing.T, events map[store.ID]string) int {
	t.Helper()
	appointments, err := c.appointments.List(t.Context(), store.Query{Sort: []store.Order{{Field: "room"}, {Field: "start"}}})
	must(t, err)
	invoices, err := c.invoices.List(t.Context(), store.Query{})
	must(t, err)
	billed, exists := map[store.ID]int{}, map[store.ID]bool{}
	for _, i := range invoices {
		billed[i.Appointment]++
	}
	for i, a := range appointments {
		exists[a.ID] = true
		if i > 0 && appointments[i-1].Room == a.Room && appointments[i-1].End > a.Start {
			t.Errorf("%+v overlaps %+v", a, appointments[i-1])
		}
		if billed[a.ID] != 1 {
			t.Errorf("an appointment has %d invoices", billed[a.ID])
		}
		if event := events[a.ID]; event == "" || event == "canceled" {
			t.Errorf("an appointment exists after the event %q", event)
		}
	}
	if found, err := c.appointments.Count(t.Context(), store.Search("cough")); err != nil || found != int64(len(appointments)) {
		t.Errorf("a search finds %d of %d appointments: %v", found, len(appointments), err)
	}
	if len(invoices) != len(appointments) {
		t.Errorf("%d invoices of %d appointments", len(invoices), len(appointments))
	}
	for id, event := range events {
		if event == "booked" && !exists[id] {
			t.Error("a booked appointment does not exist")
		}
	}
	return len(appointments)
}

// callers is the number of concurrent callers of a clinic.
const callers = 20

func testClinic(t *testing.T, open Opener) {
	db, _ := openAtomic(t, open)
	c, err := openClinic(t.Context(), db)
	must(t, err)
	var mu sync.Mutex
	events := map[store.ID]string{}
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			err := c.work(t.Context(), 10, func(event string, id store.ID) {
				mu.Lock()
				defer mu.Unlock()
				events[id] = event
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if c.check(t, events) == 0 {
		t.Error("there are no appointments")
	}
}

var kills = flag.Int("kills", 3, "how often TestKilled kills the process")

// clinicVariable is the environment variable with the address of the database. If it is set, the process runs workClinic.
const clinicVariable = "STORETEST_CLINIC"

func TestMain(m *testing.M) {
	if address := os.Getenv(clinicVariable); address != "" {
		fmt.Println(workClinic(address))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// workClinic works in a clinic until the process is killed, and prints the events.
func workClinic(address string) error {
	ctx := context.Background()
	db, err := engines.Open(ctx, address)
	if err != nil {
		return err
	}
	c, err := openClinic(ctx, db)
	if err != nil {
		return err
	}
	failed := make(chan error)
	for range callers {
		go func() {
			failed <- c.work(ctx, 1<<30, func(event string, id store.ID) { _, _ = os.Stdout.WriteString(event + " " + id.Hex() + "\n") })
		}()
	}
	return <-failed
}

// TestKilled kills a process during its Atomics. Afterwards each Atomic must be stored completely or not at all, and all
// reported Atomics must be stored.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		testKilled(t, "sqlite:"+filepath.Join(t.TempDir(), "clinic.db"))
	})
	t.Run("mongodb", func(t *testing.T) {
		t.Parallel()
		openAtomic(t, testdb.Open) // skips the test if there are no transactions
		// A server keeps the transactions of a killed process, and what they lock, until they exceed its transactionLifetimeLimitSeconds.
		testKilled(t, mongotest.New(t, "timeoutMS=120000").String())
	})
}

func testKilled(t *testing.T, address string) {
	events, left := map[store.ID]string{}, 0
	for range *kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), clinicVariable+"="+address)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		var kill *time.Timer
		for lines := bufio.NewScanner(out); lines.Scan(); {
			event, hex, _ := strings.Cut(lines.Text(), " ")
			id, ok := store.ParseID(hex)
			if !ok {
				t.Errorf("the process prints %q", lines.Text())
			}
			events[id] = event
			if kill == nil && event == "booked" {
				kill = time.AfterFunc(20*time.Millisecond+rand.N(100*time.Millisecond), func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait() // the process was killed
		db, err := engines.Open(t.Context(), address)
		must(t, err)
		c, err := openClinic(t.Context(), db)
		must(t, err)
		left = c.check(t, events)
		must(t, db.Close())
	}
	t.Logf("%d kills, %d events, %d appointments", *kills, len(events), left)
	if left == 0 {
		t.Error("there are no appointments")
	}
}
