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

// Each kind of index has a prefix of its own, and the fields follow it, so that the name says all that the index is.
const (
	namePrefix   = "store:"
	uniquePrefix = namePrefix + "unique:"
	wordsPrefix  = namePrefix + "words:"
	idIndex      = "_id_" // MongoDB's own
)

// index is an index that the engine makes.
type index struct {
	name   string
	fields []string // as declared; none for an index of words
	keys   bson.D
	unique bool
}

func newSchema(spec store.Spec) schema {
	s := schema{search: spec.Search}
	for _, declared := range spec.Indexes {
		s.indexes = append(s.indexes, newIndex(declared))
	}
	for _, field := range spec.Search {
		s.indexes = append(s.indexes, index{
			name: wordsPrefix + field,
			keys: bson.D{{Key: wordsPath(field), Value: 1}},
		})
	}
	return s
}

// newIndex appends the id to the declared fields, so that the index gives them in order. To a unique index it must not:
// with the id, all keys are distinct.
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

// model is the index as createIndexes takes it. A unique index leaves out documents that lack one of its fields: by
// `sparse` for one field, which every server knows; for several, where `sparse` leaves out only documents that lack
// all, by a partial index.
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
	}
	return driver.IndexModel{Keys: idx.keys, Options: opts}
}

// prepare makes the collection's indexes as they are declared. Several copies of the service may do so at once: to make
// an index that is there changes nothing, nor does it to drop one that is not.
func (c *collection) prepare(ctx context.Context) error {
	present, err := c.c.Indexes().ListSpecifications(ctx)
	if err != nil {
		return translate(err, nil)
	}
	var names []string
	for _, spec := range present {
		names = append(names, spec.Name)
	}
	for _, idx := range c.indexes {
		if !slices.Contains(names, idx.name) {
			if err := c.create(ctx, idx); err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		declared := slices.ContainsFunc(c.indexes, func(idx index) bool { return idx.name == name })
		if strings.HasPrefix(name, namePrefix) && !declared {
			if err := c.drop(ctx, name); err != nil {
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

func (c *collection) create(ctx context.Context, idx index) error {
	_, err := c.c.Indexes().CreateOne(ctx, idx.model())
	if hasCode(err, codeNotImplemented) {
		// FerretDB 1 has no partial indexes, but its unique indexes ignore documents that lack a field anyhow.
		_, err = c.c.Indexes().CreateOne(ctx, driver.IndexModel{
			Keys: idx.keys, Options: options.Index().SetName(idx.name).SetUnique(true),
		})
	}
	switch {
	case isDuplicate(err):
		values := make([]string, len(idx.keys))
		for i, k := range idx.keys {
			values[i] = strconv.Quote("$" + k.Key)
		}
		return fmt.Errorf("mongo: %s of the collection %s is to be unique, but some documents have it in common; change or "+
			"remove all of them but one, and start again. To list them: db.%[2]s.aggregate([{$group: {_id: [%[3]s], ids: "+
			"{$push: \"$_id\"}}}, {$match: {\"ids.1\": {$exists: true}}}]). %[4]w",
			strings.Join(idx.fields, " and "), c.c.Name(), strings.Join(values, ", "), err)
	case hasCode(err, codeIndexOptionsConflict, codeIndexKeySpecsConflict):
		return fmt.Errorf("mongo: the collection %s has the index %s under another name, or another index under its name; "+
			"drop that one, and start again: %w", c.c.Name(), idx.name, err)
	}
	return translate(err, nil)
}

// drop removes an index and, if it was one of words, the words, which no change would keep up to date from now on.
func (c *collection) drop(ctx context.Context, name string) error {
	if field, ok := strings.CutPrefix(name, wordsPrefix); ok {
		_, err := c.c.UpdateMany(ctx, where(wordsPath(field), "$exists", true),
			bson.D{{Key: "$unset", Value: bson.D{{Key: wordsPath(field), Value: ""}}}})
		if err != nil {
			return translate(err, nil)
		}
	}
	if err := c.c.Indexes().DropOne(ctx, name); !hasCode(err, codeIndexNotFound, codeNamespaceNotFound) {
		return translate(err, nil)
	}
	return nil
}

// fillWords writes the words of documents that have the text but not its words: those that were there before the field
// was searched, or came by another way. The index of words leads to them.
func (c *collection) fillWords(ctx context.Context, field string) error {
	const batch = 50 // FerretDB 1 hangs on 100: it holds a connection of its 100 for each
	cursor, err := c.c.Find(ctx,
		all(where(wordsPath(field), "$exists", false), where(path(field), "$type", "string")),
		options.Find().SetProjection(bson.D{{Key: path(field), Value: 1}}))
	if err != nil {
		return translate(err, nil)
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	var writes []driver.WriteModel
	flush := func() error {
		if len(writes) == 0 {
			return nil
		}
		_, err := c.c.BulkWrite(ctx, writes)
		writes = writes[:0]
		return err
	}
	for cursor.Next(ctx) {
		doc := slices.Clone(cursor.Current) // the cursor's own changes with the next one
		text := doc.Lookup(strings.Split(path(field), ".")...)
		writes = append(writes, driver.NewUpdateOneModel().
			SetFilter(all(where(idKey, "$eq", doc.Lookup(idKey)), where(path(field), "$eq", text))).
			SetUpdate(bson.D{{Key: "$set", Value: bson.D{{Key: wordsPath(field), Value: words(text)}}}}))
		if len(writes) == batch {
			if err := flush(); err != nil {
				return translate(err, nil)
			}
		}
	}
	if err := cursor.Err(); err != nil {
		return translate(err, nil)
	}
	return translate(flush(), nil)
}
