package mongo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engine"
)

// Load implements store.Engine with one InsertMany. It also stores the words of searched fields.
func (c *collection) Load(ctx context.Context, docs []store.Document) error {
	if len(docs) == 0 {
		return nil
	}
	stored := make([]any, len(docs))
	for i, doc := range docs {
		var err error
		if stored[i], err = c.document(doc); err != nil {
			return err
		}
	}
	_, err := c.coll.InsertMany(ctx, stored, options.InsertMany().SetOrdered(true))
	if err != nil || !c.changes {
		return translate(err, c.indexes)
	}
	if err := c.log.prepare(ctx); err != nil {
		return err
	}
	return c.log.reset(ctx, c.spec.Name)
}

// Names implements store.DB. It omits MongoDB's collections, whose names begin with "system.", and the engine's collections,
// whose names begin with "_".
func (db *DB) Names(ctx context.Context) ([]string, error) {
	names, err := db.db.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return nil, translate(err, nil)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "system.") || name[0] == '_' })
	slices.Sort(names)
	return names, nil
}

// Drop implements store.DB. MongoDB drops the indexes with the collection.
func (db *DB) Drop(ctx context.Context, name string) error {
	return translate(db.db.Collection(name).Drop(ctx), nil)
}

// checkLossless fails if into, which was decoded from raw, does not represent all of raw. It also fails if the _id in raw is not
// an ObjectID, or if raw has a field "id".
func (c *collection) checkLossless(raw bson.Raw, into any) error {
	id := raw.Lookup(idKey)
	if id.Type != bson.TypeObjectID {
		return fmt.Errorf("%s: the _id of the document %v is not an ObjectID; change the _id to an ObjectID", c.coll.Name(), id)
	}
	doc, err := rewrite(raw, unescape)
	if err != nil {
		return err
	}
	object, err := jsonObject(doc)
	if err != nil {
		return fmt.Errorf("%s: the document %v: %w", c.coll.Name(), id, err)
	}
	if _, ok := object["id"]; ok {
		return fmt.Errorf("%s: the document %v has a field \"id\", which the service cannot distinguish from \"_id\"; remove \"id\"", c.coll.Name(), id)
	}
	object["id"] = object[idKey]
	delete(object, idKey)
	delete(object, wordsKey)
	for _, key := range []string{lockKey, changesKey, pendingKey} {
		delete(object, key)
	}
	stored, err := json.Marshal(object)
	if err == nil {
		err = engine.CheckLossless(stored, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.coll.Name(), err)
	}
	return nil
}

// jsonObject decodes a document into values that encoding/json writes in the form of store.EncodeStored.
func jsonObject(doc bson.D) (object map[string]any, err error) {
	raw, err := bson.Marshal(doc)
	if err != nil {
		return nil, err
	}
	registry := bson.NewRegistry()
	registry.RegisterTypeMapEntry(bson.TypeDateTime, reflect.TypeFor[store.Time]())
	for _, t := range []bson.Type{
		bson.TypeRegex, bson.TypeDBPointer, bson.TypeJavaScript, bson.TypeSymbol, bson.TypeCodeWithScope,
		bson.TypeTimestamp, bson.TypeDecimal128, bson.TypeMinKey, bson.TypeMaxKey,
	} {
		registry.RegisterTypeMapEntry(t, reflect.TypeFor[notJSON]())
	}
	decoder := bson.NewDecoder(bson.NewDocumentReader(bytes.NewReader(raw)))
	decoder.SetRegistry(registry)
	decoder.DefaultDocumentMap()
	decoder.BinaryAsSlice()
	err = decoder.Decode(&object)
	return object, err
}

// notJSON replaces a value of a BSON type that the service does not store. Its JSON differs from the JSON of every value that the
// service decodes, so that CheckLossless reports the value.
type notJSON struct{}

// UnmarshalBSONValue accepts any value.
func (*notJSON) UnmarshalBSONValue(byte, []byte) error { return nil }

// MarshalText returns a constant.
func (notJSON) MarshalText() ([]byte, error) { return []byte("a BSON type without a JSON form"), nil }
