package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"example.com/ginseng/kit/progress"
	"example.com/ginseng/kit/store"
)

// pageSize is the number of documents that are read and written together.
const pageSize = 500

// load copies the documents that the target does not have yet, from all collections.
func (c *copier) load(ctx context.Context) error {
	total, err := count(ctx, c.source, c.Specs)
	if err != nil {
		return err
	}
	before, err := count(ctx, c.target, c.Specs)
	if err != nil {
		return err
	}
	bar := progress.Start(c.Progress, "copying", "documents", max(total-before, 0))
	defer bar.Stop()
	return eachCollection(ctx, c.source, c.Specs, func(spec store.Spec) error { return c.loadCollection(ctx, spec, bar) })
}

// loadCollection copies the documents of one collection that follow the last document in the target.
func (c *copier) loadCollection(ctx context.Context, spec store.Spec, bar *progress.Bar) error {
	// eachPage would not find a document whose id is not a store.ID and sorts after all valid ids. lastID fails for such a
	// document.
	if _, err := lastID(ctx, c.source, spec, true); err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	engine, q := c.target.Open(spec), store.Query{Lossless: true, After: c.last[spec.Name]}
	return eachPage(ctx, c.source, spec, q, func(docs []store.Document) error {
		if err := engine.Load(ctx, docs); err != nil {
			return fmt.Errorf("the target: %s: %w", spec.Name, err)
		}
		bar.Add(int64(len(docs)))
		return nil
	})
}

// checksum is the number of a collection's documents and the SHA-256 of their JSON in the order of the ids.
type checksum struct {
	documents int64
	hash      string
}

// checksums returns the checksums of the collections in specs. It omits collections without documents.
func checksums(ctx context.Context, db store.DB, specs []store.Spec, bar *progress.Bar) (map[string]checksum, error) {
	sums := make(map[string]checksum)
	err := eachCollection(ctx, db, specs, func(spec store.Spec) error {
		hash, n := sha256.New(), int64(0)
		encoder := json.NewEncoder(hash)
		err := eachPage(ctx, db, spec, store.Query{}, func(docs []store.Document) error {
			for _, doc := range docs {
				if err := encoder.Encode(doc); err != nil {
					return err
				}
			}
			n += int64(len(docs))
			bar.Add(int64(len(docs)))
			return nil
		})
		if n > 0 {
			sums[spec.Name] = checksum{n, hex.EncodeToString(hash.Sum(nil))}
		}
		return err
	})
	return sums, err
}

// eachCollection calls do with each of the specs whose collection exists in the database, until do returns an error.
func eachCollection(ctx context.Context, db store.DB, specs []store.Spec, do func(store.Spec) error) error {
	names, err := db.Names(ctx)
	if err != nil {
		return err
	}
	for _, spec := range specs {
		if slices.Contains(names, spec.Name) {
			if err := do(spec); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachPage calls do with the documents that q selects, in the order of their ids, up to pageSize documents at a time.
func eachPage(ctx context.Context, db store.DB, spec store.Spec, q store.Query, do func([]store.Document) error) error {
	engine := db.Open(spec)
	q.Limit = pageSize
	for {
		docs := make([]store.Document, 0, pageSize)
		_, err := engine.List(ctx, q, func() any {
			docs = append(docs, spec.NewDocument())
			return docs[len(docs)-1]
		})
		if err != nil {
			return fmt.Errorf("%s: %w", spec.Name, err)
		}
		if len(docs) == 0 {
			return nil
		}
		if err := do(docs); err != nil || len(docs) < pageSize {
			return err
		}
		q.After = []any{store.IDOf(docs[pageSize-1])}
	}
}

// lastID returns the greatest id of a collection in the form of Query.After; nil if the collection is empty. If lossless is true,
// lastID fails if the last document does not fit its type; see Query.Lossless.
func lastID(ctx context.Context, db store.DB, spec store.Spec, lossless bool) ([]any, error) {
	q := store.Query{Sort: []store.Order{{Field: "id", Desc: true}}, Limit: 1, Lossless: lossless}
	if !lossless {
		q.Fields = []string{"id"}
	}
	var last store.Document
	_, err := db.Open(spec).List(ctx, q, func() any {
		last = spec.NewDocument()
		return last
	})
	if err != nil || last == nil {
		return nil, err
	}
	return []any{store.IDOf(last)}, nil
}

// count returns the total number of documents in the collections of specs.
func count(ctx context.Context, db store.DB, specs []store.Spec) (total int64, err error) {
	err = eachCollection(ctx, db, specs, func(spec store.Spec) error {
		n, err := db.Open(spec).List(ctx, store.Query{MaxCount: store.CountAll}, nil)
		total += n
		return err
	})
	return total, err
}
