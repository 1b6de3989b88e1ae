package testkit

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/store"
)

// TestFieldValues compares the values of declared fields with what a test needs.
func TestFieldValues(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("ä", n) }
	for _, test := range []struct {
		Field
		absent  any
		samples []any
		valid   []any
		invalid map[string][]any
	}{
		{
			Field{Type: "string", Required: true, Min: "2", Max: "4"}, nil, []any{"ambe", "birc", "ceda"},
			[]any{long(2), long(4)},
			map[string][]any{"type": {5.0}, "required": {"  "}, "min_length": {long(1)}, "max_length": {long(5)}},
		},
		{Field{Type: "string", Unique: true}, nil, []any{"amber", "birch", "cedar"}, []any{"  ", long(200)}, map[string][]any{"type": {5.0}, "max_length": {long(201)}}},
		{
			Field{Type: "int", Min: "1", Max: "9", Default: "5"}, 5.0, []any{1.0, 5.0, 9.0}, []any{1.0, 9.0},
			map[string][]any{"type": {"ten", 1.5, 9007199254740992.0}, "min": {0.0}, "max": {10.0}},
		},
		{
			Field{Type: "decimal", Min: "-0.5"}, nil, []any{"-0.5", "0.5", "1.5"}, []any{"-0.5", "999999999999"},
			map[string][]any{"type": {"ten", true, "0.1234567", "1000000000000"}, "min": {"-1.5"}},
		},
		{Field{Type: "bool", Default: "true"}, true, []any{false, true, true}, []any{false, true}, map[string][]any{"type": {"true"}}},
		{
			Field{Type: "enum", Values: []string{"low", "high"}, Default: "high"}, "high", []any{"low", "high", "high"}, []any{"  "},
			map[string][]any{"type": {5.0}, "one_of": {"none of these"}},
		},
		{
			Field{Type: "[]int", Required: true, Max: "2"}, nil, []any{[]any{1.0, 1002.0}, []any{2.0, 2002.0}, []any{3.0, 3002.0}}, []any{[]any{1.0, 1.0}},
			map[string][]any{"type": {"x", []any{"x"}, []any{1.5}}, "required": {[]any{}}, "max_length": {[]any{1.0, 1.0, 1.0}}},
		},
	} {
		r := Resource{Fields: []Field{test.Field}}.Complete()
		f := r.Fields[0]
		for name, values := range map[string][2]any{
			"absent": {f.Absent, test.absent}, "samples": {f.Samples, test.samples}, "valid": {f.Valid, test.valid}, "invalid": {f.Invalid, test.invalid},
		} {
			if !reflect.DeepEqual(values[0], values[1]) {
				t.Errorf("%+v: %s is %.300v, want %.300v", test.Field, name, values[0], values[1])
			}
		}
		if test.Samples != nil {
			t.Error("Complete changes its argument")
		}
	}
	set := Field{Type: "string", Samples: []any{"x"}, Valid: []any{}, Invalid: map[string][]any{}, Absent: "y"}
	if f := (Resource{Fields: []Field{set}}).Complete().Fields[0]; f.Samples[0] != "x" || len(f.Valid) > 0 || len(f.Invalid) > 0 || f.Absent != "y" {
		t.Errorf("Complete changes what is set: %+v", f)
	}
}

// TestDifferentValues checks the values of unique fields: they differ from each other and, if they are distinct values, from the
// samples. The samples of a field are in ascending order, and differ from those of another field.
func TestDifferentValues(t *testing.T) {
	t.Parallel()
	fields := []Field{
		{Type: "int", Min: "1"}, {Type: "int", Max: "5"}, {Type: "int", Max: "5000"}, {Type: "decimal", Min: "1", Max: "1000"}, {Type: "string", Max: "2"}, {Type: "string", Min: "9"},
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if kinds[name].sample == nil {
			continue // a file has no values
		}
		fields = append(fields, Field{Type: name, Values: []string{"a", "b", "c"}})
	}
	words := map[any]string{}
	for i, f := range fields {
		f.Unique = kinds[f.Type].stored != nil
		f.complete(i)
		for n := range 2 {
			if !f.kind.isList && f.Type != "bool" && f.Type != "json" && f.compare(f.Samples[n], f.Samples[n+1]) >= 0 {
				t.Errorf("%+v: the samples are %v", f, f.Samples)
			}
		}
		if text, isText := f.Samples[0].(string); isText && (f.kind.isString && f.Type != "enum") {
			if words[text] != "" {
				t.Errorf("%s and %s have the sample %s", words[text], f.Type, text)
			}
			words[text] = f.Type
		}
		if !f.Unique {
			continue
		}
		seen := map[string]bool{}
		add := func(value any) {
			text, err := json.Marshal(value)
			if err != nil || seen[string(text)] {
				t.Errorf("%+v: %s occurs twice, %v", f, text, err)
			}
			seen[string(text)] = true
		}
		if f.Distinct != nil {
			for _, sample := range f.Samples {
				add(sample)
			}
			for n := range 100 {
				add(f.Distinct(n + 1))
			}
		}
		clear(seen)
		for range 100 {
			add(f.stored(store.NewID()))
		}
	}
}

// TestPromised checks the access that follows from the declared callers.
func TestPromised(t *testing.T) {
	t.Parallel()
	all := func(rule string) map[string]string {
		return map[string]string{"create": rule, "list": rule, "show": rule, "update": rule, "delete": rule}
	}
	owned := map[string]string{"create": "user", "list": "public", "show": "public", "update": "owner", "delete": "owner"}
	own := map[string]string{"create": "user", "list": "own", "show": "own", "update": "owner", "delete": "owner"}
	hidden := []Field{{Required: true, Refers: &Reference{Hidden: true}}}
	for _, test := range []struct {
		Resource
		caller string
		want   []int // nil: the caller does not occur
	}{
		{Resource{Callers: owned}, "nobody", []int{401, 200, 200, 401, 401}},
		{Resource{Callers: owned}, "master key", []int{401, 200, 200, 401, 401}},
		{Resource{Callers: owned}, "user", []int{201, 200, 200, 403, 403}},
		{Resource{Callers: owned}, "owner", []int{201, 200, 200, 200, 204}},
		{Resource{Callers: owned}, "admin", []int{201, 200, 200, 200, 204}},
		{Resource{Callers: owned}, "deleted user", []int{401, 401, 401, 401, 401}},
		{Resource{Callers: own}, "user", []int{201, 200, 404, 404, 404}},
		{Resource{Callers: own}, "owner", []int{201, 200, 200, 200, 204}},
		{Resource{Callers: own, Under: "a", HiddenParent: true}, "demoted admin", []int{404, 404, 404, 404, 404}},
		{Resource{Callers: owned, Fields: hidden}, "user", []int{400, 200, 200, 403, 403}},
		{Resource{Callers: owned, Fields: hidden}, "owner", []int{201, 200, 200, 200, 204}},
		{Resource{Callers: all("admin")}, "user", []int{403, 403, 403, 403, 403}},
		{Resource{Callers: all("admin")}, "admin", []int{201, 200, 200, 200, 204}},
		{Resource{Callers: all("admin")}, "owner", nil},
		{Resource{Callers: all("master")}, "master key", []int{201, 200, 200, 200, 204}},
		{Resource{Callers: all("master")}, "admin", []int{401, 401, 401, 401, 401}},
		{Resource{Callers: all("public"), NoUsers: true}, "nobody", []int{201, 200, 200, 200, 204}},
		{Resource{Callers: all("public"), NoUsers: true}, "user", nil},
		{Resource{Callers: all("role=packer")}, "packer", []int{201, 200, 200, 200, 204}},
		{Resource{Callers: all("role=packer")}, "user", []int{403, 403, 403, 403, 403}},
		{Resource{Callers: map[string]string{"show": "user", "list": "public"}}, "nobody", []int{200, 401}},
		{Resource{Callers: all("public"), Access: map[string][]int{"nobody": {1}}}, "nobody", []int{1}},
	} {
		r := test.Complete()
		if got := r.Access[test.caller]; !slices.Equal(got, test.want) {
			t.Errorf("%v, %s: %v, want %v of %q", test.Callers, test.caller, got, test.want, r.Methods)
		}
	}
}
