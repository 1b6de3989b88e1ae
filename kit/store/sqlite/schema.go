package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	sqlite3 "modernc.org/sqlite/lib"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/textsearch"
)

// wordsVersion must be incremented if textsearch.Words changes, so that Prepare rebuilds the words of stored documents.
const wordsVersion = 3

func newCollection(db *DB, spec store.Spec) *collection {
	return &collection{
		db: db, spec: spec, table: quote(spec.Name), words: quote(spec.Name + ":words"), err: check(spec),
	}
}

// check fails if the Spec has an invalid name, field or index. Names that begin with _ are reserved for the engine.
func check(spec store.Spec) error {
	if !isName(strings.ReplaceAll(spec.Name, "-", "_")) || spec.Name[0] == '_' {
		return fmt.Errorf("store: %q is not a valid collection name", spec.Name)
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
				return fmt.Errorf("store: the collection %q declares the field %q, which is not a valid field name", spec.Name, field)
			}
		}
	}
	return nil
}

// The name of an index has the form COLLECTION:FIELDS, in which commas separate the fields. The name of a unique index has the
// form COLLECTION:FIELDS:unique.
const uniqueSuffix = ":unique"

// fieldsOf returns the fields in the name of an index. It returns nil for an index that the engine has not created.
func fieldsOf(index string) []string {
	_, fields, ok := strings.Cut(strings.TrimSuffix(index, uniqueSuffix), ":")
	if !ok {
		return nil
	}
	return strings.Split(fields, ",")
}

// indexes returns the statements that create the declared indexes, by name. A unique index does not end with the id, because the
// id would make all entries distinct. List needs entries ordered by id, so a second index that ends with the id is created for
// each unique index. A unique index omits documents that lack one of its fields, because absent values are not duplicates.
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

// create creates the table of documents, and the collection's row in _collections, if they are missing.
func (c *collection) create(tx *transaction) error {
	return tx.run("CREATE TABLE IF NOT EXISTS "+c.table+" (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, doc TEXT NOT NULL)",
		"INSERT INTO _collections VALUES('"+c.spec.Name+"',0,'') ON CONFLICT DO NOTHING")
}

// prepareIndexes creates the table of documents and its missing indexes, and drops indexes that are no longer declared or
// are declared differently.
func (c *collection) prepareIndexes(tx *transaction) error {
	if err := c.create(tx); err != nil {
		return err
	}
	wanted := c.indexes()
	var stale []string
	b := c.build("SELECT name,sql FROM sqlite_schema WHERE type='index' AND sql IS NOT NULL AND tbl_name=")
	b.bind(c.spec.Name)
	err := tx.query(b, func(row []driver.Value) error {
		name, statement := row[0].(string), row[1].(string)
		switch {
		case wanted[name] == statement:
			delete(wanted, name)
		case strings.HasPrefix(name, c.spec.Name+":"): // an index with another name was not created by the engine
			stale = append(stale, "DROP INDEX "+quote(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := tx.run(stale...); err != nil {
		return err
	}
	for name, statement := range wanted {
		if err := tx.run(statement); codeOf(err) == sqlite3.SQLITE_CONSTRAINT_UNIQUE {
			fields := fieldsOf(name)
			return fmt.Errorf("store: several documents of the collection %q have the same %s, which is declared unique; "+
				"change or remove all but one of them and start again. "+
				"To find them: SELECT %s,count(*) FROM %s GROUP BY %[3]s HAVING count(*)>1",
				c.spec.Name, strings.Join(fields, " and "), expressions(fields), c.table)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// prepareWords rebuilds the table of words if _collections says that the table was built for other fields or by another version
// of textsearch.Words.
func (c *collection) prepareWords(tx *transaction) error {
	wanted := ""
	if len(c.spec.Search) > 0 {
		wanted = fmt.Sprintf("%d:%s", wordsVersion, strings.Join(c.spec.Search, ","))
		// An fts5vocab table has no data; it only reads the table of words.
		if err := tx.run("CREATE VIRTUAL TABLE IF NOT EXISTS " + c.postings() + " USING fts5vocab(" + c.words + ", instance)"); err != nil {
			return err
		}
	}
	b := c.build("SELECT count(*) FROM _collections WHERE name=").bind(c.spec.Name).write(" AND searched=").bind(wanted)
	current, err := tx.conn.integer(tx.ctx, b)
	switch {
	case err != nil:
		return err
	case current > 0 && wanted == "":
		return nil
	case current > 0:
		return c.configureWords(tx)
	}
	if err := c.rebuildWords(tx); err != nil {
		return err
	}
	_, err = tx.exec("UPDATE _collections SET searched=? WHERE name=?", wanted, c.spec.Name)
	return err
}

// rebuildWords drops the table of words. If the collection has searched fields, it creates the table again and fills it.
func (c *collection) rebuildWords(tx *transaction) error {
	trigger := quote(c.spec.Name + ":delete")
	if err := tx.run("DROP TABLE IF EXISTS "+c.words, "DROP TRIGGER IF EXISTS "+trigger); err != nil {
		return err
	}
	if len(c.spec.Search) == 0 {
		return tx.run("DROP TABLE IF EXISTS " + c.postings())
	}
	// detail=none stores only the rowids of a word. The ascii tokenizer does not change the words: it treats all non-ASCII
	// characters as letters.
	err := tx.run("CREATE VIRTUAL TABLE "+c.words+" USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii')",
		"CREATE TRIGGER "+trigger+" AFTER DELETE ON "+c.table+" BEGIN DELETE FROM "+c.words+" WHERE rowid=old.n; END")
	if err != nil {
		return err
	}
	if err := c.configureWords(tx); err != nil {
		return err
	}
	return c.fillWords(tx)
}

// configureWords sets the options of FTS5 so that FTS5 does not merge segments automatically: some automatic merges would block
// all writes for 100 ms. See collection.merge.
func (c *collection) configureWords(tx *transaction) error {
	b := c.build("SELECT count(*) FROM ", quote(c.spec.Name+":words_config"), " WHERE k='automerge' AND v=0")
	if set, err := tx.conn.integer(tx.ctx, b); err != nil || set > 0 {
		return err
	}
	// The merge command merges the segments of a level when there are at least usermerge of them, or when at least deletemerge
	// percent of their entries are deleted. With the defaults (4 and 10), words would be merged twice as often, and searches
	// would not be faster. hashsize is the memory for the words of a transaction, in bytes. With the default of 1 MiB, fillWords
	// would make 16 times as many segments.
	option := "INSERT INTO " + c.words + "(" + c.words + ",rank) VALUES"
	return tx.run(option+"('automerge',0)", option+"('usermerge',8)", option+"('deletemerge',50)", option+"('hashsize',16777216)")
}

// rowText has the searched text of row n. intoWords replaces the text with its words, separated by spaces.
type rowText struct {
	n    int64
	text string
}

// fillWords stores the words of all documents. Other goroutines read the documents and split their texts into words.
func (c *collection) fillWords(tx *transaction) error {
	const ahead = 4 // number of batches that may wait to be stored
	queue := make(chan (<-chan []rowText), ahead)
	group, ctx := errgroup.WithContext(tx.ctx)
	group.Go(func() error {
		defer close(queue)
		return c.readTexts(ctx, queue)
	})
	group.Go(func() error {
		for batch := range queue {
			for _, t := range <-batch {
				if _, err := tx.exec("INSERT INTO "+c.words+"(rowid,words) VALUES(?,?)", t.n, t.text); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return tx.run("INSERT INTO " + c.words + "(" + c.words + ") VALUES('optimize')") // searches are faster with one segment
}

// readTexts sends the words of all committed documents in batches, in the order of the rows. Each batch is a channel that
// receives the words of the batch when they are ready.
func (c *collection) readTexts(ctx context.Context, queue chan<- (<-chan []rowText)) error {
	const batchSize, batchText = int64(256), 256 << 10 // documents in a batch; bytes of text after which a batch ends
	for last := int64(0); ; {
		var texts []rowText
		size := 0
		b := c.build("SELECT n").textColumn().write(" FROM ", c.table, " WHERE n>").bind(last).write(" ORDER BY n LIMIT ").bind(batchSize)
		err := c.db.readers.use(ctx, func(conn *conn) error {
			for row, err := range conn.rows(context.Background(), b.String(), b.args) {
				if err != nil {
					return err
				}
				last = row[0].(int64)
				texts = append(texts, rowText{last, row[1].(string)})
				if size += len(row[1].(string)); size > batchText {
					break
				}
			}
			return nil
		})
		if err != nil || texts == nil {
			return err
		}
		select {
		case queue <- intoWords(texts):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// intoWords starts a goroutine that replaces the texts with their words and sends them to the returned channel.
func intoWords(texts []rowText) <-chan []rowText {
	done := make(chan []rowText, 1)
	go func() {
		for i := range texts {
			texts[i].text = strings.Join(textsearch.Words(texts[i].text), " ")
		}
		done <- texts
	}()
	return done
}
