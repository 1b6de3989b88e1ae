package mongo

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"example.com/ginseng/kit/store"
)

var userIndexes = []store.Index{
	{Fields: []string{"email"}, Unique: true},
	{Fields: []string{"namespace", "name"}, Unique: true},
	{Fields: []string{"createdAt"}},
	{Fields: []string{"userId", "createdAt"}},
	{Fields: []string{"role", "userId", "name"}},
	{Fields: []string{"profile.city"}},
}

func TestModels(t *testing.T) {
	t.Parallel()
	s := newSchema(store.Spec{Indexes: userIndexes, Search: []string{"title", "profile.city"}})
	for i, want := range []string{
		`{"name":"store:unique:email","key":{"email":1},"unique":true,"sparse":true}`,
		`{"name":"store:unique:namespace,name","key":{"namespace":1,"name":1},"unique":true,` +
			`"partialFilterExpression":{"namespace":{"$exists":true},"name":{"$exists":true}}}`,
		`{"name":"store:createdAt","key":{"createdAt":1,"_id":1}}`,
		`{"name":"store:userId,createdAt","key":{"userId":1,"createdAt":1,"_id":1}}`,
		`{"name":"store:role,userId,name","key":{"role":1,"userId":1,"name":1,"_id":1}}`,
		`{"name":"store:profile.city","key":{"profile.city":1,"_id":1}}`,
		`{"name":"store:words:title","key":{"_words.title":1}}`,
		`{"name":"store:words:profile.city","key":{"_words.profile%2Ecity":1}}`,
	} {
		model := s.indexes[i].model()
		var opts options.IndexOptions
		for _, set := range model.Options.List() {
			must(t, set(&opts))
		}
		got := bson.D{{Key: "name", Value: *opts.Name}, {Key: "key", Value: model.Keys}}
		for _, o := range []bson.E{
			{Key: "unique", Value: opts.Unique}, {Key: "sparse", Value: opts.Sparse},
			{Key: "partialFilterExpression", Value: opts.PartialFilterExpression},
		} {
			if !store.IsNil(o.Value) {
				got = append(got, o)
			}
		}
		wantJSON(t, got, want)
	}
}
