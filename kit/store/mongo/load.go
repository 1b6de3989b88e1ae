package mongo

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"example.com/ginseng/kit/store"
)

// Load stores the documents, with their words, by one command.
func (c *collection) Load(ctx context.Context, _ []store.ID, docs []any) error {
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
	_, err := c.c.InsertMany(ctx, stored, options.InsertMany().SetOrdered(true))
	return translate(err, c.indexes)
}

// Names leaves out MongoDB's own.
func (db *DB) Names(ctx context.Context) ([]string, error) {
	names, err := db.db.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return nil, translate(err, nil)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "system.") })
	slices.Sort(names)
	return names, nil
}

// Drop takes the indexes along.
func (db *DB) Drop(ctx context.Context, name string) error {
	return translate(db.db.Collection(name).Drop(ctx), nil)
}

// whole fails unless into, which was read from raw, has all of it. The error is the one that reading gave.
func (c *collection) whole(raw bson.Raw, into any, err error) error {
	if err != nil {
		return fmt.Errorf("the document %v of %s does not fit its type: %w", raw.Lookup(idKey), c.c.Name(), err)
	}
	if raw.Lookup(idKey).Type != bson.TypeObjectID {
		return fmt.Errorf("%s: the key of the document %v is no ObjectID; give it one", c.c.Name(), raw.Lookup(idKey))
	}
	doc, err := rewrite(raw, unescape)
	if err != nil {
		return err
	}
	stored, _ := tree(doc).(map[string]any)
	if _, ok := stored["id"]; ok {
		return fmt.Errorf("%s: the document %v has a field \"id\", which the service cannot tell from \"_id\"; remove it",
			c.c.Name(), stored[idKey])
	}
	stored["id"] = stored[idKey]
	delete(stored, idKey)
	delete(stored, wordsKey)
	if err := store.Whole(stored, into); err != nil {
		return fmt.Errorf("%s: %w", c.c.Name(), err)
	}
	return nil
}

// tree is what rewrite returned as encoding/json would have read it from the JSON of the same document. Types that no
// document of the service has are as text.
func tree(v any) any {
	switch v := v.(type) {
	case bson.D:
		object := make(map[string]any, len(v))
		for _, e := range v {
			object[e.Key] = tree(e.Value)
		}
		return object
	case bson.A:
		array := make([]any, len(v))
		for i := range v {
			array[i] = tree(v[i])
		}
		return array
	case bson.RawValue:
		return leaf(v)
	}
	return fmt.Sprint(v)
}

func leaf(v bson.RawValue) any {
	switch v.Type {
	case bson.TypeNull:
		return nil
	case bson.TypeString:
		return v.StringValue()
	case bson.TypeBoolean:
		return v.Boolean()
	case bson.TypeInt32:
		return json.Number(strconv.FormatInt(int64(v.Int32()), 10))
	case bson.TypeInt64:
		return json.Number(strconv.FormatInt(v.Int64(), 10))
	case bson.TypeDouble:
		return json.Number(strconv.FormatFloat(v.Double(), 'g', -1, 64))
	case bson.TypeObjectID:
		return v.ObjectID().Hex()
	case bson.TypeDateTime:
		return store.At(v.Time()).String()
	case bson.TypeBinary:
		if kind, data := v.Binary(); kind == bson.TypeBinaryGeneric {
			return base64.StdEncoding.EncodeToString(data)
		}
	}
	return v.String()
}
