package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
)

// collection implements store.Engine. Its indexes, its trigger and its tables of words have names of the form
// COLLECTION:SUFFIX. The name of a collection has no colon.
type collection struct {
	db    *DB
	spec  store.Spec
	table string // quoted name of the table of documents
	words string // quoted name of the table of words
	err   error  // the reason why spec is invalid; nil if spec is valid

	wordCounts wordCounts
}

// Insert implements store.Engine.
func (c *collection) Insert(ctx context.Context, id store.ID, doc any) error {
	b := c.insert(id, doc)
	return c.write(ctx, b.write(" RETURNING n").textColumn().scope(), c.insertedText(b), func(tx *transaction) error {
		var scope driver.Value
		err := tx.query(b, func(values []driver.Value) error {
			tx.addText(c, values[0], values[1])
			scope = values[2]
			return nil
		})
		if err != nil {
			return err
		}
		tx.documents[c]++
		return tx.record(ctx, c, store.Created, id, nil, scope)
	})
}

// insert builds the statement that stores a document.
func (c *collection) insert(id store.ID, doc any) *builder {
	b := c.build("INSERT INTO ", c.table, "(id,doc) VALUES(").bind(id.Hex()).write(",")
	data, err := encode(doc)
	if err != nil {
		return b.fail(err)
	}
	if bytes.Contains(data, []byte("null")) {
		// json_patch removes nulls, because json_set cannot set a field below a null.
		return b.write("json_patch('{}',").bind(string(data)).write("))")
	}
	return b.bind(string(data)).write(")")
}

// Update implements store.Engine.
func (c *collection) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	conditions := engine.Conditions(changes)
	b := c.build("UPDATE ", c.table, " SET doc=").changedDoc(changes)
	b.write(" WHERE n=(SELECT n FROM ", c.table, " WHERE ").where(f).write(" ORDER BY id LIMIT 1)").modifies(conditions)
	b.write(" RETURNING n").textColumn().write(",CAST(doc AS BLOB),id").scope()
	var doc []byte
	err := c.write(ctx, b, c.updatedText(f, changes), func(tx *transaction) error {
		if b.usesWords {
			if err := tx.indexTexts(); err != nil {
				return err
			}
		}
		var key cacheKey
		var scope driver.Value
		err := tx.query(b, func(values []driver.Value) error {
			doc, key, scope = values[2].([]byte), c.cacheKey(values[3].(string)), values[4]
			tx.changed = append(tx.changed, key)
			if c.changesSearched(changes) {
				tx.addText(c, values[0], values[1])
			}
			return nil
		})
		switch {
		case err != nil:
			return err
		case doc == nil && conditions == nil:
			return store.ErrNotFound
		case doc == nil: // f selects no document, or the changes do not modify the document
			doc, err = c.firstIn(tx.ctx, tx.conn, f)
			return err
		}
		fields, logged := engine.LoggedFields(c.spec, changes)
		if !logged {
			return nil
		}
		return tx.record(ctx, c, store.Updated, key.id, fields, scope)
	})
	if err != nil {
		return err
	}
	return c.decode(doc, into)
}

// changesSearched reports whether one of the changes may affect a searched field.
func (c *collection) changesSearched(changes []store.Change) bool {
	return slices.ContainsFunc(changes, func(change store.Change) bool {
		return slices.ContainsFunc(c.spec.Search, func(path string) bool {
			return strings.HasPrefix(path+".", change.Field+".") || strings.HasPrefix(change.Field, path+".")
		})
	})
}

// merge merges segments (parts of the FTS5 index) after size bytes of text were indexed. The number of merged pages is
// proportional to size, because merging a page takes about 150 µs. The merge of a large segment is spread over thousands of
// writes.
func (c *collection) merge(tx *transaction, size int64) error {
	_, err := tx.exec("INSERT INTO "+c.words+"("+c.words+",rank) VALUES('merge',?)", 2+size/2048)
	return err
}

// trusted skips the checks for duplicate names and invalid UTF-8. Stored documents have neither.
var trusted = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// decode decodes a stored document into the value that into points to. It uses version 2 of encoding/json, which takes a
// quarter of the time of version 1 (docs/performance.md).
func (c *collection) decode(doc []byte, into any) error {
	if err := json.Unmarshal(doc, into, trusted); err != nil {
		return fmt.Errorf("sqlite: a document of %q does not fit its type: %w", c.spec.Name, err)
	}
	return nil
}

// decodeLossless decodes like decode, but fails if into cannot represent the whole document.
func (c *collection) decodeLossless(doc []byte, into any) error {
	if err := c.decode(doc, into); err != nil {
		return fmt.Errorf("%w: %.4000s", err, doc)
	}
	if err := engine.CheckLossless(doc, into); err != nil {
		return fmt.Errorf("sqlite: %s: %w", c.spec.Name, err)
	}
	return nil
}

// Delete implements store.Engine.
func (c *collection) Delete(ctx context.Context, f store.Filter) (n int64, err error) {
	b := c.build("DELETE FROM ", c.table, " WHERE ").where(f).write(" RETURNING id").scope()
	err = c.write(ctx, b, nil, func(tx *transaction) error {
		if err := tx.indexTexts(); err != nil {
			return err
		}
		err := tx.query(b, func(values []driver.Value) error {
			n++
			key := c.cacheKey(values[0].(string))
			tx.changed = append(tx.changed, key)
			return tx.record(ctx, c, store.Deleted, key.id, nil, values[1]) // SQLite has already deleted all rows
		})
		if err == nil {
			tx.documents[c] -= n
		}
		return err
	})
	return n, err
}

// write calls do, which executes b. In an Atomic, do changes the transaction of the Atomic. Otherwise the writer calls do, and
// write waits for the commit. text is the result of insertedText or updatedText; nil for a delete. If b or the Spec is invalid,
// write fails without calling do.
func (c *collection) write(ctx context.Context, b, text *builder, do func(*transaction) error) error {
	if err := cmp.Or(c.err, b.err); err != nil {
		return err
	}
	if a := c.db.writer.atomicOf(ctx); a != nil {
		return a.write(ctx, b, do)
	}
	return c.writeText(ctx, text, do)
}

// First implements store.Engine. If f selects a document by its id alone, First reads the document from the cache, or adds it
// to the cache. In an Atomic, First does not use the cache.
func (c *collection) First(ctx context.Context, f store.Filter, into any) error {
	id, ok := idOf(f)
	if !ok || c.db.writer.atomicOf(ctx) != nil {
		doc, err := c.first(ctx, ctx, f)
		if err != nil {
			return err
		}
		return c.decode(doc, into)
	}
	if err := ctx.Err(); err != nil {
		return store.Busy(err)
	}
	key := cacheKey{c.spec.Name, id}
	doc, state := c.db.cache.get(key)
	if doc == nil {
		var err error
		if doc, err = c.first(ctx, context.Background(), f); err != nil { // the statement takes microseconds; see conn.rows
			return err
		}
		c.db.cache.put(key, doc, state)
	}
	return c.decode(doc, into)
}

// first returns the document with the lowest id that f selects, as JSON. It waits for a connection until ctx ends; queryCtx
// is the context of the statement.
func (c *collection) first(ctx, queryCtx context.Context, f store.Filter) (doc []byte, err error) {
	read := func(conn *conn) error {
		doc, err = c.firstIn(queryCtx, conn, f)
		return err
	}
	if a := c.db.writer.atomicOf(ctx); a != nil {
		err = a.read(ctx, f, read)
	} else {
		err = c.db.byID.use(ctx, read)
	}
	return doc, err
}

// firstIn is first on a connection.
func (c *collection) firstIn(ctx context.Context, conn *conn, f store.Filter) (doc []byte, err error) {
	b := c.build("SELECT CAST(doc AS BLOB) FROM ", c.table, " WHERE ").where(f).write(" ORDER BY id LIMIT 1")
	if err := cmp.Or(c.err, b.err); err != nil {
		return nil, err
	}
	err = conn.query(ctx, b.String(), b.args, func(row []driver.Value) error {
		doc = row[0].([]byte)
		return nil
	})
	if err == nil && doc == nil {
		err = store.ErrNotFound
	}
	return doc, err
}

// count returns the number of documents that f selects, up to limit. If f is nil, it returns the number of all documents and
// ignores limit.
func (c *collection) count(ctx context.Context, conn *conn, f store.Filter, limit int64) (int64, error) {
	if f == nil {
		return c.documents(conn)
	}
	return conn.integer(ctx, c.countStatement(f, nil, limit))
}

// countStatement builds the statement that counts the documents that f selects, up to limit.
func (c *collection) countStatement(f store.Filter, plan *searchPlan, limit int64) *builder {
	b := c.build("SELECT count(*) FROM (SELECT 1 FROM ")
	if plan != nil && isSingleSearch(f) { // the table of words has one row for each document
		b.write(c.words, " WHERE ", c.words, " MATCH ").bind(match(plan.lookUp))
	} else {
		b.write(c.table, " WHERE ").where(f)
	}
	return b.write(" LIMIT ").bind(limit).write("+0)")
}

// List implements store.Engine. The documents and their number come from one snapshot.
func (c *collection) List(ctx context.Context, q store.Query, next func() any) (n int64, err error) {
	if c.err != nil {
		return 0, c.err
	}
	read := func(conn *conn) (err error) {
		if q.MaxCount > 0 {
			n, err = c.count(ctx, conn, q.Filter, q.MaxCount)
		}
		if err == nil && next != nil {
			err = c.list(ctx, conn, q, next)
		}
		return err
	}
	if a := c.db.writer.atomicOf(ctx); a != nil {
		err = a.list(ctx, c, q, &n, read)
		return n, err
	}
	if search, words := c.requiredSearch(q.Filter); len(words) > 0 {
		return c.search(ctx, q, search, words, next)
	}
	err = c.db.readers.use(ctx, func(conn *conn) error {
		if q.MaxCount > 0 && next != nil || q.After != nil || next != nil && len(c.sorted(q)) > 0 { // read executes more than one statement
			return conn.snapshot(func() error { return read(conn) })
		}
		return read(conn)
	})
	return n, err
}

// list reads the documents of q into the values that next returns.
func (c *collection) list(ctx context.Context, conn *conn, q store.Query, next func() any) error {
	parts, err := parts(q)
	if err == nil {
		_, err = c.rows(ctx, conn, q, parts, nil, func(doc []byte) (bool, error) { return c.decodeNext(q, doc, next) })
	}
	return err
}

// decodeNext decodes a document of q into the value that next returns. If the document exceeds q.Bytes, more is false and the
// list ends before this document.
func (c *collection) decodeNext(q store.Query, doc []byte, next func() any) (more bool, err error) {
	switch {
	case !q.Bytes.Add(len(doc)):
		return false, nil
	case q.Lossless && len(q.Fields) == 0:
		return true, c.decodeLossless(doc, next())
	default:
		return true, c.decode(doc, next())
	}
}

// rows calls row with each document of the list q, one part after the other, until row returns false or an error. If plan has
// words to scan for, rows skips documents without these words. If the cost of this scan exceeds plan.maxScans, rows stops and
// ok is false.
func (c *collection) rows(
	ctx context.Context, conn *conn, q store.Query, parts []part, plan *searchPlan, row func(doc []byte) (more bool, err error),
) (ok bool, err error) {
	left, skip := q.Limit, q.Skip // left is 0 without a limit
	queryCtx := ctx
	if q.Filter == nil && left > 0 || plan != nil && (plan.rows != nil || plan.needsScan() && isSingleSearch(q.Filter)) {
		queryCtx = context.Background() // the statement reaches the next document in microseconds; see conn.rows
	}
	scan := plan.scanner(c)
	walk := false
	if plan == nil {
		if walk, err = c.walks(conn, q); err != nil {
			return false, err
		}
	}
	for _, part := range parts {
		n := 0 // number of calls of row for this part
		rest := q
		if walk {
			b := c.selectWalk(q, part, left)
			for values, err := range conn.rows(queryCtx, b.String(), b.args) {
				if err != nil {
					return false, err
				}
				n++
				if more, err := row(values[0].([]byte)); !more || err != nil || n == left {
					return true, err
				}
			}
			rest.Skip += n
		}
		b := c.selectPart(rest, part, plan, max(0, left-n))
		if b.err != nil {
			return false, b.err
		}
		for values, err := range conn.rows(queryCtx, b.String(), b.args) {
			if err != nil {
				return false, err
			}
			if scan != nil {
				if err := ctx.Err(); err != nil {
					return false, err
				}
				doc := values[len(values)-1].([]byte)
				if !scan.pay(doc) {
					return false, nil
				}
				if !scan.matches(doc) {
					continue
				}
				if skip--; skip >= 0 {
					continue
				}
			}
			n++
			if more, err := row(values[0].([]byte)); !more || err != nil || n == left {
				return true, err
			}
		}
		left -= min(left, n)
	}
	return true, nil
}

// selectPart builds the statement that reads one part of a list. A limit of 0 means no limit. The first column has the document
// with q.Fields. For a scan, the last column has the whole document. The statement of a scan has no limit and no offset,
// because rows applies them to the matching documents.
func (c *collection) selectPart(q store.Query, p part, plan *searchPlan, limit int) *builder {
	if plan == nil {
		if ranges := c.ranges(p); ranges != nil {
			return c.selectRanges(q, p, ranges, limit)
		}
	}
	b := c.build("SELECT ").docColumn(q.Fields)
	skip := q.Skip
	if plan.needsScan() {
		limit, skip = 0, 0
		if q.Fields != nil {
			b.write(",").docColumn(nil)
		}
	}
	b.write(" FROM ", c.table, " WHERE ")
	b.plan = plan
	return b.where(p.filter).orderBy(p.order).limit(limit, skip)
}
