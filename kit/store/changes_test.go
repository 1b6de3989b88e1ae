package store

import (
	"reflect"
	"testing"
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
	for name, test := range map[string]struct {
		in   Patch[input]
		want []Change
	}{
		"nothing": {Patch[input]{Fields: input{Last: "x"}}, nil},
		"values": {
			Patch[input]{input{patched{Title: "a", Pages: new(int64(3)), Tags: []string{"c"}}, "x"}, []string{"tags", "title", "pages"}},
			[]Change{Set("title", "a"), Set("pages", new(int64(3))), Set("tags", []string{"c"})},
		},
		"empty": {
			Patch[input]{input{patched{Tags: []string{}}, ""}, []string{"title", "pages", "tags", "last"}},
			[]Change{Set("title", ""), Unset("pages"), Set("tags", []string{}), Set("last", "")},
		},
	} {
		if got := test.in.Changes(); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestPatchApply(t *testing.T) {
	t.Parallel()
	type title string
	type document struct {
		Kept string `json:"kept"`
		patched
		Last title `json:"last"`
	}
	type input struct {
		Last string `json:"last"`
		patched
	}
	got := document{Kept: "kept", Last: "old", patched: patched{Title: "old", Count: 1, Pages: new(int64(1)), Tags: []string{"old"}}}
	p := Patch[input]{input{"new", patched{Title: "new", Tags: []string{}, Count: 7}}, []string{"last", "title", "pages", "tags"}}
	p.Apply(&got)
	if want := (document{Kept: "kept", Last: "new", patched: patched{Title: "new", Count: 1, Tags: []string{}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
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
