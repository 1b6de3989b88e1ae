package sqlite

import (
	"context"
	"sync"
)

// wordCounts caches, for each word, the number of documents with the word. Counting these documents takes longer than reading a
// page of a list. An outdated number only makes a list slower.
type wordCounts struct {
	mu    sync.Mutex
	known map[string]wordCount
}

// wordCount is the result of counting the documents with a word.
type wordCount struct {
	count     int64 // number of documents with the word, up to limit
	limit     int64
	documents int64 // number of all documents when the word was counted
}

// maxWordCounts is the maximum number of words in the cache. A full cache is emptied before another word is added.
const maxWordCounts = 1000

// estimate returns the cached number of documents that contain word, up to limit. A cached count is outdated if it was counted up
// to a lower limit, or if the collection has doubled since. For an outdated count, estimate returns limit if the count is more
// than limit/2. Otherwise, or if word is not cached, it returns 0, and the caller must count the documents.
func (w *wordCounts) estimate(word string, limit, documents int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch known := w.known[word]; {
	case known.limit >= limit && documents < 2*known.documents:
		return min(known.count, limit)
	case known.count > limit/2:
		return limit
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

// forget removes words, so that the next search counts them again.
func (w *wordCounts) forget(words []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, word := range words {
		delete(w.known, word)
	}
}

// lookUp returns the row numbers of up to limit documents that have a word with the prefix. all is true only if rows is known to
// be complete. If all is false, rows may still have fewer than limit entries.
func (c *collection) lookUp(conn *conn, prefix string, limit int64) (rows map[int64]struct{}, all bool, err error) {
	const wordsPerDocument = 4 // assumed number of words of a document that begin with the prefix
	b := c.build("SELECT doc FROM ", c.postings(), " WHERE term>=").bind(prefix)
	b.write(" AND term<").bind(prefix + "\xff") // greater than every UTF-8 string with the prefix
	b.write(" LIMIT ").bind(wordsPerDocument * limit).write("+0")
	rows, entries := make(map[int64]struct{}), int64(0)
	for values, err := range conn.rows(context.Background(), b.String(), b.args) {
		if err != nil {
			return nil, false, err
		}
		entries++
		if rows[values[0].(int64)] = struct{}{}; int64(len(rows)) == limit {
			return rows, false, nil
		}
	}
	return rows, entries < wordsPerDocument*limit, nil
}

// postings returns the quoted name of the table that has a row for each word of each document, sorted by word.
func (c *collection) postings() string { return quote(c.spec.Name + ":postings") }
