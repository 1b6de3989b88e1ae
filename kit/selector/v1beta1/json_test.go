package v1beta1

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func TestFromJSON(t *testing.T) {
	t.Parallel()
	app := map[string]string{"app": "x"}
	tests := []struct {
		json   string
		labels map[string]string
		want   []string // path and code
	}{
		{json: `{"matchLabels":{"app":"x"}}`, labels: app},
		{json: `{"match_labels":{"app":"x"}}`, labels: app},
		{json: " {\n\"matchLabels\" : {\t\"app\" : \"x\" } }\r\n", labels: app},
		{json: `{"match\u004cabels":{"\u0061pp":"\u0078"}}`, labels: app},
		{json: `{"matchLabels":{"app":"","example.com/app":"x"}}`,
			labels: map[string]string{"app": "", "example.com/app": "x"}},

		{json: ``, want: []string{" format"}},
		{json: `null`, want: []string{" format"}},
		{json: `[]`, want: []string{" format"}},
		{json: `"matchLabels"`, want: []string{" format"}},
		{json: `{"matchLabels":{"app":"x"}`, want: []string{" format"}},
		{json: `{"matchLabels":{"app":"x"}} {}`, want: []string{" format"}},
		{json: `{"matchLabels":{"app":"x",}}`, want: []string{" format"}},
		{json: `{matchLabels:{"app":"x"}}`, want: []string{" format"}},
		{json: strings.Repeat("[", 1e5), want: []string{" format"}},
		{json: "{\"matchLabels\":{\"app\":\"\xff\"}}", want: []string{" format"}},
		{json: "{\"matchLabels\":{\"\xc3\x28\":\"x\"}}", want: []string{" format"}},

		{json: `{}`, want: []string{"matchLabels required"}},
		{json: `{"matchLabels":{}}`, want: []string{"matchLabels required"}},
		{json: `{"matchLabels":null}`, want: []string{"matchLabels required"}},
		{json: `{"matchLabels":[]}`, want: []string{"matchLabels format"}},
		{json: `{"matchLabels":"app=x"}`, want: []string{"matchLabels format"}},
		{json: `{"matchExpressions":[]}`, want: []string{"matchExpressions format", "matchLabels required"}},
		{json: `{"matchLabels":{"app":"x"},"matchExpressions":[]}`, want: []string{"matchExpressions format"}},
		{json: `{"MatchLabels":{"app":"x"}}`, want: []string{"MatchLabels format", "matchLabels required"}},
		{json: `{"zone":1,"matchLabels":{"a b":"x"},"area":1,"zone":2}`,
			want: []string{"area format", `matchLabels["a b"] format`, "zone format"}},
		{json: `{"matchLabels":{"app":"x"},"match_labels":{"app":"x"}}`, want: []string{"matchLabels format"}},
		{json: `{"matchLabels":{"app":"x"},"match_labels":null}`, want: []string{"matchLabels format"}},
		{json: `{"matchLabels":null,"match_labels":{"app":"x"}}`,
			want: []string{"matchLabels format", "matchLabels required"}},
		{json: `{"matchLabels":{"app":"x"},"matchLabels":{"app":"x"}}`, want: []string{"matchLabels format"}},

		{json: `{"matchLabels":{"app":"x","app":"x"}}`, want: []string{`matchLabels["app"] format`}},
		{json: `{"matchLabels":{"app":"x","a\u0070p":"y"}}`, want: []string{`matchLabels["app"] format`}},
		{json: `{"matchLabels":{"app":null}}`, want: []string{`matchLabels["app"] format`}},
		{json: `{"matchLabels":{"app":1}}`, want: []string{`matchLabels["app"] format`}},
		{json: `{"matchLabels":{"app":true}}`, want: []string{`matchLabels["app"] format`}},
		{json: `{"matchLabels":{"app":["x"]}}`, want: []string{`matchLabels["app"] format`}},
		{json: `{"matchLabels":{"app":{"app":"x"}}}`, want: []string{`matchLabels["app"] format`}},
		{json: `{"matchLabels":{"app":"\ud800"}}`, want: []string{`matchLabels["app"] format`}},
		{json: `{"matchLabels":{"app":"*"}}`, want: []string{`matchLabels["app"] wildcard`}},
		{json: `{"matchLabels":{"b":null,"a b":"*","a b":1}}`,
			want: []string{
				`matchLabels["a b"] format`, `matchLabels["a b"] format`, `matchLabels["a b"] format`,
				`matchLabels["b"] format`,
			}},
	}
	for _, test := range tests {
		selector, err := FromJSON([]byte(test.json))
		if got := problems(t, err); !slices.Equal(got, test.want) {
			t.Errorf("%.99s: %q, want %q", test.json, got, test.want)
		}
		if want := selectorOf(test.labels); !proto.Equal(selector, want) {
			t.Errorf("%.99s: read as %v, want %v", test.json, selector, want)
		}
	}
}

// selectorOf returns a selector with the labels, or nil if labels is nil.
func selectorOf(labels map[string]string) *WorkloadSelector {
	if labels == nil {
		return nil
	}
	return &WorkloadSelector{MatchLabels: labels}
}

func TestFromJSONCounts(t *testing.T) {
	t.Parallel()
	var labels strings.Builder
	for i := range MaxLabels + 1 {
		fmt.Fprintf(&labels, `,"key-%d":""`, i)
	}
	_, err := FromJSON([]byte(`{"matchLabels":{` + labels.String()[1:] + `}}`))
	if got, want := problems(t, err), []string{"matchLabels max"}; !slices.Equal(got, want) {
		t.Errorf("%d labels: %q, want %q", MaxLabels+1, got, want)
	}
}

// FuzzFromJSON compares accepted JSON with protojson: both read the same message, and FromJSON reads what protojson writes.
func FuzzFromJSON(f *testing.F) {
	for _, seed := range []string{
		`{"matchLabels":{"app":"x"}}`, `{"match_labels":{"example.com/app":""}}`, `{"matchLabels":{"app":"x","app":"x"}}`,
		`{"matchLabels":{"app":null}}`, `{"matchLabels":{"a*":"*"},"matchExpressions":[]}`, `{"matchLabels":[`, `null`,
		"\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		selector, err := FromJSON(data)
		if err != nil {
			problems(t, err)
			return
		}
		var peer WorkloadSelector
		if err := protojson.Unmarshal(data, &peer); err != nil || !proto.Equal(&peer, selector) {
			t.Fatalf("%q: read as %v, by protojson as %v, %v", data, selector, &peer, err)
		}
		if !utf8.Valid(data) || Validate(selector) != nil {
			t.Fatalf("%q is accepted", data)
		}
		written, err := protojson.Marshal(selector)
		if err != nil {
			t.Fatal(err)
		}
		again, err := FromJSON(written)
		if err != nil || !proto.Equal(again, selector) {
			t.Fatalf("%s: read as %v, %v", written, again, err)
		}
	})
}
