package v1beta1

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"
)

// FromJSON reads a selector from its JSON form, {"matchLabels": {"app": "x"}}; match_labels is read too. It is strict:
// unknown fields, a key or field given twice, null or anything but text as a value, and text that is not UTF-8 are
// refused. The error is an *InvalidError with all violations, those of Validate among them.
func FromJSON(data []byte) (*WorkloadSelector, error) {
	var f faults
	return f.selector(f.readJSON(data))
}

// readJSON reads and checks the labels of a selector.
func (f *faults) readJSON(data []byte) map[string]string {
	// encoding/json would put U+FFFD for bytes that are not UTF-8.
	fields, ok := members(data)
	if !ok || !utf8.Valid(data) {
		f.inField("", CodeFormat, "The selector must be a JSON object, in UTF-8.")
		return nil
	}
	var labels json.RawMessage
	for _, field := range fields {
		switch {
		case field.name != "matchLabels" && field.name != "match_labels":
			f.inField(field.name, CodeFormat, "The selector has no such field.")
		case labels != nil:
			f.inField("matchLabels", CodeFormat, "The field is given twice.")
		default:
			labels = field.value
		}
	}
	return f.readLabels(labels)
}

// readLabels reads and checks the JSON value of match_labels; nil and null are an absent field.
func (f *faults) readLabels(data json.RawMessage) map[string]string {
	labels := make(map[string]string)
	if data != nil && string(data) != "null" {
		entries, ok := members(data)
		if !ok {
			f.inField("matchLabels", CodeFormat, "The labels must be a JSON object.")
			return nil
		}
		for _, entry := range entries {
			if _, twice := labels[entry.name]; twice {
				f.inLabel(entry.name, CodeFormat, "The key is given twice.")
			}
			var value *string
			if json.Unmarshal(entry.value, &value) != nil || value == nil {
				f.inLabel(entry.name, CodeFormat, "The value must be a text.")
				value = new(string)
			}
			labels[entry.name] = *value
		}
	}
	f.labels(labels)
	return labels
}

// member is a name of a JSON object with its value.
type member struct {
	name  string
	value json.RawMessage
}

// members returns the members of a JSON object in their order, with those that encoding/json would drop because their
// name comes again. It is false for anything but one JSON object.
func members(data []byte) (all []member, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if first, _ := decoder.Token(); first != json.Delim('{') {
		return nil, false
	}
	for decoder.More() {
		var m member
		name, _ := decoder.Token()
		if m.name, ok = name.(string); !ok || decoder.Decode(&m.value) != nil {
			return nil, false
		}
		all = append(all, m)
	}
	last, _ := decoder.Token()
	_, err := decoder.Token()
	return all, last == json.Delim('}') && err == io.EOF
}
