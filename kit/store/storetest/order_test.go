package storetest

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
)

// testOrder lists documents with equal and absent values in many orders, as a whole and page by page.
func testOrder(t *testing.T, open Opener) {
	c := openDocs(t, open, store.Index{Fields: []string{"count"}}, store.Index{Fields: []string{"name"}},
		unique("home.email"), store.Index{Fields: []string{"rank", "name"}}, store.Index{Fields: []string{"kind", "count"}})
	var docs []doc
	for i := range 24 {
		docs = append(docs, newDoc(fmt.Sprintf("%02d", i), func(d *doc) {
			d.Kind = []kind{"a", "b"}[i%2]
			d.Count = int64(i*7%5) - 2
			d.Score = float64(i*5%7)/2 - 1
			d.Active = i%3 == 0
			d.At = store.At(noon.AddDate(0, 0, i*11%6))
			d.Profile.City = []string{"Oslo", "oslo", "Århus", "Zürich"}[i%4]
			if i%4 != 1 {
				d.Name, d.Rank, d.Ratio = new([]string{"b", "a", ""}[i%3]), new(i%3), new(float64(i%5)/4)
				d.Flag, d.Due, d.Editor = new(i%2 == 0), new(store.At(noon.AddDate(0, 0, i%3))), new(store.ID{11: byte(i % 3)})
				d.Home = &profile{Email: new(fmt.Sprint("mail", i*7%24))}
			}
		}))
	}
	shuffled := slices.Clone(docs)
	for i := range shuffled {
		j := i * 5 % len(shuffled)
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	}
	insert(t, c, shuffled...)

	for _, sort := range [][]store.Order{
		nil, asc("id"), desc("id"), asc("title"), desc("title"), asc("kind"), desc("kind"),
		asc("name"), desc("name"), asc("count"), desc("count"), asc("rank"), desc("rank"), asc("score"), desc("score"),
		asc("ratio"), desc("ratio"), asc("active"), desc("active"), asc("flag"), desc("flag"), asc("at"), desc("at"),
		asc("due"), desc("due"), asc("editor"), desc("editor"), asc("profile.city"), desc("profile.city"),
		asc("home.email"), desc("home.email"),
		asc("rank", "name"), desc("rank", "name"), asc("flag", "id"), desc("flag", "id"),
		append(asc("rank"), desc("name")...), append(desc("rank"), asc("name")...),
		append(append(asc("flag"), desc("due")...), asc("ratio")...), append(desc("kind"), asc("rank", "score")...),
	} {
		for _, filter := range []struct {
			f      store.Filter
			member func(doc) bool
		}{
			{nil, func(doc) bool { return true }},
			{store.Eq("kind", "a"), func(d doc) bool { return d.Kind == "a" }},
			{store.And(store.Gt("score", 0), store.In("kind", "b", "a", "b", "c")), func(d doc) bool { return d.Score > 0 }}, // an engine can merge ranges of an index
			{store.In("rank", 0, 2), func(d doc) bool { return d.Rank != nil && *d.Rank != 1 }},
			{store.Or(store.Eq("name", nil), store.Gt("score", 0)), func(d doc) bool { return d.Name == nil || d.Score > 0 }},
		} {
			t.Run(fmt.Sprint(sort, filter.f), func(t *testing.T) {
				want := []string{}
				for _, d := range slices.SortedFunc(slices.Values(docs), byOrder(sort)) {
					if filter.member(d) {
						want = append(want, d.Title)
					}
				}
				q := store.Query{Filter: filter.f, Sort: sort}
				if got := titles(t, c, q); !slices.Equal(got, want) {
					t.Errorf("List has %q, want %q", got, want)
				}
				for _, limit := range []int{3, 7} {
					if got := walk(t, c, q, limit); !slices.Equal(got, want) {
						t.Errorf("pages of %d have %q, want %q", limit, got, want)
					}
				}
			})
		}
	}
}

func asc(fields ...string) (sort []store.Order) {
	for _, field := range fields {
		sort = append(sort, store.Order{Field: field})
	}
	return sort
}

func desc(fields ...string) (sort []store.Order) {
	for _, field := range fields {
		sort = append(sort, store.Order{Field: field, Desc: true})
	}
	return sort
}

// walk lists page by page with After.
func walk(t *testing.T, c *store.Collection[doc], q store.Query, limit int) []string {
	t.Helper()
	names := []string{}
	for q.Limit = limit; ; {
		docs, err := c.List(t.Context(), q)
		must(t, err)
		for _, d := range docs {
			names = append(names, d.Title)
		}
		if len(docs) < limit || len(names) > 1000 {
			return names
		}
		q.After = after(docs[len(docs)-1], q.Sort)
	}
}

// after returns the position of d in an order for Query.After.
func after(d doc, sort []store.Order) []any {
	var values []any
	for _, order := range sort {
		values = append(values, value(d, order.Field))
	}
	return append(values, d.ID)
}

// value returns the field with the JSON path, or nil if the field is absent.
func value(d doc, path string) any {
	if path == "id" {
		return d.ID
	}
	v := reflect.ValueOf(d)
	for name := range strings.SplitSeq(path, ".") {
		v = reflect.Indirect(v)
		if !v.IsValid() {
			return nil
		}
		v = v.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
		if !v.IsValid() {
			return nil
		}
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	return v.Interface()
}

// byOrder returns the comparison of documents by which List must sort.
func byOrder(sort []store.Order) func(a, b doc) int {
	last := false
	if len(sort) > 0 {
		last = sort[len(sort)-1].Desc
	}
	sort = append(slices.Clone(sort), store.Order{Field: "id", Desc: last})
	return func(a, b doc) int {
		for _, order := range sort {
			c := compare(value(a, order.Field), value(b, order.Field))
			if order.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
}

func compare(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	switch a := a.(type) {
	case string:
		return strings.Compare(a, b.(string))
	case kind:
		return cmp.Compare(a, b.(kind))
	case int:
		return cmp.Compare(a, b.(int))
	case int64:
		return cmp.Compare(a, b.(int64))
	case float64:
		return cmp.Compare(a, b.(float64))
	case bool:
		switch {
		case a == b.(bool):
			return 0
		case a:
			return 1
		}
		return -1
	case store.Time:
		return a.Compare(b.(store.Time).Time)
	case store.ID:
		other := b.(store.ID)
		return bytes.Compare(a[:], other[:])
	}
	panic(fmt.Sprintf("storetest: no order for %T", a))
}

// testOrderText checks that strings sort by code point, which differs from the order of any language and of UTF-16.
func testOrderText(t *testing.T, open Opener) {
	c := openDocs(t, open)
	want := []string{
		"", "\x00", " ", "!", "0", "10", "2", "A", "Ab", "B", "Z", "_", "a", "a b", "ab", "abc", "b", "z", "~", "e\u0301",
		"Ä", "ä", "é", "ß", "Ω", "я", "א", "中", "\ue000", "\uff5e", "\U00010000", "😀", "\U0010ffff",
	}
	slices.Sort(want)
	for _, text := range slices.Backward(want) {
		insert(t, c, newDoc(text))
	}
	if got := titles(t, c, store.Query{Sort: asc("title")}); !slices.Equal(got, want) {
		t.Errorf("upwards: %q, want %q", got, want)
	}
	if got := walk(t, c, store.Query{Sort: asc("title")}, 4); !slices.Equal(got, want) {
		t.Errorf("page by page: %q, want %q", got, want)
	}
	for i, text := range want {
		if n, err := c.Count(t.Context(), store.Lt("title", text)); err != nil || n != int64(i) {
			t.Errorf("%d texts are less than %q (%v), want %d", n, text, err, i)
		}
	}
	slices.Reverse(want)
	if got := titles(t, c, store.Query{Sort: desc("title")}); !slices.Equal(got, want) {
		t.Errorf("downwards: %q, want %q", got, want)
	}
}

// testAfterRemoved checks that After works if its row was deleted.
func testAfterRemoved(t *testing.T, open Opener) {
	c := openDocs(t, open)
	var docs []doc
	for i := range 6 {
		docs = append(docs, newDoc(fmt.Sprint(i), func(d *doc) { d.Count = int64(i / 2) }))
	}
	insert(t, c, docs...)
	q := store.Query{Sort: asc("count"), Limit: 2, After: after(docs[2], asc("count"))}
	_, err := c.Delete(t.Context(), store.In("id", docs[0].ID, docs[2].ID))
	must(t, err)
	insert(t, c, newDoc("first", func(d *doc) { d.Count = -1 }))
	if got, want := titles(t, c, q), []string{"3", "4"}; !slices.Equal(got, want) {
		t.Errorf("the page has %q, want %q", got, want)
	}
}

func testFields(t *testing.T, open Opener) {
	c := openDocs(t, open)
	full := newDoc("full", func(d *doc) {
		d.Name, d.Count, d.Score, d.Active, d.Editor = new("n\x00\"}"), 7, 1e300, true, new(store.NewID())
		d.Profile, d.Tags = profile{City: "Oslo", Deep: &deep{Value: new("v")}}, []string{"a", "b"}
		d.Labels, d.Parts = map[string]string{"k": "v"}, []part{}
	})
	bare := newDoc("bare", func(d *doc) { d.Tags, d.Parts = []string{}, []part{} })
	insert(t, c, full, bare)
	for _, test := range []struct {
		fields []string
		read   func(doc) any
	}{
		{nil, func(d doc) any { return d }},
		{[]string{"id"}, func(d doc) any { return d.ID }},
		{[]string{"title"}, func(d doc) any { return []any{d.ID, d.Title} }},
		{[]string{"id", "title"}, func(d doc) any { return []any{d.ID, d.Title} }},
		{[]string{"name"}, func(d doc) any { return []any{d.ID, d.Name} }},
		{[]string{"profile", "tags", "labels", "home"}, func(d doc) any {
			return []any{d.ID, d.Profile, d.Tags, d.Labels, d.Home}
		}},
		{[]string{"score", "count", "active", "editor", "version", "createdAt"}, func(d doc) any {
			return []any{d.ID, d.Score, d.Count, d.Active, d.Editor, d.Version, d.CreatedAt}
		}},
	} {
		t.Run(fmt.Sprint(test.fields), func(t *testing.T) {
			got, err := c.List(t.Context(), store.Query{Fields: test.fields, Sort: desc("title")})
			must(t, err)
			for i, stored := range []doc{full, bare} {
				if got, want := test.read(got[i]), test.read(stored); !reflect.DeepEqual(got, want) {
					t.Errorf("the fields are %+v, want %+v", got, want)
				}
			}
		})
	}
}
