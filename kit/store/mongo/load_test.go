package mongo

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/mongo/mongotest"
)

// TestLossless reads documents of another program that the Go type cannot represent.
func TestLossless(t *testing.T) {
	t.Parallel()
	db := open(t, mongotest.New(t), nil)
	for _, test := range []struct {
		name string
		doc  bson.D
		says string // "" if nothing is lost
	}{
		{"the same", bson.D{{Key: "size", Value: int64(1)<<53 + 1}, {Key: "labels", Value: bson.D{{Key: "a%2Eb", Value: "x"}}}}, ""},
		{"words", bson.D{{Key: "title", Value: "a"}, {Key: wordsKey, Value: bson.D{{Key: "title", Value: bson.A{"a"}}}}}, ""},
		{"a whole number as a double", bson.D{{Key: "size", Value: 2.0}}, ""},
		{"null", bson.D{{Key: "more", Value: nil}}, ""},
		{"more", bson.D{{Key: "more", Value: "x"}}, `"more"`},
		{"more within", bson.D{{Key: "place", Value: bson.D{{Key: "city", Value: "Oslo"}, {Key: "_words", Value: 1}}}}, `"place._words"`},
		{"a second id", bson.D{{Key: "id", Value: someID.Hex()}}, `"id"`},
		{"a string as key", bson.D{{Key: idKey, Value: someID.Hex()}}, "not an ObjectID"},
		{"a key that sorts behind", bson.D{{Key: idKey, Value: true}}, "ObjectID"},
		{"a fraction", bson.D{{Key: "size", Value: 1.5}}, "size"},
		{"text for a number", bson.D{{Key: "size", Value: "1"}}, "size"},
		{"a pattern for any", bson.D{{Key: "any", Value: bson.D{{Key: "x", Value: bson.Regex{Pattern: "a"}}}}}, `"any.x"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := store.Spec{Name: "notes_" + store.NewID().Hex()}
			if test.doc[0].Key != idKey {
				test.doc = append(bson.D{{Key: idKey, Value: someID}}, test.doc...)
			}
			if _, err := db.db.Collection(spec.Name).InsertOne(t.Context(), test.doc); err != nil {
				t.Fatal(err)
			}
			_, err := db.Open(spec).List(t.Context(), store.Query{Lossless: true}, func() any { return new(note) })
			switch {
			case test.says == "" && err != nil:
				t.Error(err)
			case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
				t.Errorf("the error %v does not say %s", err, test.says)
			}
		})
	}
}
