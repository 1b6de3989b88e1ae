package listing

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

type doc struct {
	store.Meta
	Title string      `json:"title"`
	Size  *int64      `json:"size"`
	Done  *store.Time `json:"done"`
}

type view struct {
	ID    store.ID `json:"id"`
	Title string   `json:"title"`
	Body  string   `json:"body"`
}

func testSpec() Spec {
	return Spec{
		Name:   "docs",
		Search: []string{"title"},
		Sort:   []string{"title", "size", "done", "createdAt"},
		Filter: []Filter{
			{Field: "title"}, {Field: "size", Type: Int}, {Field: "price", Type: Float}, {Field: "open", Type: Bool},
			{Field: "shut", Type: Bool, Absent: true},
			{Field: "createdAt", Type: Time}, {Field: "userId", Type: ID}, {Field: "role", Type: Enum, Values: []string{"user", "admin"}},
		},
		View: view{},
	}
}

var lister = NewLister(testSpec(), NewCursors("secret"))

func parse(t *testing.T, query string) (Query, error) {
	t.Helper()
	return lister.Parse(mustQuery(t, query))
}

func mustQuery(t *testing.T, query string) url.Values {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestParse(t *testing.T) {
	t.Parallel()
	newest := []store.Order{{Field: "createdAt", Desc: true}}
	id := store.NewID()
	at, _ := store.ParseTime("2026-01-02T03:04:05.678Z")
	for query, want := range map[string]store.Query{
		"":                      {Sort: newest, Limit: 30},
		"access_token=x&q=":     {Sort: newest, Limit: 30},
		"page=3&limit=10":       {Sort: newest, Limit: 10, Skip: 20},
		"page=101&limit=100":    {Sort: newest, Limit: 100, Skip: 10_000},
		"sort=title,-createdAt": {Sort: []store.Order{{Field: "title"}, {Field: "createdAt", Desc: true}}, Limit: 30},
		"fields=title":          {Sort: newest, Limit: 30, Fields: []string{"createdAt", "id", "title"}},
		"fields=-title":         {Sort: newest, Limit: 30, Fields: []string{"body", "createdAt", "id"}},
		"q=two+words":           {Sort: newest, Limit: 30, Filter: store.And(store.Search("two words"))},
		"title=%25_.*":          {Sort: newest, Limit: 30, Filter: store.And(store.Eq("title", "%_.*"))},
		"title[in]=a&title[in]=+b,c+&title[in]=+": {Sort: newest, Limit: 30, Filter: store.And(store.In("title", "a", "b,c"))},
		"title[in]=&title[in]=a":                  {Sort: newest, Limit: 30, Filter: store.And(store.In("title", "a"))},
		"title[in]=a,+b":                          {Sort: newest, Limit: 30, Filter: store.And(store.In("title", "a", "b"))},
		"size[gte]=1&size[lt]=5":                  {Sort: newest, Limit: 30, Filter: store.And(store.Gte("size", int64(1)), store.Lt("size", int64(5)))},
		"price[lte]=1.5":                          {Sort: newest, Limit: 30, Filter: store.And(store.Lte("price", 1.5))},
		"title=&size=+&open=&userId=&role=&createdAt[gt]=&title[ne]=&after=": {Sort: newest, Limit: 30},
		"open=true":              {Sort: newest, Limit: 30, Filter: store.And(store.Eq("open", true))},
		"open=false":             {Sort: newest, Limit: 30, Filter: store.And(store.Eq("open", false))},
		"shut=true":              {Sort: newest, Limit: 30, Filter: store.And(store.Eq("shut", true))},
		"shut[ne]=true":          {Sort: newest, Limit: 30, Filter: store.And(store.Ne("shut", true))},
		"shut=false":             {Sort: newest, Limit: 30, Filter: store.And(store.Ne("shut", true))},
		"shut[ne]=false":         {Sort: newest, Limit: 30, Filter: store.And(store.Eq("shut", true))},
		"userId[ne]=" + id.Hex(): {Sort: newest, Limit: 30, Filter: store.And(store.Ne("userId", id))},
		"createdAt[gt]=" + "2026-01-02T04:04:05.678%2B01:00": {Sort: newest, Limit: 30, Filter: store.And(store.Gt("createdAt", at))},
	} {
		q, err := parse(t, query)
		if err != nil || !reflect.DeepEqual(q.Query, want) {
			t.Errorf("%s: %+v, %v\nwant %+v", query, q.Query, err, want)
		}
		if !q.count {
			t.Errorf("%s: count is off", query)
		}
	}
	if q, err := parse(t, "count=false"); err != nil || q.count {
		t.Errorf("count=false: %v", err)
	}
}

// counted is a collection with this number of records. It counts up to MaxCount of the query.
type counted int64

func (counted) List(context.Context, store.Query) ([]store.Meta, error) { return nil, nil }

func (n counted) Page(_ context.Context, q store.Query) ([]store.Meta, int64, error) {
	if q.MaxCount > 0 {
		return nil, min(int64(n), q.MaxCount), nil
	}
	return nil, int64(n), nil
}

func TestCountCapped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		query string
		rows  counted
		want  string
	}{
		{"q=a", 9_999, `{"count":9999,"rows":[]}`},
		{"q=a", 10_000, `{"count":10000,"rows":[]}`},
		{"q=a", 10_001, `{"count":10000,"countCapped":true,"rows":[]}`},
		{"open=true&fields=title", 1_000_000, `{"count":10000,"countCapped":true,"rows":[]}`},
		{"", 1_000_000, `{"count":1000000,"rows":[]}`},
		{"q=a&count=false", 1_000_000, `{"rows":[]}`},
	} {
		q, err := parse(t, test.query)
		if err != nil {
			t.Fatal(err)
		}
		page, err := Run(t.Context(), test.rows, q, func(m store.Meta) thingView { return thingView{} })
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(page.JSON()); string(got) != test.want || err != nil {
			t.Errorf("%s: %s (%v), want %s", test.query, got, err, test.want)
		}
	}
}

// stored records the fields that a list reads.
type stored struct{ fields *[]string }

func (s stored) List(_ context.Context, q store.Query) ([]doc, error) {
	*s.fields = q.Fields
	return nil, nil
}

func (s stored) Page(ctx context.Context, q store.Query) ([]doc, int64, error) {
	docs, err := s.List(ctx, q)
	return docs, 0, err
}

// TestComputedFields checks that a list reads whole documents if clients select a field that the documents lack.
func TestComputedFields(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"fields=title":          {"createdAt", "id", "title"},
		"fields=body":           nil,
		"fields=title,body":     nil,
		"fields=-title":         nil,
		"fields=-body":          {"createdAt", "id", "title"},
		"fields=id&count=false": {"createdAt", "id"},
		"":                      nil,
	} {
		q, err := parse(t, query)
		if err != nil {
			t.Fatal(err)
		}
		read := []string{"none"}
		if _, err := Run(t.Context(), stored{&read}, q, func(doc) view { return view{} }); err != nil || !slices.Equal(read, want) {
			t.Errorf("%s reads %q, want %q (%v)", query, read, want, err)
		}
	}
}

// TestETagFields checks which fields a list with ETags reads: all fields if the tags depend on them.
func TestETagFields(t *testing.T) {
	t.Parallel()
	for etag, want := range map[ETag]map[string][]string{
		RecordETag: {"fields=title&etags=true": {"createdAt", "id", "title", "version"}, "fields=title&etags=false": {"createdAt", "id", "title"}, "etags=true": nil},
		ViewETag:   {"fields=title&etags=true": nil, "fields=title": {"createdAt", "id", "title"}},
	} {
		spec := testSpec()
		spec.ETag = etag
		for query, want := range want {
			q, err := NewLister(spec, NewCursors("secret")).Parse(mustQuery(t, query))
			if err != nil {
				t.Fatal(err)
			}
			read := []string{"none"}
			if _, err := Run(t.Context(), stored{&read}, q, func(doc) view { return view{} }); err != nil || !slices.Equal(read, want) {
				t.Errorf("%s reads %q, want %q (%v)", query, read, want, err)
			}
		}
	}
	spec := testSpec()
	spec.ETag = NoETag
	var e *apperr.Error
	if _, err := NewLister(spec, NewCursors("secret")).Parse(mustQuery(t, "etags=yes")); !errors.As(err, &e) || len(e.Fields) != 1 || e.Fields[0].Code != apperr.Unknown {
		t.Errorf("a list without ETags: %v", err)
	}
	if _, err := NewLister(spec, NewCursors("secret")).ParseChanges(mustQuery(t, "etags=true"), ""); !errors.As(err, &e) || len(e.Fields) != 1 || e.Fields[0].Code != apperr.Unknown {
		t.Errorf("a feed without ETags: %v", err)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"page=0":                               "page min",
		"titel=x":                              "titel unknown",
		"page=x":                               "page type",
		"page=99999999999999999":               "page type",
		"page=102&limit=100":                   "page max",
		"limit=0":                              "limit min",
		"limit=101":                            "limit max",
		"limit=1&limit=2":                      "limit type",
		"count=yes":                            "count type",
		"etags=yes":                            "etags type",
		"etags=true&etags=true":                "etags type",
		"etags=true&format=csv":                "etags conflict",
		"format=csv&bom=yes":                   "bom type",
		"bom=true":                             "bom conflict",
		"format=ndjson&bom=true":               "bom conflict",
		"sort=body":                            "sort one_of",
		"sort=title,-title":                    "sort conflict",
		"fields=password":                      "fields one_of",
		"fields=title,-body":                   "fields conflict",
		"fields=-id":                           "fields conflict",
		"after=x":                              "after format",
		"after=x&page=1":                       "after conflict",
		"q=" + strings.Repeat("ä", MaxQuery+1): "q max_length",
		"q=a+b+c+d+e+f+g+h+i+j+k":              "q max_items",
		"q=%ff":                                "q format",
		"q=%00":                                "q format",
		"size=big":                             "size type",
		"size=9007199254740992":                "size type",
		"page=9999999999":                      "page max",
		"size[in]=1,b":                         "size[in] type",
		"size[in]=1,2&size[in]=3":              "size[in] type",
		"title=a&title=b":                      "title type",
		"title[in]=&title[in]=+":               "title[in] required",
		"title[in]=%c3&title[in]=%a9":          "title[in] format",
		"price[gt]=x":                          "price[gt] type",
		"open=1":                               "open type",
		"createdAt=monday":                     "createdAt type",
		"role=root":                            "role one_of",
		"role[in]=user,root":                   "role[in] one_of",
		"role[gt]=user":                        "role[gt] unknown",
		"createdAt=9999-12-31T23:59:59-12:00":  "createdAt type",
		"createdAt[in]=0000-01-01T00:00:00%2B12:00": "createdAt[in] type",
		"price=NaN":         "price type",
		"userId=me":         "userId format",
		"title[regex]=.":    "title[regex] unknown",
		"open[gt]=true":     "open[gt] unknown",
		"$where=1":          "$where unknown",
		"expand=x":          "expand unknown",
		"size[in]=":         "size[in] required",
		"title[in]=+,":      "title[in] required",
		"b=1&a=2&limit=200": "a unknown; b unknown; limit max",
	} {
		_, err := parse(t, query)
		var e *apperr.Error
		if !errors.As(err, &e) || e.Code != apperr.ValidationFailed {
			t.Errorf("%s: %v", query, err)
			continue
		}
		var got []string
		for _, f := range e.Fields {
			if f.In != "query" || f.Message == "" {
				t.Errorf("%s: %+v", query, f)
			}
			got = append(got, f.Param+" "+string(f.Code))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	many := url.Values{}
	for i := range 1000 {
		many.Set(fmt.Sprint("x", i), "")
	}
	_, err := lister.Parse(many)
	if text, _ := json.Marshal(err); err == nil || len(text) > 200_000 {
		t.Errorf("1000 unknown parameters: %d bytes: %.200v", len(text), err)
	}
	_, err = parse(t, "author=1")
	var e *apperr.Error
	if !errors.As(err, &e) || !strings.Contains(e.Fields[0].Message, "after, bom, count, createdAt, createdAt[gt]") {
		t.Errorf("an unknown parameter's error does not name the allowed ones: %v", err)
	}
}

func TestCursor(t *testing.T) {
	t.Parallel()
	const query = "sort=-size,done,title&title[ne]=x"
	q, err := parse(t, query)
	if err != nil {
		t.Fatal(err)
	}
	size, done := int64(1<<53-1), store.At(time.Now())
	for _, d := range []doc{
		{Meta: store.NewMeta(store.NewID(), done), Title: "ü", Size: &size, Done: &done},
		{Meta: store.NewMeta(store.NewID(), done)},
	} {
		cursor := q.cursor(reflect.ValueOf(d))
		next, err := parse(t, query+"&limit=5&fields=title&count=false&access_token=x&after="+cursor)
		if err != nil {
			t.Fatal(err)
		}
		want := []any{nil, nil, d.Title, d.ID}
		if d.Size != nil {
			want[0], want[1] = *d.Size, *d.Done
		}
		if !reflect.DeepEqual(next.After, want) {
			t.Errorf("position %v, want %v", next.After, want)
		}
		if _, err := parse(t, query+"&format=csv&bom=true&after="+cursor); err != nil {
			t.Errorf("the cursor is invalid for an export: %v", err)
		}
		for _, other := range []string{"", "sort=-size,done,title", "sort=size,done,title&title[ne]=x", query + "&q=a", query + "&size=1", query + "&size[in]=&size[in]=1"} {
			if _, err := parse(t, other+"&after="+cursor); !apperr.Is(err, apperr.ValidationFailed) {
				t.Errorf("the cursor of %s is valid for %s: %v", query, other, err)
			}
		}
		raw, _ := base64.RawURLEncoding.DecodeString(cursor)
		for i := range raw {
			forged := slices.Clone(raw)
			forged[i] ^= 1
			if _, err := parse(t, query+"&after="+base64.RawURLEncoding.EncodeToString(forged)); !apperr.Is(err, apperr.ValidationFailed) {
				t.Fatalf("byte %d altered: %v", i, err)
			}
		}
		values, _ := url.ParseQuery(query + "&after=" + cursor)
		otherList := testSpec()
		otherList.Name = "others"
		for name, test := range map[string]struct {
			lister *Lister
			of     []store.ID
			good   bool
		}{
			"another secret": {NewLister(testSpec(), NewCursors("other")), nil, false},
			"another list":   {NewLister(otherList, NewCursors("secret")), nil, false},
			"a list of one":  {lister, []store.ID{d.ID}, false},
			"a newer secret": {NewLister(testSpec(), NewCursors("new", "secret")), nil, true},
		} {
			if _, err := test.lister.Parse(values, test.of...); (err == nil) != test.good {
				t.Errorf("%s: %v", name, err)
			}
		}
		mine, err := lister.Parse(mustQuery(t, query), d.ID)
		if err != nil {
			t.Fatal(err)
		}
		values.Set("after", mine.cursor(reflect.ValueOf(d)))
		for of, good := range map[store.ID]bool{d.ID: true, store.NewID(): false} {
			if _, err := lister.Parse(values, of); (err == nil) != good {
				t.Errorf("the cursor of a list of %v for %v: %v", d.ID, of, err)
			}
		}
	}
}

func TestPageJSON(t *testing.T) {
	t.Parallel()
	n, id := int64(2), store.NewID()
	rows, records := []view{{id, "t", "b"}}, []store.Meta{{ID: id, Version: 7}}
	for _, test := range []struct {
		page Page[view]
		want string
	}{
		{Page[view]{Rows: []view{}}, `{"rows":[]}`},
		{Page[view]{Count: &n, Rows: rows, Next: "x"}, fmt.Sprintf(`{"count":2,"rows":[{"id":%q,"title":"t","body":"b"}],"next":"x"}`, id.Hex())},
		{Page[view]{Rows: rows, fields: []string{"id", "title"}}, fmt.Sprintf(`{"rows":[{"id":%q,"title":"t"}]}`, id.Hex())},
		{Page[view]{Rows: rows, etags: &etags{RecordETag.tag, records}}, fmt.Sprintf(`{"rows":[{"id":%q,"title":"t","body":"b","etag":"\"%[1]s-7-view\""}]}`, id.Hex())},
		{Page[view]{Rows: rows, etags: &etags{RecordETag.tag, records}, fields: []string{"id"}}, fmt.Sprintf(`{"rows":[{"etag":"\"%[1]s-7-view\"","id":"%[1]s"}]}`, id.Hex())},
		{Page[view]{Rows: []view{}, etags: &etags{RecordETag.tag, nil}}, `{"rows":[]}`},
	} {
		var got strings.Builder
		if err := store.EncodeJSON(&got, test.page.JSON()); err != nil || got.String() != test.want {
			t.Errorf("%s, %v, want %s", got.String(), err, test.want)
		}
	}
	type optional struct {
		Maybe string `json:"maybe,omitempty"`
	}
	var got strings.Builder
	want := fmt.Sprintf(`{"rows":[{"etag":"\"%s-7-optional\""}]}`, id.Hex())
	page := Page[optional]{Rows: make([]optional, 1), etags: &etags{RecordETag.tag, records}}
	if err := store.EncodeJSON(&got, page.JSON()); err != nil || got.String() != want {
		t.Errorf("%s, %v, want %s", got.String(), err, want)
	}
}

func TestSpecStore(t *testing.T) {
	t.Parallel()
	got := testSpec().Store(store.Index{Fields: []string{"title"}, Unique: true})
	var names []string
	for _, i := range got.Indexes {
		names = append(names, strings.Join(i.Fields, "+"))
	}
	want := "title createdAt title size done price+createdAt open+createdAt shut+createdAt userId+createdAt role+createdAt"
	if strings.Join(names, " ") != want || got.Name != "docs" || !got.Indexes[0].Unique {
		t.Errorf("%v, want %s", names, want)
	}
}

// TestParseExpand parses the expand parameter. The query must also read the fields of the references.
func TestParseExpand(t *testing.T) {
	t.Parallel()
	spec := testSpec()
	spec.Expand, spec.View = []string{"category", "tags"}, struct {
		ID     store.ID `json:"id"`
		Title  string   `json:"title"`
		Expand any      `json:"expand"`
	}{}
	l := NewLister(spec, NewCursors("secret"))
	for query, want := range map[string]string{
		"fields=title":                               "[] [createdAt id title] [id title]",
		"expand=tags,category,tags":                  "[tags category] [] []",
		"expand=tags&fields=title":                   "[tags] [createdAt id tags title] [id title expand]",
		"expand=createdAt":                           "expand one_of",
		"expand=category&expand=tags":                "expand type",
		"fields=expand":                              "fields one_of",
		"expand=&" + url.Values{"q": {"a"}}.Encode(): "[] [] []",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		q, err := l.Parse(values)
		got := fmt.Sprint(q.Expand, q.Fields, q.fields)
		var e *apperr.Error
		if errors.As(err, &e) {
			got = e.Fields[0].Param + " " + string(e.Fields[0].Code)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestOpaquePosition checks that a position in the log of changes shows nothing, is always the same, and is accepted in the form
// of earlier versions.
func TestOpaquePosition(t *testing.T) {
	t.Parallel()
	q := ChangesQuery{cursors: NewCursors("secret")}.Begin("")
	id := store.NewID()
	raws := map[int64][]byte{}
	for _, number := range []int64{1, 2, 1_000_000} {
		want := store.Position{Number: number, ChangeID: id}
		cursor := q.Cursor(want)
		if q.Cursor(want) != cursor {
			t.Errorf("two cursors of position %d", number)
		}
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := store.MarshalValues([]any{number, id})
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, plain[len(plain)/2:]) || len(raw) != tagBytes+len(plain) {
			t.Errorf("the cursor %x has the position %x", raw, plain)
		}
		earlier := base64.RawURLEncoding.EncodeToString(append(q.cursors.keys[0].tag(changesScope, plain), plain...))
		for _, accepted := range []string{cursor, earlier} {
			if got, lost := NewCursors("newer", "secret").openPosition(changesScope, accepted); got != want || lost {
				t.Errorf("%v, lost: %t, want %v", got, lost, want)
			}
		}
		raws[number] = raw
	}
	if len(raws[1]) != len(raws[1_000_000]) {
		t.Error("the length of a cursor depends on the position")
	}
}
