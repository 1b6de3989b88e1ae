package sqlite

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// searchDocuments is how many documents these tests search: enough that a common word is walked for.
const searchDocuments = 600

// searched has documents whose words are common, rare, never together, and, many times, at random.
func searched(t *testing.T) *collection {
	t.Helper()
	db, c := openItems(t, Options{SearchWait: time.Millisecond})
	db.readers.maxScans, db.searches.maxScans = 240, 400 // so that some searches are costly, and some find little
	random := rand.New(rand.NewPCG(3, 4))
	for n := range searchDocuments {
		words := []string{"all", []string{"even", "odd"}[n%2]}
		if n%40 == 0 {
			words = append(words, "rare")
		}
		for range 3 {
			words = append(words, fmt.Sprintf("w%d", int(math.Pow(30, random.Float64()))))
		}
		must(t, c.Insert(t.Context(), newItem(strings.Join(words, " ")+fmt.Sprintf(" n%d", n))))
	}
	return db.Open(itemSpec).(*collection)
}

// TestPlannedSearch holds every manner to find a search's documents against the plain one, which looks up all words.
func TestPlannedSearch(t *testing.T) {
	t.Parallel()
	c := searched(t)
	random := rand.New(rand.NewPCG(5, 6))
	vocabulary := []string{"all", "al", "even", "odd", "rare", "w", "w1", "w2", "w17", "nowhere"}
	read := func(conn *conn, q store.Query, plan *searchPlan) (docs []string) {
		parts, err := parts(q)
		must(t, err)
		must(t, c.rows(t.Context(), conn, q, parts, plan, func(doc []byte) error {
			docs = append(docs, string(doc))
			return nil
		}))
		return docs
	}
	for range 300 {
		var words []string
		for range 1 + random.IntN(3) {
			words = append(words, vocabulary[random.IntN(len(vocabulary))])
		}
		search := store.TextSearch{Text: strings.Join(words, " ")}
		q := store.Query{Filter: search, Limit: 1 + random.IntN(20), Skip: random.IntN(2) * random.IntN(20)}
		if random.IntN(2) == 0 {
			q.Sort = []store.Order{{Field: "name", Desc: random.IntN(2) == 0}}
		}
		if random.IntN(3) == 0 {
			q.Filter = store.And(store.Gt("name", "all ev"), search)
		}
		if len(q.Sort) > 0 && q.Skip == 0 && random.IntN(2) == 0 {
			q.After = []any{"all even w1", store.NewID()}
		}
		prefixes := store.QueryWords(search.Text)
		cut := random.IntN(len(prefixes))
		must(t, c.db.readers.use(t.Context(), func(conn *conn) error {
			want := read(conn, q, nil)
			for _, plan := range []*searchPlan{
				{search: search, lookUp: prefixes[cut:], scan: prefixes[:cut]},
				{search: search, scan: prefixes},
			} {
				if got := read(conn, q, plan); !slices.Equal(got, want) {
					t.Errorf("%+v by %+v: %d documents, want %d: %v", q, plan, len(got), len(want), got)
				}
			}
			return nil
		}))
		var got []*item
		must(t, c.List(t.Context(), q, func() any { got = append(got, &item{}); return got[len(got)-1] }))
		plain := 0
		must(t, c.db.readers.use(t.Context(), func(conn *conn) error { plain = len(read(conn, q, nil)); return nil }))
		if len(got) != plain {
			t.Errorf("%+v: List has %d documents, want %d", q, len(got), plain)
		}
		q.Limit, q.Skip, q.After = 0, 0, nil
		n, err := c.Count(t.Context(), q.Filter)
		must(t, err)
		must(t, c.db.readers.use(t.Context(), func(conn *conn) error { plain = len(read(conn, q, nil)); return nil }))
		if n != int64(plain) {
			t.Errorf("%+v: Count is %d, want %d", q.Filter, n, plain)
		}
	}
}

// TestPlan checks which words are looked up, which are looked for in the rows, and when a list is walked.
func TestPlan(t *testing.T) {
	t.Parallel()
	c := searched(t)
	all, rare := store.Search("all"), store.Search("rare")
	for _, test := range []struct {
		filter       store.Filter
		lookUp, scan []string
		walks        bool // for a page of 10
	}{
		{all, nil, []string{"all"}, true},
		{rare, []string{"rare"}, nil, false},
		{store.Search("rare all"), []string{"rare"}, []string{"all"}, false},
		{store.Search("odd even"), nil, []string{"odd", "even"}, true},
		{store.Search("nowhere al"), []string{"nowhere"}, []string{"al"}, false},
		{store.And(store.Eq("name", "x"), all), nil, []string{"all"}, true},
		{store.Or(store.Eq("name", "x"), all), nil, nil, false},
		{store.Search("?"), nil, nil, false},
		{nil, nil, nil, false},
	} {
		must(t, c.db.readers.use(t.Context(), func(conn *conn) error {
			plan, err := c.plan(t.Context(), conn, test.filter, 10)
			if plan == nil {
				plan = &searchPlan{}
			}
			if !slices.Equal(plan.lookUp, test.lookUp) || !slices.Equal(plan.scan, test.scan) {
				t.Errorf("%+v: looks up %q and scans for %q, want %q and %q", test.filter, plan.lookUp, plan.scan, test.lookUp, test.scan)
			}
			if walks := plan.common > 0; walks != test.walks {
				t.Errorf("%+v: walks: %t, want %t", test.filter, walks, test.walks)
			}
			return err
		}))
	}
}

// TestWalkGivesUp searches for two common words that never occur together. The walk must end and reset the reader.
func TestWalkGivesUp(t *testing.T) {
	t.Parallel()
	c := searched(t)
	q := store.Query{Filter: store.Search("odd even"), Limit: 10}
	must(t, c.db.readers.use(t.Context(), func(conn *conn) error {
		plan, err := c.plan(t.Context(), conn, q.Filter, q.Limit)
		must(t, err)
		parts, err := parts(q)
		must(t, err)
		if docs, ok, err := c.walk(t.Context(), conn, q, parts, plan); ok || err != nil || docs != nil {
			t.Errorf("the walk found %d documents (%t, %v)", len(docs), ok, err)
		}
		if conn.scansLeft != math.MaxInt64 {
			t.Errorf("the reader may look at %d rows", conn.scansLeft)
		}
		return nil
	}))
	must(t, c.List(t.Context(), q, func() any { t.Error("List found something"); return &item{} }))
}

// TestCostlySearch checks that a costly search gets an error while others use its connections, and that other reads do not
// wait for searches.
func TestCostlySearch(t *testing.T) {
	t.Parallel()
	c := searched(t)
	page := func(text string) (n int64, err error) {
		return c.Page(t.Context(), store.Query{Filter: store.Search(text), Limit: 5, MaxCount: 300}, func() any { return &item{} })
	}
	occupy(t, c.db.searches, func() {
		var e *apperr.Error
		if _, err := page("all"); !errors.As(err, &e) || e.Code != apperr.Unavailable || !e.Overload {
			t.Errorf("a costly search while another one runs: %v", err)
		}
		if n, err := page("rare"); n != searchDocuments/40 || err != nil {
			t.Errorf("a search of a rare word waits: %d, %v", n, err)
		}
		occupy(t, c.db.readers, func() {
			must(t, c.db.Ping(t.Context()))
			must(t, c.First(t.Context(), nil, &item{}))
		})
	})
	if n, err := page("all"); n != 300 || err != nil {
		t.Errorf("%d matches, %v", n, err)
	}
}

// occupy calls do while all connections of a pool are in use.
func occupy(t *testing.T, r *readers, do func()) {
	t.Helper()
	var held []*conn
	for range cap(r.idle) {
		held = append(held, <-r.idle)
	}
	do()
	for _, c := range held {
		r.idle <- c
	}
}

// TestCommonWords checks that common words are remembered, that few are, and that one which has become rare is still
// found, and then forgotten.
func TestCommonWords(t *testing.T) {
	t.Parallel()
	c := searched(t)
	list := func(text string) (found int) {
		must(t, c.List(t.Context(), store.Query{Filter: store.Search(text), Limit: 10}, func() any { found++; return &item{} }))
		return found
	}
	if list("even") != 10 || list("rare") != 10 {
		t.Fatal("a list is too short")
	}
	if c.common.number("even", 110, searchDocuments) != 110 || c.common.number("even", 1000, searchDocuments) != 0 || c.common.number("rare", 110, searchDocuments) != 0 {
		t.Errorf("these are common: %v", c.common.known)
	}
	_, err := c.Delete(t.Context(), store.Search("even"))
	must(t, err)
	if n := list("even"); n != 0 || c.common.number("even", 110, searchDocuments) != 0 {
		t.Errorf("%d documents are found of a word that is gone; these are common: %v", n, c.common.known)
	}
	c.common.add("counted", wordCount{number: 10, most: 1000, documents: 100})
	if c.common.number("counted", 1000, 199) != 10 || c.common.number("counted", 1000, 200) != 0 {
		t.Error("the number of a word must be counted again when there are twice as many documents")
	}
	for i := range 2 * maxCommonWords {
		c.common.add(fmt.Sprint(i), wordCount{1, 1, 1})
	}
	if n := len(c.common.known); n == 0 || n > maxCommonWords {
		t.Errorf("%d words are remembered", n)
	}
}

// TestFrequency counts words up to a bound.
func TestFrequency(t *testing.T) {
	t.Parallel()
	c := searched(t)
	for word, want := range map[string]int64{"all": 100, "al": 100, "rare": searchDocuments / 40, "none": 0, "zz": 0} {
		must(t, c.db.readers.use(t.Context(), func(conn *conn) error {
			if n, err := c.frequency(t.Context(), conn, word, 100); n != want || err != nil {
				t.Errorf("%q is in %d documents (%v), want %d", word, n, err, want)
			}
			return nil
		}))
	}
}
