package mongo

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"example.com/ginseng/kit/store"
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

// replaceTombstone inserts a document in a transaction. If there is a tombstone with the ID, it becomes the document, which keeps
// the pending entries of the tombstone: a transaction cannot move them, and an insert would fail and end the transaction.
func (c *collection) replaceTombstone(ctx context.Context, id store.ID, stored bson.D) error {
	tombstone := append(bson.D{{Key: idKey, Value: id}}, where(deletedKey, "$exists", true)...)
	var set, push bson.D
	for _, e := range stored {
		switch e.Key {
		case idKey:
		case changesKey:
			push = bson.D{{Key: changesKey, Value: bson.D{{Key: "$each", Value: e.Value}}}}
		default:
			set = append(set, e)
		}
	}
	update := bson.D{{Key: "$set", Value: set}, {Key: "$unset", Value: bson.D{{Key: deletedKey, Value: ""}}}}
	if push != nil {
		update = append(update, bson.E{Key: "$push", Value: push})
	}
	_, err := c.coll.UpdateOne(ctx, tombstone, update, options.UpdateOne().SetUpsert(true))
	return err
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
	return len(docs), translate(c.clearAll(ctx, docs), nil)
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
	for _, p := range slices.Backward(read.Changes) {
		if p.Type == store.Deleted { // of this document, or of an earlier one with the ID; see replaceTombstone
			scope = p.Scope
		}
		p.Scope = scope
		entries = append(entries, logEntry{Collection: c.spec.Name, RecordID: read.ID, Change: p})
	}
	slices.Reverse(entries)
	return entries, nil
}

// clearAll removes the moved entries from documents, and deletes tombstones. docs are the documents before the move. Newer pending
// entries remain in the documents.
func (c *collection) clearAll(ctx context.Context, docs []bson.Raw) error {
	if len(docs) == 0 {
		return nil
	}
	none := bson.D{{Key: "$unset", Value: bson.D{{Key: changesKey, Value: ""}, {Key: pendingKey, Value: ""}}}}
	var unchanged, newer []driver.WriteModel
	for _, doc := range docs {
		same := bson.D{{Key: idKey, Value: doc.Lookup(idKey)}, {Key: pendingKey, Value: doc.Lookup(pendingKey)}}
		if _, err := doc.LookupErr(deletedKey); err == nil {
			unchanged = append(unchanged, driver.NewDeleteOneModel().SetFilter(append(same, where(deletedKey, "$exists", true)...)))
			continue
		}
		unchanged = append(unchanged, driver.NewUpdateOneModel().SetFilter(same).SetUpdate(none))
		moved := bson.D{{Key: "$pullAll", Value: bson.D{{Key: changesKey, Value: doc.Lookup(changesKey)}}}}
		newer = append(newer, driver.NewUpdateOneModel().SetFilter(same[:1]).SetUpdate(moved))
	}
	result, err := c.coll.BulkWrite(ctx, unchanged, options.BulkWrite().SetOrdered(false))
	if err != nil || result.MatchedCount+result.DeletedCount == int64(len(docs)) || newer == nil {
		return err
	}
	_, err = c.coll.BulkWrite(ctx, newer, options.BulkWrite().SetOrdered(false))
	return err
}
