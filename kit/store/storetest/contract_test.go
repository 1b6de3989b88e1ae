// Package storetest tests the contract of package store on every engine.
package storetest

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/testkit/testdb"
)

// Opener opens a database and closes it when the test ends. Several calls may open the same database. The database need not be
// empty, because each test creates a collection with a new name.
type Opener func(t testing.TB) store.DB

// engineOpeners returns an Opener for SQLite and, if TEST_MONGODB_URI names a server, an Opener for MongoDB.
func engineOpeners(t testing.TB) map[string]Opener {
	t.Helper()
	openers := map[string]Opener{"sqlite": func(t testing.TB) store.DB {
		db, err := engines.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"))
		must(t, err)
		t.Cleanup(func() { must(t, db.Close()) })
		return db
	}}
	if mongotest.Available() {
		openers["mongodb"] = testdb.Open
	}
	return openers
}

// TestContract checks that every engine implements the contract of package store.
func TestContract(t *testing.T) {
	for name, open := range engineOpeners(t) {
		t.Run(name, func(t *testing.T) { testEngine(t, open) })
	}
}

// TestWithoutTransactions checks Atomic and Together of a database without transactions.
func TestWithoutTransactions(t *testing.T) {
	t.Parallel()
	open := func(t testing.TB) store.DB { return testdb.Separate(testdb.Open(t)) }
	for name, check := range map[string]func(*testing.T, Opener){"Atomic": testAtomic, "Together": testTogether, "AfterTogether": testAfterTogether} {
		t.Run(name, func(t *testing.T) { check(t, open) })
	}
}

func testEngine(t *testing.T, open Opener) {
	for _, test := range []struct {
		name  string
		check func(*testing.T, Opener)
	}{
		{"Insert", testInsert},
		{"First", testFirst},
		{"List", testList},
		{"ListMany", testListMany},
		{"Count", testCount},
		{"Page", testPage},
		{"Bytes", testBytes},
		{"Update", testUpdate},
		{"Delete", testDelete},
		{"NilFilter", testNilFilter},
		{"Context", testContext},
		{"Close", testClose},
		{"Filters", testFilters},
		{"Changes", testChanges},
		{"Version", testVersion},
		{"RoundTrip", testRoundTrip},
		{"Types", testTypes},
		{"Defaults", testDefaults},
		{"Texts", testTexts},
		{"Times", testTimes},
		{"Numbers", testNumbers},
		{"Unique", testUnique},
		{"UniqueUpdate", testUniqueUpdate},
		{"UniqueIntegers", testUniqueIntegers},
		{"Prepare", testPrepare},
		{"PrepareLater", testPrepareLater},
		{"PrepareDuplicates", testPrepareDuplicates},
		{"Order", testOrder},
		{"OrderText", testOrderText},
		{"AfterRemoved", testAfterRemoved},
		{"Fields", testFields},
		{"Search", testSearch},
		{"SearchUnicode", testSearchUnicode},
		{"SearchPlainText", testSearchPlainText},
		{"SearchCombined", testSearchCombined},
		{"SearchFollows", testSearchFollows},
		{"SearchLongText", testSearchLongText},
		{"SearchManyWords", testSearchManyWords},
		{"SearchOfNothing", testSearchOfNothing},
		{"Load", testLoad},
		{"LoadMore", testLoadMore},
		{"Lossless", testLossless},
		{"Drop", testDrop},
		{"OneUpdateWins", testOneUpdateWins},
		{"OneDeleteWins", testOneDeleteWins},
		{"OneInsertWins", testOneInsertWins},
		{"IncLosesNothing", testIncLosesNothing},
		{"MixedWrites", testMixedWrites},
		{"UpdatedAt", testUpdatedAt},
		{"Modify", testModify},
		{"ModifyTogether", testModifyTogether},
		{"Merge", testMerge},
		{"Atomic", testAtomic},
		{"AtomicRollback", testAtomicRollback},
		{"AtomicReads", testAtomicReads},
		{"AtomicFailure", testAtomicFailure},
		{"AtomicConflict", testAtomicConflict},
		{"AtomicPanic", testAtomicPanic},
		{"AtomicContext", testAtomicContext},
		{"AtomicEnded", testAtomicEnded},
		{"AtomicNested", testAtomicNested},
		{"AfterCommit", testAfterCommit},
		{"Lock", testLock},
		{"LockSkew", testLockSkew},
		{"Together", testTogether},
		{"AfterTogether", testAfterTogether},
		{"Clinic", testClinic},
		{"Log", testLog},
		{"LogFields", testLogFields},
		{"LogAtomic", testLogAtomic},
		{"LogRecreated", testLogRecreated},
		{"LogConcurrent", testLogConcurrent},
		{"LogReplaced", testLogReplaced},
		{"LogReset", testLogReset},
		{"LogSweep", testLogSweep},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.check(t, open)
		})
	}
}

// doc is the document of the tests. For each kind of value, it has a required and a nullable field.
type doc struct {
	store.Meta `bson:",inline"`
	Title      string            `json:"title"`
	Body       *string           `json:"body"`
	Kind       kind              `json:"kind"`
	Name       *string           `json:"name,omitempty"`
	Count      int64             `json:"count"`
	Rank       *int              `json:"rank"`
	Score      float64           `json:"score"`
	Ratio      *float64          `json:"ratio"`
	Active     bool              `json:"active"`
	Flag       *bool             `json:"flag"`
	At         store.Time        `json:"at"`
	Due        *store.Time       `json:"due"`
	Owner      store.ID          `json:"owner"`
	Editor     *store.ID         `json:"editor"`
	Profile    profile           `json:"profile"`
	Home       *profile          `json:"home"`
	Tags       []string          `json:"tags"`
	Parts      []part            `json:"parts"`
	Labels     map[string]string `json:"labels"`
}

type kind string

type profile struct {
	Email  *string `json:"email"`
	City   string  `json:"city,omitempty"`
	Visits int64   `json:"visits,omitempty"`
	Deep   *deep   `json:"deep"`
}

type deep struct {
	Value *string `json:"value"`
}

type part struct {
	Name  string     `json:"name"`
	Size  int        `json:"size"`
	Since store.Time `json:"since"`
}

// noon is the time of the documents made by newDoc.
var noon = store.At(time.Date(2024, time.May, 17, 12, 0, 0, 0, time.UTC))

func newDoc(title string, edits ...func(*doc)) doc {
	d := doc{Meta: store.NewMeta(store.NewID(), noon), Title: title, At: noon}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

func (d doc) withVersion(v int64) doc {
	d.Version = v
	return d
}

// openDocs creates a collection of docs on a new handle.
func openDocs(t *testing.T, open Opener, indexes ...store.Index) *store.Collection[doc] {
	t.Helper()
	return prepare(t, open(t), docSpec(indexes...))
}

func docSpec(indexes ...store.Index) store.Spec {
	return store.Spec{
		Name:    "test_" + store.NewID().Hex(),
		Search:  []string{"title", "body", "profile.city"},
		Indexes: indexes,
	}
}

func prepare(t *testing.T, db store.DB, spec store.Spec) *store.Collection[doc] {
	t.Helper()
	c := store.Open[doc](store.WithClock(db, func() time.Time { return noon.Time }), spec)
	must(t, db.Prepare(t.Context()))
	return c
}

func insert(t *testing.T, c *store.Collection[doc], docs ...doc) {
	t.Helper()
	for _, d := range docs {
		must(t, c.Insert(t.Context(), d))
	}
}

// titles returns the titles of the documents that q selects, in order.
func titles(t *testing.T, c *store.Collection[doc], q store.Query) []string {
	t.Helper()
	docs, err := c.List(t.Context(), q)
	must(t, err)
	names := []string{}
	for _, d := range docs {
		names = append(names, d.Title)
	}
	return names
}

// wantTitles checks the results of List, Count and Page.
func wantTitles(t *testing.T, c *store.Collection[doc], f store.Filter, want ...string) {
	t.Helper()
	if got := titles(t, c, store.Query{Filter: f}); !slices.Equal(got, want) {
		t.Errorf("List(%v) has %q, want %q", f, got, want)
	}
	n, err := c.Count(t.Context(), f)
	must(t, err)
	if n != int64(len(want)) {
		t.Errorf("Count(%v) = %d, want %d", f, n, len(want))
	}
	wantPage(t, c, store.Query{Filter: f}, int64(len(want)), want...)
}

// wantPage checks the rows and the count of a page.
func wantPage(t *testing.T, c *store.Collection[doc], q store.Query, count int64, want ...string) {
	t.Helper()
	docs, n, err := c.Page(t.Context(), q)
	must(t, err)
	got := []string{}
	for _, d := range docs {
		got = append(got, d.Title)
	}
	if docs == nil || n != count || !slices.Equal(got, want) {
		t.Errorf("Page(%+v) has %q of %d, want %q of %d", q, got, n, want, count)
	}
}

func wantCode(t *testing.T, err error, want apperr.Code) {
	t.Helper()
	if got := apperr.CodeOf(err); got != want {
		t.Errorf("error %v has the code %q, want %q", err, got, want)
	}
}

// wantConflict checks that err is a Conflict with exactly these fields.
func wantConflict(t *testing.T, err error, fields ...string) {
	t.Helper()
	wantCode(t, err, apperr.Conflict)
	var e *apperr.Error
	if !errors.As(err, &e) {
		return
	}
	var got []string
	for _, f := range e.Fields {
		got = append(got, f.Param)
	}
	if !slices.Equal(got, fields) {
		t.Errorf("the Conflict names %q, want %q", got, fields)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
