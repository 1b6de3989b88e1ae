package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"example.com/ginseng/kit/store"
)

// Load implements store.Engine. It stores all documents or none, in one transaction. The documents become durable with the next
// Prepare or another durable write.
func (c *collection) Load(ctx context.Context, docs []store.Document) error {
	if c.err != nil {
		return c.err
	}
	statements := make(chan *builder, len(docs))
	go func() { // encode documents while other documents are written
		defer close(statements)
		for _, doc := range docs {
			statements <- c.insert(store.IDOf(doc), doc)
		}
	}()
	defer func() {
		for range statements { // after an error, wait until the goroutine no longer uses docs
		}
	}()
	return c.db.writer.doAlone(ctx, false, func(tx *transaction) error {
		if err := c.create(tx); err != nil {
			return err
		}
		for b := range statements {
			if b.err != nil {
				return b.err
			}
			if _, err := tx.exec(b.String(), b.args...); err != nil {
				return err
			}
		}
		// If the searched column is empty, Prepare rebuilds the words of all documents.
		_, err := tx.exec("UPDATE _collections SET documents=documents+?,searched='' WHERE name=?", int64(len(docs)), c.spec.Name)
		if err != nil || !c.spec.Changes {
			return err
		}
		if err := prepareLog(tx); err != nil {
			return err
		}
		return tx.record(ctx, c, store.Reset, store.ID{}, nil, "")
	})
}

// Names implements store.DB. It omits the tables of SQLite and of the engine, whose names begin with sqlite_ or _, or have a
// colon.
func (db *DB) Names(ctx context.Context) (names []string, err error) {
	err = db.readers.use(ctx, func(c *conn) error {
		const query = `SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`
		return c.query(ctx, query, nil, func(row []driver.Value) error {
			if name := row[0].(string); name[0] != '_' && !strings.Contains(name, ":") {
				names = append(names, name)
			}
			return nil
		})
	})
	return names, err
}

// Drop implements store.DB.
func (db *DB) Drop(ctx context.Context, name string) error {
	c := newCollection(db, store.Spec{Name: name})
	if c.err != nil {
		return c.err
	}
	names, err := db.Names(ctx)
	if err != nil || !slices.Contains(names, name) {
		return err
	}
	return db.writer.doAlone(ctx, true, func(tx *transaction) error {
		return tx.run("DROP TABLE IF EXISTS "+c.postings(), "DROP TABLE IF EXISTS "+c.words, "DROP TABLE "+c.table,
			"DELETE FROM _collections WHERE name='"+name+"'")
	})
}
