package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// old and item are the documents before and after the migration of the tests.
type old struct {
	store.Meta `bson:",inline"`
	State      string     `json:"state"`
	Price      any        `json:"price"`
	Note       *string    `json:"note"`
	Since      store.Time `json:"since"`
	Count      int64      `json:"count"`
}

type item struct {
	store.Meta `bson:",inline"`
	Status     string     `json:"status"`
	Price      int64      `json:"price"`
	Note       *string    `json:"note"`
	Since      store.Time `json:"since"`
	Count      string     `json:"count"`
	SKU        *string    `json:"sku"`
}

var noon = store.At(time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC))

func open(t *testing.T) store.DB {
	t.Helper()
	return testdb.Open(t)
}

// fill stores documents with the prices.
func fill(t *testing.T, db store.DB, prices ...any) (ids []store.ID) {
	t.Helper()
	items := store.Open[old](db, store.Spec{Name: "items", Search: []string{"state"}})
	must(t, db.Prepare(t.Context()))
	for i, price := range prices {
		note := "a < b"
		ids = append(ids, store.NewID())
		must(t, items.Insert(t.Context(), old{Meta: store.NewMeta(ids[i], noon), State: "on sale", Price: price, Note: &note, Since: noon, Count: int64(i)}))
	}
	return ids
}

// start opens the collection in its new form, with the steps as its migration.
func start(t *testing.T, db store.DB, steps ...migrate.Step) (*store.Collection[item], *migrate.Runner) {
	t.Helper()
	items := store.Open[item](db, store.Spec{Name: "items", Search: []string{"status"}, Indexes: []store.Index{{Fields: []string{"price"}}}})
	runner := migrate.New(db, time.Now, migrate.Migration{Name: "item-1", Collection: items.Engine(), Steps: steps})
	must(t, db.Prepare(t.Context()))
	return items, runner
}

var steps = []migrate.Step{
	migrate.Rename("state", "status"), migrate.Convert[int64]("price"), migrate.Convert[string]("count"), migrate.Convert[store.Time]("since"),
	migrate.Default[string]("sku", "none"), migrate.Drop("note"),
}

// TestRun runs a migration with every kind of step. Repeated runs change nothing.
func TestRun(t *testing.T) {
	t.Parallel()
	db := open(t)
	ids := fill(t, db, "12", 7, 3.0)
	items, runner := start(t, db, steps...)
	pending, err := runner.Pending(t.Context())
	if err != nil || len(pending) != 1 {
		t.Fatalf("%v pending, %v", pending, err)
	}
	if want := `rename state to status; convert price to int64; convert count to string; convert since to Time; ` +
		`set sku to "none" where it is missing; drop note`; pending[0].String() != want {
		t.Errorf("steps %s, want %s", pending[0], want)
	}
	must(t, runner.Run(t.Context(), pending))
	check := func(version int64) {
		t.Helper()
		for i, price := range []int64{12, 7, 3} {
			sku := "none"
			want := item{Meta: store.NewMeta(ids[i], noon), Status: "on sale", Price: price, Since: noon, Count: strconv.Itoa(i), SKU: &sku}
			want.Version = version
			if got, err := items.Get(t.Context(), ids[i]); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v, %v, want %v", got, err, want)
			}
		}
		if n, err := items.Count(t.Context(), store.And(store.Search("sale"), store.Gt("price", 5))); n != 2 || err != nil {
			t.Errorf("%d documents found, %v, want 2", n, err)
		}
		old := store.Query{Filter: store.Ne("state", nil), MaxCount: store.CountAll}
		if n, err := items.Engine().List(t.Context(), old, nil); n != 0 || err != nil {
			t.Errorf("%d documents have the old field, %v", n, err)
		}
	}
	check(2)
	must(t, runner.CheckKnown(t.Context()))
	previous := migrate.New(db, time.Now)
	if err := previous.CheckKnown(t.Context()); err == nil || !strings.Contains(err.Error(), "this version lacks: item-1.") {
		t.Errorf("the previous version: %v", err)
	}
	if pending, err := runner.Pending(t.Context()); err != nil || len(pending) != 0 {
		t.Errorf("%v pending, %v", pending, err)
	}
	again, err := runner.Find("item-1")
	must(t, err)
	must(t, runner.Run(t.Context(), []migrate.Migration{again})) // changes nothing
	check(2)
}

// priced is an item with another type of price.
type priced[T any] struct {
	store.Meta `bson:",inline"`
	Price      T `json:"price"`
}

// convert converts the prices of a collection to T twice, and returns them.
func convert[T any](t *testing.T, db store.DB, name string) (out []T) {
	t.Helper()
	items := store.Open[priced[T]](db, store.Spec{Name: "items"})
	runner := migrate.New(db, time.Now, migrate.Migration{Name: name, Collection: items.Engine(), Steps: []migrate.Step{migrate.Convert[T]("price")}})
	must(t, db.Prepare(t.Context()))
	for range 2 {
		must(t, runner.Run(t.Context(), runner.All()))
	}
	docs, err := items.List(t.Context(), store.Query{})
	must(t, err)
	for _, d := range docs {
		out = append(out, d.Price)
	}
	return out
}

// TestConvert changes the type of a field several times. A repeated conversion changes nothing, even from an integer to a
// decimal, because a decimal is also stored as an integer.
func TestConvert(t *testing.T) {
	t.Parallel()
	db := open(t)
	fill(t, db, 450, "7", 3.0)
	if got := convert[store.Decimal](t, db, "item-1"); !slices.Equal(got, []store.Decimal{450e6, 7e6, 3e6}) {
		t.Errorf("decimals %v", got)
	}
	if got := convert[string](t, db, "item-2"); !slices.Equal(got, []string{"450", "7", "3"}) {
		t.Errorf("strings %v", got)
	}
	if got := convert[int64](t, db, "item-3"); !slices.Equal(got, []int64{450, 7, 3}) {
		t.Errorf("integers %v", got)
	}
	if got := convert[float64](t, db, "item-4"); !slices.Equal(got, []float64{450, 7, 3}) {
		t.Errorf("floats %v", got)
	}
	if got := convert[store.Decimal](t, db, "item-5"); !slices.Equal(got, []store.Decimal{450e6, 7e6, 3e6}) {
		t.Errorf("decimals %v", got)
	}
}

// TestStopsBeforeAnyChange migrates documents with values that cannot be converted or are missing.
func TestStopsBeforeAnyChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		step migrate.Step
		says string
	}{
		"text":    {migrate.Convert[int64]("price"), "price cannot be converted to int64"},
		"missing": {migrate.Require("sku"), "sku is required but missing"},
		"value":   {migrate.OneOf("state", "draft"), "state cannot be converted to one of draft"},
		"date":    {migrate.Convert[store.Date]("state"), "state cannot be converted to Date"},
		"uuid":    {migrate.Convert[store.UUID]("state"), "state cannot be converted to UUID"},
		"list":    {migrate.Convert[string]("price"), "price is a list or an object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t)
			var prices []any
			for i := range 12 {
				prices = append(prices, map[bool]any{true: []string{strconv.Itoa(i)}, false: fmt.Sprint("price ", i)}[name == "list"])
			}
			ids := fill(t, db, prices...)
			items, runner := start(t, db, migrate.Drop("note"), test.step)
			pending, err := runner.Pending(t.Context())
			must(t, err)
			err = runner.Run(t.Context(), pending)
			if err == nil || strings.Count(err.Error(), test.says) != 10 || !strings.Contains(err.Error(), "migration item-1: 12 of 12 documents") ||
				!strings.Contains(err.Error(), ids[9].Hex()) {
				t.Errorf("error %v", err)
			}
			if n, err := items.Count(t.Context(), store.And(store.Eq("version", 1), store.Ne("note", nil))); n != 12 || err != nil {
				t.Errorf("%d documents are unchanged, %v", n, err)
			}
			if pending, err := runner.Pending(t.Context()); err != nil || len(pending) != 1 {
				t.Errorf("%v pending, %v", pending, err)
			}
			must(t, migrate.New(db, time.Now).CheckKnown(t.Context())) // the previous version starts
		})
	}
}

// TestStopsBeforeTheFirst runs migrations of which later ones fail: none changes a document. The check of a migration sees the
// documents as the pending migrations before it would leave them.
func TestStopsBeforeTheFirst(t *testing.T) {
	t.Parallel()
	db := open(t)
	fill(t, db, "12", "twelve")
	items := store.Open[item](db, store.Spec{Name: "items"})
	named := func(name string, steps ...migrate.Step) migrate.Migration {
		return migrate.Migration{Name: name, Collection: items.Engine(), Steps: steps}
	}
	runner := migrate.New(db, time.Now,
		named("item-1", migrate.Rename("state", "status"), migrate.Backfill[string]("sku", "none")), named("item-2", migrate.Require("sku")),
		named("item-3", migrate.Convert[int64]("price")), named("item-4", migrate.Require("state")))
	must(t, db.Prepare(t.Context()))
	err := runner.Run(t.Context(), runner.All())
	for says, times := range map[string]int{"migration ": 2, "migration item-3: 1 of 2 documents": 1, "migration item-4: 1 of 2 documents": 1} {
		if strings.Count(fmt.Sprint(err), says) != times {
			t.Errorf("the error does not have %q %d times: %v", says, times, err)
		}
	}
	if n, err := items.Count(t.Context(), store.Eq("version", 1)); n != 2 || err != nil {
		t.Errorf("%d documents are unchanged, %v", n, err)
	}
	must(t, migrate.New(db, time.Now).CheckKnown(t.Context())) // the previous version starts
	must(t, runner.Run(t.Context(), runner.All()[:2]))
	if n, err := items.Count(t.Context(), store.And(store.Eq("status", "on sale"), store.Eq("sku", "none"))); n != 2 || err != nil {
		t.Errorf("%d documents are migrated, %v", n, err)
	}
}

// derived is an item with fields that a migration derives or backfills.
type derived struct {
	store.Meta `bson:",inline"`
	Ends       store.Time `json:"ends"`
	Kind       string     `json:"kind"`
	Tags       []string   `json:"tags"`
}

// TestDerive derives a field from values of all types, after earlier steps, and backfills empty fields.
func TestDerive(t *testing.T) {
	t.Parallel()
	db := open(t)
	ids := fill(t, db, []string{"90", "x"}, nil)
	kinds := store.Open[derived](store.WithClock(db, func() time.Time { return noon.Time }), store.Spec{Name: "items"})
	_, err := kinds.Update(t.Context(), store.Eq("id", ids[1]), store.Set("kind", ""), store.Set("ends", noon))
	must(t, err)
	steps := []migrate.Step{
		migrate.Convert[store.Decimal]("count"),
		migrate.Derive("ends", func(d struct {
			store.Meta
			Since store.Time    `json:"since"`
			Price []string      `json:"price"`
			Count store.Decimal `json:"count"`
			Note  *string       `json:"note"`
			None  *string       `json:"none"`
		}) (store.Time, error) {
			if d.ID != ids[0] || d.CreatedAt != noon || d.Count != 0 || *d.Note != "a < b" || d.None != nil {
				t.Errorf("%+v", d)
			}
			minutes, err := strconv.Atoi(d.Price[0])
			return store.At(d.Since.Add(time.Duration(minutes) * time.Minute)), err
		}),
		migrate.Backfill[string]("kind", "plain"), migrate.Backfill[[]string]("tags", `["new"]`), migrate.Drop("price"), migrate.Drop("count"),
	}
	for range 2 { // the second run changes nothing
		runner := migrate.New(db, time.Now, migrate.Migration{Name: "item-1", Collection: kinds.Engine(), Steps: steps})
		must(t, db.Prepare(t.Context()))
		must(t, runner.Run(t.Context(), runner.All()))
	}
	for i, want := range []derived{{Ends: store.At(noon.Add(90 * time.Minute)), Kind: "plain"}, {Ends: noon, Kind: "plain"}} {
		want.Meta, want.Tags = store.NewMeta(ids[i], noon), []string{"new"}
		want.Version = int64(2 + i)
		if got, err := kinds.Get(t.Context(), ids[i]); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
}

// TestUndecided checks that the error lists the steps that can replace Undecided.
func TestUndecided(t *testing.T) {
	t.Parallel()
	db := open(t)
	fill(t, db, "12")
	_, runner := start(t, db, migrate.Undecided[store.Time]("ends"))
	err := runner.Run(t.Context(), runner.All())
	if err == nil || !strings.Contains(err.Error(), "ends is required but missing\nIn migrations.go, replace migrate.Undecided[store.Time](\"ends\")") ||
		!strings.Contains(err.Error(), "\tmigrate.Backfill[store.Time](\"ends\", \"VALUE\"),\n\tmigrate.Derive(\"ends\", func(d struct{") {
		t.Errorf("error %v", err)
	}
}

// TestCheck applies the earlier migrations of a collection first, and stores nothing.
func TestCheck(t *testing.T) {
	t.Parallel()
	db := open(t)
	fill(t, db, "12", "thirteen")
	items, _ := start(t, db)
	first := migrate.Migration{Name: "item-1", Collection: items.Engine(), Steps: []migrate.Step{migrate.Rename("price", "amount")}}
	second := migrate.Migration{Name: "item-2", Collection: items.Engine(), Steps: []migrate.Step{migrate.Convert[int64]("amount")}}
	runner := migrate.New(db, time.Now, first, second)
	if n, err := runner.Check(t.Context(), first, nil); n != 2 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
	n, err := runner.Check(t.Context(), second, []migrate.Migration{first})
	if n != 2 || err == nil || !strings.Contains(err.Error(), "1 of 2 documents") || !strings.Contains(err.Error(), "amount cannot be converted to int64") {
		t.Errorf("%d documents, %v", n, err)
	}
	if n, err := items.Engine().List(t.Context(), store.Query{Filter: store.Eq("version", 1), MaxCount: store.CountAll}, nil); n != 2 || err != nil {
		t.Errorf("%d documents are unchanged, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := runner.Check(ctx, first, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the database fails: %v", err)
	}
}

// TestConcurrent runs several runners that ignore each other's lease, while the documents change.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	db := open(t)
	var prices []any
	many := testdb.Size(100, 20)
	for i := range many {
		prices = append(prices, strconv.Itoa(i))
	}
	ids := fill(t, db, prices...)
	items, runner := start(t, db, steps...)
	pending, err := runner.Pending(t.Context())
	must(t, err)
	var group sync.WaitGroup
	for range 2 {
		later := func() time.Time { return time.Now().Add(time.Hour) } // every lease has expired
		other := migrate.New(db, later, pending...)
		group.Go(func() {
			if err := other.Run(t.Context(), pending); err != nil {
				t.Error(err)
			}
		})
	}
	group.Go(func() {
		for _, id := range ids {
			if _, err := items.Update(t.Context(), store.Eq("id", id), store.Set("updatedAt", store.At(noon.Add(time.Hour)))); err != nil && !strings.Contains(err.Error(), "price") {
				t.Error(err) // an old document is changed, but cannot be decoded
			}
		}
	})
	group.Wait()
	n, err := items.Count(t.Context(), store.And(store.Eq("status", "on sale"), store.Gte("price", 0), store.Eq("version", 3)))
	if n != int64(many) || err != nil {
		t.Errorf("%d of %d documents are migrated once and changed once, %v", n, many, err)
	}
}

// TestLease checks that a runner waits for another runner, and does not repeat the work.
func TestLease(t *testing.T) {
	t.Parallel()
	db := open(t)
	fill(t, db, "1")
	begun, release := make(chan struct{}), make(chan struct{})
	runs := 0
	_, runner := start(t, db, migrate.ConvertFunc("price", "a number", func(old any) (any, error) {
		if runs++; runs == 1 {
			close(begun)
			<-release
		}
		return int64(1), nil
	}))
	pending, err := runner.Pending(t.Context())
	must(t, err)
	var group sync.WaitGroup
	group.Go(func() {
		if err := runner.Run(t.Context(), pending); err != nil {
			t.Error(err)
		}
	})
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error)
	go func() { waited <- runner.Run(ctx, pending) }()
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("a runner whose context ends returns %v", err)
	}
	group.Go(func() {
		if err := runner.Run(t.Context(), pending); err != nil {
			t.Error(err)
		}
	})
	close(release)
	group.Wait()
	if runs != 2 { // the check and the change
		t.Errorf("%d conversions, want 2", runs)
	}
}

// TestInterrupted continues a migration that stopped in the middle.
func TestInterrupted(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	db := open(t)
	var prices []any
	for range 520 {
		prices = append(prices, "5")
	}
	fill(t, db, prices...)
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	runs := 0
	items, runner := start(t, db, migrate.ConvertFunc("price", "a number", func(any) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		if runs++; runs == 520+510 { // in the second page of changes
			cancel()
		}
		return int64(5), nil
	}))
	pending, err := runner.Pending(t.Context())
	must(t, err)
	if err := runner.Run(ctx, pending); err == nil {
		t.Error("no error")
	}
	if migrate.New(db, time.Now).CheckKnown(t.Context()) == nil {
		t.Error("the previous version starts on half of the new documents")
	}
	half, err := items.Count(t.Context(), store.Eq("price", 5))
	if err != nil || half < 500 || half >= 520 {
		t.Errorf("%d documents are migrated after the interruption, %v", half, err)
	}
	must(t, runner.Run(t.Context(), pending))
	if n, err := items.Count(t.Context(), store.And(store.Eq("price", 5), store.Eq("version", 2))); n != 520 || err != nil {
		t.Errorf("%d of 520 documents are migrated once, %v", n, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
