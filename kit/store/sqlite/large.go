package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/textsearch"
)

// Indexing takes about 1.3 µs for each word: 3 ms for maxWords, 130 ms for 100,000 Chinese characters, each of which begins a
// word. Meanwhile other writes wait. Therefore a write splits a long text into words before it waits for the writer. Writes with
// more than maxWords words take turns. Between two turns, the other waiting writes run.
const (
	longText  = 4 << 10  // bytes of a document and its changes; shorter texts have fewer words than maxWords
	largeText = 64 << 10 // bytes; a larger text is split only when it is the write's turn, because its words need much memory
	maxWords  = 2000
)

// After a write with many words, separate transactions merge segments of FTS5. Each of these transactions merges mergedPages
// pages, which takes about 5 ms. The write itself merges no more pages than a write of maxMerged bytes of text.
const (
	mergedPages = 64
	maxMerged   = 16 << 10
)

// insertedText builds the statement that reads the searched text of the document that b inserts. The result is nil if the
// collection has no searched fields or the document is short.
func (c *collection) insertedText(b *builder) *builder {
	if b.err != nil || len(c.spec.Search) == 0 || b.size() <= longText {
		return nil
	}
	return c.build("SELECT 0").textColumn().write(" FROM (SELECT ").bind(b.args[1]).write(" AS doc)")
}

// updatedText builds the statement that computes the searched text that a document will have after the update. The statement
// returns no row if the document is short. The result is nil if the text does not change, or if the document is in the cache and
// short.
func (c *collection) updatedText(f store.Filter, changes []store.Change) *builder {
	if !c.changesSearched(changes) {
		return nil
	}
	b := c.build("SELECT n").textColumn().write(" FROM (SELECT n,").changedDoc(changes)
	size := b.size()
	if id, ok := idOf(f); ok {
		if doc, _ := c.db.cache.get(cacheKey{c.spec.Name, id}); doc != nil && len(doc)+size <= longText {
			return nil
		}
	}
	b.write(" AS doc FROM ", c.table, " WHERE n=(SELECT n FROM ", c.table, " WHERE ").where(f).write(" ORDER BY id LIMIT 1)")
	return b.write(" AND octet_length(doc)+").bind(int64(size)).write(">").bind(int64(longText)).write(")")
}

// size returns the total size of the strings that b binds, in bytes.
func (b *builder) size() (n int) {
	for _, arg := range b.args {
		if text, ok := arg.(string); ok {
			n += len(text)
		}
	}
	return n
}

// writeText runs do on the writer and waits for the commit. The statement b selects the searched text that the write will store;
// b returns no row if the document is short. If b is nil, the text is short or does not change.
func (c *collection) writeText(ctx context.Context, b *builder, do func(*transaction) error) error {
	var text string
	if b != nil {
		err := c.db.readers.use(ctx, func(conn *conn) error {
			return conn.query(context.Background(), b.String(), b.args, func(row []driver.Value) error {
				text = row[1].(string)
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	if text == "" {
		return c.db.writer.do(ctx, do)
	}
	var words []string
	if len(text) <= largeText {
		if words = textsearch.Words(text); len(words) <= maxWords {
			return c.db.writer.do(ctx, withWords(text, words, do))
		}
	}
	if err := c.db.large.Acquire(ctx, 1); err != nil {
		return store.Busy(err)
	}
	defer c.db.large.Release(1)
	if words == nil {
		words = textsearch.Words(text)
	}
	slices.Sort(words) // before the transaction: FTS5 sorts the words too, and indexes sorted ones in three quarters of the time
	if err := c.db.writer.doLarge(withWords(text, words, do)); err != nil {
		return err
	}
	c.mergeLarge(words)
	return nil
}

// withWords returns a function that adds the words of text to the transaction and then calls do.
func withWords(text string, words []string, do func(*transaction) error) func(*transaction) error {
	return func(tx *transaction) error {
		if tx.words == nil {
			tx.words = make(map[string][]string)
		}
		tx.words[text] = words
		return do(tx)
	}
}

// mergeLarge merges segments after a large text was indexed, so that the number of segments stays small. Other writes run
// between the transactions of mergeLarge. Errors are ignored, because a later write merges the remaining segments.
func (c *collection) mergeLarge(words []string) {
	bytes := 0
	for _, word := range words {
		bytes += len(word)
	}
	for pages := bytes / 1024; pages > 0; pages -= mergedPages { // enough to merge bytes/4096 pages at each of four levels
		err := c.db.writer.doLarge(func(tx *transaction) error {
			_, err := tx.exec("INSERT INTO "+c.words+"("+c.words+",rank) VALUES('merge',?)", int64(mergedPages))
			return err
		})
		if err != nil {
			return
		}
	}
	if c.db.writer.checkpointing.CompareAndSwap(false, true) {
		c.db.writer.checkpoint() // the write-ahead log may have thousands of pages
	}
}

// doLarge makes a change in a separate transaction. If the change fails, doLarge rolls the transaction back.
func (w *writer) doLarge(change func(*transaction) error) error {
	w.queueMu.RLock()
	defer w.queueMu.RUnlock()
	if w.closed {
		return store.Unavailable(errClosed)
	}
	w.connMu.Lock()
	defer w.connMu.Unlock()
	tx := &transaction{
		ctx: context.Background(), conn: w.conn, cache: w.cache, log: w.log,
		documents: make(map[*collection]int64), texts: make(map[row]string),
	}
	err := tx.begin()
	if err == nil {
		err = change(tx)
	}
	return translate(tx.end(err))
}

// joined returns the words of a searched text, separated by spaces, as the table of words stores them.
func (tx *transaction) joined(text string) string {
	words, ok := tx.words[text]
	if !ok {
		words = textsearch.Words(text)
	}
	return strings.Join(words, " ")
}
