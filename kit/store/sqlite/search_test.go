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
	"example.com/ginseng/kit/store/textsearch"
)

// searchDocuments is how many documents these tests search: enough that a list is scanned for a common word.
const searchDocuments = 600

// searched returns a collection with common words, rare words, words that never occur together, and random words.
func searched(t *testing.T) *collection {
	t.Helper()
	db, _ := openItems(t, Options{})
	db.readers.maxScans, db.searches.maxScans = 240, 400 // so small that some searches exceed them
	random := rand.New(rand.NewPCG(3, 4))
	var docs []store.Document
	for n := range searchDocuments {
		words := []string{"all", []string{"even", "odd"}[n%2]}
		if n%40 == 0 {
			words = append(words, "rare")
		}
		for range 3 {
			words = append(words, fmt.Sprintf("w%d", int(math.Pow(30, random.Float64()))))
		}
		docs = append(docs, newItem(strings.Join(words, " ")+fmt.Sprintf(" n%d", n)))
	}
	c := db.Open(itemSpec).(*collection)
	must(t, c.Load(t.Context(), docs))
	must(t, db.Prepare(t.Context()))
	return c
}

// TestPlannedSearch compares the result of each kind of plan with the result of looking up all words.
func TestPlannedSearch(t *testing.T) {
	t.Parallel()
	c := searched(t)
	random := rand.New(rand.NewPCG(5, 6))
	vocabulary := []string{"all", "al", "even", "odd", "rare", "w", "w1", "w2", "w17", "nowhere"}
	read := func(conn *conn, q store.Query, plan *searchPlan) (docs []string) {
		parts, err := parts(q)
		must(t, err)
		_, err = c.rows(t.Context(), conn, q, parts, plan, func(doc []byte) (bool, error) {
			docs = append(docs, string(doc))
			return true, nil
		})
		must(t, err)
		return docs
	}
	for range 100 {
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
		prefixes := textsearch.QueryWords(search.Text)
		cut := random.IntN(len(prefixes))
		var want []string
		must(t, c.db.readers.use(t.Context(), func(conn *conn) error {
			want = read(conn, q, nil)
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
		_, err := c.List(t.Context(), q, func() any { got = append(got, &item{}); return got[len(got)-1] })
		must(t, err)
		if len(got) != len(want) {
			t.Errorf("%+v: List has %d documents, want %d", q, len(got), len(want))
		}
		q.Limit, q.Skip, q.After = 0, 0, nil
		n, err := c.List(t.Context(), store.Query{Filter: q.Filter, MaxCount: store.CountAll}, nil)
		must(t, err)
		must(t, c.db.readers.use(t.Context(), func(conn *conn) error { want = read(conn, q, nil); return nil }))
		if n != int64(len(want)) {
			t.Errorf("%+v: Count is %d, want %d", q.Filter, n, len(want))
		}
	}
}

// TestScannedText checks that a scan finds the same documents as FTS5. The scan gets the text from the JSON in Go; for FTS5, SQLite's
// JSON functions extract it.
func TestScannedText(t *testing.T) {
	t.Parallel()
	db, _ := openItems(t, Options{})
	type nested struct {
		store.Meta `bson:",inline"`
		Name       string         `json:"name"`
		Other      string         `json:"other"`
		Profile    map[string]any `json:"profile"`
	}
	texts := []string{
		"plain words", "Größe GRÖSSE", "a\nnew line", "tab\there", `back\slash \u0061`, "quote\"d", "\u0001control", "東京タワー", "K2 ﬁne",
		"", "name profile city", "<b>&amp;</b>", "\u2028separator",
	}
	c := store.Open[nested](db, store.Spec{Name: "nested", Search: []string{"profile.city", "name"}})
	must(t, db.Prepare(t.Context()))
	for i, text := range texts {
		d := nested{Meta: store.NewMeta(store.NewID(), store.Time{}), Name: text, Other: "elsewhere"}
		if i%2 == 0 {
			d.Profile = map[string]any{"other": []any{1, "city"}, "city": text + " twice"}
		}
		must(t, c.Insert(t.Context(), d))
	}
	nestedItems := db.Open(store.Spec{Name: "nested", Search: []string{"profile.city", "name"}}).(*collection)
	for _, text := range append(texts, "ew", "here", "twice", "elsewhere", "other", "city", "u0061", "rosse", "fin", "k", "b", "京") {
		words := textsearch.QueryWords(text)
		if len(words) == 0 {
			continue // this search selects nothing and has no plan
		}
		find := func(plan *searchPlan) (docs []string) {
			q := store.Query{Filter: store.Search(text)}
			parts, err := parts(q)
			must(t, err)
			must(t, db.readers.use(t.Context(), func(conn *conn) error {
				_, err := nestedItems.rows(t.Context(), conn, q, parts, plan, func(doc []byte) (bool, error) {
					docs = append(docs, string(doc))
					return true, nil
				})
				return err
			}))
			return docs
		}
		want := find(nil)
		if got := find(&searchPlan{search: store.TextSearch{Text: text}, scan: words}); !slices.Equal(got, want) {
			t.Errorf("a scan for %q finds %q, want %q", text, got, want)
		}
	}
}

// TestPlan checks the plans on a connection of DB.readers: the rows with all rare words, the words to scan for, and when the list is
// scanned. lookUp is always nil there.
func TestPlan(t *testing.T) {
	t.Parallel()
	c := searched(t)
	const none, rare = -1, searchDocuments / 40
	for text, want := range map[string]struct {
		rows  int // number of rows with all rare words; the constant none if no word is rare
		scan  []string
		scans bool // the list is scanned for a page of 10
	}{
		"all":        {none, []string{"all"}, true},
		"rare":       {rare, nil, false},
		"rare all":   {rare, []string{"all"}, false},
		"rare rar":   {rare, nil, false},
		"rare odd":   {rare, []string{"odd"}, false},
		"rare n40":   {2, nil, false}, // n40 and, because words are prefixes, n400
		"odd even":   {none, []string{"odd", "even"}, true},
		"nowhere al": {0, []string{"al"}, false},
	} {
		must(t, c.db.readers.use(t.Context(), func(conn *conn) error {
			plan, err := c.plan(conn, store.Query{Limit: 10}, store.TextSearch{Text: text}, textsearch.QueryWords(text))
			must(t, err)
			rows := len(plan.rows)
			if plan.rows == nil {
				rows = none
			}
			if rows != want.rows || plan.lookUp != nil || !slices.Equal(plan.scan, want.scan) || (plan.threshold > 0) != want.scans {
				t.Errorf("%s: %+v, want %+v", text, plan, want)
			}
			return nil
		}))
	}
}

// TestRequired checks which searches are planned.
func TestRequired(t *testing.T) {
	t.Parallel()
	c := searched(t)
	all := store.Search("all")
	for _, test := range []struct {
		filter  store.Filter
		planned bool
	}{
		{all, true},
		{store.And(store.Eq("name", "x"), all), true},
		{store.Or(store.Eq("name", "x"), all), false},
		{store.Search("?"), false},
		{store.And(store.Search("?"), all), true},
		{nil, false},
	} {
		if _, words := c.requiredSearch(test.filter); (len(words) > 0) != test.planned {
			t.Errorf("%+v has the words %q, want planned: %t", test.filter, words, test.planned)
		}
	}
}

// TestScanGivesUp searches for two common words that never occur together. The scan must end.
func TestScanGivesUp(t *testing.T) {
	t.Parallel()
	c := searched(t)
	q := store.Query{Filter: store.Search("odd even"), Limit: 10}
	must(t, c.db.readers.use(t.Context(), func(conn *conn) error {
		plan, err := c.plan(conn, q, q.Filter.(store.TextSearch), []string{"odd", "even"})
		must(t, err)
		parts, err := parts(q)
		must(t, err)
		if docs, ok, err := plan.scanList(t.Context(), parts); ok || err != nil || docs != nil {
			t.Errorf("the scan found %d documents, ok: %t (%v)", len(docs), ok, err)
		}
		return nil
	}))
	_, err := c.List(t.Context(), q, func() any { t.Error("List found something"); return &item{} })
	must(t, err)
}

// TestCostlySearch checks that a costly search fails while all connections of DB.searches are in use, that other searches do not need
// them, and that reads of single documents do not wait for DB.readers either.
func TestCostlySearch(t *testing.T) {
	t.Parallel()
	c := searched(t)
	page := func(text string) (n int64, err error) {
		return c.List(t.Context(), store.Query{Filter: store.Search(text), Limit: 5, MaxCount: 300}, func() any { return &item{} })
	}
	c.db.searches.wait = time.Millisecond
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
	c.db.searches.wait = searchWait
	for _, text := range []string{"all", "all odd"} {
		if n, err := page(text); n != 300 || err != nil {
			t.Errorf("%s: %d matches, %v", text, n, err)
		}
	}
}

// occupy calls do while all connections of a pool are in use.
func occupy(t *testing.T, r *readers, do func()) {
	t.Helper()
	for range cap(r.idle) {
		c := <-r.idle
		defer func() { r.idle <- c }()
	}
	do()
}

// TestCommonWords checks that wordCounts keeps common words, but only a limited number, and forgets a word that has become
// rare. A search must still find this word.
func TestCommonWords(t *testing.T) {
	t.Parallel()
	c := searched(t)
	list := func(text string) (found int) {
		_, err := c.List(t.Context(), store.Query{Filter: store.Search(text), Limit: 10}, func() any { found++; return &item{} })
		must(t, err)
		return found
	}
	if list("even") != 10 || list("rare") != 10 {
		t.Fatal("a list is too short")
	}
	const threshold = 77 // of a list of 10 of 600 documents: √(10·600)
	if c.wordCounts.estimate("even", threshold, searchDocuments) != threshold || c.wordCounts.estimate("even", 1000, searchDocuments) != 0 || c.wordCounts.estimate("rare", threshold, searchDocuments) != 0 {
		t.Errorf("these are common: %v", c.wordCounts.known)
	}
	_, err := c.Delete(t.Context(), store.Search("even"))
	must(t, err)
	if n := list("even"); n != 0 || c.wordCounts.estimate("even", threshold, searchDocuments) != 0 {
		t.Errorf("%d documents are found of a word that is gone; these are common: %v", n, c.wordCounts.known)
	}
	for i := range 2 * maxWordCounts {
		c.wordCounts.add(fmt.Sprint(i), wordCount{1, 1, 1})
	}
	if n := len(c.wordCounts.known); n == 0 || n > maxWordCounts {
		t.Errorf("%d words are remembered", n)
	}
}

// TestEstimate checks estimates from cached counts. A count is outdated after a count up to a lower limit, or if the collection has
// doubled. An outdated count above limit/2 is estimated as limit.
func TestEstimate(t *testing.T) {
	t.Parallel()
	var counts wordCounts
	for _, test := range []struct{ count, limit, documents, want int64 }{
		{10, 1000, 199, 10}, {10, 1000, 200, 0},
		{600, 1000, 199, 600}, {600, 500, 199, 500}, {600, 1000, 200, 1000}, {600, 1100, 199, 1100}, {600, 1200, 199, 0},
	} {
		counts.add("known", wordCount{count: test.count, limit: 1000, documents: 100})
		if got := counts.estimate("known", test.limit, test.documents); got != test.want {
			t.Errorf("the estimate is %d, want %+v", got, test)
		}
	}
}

// TestLookUp checks the rows of words, up to a limit.
func TestLookUp(t *testing.T) {
	t.Parallel()
	c := searched(t)
	for word, want := range map[string]int{"all": 100, "al": 100, "rare": searchDocuments / 40, "none": 0, "zz": 0, "w": 100} {
		must(t, c.db.readers.use(t.Context(), func(conn *conn) error {
			rows, all, err := c.lookUp(conn, word, 100)
			if len(rows) != want || all != (want < 100) || err != nil {
				t.Errorf("%q is in %d documents (all: %t, %v), want %d", word, len(rows), all, err, want)
			}
			return nil
		}))
	}
}

// TestCommonInShortList searches for a word in 400 of 10,000 documents: common for a page of 10 (threshold 316), rare for a page of 100
// (threshold 1,000).
func TestCommonInShortList(t *testing.T) {
	t.Parallel()
	db, c := openItems(t, Options{})
	var docs []store.Document
	for n := range 10_000 {
		word := "plain"
		if n%25 == 0 {
			word = "mid"
		}
		docs = append(docs, newItem(fmt.Sprint(word, " ", n)))
	}
	must(t, db.Open(itemSpec).Load(t.Context(), docs))
	must(t, db.Prepare(t.Context()))
	for _, limit := range []int{10, 100} {
		found, n, err := c.Page(t.Context(), store.Query{Filter: store.Search("mid"), Limit: limit, MaxCount: 10_001})
		if len(found) != limit || n != 400 || err != nil {
			t.Errorf("limit %d: %d documents of %d, %v", limit, len(found), n, err)
		}
		for _, d := range found {
			if !strings.HasPrefix(d.Name, "mid") {
				t.Fatalf("limit %d: %s does not match", limit, d.Name)
			}
		}
	}
}
