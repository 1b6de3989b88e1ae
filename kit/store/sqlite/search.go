package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit/store"
)

// searchPlan describes how to find the documents that match a search. To look up a common word gives too many rows. It is
// faster to scan: to read documents and check each for the word. If the search has rare words, the documents that have them
// are scanned; otherwise the list, in its order, until the page is full. docs/performance.md has figures.
type searchPlan struct {
	search    store.TextSearch // that every document of the list matches
	rows      []int64          // of the documents that have all rare words; nil if no word is rare
	lookUp    []string         // words that FTS5 looks up
	scan      []string         // words that each document is checked for; matches moves those that are often missing to the front
	scanned   int64            // cost so far; see maxReaderScans
	maxScans  int64            // limit of scanned, with errTooManyScans; 0 is no limit
	documents int64            // in the collection
	threshold int64            // if all words are common: the number of documents from which a word is; otherwise 0

	decoder jsontext.Decoder // of a scanned document
	text    []byte           // that is searched in it
}

// Measured costs: to scan a document takes as long as to look up 8 documents of a word, or to look up, fetch and sort 1.
const (
	lookUpsPerScan = 8
	fetchesPerScan = 1
)

// Limits of a search. To scan a document costs 1, and 1 for each KiB of its JSON.
const (
	maxReaderScans  = 2000    // on a connection of DB.readers
	maxSearchScans  = 200_000 // on a connection of DB.searches
	maxLookUps      = 100_000 // documents of a word that is looked up
	maxPlannedRows  = 1000    // a plan assumes no more rows of a list
	fallbackLookUps = 3       // words to look up if all are common and a scan has found too few rows
)

// defaultRows is the number of rows that a list without a limit is planned for.
const defaultRows = 30

// errNeedsSearchPool makes read repeat a search that exceeds the limits of DB.readers on a connection of DB.searches.
var errNeedsSearchPool = errors.New("sqlite: the search needs a connection for searches")

// read calls do with a connection and the plan of the query's search, nil if no search is required. All statements of do see
// one snapshot if there is a plan or snapshot is true. If do fails with errNeedsSearchPool, read calls it again with a
// connection of DB.searches, so do must not have an effect before. There are few of these: searches must not use all processors.
func (c *collection) read(ctx context.Context, q store.Query, snapshot bool, do func(*conn, *searchPlan) error) error {
	if c.err != nil {
		return c.err
	}
	search, ok := requiredSearch(q.Filter)
	words := store.QueryWords(search.Text)
	ok = ok && len(words) > 0 && len(c.spec.Search) > 0
	planned := func(conn *conn) error {
		if !ok && !snapshot {
			return do(conn, nil)
		}
		return conn.snapshot(func() (err error) {
			var plan *searchPlan
			if ok {
				rows := q.Skip + cmp.Or(q.Limit, defaultRows)
				if plan, err = c.plan(conn, search, words, min(rows, maxPlannedRows)); err != nil {
					return err
				}
			}
			return do(conn, plan)
		})
	}
	err := c.db.readers.use(ctx, planned)
	if errors.Is(err, errNeedsSearchPool) {
		err = c.db.searches.use(ctx, planned)
	}
	return err
}

// plan returns the plan for a search of some words.
func (c *collection) plan(conn *conn, search store.TextSearch, words []string, rows int) (*searchPlan, error) {
	documents, err := c.documents(conn)
	if err != nil {
		return nil, err
	}
	// A word is common from the number of documents at which it costs as much to look it up as to scan the list, which takes
	// about rows*documents/threshold scans.
	threshold := int64(math.Sqrt(float64(fetchesPerScan) * float64(rows) * float64(documents)))
	threshold = max(1, min(threshold, conn.pool.maxScans/2))
	limit := threshold
	if conn.pool.costly {
		limit = max(threshold, maxLookUps)
	}
	p := &searchPlan{search: search, documents: documents}
	counts := make([]int64, len(words))
	for i, word := range words {
		if counts[i] = c.wordCounts.estimate(word, limit, documents); counts[i] > 0 {
			continue
		}
		found, all, err := c.lookUp(conn, word, limit)
		if err != nil {
			return nil, err
		}
		counts[i] = limit
		if all {
			counts[i] = int64(len(found))
		}
		if counts[i] >= threshold {
			c.wordCounts.add(word, wordCount{counts[i], limit, documents})
		} else {
			p.keepRows(found)
		}
	}
	rarest := slices.Min(counts)
	if rarest >= threshold {
		p.threshold = threshold
	}
	for i, word := range words {
		switch {
		case counts[i] < threshold: // in p.rows
		case p.rows == nil && counts[i] < limit && counts[i] <= rarest*lookUpsPerScan: // cheaper than to scan for it
			p.lookUp = append(p.lookUp, word)
		default:
			p.scan = append(p.scan, word)
		}
	}
	return p, nil
}

// keepRows reduces p.rows to those found. Then p.rows is not nil, even without any rows: a word is rare.
func (p *searchPlan) keepRows(found map[int64]struct{}) {
	if p.rows == nil {
		p.rows = slices.AppendSeq(make([]int64, 0, len(found)), maps.Keys(found))
		return
	}
	p.rows = slices.DeleteFunc(p.rows, func(n int64) bool { _, ok := found[n]; return !ok })
}

// withLookUps returns the plan for common words after a scan has found too few rows. It looks up the words that the fewest
// scanned documents had.
func (p *searchPlan) withLookUps() *searchPlan {
	n := min(fallbackLookUps, len(p.scan))
	return &searchPlan{search: p.search, lookUp: p.scan[:n], scan: p.scan[n:]}
}

// needsScan reports whether documents are scanned for words.
func (p *searchPlan) needsScan() bool { return p != nil && len(p.scan) > 0 }

// limitsRows reports whether only rows with certain words are read.
func (p *searchPlan) limitsRows() bool { return p.rows != nil || len(p.lookUp) > 0 }

// wordCounts caches how common words are, because counting their documents takes longer than finding a page of them. If a
// number has changed since, a list is slower.
type wordCounts struct {
	mu    sync.Mutex
	known map[string]wordCount
}

// wordCount is the number of documents with a word, counted up to a limit, and of all documents then.
type wordCount struct{ count, limit, documents int64 }

// maxWordCounts limits the memory of the cache.
const maxWordCounts = 1000

// estimate returns the number of documents with a word, up to a limit, or 0 if the caller must count them: if the word is
// unknown, was counted up to a lower limit, or the collection has doubled since. A number above half of the limit is as good
// as the limit: the plan is the same.
func (w *wordCounts) estimate(word string, limit, documents int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch known := w.known[word]; {
	case known.count > limit/2:
		return limit
	case known.limit >= limit && documents < 2*known.documents:
		return known.count
	default:
		return 0
	}
}

func (w *wordCounts) add(word string, count wordCount) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || len(w.known) == maxWordCounts {
		w.known = make(map[string]wordCount)
	}
	w.known[word] = count
}

func (w *wordCounts) forget(words []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, word := range words {
		delete(w.known, word)
	}
}

// lookUp returns the rows of up to limit documents that have a word that begins with prefix, and whether these are all.
func (c *collection) lookUp(conn *conn, prefix string, limit int64) (rows map[int64]struct{}, all bool, err error) {
	const wordsPerDocument = 4 // that begin with the prefix, on average
	b := c.build("SELECT doc FROM ", c.postings(), " WHERE term>=").bind(prefix)
	b.write(" AND term<").bind(prefix + "\xff") // after each UTF-8 string with the prefix
	b.write(" LIMIT ").bind(wordsPerDocument * limit).write("+0")
	rows, entries := make(map[int64]struct{}), int64(0)
	err = conn.query(context.Background(), b.String(), b.args, func(values []driver.Value) error {
		entries++
		rows[values[0].(int64)] = struct{}{}
		if int64(len(rows)) == limit {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return rows, false, nil
	}
	return rows, entries < wordsPerDocument*limit, err
}

// postings returns the table that lists each word of each document, in the order of the words.
func (c *collection) postings() string { return quote(c.spec.Name + ":postings") }

// documents returns the number of documents in the collection.
func (c *collection) documents(conn *conn) (int64, error) {
	return conn.integer(context.Background(), c.build("SELECT documents FROM _collections WHERE name=").bind(c.spec.Name))
}

// scanList reads a list by a scan in its order, for a search whose words are all common. It fails with errTooManyScans if the
// words occur together too rarely, or too late in the list. So it returns the documents, and does not decode them one by one.
func (c *collection) scanList(ctx context.Context, conn *conn, q store.Query, parts []part, plan *searchPlan) (docs [][]byte, err error) {
	scan := &searchPlan{search: plan.search, scan: append(slices.Clip(plan.scan), plan.lookUp...)}
	scan.maxScans = min(2*plan.threshold, conn.pool.maxScans) // twice the estimate
	size := 0
	err = c.rows(ctx, conn, q, parts, scan, func(doc []byte) error {
		docs = append(docs, doc)
		size += len(doc)
		if q.Bytes != nil && size > q.Bytes.Max {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errTooManyScans) {
		c.wordCounts.forget(scan.scan)
		return nil, err
	}
	return docs, err
}

var errTooManyScans = errors.New("sqlite: a scan is too costly")

// matches reports whether a document has a word that begins with each of the words to scan for. It fails with errTooManyScans
// at the limit of the plan.
func (p *searchPlan) matches(c *collection, doc []byte) (bool, error) {
	if p.scanned += 1 + int64(len(doc))/1024; p.maxScans > 0 && p.scanned > p.maxScans {
		return false, errTooManyScans
	}
	missing := -1
	if !bytes.Contains(doc, []byte(`\u`)) { // an escape can be a letter, which MissingText does not see
		missing = store.MissingText(doc, p.scan) // rejects most documents
	}
	if missing < 0 {
		p.text = p.text[:0]
		for _, path := range c.spec.Search {
			p.text = append(p.appendText(doc, path), ' ')
		}
		missing = store.MissingWord(p.text, p.scan)
	}
	if missing > 0 { // check for it earlier in the next document
		p.scan[missing-1], p.scan[missing] = p.scan[missing], p.scan[missing-1]
	}
	return missing < 0, nil
}

// appendText returns p.text with the string at the path of a JSON object, if there is one.
func (p *searchPlan) appendText(object []byte, path string) []byte {
	for name := range strings.SplitSeq(path, ".") {
		object = p.property(object, name)
	}
	text, err := jsontext.AppendUnquote(p.text, object)
	if err != nil { // no string
		return p.text
	}
	return text
}

// property returns the value of a property of a JSON object, nil if there is none.
func (p *searchPlan) property(object []byte, name string) []byte {
	p.decoder.Reset(bytes.NewBuffer(object), trusted)
	if start, err := p.decoder.ReadToken(); err != nil || start.Kind() != '{' {
		return nil
	}
	for p.decoder.PeekKind() == '"' {
		field, _ := p.decoder.ReadValue()
		found := string(field[1:len(field)-1]) == name
		if value, err := p.decoder.ReadValue(); found || err != nil {
			return value
		}
	}
	return nil
}

// requiredSearch returns a search that every document of the filter must match, if there is one.
func requiredSearch(f store.Filter) (store.TextSearch, bool) {
	switch f := f.(type) {
	case store.TextSearch:
		return f, true
	case store.Connective:
		if f.Op != store.OpAnd {
			break
		}
		for _, part := range f.Filters {
			if search, ok := requiredSearch(part); ok {
				return search, true
			}
		}
	}
	return store.TextSearch{}, false
}

// isSingleSearch reports whether the filter is one search and nothing else.
func isSingleSearch(f store.Filter) bool {
	if f, ok := f.(store.Connective); ok {
		return len(f.Filters) == 1 && isSingleSearch(f.Filters[0])
	}
	_, ok := f.(store.TextSearch)
	return ok
}

// match returns FTS5's query for one word or more: each is quoted and a prefix.
func match(words []string) string { return `"` + strings.Join(words, `"* "`) + `"*` }

// search writes the condition of a search, as planned. Without a plan, all words are looked up. rows scans for the others.
func (b *builder) search(f store.TextSearch) *builder {
	words := store.QueryWords(f.Text)
	if len(words) == 0 || len(b.c.spec.Search) == 0 {
		return b.write("0")
	}
	if b.plan != nil && b.plan.search == f {
		if b.plan.rows != nil {
			return b.write("n").oneOf(b.plan.rows)
		}
		words = b.plan.lookUp
	}
	if len(words) == 0 {
		return b.write("1")
	}
	b.searches = true
	return b.write("n IN (SELECT rowid FROM ", b.c.words, " WHERE ", b.c.words, " MATCH ").bind(match(words)).write(")")
}
