package mongo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/semaphore"

	"example.com/ginseng/kit/slot"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
)

// collection implements store.Engine without Lock and Reset; see atomicCollection.
type collection struct {
	schema
	client *driver.Client
	coll   *driver.Collection
	// noUpdateProjection is set by the first Update if the server cannot omit the words from the response.
	noUpdateProjection atomic.Bool
	hasExactCount      *atomic.Bool        // DB.hasExactCount
	searches           *semaphore.Weighted // DB.searches
	log                *changeLog          // DB.log
	spec               store.Spec
	writing            locks // keys are values of unique indexes; see writeUnique
}

// Searches for common words can take a long time, and must not use all connections.
const (
	maxSearches = 16              // maximum number of concurrent searches
	searchWait  = 5 * time.Second // how long a further search waits before it fails with store.ErrSearches
)

// begin translates f, the filter of a query. If f has a search and maxSearches searches are already running, begin waits for at
// most searchWait. If err is nil, the caller must call end after the query.
func (c *collection) begin(ctx context.Context, f store.Filter) (filter bson.D, end func(), err error) {
	filter, err = c.existing(f)
	if err != nil || !engine.HasSearch(f) {
		return filter, func() {}, err
	}
	if slot.Acquire(ctx, c.searches, 1, searchWait) == nil {
		return filter, func() { c.searches.Release(1) }, nil
	}
	if ctx.Err() != nil {
		return nil, nil, store.Busy(ctx.Err())
	}
	return nil, nil, store.ErrSearches
}

// selectsID reports whether a filter selects at most one document, by its id.
func selectsID(f store.Filter) bool {
	switch f := f.(type) {
	case store.Comparison:
		return f.Op == store.OpEq && f.Field == "id" && !store.IsNil(f.Value)
	case store.Connective:
		return f.Op == store.OpAnd && slices.ContainsFunc(f.Filters, selectsID)
	}
	return false
}

// On a server that only estimates the number of all documents, count determines numbers up to maxCounted exactly.
const maxCounted = 10_000

// Insert implements store.Engine. If the server rejects a duplicate without naming the index, Insert looks for the index with
// further commands, unless ctx belongs to an Atomic.
func (c *collection) Insert(ctx context.Context, id store.ID, doc any) error {
	stored, err := c.document(doc)
	if err != nil {
		return err
	}
	value := func(path string) any { return lookup(stored, strings.Split(path, ".")...) }
	if c.spec.IsLogged(ctx) {
		stored = append(stored, newPending(ctx, store.Created, nil).inserted()...)
	}
	write := func() error {
		if c.changes && transactionOf(ctx, c.client) != nil {
			return c.replaceTombstone(ctx, id, stored)
		}
		_, err := c.coll.InsertOne(ctx, stored)
		return err
	}
	err = c.writeUnique(ctx, value, write)
	if isDuplicate(err) && c.removeTombstone(ctx, id) {
		err = c.writeUnique(ctx, value, write)
	}
	c.log.wake()
	if isDuplicate(err) && duplicateFields(err, c.indexes) == nil && transactionOf(ctx, c.client) == nil {
		return store.Duplicate(c.conflictingFields(ctx, value, nil)...).WithCause(err)
	}
	return translate(err, c.indexes)
}

// conflictingFields returns the fields of the unique index that rejected a document. It looks for a stored document with the same
// values among the documents that others selects. If there is no such document, it returns nil. value returns the value of the
// rejected document at a path, or nil.
func (c *collection) conflictingFields(ctx context.Context, value func(path string) any, others bson.D) []string {
	id := newIndex(store.Index{Fields: []string{"id"}, Unique: true})
	for _, idx := range slices.Concat(c.indexes, []index{id}) {
		if !idx.unique {
			continue
		}
		same := []bson.D{others}
		for _, k := range idx.keys {
			if v := value(k.Key); v != nil {
				same = append(same, where(k.Key, "$eq", v))
			}
		}
		if len(same) <= len(idx.keys) { // the rejected document lacks a field, so the index does not contain it
			continue
		}
		if n, err := c.coll.CountDocuments(ctx, all(same...), options.Count().SetLimit(1)); err == nil && n > 0 {
			return idx.fields
		}
	}
	return nil
}

// document returns the stored form of doc, with the words of its searched fields.
func (c *collection) document(doc any) (bson.D, error) {
	stored, err := encode(doc)
	if err != nil {
		return nil, fmt.Errorf("mongo: %w", err)
	}
	var byField bson.D
	for _, field := range c.search {
		if w := words(lookup(stored, strings.Split(path(field), ".")...)); w != nil {
			byField = append(byField, bson.E{Key: escape(field), Value: w})
		}
	}
	if byField != nil {
		stored = append(stored, bson.E{Key: wordsKey, Value: byField})
	}
	return stored, nil
}

// First implements store.Engine.
func (c *collection) First(ctx context.Context, f store.Filter, into any) error {
	found := false
	_, err := c.List(ctx, store.Query{Filter: f, Limit: 1}, func() any {
		found = true
		return into
	})
	if err == nil && !found {
		return store.ErrNotFound
	}
	return err
}

// List implements store.Engine. It reads and counts the documents with separate commands.
func (c *collection) List(ctx context.Context, q store.Query, next func() any) (n int64, err error) {
	filter, end, err := c.begin(ctx, q.Filter)
	if err != nil {
		return 0, err
	}
	defer end()
	switch {
	case q.MaxCount > 0 && q.Filter == nil && c.changes:
		n, err = c.countExisting(ctx)
	case q.MaxCount > 0:
		n, err = c.count(ctx, filter, q.MaxCount)
	}
	if err == nil && next != nil {
		err = c.list(ctx, q, filter, next)
	}
	return n, err
}

// list reads the documents of q. filter is the translation of q.Filter.
func (c *collection) list(ctx context.Context, q store.Query, filter bson.D, next func() any) error {
	opts := options.Find()
	keys := sortKeys(q.Sort)
	if !selectsID(q.Filter) { // reading one document is faster without a sort
		opts.SetSort(sortDocument(keys))
	}
	if q.Skip > 0 {
		opts.SetSkip(int64(q.Skip))
	}
	if q.After != nil {
		rest, err := after(keys, q.After)
		if err != nil {
			return err
		}
		filter = all(filter, rest)
	}
	if q.Limit > 0 {
		// With a batch larger than the limit, the server closes the cursor in its first response.
		opts.SetLimit(int64(q.Limit)).SetBatchSize(int32(min(q.Limit, math.MaxInt32-1)) + 1)
	}
	if projection := c.projection(q.Fields); projection != nil {
		opts.SetProjection(projection)
	}
	cursor, err := c.coll.Find(ctx, filter, opts)
	if err != nil {
		return translate(err, nil)
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	decoder := newDecoder()
	for cursor.Next(ctx) && q.Bytes.Add(len(cursor.Current)) {
		into := next()
		if err := decoder.decode(cursor.Current, into); err != nil {
			return fmt.Errorf("mongo: the document %v of %s does not fit its type: %w", cursor.Current.Lookup(idKey), c.coll.Name(), err)
		}
		if q.Lossless && len(q.Fields) == 0 {
			if err := c.checkLossless(cursor.Current, into); err != nil {
				return fmt.Errorf("mongo: %w", err)
			}
		}
	}
	return translate(cursor.Err(), nil)
}

// count returns the number of documents that a filter selects, up to limit.
//
// If the filter is empty, count ignores the limit. MongoDB keeps the number of all documents in the metadata of the collection.
// After a crash of the server, this number may be wrong until MongoDB validates the collection. Other servers, and sharded
// clusters, estimate the number, so count uses the estimate only above maxCounted.
func (c *collection) count(ctx context.Context, filter bson.D, limit int64) (n int64, err error) {
	opts := options.Count()
	if limit < store.CountAll {
		opts.SetLimit(limit)
	}
	switch {
	case len(filter) > 0:
		n, err = c.coll.CountDocuments(ctx, filter, opts)
	case transactionOf(ctx, c.client) != nil: // the estimated count is not available in a transaction
		n, err = c.coll.CountDocuments(ctx, filter)
	case c.hasExactCount.Load():
		n, err = c.coll.EstimatedDocumentCount(ctx)
	default:
		n, err = c.coll.CountDocuments(ctx, filter, options.Count().SetLimit(maxCounted+1))
		if err == nil && n > maxCounted {
			n, err = c.coll.EstimatedDocumentCount(ctx)
			n = max(n, maxCounted+1)
		}
	}
	return n, translate(err, nil)
}

// Update implements store.Engine with findAndModify, whose filter excludes a document that the changes do not modify.
func (c *collection) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	filter, err := c.existing(f)
	if err != nil {
		return err
	}
	update, err := c.update(changes)
	if err != nil {
		return err
	}
	unmodified, err := c.unmodified(changes)
	if err != nil {
		return err
	}
	if fields, logged := engine.LoggedFields(c.spec, changes); logged && c.spec.IsLogged(ctx) {
		update = newPending(ctx, store.Updated, fields).appended(update)
	}
	value := func(path string) any {
		v, _ := assigned(update, path)
		return v
	}
	var raw bson.Raw
	err = c.writeUnique(ctx, value, func() error {
		raw, err = c.modify(ctx, filter, unmodified, update)
		return err
	})
	if isDuplicate(err) && duplicateFields(err, c.indexes) == nil && transactionOf(ctx, c.client) == nil {
		return store.Duplicate(c.conflictingUpdateFields(ctx, filter, update)...).WithCause(err)
	}
	if err != nil {
		return translate(err, c.indexes)
	}
	c.moveIfMany(ctx, raw)
	if err := newDecoder().decode(raw, into); err != nil {
		return fmt.Errorf("mongo: %w", err)
	}
	return nil
}

// modify updates one document that filter selects and returns its new version. If the document has the values in unmodified,
// modify returns the document without updating it.
func (c *collection) modify(ctx context.Context, filter, unmodified, update bson.D) (bson.Raw, error) {
	if unmodified == nil {
		return c.findAndModify(ctx, filter, update)
	}
	raw, err := c.findAndModify(ctx, all(filter, bson.D{{Key: "$nor", Value: bson.A{unmodified}}}), update)
	if !errors.Is(err, driver.ErrNoDocuments) {
		return raw, err
	}
	one := options.FindOne()
	if projection := c.projection(nil); projection != nil { // the driver rejects a nil bson.D
		one.SetProjection(projection)
	}
	raw, err = c.coll.FindOne(ctx, filter, one).Raw()
	if err != nil || hasValues(raw, unmodified) {
		return raw, err
	}
	return c.findAndModify(ctx, filter, update) // another caller has just changed the document, or $eq matched an item of a list
}

// findAndModify updates one document and returns its new version, without the words if the server can omit them.
func (c *collection) findAndModify(ctx context.Context, filter, update bson.D) (bson.Raw, error) {
	opts := options.FindOneAndUpdate().SetReturnDocument(options.After)
	if len(c.search) > 0 && !c.noUpdateProjection.Load() {
		opts.SetProjection(bson.D{{Key: wordsKey, Value: 0}})
	}
	raw, err := c.coll.FindOneAndUpdate(ctx, filter, update, opts).Raw()
	if hasCode(err, codeNotImplemented) { // FerretDB 1 does not support a projection in this command
		c.noUpdateProjection.Store(true)
		raw, err = c.coll.FindOneAndUpdate(ctx, filter, update, opts.SetProjection(nil)).Raw()
	}
	return raw, err
}

// conflictingUpdateFields calls conflictingFields for the document that a rejected update would have stored.
func (c *collection) conflictingUpdateFields(ctx context.Context, filter, update bson.D) []string {
	current, err := c.coll.FindOne(ctx, filter).Raw()
	if err != nil {
		return nil
	}
	value := func(path string) any {
		if v, ok := assigned(update, path); ok {
			return v
		}
		v, err := current.LookupErr(strings.Split(path, ".")...)
		if n, ok := lookup(update, "$inc", path).(int64); ok {
			return sum(v, n)
		}
		if err != nil {
			return nil
		}
		return v
	}
	return c.conflictingFields(ctx, value, where(idKey, "$ne", current.Lookup(idKey)))
}

// assigned returns the value that update sets at a path, directly or in a parent field. It returns nil if update removes the
// field. ok is false if update neither sets nor removes the field. update is a result of schema.update.
func assigned(update bson.D, path string) (v any, ok bool) {
	for _, operator := range []string{"$set", "$unset"} {
		fields, _ := lookup(update, operator).(bson.D)
		for _, e := range fields {
			if below, ok := cutPath(path, e.Key); ok {
				if operator == "$unset" {
					return nil, true
				}
				return lookup(e.Value, below...), true
			}
		}
	}
	return nil, false
}

// sum returns number plus n. An absent number counts as 0.
func sum(number bson.RawValue, n int64) any {
	if f, ok := number.DoubleOK(); ok {
		return f + float64(n)
	}
	i, _ := number.AsInt64OK()
	return i + n
}

// Delete implements store.Engine. If f selects a document by its id, Delete uses DeleteOne. The driver retries DeleteOne, but
// not DeleteMany, after a lost connection.
func (c *collection) Delete(ctx context.Context, f store.Filter) (int64, error) {
	if c.changes {
		return c.bury(ctx, f)
	}
	filter, err := c.filter(f)
	if err != nil {
		return 0, err
	}
	var result *driver.DeleteResult
	if selectsID(f) {
		result, err = c.coll.DeleteOne(ctx, filter)
	} else {
		result, err = c.coll.DeleteMany(ctx, filter)
	}
	if err != nil {
		return 0, translate(err, nil)
	}
	return result.DeletedCount, nil
}
