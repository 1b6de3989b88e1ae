package mongo

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/store"
)

var (
	someID = store.ID{0x65, 0x5b, 11: 1}
	noon   = store.At(time.Date(2024, time.May, 17, 12, 0, 0, 0, time.UTC))
	name   = "ada"
)

// role is a string type that a module declares.
type role string

// The values above as Extended JSON of MongoDB.
const (
	jsonID   = `{"$oid":"655b00000000000000000001"}`
	jsonNoon = `{"$date":"2024-05-17T12:00:00Z"}`
)

func TestFilter(t *testing.T) {
	t.Parallel()
	s := newSchema(store.Spec{Search: []string{"title", "profile.city"}})
	for _, test := range []struct {
		name string
		f    store.Filter
		want string
	}{
		{"nil", nil, `{}`},
		{"text", store.Eq("name", "ada"), `{"name":{"$eq":"ada"}}`},
		{"pointer", store.Eq("name", &name), `{"name":{"$eq":"ada"}}`},
		{"type based on text", store.Eq("role", role("admin")), `{"role":{"$eq":"admin"}}`},
		{"number", store.Gt("size", 3), `{"size":{"$gt":3}}`},
		{"float", store.Lte("score", 0.5), `{"score":{"$lte":0.5}}`},
		{"bool", store.Ne("flag", true), `{"flag":{"$ne":true}}`},
		{"time", store.Gte("at", noon), `{"at":{"$gte":` + jsonNoon + `}}`},
		{"id", store.Eq("id", someID), `{"_id":` + jsonID + `}`},
		{"other id", store.Eq("userId", &someID), `{"userId":{"$eq":` + jsonID + `}}`},
		{"id below a field", store.Eq("profile.id", 1), `{"profile.id":{"$eq":1}}`},
		{"not the id", store.Lt("id", someID), `{"_id":{"$lt":` + jsonID + `}}`},
		{"absent", store.Eq("name", (*string)(nil)), `{"name":{"$eq":null}}`},
		{"present", store.Ne("name", nil), `{"name":{"$ne":null}}`},
		{"less than absent", store.Lt("name", nil), `{"_id":{"$in":[]}}`},
		{"not less than absent", store.Gte("name", nil), `{"_id":{"$in":[]}}`},
		{"one of", store.In("name", "a", nil, &name), `{"name":{"$in":["a",null,"ada"]}}`},
		{"one of none", store.In("name"), `{"name":{"$in":[]}}`},

		{"and", store.And(store.Eq("a", 1), store.Eq("b", 2)), `{"$and":[{"a":{"$eq":1}},{"b":{"$eq":2}}]}`},
		{"and of one", store.And(store.Eq("id", someID)), `{"_id":` + jsonID + `}`},
		{"and of none", store.And(), `{}`},
		{"and with all", store.And(store.And(), store.Eq("a", 1)), `{"a":{"$eq":1}}`},
		{"or", store.Or(store.Eq("a", 1), store.Eq("b", 2)), `{"$or":[{"a":{"$eq":1}},{"b":{"$eq":2}}]}`},
		{"or of one", store.Or(store.Eq("a", 1)), `{"a":{"$eq":1}}`},
		{"or of none", store.Or(), `{"_id":{"$in":[]}}`},
		{"or with all", store.Or(store.Eq("a", 1), store.And()), `{"$or":[{"a":{"$eq":1}},{}]}`},

		{"search", store.Search("Crème BRÛL"), `{"$and":[` + anywhere("creme") + `,` + anywhere("brul") + `]}`},
		{"search for no word", store.Search(" .*$ "), `{"_id":{"$in":[]}}`},

		{"value like an operator", store.Eq("name", "$gt"), `{"name":{"$eq":"$gt"}}`},
		{"value like a filter", store.Eq("name", `{"$gt":""}`), `{"name":{"$eq":"{\"$gt\":\"\"}"}}`},
		{"value like an expression", store.In("name", "/.*/", "^a"), `{"name":{"$in":["/.*/","^a"]}}`},
		{"value like code", store.Eq("name", bson.JavaScript("sleep(1000)")), `{"name":{"$eq":"sleep(1000)"}}`},
		{"value like a field", store.Eq("name", "$password"), `{"name":{"$eq":"$password"}}`},
		{"field like an operator", store.Eq("$where", "sleep(1000)"), `{"%24where":{"$eq":"sleep(1000)"}}`},
		{"nested field like an operator", store.Eq("a.$expr", 1), `{"a.%24expr":{"$eq":1}}`},
		{"search like an expression", store.Search("(a+)+$ x|y"),
			`{"$and":[` + anywhere("a") + `,` + anywhere("x") + `,` + anywhere("y") + `]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := s.filter(test.f)
			must(t, err)
			wantJSON(t, got, test.want)
		})
	}
}

// anywhere returns the filter for a word of a search in the two fields of TestFilter.
func anywhere(word string) string {
	expression := `{"$regex":"^` + word + `"}`
	return `{"$or":[{"_words.title":` + expression + `},{"_words.profile%2Ecity":` + expression + `}]}`
}

// TestFilterRejects passes values that could contain operators. None of these values may reach the server.
func TestFilterRejects(t *testing.T) {
	t.Parallel()
	s := newSchema(store.Spec{})
	for _, v := range []any{
		map[string]any{"$gt": ""}, bson.M{"$gt": ""}, bson.D{{Key: "$gt", Value: ""}}, &bson.D{}, struct{ Gt string }{},
		[]string{"a"}, []byte("a"), bson.Regex{Pattern: ".*"}, time.Now(), bson.RawValue{}, make(chan int),
	} {
		for _, f := range []store.Filter{
			store.Eq("name", v), store.Ne("name", v), store.Gt("name", v), store.In("name", "a", v),
			store.And(store.Eq("a", 1), store.Eq("name", v)), store.Or(store.Eq("name", v)),
		} {
			if got, err := s.filter(f); err == nil {
				t.Errorf("%v with a %T became %v", f, v, got)
			}
		}
		if got, err := after(sortKeys(nil), []any{v}); err == nil {
			t.Errorf("After with a %T became %v", v, got)
		}
	}
	if got, err := s.filter(store.Comparison{Op: "where", Field: "a", Value: "b"}); err == nil {
		t.Errorf("an unknown comparison became %v", got)
	}
}

func TestSort(t *testing.T) {
	t.Parallel()
	for want, order := range map[string][]store.Order{
		`{"_id":1}`:                      nil,
		`{"_id":-1}`:                     {{Field: "id", Desc: true}},
		`{"at":-1,"_id":-1}`:             {{Field: "at", Desc: true}},
		`{"at":-1,"a.b":1,"_id":1}`:      {{Field: "at", Desc: true}, {Field: "a.b"}},
		`{"at":1,"_id":-1}`:              {{Field: "at"}, {Field: "id", Desc: true}, {Field: "never"}},
		`{"%24natural":-1,"_id":-1}`:     {{Field: "$natural", Desc: true}},
		`{"_words":1,"_id":1}`:           {{Field: "_words"}},
		`{"x":1,"profile.id":1,"_id":1}`: {{Field: "x"}, {Field: "profile.id"}},
	} {
		wantJSON(t, sortDocument(sortKeys(order)), want)
	}
}

func TestAfter(t *testing.T) {
	t.Parallel()
	up, down := []store.Order{{Field: "a"}}, []store.Order{{Field: "a", Desc: true}}
	for _, test := range []struct {
		name  string
		order []store.Order
		row   []any
		want  string
	}{
		{"id", nil, []any{someID}, `{"_id":{"$gt":` + jsonID + `}}`},
		{"id, downwards", []store.Order{{Field: "id", Desc: true}}, []any{someID, someID}, `{"_id":{"$lt":` + jsonID + `}}`},
		{"up", up, []any{1, someID},
			`{"$and":[{"a":{"$gte":1}},{"$or":[{"a":{"$gt":1}},{"$and":[{"a":{"$eq":1}},{"_id":{"$gt":` + jsonID + `}}]}]}]}`},
		{"down", down, []any{1, someID},
			`{"$and":[{"a":{"$not":{"$gt":1}}},{"$or":[{"a":{"$not":{"$gte":1}}},` +
				`{"$and":[{"a":{"$eq":1}},{"_id":{"$lt":` + jsonID + `}}]}]}]}`},
		{"up from absent", up, []any{nil, someID},
			`{"$or":[{"a":{"$ne":null}},{"$and":[{"a":{"$eq":null}},{"_id":{"$gt":` + jsonID + `}}]}]}`},
		{"down from absent", down, []any{nil, someID},
			`{"$and":[{"a":{"$eq":null}},{"$and":[{"a":{"$eq":null}},{"_id":{"$lt":` + jsonID + `}}]}]}`},
		{"mixed", []store.Order{{Field: "a", Desc: true}, {Field: "b"}}, []any{"x", noon, someID},
			`{"$and":[{"a":{"$not":{"$gt":"x"}}},{"$or":[{"a":{"$not":{"$gte":"x"}}},` +
				`{"$and":[{"a":{"$eq":"x"}},{"b":{"$gt":` + jsonNoon + `}}]},` +
				`{"$and":[{"a":{"$eq":"x"}},{"b":{"$eq":` + jsonNoon + `}},{"_id":{"$gt":` + jsonID + `}}]}]}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := after(sortKeys(test.order), test.row)
			must(t, err)
			wantJSON(t, got, test.want)
		})
	}
	if got, err := after(sortKeys(up), []any{1}); err == nil {
		t.Errorf("a row without the id became %v", got)
	}
}

func TestProjection(t *testing.T) {
	t.Parallel()
	plain, searched := newSchema(store.Spec{}), newSchema(store.Spec{Search: []string{"title"}})
	if got := plain.projection(nil); got != nil {
		t.Errorf("all of a document without words is %v, want no projection", got)
	}
	wantJSON(t, searched.projection(nil), `{"_words":0}`)
	wantJSON(t, searched.projection([]string{"title", "id"}), `{"_id":1,"title":1}`)
	wantJSON(t, searched.projection([]string{}), `{"_id":1}`)
	wantJSON(t, searched.projection([]string{"$where"}), `{"_id":1,"%24where":1}`)
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	type profile struct {
		City string  `json:"city"`
		Note *string `json:"note"`
	}
	s := newSchema(store.Spec{Search: []string{"title", "profile.city"}})
	for _, test := range []struct {
		name    string
		changes []store.Change
		want    string
	}{
		{"nothing", nil, `{"$inc":{"version":1}}`},
		{"all kinds", []store.Change{store.Set("a", 1), store.Unset("b"), store.Inc("c", 2)},
			`{"$inc":{"version":1,"c":2},"$set":{"a":1},"$unset":{"b":""}}`},
		{"time", []store.Change{store.Set("at", noon)}, `{"$inc":{"version":1},"$set":{"at":` + jsonNoon + `}}`},
		{"nil slice", []store.Change{store.Set("tags", []string(nil))}, `{"$inc":{"version":1},"$unset":{"tags":""}}`},
		{"nil below", []store.Change{store.Set("b", map[string]any{"x": nil, "y": []any{nil}})},
			`{"$inc":{"version":1},"$set":{"b":{"y":[null]}}}`},
		{"searched text", []store.Change{store.Set("title", "Ein Café")},
			`{"$inc":{"version":1},"$set":{"title":"Ein Café","_words.title":["ein","cafe"]}}`},
		{"searched text without a word", []store.Change{store.Set("title", "!")},
			`{"$inc":{"version":1},"$set":{"title":"!","_words.title":[]}}`},
		{"searched string removed", []store.Change{store.Set("title", nil)},
			`{"$inc":{"version":1},"$unset":{"title":"","_words.title":""}}`},
		{"searched text is none", []store.Change{store.Set("title", 5)},
			`{"$inc":{"version":1},"$set":{"title":5},"$unset":{"_words.title":""}}`},
		{"searched text below", []store.Change{store.Set("profile.city", "Oslo")},
			`{"$inc":{"version":1},"$set":{"profile.city":"Oslo","_words.profile%2Ecity":["oslo"]}}`},
		{"its parent", []store.Change{store.Set("profile", profile{City: "Oslo"})},
			`{"$inc":{"version":1},"$set":{"profile":{"city":"Oslo"},"_words.profile%2Ecity":["oslo"]}}`},
		{"its parent without it", []store.Change{store.Set("profile", map[string]int{"size": 3})},
			`{"$inc":{"version":1},"$set":{"profile":{"size":3}},"$unset":{"_words.profile%2Ecity":""}}`},
		{"its parent removed", []store.Change{store.Unset("profile")},
			`{"$inc":{"version":1},"$unset":{"profile":"","_words.profile%2Ecity":""}}`},
		{"its sibling", []store.Change{store.Set("profile.note", "Oslo"), store.Set("titles", "x")},
			`{"$inc":{"version":1},"$set":{"profile.note":"Oslo","titles":"x"}}`},
		{"value like an operator",
			[]store.Change{store.Set("a", "$b"), store.Set("c", map[string]any{"$inc": bson.M{"$x.y": 1}})},
			`{"$inc":{"version":1},"$set":{"a":"$b","c":{"%24inc":{"%24x%2Ey":1}}}}`},
		{"field like an operator", []store.Change{store.Set("$inc", 1), store.Unset("a.$[]")},
			`{"$inc":{"version":1},"$set":{"%24inc":1},"$unset":{"a.%24[]":""}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := s.update(test.changes)
			must(t, err)
			wantJSON(t, got, test.want)
		})
	}
	for name, change := range map[string]store.Change{
		"a field below a searched text": store.Set("title.en", "x"),
		"unset below a searched text":   store.Unset("profile.city.code"),
		"inc of a searched text":        store.Inc("title", 1),
		"inc of its parent":             store.Inc("profile", 1),
		"an unknown change":             {Op: "rename", Field: "a", Value: "b"},
		"a value that BSON has not":     store.Set("a", make(chan int)),
	} {
		if got, err := s.update([]store.Change{change}); err == nil {
			t.Errorf("%s became %v", name, got)
		}
	}
}

func wantJSON(t *testing.T, doc bson.D, want string) {
	t.Helper()
	got, err := bson.MarshalExtJSON(doc, false, false)
	must(t, err)
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestManyWords checks that no text has more words than MongoDB allows in an index.
func TestManyWords(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range maxWords + 1 {
		fmt.Fprintf(&text, "%d ", i)
	}
	v, err := encodeValue(text.String())
	must(t, err)
	if got := words(v).([]string); len(got) != maxWords || got[maxWords-1] != strconv.Itoa(maxWords-1) {
		t.Errorf("%d words", len(got))
	}
}
