package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
)

// logSchema creates the log of changes. An entry is written in the transaction of its change. SQLite sets n to the highest n
// plus 1, so there are no gaps. The newest entry is never deleted, so no n is used twice. SQLite appends n to each index.
const logSchema = `
	CREATE TABLE IF NOT EXISTS _changes (
		n INTEGER PRIMARY KEY, change BLOB NOT NULL, collection TEXT NOT NULL, record BLOB NOT NULL, type TEXT NOT NULL,
		author BLOB, apikey BLOB, request TEXT NOT NULL, fields TEXT NOT NULL, scope TEXT NOT NULL, at INTEGER NOT NULL
	);
	CREATE INDEX IF NOT EXISTS _changes_collection ON _changes(collection);
	CREATE INDEX IF NOT EXISTS _changes_record ON _changes(record);
	CREATE INDEX IF NOT EXISTS _changes_author ON _changes(author) WHERE author IS NOT NULL`

// entryColumns are the columns of the log in the order that entryOf expects.
const entryColumns = "n,change,collection,record,type,author,apikey,request,fields,scope,at"

// prepareLog creates the log if it is missing, with a first entry, so that even a log without changes has a position.
func prepareLog(tx *transaction) error {
	if err := tx.run(logSchema); err != nil {
		return err
	}
	entries, err := tx.conn.integer(tx.ctx, new(collection).build("SELECT count(*) FROM (SELECT 1 FROM _changes LIMIT 1)"))
	if err != nil || entries > 0 {
		return err
	}
	return tx.addEntry("", store.Reset, store.ID{}, store.Author{}, nil, "")
}

// scope writes a comma and a column for transaction.record. The column has the values of the fields in Spec.Scope as a JSON
// object.
func (b *builder) scope() *builder {
	if len(b.c.spec.Scope) == 0 {
		return b.write(",''")
	}
	separator := ",json_object('"
	for _, field := range b.c.spec.Scope {
		b.write(separator, field, "',").field(field)
		separator = ",'"
	}
	return b.write(")")
}

// record adds an entry for a change to the log, if the log records the change. scope is the column that builder.scope writes.
func (tx *transaction) record(ctx context.Context, c *collection, kind store.ChangeType, id store.ID, fields []string, scope driver.Value) error {
	if !c.spec.IsLogged(ctx) {
		return nil
	}
	if err := tx.addEntry(c.spec.Name, kind, id, store.AuthorOf(ctx), fields, scope); err != nil {
		return tx.fail(err) // the transaction already has the change, so the transaction cannot be committed
	}
	return nil
}

func (tx *transaction) addEntry(collection string, kind store.ChangeType, id store.ID, author store.Author, fields []string, scope driver.Value) error {
	change := store.NewID()
	const insert = "INSERT INTO _changes(change,collection,record,type,author,apikey,request,fields,scope,at) VALUES(?,?,?,?,?,?,?,?,?,?)"
	result, err := tx.conn.exec(tx.ctx, insert, change[:], collection, id[:], string(kind), blob(author.By), blob(author.Key),
		author.RequestID, strings.Join(fields, ","), scope, time.Now().UnixMilli())
	if err != nil {
		return err
	}
	if tx.logged == nil {
		tx.logged = make(map[string]int64)
	}
	tx.logged[collection], err = result.LastInsertId()
	return err
}

// blob returns the bytes of an ID; nil if id is nil.
func blob(id *store.ID) any {
	if id == nil {
		return nil
	}
	return id[:]
}

// notify wakes the callers of Log.Wait that are waiting for the entries of the transaction. It is called after the commit.
func (tx *transaction) notify() {
	for collection, n := range tx.logged {
		tx.log.Notify(collection, n)
	}
}

// Reset implements store.Engine.
func (c *collection) Reset(ctx context.Context) error {
	if c.err != nil || !c.spec.Changes {
		return c.err
	}
	return c.db.writer.doAlone(ctx, true, func(tx *transaction) error {
		return tx.record(ctx, c, store.Reset, store.ID{}, nil, "")
	})
}

// changeLog implements store.Log.
type changeLog struct{ db *DB }

// Log implements store.DB.
func (db *DB) Log() store.Log { return changeLog{db} }

// Last implements store.Log.
func (l changeLog) Last(ctx context.Context) (p store.Position, err error) {
	err = l.db.byID.use(ctx, func(c *conn) error {
		p, err = c.lastPosition()
		return err
	})
	return p, err
}

func (c *conn) lastPosition() (p store.Position, err error) {
	err = c.query(context.Background(), "SELECT n,change FROM _changes ORDER BY n DESC LIMIT 1", nil, func(row []driver.Value) error {
		p = store.Position{Number: row[0].(int64), ChangeID: idFrom(row[1])}
		return nil
	})
	return p, err
}

// idFrom returns the ID in a column; zero for NULL.
func idFrom(column driver.Value) (id store.ID) {
	data, _ := column.([]byte)
	copy(id[:], data)
	return id
}

// Read implements store.Log. It reads one snapshot.
func (l changeLog) Read(ctx context.Context, q store.LogQuery) (entries []store.Entry, next store.Position, err error) {
	err = l.db.readers.use(ctx, func(c *conn) error {
		return c.snapshot(func() error {
			entries, next, err = c.readLog(q)
			return err
		})
	})
	return entries, next, err
}

func (c *conn) readLog(q store.LogQuery) (entries []store.Entry, next store.Position, err error) {
	ctx, known := context.Background(), store.ID{}
	err = c.query(ctx, "SELECT change FROM _changes WHERE n=?", []any{q.After.Number}, func(row []driver.Value) error {
		known = idFrom(row[0])
		return nil
	})
	if err == nil && (known.IsZero() || known != q.After.ChangeID) {
		err = store.ErrPosition
	}
	if err != nil {
		return nil, next, err
	}
	query, args := "SELECT "+entryColumns+" FROM _changes WHERE n>?", []any{q.After.Number}
	if q.Collection != "" {
		query, args = query+" AND collection=?", append(args, q.Collection)
	}
	err = c.query(ctx, query+" ORDER BY n LIMIT ?", append(args, int64(q.Limit)), func(row []driver.Value) error {
		entry, err := entryOf(row)
		entries = append(entries, entry)
		return err
	})
	switch {
	case err != nil:
		return nil, next, err
	case len(entries) == q.Limit:
		return entries, entries[len(entries)-1].Position, nil
	}
	next, err = c.lastPosition()
	return entries, next, err
}

// Newest implements store.Log.
func (l changeLog) Newest(ctx context.Context, f store.LogFilter) (entries []store.Entry, err error) {
	if !l.db.isLogged() {
		return nil, nil
	}
	query, args := "SELECT "+entryColumns+" FROM _changes WHERE 1", []any(nil)
	where := func(given bool, condition string, value any) {
		if given {
			query, args = query+" AND "+condition, append(args, value)
		}
	}
	where(f.Collection != "", "collection=?", f.Collection)
	where(!f.RecordID.IsZero(), "record=?", f.RecordID[:])
	where(!f.By.IsZero(), "author=?", f.By[:])
	where(f.Before > 0, "n<?", f.Before)
	if f.Since != nil {
		where(true, "at>=?", f.Since.UnixMilli())
	}
	if f.Until != nil {
		where(true, "at<?", f.Until.UnixMilli())
	}
	err = l.db.readers.use(ctx, func(c *conn) error {
		return c.query(ctx, query+" ORDER BY n DESC LIMIT ?", append(args, int64(f.Limit)), func(row []driver.Value) error {
			entry, err := entryOf(row)
			entries = append(entries, entry)
			return err
		})
	})
	return entries, err
}

// isLogged reports whether at least one collection has Spec.Changes.
func (db *DB) isLogged() bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	return slices.ContainsFunc(db.collections, func(c *collection) bool { return c.spec.Changes })
}

// entryOf returns the entry of a row with entryColumns.
func entryOf(row []driver.Value) (e store.Entry, err error) {
	e = store.Entry{
		Position:   store.Position{Number: row[0].(int64), ChangeID: idFrom(row[1])},
		Collection: row[2].(string), RecordID: idFrom(row[3]), Type: store.ChangeType(row[4].(string)),
		Author: store.Author{By: idOrNil(row[5]), Key: idOrNil(row[6]), RequestID: row[7].(string)},
		At:     store.At(time.UnixMilli(row[10].(int64))),
	}
	if fields := row[8].(string); fields != "" {
		e.Fields = strings.Split(fields, ",")
	}
	if scope := row[9].(string); scope != "" {
		var values map[string]*store.ID
		err = json.Unmarshal([]byte(scope), &values)
		e.Scope = make(map[string]store.ID, len(values))
		for name, id := range values {
			if id != nil {
				e.Scope[name] = *id
			}
		}
	}
	return e, err
}

func idOrNil(column driver.Value) *store.ID {
	if column == nil {
		return nil
	}
	return new(idFrom(column))
}

// Wait implements store.Log.
func (l changeLog) Wait(ctx context.Context, collection string, after store.Position) error {
	return l.db.writer.log.Wait(ctx, collection, after)
}

// Sweep implements store.Log. It stops at the first entry that must be kept. Therefore the numbers of the remaining entries have
// no gaps, even if the clock was set back.
func (l changeLog) Sweep(ctx context.Context, before store.Time) (n int64, err error) {
	if !l.db.isLogged() {
		return 0, nil
	}
	const first = "(SELECT n,at FROM _changes ORDER BY n LIMIT ?)"
	const kept = "SELECT n FROM " + first + " WHERE at>=? ORDER BY n LIMIT 1"
	const query = "DELETE FROM _changes WHERE n IN (SELECT n FROM " + first + ") AND n<(SELECT max(n) FROM _changes) AND n<coalesce((" + kept + "),9e18)"
	err = l.db.writer.do(ctx, func(tx *transaction) error {
		n, err = tx.exec(query, int64(engine.SweepBatch), int64(engine.SweepBatch), before.UnixMilli())
		return err
	})
	return n, err
}
