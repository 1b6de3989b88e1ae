package sqlite

import (
	"database/sql/driver"
	"fmt"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"example.com/ginseng/kit/store"
)

// wordsVersion is raised with each change of store.Words, so that the words of stored documents are made anew.
const wordsVersion = 1

func newCollection(db *DB, spec store.Spec) *collection {
	return &collection{db: db, spec: spec, table: quote(spec.Name), words: quote(spec.Name + ":words"), err: check(spec)}
}

func quote(name string) string { return `"` + name + `"` }

// check says what is wrong with a Spec. Names that begin with _ are the engine's own.
func check(spec store.Spec) error {
	if !isName(strings.ReplaceAll(spec.Name, "-", "_")) || spec.Name[0] == '_' {
		return fmt.Errorf("store: %q is no name of a collection", spec.Name)
	}
	lists := [][]string{spec.Search}
	for _, index := range spec.Indexes {
		if len(index.Fields) == 0 {
			return fmt.Errorf("store: the collection %q declares an index without fields", spec.Name)
		}
		lists = append(lists, index.Fields)
	}
	for _, fields := range lists {
		for _, field := range fields {
			if !isPath(field) {
				return fmt.Errorf("store: the collection %q declares the field %q, which is no field name", spec.Name, field)
			}
		}
	}
	return nil
}

// The name of an index is the collection's, a colon, and the fields with commas between; ":unique" follows for the one
// that forbids duplicates.
const uniqueSuffix = ":unique"

// fieldsOf reads the fields from the name of an index; an index made by hand has none.
func fieldsOf(index string) []string {
	_, fields, ok := strings.Cut(strings.TrimSuffix(index, uniqueSuffix), ":")
	if !ok {
		return nil
	}
	return strings.Split(fields, ",")
}

// indexes are the statements that make the indexes of the collection, by name. A unique index is one that forbids and
// one that sorts: the id at its end, which puts equal and absent values in order, would make any value unique. The one
// that forbids leaves out documents that lack a field, lest SQLite take "absent" for a value that one document has.
func (c *collection) indexes() map[string]string {
	statements := make(map[string]string)
	for _, index := range c.spec.Indexes {
		name := c.spec.Name + ":" + strings.Join(index.Fields, ",")
		fields := expressions(index.Fields)
		statements[name] = "CREATE INDEX " + quote(name) + " ON " + c.table + "(" + fields + ",id)"
		if index.Unique {
			name += uniqueSuffix
			present := make([]string, len(index.Fields))
			for i, field := range index.Fields {
				present[i] = expression(field) + " IS NOT NULL"
			}
			statements[name] = "CREATE UNIQUE INDEX " + quote(name) + " ON " + c.table + "(" + fields + ") WHERE " +
				strings.Join(present, " AND ")
		}
	}
	return statements
}

// create makes the table.
func (c *collection) create(tx *transaction) error {
	for _, text := range []string{
		"CREATE TABLE IF NOT EXISTS " + c.table + " (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, doc TEXT NOT NULL)",
		"INSERT INTO _collections VALUES('" + c.spec.Name + "',0,'') ON CONFLICT DO NOTHING",
	} {
		if err := tx.conn.run(tx.ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes what is missing of the collection.
func (c *collection) prepare(tx *transaction) error {
	if err := c.create(tx); err != nil {
		return err
	}
	if err := c.prepareIndexes(tx); err != nil {
		return err
	}
	return c.prepareWords(tx)
}

func (c *collection) prepareIndexes(tx *transaction) error {
	wanted := c.indexes()
	var stale []string
	b := c.build("SELECT name,sql FROM sqlite_schema WHERE type='index' AND sql IS NOT NULL AND tbl_name=")
	b.bind(c.spec.Name)
	err := tx.query(b, func(row []driver.Value) error {
		name, text := row[0].(string), row[1].(string)
		switch {
		case wanted[name] == text:
			delete(wanted, name)
		case strings.HasPrefix(name, c.spec.Name+":"): // an index that a person made stays
			stale = append(stale, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range stale {
		if err := tx.conn.run(tx.ctx, "DROP INDEX "+quote(name)); err != nil {
			return err
		}
	}
	for name, text := range wanted {
		if err := tx.conn.run(tx.ctx, text); codeOf(err) == sqlite3.SQLITE_CONSTRAINT_UNIQUE {
			fields := fieldsOf(name)
			return fmt.Errorf("store: several documents of the collection %q have the same %s, which is declared unique; "+
				"change or remove all but one of them and start again. "+
				"They are found by: SELECT %s,count(*) FROM %s GROUP BY %[3]s HAVING count(*)>1",
				c.spec.Name, strings.Join(fields, " and "), expressions(fields), c.table)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// prepareWords makes the table of words anew if other fields are searched than those it was made for.
func (c *collection) prepareWords(tx *transaction) error {
	wanted := fmt.Sprintf("%d:%s", wordsVersion, strings.Join(c.spec.Search, ","))
	if len(c.spec.Search) == 0 {
		wanted = ""
	}
	if wanted != "" { // which keeps nothing itself
		create := "CREATE VIRTUAL TABLE IF NOT EXISTS " + c.postings() + " USING fts5vocab(" + c.words + ", instance)"
		if err := tx.conn.run(tx.ctx, create); err != nil {
			return err
		}
	}
	var present string
	b := c.build("SELECT searched FROM _collections WHERE name=").bind(c.spec.Name)
	err := tx.query(b, func(row []driver.Value) error {
		present = row[0].(string)
		return nil
	})
	if err != nil || present == wanted {
		return err
	}
	statements := []string{"DROP TABLE IF EXISTS " + c.words, "DROP TRIGGER IF EXISTS " + quote(c.spec.Name+":delete")}
	if wanted != "" {
		statements = append(statements,
			// Only rowids are kept for a word, and the tokenizer changes none: all beyond ASCII is a letter to it.
			"CREATE VIRTUAL TABLE "+c.words+
				" USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii')",
			// Of FTS5's 4, each word is merged twice as often, in steps that all writes wait for; searches are no faster.
			"INSERT INTO "+c.words+"("+c.words+",rank) VALUES('automerge',8)",
			"CREATE TRIGGER "+quote(c.spec.Name+":delete")+" AFTER DELETE ON "+c.table+
				" BEGIN DELETE FROM "+c.words+" WHERE rowid=old.n; END")
	} else {
		statements = append(statements, "DROP TABLE IF EXISTS "+c.postings())
	}
	for _, text := range statements {
		if err := tx.conn.run(tx.ctx, text); err != nil {
			return err
		}
	}
	if wanted != "" {
		if err := c.fillWords(tx); err != nil {
			return err
		}
	}
	_, err = tx.exec("UPDATE _collections SET searched=? WHERE name=?", wanted, c.spec.Name)
	return err
}

// postings is the table that shows each word of each document in the table of words, in the order of the words.
func (c *collection) postings() string { return quote(c.spec.Name + ":postings") }

// fillWords keeps the words of all documents. They are made on other processors than SQLite's, some documents ahead.
func (c *collection) fillWords(tx *transaction) error {
	const together, ahead = 256, 4
	var texts []rowText
	var queue []<-chan []rowText
	keep := func(left int) error {
		for ; len(queue) > left; queue = queue[1:] {
			for _, t := range <-queue[0] {
				if _, err := tx.exec("INSERT INTO "+c.words+"(rowid,words) VALUES(?,?)", t.n, t.text); err != nil {
					return err
				}
			}
		}
		return nil
	}
	b := c.build("SELECT n").searched().write(" FROM ", c.table)
	err := tx.query(b, func(row []driver.Value) error {
		if texts = append(texts, rowText{row[0].(int64), row[1].(string)}); len(texts) < together {
			return nil
		}
		queue, texts = append(queue, intoWords(texts)), nil
		return keep(ahead)
	})
	if err != nil {
		return err
	}
	queue = append(queue, intoWords(texts))
	return keep(0)
}

// rowText is the searched text of row n, and then its words.
type rowText struct {
	n    int64
	text string
}

// intoWords has the texts replaced by their words.
func intoWords(texts []rowText) <-chan []rowText {
	done := make(chan []rowText, 1)
	go func() {
		for i := range texts {
			texts[i].text = strings.Join(store.Words(texts[i].text), " ")
		}
		done <- texts
	}()
	return done
}
