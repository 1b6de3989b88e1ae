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

// searchPlan says how to find the documents of a search. A common word is slow to look up. It is faster to scan documents
// for it: those that the rarer words of the search select, or those of the list's own index, where a page with a common
// word is soon full. docs/performance.md has figures.
type searchPlan struct {
	search    store.TextSearch // that every document of the list matches
	rows      []int64          // of the documents that have all rare words; nil if no word is rare
	lookUp    []string         // words that FTS5 looks up
	scan      []string         // words to scan documents for; those that documents often lack come to the front
	scanned   int64            // scans so far
	maxScans  int64            // before errTooManyScans; 0 is no bound
	documents int64            // in the collection
	common    int64            // if all words are common: the least number of documents of each; otherwise 0

	decoder jsontext.Decoder // of a scanned document
	text    []byte           // that is searched in it
}

// Measured costs: scanning a document for words takes as long as looking up 8 documents of a word, or looking up, fetching
// and sorting 1.
const (
	lookUpsPerScan = 8
	fetchesPerScan = 1
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

// read calls do with a connection and the plan for the query; nil if there is no choice. What do reads is one snapshot if it
// is planned or together is true. If the search is costly, read calls do again with one of few connections: searches must
// not use all processors. Until do returns errCostly, it must not have an effect.
func (c *collection) read(ctx context.Context, q store.Query, together bool, do func(*conn, *searchPlan) error) error {
	if c.err != nil {
		return c.err
	}
	search, ok := required(q.Filter)
	words := store.QueryWords(search.Text)
	ok = ok && len(words) > 0 && len(c.spec.Search) > 0
	planned := func(conn *conn) error {
		if !ok && !together {
			return do(conn, nil)
		}
		return conn.snapshot(func() (err error) {
			var plan *searchPlan
			if ok {
				rows := q.Skip + cmp.Or(q.Limit, defaultRows)
				if plan, err = c.plan(conn, search, words, min(rows, maxPlanned)); err != nil {
					return err
				}
			}
			return do(conn, plan)
		})
	}
	err := c.db.readers.use(ctx, planned)
	if errors.Is(err, errCostly) {
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
	// With this many documents, looking the word up costs as much as an estimated scan of rows*documents/common rows.
	common := int64(math.Sqrt(float64(fetchesPerScan) * float64(rows) * float64(documents)))
	common = max(1, min(common, conn.pool.maxScans/2))
	most := common
	if conn.pool.costly {
		most = max(common, maxLookUps)
	}
	p := &searchPlan{search: search, documents: documents}
	numbers := make([]int64, len(words))
	for i, word := range words {
		if numbers[i] = c.common.number(word, most, documents); numbers[i] > 0 {
			continue
		}
		found, all, err := c.lookUp(conn, word, most)
		if err != nil {
			return nil, err
		}
		if numbers[i] = int64(len(found)); !all {
			numbers[i] = most
		}
		switch {
		case numbers[i] >= common:
			c.common.add(word, wordCount{numbers[i], most, documents})
		case p.rows == nil:
			p.rows = slices.AppendSeq(make([]int64, 0, len(found)), maps.Keys(found))
		default:
			p.rows = slices.DeleteFunc(p.rows, func(n int64) bool { _, ok := found[n]; return !ok })
		}
	}
	rarest := slices.Min(numbers)
	if rarest >= common {
		p.common = common
	}
	for i, word := range words {
		switch {
		case numbers[i] < common:
		case p.rows == nil && numbers[i] < most && numbers[i] <= rarest*lookUpsPerScan:
			p.lookUp = append(p.lookUp, word)
		default:
			p.scan = append(p.scan, word)
		}
	}
	return p, nil
}

// narrowed returns the plan after a scan for words that are all too common found too few rows: it looks up the words that
// the fewest of the scanned rows had.
func (p *searchPlan) narrowed() *searchPlan {
	n := min(fewestLookUp, len(p.scan))
	return &searchPlan{search: p.search, lookUp: p.scan[:n], scan: p.scan[n:]}
}

// scans reports whether documents are scanned for words.
func (p *searchPlan) scans() bool { return p != nil && len(p.scan) > 0 }

// selects reports whether words are looked up, which select the rows.
func (p *searchPlan) selects() bool { return p.rows != nil || len(p.lookUp) > 0 }

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

// lookUp returns the rows of up to most documents that have a word that begins with prefix, and whether these are all.
func (c *collection) lookUp(conn *conn, prefix string, most int64) (rows map[int64]struct{}, all bool, err error) {
	const wordsPerRow = 4 // that begin with the prefix, on average
	b := c.build("SELECT doc FROM ", c.postings(), " WHERE term>=").bind(prefix)
	b.write(" AND term<").bind(prefix + "\xff").write(" LIMIT ").bind(wordsPerRow * most).write("+0")
	rows, left := make(map[int64]struct{}), wordsPerRow*most
	err = conn.query(context.Background(), b.String(), b.args, func(values []driver.Value) error {
		left--
		if rows[values[0].(int64)] = struct{}{}; int64(len(rows)) == most {
			return errFull
		}
		return nil
	})
	if errors.Is(err, errFull) {
		return rows, false, nil
	}
	return rows, left > 0, err
}

// postings returns the table that lists each word of each document, in the order of the words.
func (c *collection) postings() string { return quote(c.spec.Name + ":postings") }

// documents returns the number of documents in the collection.
func (c *collection) documents(conn *conn) (int64, error) {
	return conn.integer(context.Background(), c.build("SELECT documents FROM _collections WHERE name=").bind(c.spec.Name))
}

// walk reads a list of common words in the order of the list's own index. It returns errTooManyScans if they occur together
// so rarely, or so late in the list, that it had to look at too many rows.
func (c *collection) walk(ctx context.Context, conn *conn, q store.Query, parts []part, plan *searchPlan) (docs [][]byte, err error) {
	scan := &searchPlan{search: plan.search, scan: append(slices.Clip(plan.scan), plan.lookUp...)}
	scan.maxScans = min(2*plan.common, conn.pool.maxScans)
	size := 0
	err = c.rows(ctx, conn, q, parts, scan, func(doc []byte) error {
		docs = append(docs, doc)
		if size += len(doc); q.Bytes != nil && size > q.Bytes.Max {
			return errFull
		}
		return nil
	})
	if errors.Is(err, errTooManyScans) {
		c.common.forget(scan.scan)
		return nil, err
	}
	return docs, err
}

var errTooManyScans = errors.New("words were searched for in too many rows")

// matches reports whether a document has a word that begins with each of the words to scan for.
func (p *searchPlan) matches(c *collection, doc []byte) (bool, error) {
	if p.scanned += 1 + int64(len(doc))/1024; p.maxScans > 0 && p.scanned > p.maxScans {
		return false, errTooManyScans
	}
	missing := -1
	if !bytes.Contains(doc, []byte(`\u`)) { // an escape can be a letter
		missing = store.MissingText(doc, p.scan) // most documents need no more
	}
	if missing < 0 {
		p.text = p.text[:0]
		for _, path := range c.spec.Search {
			p.text = append(p.appendText(doc, path), ' ')
		}
		missing = store.MissingWord(p.text, p.scan)
	}
	if missing > 0 {
		p.scan[missing-1], p.scan[missing] = p.scan[missing], p.scan[missing-1]
	}
	return missing < 0, nil
}

// appendText returns p.text with the string at the path of a JSON object, if there is one.
func (p *searchPlan) appendText(object []byte, path string) []byte {
	for name := range strings.SplitSeq(path, ".") {
		object = p.member(object, name)
	}
	text, err := jsontext.AppendUnquote(p.text, object)
	if err != nil { // no string
		return p.text
	}
	return text
}

// member returns the value of a JSON object's member, nil if there is none.
func (p *searchPlan) member(object []byte, name string) []byte {
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
