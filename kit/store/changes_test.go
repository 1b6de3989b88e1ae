package store

import (
	"reflect"
	"testing"
	"time"
)

type patched struct {
	Title string   `json:"title" default:"untitled"`
	Count int64    `json:"count" default:"5"`
	Open  bool     `json:"open" default:"true"`
	When  Time     `json:"when" default:"2026-01-02T03:04:05.678Z"`
	Pages *int64   `json:"pages"`
	Tags  []string `json:"tags"`
}

func TestPatchChanges(t *testing.T) {
	t.Parallel()
	type input struct {
		patched
		Last string `json:"last"`
	}
	now := time.Now()
	updated := Set("updatedAt", At(now))
	for name, test := range map[string]struct {
		in   Patch[input]
		want []Change
	}{
		"nothing": {Patch[input]{Fields: input{Last: "x"}}, nil},
		"values": {
			Patch[input]{input{patched{Title: "a", Pages: new(int64(3)), Tags: []string{"c"}}, "x"}, []string{"tags", "title", "pages"}},
			[]Change{Set("title", "a"), Set("pages", new(int64(3))), Set("tags", []string{"c"}), updated},
		},
		"empty": {
			Patch[input]{input{patched{Tags: []string{}}, ""}, []string{"title", "pages", "tags", "last"}},
			[]Change{Set("title", ""), Unset("pages"), Set("tags", []string{}), Set("last", ""), updated},
		},
	} {
		if got := test.in.Changes(now); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestSetDefaults(t *testing.T) {
	t.Parallel()
	when, err := ParseTime("2026-01-02T03:04:05.678Z")
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ patched }
	SetDefaults(&got)
	if want := (patched{Title: "untitled", Count: 5, Open: true, When: when, Tags: []string{}}); !reflect.DeepEqual(got.patched, want) {
		t.Errorf("%+v, want %+v", got.patched, want)
	}
	var pointer *patched
	if SetDefaults(&pointer); pointer != nil {
		t.Errorf("%+v", pointer)
	}
}
