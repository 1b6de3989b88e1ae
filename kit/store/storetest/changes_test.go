package storetest

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// maxExact is the largest number up to which every JSON implementation represents integers exactly (RFC 8259, section 6).
const maxExact = 1<<53 - 1

// testChanges checks each change on two documents: one has all fields, the other has only the required fields.
func testChanges(t *testing.T, open Opener) {
	c := openDocs(t, open)
	full := func(d *doc) {
		d.Title, d.Body, d.Name, d.Rank, d.Ratio, d.Flag = "title", new("body"), new("name"), new(1), new(0.5), new(true)
		d.Due, d.Editor = new(noon), new(store.NewID())
		d.Profile = profile{Email: new("a@example.com"), City: "Oslo", Visits: 7, Deep: &deep{Value: new("deep")}}
		d.Home = &profile{City: "Rome"}
		d.Tags, d.Labels = []string{"x", "y"}, map[string]string{"k": "v"}
	}
	later := store.At(noon.Add(time.Hour + time.Millisecond))
	id := store.NewID()

	for _, test := range []struct {
		name    string
		changes []store.Change
		edit    func(*doc) // the same change, on the document
	}{
		{"nothing", nil, func(*doc) {}},
		{"set text", set("title", "new"), func(d *doc) { d.Title = "new" }},
		{"set text, empty", set("name", ""), func(d *doc) { d.Name = new("") }},
		{"set text, by pointer", set("name", new("new")), func(d *doc) { d.Name = new("new") }},
		{"set text of a named type", set("kind", kind("k")), func(d *doc) { d.Kind = "k" }},
		{"set int", set("rank", 42), func(d *doc) { d.Rank = new(42) }},
		{"set int64", set("count", int64(-maxExact)), func(d *doc) { d.Count = -maxExact }},
		{"set float", set("ratio", 0.1), func(d *doc) { d.Ratio = new(0.1) }},
		{"set whole float", set("score", 3.0), func(d *doc) { d.Score = 3 }},
		{"set true", set("active", true), func(d *doc) { d.Active = true }},
		{"set false", set("flag", false), func(d *doc) { d.Flag = new(false) }},
		{"set time", set("due", later), func(d *doc) { d.Due = &later }},
		{"set time, by pointer", set("at", &later), func(d *doc) { d.At = later }},
		{"set ID", set("editor", id), func(d *doc) { d.Editor = &id }},
		{"set slice", set("tags", []string{"z"}), func(d *doc) { d.Tags = []string{"z"} }},
		{"set slice, empty", set("tags", []string{}), func(d *doc) { d.Tags = []string{} }},
		{"set slice of structs", set("parts", []part{{"p", 1, later}}), func(d *doc) { d.Parts = []part{{"p", 1, later}} }},
		{"set map", set("labels", map[string]string{"a": "b"}), func(d *doc) { d.Labels = map[string]string{"a": "b"} }},
		{"set struct", set("profile", profile{City: "Bonn", Deep: &deep{}}), func(d *doc) {
			d.Profile = profile{City: "Bonn", Deep: &deep{}}
		}},
		{"set struct, by pointer", set("home", &profile{Email: new("e")}), func(d *doc) {
			d.Home = &profile{Email: new("e")}
		}},
		{"set nested", set("profile.city", "Bonn"), func(d *doc) { d.Profile.City = "Bonn" }},
		{"set nested, two levels", set("profile.deep.value", "v"), func(d *doc) { d.Profile.Deep = &deep{Value: new("v")} }},
		{"set nil", set("name", nil), func(d *doc) { d.Name = nil }},
		{"set nil pointer", set("due", (*store.Time)(nil)), func(d *doc) { d.Due = nil }},
		{"set nil, nested", set("profile.email", nil), func(d *doc) { d.Profile.Email = nil }},
		{"set text like an operator", set("title", "$set"), func(d *doc) { d.Title = "$set" }},
		{"set text like JSON", set("title", `{"$gt":""}`), func(d *doc) { d.Title = `{"$gt":""}` }},
		{"set text like a path", set("title", "$profile.city"), func(d *doc) { d.Title = "$profile.city" }},
		{"unset text", unset("name"), func(d *doc) { d.Name = nil }},
		{"unset number", unset("count"), func(d *doc) { d.Count = 0 }},
		{"unset slice", unset("tags"), func(d *doc) { d.Tags = nil }},
		{"unset map", unset("labels"), func(d *doc) { d.Labels = nil }},
		{"unset struct", unset("home"), func(d *doc) { d.Home = nil }},
		{"unset nested", unset("profile.visits"), func(d *doc) { d.Profile.Visits = 0 }},
		{"inc", inc("count", 5), func(d *doc) { d.Count += 5 }},
		{"inc by zero", inc("count", 0), func(*doc) {}},
		{"inc, negative", inc("count", -5), func(d *doc) { d.Count -= 5 }},
		{"inc, large", inc("count", maxExact), func(d *doc) { d.Count += maxExact }},
		{"inc nested", inc("profile.visits", 2), func(d *doc) { d.Profile.Visits += 2 }},
		{"inc perhaps absent", inc("rank", 3), func(d *doc) {
			if d.Rank == nil {
				d.Rank = new(0)
			}
			*d.Rank += 3
		}},
		{"several", []store.Change{
			store.Set("title", "new"), store.Unset("name"), store.Inc("count", 2), store.Set("profile.city", "Bonn"),
			store.Inc("profile.visits", 1), store.Set("updatedAt", later),
		}, func(d *doc) {
			d.Title, d.Name, d.Profile.City, d.UpdatedAt = "new", nil, "Bonn", later
			d.Count += 2
			d.Profile.Visits++
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, before := range []doc{newDoc("full", full), newDoc("bare")} {
				insert(t, c, before)
				want := before
				test.edit(&want)
				got, err := c.Update(t.Context(), store.Eq("id", before.ID), test.changes...)
				must(t, err)
				if want.Version++; reflect.DeepEqual(want.withVersion(1), before) && got.Version == 1 { // before already had the values
					want.Version = 1
				}
				wantDoc(t, got, want)
				got, err = c.Get(t.Context(), before.ID)
				must(t, err)
				wantDoc(t, got, want)
				if slices.ContainsFunc(test.changes, func(change store.Change) bool { return change.Op == store.OpInc }) {
					continue
				}
				got, err = c.Update(t.Context(), store.Eq("id", before.ID), test.changes...)
				must(t, err)
				wantDoc(t, got, want) // also the version
			}
		})
	}

	t.Run("set nested under an absent parent", func(t *testing.T) {
		bare := newDoc("bare")
		insert(t, c, bare)
		got, err := c.Update(t.Context(), store.Eq("id", bare.ID),
			store.Set("home.deep.value", "v"), store.Inc("home.visits", 1))
		must(t, err)
		if got.Home == nil || got.Home.Visits != 1 || got.Home.Deep == nil || *got.Home.Deep.Value != "v" {
			t.Errorf("home is %+v", got.Home)
		}
		wantTitles(t, c, store.And(store.Eq("id", bare.ID), store.Eq("home.deep.value", "v")), "bare")
	})

	t.Run("set below what a struct left nil", func(t *testing.T) {
		d := newDoc("nil below")
		insert(t, c, d)
		_, err := c.Update(t.Context(), store.Eq("id", d.ID), store.Set("home", profile{City: "Rome"}))
		must(t, err)
		got, err := c.Update(t.Context(), store.Eq("id", d.ID), store.Set("home.deep.value", "v"))
		must(t, err)
		d.Home, d.Version = &profile{City: "Rome", Deep: &deep{Value: new("v")}}, 3
		wantDoc(t, got, d)
	})

	t.Run("unset is absent", func(t *testing.T) {
		d := newDoc("unset", full)
		insert(t, c, d)
		_, err := c.Update(t.Context(), store.Eq("id", d.ID), store.Unset("name"), store.Set("profile.email", nil))
		must(t, err)
		wantTitles(t, c, store.And(store.Eq("id", d.ID), store.Eq("name", nil), store.Eq("profile.email", nil)), "title")
	})
}

func set(field string, v any) []store.Change   { return []store.Change{store.Set(field, v)} }
func unset(field string) []store.Change        { return []store.Change{store.Unset(field)} }
func inc(field string, n int64) []store.Change { return []store.Change{store.Inc(field, n)} }
func wantDoc(t *testing.T, got, want doc) {
	t.Helper()
	if want.Tags == nil { // an absent list is read as an empty list
		want.Tags = []string{}
	}
	if want.Parts == nil {
		want.Parts = []part{}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the document is\n%+v, want\n%+v", got, want)
	}
}

// testVersion checks that an update increments the version only if it modifies the document.
func testVersion(t *testing.T, open Opener) {
	c := openDocs(t, open)
	d := newDoc("a", func(d *doc) { d.Name, d.Tags, d.Profile.Email = new("n"), []string{"t"}, new("e") })
	insert(t, c, d)
	want := int64(1)
	for _, test := range []struct {
		changes  []store.Change
		modifies bool
	}{
		{nil, false},
		{set("title", "a"), false},
		{set("title", "b"), true},
		{inc("count", 0), true},
		{unset("name"), true},
		{unset("name"), false},
		{set("name", (*string)(nil)), false},
		{set("tags", []string{"t"}), false},
		{set("tags", []string{"t", "t"}), true},
		{set("profile", profile{Email: new("e")}), false},
		{set("profile.email", "e"), false},
		{[]store.Change{store.Set("title", "b"), store.Set("profile.email", "f")}, true},
	} {
		got, err := c.Update(t.Context(), store.And(store.Eq("id", d.ID), store.Eq("version", want)), test.changes...)
		must(t, err)
		if test.modifies {
			want++
		}
		if got.Version != want {
			t.Errorf("after %v the version is %d, want %d", test.changes, got.Version, want)
			want = got.Version
		}
	}
	for _, changes := range [][]store.Change{nil, set("title", "b")} {
		_, err := c.Update(t.Context(), store.And(store.Eq("id", d.ID), store.Eq("version", want-1)), changes...)
		wantCode(t, err, apperr.NotFound)
	}
}

func testRoundTrip(t *testing.T, open Opener) {
	c := openDocs(t, open)
	since := store.At(time.Date(2001, time.February, 3, 4, 5, 6, 7e6, time.UTC))
	for _, d := range []doc{
		newDoc("bare"),
		newDoc("empty", func(d *doc) {
			d.Body, d.Name, d.Rank, d.Ratio, d.Flag = new(""), new(""), new(0), new(0.0), new(false)
			d.Due, d.Editor, d.Home = new(store.Time{}), new(store.ID{}), &profile{}
			d.Tags, d.Parts, d.Labels = []string{}, []part{}, map[string]string{}
		}),
		newDoc("full", func(d *doc) {
			d.Body, d.Name, d.Rank, d.Ratio, d.Flag = new("body"), new("name"), new(-5), new(2.5), new(true)
			d.Kind, d.Count, d.Score, d.Active, d.At = "kind", 77, -0.25, true, since
			d.Due, d.Owner, d.Editor = &since, store.NewID(), new(store.NewID())
			d.Profile = profile{Email: new("e"), City: "Oslo", Visits: 3, Deep: &deep{Value: new("v")}}
			d.Home = &profile{Deep: &deep{}}
			d.Tags = []string{"b", "", "a", "b"}
			d.Parts = []part{{"one", 1, since}, {"two", 2, noon}}
			d.Labels = map[string]string{"a": "1", "ключ": "значение", "with blank": ""}
		}),
	} {
		t.Run(d.Title, func(t *testing.T) {
			insert(t, c, d)
			got, err := c.Get(t.Context(), d.ID)
			must(t, err)
			wantDoc(t, got, d)
		})
	}
}

// testTexts checks that any string is stored and updated without change, and can be found.
func testTexts(t *testing.T, open Opener) {
	c := openDocs(t, open)
	long := make([]byte, 100_000)
	for i := range long {
		long[i] = "long text, 100,000 characters\n"[i%30]
	}
	for i, text := range []string{
		"", " ", "  blanks  ", "$gt", "$where", "$", "a.b", ".", "{}", `{"$gt":""}`, "[]", "null", "true", "0", "1e3",
		`'`, `"`, "`", `\`, `\\`, `\u0041`, `\0`, "%", "_", "*", "?", "?1", ":name", "@name", "--", ";", "/*", "x'00'",
		"'; DROP TABLE test; --", "<script>&amp;</script>", "\u2028\u2029", "\t\r\n", "\x00", "a\x00b", "\x00\x01\x1f\x7f",
		"日本語", "مرحبا", "e\u0301", "\u00e9", "\ufeff", "\ufffd", "👩‍💻👍🏽", "\U0010ffff", string(long),
	} {
		name := fmt.Sprintf("%d", i)
		t.Run(name, func(t *testing.T) {
			d := newDoc(name, func(d *doc) {
				d.Name, d.Profile.Email, d.Tags = &text, &text, []string{text}
			})
			insert(t, c, d)
			got, err := c.First(t.Context(), store.And(store.Eq("name", text), store.Eq("profile.email", text)))
			must(t, err)
			wantDoc(t, got, d)
			wantTitles(t, c, store.In("name", text, "another"), name)
			wantTitles(t, c, store.And(store.Gte("name", text), store.Lte("name", text)), name)

			got, err = c.Update(t.Context(), store.Eq("name", text),
				store.Set("title", text), store.Set("labels", map[string]string{"k": text}))
			must(t, err)
			d.Title, d.Labels, d.Version = text, map[string]string{"k": text}, 2
			wantDoc(t, got, d)
		})
	}
}

func testTimes(t *testing.T, open Opener) {
	c := openDocs(t, open)
	times := []time.Time{ // ascending
		{},
		time.Date(1582, time.October, 15, 0, 0, 0, 0, time.UTC),
		time.Date(1969, time.December, 31, 23, 59, 59, 999e6, time.UTC),
		time.Unix(0, 0),
		time.UnixMilli(1),
		time.Date(2024, time.February, 29, 23, 59, 59, 0, time.FixedZone("east", 5*3600)),
		time.Date(2024, time.February, 29, 23, 59, 59, 123456789, time.UTC),
		time.Date(9999, time.December, 31, 23, 59, 59, 999e6, time.UTC),
	}
	var want []string
	for _, when := range slices.Backward(times) {
		insert(t, c, newDoc(store.At(when).String(), func(d *doc) { d.At = store.At(when) }))
	}
	for i, when := range times {
		at := store.At(when)
		want = append(want, at.String())
		got, err := c.First(t.Context(), store.Eq("at", at))
		must(t, err)
		if got.At != at || got.At.Location() != time.UTC || got.Title != at.String() {
			t.Errorf("%v came back as %v", at, got.At)
		}
		if n, err := c.Count(t.Context(), store.Lt("at", at)); err != nil || n != int64(i) {
			t.Errorf("%d documents are before %v (%v), want %d", n, at, err, i)
		}
	}
	if got := titles(t, c, store.Query{Sort: []store.Order{{Field: "at"}}}); !slices.Equal(got, want) {
		t.Errorf("sorted by time: %q, want %q", got, want)
	}
}

func testNumbers(t *testing.T, open Opener) {
	c := openDocs(t, open)
	for i, n := range []int64{
		-maxExact, -maxExact + 1, -1 << 31, -1, 0, 1, 1<<31 - 1, 1 << 31, 1 << 32, maxExact - 1, maxExact,
	} {
		insert(t, c, newDoc("int", func(d *doc) { d.Count = n }))
		got, err := c.First(t.Context(), store.And(store.Eq("title", "int"), store.Eq("count", n)))
		must(t, err)
		if got.Count != n {
			t.Errorf("%d came back as %d", n, got.Count)
		}
		below, err := c.Count(t.Context(), store.And(store.Eq("title", "int"), store.Lt("count", n)))
		must(t, err)
		if below != int64(i) {
			t.Errorf("%d integers are less than %d, want %d", below, n, i)
		}
	}
	for i, x := range []float64{
		-math.MaxFloat64, -1e21, -123456.789, -1, -0.1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1e-7,
		0.1, 0.30000000000000004, 1.0 / 3, 2.0 / 3, 5, 1e15 + 0.3, 1.7976931348623155e308, math.MaxFloat64,
	} {
		insert(t, c, newDoc("float", func(d *doc) { d.Score = x }))
		got, err := c.First(t.Context(), store.And(store.Eq("title", "float"), store.Eq("score", x)))
		must(t, err)
		if got.Score != x {
			t.Errorf("%g came back as %g", x, got.Score)
		}
		got, err = c.Update(t.Context(), store.Eq("id", got.ID), store.Set("ratio", x))
		must(t, err)
		if *got.Ratio != x {
			t.Errorf("%g was set to %g", x, *got.Ratio)
		}
		below, err := c.Count(t.Context(), store.And(store.Eq("title", "float"), store.Lt("score", x)))
		must(t, err)
		if below != int64(i) {
			t.Errorf("%d numbers are less than %g, want %d", below, x, i)
		}
	}
}
