package storetest

import (
	"encoding/json"
	"slices"
	"testing"

	"example.com/ginseng/kit/store"
)

// typed has a field of each type that is not in doc.
type typed struct {
	store.Meta `bson:",inline"`
	Title      string          `json:"title"`
	Price      store.Decimal   `json:"price"`
	Discount   *store.Decimal  `json:"discount"`
	Prices     []store.Decimal `json:"prices"`
	Day        *store.Date     `json:"day"`
	Key        store.UUID      `json:"key"`
	Data       *store.Object   `json:"data"`
	Sizes      []int64         `json:"sizes"`
	State      string          `json:"state" default:"draft"`
	Stock      int64           `json:"stock" default:"7"`
}

func decimal(t *testing.T, text string) store.Decimal {
	t.Helper()
	d, err := store.ParseDecimal(text)
	must(t, err)
	return d
}

// testTypes checks that decimals are exact and sorted by value, and that each type is stored, changed and copied unchanged.
func testTypes(t *testing.T, open Opener) {
	db := open(t)
	spec := store.Spec{Name: "test_" + store.NewID().Hex(), Indexes: []store.Index{{Fields: []string{"price"}}, {Fields: []string{"discount"}, Unique: true}}}
	c := store.Open[typed](db, spec)
	must(t, db.Prepare(t.Context()))
	ascending := []string{"-999999999999.999999", "-10", "-9.5", "-0.000001", "0", "0.000001", "0.1", "9", "10", "99999999999.999999", "999999999999.999998", "999999999999.999999"}
	data := store.Object{"a.b": map[string]any{"$x": []any{1.5, "two", true}}, "n": 3.0}
	for i := range ascending {
		text := ascending[(i*5)%len(ascending)]
		d := typed{
			Meta: newDoc("").Meta, Title: text, Price: decimal(t, text), Prices: []store.Decimal{decimal(t, text)}, Day: new(store.Date("2026-01-02")),
			Key: "123e4567-e89b-42d3-a456-426614174000", Data: &data, Sizes: []int64{int64(i), 100}, State: "sold", Stock: int64(i),
		}
		must(t, c.Insert(t.Context(), d))
		got, err := c.Get(t.Context(), d.ID)
		must(t, err)
		want, err := json.Marshal(d)
		must(t, err)
		if have, err := json.Marshal(got); err != nil || string(have) != string(want) {
			t.Errorf("%s, want %s, %v", have, want, err)
		}
	}
	list := func(q store.Query) (titles []string) {
		t.Helper()
		docs, err := c.List(t.Context(), q)
		must(t, err)
		for _, d := range docs {
			titles = append(titles, d.Title)
		}
		return titles
	}
	byPrice := []store.Order{{Field: "price"}}
	if got := list(store.Query{Sort: byPrice, Lossless: true}); !slices.Equal(got, ascending) {
		t.Errorf("sorted: %q", got)
	}
	for i, text := range ascending {
		d := decimal(t, text)
		for name, test := range map[string]struct {
			filter store.Filter
			want   []string
		}{
			"eq":       {store.Eq("price", d), ascending[i : i+1]},
			"gt":       {store.Gt("price", &d), ascending[i+1:]},
			"lte":      {store.Lte("price", d), ascending[:i+1]},
			"in":       {store.In("price", d), ascending[i : i+1]},
			"contains": {store.Contains("prices", d), ascending[i : i+1]},
		} {
			if got := list(store.Query{Filter: test.filter, Sort: byPrice}); !slices.Equal(got, test.want) {
				t.Errorf("%s %s: %q, want %q", name, text, got, test.want)
			}
		}
		if got := list(store.Query{Sort: byPrice, After: []any{d, store.ID{0xff}}}); !slices.Equal(got, ascending[i+1:]) {
			t.Errorf("after %s: %q", text, got)
		}
	}
	changed, err := c.Update(t.Context(), store.Eq("title", "9"), store.Set("discount", new(decimal(t, "0.5"))), store.Set("price", decimal(t, "9.25")),
		store.Set("data", store.Object{}), store.Set("sizes", []int64{}), store.Set("prices", []store.Decimal{decimal(t, "1")}), store.Unset("day"))
	must(t, err)
	if changed.Price.String() != "9.25" || changed.Discount.String() != "0.5" || changed.Data == nil || len(*changed.Data) != 0 || changed.Day != nil ||
		!slices.Equal(changed.Prices, []store.Decimal{1e6}) {
		t.Errorf("changed to %+v", changed)
	}
	if got := list(store.Query{Filter: store.Contains("sizes", 100)}); len(got) != len(ascending)-1 {
		t.Errorf("%d lists contain 100", len(got))
	}
	if _, err := c.Update(t.Context(), store.Eq("title", "10"), store.Set("discount", decimal(t, "0.5"))); err == nil {
		t.Error("a decimal is not unique")
	}
	if got := list(store.Query{Sort: byPrice, Lossless: true}); len(got) != len(ascending) {
		t.Errorf("%d documents after the changes", len(got))
	}
}

// testDefaults checks that a field that a document lacks has its default.
func testDefaults(t *testing.T, open Opener) {
	db := open(t)
	name := "test_" + store.NewID().Hex()
	before := store.Open[doc](db, store.Spec{Name: name})
	must(t, db.Prepare(t.Context()))
	d := newDoc("old")
	must(t, before.Insert(t.Context(), d))
	got, err := store.Open[typed](db, store.Spec{Name: name}).Get(t.Context(), d.ID)
	if err != nil || got.State != "draft" || got.Stock != 7 || got.Sizes == nil {
		t.Errorf("%+v, %v", got, err)
	}
	all, err := store.Open[typed](db, store.Spec{Name: name}).List(t.Context(), store.Query{})
	if err != nil || len(all) != 1 || all[0].State != "draft" || all[0].Stock != 7 {
		t.Errorf("%+v, %v", all, err)
	}
}
