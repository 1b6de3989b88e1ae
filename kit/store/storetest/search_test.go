package storetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
)

func testSearch(t *testing.T, open Opener) {
	c := openDocs(t, open)
	insert(t, c,
		newDoc("The quick brown fox", func(d *doc) { d.Body, d.Profile.City = new("jumps over the lazy dog"), "Køge" }),
		newDoc("Quicksilver", func(d *doc) { d.Body, d.Name = new("Brown, heavy; and 100% pure"), new("unsearched") }),
		newDoc("Nothing"),
	)
	const fox, silver, nothing = "The quick brown fox", "Quicksilver", "Nothing"
	for _, test := range []struct {
		query string
		want  []string
	}{
		{"fox", []string{fox}},
		{"FOX", []string{fox}},
		{"quick", []string{fox, silver}},
		{"qu bro", []string{fox, silver}},
		{"brown quick", []string{fox, silver}},
		{"quicks", []string{silver}},
		{"jumps fox", []string{fox}}, // across fields
		{"koge laz quick", []string{fox}},
		{"jumps silver", nil},
		{"ox", nil},
		{"silver", nil},
		{"foxes", nil},
		{"quick quick q", []string{fox, silver}},
		{"100", []string{silver}},
		{"n", []string{nothing}},
		{"unsearched", nil}, // in a field without search
		{"  fox\t\n dog ", []string{fox}},
		{"", nil},
		{"   ", nil},
		{"%", nil},
		{"!?", nil},
	} {
		t.Run(test.query, func(t *testing.T) { wantTitles(t, c, store.Search(test.query), test.want...) })
	}
}

func testSearchUnicode(t *testing.T, open Opener) {
	c := openDocs(t, open)
	for _, test := range []struct {
		text   string
		finds  []string
		misses []string
	}{
		{"Crème brûlée", []string{"creme", "CRÈME", "cre\u0300me", "brulee"}, []string{"reme"}},
		{"Straße", []string{"strasse", "STRASSE", "straß", "stras"}, []string{"strase"}},
		{"İzmir ıslak", []string{"izmir", "IZMIR", "ISLAK", "ıslak"}, nil},
		{"Ὀδυσσεύς", []string{"οδυσσευς", "ΟΔΥΣΣΕΥΣ"}, []string{"δυσσ"}},
		{"Łódź", []string{"lodz", "ŁÓDŹ"}, nil},
		{"Щука", []string{"щук", "ЩУКА"}, []string{"ука"}},
		{"ﬁeld", []string{"field", "FIEL"}, nil},
		{"Ｆｕｌｌ ｗｉｄｔｈ", []string{"full", "width"}, nil},
		{"東京都庁舎", []string{"東京", "京都", "都庁舎", "舎", "東京都庁舎"}, []string{"京庁", "東都"}},
		{"我在中华人民共和国工作", []string{"中华人民共和国", "华人民共和国工作", "人民"}, []string{"中华民国"}},
		{"カタカナとひらがな", []string{"タカナ", "ひらがな", "ナと"}, []string{"ガタ"}},
		{"สวัสดีชาวโลก", []string{"ชาว", "โลก", "สวัสดี"}, []string{"โลกสวัสดี"}},
		{"대한민국 만세", []string{"대한", "만세", "대한민국"}, []string{"민국"}},
		{"مُحَمَّد", []string{"محمد", "محم"}, []string{"حمد"}},
		{"release v2.10 👍", []string{"v2 10", "10", "release👍"}, []string{"0"}},
	} {
		t.Run(test.text, func(t *testing.T) {
			d := newDoc(test.text)
			insert(t, c, d)
			for _, query := range test.finds {
				wantTitles(t, c, store.And(store.Eq("id", d.ID), store.Search(query)), test.text)
			}
			for _, query := range test.misses {
				wantTitles(t, c, store.And(store.Eq("id", d.ID), store.Search(query)))
			}
		})
	}
}

// testSearchPlainText checks that characters of patterns and query languages have no special meaning in a query.
func testSearchPlainText(t *testing.T, open Opener) {
	c := openDocs(t, open)
	const title = `not near and or select fox* "dog" title`
	insert(t, c, newDoc(title))
	for _, query := range []string{
		"NOT", "NEAR", "AND", "OR", "NOT NEAR", "fox AND dog", "dog AND", "NEAR(fox dog)", "OR fox", "SELECT",
		`"fox"`, `"fox`, `fox"`, `""fox""`, "fox*", "*fox", "^fox", "-fox", "+fox", "(fox", "fox)", "(fox)", "{fox}", "[fox]",
		"fox%", "%fox%", "_fox_", "fox.*", ".*fox", "^fox$", "fox?", "fox|dog", `fox\`, "fox:dog", ":fox", "title:fox",
		"fox;", "'fox'", "fox' OR ''='", "fox\x00dog", "fox--", "/* fox */", "fox/dog", "\xfffox\xc3", "$fox", "{$fox}",
	} {
		t.Run(query, func(t *testing.T) { wantTitles(t, c, store.Search(query), title) })
	}
	for _, query := range []string{
		"f.x", "f_x", "f%x", "f*x", "f?x", "f[o]x", "x|fox", "dog NOT cat", "cat OR fox", "(?i)fox", "NEAR(fox dog, 3)",
		`\bfox`,
	} {
		t.Run(query, func(t *testing.T) { wantTitles(t, c, store.Search(query)) })
	}
}

func testSearchCombined(t *testing.T, open Opener) {
	c := openDocs(t, open, store.Index{Fields: []string{"count"}}, store.Index{Fields: []string{"kind", "count"}})
	var docs []doc
	for i := range 30 {
		docs = append(docs, newDoc([]string{"apple", "pear", "apple pie"}[i%3], func(d *doc) {
			d.Kind, d.Count = []kind{"a", "b"}[i%2], int64(i*7%4)
			if i%5 == 0 {
				d.Name = new("rare")
			}
		}))
	}
	insert(t, c, docs...)
	for _, test := range []struct {
		name   string
		f      store.Filter
		member func(doc) bool
	}{
		{"alone", store.Search("app"), func(d doc) bool { return d.Title != "pear" }},
		{"and equal", store.And(store.Search("app"), store.Eq("kind", "a")),
			func(d doc) bool { return d.Title != "pear" && d.Kind == "a" }},
		{"and range", store.And(store.Gt("count", 1), store.Search("apple pi")),
			func(d doc) bool { return d.Title == "apple pie" && d.Count > 1 }},
		{"and absent", store.And(store.Search("pear"), store.Eq("name", nil)),
			func(d doc) bool { return d.Title == "pear" && d.Name == nil }},
		{"or", store.Or(store.Search("pie"), store.Eq("count", 0)),
			func(d doc) bool { return d.Title == "apple pie" || d.Count == 0 }},
		{"two searches", store.And(store.Search("app"), store.Search("pie")),
			func(d doc) bool { return d.Title == "apple pie" }},
		{"either search", store.Or(store.Search("pear"), store.Search("pie")),
			func(d doc) bool { return d.Title != "apple" }},
		{"nothing found", store.And(store.Search("plum"), store.Eq("kind", "a")), func(doc) bool { return false }},
		{"no word", store.And(store.Search("%"), store.Eq("kind", "a")), func(doc) bool { return false }},
		{"no word, or", store.Or(store.Search("%"), store.Eq("kind", "a")), func(d doc) bool { return d.Kind == "a" }},
	} {
		for _, sort := range [][]store.Order{
			nil, desc("count"), asc("name"), desc("name"), append(asc("kind"), desc("count")...),
		} {
			var want []doc
			for _, d := range docs {
				if test.member(d) {
					want = append(want, d)
				}
			}
			slices.SortFunc(want, byOrder(sort))
			q := store.Query{Filter: test.f, Sort: sort}
			got, err := c.List(t.Context(), q)
			must(t, err)
			if !slices.EqualFunc(got, want, func(a, b doc) bool { return a.ID == b.ID }) {
				t.Errorf("%s, %v: %d documents, want %d in order", test.name, sort, len(got), len(want))
			}
			if n := len(walk(t, c, q, 4)); n != len(want) {
				t.Errorf("%s, %v: page by page %d documents, want %d", test.name, sort, n, len(want))
			}
			n, err := c.Count(t.Context(), test.f)
			must(t, err)
			if n != int64(len(want)) {
				t.Errorf("%s: Count is %d, want %d", test.name, n, len(want))
			}
		}
	}

	t.Run("First, Update, Delete", func(t *testing.T) {
		pear, err := c.First(t.Context(), store.Search("pear"))
		must(t, err)
		if pear.ID != docs[1].ID {
			t.Errorf("First has %v, want the oldest", pear.ID)
		}
		got, err := c.Update(t.Context(), store.Search("pear"), store.Set("title", "plum"))
		must(t, err)
		if got.Title != "plum" {
			t.Errorf("Update returned %q", got.Title)
		}
		n, err := c.Delete(t.Context(), store.Search("pear"))
		must(t, err)
		if n != 9 {
			t.Errorf("Delete = %d, want 9", n)
		}
		for query, want := range map[string]int64{"pear": 0, "plum": 1, "p": 11, "apple": 20} {
			n, err := c.Count(t.Context(), store.Search(query))
			must(t, err)
			if n != want {
				t.Errorf("then %q finds %d documents, want %d", query, n, want)
			}
		}
	})
}

// testSearchFollows checks that a search sees each change of a searched field, and no change of other fields.
func testSearchFollows(t *testing.T, open Opener) {
	c := openDocs(t, open)
	d := newDoc("red", func(d *doc) { d.Body, d.Profile.City = new("green"), "Oslo" })
	insert(t, c, d)
	for _, test := range []struct {
		change store.Change
		finds  string // the search finds each of these words, and no other word
	}{
		{store.Inc("count", 1), "red green oslo"},
		{store.Set("title", "blue"), "blue green oslo"},
		{store.Set("body", nil), "blue oslo"},
		{store.Set("body", "white blue"), "blue white oslo"},
		{store.Set("title", ""), "blue white oslo"},
		{store.Set("profile.city", "Bergen"), "blue white bergen"},
		{store.Set("profile.email", "red@example.com"), "blue white bergen"},
		{store.Set("profile", profile{City: "Red"}), "blue white red"},
		{store.Unset("profile.city"), "blue white"},
		{store.Unset("body"), ""},
		{store.Set("title", "%"), ""},
		{store.Set("title", "green"), "green"},
	} {
		_, err := c.Update(t.Context(), store.Eq("id", d.ID), test.change)
		must(t, err)
		for word := range strings.FieldsSeq("red green blue white oslo bergen") {
			n, err := c.Count(t.Context(), store.Search(word))
			must(t, err)
			if found := n == 1; found != slices.Contains(strings.Fields(test.finds), word) {
				t.Errorf("after %v, %q is found: %t", test.change, word, found)
			}
		}
	}
	_, err := c.Delete(t.Context(), store.Eq("id", d.ID))
	must(t, err)
	wantTitles(t, c, store.Search("green"))
	insert(t, c, d)
	wantTitles(t, c, store.Search("green"), "red")
}

func testSearchLongText(t *testing.T, open Opener) {
	c := openDocs(t, open)
	word := strings.Repeat("x", 60)
	insert(t, c, newDoc("long", func(d *doc) {
		d.Body = new("begin " + strings.Repeat("filler and stuffing ", 1000) + word + " end")
	}))
	for _, query := range []string{"begin", "end", "begin end fill", word, word[:20], word + "x"} {
		wantTitles(t, c, store.Search(query), "long")
	}
	wantTitles(t, c, store.Search("begin nothing"))
	wantTitles(t, c, store.Search(strings.Repeat("begin end ", 20)), "long")
}

// testSearchOfNothing searches a collection that declares no searched fields.
func testSearchOfNothing(t *testing.T, open Opener) {
	spec := docSpec()
	spec.Search = nil
	c := prepare(t, open(t), spec)
	insert(t, c, newDoc("a"))
	wantTitles(t, c, store.Search("a"))
	wantTitles(t, c, store.Or(store.Search("a"), store.Eq("title", "a")), "a")
}

// testSearchManyWords stores strings with as many words as possible, and searches for the last words.
func testSearchManyWords(t *testing.T, open Opener) {
	if testing.Short() {
		t.Skip("indexes 80,000 words")
	}
	c := openDocs(t, open)
	const characters = 20_000
	random := uint32(1)
	var spaced, han strings.Builder
	for i := 0; spaced.Len() < characters; i++ {
		spaced.WriteString(strconv.FormatInt(int64(i), 36) + " ")
	}
	for range characters {
		random = random*1664525 + 1013904223
		han.WriteRune('一' + rune((random>>8)%20_000))
	}
	d := newDoc("unspaced", func(d *doc) { d.Body = new(han.String() + "龍龍") })
	insert(t, c, newDoc("with spaces", func(d *doc) { d.Body = new(spaced.String() + "last") }), d)
	find := func(want int64, queries ...string) {
		t.Helper()
		for _, query := range queries {
			n, err := c.Count(t.Context(), store.Search(query))
			must(t, err)
			if n != want {
				t.Errorf("%q finds %d documents, want %d", query, n, want)
			}
		}
	}
	update := func(changes ...store.Change) {
		t.Helper()
		_, err := c.Update(t.Context(), store.Eq("id", d.ID), changes...)
		must(t, err)
	}
	find(1, "last", "0 zz 10 last spaces", "龍龍 unspaced")
	find(0, "龍龍 last")
	update(store.Set("title", "changed"))
	find(1, "龍龍 changed")
	find(0, "unspaced")
	update(store.Set("body", han.String()+"龜龜"))
	find(1, "龜龜 changed")
	find(0, "龍")
	update(store.Set("body", "short"))
	find(1, "short changed")
	find(0, "龜")
	_, err := c.Delete(t.Context(), store.Eq("title", "with spaces"))
	must(t, err)
	find(0, "last")
}
