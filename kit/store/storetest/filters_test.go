package storetest

import (
	"testing"
	"time"

	"example.com/ginseng/kit/store"
)

// testFilters checks each filter on four documents; in "none", all optional fields are absent.
func testFilters(t *testing.T, open Opener) {
	c := openDocs(t, open)
	at := func(day int) store.Time { return store.At(noon.AddDate(0, 0, day)) }
	full := func(title string, n int, flag bool) doc {
		return newDoc(title, func(d *doc) {
			d.Kind = kind("kind " + title)
			d.Name, d.Rank, d.Ratio, d.Flag = new(title), new(n), new(float64(n)+0.5), new(flag)
			d.Count, d.Score, d.Active = int64(n), float64(n)+0.5, flag
			d.At, d.Due = at(n), new(at(n))
			d.Owner, d.Editor = store.NewID(), new(store.NewID())
			d.Tags = []string{title, "tag"}
			d.Profile = profile{City: "City " + title, Visits: int64(n)}
			d.Home = &profile{Email: new(title + "@example.com"), Deep: &deep{Value: new("deep " + title)}}
		})
	}
	one, two, three := full("one", 1, true), full("two", 2, false), full("three", 3, true)
	none := newDoc("none", func(d *doc) { d.Count, d.Score, d.At = -1, -1.5, at(-1) })
	insert(t, c, one, two, three, none)

	var (
		eq, ne, gt, gte, lt, lte = store.Eq, store.Ne, store.Gt, store.Gte, store.Lt, store.Lte
		in, and, or              = store.In, store.And, store.Or
		all                      = []string{"one", "two", "three", "none"}
	)
	for _, test := range []struct {
		name string
		f    store.Filter
		want []string
	}{
		{"nil", nil, all},

		{"text", eq("name", "two"), []string{"two"}},
		{"text, by pointer", eq("name", new("two")), []string{"two"}},
		{"text of a named type", eq("kind", kind("kind two")), []string{"two"}},
		{"text, other case", eq("name", "Two"), nil},
		{"text, a beginning", eq("name", "tw"), nil},
		{"text is no number", eq("name", 2), nil},
		{"int", eq("rank", 2), []string{"two"}},
		{"int64", eq("rank", int64(2)), []string{"two"}},
		{"int64, by pointer", eq("count", &two.Count), []string{"two"}},
		{"number is no text", eq("rank", "2"), nil},
		{"float", eq("ratio", 2.5), []string{"two"}},
		{"float equals int", eq("rank", 2.0), []string{"two"}},
		{"true", eq("flag", true), []string{"one", "three"}},
		{"false", eq("flag", false), []string{"two"}},
		{"time", eq("due", at(2)), []string{"two"}},
		{"time, by pointer", eq("due", two.Due), []string{"two"}},
		{"ID", eq("editor", *two.Editor), []string{"two"}},
		{"ID, by pointer", eq("editor", two.Editor), []string{"two"}},
		{"id", eq("id", two.ID), []string{"two"}},
		{"nested", eq("profile.city", "City two"), []string{"two"}},
		{"nested under a pointer", eq("home.email", "two@example.com"), []string{"two"}},
		{"nested deep", eq("home.deep.value", "deep two"), []string{"two"}},

		{"absent", eq("name", nil), []string{"none"}},
		{"absent, stored as null", eq("rank", nil), []string{"none"}},
		{"absent, nil pointer", eq("due", (*store.Time)(nil)), []string{"none"}},
		{"absent, nested", eq("home.email", nil), []string{"none"}},
		{"absent, parent", eq("home", nil), []string{"none"}},
		{"present", ne("name", nil), []string{"one", "two", "three"}},
		{"present, nil pointer", ne("editor", (*store.ID)(nil)), []string{"one", "two", "three"}},
		{"present, nested", ne("home.deep.value", nil), []string{"one", "two", "three"}},

		{"ne text", ne("name", "two"), []string{"one", "three", "none"}},
		{"ne int", ne("rank", 2), []string{"one", "three", "none"}},
		{"ne bool", ne("flag", true), []string{"two", "none"}},
		{"ne id", ne("id", two.ID), []string{"one", "three", "none"}},
		{"ne nested", ne("home.email", "two@example.com"), []string{"one", "three", "none"}},

		{"gt text", gt("name", "three"), []string{"two"}},
		{"gte text", gte("name", "three"), []string{"two", "three"}},
		{"lt text", lt("name", "three"), []string{"one"}},
		{"lte text", lte("name", "three"), []string{"one", "three"}},
		{"gt int", gt("rank", 2), []string{"three"}},
		{"gte int", gte("rank", 2), []string{"two", "three"}},
		{"lt int", lt("rank", 2), []string{"one"}},
		{"lte int", lte("rank", 2), []string{"one", "two"}},
		{"lt int, negative", lt("count", 0), []string{"none"}},
		{"gt float", gt("ratio", 1.6), []string{"two", "three"}},
		{"lt float", lt("score", 1.6), []string{"one", "none"}},
		{"gt int with a float", gt("rank", 1.5), []string{"two", "three"}},
		{"gt time", gt("due", at(2)), []string{"three"}},
		{"gte time", gte("due", at(2)), []string{"two", "three"}},
		{"lt time", lt("due", at(2)), []string{"one"}},
		{"lte time", lte("at", at(2)), []string{"one", "two", "none"}},
		{"lt time, a millisecond", lt("due", store.At(at(1).Add(time.Millisecond))), []string{"one"}},
		{"gt id", gt("id", two.ID), []string{"three", "none"}},
		{"lte id", lte("id", two.ID), []string{"one", "two"}},
		{"gt nested", gt("profile.visits", 1), []string{"two", "three"}},
		{"gt nil", gt("name", nil), nil},
		{"gte nil", gte("name", nil), nil},
		{"lt nil", lt("name", nil), nil},
		{"lte nil", lte("name", (*string)(nil)), nil},
		{"a range", and(gte("at", at(1)), lt("at", at(3))), []string{"one", "two"}},

		{"in nothing", in("name"), nil},
		{"in one", in("name", "two"), []string{"two"}},
		{"in many", in("name", "three", "nothing", "one"), []string{"one", "three"}},
		{"in the same twice", in("name", "two", "two"), []string{"two"}},
		{"in ints", in("rank", 1, int64(3)), []string{"one", "three"}},
		{"in pointers", in("rank", one.Rank, three.Rank), []string{"one", "three"}},
		{"in times", in("due", at(1), at(3)), []string{"one", "three"}},
		{"in ids", in("id", three.ID, none.ID), []string{"three", "none"}},
		{"in with nil", in("name", "one", nil), []string{"one", "none"}},
		{"in nil", in("name", (*string)(nil)), []string{"none"}},

		{"contains", store.Contains("tags", "two"), []string{"two"}},
		{"contains one of several", store.Contains("tags", "two", "one", "nothing"), []string{"one", "two"}},
		{"contains the second", store.Contains("tags", "tag"), []string{"one", "two", "three"}},
		{"contains, a beginning", store.Contains("tags", "tw"), nil},
		{"contains nothing", store.Contains("tags"), nil},
		{"contains and", and(store.Contains("tags", "tag"), eq("rank", 2)), []string{"two"}},

		{"and of nothing", and(), all},
		{"and of nil", and(nil, nil), all},
		{"or of nothing", or(), nil},
		{"or of nil", or(nil), nil},
		{"and", and(eq("flag", true), gt("rank", 1)), []string{"three"}},
		{"and of one", and(eq("flag", false)), []string{"two"}},
		{"and with nil", and(nil, eq("flag", false), nil), []string{"two"}},
		{"or", or(eq("rank", 1), eq("rank", 3)), []string{"one", "three"}},
		{"or of fields", or(eq("rank", 1), eq("name", nil)), []string{"one", "none"}},
		{"or in and", and(or(eq("rank", 1), eq("rank", 2)), or(eq("rank", 2), eq("rank", 3))), []string{"two"}},
		{"and in or", or(and(eq("flag", true), eq("rank", 3)), and(eq("flag", false), eq("rank", 2))),
			[]string{"two", "three"}},
		{"or of nothing in and", and(eq("rank", 1), or()), nil},
		{"and of nothing in or", or(eq("rank", 1), and()), all},
		{"one field twice", and(ne("name", "one"), ne("name", "two")), []string{"three", "none"}},
	} {
		t.Run(test.name, func(t *testing.T) { wantTitles(t, c, test.f, test.want...) })
	}
}
