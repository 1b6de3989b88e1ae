package mongo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"example.com/ginseng/kit/store"
)

// The name of an index is a prefix for its kind, followed by its fields.
const (
	namePrefix   = "store:"
	uniquePrefix = namePrefix + "unique:"
	wordsPrefix  = namePrefix + "words:"
	idIndex      = "_id_" // MongoDB's index of _id
	pendingIndex = namePrefix + pendingKey
)

// index is an index that the engine creates.
type index struct {
	name   string
	fields []string // as declared; nil for an index of words or of pending entries
	keys   bson.D
	unique bool
}

func newSchema(spec store.Spec) schema {
	s := schema{search: spec.Search, changes: spec.Changes}
	for _, declared := range spec.Indexes {
		s.indexes = append(s.indexes, newIndex(declared))
	}
	for _, field := range spec.Search {
		s.indexes = append(s.indexes, index{
			name: wordsPrefix + field,
			keys: bson.D{{Key: wordsPath(field), Value: 1}},
		})
	}
	if spec.Changes {
		s.indexes = append(s.indexes, index{name: pendingIndex, keys: bson.D{{Key: pendingKey, Value: 1}}})
	}
	return s
}

// newIndex returns the index for a declaration. If the index is not unique, newIndex appends the id to the keys, so that a list
// sorted by the fields reads the index in order.
func newIndex(declared store.Index) index {
	idx := index{name: namePrefix + strings.Join(declared.Fields, ","), fields: declared.Fields, unique: declared.Unique}
	for _, field := range declared.Fields {
		idx.keys = append(idx.keys, bson.E{Key: path(field), Value: 1})
	}
	if idx.unique {
		idx.name = uniquePrefix + strings.Join(declared.Fields, ",")
	} else {
		idx.keys = append(idx.keys, bson.E{Key: idKey, Value: 1})
	}
	return idx
}

// model returns the index as a type of the driver. A unique index must ignore documents that lack one of its fields. A sparse
// index ignores only documents that lack all of its fields, so a unique index of several fields is a partial index.
func (idx index) model() driver.IndexModel {
	opts := options.Index().SetName(idx.name)
	switch {
	case idx.unique && len(idx.keys) == 1:
		opts.SetUnique(true).SetSparse(true)
	case idx.unique:
		var present bson.D
		for _, k := range idx.keys {
			present = append(present, bson.E{Key: k.Key, Value: bson.D{{Key: "$exists", Value: true}}})
		}
		opts.SetUnique(true).SetPartialFilterExpression(present)
	case idx.name == pendingIndex:
		opts.SetSparse(true)
	}
	return driver.IndexModel{Keys: idx.keys, Options: opts}
}

// prepare creates the collection's missing indexes and words, and drops indexes that are no longer declared. Several instances
// may call prepare concurrently: creating an existing index or dropping a missing index has no effect.
func (c *collection) prepare(ctx context.Context) error {
	present, err := c.coll.Indexes().ListSpecifications(ctx)
	if err != nil {
		return translate(err, nil)
	}
	for _, idx := range c.indexes {
		if !slices.ContainsFunc(present, func(spec driver.IndexSpecification) bool { return spec.Name == idx.name }) {
			if err := c.create(ctx, idx); err != nil {
				return err
			}
		}
	}
	for _, spec := range present {
		declared := slices.ContainsFunc(c.indexes, func(idx index) bool { return idx.name == spec.Name })
		if strings.HasPrefix(spec.Name, namePrefix) && !declared {
			if err := c.drop(ctx, spec.Name); err != nil {
				return err
			}
		}
	}
	for _, field := range c.search {
		if err := c.fillWords(ctx, field); err != nil {
			return err
		}
	}
	return nil
}

// create creates an index. Its errors describe how to resolve duplicates and conflicts with other indexes.
func (c *collection) create(ctx context.Context, idx index) error {
	err := retryDeadlock(ctx, func() error {
		_, err := c.coll.Indexes().CreateOne(ctx, idx.model())
		return err
	})
	if hasCode(err, codeNotImplemented) {
		// FerretDB 1 has no partial indexes, but its unique indexes ignore documents that lack a field.
		_, err = c.coll.Indexes().CreateOne(ctx, driver.IndexModel{
			Keys: idx.keys, Options: options.Index().SetName(idx.name).SetUnique(true),
		})
	}
	switch {
	case isDuplicate(err):
		values := make([]string, len(idx.keys))
		for i, k := range idx.keys {
			values[i] = strconv.Quote("$" + k.Key)
		}
		return fmt.Errorf("mongo: several documents of the collection %[2]s have the same %[1]s, which is declared unique; "+
			"change or remove all but one of them and start again. To find them: db.%[2]s.aggregate([{$group: {_id: [%[3]s], ids: "+
			"{$push: \"$_id\"}}}, {$match: {\"ids.1\": {$exists: true}}}]). %[4]w",
			strings.Join(idx.fields, " and "), c.coll.Name(), strings.Join(values, ", "), err)
	case hasCode(err, codeIndexOptionsConflict, codeIndexKeySpecsConflict):
		return fmt.Errorf("mongo: the collection %s has the index %s with another name, or another index with this name; "+
			"drop that index and start again: %w", c.coll.Name(), idx.name, err)
	}
	return translate(err, nil)
}

// drop drops an index if it exists. Before it drops an index of words, it removes the words, because later changes would not
// update the words. Before it drops the index of pending entries, it removes the tombstones.
func (c *collection) drop(ctx context.Context, name string) error {
	if name == pendingIndex {
		if _, err := c.coll.DeleteMany(ctx, where(deletedKey, "$exists", true)); err != nil {
			return translate(err, nil)
		}
	}
	if field, ok := strings.CutPrefix(name, wordsPrefix); ok {
		_, err := c.coll.UpdateMany(ctx, where(wordsPath(field), "$exists", true),
			bson.D{{Key: "$unset", Value: bson.D{{Key: wordsPath(field), Value: ""}}}})
		if err != nil {
			return translate(err, nil)
		}
	}
	if err := c.coll.Indexes().DropOne(ctx, name); !hasCode(err, codeIndexNotFound, codeNamespaceNotFound) {
		return translate(err, nil)
	}
	return nil
}

// fillWords writes the words of documents that have a string in the searched field, but no words. Such documents were stored
// before the field was declared in Spec.Search, or by another program. The query for these documents uses the index of words.
func (c *collection) fillWords(ctx context.Context, field string) error {
	const batch = 50 // writes per command; FerretDB 1 uses one of its 100 connections for each write, and hangs if all are in use
	cursor, err := c.coll.Find(ctx,
		all(where(wordsPath(field), "$exists", false), where(path(field), "$type", "string")),
		options.Find().SetProjection(bson.D{{Key: path(field), Value: 1}}))
	if err != nil {
		return translate(err, nil)
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	var writes []driver.WriteModel
	for more := true; more; {
		if more = cursor.Next(ctx); more {
			doc := slices.Clone(cursor.Current) // the cursor reuses its memory
			text := doc.Lookup(strings.Split(path(field), ".")...)
			writes = append(writes, driver.NewUpdateOneModel().
				SetFilter(all(where(idKey, "$eq", doc.Lookup(idKey)), where(path(field), "$eq", text))).
				SetUpdate(bson.D{{Key: "$set", Value: bson.D{{Key: wordsPath(field), Value: words(text)}}}}))
		}
		if len(writes) == batch || !more && len(writes) > 0 {
			if _, err := c.coll.BulkWrite(ctx, writes); err != nil {
				return translate(err, nil)
			}
			writes = writes[:0]
		}
	}
	return translate(cursor.Err(), nil)
}
