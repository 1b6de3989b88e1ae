package sqlite

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"

	"example.com/ginseng/kit/store"
)

// searchPlan says how to find the documents of a search. FTS5 collects all documents of a prefix before it returns the
// first, so a common word is slow to look up. It is faster to scan rows for it: the rows that the rarer words of the
// search select, or those of the list's own index, where a page with a common word is soon full. docs/performance.md
// has figures.
type searchPlan struct {
	search    store.TextSearch // that every document of the list matches
	lookUp    []string         // words to look up in the table of words; none if all are too common
	scan      []string         // words to scan the rows for
	documents int64            // in the collection
	common    int64            // if all words are common: the least number of documents of each; otherwise 0
}

// Measured costs: scanning a row for words takes as long as looking up 16 documents of a word, or looking up, fetching and
// sorting 2.
const (
	lookUpsPerScan = 16
	fetchesPerScan = 2
)

// The bounds of a search. A scan is one row, and one for each KiB of its text.
const (
	quickScans   = 2000    // on a connection of DB.readers
	costlyScans  = 200_000 // on a connection of DB.searches
	maxLookUps   = 100_000 // documents of a word that is looked up
	maxPlanned   = 1000    // rows of a list, for the plan
	fewestLookUp = 3       // words that are looked up if all are too common
)

// defaultRows is the number of rows that a list without a limit is planned for.
const defaultRows = 30

// errCostly is returned on a connection of DB.readers for a search that needs one of DB.searches.
var errCostly = errors.New("a search takes long")

// read calls do with a connection and the plan for a list of the given number of rows; nil if there is no choice. If the
// search is costly, it calls do again with one of few connections: searches must not use all processors. Until do returns
// errCostly, it must not have an effect.
func (c *collection) read(ctx context.Context, f store.Filter, rows int, do func(*conn, *searchPlan) error) error {
	planned := func(conn *conn) error {
		plan, err := c.plan(ctx, conn, f, min(rows, maxPlanned))
		if err != nil {
			return err
		}
		return do(conn, plan)
	}
	err := c.db.readers.use(ctx, planned)
	if errors.Is(err, errCostly) {
		err = c.db.searches.use(ctx, planned)
	}
	return err
}

// plan returns the plan for a search that every document of the filter must match; nil if there is no choice.
func (c *collection) plan(ctx context.Context, conn *conn, f store.Filter, rows int) (*searchPlan, error) {
	search, ok := required(f)
	words := store.QueryWords(search.Text)
	if !ok || len(words) == 0 || len(c.spec.Search) == 0 {
		return nil, nil
	}
	documents, err := c.documents(conn)
	if err != nil {
		return nil, err
	}
	// With this many documents, looking the word up costs as much as an estimated scan of rows*documents/common rows.
	common := int64(math.Sqrt(float64(fetchesPerScan) * float64(rows) * float64(documents)))
	common = min(common, conn.pool.maxScans/2)
	most := common
	if conn.pool.costly {
		most = max(common, maxLookUps)
	}
	numbers := make([]int64, len(words))
	for i, word := range words {
		if numbers[i] = c.common.number(word, most, documents); numbers[i] > 0 {
			continue
		}
		if numbers[i], err = c.frequency(ctx, conn, word, most); err != nil {
			return nil, err
		}
		if numbers[i] >= common {
			c.common.add(word, wordCount{numbers[i], most, documents})
		}
	}
	p := &searchPlan{search: search, documents: documents}
	rarest := slices.Min(numbers)
	if rarest >= common {
		p.common = common
	}
	for i, word := range words {
		if numbers[i] < most && numbers[i] <= rarest*lookUpsPerScan {
			p.lookUp = append(p.lookUp, word)
		} else {
			p.scan = append(p.scan, word)
		}
	}
	return p, nil
}

// narrowed returns the plan after a scan for words that are all too common found too few rows: it looks up the words that
// the fewest of the scanned rows had.
func (p *searchPlan) narrowed(conn *conn) *searchPlan {
	words := p.scan
	if conn.scanned == strings.Join(words, " ") {
		words = slices.Clone(conn.words)
	}
	n := min(fewestLookUp, len(words))
	return &searchPlan{search: p.search, lookUp: words[:n], scan: words[n:]}
}

// commonWords caches how common words are, because counting their documents takes longer than finding a page of them. If a
// number has changed since, a list is slower.
type commonWords struct {
	mu    sync.Mutex
	known map[string]wordCount
}

// wordCount is the number of documents of a word, up to most, when the collection had so many documents.
type wordCount struct{ number, most, documents int64 }

// maxCommonWords limits the memory of the cache.
const maxCommonWords = 1000

// number returns the number of documents of a word, up to most. It is 0 if the word is unknown, if the collection has twice
// as many documents since, or if the known number is so much less that there may be more; half of it makes no difference.
func (w *commonWords) number(word string, most, documents int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch known := w.known[word]; {
	case known.number > most/2:
		return most
	case known.most >= most && documents < 2*known.documents:
		return known.number
	default:
		return 0
	}
}

func (w *commonWords) add(word string, count wordCount) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || len(w.known) == maxCommonWords {
		w.known = make(map[string]wordCount)
	}
	w.known[word] = count
}

func (w *commonWords) forget(words []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, word := range words {
		delete(w.known, word)
	}
}

// frequency counts how often words that begin with prefix occur in documents, up to most.
func (c *collection) frequency(ctx context.Context, conn *conn, prefix string, most int64) (int64, error) {
	b := c.build("SELECT count(*) FROM (SELECT 1 FROM ", c.postings(), " WHERE term>=").bind(prefix)
	b.write(" AND term<").bind(prefix + "\xff").write(" LIMIT ").bind(most).write("+0)")
	return conn.integer(ctx, b)
}

// postings returns the table that lists each word of each document, in the order of the words.
func (c *collection) postings() string { return quote(c.spec.Name + ":postings") }

// documents returns the number of documents in the collection.
func (c *collection) documents(conn *conn) (int64, error) {
	return conn.integer(context.Background(), c.build("SELECT documents FROM _collections WHERE name=").bind(c.spec.Name))
}

// walk reads a list of common words in the order of the list's own index. It reports false if the words are not common,
// or if they occur together so rarely, or so late in the list, that it had to look at too many rows.
func (c *collection) walk(
	ctx context.Context, conn *conn, q store.Query, parts []part, plan *searchPlan,
) (docs [][]byte, ok bool, err error) {
	if plan == nil || plan.common == 0 || q.Limit == 0 {
		return nil, false, nil
	}
	scan := &searchPlan{search: plan.search, scan: slices.Concat(plan.lookUp, plan.scan)}
	size := 0
	ok, err = conn.bounded(min(2*plan.common, conn.pool.maxScans), func() error {
		return c.rows(ctx, conn, q, parts, scan, func(doc []byte) error {
			docs = append(docs, bytes.Clone(doc))
			if size += len(doc); q.Bytes != nil && size > q.Bytes.Max {
				return errFull
			}
			return nil
		})
	})
	if !ok && err == nil {
		c.common.forget(scan.scan)
	}
	if !ok {
		docs = nil
	}
	return docs, ok, err
}

var errTooManyScans = errors.New("words were searched for in too many rows")

// bounded calls read, in which at most the given number of scans are possible. It reports whether they sufficed.
func (c *conn) bounded(scans int64, read func() error) (ok bool, err error) {
	c.scansLeft = scans
	err = read()
	exhausted := c.scansLeft < 0
	c.scansLeft = math.MaxInt64
	if err != nil && exhausted {
		return false, nil
	}
	return err == nil, err
}

// hasWords is the SQL function has_words(text, words). It reports whether text has a word that begins with each of words,
// which are separated by spaces. A word that texts often lack is tried earlier the next time.
func (c *conn) hasWords(text, words string) (bool, error) {
	if c.scansLeft -= 1 + int64(len(text))/1024; c.scansLeft < 0 {
		return false, errTooManyScans
	}
	if words != c.scanned {
		c.scanned, c.words = words, strings.Split(words, " ")
	}
	i := store.MissingWord(text, c.words)
	if i > 0 {
		c.words[i-1], c.words[i] = c.words[i], c.words[i-1]
	}
	return i < 0, nil
}

// required returns a search that every document of the filter must match, if there is one.
func required(f store.Filter) (store.TextSearch, bool) {
	switch f := f.(type) {
	case store.TextSearch:
		return f, true
	case store.Connective:
		if f.Op != store.OpAnd {
			break
		}
		for _, part := range f.Filters {
			if search, ok := required(part); ok {
				return search, true
			}
		}
	}
	return store.TextSearch{}, false
}

// isAlone reports whether the filter is one search and nothing else.
func isAlone(f store.Filter) bool {
	if f, ok := f.(store.Connective); ok {
		return len(f.Filters) == 1 && isAlone(f.Filters[0])
	}
	_, ok := f.(store.TextSearch)
	return ok
}

// match returns FTS5's query for the words: each is quoted and a prefix. It is "" for no words.
func match(words []string) string {
	var match strings.Builder
	for _, word := range words {
		match.WriteString(`"` + word + `"* `)
	}
	return match.String()
}

// search writes the condition of a search, as planned. Without a plan, all words are looked up.
func (b *builder) search(f store.TextSearch) *builder {
	plan := searchPlan{lookUp: store.QueryWords(f.Text)}
	if b.plan != nil && b.plan.search == f {
		plan = *b.plan
	}
	if len(plan.lookUp)+len(plan.scan) == 0 || len(b.c.spec.Search) == 0 {
		return b.write("0")
	}
	b.write("(")
	if len(plan.lookUp) > 0 {
		b.searches = true
		b.write("n IN (SELECT rowid FROM ", b.c.words, " WHERE ", b.c.words, " MATCH ").bind(match(plan.lookUp)).write(")")
	}
	if len(plan.scan) > 0 {
		if len(plan.lookUp) > 0 {
			b.write(" AND ")
		}
		b.write("has_words(", b.c.searchedText(), ",").bind(strings.Join(plan.scan, " ")).write(")")
	}
	return b.write(")")
}
