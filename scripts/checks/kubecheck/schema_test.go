package kubecheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.com/ginseng/kit/selector/v1beta1"
)

// document returns the JSON of a valid or almost valid selector. It has no duplicate names, which a schema cannot detect.
func document(r *rand.Rand) string {
	values := []string{`null`, `1`, `true`, `[]`, `{}`, `"x"`}
	labels := func() string {
		if r.IntN(10) == 0 {
			return values[r.IntN(len(values))]
		}
		set := make(map[string]any)
		for range r.IntN(5) {
			key, value := "key", any("value")
			if r.IntN(3) > 0 {
				key = nearly(r)
			}
			if r.IntN(3) == 0 {
				value = nearly(r)
			}
			if r.IntN(12) == 0 {
				value = json.RawMessage(values[r.IntN(len(values))])
			}
			set[key] = value
		}
		text, err := json.Marshal(set)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	var fields []string
	for _, field := range []struct {
		name    string
		percent int
	}{{"matchLabels", 80}, {"match_labels", 15}, {"matchExpressions", 5}} {
		if r.IntN(100) < field.percent {
			fields = append(fields, fmt.Sprintf("%q: %s", field.name, labels()))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

func TestSchema(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("../../../docs/selector.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	documents := []string{
		`{"matchLabels":{"app":"x"}}`, `{"match_labels":{"app":"x"}}`, `{"matchLabels":{"app":""}}`,
		`{}`, `{"matchLabels":{}}`, `{"matchLabels":null}`, `{"matchExpressions":[]}`,
		`{"matchLabels":{"app":"x"},"other":1}`,
		`{"matchLabels":{"app":"x"},"match_labels":{"app":"x"}}`, `{"matchLabels":null,"match_labels":{"app":"x"}}`,
		`null`, `[]`, `"x"`, `1`, `{"matchLabels":{"":""}}`, `{"matchLabels":{"app":"\ud800"}}`,
		fmt.Sprintf(`{"matchLabels":{"%s/%s":"%s"}}`,
			strings.Repeat("a", 253), strings.Repeat("b", 63), strings.Repeat("c", 63)),
		many(v1beta1.MaxLabels), many(v1beta1.MaxLabels + 1),
	}
	r := rand.New(rand.NewPCG(3, 3))
	for range 20_000 {
		documents = append(documents, document(r))
	}
	good := 0
	for _, document := range documents {
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
		if err != nil {
			t.Fatal(err)
		}
		bySchema := schema.Validate(instance)
		_, byReader := v1beta1.FromJSON([]byte(document))
		if (bySchema == nil) != (byReader == nil) {
			t.Errorf("%.300s\nthe schema says: %v\nFromJSON says: %v", document, bySchema, byReader)
		}
		if byReader == nil {
			good++
		}
	}
	t.Logf("%d of %d documents are good", good, len(documents))
	if good < len(documents)/10 || good > len(documents)*9/10 {
		t.Error("so they say little")
	}
}

// many returns the JSON of a selector with this number of labels.
func many(labels int) string {
	var text bytes.Buffer
	for i := range labels {
		fmt.Fprintf(&text, `,"key-%d":""`, i)
	}
	return `{"matchLabels":{` + text.String()[1:] + `}}`
}
