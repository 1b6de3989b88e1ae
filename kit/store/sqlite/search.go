package sqlite

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit/store"
)

// searchPlan describes how to find the documents that match a search. Looking up a common word gives too many rows. Scanning
// is faster: reading documents and checking each for the word. If the search has rare words, the documents with all of them
// are scanned; otherwise the documents of the list, in its order, until the page is full. docs/performance.md has figures.
type searchPlan struct {
	search    store.TextSearch // the search; every document of the list must match it
	rows      []int64          // numbers of the rows that have all rare words; nil if no word is rare
	lookUp    []string         // words that FTS5 looks up
	scan      []string         // words to scan for; matches moves those that are often missing to the front
	scanned   int64            // cost of the documents scanned so far; see maxReaderScans
	maxScans  int64            // limit of scanned, above which matches fails with errTooManyScans; 0 is no limit
	documents int64            // number of documents in the collection
	threshold int64            // number of documents from which a word is common; 0 if a word of the search is rare

	decoder jsontext.Decoder // decodes a scanned document
	text    []byte           // buffer for its searched text
}

// Measured costs: scanning one document takes as long as looking up 8 documents of a word, or as looking up, fetching and
// sorting 1 document.
const (
	lookUpsPerScan = 8
	fetchesPerScan = 1
)

// Limits of a search. Scanning a document costs 1, plus 1 for each KiB of its JSON.
const (
	maxReaderScans  = 2000    // cost of a scan on a connection of DB.readers
	maxSearchScans  = 200_000 // cost of a scan on a connection of DB.searches
	maxLookUps      = 100_000 // number of documents with a word, above which the word is not looked up
	maxPlannedRows  = 1000    // number of rows of a list that a plan assumes at most
	fallbackLookUps = 3       // number of words to look up if all are common and a scan has found too few rows
)

// defaultRows is the number of rows that the plan of a list without a limit assumes.
const defaultRows = 30

// errNeedsSearchPool is the error of a search that exceeds the limits of DB.readers. read repeats it on a connection of
// DB.searches.
var errNeedsSearchPool = errors.New("sqlite: the search needs a connection for searches")

// read calls do with a connection, and with the plan of the search that all documents of q must match, nil if there is none.
// All statements of do see one snapshot if there is a plan or snapshot is true. If do fails with errNeedsSearchPool, read
// calls it again with a connection of DB.searches, so do must not have an effect before it fails with this error.
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

// plan returns the plan for a search of the words that is to find the given number of rows.
func (c *collection) plan(conn *conn, search store.TextSearch, words []string, rows int) (*searchPlan, error) {
	documents, err := c.documents(conn)
	if err != nil {
		return nil, err
	}
	// A word is common from the number of documents at which looking it up costs as much as scanning the list. If threshold
	// documents have the word, a scan finds the rows in about rows*documents/threshold documents.
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

// keepRows removes the rows from p.rows that are not in found, the rows with a rare word. If it is the first rare word,
// p.rows is set to found. After it, p.rows is not nil, even if it is empty.
func (p *searchPlan) keepRows(found map[int64]struct{}) {
	if p.rows == nil {
		p.rows = slices.AppendSeq(make([]int64, 0, len(found)), maps.Keys(found))
		return
	}
	p.rows = slices.DeleteFunc(p.rows, func(n int64) bool { _, ok := found[n]; return !ok })
}

// withLookUps returns the plan for common words after a scan has found too few rows. It looks up the words that the scanned
// documents lacked most often, which matches has moved to the front of p.scan.
func (p *searchPlan) withLookUps() *searchPlan {
	n := min(fallbackLookUps, len(p.scan))
	return &searchPlan{search: p.search, lookUp: p.scan[:n], scan: p.scan[n:]}
}

// needsScan reports whether documents must be scanned for words; p may be nil.
func (p *searchPlan) needsScan() bool { return p != nil && len(p.scan) > 0 }

// limitsRows reports whether the statement of a list selects rows by words, so that not all documents are scanned.
func (p *searchPlan) limitsRows() bool { return p.rows != nil || len(p.lookUp) > 0 }

// documents returns the number of documents in the collection, from _collections.
func (c *collection) documents(conn *conn) (int64, error) {
	return conn.integer(context.Background(), c.build("SELECT documents FROM _collections WHERE name=").bind(c.spec.Name))
}

// scanList returns the documents of a list, for a search whose words are all common, by scanning the list in its order. It
// fails with errTooManyScans if the words occur together too rarely, or too late in the list. So it returns the documents
// only after the scan has succeeded, and the caller decodes them then.
func (c *collection) scanList(ctx context.Context, conn *conn, q store.Query, parts []part, plan *searchPlan) (docs [][]byte, err error) {
	scan := &searchPlan{search: plan.search, scan: append(slices.Clip(plan.scan), plan.lookUp...)}
	scan.maxScans = min(2*plan.threshold, conn.pool.maxScans) // twice the cost that plan has estimated
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

// requiredSearch returns the first search that every document of f must match; ok is false if there is none.
func requiredSearch(f store.Filter) (search store.TextSearch, ok bool) {
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

// match returns the query of FTS5 for rows that have words with all of the prefixes. words must not be empty.
func match(words []string) string { return `"` + strings.Join(words, `"* "`) + `"*` }

// search writes the condition of a search. Without a plan, all its words are looked up. With a plan for this search, the
// condition selects the plan's rows or looks up its words; collection.rows scans for the others.
func (b *builder) search(f store.TextSearch) *builder {
	b.searches = true
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
	b.usesWords = true
	return b.write("n IN (SELECT rowid FROM ", b.c.words, " WHERE ", b.c.words, " MATCH ").bind(match(words)).write(")")
}
