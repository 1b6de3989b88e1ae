package mongo

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
)

// The log of changes uses no transactions, because some servers do not support them. A change is written in two steps:
//
//  1. The write that makes the change also appends an entry to the pending entries, a list in the document. A deletion replaces
//     the document with a tombstone, which has only the id, the version and the pending entries. Queries, updates and counts
//     ignore tombstones. Unique indexes, except the index of _id, ignore tombstones too.
//  2. A mover inserts the pending entries into the log with the next numbers. Then it removes the pending entries from the
//     document, or removes the tombstone.
//
// Every instance has a mover. The movers need no lock: if two movers insert the same number, one of them gets a duplicate error
// and reads the newest number again. A unique index rejects an entry that is already in the log. A mover can therefore repeat
// step 2 after an interruption.
const (
	changesKey = "_changes" // the pending entries, oldest first; also the name of the log
	pendingKey = "_pending" // the change ID of the newest pending entry; absent if there are no pending entries
	deletedKey = "_deleted" // true in a tombstone

	maxPending = 100 // if a document has this many pending entries, the caller that changes the document moves them
	moveBatch  = 50  // maximum number of documents whose entries are moved together

	moveInterval  = 5 * time.Second        // how often a mover looks for pending entries of other instances
	watchInterval = 100 * time.Millisecond // how often watch looks for entries that other instances have moved
	// Sweep keeps each entry for sweepMargin longer than requested. Otherwise, a mover that pauses could reinsert an entry that
	// Sweep has deleted.
	sweepMargin = time.Hour
)

// pending is a log entry that is stored in the changed document until a mover moves it.
type pending struct {
	ChangeID  store.ID            `bson:"changeId"`
	Type      store.ChangeType    `bson:"type"`
	By        *store.ID           `bson:"by,omitempty"`
	Key       *store.ID           `bson:"key,omitempty"`
	RequestID string              `bson:"requestId,omitempty"`
	Fields    []string            `bson:"fields,omitempty"`
	Scope     map[string]store.ID `bson:"scope,omitempty"` // for a deletion, set by buryOne; for other changes, set by the mover
	At        time.Time           `bson:"at"`
}

// logEntry is a document in the log's collection.
type logEntry struct {
	Number     int64    `bson:"_id"`
	Collection string   `bson:"collection"`
	RecordID   store.ID `bson:"recordId"`
	Change     pending  `bson:",inline"`
}

func (e logEntry) position() store.Position {
	return store.Position{Number: e.Number, ChangeID: e.Change.ChangeID}
}

func (e logEntry) entry() store.Entry {
	p := e.Change
	return store.Entry{
		Position: e.position(), Collection: e.Collection, RecordID: e.RecordID, Type: p.Type,
		Author: store.Author{By: p.By, Key: p.Key, RequestID: p.RequestID}, Fields: p.Fields, Scope: p.Scope, At: store.At(p.At),
	}
}

func newPending(ctx context.Context, kind store.ChangeType, fields []string) pending {
	author := store.AuthorOf(ctx)
	return pending{
		ChangeID: store.NewID(), Type: kind, By: author.By, Key: author.Key, RequestID: author.RequestID, Fields: fields, At: time.Now(),
	}
}

// inserted returns the fields that store the pending entry in a new document.
func (p pending) inserted() bson.D {
	return bson.D{{Key: changesKey, Value: []pending{p}}, {Key: pendingKey, Value: p.ChangeID}}
}

// appended returns a copy of update that also appends the pending entry.
func (p pending) appended(update bson.D) bson.D {
	set, _ := lookup(update, "$set").(bson.D)
	rest := slices.DeleteFunc(slices.Clone(update), func(e bson.E) bool { return e.Key == "$set" })
	return append(rest, bson.E{Key: "$push", Value: bson.D{{Key: changesKey, Value: p}}},
		bson.E{Key: "$set", Value: append(slices.Clip(set), bson.E{Key: pendingKey, Value: p.ChangeID})})
}

// existing translates f to a filter of the driver. If f could select a tombstone, the result excludes tombstones.
func (c *collection) existing(f store.Filter) (bson.D, error) {
	filter, err := c.filter(f)
	if err != nil || !c.changes || !canSelectTombstone(f) {
		return filter, err
	}
	return notDeleted(filter), nil
}

// notDeleted returns filter with the additional condition that the document is not a tombstone.
func notDeleted(filter bson.D) bson.D {
	return append(slices.Clip(filter), where(deletedKey, "$exists", false)...)
}

// canSelectTombstone reports whether f may select a document whose only fields are id and version.
func canSelectTombstone(f store.Filter) bool {
	switch f := f.(type) {
	case nil:
		return true
	case store.Comparison:
		isNil := store.IsNil(f.Value)
		return f.Field == "id" || f.Field == "version" || f.Op == store.OpEq && isNil || f.Op == store.OpNe && !isNil
	case store.Membership:
		return f.Field == "id" || f.Field == "version" || slices.ContainsFunc(f.Values, store.IsNil)
	case store.Connective:
		if f.Op == store.OpOr {
			return slices.ContainsFunc(f.Filters, canSelectTombstone)
		}
		return !slices.ContainsFunc(f.Filters, func(f store.Filter) bool { return !canSelectTombstone(f) })
	}
	return false
}

// countExisting counts the documents that are not tombstones. The result can be an estimate; see count.
func (c *collection) countExisting(ctx context.Context) (n int64, err error) {
	tombstones := where(deletedKey, "$exists", true)
	tombstones = append(tombstones, where(pendingKey, "$exists", true)...) // the query uses the index of _pending
	if c.hasExactCount.Load() && transactionOf(ctx, c.client) == nil {
		if n, err = c.coll.CountDocuments(ctx, tombstones, options.Count().SetLimit(1)); err == nil && n == 0 {
			return c.count(ctx, bson.D{}, store.CountAll)
		}
	}
	if err == nil {
		n, err = c.count(ctx, notDeleted(nil), maxCounted+1)
	}
	if err != nil || n <= maxCounted {
		return n, translate(err, nil)
	}
	if transactionOf(ctx, c.client) != nil {
		return c.count(ctx, notDeleted(nil), store.CountAll)
	}
	deleted, err := c.coll.CountDocuments(ctx, tombstones)
	if err != nil {
		return 0, translate(err, nil)
	}
	n, err = c.count(ctx, bson.D{}, store.CountAll)
	return max(n-deleted, maxCounted+1), err
}

// bury turns the documents that f selects into tombstones, and returns their number.
func (c *collection) bury(ctx context.Context, f store.Filter) (n int64, err error) {
	defer c.log.wake()
	filter, err := c.existing(f)
	if err != nil {
		return 0, err
	}
	if selectsID(f) {
		buried, err := c.buryOne(ctx, filter)
		if buried {
			n = 1
		}
		return n, translate(err, nil)
	}
	var found []struct {
		ID any `bson:"_id"`
	}
	cursor, err := c.coll.Find(ctx, filter, options.Find().SetProjection(bson.D{{Key: idKey, Value: 1}}))
	if err == nil {
		err = cursor.All(ctx, &found)
	}
	for _, doc := range found {
		var buried bool
		if err == nil {
			buried, err = c.buryOne(ctx, slices.Concat(bson.D{{Key: idKey, Value: doc.ID}}, filter))
		}
		if buried {
			n++
		}
	}
	return n, translate(err, nil)
}

// buryOne turns a document that the filter selects into a tombstone. If another caller changes the document in the meantime,
// buryOne tries again. It returns false if the filter selects no document.
func (c *collection) buryOne(ctx context.Context, filter bson.D) (bool, error) {
	for {
		doc, err := c.coll.FindOne(ctx, filter).Raw()
		if err != nil {
			return false, ignoreMissing(err)
		}
		var read struct {
			ID      any       `bson:"_id"`
			Version *int64    `bson:"version"`
			Changes []pending `bson:"_changes"`
		}
		if err := bson.Unmarshal(doc, &read); err != nil {
			return false, err
		}
		deleted, version := newPending(ctx, store.Deleted, nil), int64(0)
		deleted.Scope = c.scopeOf(doc)
		if read.Version != nil {
			version = *read.Version
		}
		unchanged := notDeleted(bson.D{{Key: idKey, Value: read.ID}, {Key: "version", Value: read.Version}})
		result, err := c.coll.ReplaceOne(ctx, unchanged, bson.D{
			{Key: "version", Value: version + 1}, {Key: changesKey, Value: append(read.Changes, deleted)},
			{Key: pendingKey, Value: deleted.ChangeID}, {Key: deletedKey, Value: true},
		})
		if err != nil || result.MatchedCount > 0 {
			return err == nil, err
		}
	}
}

// scopeOf returns the document's values of the fields in Spec.Scope.
func (c *collection) scopeOf(doc bson.Raw) map[string]store.ID {
	scope := make(map[string]store.ID)
	for _, field := range c.spec.Scope {
		if id, ok := doc.Lookup(path(field)).ObjectIDOK(); ok {
			scope[field] = id
		}
	}
	return scope
}

// removeTombstone moves the entries of the tombstone with the ID, and removes the tombstone. It reports whether the ID is free
// afterwards. In an Atomic, or in a collection without Spec.Changes, removeTombstone does nothing and returns false.
func (c *collection) removeTombstone(ctx context.Context, id store.ID) bool {
	if !c.changes || transactionOf(ctx, c.client) != nil {
		return false
	}
	tombstone := append(bson.D{{Key: idKey, Value: id}}, where(deletedKey, "$exists", true)...)
	moved, err := c.move(ctx, tombstone)
	if err != nil || moved > 0 {
		return err == nil
	}
	n, err := c.coll.CountDocuments(ctx, bson.D{{Key: idKey, Value: id}}, options.Count().SetLimit(1))
	return err == nil && n == 0
}

// moveIfMany wakes the mover after a change of doc. If doc has at least maxPending pending entries, the movers are too slow or
// stopped. In this case moveIfMany moves the entries, unless ctx belongs to an Atomic. It ignores errors, because the change is
// already stored.
func (c *collection) moveIfMany(ctx context.Context, doc bson.Raw) {
	if !c.changes {
		return
	}
	c.log.wake()
	list, ok := doc.Lookup(changesKey).ArrayOK()
	if !ok || transactionOf(ctx, c.client) != nil {
		return
	}
	if values, err := list.Values(); err == nil && len(values) >= maxPending {
		_, _ = c.move(context.WithoutCancel(ctx), bson.D{{Key: idKey, Value: doc.Lookup(idKey)}})
	}
}

// move moves the pending entries of up to moveBatch documents that the filter selects, and returns the number of these
// documents.
func (c *collection) move(ctx context.Context, filter bson.D) (int, error) {
	fields := bson.D{{Key: changesKey, Value: 1}, {Key: pendingKey, Value: 1}, {Key: deletedKey, Value: 1}}
	for _, field := range c.spec.Scope {
		fields = append(fields, bson.E{Key: path(field), Value: 1})
	}
	oldest := options.Find().SetSort(bson.D{{Key: pendingKey, Value: 1}}).SetLimit(moveBatch).SetProjection(fields)
	cursor, err := c.coll.Find(ctx, append(slices.Clip(filter), where(pendingKey, "$exists", true)...), oldest)
	if err != nil {
		return 0, translate(err, nil)
	}
	var docs []bson.Raw
	if err := cursor.All(ctx, &docs); err != nil {
		return 0, translate(err, nil)
	}
	var entries []logEntry
	for _, doc := range docs {
		of, err := c.entriesOf(doc)
		if err != nil {
			return 0, err
		}
		entries = append(entries, of...)
	}
	if err := c.log.append(ctx, entries); err != nil {
		return 0, err
	}
	for _, doc := range docs {
		if err := c.clear(ctx, doc); err != nil {
			return 0, translate(err, nil)
		}
	}
	return len(docs), nil
}

// entriesOf returns the log entries for the pending entries of a document.
func (c *collection) entriesOf(doc bson.Raw) (entries []logEntry, err error) {
	var read struct {
		ID      store.ID  `bson:"_id"`
		Changes []pending `bson:"_changes"`
	}
	if err := bson.Unmarshal(doc, &read); err != nil {
		return nil, err
	}
	scope := c.scopeOf(doc)
	if n := len(read.Changes); n > 0 && read.Changes[n-1].Type == store.Deleted {
		scope = read.Changes[n-1].Scope
	}
	for _, p := range read.Changes {
		p.Scope = scope
		entries = append(entries, logEntry{Collection: c.spec.Name, RecordID: read.ID, Change: p})
	}
	return entries, nil
}

// clear removes the moved entries from a document, or deletes a tombstone. doc is the document before the move. Newer pending
// entries remain in the document.
func (c *collection) clear(ctx context.Context, doc bson.Raw) error {
	same := bson.D{{Key: idKey, Value: doc.Lookup(idKey)}, {Key: pendingKey, Value: doc.Lookup(pendingKey)}}
	if _, err := doc.LookupErr(deletedKey); err == nil {
		_, err := c.coll.DeleteOne(ctx, append(same, where(deletedKey, "$exists", true)...))
		return err
	}
	none := bson.D{{Key: changesKey, Value: ""}, {Key: pendingKey, Value: ""}}
	result, err := c.coll.UpdateOne(ctx, same, bson.D{{Key: "$unset", Value: none}})
	if err != nil || result.MatchedCount > 0 {
		return err
	}
	moved := bson.D{{Key: changesKey, Value: doc.Lookup(changesKey)}}
	_, err = c.coll.UpdateOne(ctx, same[:1], bson.D{{Key: "$pullAll", Value: moved}})
	return err
}

// changeLog is the log of changes of a database. It implements store.Log.
type changeLog struct {
	coll   *driver.Collection
	signal engine.LogSignal
	woken  chan struct{} // buffered, so that a signal is kept while the mover is busy

	mu          sync.Mutex
	collections []*collection // collections with Spec.Changes
	stop        context.CancelFunc
	running     sync.WaitGroup
}

func newChangeLog(db *driver.Database) *changeLog {
	return &changeLog{coll: db.Collection(changesKey), woken: make(chan struct{}, 1)}
}

// Log implements store.DB.
func (db *DB) Log() store.Log { return db.log }

// prepare creates the indexes of the log. If the log is empty, prepare inserts a first entry, so that every log has a position.
func (l *changeLog) prepare(ctx context.Context) error {
	present, err := l.coll.Indexes().ListSpecifications(ctx)
	if err != nil {
		return translate(err, nil)
	}
	for _, name := range []string{"changeId", "collection", "recordId", "by"} {
		keys := bson.D{{Key: name, Value: 1}}
		if name != "changeId" {
			keys = append(keys, bson.E{Key: idKey, Value: 1})
		}
		if slices.ContainsFunc(present, func(spec driver.IndexSpecification) bool { return spec.Name == name }) {
			continue
		}
		model := driver.IndexModel{Keys: keys, Options: options.Index().SetName(name).SetUnique(name == "changeId")}
		err := retryDeadlock(ctx, func() error {
			_, err := l.coll.Indexes().CreateOne(ctx, model)
			return err
		})
		if err != nil {
			return translate(err, nil)
		}
	}
	last, err := l.last(ctx)
	if err != nil || last.Number > 0 {
		return translate(err, nil)
	}
	first := logEntry{Number: 1, Change: newPending(ctx, store.Reset, nil)}
	if _, err := l.coll.InsertOne(ctx, first); !isDuplicate(err) { // duplicate: another instance has inserted the entry
		return translate(err, nil)
	}
	return nil
}

// start starts the mover, and the goroutine that runs watch. If they are already running, start only replaces the collections.
func (l *changeLog) start(collections []*collection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.collections = collections
	if l.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.running.Go(func() { l.moveAll(ctx) })
	l.running.Go(func() { l.watch(ctx) })
	l.wake()
}

// close stops the goroutines that start has started. The remaining entries stay in their documents until another mover moves
// them.
func (l *changeLog) close() {
	l.mu.Lock()
	stop := l.stop
	l.mu.Unlock()
	if stop != nil {
		stop()
		l.running.Wait()
	}
}

// wake makes the mover look for pending entries.
func (l *changeLog) wake() {
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

// moveAll moves the pending entries of all collections until ctx ends.
func (l *changeLog) moveAll(ctx context.Context) {
	ticker := time.NewTicker(moveInterval)
	defer ticker.Stop()
	for {
		select {
		case <-l.woken:
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		l.mu.Lock()
		collections := slices.Clone(l.collections)
		l.mu.Unlock()
		for _, c := range collections {
			for moved := moveBatch; moved == moveBatch; {
				var err error
				moved, err = c.move(ctx, nil)
				if err != nil && ctx.Err() == nil {
					slog.Warn("cannot move pending entries to the log of changes; trying again", "collection", c.spec.Name, "in", moveInterval, "error", err)
				}
			}
		}
	}
}

// watch looks for entries that other instances have moved, and wakes the callers of Wait.
func (l *changeLog) watch(ctx context.Context) {
	const margin, batch = 1000, 1000 // numbers of entries
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	known, watched := int64(0), false
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		from, waiting := l.signal.Waiting()
		if waiting && !watched {
			known = max(known, from-margin) // later callers may wait for entries before from
		}
		if watched = waiting; !waiting {
			continue
		}
		entries, err := l.find(ctx, bson.D{}, known, batch)
		if err != nil {
			continue // try again at the next tick
		}
		for _, e := range entries {
			known = e.Number
			l.signal.Notify(e.Collection, e.Number)
		}
	}
}

func (l *changeLog) reset(ctx context.Context, collection string) error {
	return l.append(ctx, []logEntry{{Collection: collection, Change: newPending(ctx, store.Reset, nil)}})
}

// append inserts the entries that the log does not have yet, in order.
func (l *changeLog) append(ctx context.Context, entries []logEntry) error {
	const batch = 100 // FerretDB 1 splits a larger insert, and continues after a part with a duplicate
	for len(entries) > 0 {
		some := entries[:min(len(entries), batch)]
		last, err := l.last(ctx)
		if err != nil {
			return translate(err, nil)
		}
		docs := make([]any, len(some))
		for i := range some {
			some[i].Number = last.Number + 1 + int64(i)
			docs[i] = some[i]
		}
		_, err = l.coll.InsertMany(ctx, docs, options.InsertMany().SetOrdered(true))
		switch {
		case err == nil:
			for _, e := range some {
				l.signal.Notify(e.Collection, e.Number)
			}
			entries = entries[len(some):]
		case !isDuplicate(err):
			return translate(err, nil)
		default: // a duplicate number or change ID: another mover has inserted entries
			if entries, err = l.missing(ctx, entries); err != nil {
				return translate(err, nil)
			}
		}
	}
	return nil
}

// missing returns the entries that are not in the log.
func (l *changeLog) missing(ctx context.Context, entries []logEntry) ([]logEntry, error) {
	ids := make([]store.ID, len(entries))
	for i, e := range entries {
		ids[i] = e.Change.ChangeID
	}
	cursor, err := l.coll.Find(ctx, where("changeId", "$in", ids), options.Find().SetProjection(bson.D{{Key: "changeId", Value: 1}}))
	if err != nil {
		return nil, err
	}
	var found []logEntry
	err = cursor.All(ctx, &found)
	return slices.DeleteFunc(slices.Clone(entries), func(e logEntry) bool {
		return slices.ContainsFunc(found, func(f logEntry) bool { return f.Change.ChangeID == e.Change.ChangeID })
	}), err
}

// last returns the newest entry; the zero value if the log has no entries.
func (l *changeLog) last(ctx context.Context) (e logEntry, err error) {
	newest := options.FindOne().SetSort(bson.D{{Key: idKey, Value: -1}}).SetProjection(bson.D{{Key: "changeId", Value: 1}})
	err = ignoreMissing(l.coll.FindOne(ctx, bson.D{}, newest).Decode(&e))
	return e, err
}

// find returns up to limit entries that the filter selects and whose numbers are greater than after, in ascending order.
func (l *changeLog) find(ctx context.Context, filter bson.D, after int64, limit int) (entries []logEntry, err error) {
	opts := options.Find().SetSort(bson.D{{Key: idKey, Value: 1}}).SetLimit(int64(limit))
	cursor, err := l.coll.Find(ctx, append(slices.Clip(filter), where(idKey, "$gt", after)...), opts)
	if err == nil {
		err = cursor.All(ctx, &entries)
	}
	return entries, err
}

// Last implements store.Log.
func (l *changeLog) Last(ctx context.Context) (store.Position, error) {
	e, err := l.last(ctx)
	return e.position(), translate(err, nil)
}

// Read implements store.Log. It reads the newest position before the entries, so that next skips no entry.
func (l *changeLog) Read(ctx context.Context, q store.LogQuery) (entries []store.Entry, next store.Position, err error) {
	var at logEntry
	err = l.coll.FindOne(ctx, bson.D{{Key: idKey, Value: q.After.Number}}).Decode(&at)
	if errors.Is(err, driver.ErrNoDocuments) || err == nil && at.Change.ChangeID != q.After.ChangeID {
		return nil, next, store.ErrPosition
	}
	if err == nil {
		next, err = l.Last(ctx)
	}
	if err != nil {
		return nil, next, translate(err, nil)
	}
	var filter bson.D
	if q.Collection != "" {
		filter = bson.D{{Key: "collection", Value: q.Collection}}
	}
	found, err := l.find(ctx, filter, q.After.Number, q.Limit)
	if err != nil {
		return nil, next, translate(err, nil)
	}
	for _, e := range found {
		entries = append(entries, e.entry())
	}
	if n := len(found); n > 0 && (n == q.Limit || found[n-1].Number > next.Number) {
		next = found[n-1].position()
	}
	return entries, next, nil
}

// Newest implements store.Log.
func (l *changeLog) Newest(ctx context.Context, f store.LogFilter) (entries []store.Entry, err error) {
	filter := bson.D{}
	if f.Collection != "" {
		filter = append(filter, bson.E{Key: "collection", Value: f.Collection})
	}
	if !f.RecordID.IsZero() {
		filter = append(filter, bson.E{Key: "recordId", Value: f.RecordID})
	}
	if !f.By.IsZero() {
		filter = append(filter, bson.E{Key: "by", Value: f.By})
	}
	if f.Before > 0 {
		filter = append(filter, where(idKey, "$lt", f.Before)...)
	}
	at := bson.D{}
	if f.Since != nil {
		at = append(at, bson.E{Key: "$gte", Value: f.Since.Time})
	}
	if f.Until != nil {
		at = append(at, bson.E{Key: "$lt", Value: f.Until.Time})
	}
	if len(at) > 0 {
		filter = append(filter, bson.E{Key: "at", Value: at})
	}
	var found []logEntry
	cursor, err := l.coll.Find(ctx, filter, options.Find().SetSort(bson.D{{Key: idKey, Value: -1}}).SetLimit(int64(f.Limit)))
	if err == nil {
		err = cursor.All(ctx, &found)
	}
	for _, e := range found {
		entries = append(entries, e.entry())
	}
	return entries, translate(err, nil)
}

// Wait implements store.Log.
func (l *changeLog) Wait(ctx context.Context, collection string, after store.Position) error {
	return l.signal.Wait(ctx, collection, after)
}

// Sweep implements store.Log. It keeps entries for one hour longer than requested; see sweepMargin. It stops at the first entry
// that must be kept, so that the numbers of the remaining entries have no gap.
func (l *changeLog) Sweep(ctx context.Context, before store.Time) (int64, error) {
	limit := before.Add(-sweepMargin)
	entries, err := l.find(ctx, bson.D{}, 0, engine.SweepBatch+1)
	if err != nil {
		return 0, translate(err, nil)
	}
	n := slices.IndexFunc(entries, func(e logEntry) bool { return !e.Change.At.Before(limit) })
	if n < 0 {
		n = len(entries) - 1 // keep the newest entry, or the first entry of the next batch
	}
	if n <= 0 {
		return 0, nil
	}
	result, err := l.coll.DeleteMany(ctx, where(idKey, "$lt", entries[n].Number))
	if err != nil {
		return 0, translate(err, nil)
	}
	return result.DeletedCount, nil
}
