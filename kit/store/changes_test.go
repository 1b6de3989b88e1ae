package store

import (
	"reflect"
	"testing"
)

func TestChangesOfInput(t *testing.T) {
	t.Parallel()
	type input struct {
		Title *string   `json:"title"`
		Code  *string   `json:"code,omitempty"`
		Pages **int64   `json:"pages"`
		Tags  *[]string `json:"tags"`
	}
	for name, test := range map[string]struct {
		in   input
		want []Change
	}{
		"nothing": {},
		"values": {
			input{new("a"), new("b"), new(new(int64(3))), new([]string{"c"})},
			[]Change{Set("title", "a"), Set("code", "b"), Set("pages", new(int64(3))), Set("tags", []string{"c"})},
		},
		"empty": {
			input{new(""), new(""), new((*int64)(nil)), new([]string(nil))},
			[]Change{Set("title", ""), Unset("code"), Unset("pages"), Set("tags", []string{})},
		},
	} {
		if got := Changes(test.in); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
