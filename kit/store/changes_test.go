package store

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"example.com/ginseng/kit/apperr"
)

type patched struct {
	Title string   `json:"title" default:"untitled"`
	Count int64    `json:"count" default:"5"`
	Open  bool     `json:"open" default:"true"`
	When  Time     `json:"when" default:"2026-01-02T03:04:05.678Z"`
	Pages *int64   `json:"pages"`
	Tags  []string `json:"tags"`
	Data  Object   `json:"data"`
	Meta  *Object  `json:"meta"`
}

func TestPatchChanges(t *testing.T) {
	t.Parallel()
	type input struct {
		patched
		Last string `json:"last"`
	}
	object := Object{"a": nil}
	for name, test := range map[string]struct {
		in   Patch[input]
		want []Change
	}{
		"nothing": {Patch[input]{Fields: input{Last: "x"}}, nil},
		"values": {
			Patch[input]{Fields: input{patched{Title: "a", Pages: new(int64(3)), Tags: []string{"c"}}, "x"}, Given: []string{"tags", "title", "pages"}},
			[]Change{Set("title", "a"), Set("pages", new(int64(3))), Set("tags", []string{"c"})},
		},
		"merge": {
			Patch[input]{Fields: input{patched{Data: object, Meta: &object}, ""}, Given: []string{"data", "meta", "pages", "last"}, Merge: true},
			[]Change{Unset("pages"), {Op: OpMerge, Field: "data", Value: object}, {Op: OpMerge, Field: "meta", Value: object}, Set("last", "")},
		},
		"merge with null": {Patch[input]{Given: []string{"data", "meta"}, Merge: true}, []Change{Set("data", Object(nil)), Unset("meta")}},
		"empty": {
			Patch[input]{Fields: input{patched{Tags: []string{}}, ""}, Given: []string{"title", "pages", "tags", "last"}},
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
	p := Patch[input]{Fields: input{"new", patched{Title: "new", Tags: []string{}, Count: 7}}, Given: []string{"last", "title", "pages", "tags"}}
	if err := p.Apply(&got); err != nil {
		t.Fatal(err)
	}
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

// TestApplyMerge merges objects into a document. The limits of an object apply to the merged one.
func TestApplyMerge(t *testing.T) {
	t.Parallel()
	got := patched{Data: Object{"a": 1.0, "b": 2.0}}
	p := Patch[patched]{Fields: patched{Data: Object{"a": nil}, Meta: &Object{"c": 3.0}}, Given: []string{"data", "meta"}, Merge: true}
	if err := p.Apply(&got); err != nil {
		t.Fatal(err)
	}
	if want := (patched{Data: Object{"b": 2.0}, Meta: &Object{"c": 3.0}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	got.Data = Object{"a": strings.Repeat("x", MaxObjectBytes-10)}
	p.Fields.Data = Object{"b": "too large together with a"}
	if err := p.Apply(&got); !apperr.Is(err, apperr.ValidationFailed) || len(got.Data) != 1 {
		t.Errorf("%v; the object has %d properties", err, len(got.Data))
	}
}

// TestMerged checks the examples of RFC 7396, appendix A, whose target and patch are objects.
func TestMerged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ object, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"a":"foo"}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`null`, `{"a":{"b":null,"c":1}}`, `{"a":{"c":1}}`},
	} {
		var object, patch Object
		if err := json.Unmarshal([]byte(test.object), &object); err != nil {
			t.Fatal(err)
		}
		if fieldErrs := patch.ParseMerge("data", []byte(test.patch)); fieldErrs != nil {
			t.Fatal(fieldErrs)
		}
		before := fmt.Sprint(object, patch)
		if got, err := json.Marshal(merged(object, patch)); err != nil || string(got) != test.want {
			t.Errorf("%s and %s: %s, want %s, %v", test.object, test.patch, got, test.want, err)
		}
		if after := fmt.Sprint(object, patch); after != before {
			t.Errorf("%s became %s", before, after)
		}
	}
}
