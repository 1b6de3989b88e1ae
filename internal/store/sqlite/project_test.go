package sqlite

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestProject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ object, want string }{
		{`{}`, `{}`},
		{`{"x":1}`, `{}`},
		{`{"a":1}`, `{"a":1}`},
		{`{"a":1,"x":2,"b":3}`, `{"a":1,"b":3}`},
		{`{"x":"a","a":"x"}`, `{"a":"x"}`},
		{`{"x":{"a":1,"y":[{"b":2}]},"b":{"x":[1,2],"a":{}}}`, `{"b":{"x":[1,2],"a":{}}}`},
		{`{"x":"\"a\":1,\\","a":"\\\"}\\\\"}`, `{"a":"\\\"}\\\\"}`},
		{`{"x":["}","]",",\""],"a":[]}`, `{"a":[]}`},
		{`{"a":"","x":"","b":null}`, `{"a":"","b":null}`},
		{` { "x" : 1 , "a" : [ 1 , 2 ] , "b" : true } `, `{"a" : [ 1 , 2 ] ,"b" : true }`},
	} {
		if got := string(project([]byte(test.object), wantAB)); got != test.want {
			t.Errorf("of %s there is %s, want %s", test.object, got, test.want)
		}
	}
}

func wantAB(name []byte) bool { return string(name) == "a" || string(name) == "b" }

// FuzzProject checks project against a decoder, and that it survives what is no JSON.
func FuzzProject(f *testing.F) {
	f.Add(`{"a":{"b":["x","\\\""]},"x":1.5e3,"b":null}`)
	f.Add(`{"a`)
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		picked := project([]byte(text), wantAB)
		var whole, part map[string]any
		if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &whole) != nil {
			return
		}
		if err := json.Unmarshal(picked, &part); err != nil {
			t.Fatalf("of %s there is %s: %v", text, picked, err)
		}
		for name, value := range part {
			if !slices.Contains([]string{"a", "b"}, name) || !reflect.DeepEqual(value, whole[name]) {
				t.Errorf("of %s there is %s", text, picked)
			}
		}
	})
}
