package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
)

// TestSource reads invalid labels of a proxy. The errors have the path of each label.
func TestSource(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range maxLabels + 1 {
		fmt.Fprintf(&many, `,"k%d":""`, i)
	}
	for text, want := range map[string]string{
		`null`: "", `{}`: "", `{"labels":null}`: "", `{"labels":{"a":"b"},"ip":"192.0.2.1"}`: "", `{"labels":{` + many.String()[9:] + `}}`: "",
		`5`: "p type", `"a=b"`: "p type", `[]`: "p type", `{"labels":{},"labels":{}}`: "p type", ``: "p type", `labels`: "p type",
		`{"labels":{"a":"b"}`: "p type", "{\"labels\":{\"a\":\"\xff\"}}": "p type",
		`{"labels":[]}`: "p.labels type", `{"labels":"a=b"}`: "p.labels type", `{"labels":{"a":"b","a":"b"}}`: "p.labels type",
		`{"labels":{"a":1}}`: `p.labels["a"] type`, `{"labels":{` + many.String()[1:] + `}}`: "p.labels max",
		`{"labels":{"b":null,"c":"ok","a \"b\"":["x"]}}`: `p.labels["a \"b\""] type, p.labels["b"] type`,
	} {
		var got []string
		for _, f := range new(Source).ParseInput("p", []byte(text)) {
			got = append(got, f.Param+" "+string(f.Code))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%.99s: %q, want %q", text, got, want)
		}
	}
}

// FuzzParameters looks for JSON that makes reading labels or a selector panic, that is rejected without a reason, or that
// is read differently by encoding/json.
func FuzzParameters(f *testing.F) {
	for _, seed := range []string{
		`{"labels":{"app":"x"}}`, ` { "labels" : { "a" : "x" , "b" : "" } } `, `{"labels":{"a":1,"a":null}}`, `{"labels":{"a":"x","a":"x"}}`,
		`{"labels":{"a":"\u0078"}}`, `{"labels":{"a":"x",}}`, `{"labels":{"a":"x"}}}`, "{\"labels\":{\"a\":\"\n\"}}", `{"labels":[]}`, `null`,
		`{"matchLabels":{"a b":"*"}}`, "\xff", `{"labels":`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		source, selector := new(Source), new(Selector)
		faults := source.ParseInput("p", data)
		for _, fault := range append(faults, selector.ParseInput("p", data)...) {
			if !strings.HasPrefix(fault.Param, "p") || fault.Code == "" || fault.Message == "" {
				t.Errorf("%q: %+v", data, fault)
			}
		}
		var want struct{ Labels map[string]string }
		var object map[string]json.RawMessage
		_ = json.Unmarshal(data, &object)
		if err := json.Unmarshal(object["labels"], &want.Labels); faults == nil && (err != nil && object["labels"] != nil || !maps.Equal(source.Labels, want.Labels)) {
			t.Errorf("%q: read as %q, want %q, %v", data, source.Labels, want.Labels, err)
		}
	})
}

func BenchmarkSource(b *testing.B) {
	data := []byte(`{"labels":{"app":"app-7","version":"v1","zone":"zone-2","a":"1","b":"2","c":"3","d":"4","e":"5","f":"6","g":"7"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if source := new(Source); source.ParseInput("metadata", data) != nil || len(source.Labels) != 10 {
			b.Fatal(source)
		}
	}
}
