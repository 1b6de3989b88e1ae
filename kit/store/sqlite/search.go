package sqlite

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/textsearch"
)

// searchPlan describes how one connection finds the documents of a list that match a search. Rare words are looked up with FTS5.
// Common words would return too many rows. For common words, a scan is faster: it reads documents and checks each document for
// the words. If the search has rare words, only the documents with all rare words are scanned. Otherwise the documents are
// scanned in the order of the list, until the page is full. docs/performance.md has figures.
type searchPlan struct {
	c    *collection
	conn *conn
	q    store.Query

	search    store.TextSearch // the search; every document of the list must match it
	rows      []int64          // numbers of the rows that have all rare words; nil if no word is rare
	lookUp    []string         // words that FTS5 looks up
	scan      []string         // words to scan for; a scan moves words that are often missing to the front
	maxScans  int64            // maximum cost of a scan; 0 means no limit
	documents int64            // number of documents in the collection
	threshold int64            // a word in this many documents is common; 0 if a word of the search is rare
}

// Measured costs: scanning one document takes as long as looking up 8 documents with a word, or as looking up, fetching and
// sorting one document.
const (
	lookUpsPerScan = 8
	fetchesPerScan = 1
)

// Limits of a search. Scanning a document costs 1, plus 1 for each KiB of its JSON.
const (
	maxReaderScans  = 2000    // maximum cost of a scan on a connection of DB.readers
	maxSearchScans  = 200_000 // maximum cost of a scan on a connection of DB.searches
	maxLookUps      = 100_000 // a word in more documents is not looked up
	maxPlannedRows  = 1000    // maximum number of rows that a plan assumes for a list
	fallbackLookUps = 3       // number of words to look up if all words are common and a scan has found too few rows
)

// defaultRows is the number of rows that the plan of a list without a limit assumes.
const defaultRows = 30

// search executes a List whose documents must all match a search for words. It uses a connection of DB.readers. If the search
// exceeds the cost limits of this connection, it uses a connection of DB.searches.
func (c *collection) search(ctx context.Context, q store.Query, search store.TextSearch, words []string, next func() any) (n int64, err error) {
	cheap := true
	run := func(conn *conn) error {
		return conn.snapshot(func() error {
			plan, err := c.plan(conn, q, search, words)
			if err == nil {
				n, cheap, err = plan.run(ctx, next)
			}
			return err
		})
	}
	err = c.db.readers.use(ctx, run)
	if err == nil && !cheap {
		err = c.db.searches.use(ctx, run)
	}
	return n, err
}

// If q.MaxCount is not 0, run counts the documents. If next is not nil, run reads the documents. If the search exceeds the cost
// limits of the connection, cheap is false and run has not called next. On a connection of DB.searches, cheap is false only if
// run fails.
func (p *searchPlan) run(ctx context.Context, next func() any) (n int64, cheap bool, err error) {
	cheap = true
	if p.q.MaxCount > 0 {
		n, cheap, err = p.count(ctx)
	}
	if cheap && err == nil && next != nil {
		cheap, err = p.list(ctx, next)
	}
	return n, cheap, err
}

// count returns the number of documents, up to q.MaxCount. cheap has the same meaning as in run.
func (p *searchPlan) count(ctx context.Context) (n int64, cheap bool, err error) {
	limit, pool := p.q.MaxCount, p.conn.pool
	if p.rows == nil && !pool.costly && min(limit, p.documents) > pool.maxScans {
		return 0, false, nil // counting may exceed the cost limits
	}
	if isSingleSearch(p.q.Filter) {
		words := slices.Concat(p.lookUp, p.scan)
		switch {
		case p.rows != nil && len(words) == 0:
			return min(int64(len(p.rows)), limit), true, nil
		case p.rows == nil && len(words) == 1 && limit < store.CountAll:
			found, all, err := p.c.lookUp(p.conn, words[0], limit)
			if n := int64(len(found)); err != nil || all || n == limit {
				return n, true, err
			}
		}
	}
	if !p.needsScan() {
		n, err = p.conn.integer(ctx, p.c.countStatement(p.q.Filter, p, limit))
		return n, true, err
	}
	limited := *p
	if !p.limitsRows() {
		limited.maxScans = pool.maxScans
	}
	n, ok, err := limited.countByScan(ctx)
	if !ok && err == nil && pool.costly {
		return p.withLookUps().countByScan(ctx)
	}
	return n, ok, err
}

// countByScan returns the number of documents, up to q.MaxCount, by reading them. ok has the same meaning as in
// collection.rows.
func (p *searchPlan) countByScan(ctx context.Context) (n int64, ok bool, err error) {
	q := store.Query{Filter: p.q.Filter, Limit: int(p.q.MaxCount)}
	ok, err = p.c.rows(ctx, p.conn, q, []part{{filter: q.Filter}}, p, func([]byte) (bool, error) {
		n++
		return true, nil
	})
	return n, ok, err
}

// list reads the documents into the values that next returns. cheap has the same meaning as in run.
func (p *searchPlan) list(ctx context.Context, next func() any) (cheap bool, err error) {
	parts, err := parts(p.q)
	if err != nil {
		return true, err
	}
	decode := func(doc []byte) (bool, error) { return p.c.decodeNext(p.q, doc, next) }
	if p.threshold > 0 && p.q.Limit > 0 { // all words are common
		docs, ok, err := p.scanList(ctx, parts)
		if err != nil {
			return true, err
		}
		if ok {
			return true, eachDoc(docs, decode)
		}
	}
	if !p.limitsRows() {
		if !p.conn.pool.costly {
			return false, nil
		}
		p = p.withLookUps()
	}
	return p.c.rows(ctx, p.conn, p.q, parts, p, decode)
}

// scanList scans the list in its order and returns the matching documents. If too few documents near the start of the list have
// all words, ok is false and the caller must ignore docs.
func (p *searchPlan) scanList(ctx context.Context, parts []part) (docs [][]byte, ok bool, err error) {
	scan := &searchPlan{search: p.search, scan: append(slices.Clip(p.scan), p.lookUp...)}
	scan.maxScans = min(2*p.threshold, p.conn.pool.maxScans) // twice the cost that plan has estimated
	size := 0
	ok, err = p.c.rows(ctx, p.conn, p.q, parts, scan, func(doc []byte) (bool, error) {
		docs = append(docs, doc)
		size += len(doc)
		return p.q.Bytes == nil || size <= p.q.Bytes.Max, nil
	})
	if !ok && err == nil {
		p.c.wordCounts.forget(scan.scan)
	}
	return docs, ok, err
}

// eachDoc calls row with each document until row returns false or an error.
func eachDoc(docs [][]byte, row func([]byte) (more bool, err error)) error {
	for _, doc := range docs {
		if more, err := row(doc); !more || err != nil {
			return err
		}
	}
	return nil
}

// plan returns the plan for a List whose documents must all match a search for words.
func (c *collection) plan(conn *conn, q store.Query, search store.TextSearch, words []string) (*searchPlan, error) {
	documents, err := c.documents(conn)
	if err != nil {
		return nil, err
	}
	rows := min(q.Skip+cmp.Or(q.Limit, defaultRows), maxPlannedRows)
	// If a word is in threshold documents, looking up the word costs as much as scanning the list. The scan then reads about
	// rows*documents/threshold documents.
	threshold := int64(math.Sqrt(float64(fetchesPerScan) * float64(rows) * float64(documents)))
	threshold = max(1, min(threshold, conn.pool.maxScans/2))
	limit := threshold
	if conn.pool.costly {
		limit = max(threshold, maxLookUps)
	}
	p := &searchPlan{c: c, conn: conn, q: q, search: search, documents: documents}
	counts := make([]int64, len(words))
	for i, word := range words {
		if counts[i] = c.wordCounts.estimate(word, limit, documents); counts[i] >= threshold {
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
		case counts[i] < threshold: // keepRows has already restricted p.rows to this word
		case p.rows == nil && counts[i] < limit && counts[i] <= rarest*lookUpsPerScan: // cheaper than a scan
			p.lookUp = append(p.lookUp, word)
		default:
			p.scan = append(p.scan, word)
		}
	}
	return p, nil
}

// keepRows restricts p.rows to found, the rows with a rare word. For the first rare word, it sets p.rows to found. Afterwards
// p.rows is not nil, even if it is empty.
func (p *searchPlan) keepRows(found map[int64]struct{}) {
	if p.rows == nil {
		p.rows = slices.AppendSeq(make([]int64, 0, len(found)), maps.Keys(found))
		return
	}
	p.rows = slices.DeleteFunc(p.rows, func(n int64) bool { _, ok := found[n]; return !ok })
}

// withLookUps returns a plan that looks up the first words of p.scan. An earlier scan has moved the words that its documents
// lacked most often to the front of p.scan.
func (p *searchPlan) withLookUps() *searchPlan {
	n := min(fallbackLookUps, len(p.scan))
	return &searchPlan{c: p.c, conn: p.conn, q: p.q, search: p.search, lookUp: p.scan[:n], scan: p.scan[n:]}
}

// needsScan reports whether documents must be scanned for words; p may be nil.
func (p *searchPlan) needsScan() bool { return p != nil && len(p.scan) > 0 }

// limitsRows reports whether the statement of a list selects rows by words, so that not all documents are scanned.
func (p *searchPlan) limitsRows() bool { return p.rows != nil || len(p.lookUp) > 0 }

// documents returns the number of documents in the collection, from _collections.
func (c *collection) documents(conn *conn) (int64, error) {
	return conn.integer(context.Background(), c.build("SELECT documents FROM _collections WHERE name=").bind(c.spec.Name))
}

// requiredSearch returns the first search that every document selected by f must match, and the words of the search. It returns
// no words if f requires no search, or if the search has no words.
func (c *collection) requiredSearch(f store.Filter) (search store.TextSearch, words []string) {
	switch f := f.(type) {
	case store.TextSearch:
		if len(c.spec.Search) > 0 {
			return f, textsearch.QueryWords(f.Text)
		}
	case store.Connective:
		if f.Op != store.OpAnd {
			break
		}
		for _, part := range f.Filters {
			if search, words := c.requiredSearch(part); len(words) > 0 {
				return search, words
			}
		}
	}
	return store.TextSearch{}, nil
}

// isSingleSearch reports whether the filter is one search and nothing else.
func isSingleSearch(f store.Filter) bool {
	if f, ok := f.(store.Connective); ok {
		return len(f.Filters) == 1 && isSingleSearch(f.Filters[0])
	}
	_, ok := f.(store.TextSearch)
	return ok
}

// match returns the FTS5 query for rows that have, for each of the prefixes in words, a word with this prefix. words must not
// be empty.
func match(words []string) string { return `"` + strings.Join(words, `"* "`) + `"*` }

// search writes the condition of a search. Without a plan, the condition looks up all words of the search. With a plan for this
// search, the condition selects the rows of the plan or looks up plan.lookUp. collection.rows then scans for the words in
// plan.scan.
func (b *builder) search(f store.TextSearch) *builder {
	b.searches = true
	var words []string
	switch planned := b.plan != nil && b.plan.search == f; {
	case planned && b.plan.rows != nil:
		return b.write("n").oneOf(b.plan.rows)
	case planned && len(b.plan.lookUp) == 0:
		return b.write("1")
	case planned:
		words = b.plan.lookUp
	case len(b.c.spec.Search) > 0:
		words = textsearch.QueryWords(f.Text)
	}
	if len(words) == 0 {
		return b.write("0")
	}
	b.usesWords = true
	return b.write("n IN (SELECT rowid FROM ", b.c.words, " WHERE ", b.c.words, " MATCH ").bind(match(words)).write(")")
}
