package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/ginseng/internal/store"
)

// collection is one table: n, id and the document as JSON text. Its indexes and the table of its words bear its name and
// more after a colon, which no collection's name has.
type collection struct {
	db    *DB
	spec  store.Spec
	table string // quoted, like words
	words string
	err   error // what is wrong with spec
}

// Insert implements store.Engine.
func (c *collection) Insert(ctx context.Context, id store.ID, doc any) error {
	text, err := encode(doc)
	if err != nil {
		return err
	}
	b := c.build("INSERT INTO ", c.table, "(id,doc) VALUES(").bind(id.Hex()).write(",")
	if bytes.Contains(text, []byte("null")) { // a stored null would bar the way to a field below it
		b.write("json_patch('{}',").bind(string(text)).write("))")
	} else {
		b.bind(string(text)).write(")")
	}
	return c.write(ctx, b.write(" RETURNING n").searched(), func(tx *transaction) error {
		err := tx.query(b, func(values []driver.Value) error {
			tx.keep(c, values[0], values[1])
			return nil
		})
		if err == nil {
			tx.documents[c]++
		}
		return err
	})
}

// Update implements store.Engine.
func (c *collection) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	b := c.build("UPDATE ", c.table, " SET doc=").changed(changes)
	b.write(" WHERE n=(SELECT n FROM ", c.table, " WHERE ").where(f).write(" ORDER BY id LIMIT 1)")
	b.write(" RETURNING n").searched().write(",CAST(doc AS BLOB)")
	var doc []byte
	err := c.write(ctx, b, func(tx *transaction) error {
		if b.searches {
			if err := tx.index(); err != nil {
				return err
			}
		}
		err := tx.query(b, func(values []driver.Value) error {
			doc = values[2].([]byte)
			if c.searches(changes) {
				tx.keep(c, values[0], values[1])
			}
			return nil
		})
		if err == nil && doc == nil {
			return store.ErrNotFound
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.decode(doc, into)
}

// searches reports whether one of the changes may touch a field that is searched.
func (c *collection) searches(changes []store.Change) bool {
	return slices.ContainsFunc(changes, func(change store.Change) bool {
		return slices.ContainsFunc(c.spec.Search, func(path string) bool {
			return strings.HasPrefix(path+".", change.Field+".") || strings.HasPrefix(change.Field, path+".")
		})
	})
}

// index stores the words of row n.
func (c *collection) index(tx *transaction, n int64, text string) error {
	_, err := tx.exec("REPLACE INTO "+c.words+"(rowid,words) VALUES(?,?)", n, strings.Join(store.Words(text), " "))
	return err
}

func (c *collection) decode(doc []byte, into any) error {
	if err := json.Unmarshal(doc, into); err != nil {
		return fmt.Errorf("sqlite: a document of %q does not fit its type: %w", c.spec.Name, err)
	}
	return nil
}

// Delete implements store.Engine.
func (c *collection) Delete(ctx context.Context, f store.Filter) (n int64, err error) {
	b := c.build("DELETE FROM ", c.table, " WHERE ").where(f)
	err = c.write(ctx, b, func(tx *transaction) error {
		if err := tx.index(); err != nil {
			return err
		}
		n, err = tx.exec(b.String(), b.args...)
		tx.documents[c] -= n
		return err
	})
	return n, err
}

// write has the writer do it.
func (c *collection) write(ctx context.Context, b *builder, do func(*transaction) error) error {
	if err := cmp.Or(c.err, b.err); err != nil {
		return err
	}
	return c.db.writer.do(ctx, do)
}

// First implements store.Engine.
func (c *collection) First(ctx context.Context, f store.Filter, into any) error {
	found := false
	b := c.build("SELECT CAST(doc AS BLOB) FROM ", c.table, " WHERE ").where(f).write(" ORDER BY id LIMIT 1")
	err := c.read(ctx, b, func(row []driver.Value) error {
		found = true
		return c.decode(row[0].([]byte), into)
	})
	if err == nil && !found {
		return store.ErrNotFound
	}
	return err
}

// Count implements store.Engine.
func (c *collection) Count(ctx context.Context, f store.Filter) (n int64, err error) {
	b := c.build("SELECT count(*) FROM ", c.table, " WHERE ").where(f)
	switch f := f.(type) {
	case nil:
		b = c.build("SELECT documents FROM _collections WHERE name=").bind(c.spec.Name)
	case store.TextSearch:
		if match := c.match(f); match != "" { // each document has its row of words
			b = c.build("SELECT count(*) FROM ", c.words, " WHERE ", c.words, " MATCH ").bind(match)
		}
	}
	err = c.read(ctx, b, func(row []driver.Value) error {
		n = row[0].(int64)
		return nil
	})
	return n, err
}

func (c *collection) read(ctx context.Context, b *builder, row func([]driver.Value) error) error {
	if err := cmp.Or(c.err, b.err); err != nil {
		return err
	}
	return c.db.readers.use(ctx, func(conn *conn) error { return conn.query(ctx, b.String(), b.args, row) })
}

// List implements store.Engine.
func (c *collection) List(ctx context.Context, q store.Query, next func() any) error {
	parts, err := parts(q)
	if err := cmp.Or(c.err, err); err != nil {
		return err
	}
	return c.db.readers.use(ctx, func(conn *conn) error {
		common, err := c.common(ctx, conn, q)
		if err != nil {
			return err
		}
		if len(parts) == 1 {
			_, err := c.list(ctx, conn, q, parts[0], common, next)
			return err
		}
		return conn.snapshot(ctx, func() error {
			for _, part := range parts {
				rows, err := c.list(ctx, conn, q, part, common, next)
				if err != nil {
					return err
				}
				if q.Limit > 0 {
					if q.Limit -= rows; q.Limit == 0 {
						return nil
					}
				}
			}
			return nil
		})
	})
}

// list decodes the rows of a part and says how many there were.
func (c *collection) list(ctx context.Context, conn *conn, q store.Query, p part, common bool, next func() any) (rows int, err error) {
	b := c.page(q, p, common)
	if b.err != nil {
		return 0, b.err
	}
	wanted := func(name []byte) bool { return string(name) == "id" || slices.Contains(q.Fields, string(name)) }
	err = conn.query(ctx, b.String(), b.args, func(row []driver.Value) error {
		rows++
		doc := row[0].([]byte)
		if len(q.Fields) > 0 {
			doc = project(doc, wanted)
		}
		return c.decode(doc, next())
	})
	return rows, err
}

// page is the statement that reads a part of a list.
func (c *collection) page(q store.Query, p part, common bool) *builder {
	b := c.build("SELECT CAST(doc AS BLOB) FROM ", c.table, " WHERE ")
	b.common = common
	b.where(p.filter).orderBy(p.order)
	// A sum, as SQLite would plan the statement anew for the value of a parameter that stands alone here.
	return b.write(" LIMIT ").bind(int64(cmp.Or(q.Limit, -1))).write("+0 OFFSET ").bind(int64(q.Skip)).write("+0")
}

// manyFound is how many documents a search finds at least for common to be true.
const manyFound = 2000

// common reports whether a search finds so many documents that a page of them is sooner read off the index of its order
// than sorted out of all of them.
func (c *collection) common(ctx context.Context, conn *conn, q store.Query) (bool, error) {
	search, ok := required(q.Filter)
	match := c.match(search)
	if !ok || match == "" || q.Limit == 0 {
		return false, nil
	}
	b := c.build("SELECT count(*) FROM (SELECT 1 FROM ", c.words, " WHERE ", c.words, " MATCH ").bind(match)
	b.write(" LIMIT ", strconv.Itoa(manyFound), ")")
	var found int64
	err := conn.query(ctx, b.String(), b.args, func(row []driver.Value) error {
		found = row[0].(int64)
		return nil
	})
	return found == manyFound, err
}

// required is a search that every document of the filter meets, if there is one.
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
