package mongo

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/store"
)

type note struct {
	store.Meta `bson:",inline"`
	Title      string            `json:"title"`
	Body       *string           `json:"body"`
	Short      string            `json:"short,omitempty"`
	Secret     string            `json:"-"`
	Size       int               `json:"size"`
	Due        *store.Time       `json:"due"`
	Tags       []string          `json:"tags"`
	Labels     map[string]string `json:"labels"`
	Place      *place            `json:"place"`
	Any        map[string]any    `json:"any"`
}

type place struct {
	City string  `json:"city"`
	Zip  *string `json:"zip"`
}

func TestDocument(t *testing.T) {
	t.Parallel()
	c := &collection{schema: newSchema(store.Spec{Search: []string{"title", "body", "place.city", "size"}})}
	meta := store.NewMeta(someID, noon)
	const head = `{"_id":` + jsonID + `,"version":1,"createdAt":` + jsonNoon + `,"updatedAt":` + jsonNoon + `,`
	for _, test := range []struct {
		name string
		doc  note
		want string
	}{
		{"absent values", note{Meta: meta}, head + `"title":"","size":0,"_words":{"title":[]}}`},
		{"all values", note{
			Meta: meta, Title: "Der Fluß", Body: new("a b a"), Short: "s", Secret: "never", Size: math.MaxInt32 + 1, Due: &noon,
			Tags: []string{}, Labels: map[string]string{}, Place: &place{City: "São Paulo"},
		}, head + `"title":"Der Fluß","body":"a b a","short":"s","size":2147483648,"due":` + jsonNoon +
			`,"tags":[],"labels":{},"place":{"city":"São Paulo"},` +
			`"_words":{"title":["der","fluss"],"body":["a","b"],"place%2Ecity":["sao","paulo"]}}`},
		{"keys", note{Meta: meta, Labels: map[string]string{"app.kubernetes.io/$name%": "$x.y%"}},
			head + `"title":"","size":0,"labels":{"app%2Ekubernetes%2Eio/$name%25":"$x.y%"},"_words":{"title":[]}}`},
		{"operators", note{Meta: meta, Any: map[string]any{"$where": []any{map[string]any{"$gt": nil, "$$": 1}, nil}}},
			head + `"title":"","size":0,"any":{"%24where":[{"%24$":1},null]},"_words":{"title":[]}}`},
		{"order", note{Meta: meta, Any: map[string]any{"f": "", "d": "", "b": "", "a": "", "c": "", "e": ""}},
			head + `"title":"","size":0,"any":{"a":"","b":"","c":"","d":"","e":"","f":""},"_words":{"title":[]}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := c.document(test.doc)
			must(t, err)
			wantJSON(t, got, test.want)

			raw, err := bson.Marshal(got)
			must(t, err)
			var back note
			must(t, newDecoder().decode(raw, &back))
			test.doc.Secret = ""
			if test.name == "operators" { // nulls are not stored, and integers are read as int64
				test.doc.Any = map[string]any{"$where": bson.A{map[string]any{"$$": int64(1)}, nil}}
			}
			if !reflect.DeepEqual(back, test.doc) {
				t.Errorf("came back as\n%+v, want\n%+v", back, test.doc)
			}
		})
	}
	if got, err := c.document(map[string]any{"a": make(chan int)}); err == nil {
		t.Errorf("a channel became %v", got)
	}
}

// TestIntegers checks that every integer is stored and compared with 64 bits.
func TestIntegers(t *testing.T) {
	t.Parallel()
	type numbers struct {
		I   int
		I8  int8
		I16 int16
		I32 int32
		U   uint
		U8  uint8
		U16 uint16
		U32 uint32
		P   *int
		S   []int32
		M   map[string]int
		A   any
		D   bson.D
	}
	s := newSchema(store.Spec{})
	all := numbers{1, 1, 1, 1, 1, 1, 1, 1, new(1), []int32{1}, map[string]int{"k": 1}, []any{1, map[string]any{"k": int8(1)}}, bson.D{{Key: "k", Value: 1}}}
	document := func() (bson.D, error) { return (&collection{schema: s}).document(all) }
	changes := func() (bson.D, error) {
		return s.update([]store.Change{
			store.Set("a", 1), store.Set("b", all), store.Set("c", []int{1}), store.Inc("d", 1), {Op: store.OpInc, Field: "e", Value: 1},
		})
	}
	filter := func() (bson.D, error) {
		return s.filter(store.And(store.Eq("a", 1), store.Ne("b", int8(1)), store.Gt("c", new(1)), store.In("d", 1, int16(1)), store.Contains("e", 1)))
	}
	cursor := func() (bson.D, error) { return after(sortKeys([]store.Order{{Field: "a"}}), []any{int32(1), someID}) }
	for name, test := range map[string]struct {
		make func() (bson.D, error)
		want int // integers
	}{
		"document": {document, 14}, "changes": {changes, 19}, "filter": {filter, 6}, "cursor": {cursor, 3},
	} {
		doc, err := test.make()
		must(t, err)
		canonical, err := bson.MarshalExtJSON(doc, true, false)
		must(t, err)
		if n := bytes.Count(canonical, []byte("$numberLong")); n != test.want || bytes.Contains(canonical, []byte("$numberInt")) {
			t.Errorf("%s: %d of %d integers have 64 bits: %s", name, n, test.want, canonical)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, key := range []string{"", "plain", "a.b", "$gt", "$", "%", "%2E", "%24", "%%2525", "a$b", "．", "\xff"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		got := escape(key)
		for i, c := range got {
			if c == '.' || c == '$' && i == 0 {
				t.Errorf("escape(%q) = %q", key, got)
			}
		}
		if back := unescape(got); back != key {
			t.Errorf("%q came back as %q", key, back)
		}
	})
}
