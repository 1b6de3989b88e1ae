package v1beta1

import (
	"errors"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FromJSON reads a selector from JSON: {"matchLabels": {"app": "x"}}. It also accepts the field name match_labels. It
// rejects unknown fields, duplicate fields and keys, values that are not strings, and invalid UTF-8. The error is an
// *InvalidError with all violations, including the violations that Validate returns.
func FromJSON(data []byte) (*WorkloadSelector, error) {
	var v violations
	return v.selector(v.readJSON(data))
}

func (v *violations) readJSON(data []byte) map[string]string {
	fields, err := parseObject(data)
	if err != nil || !utf8.Valid(data) {
		v.addField("", CodeFormat, "The selector must be a JSON object in UTF-8.")
		return nil
	}
	var labels jsontext.Value
	for _, field := range fields {
		switch {
		case field.name != "matchLabels" && field.name != "match_labels":
			v.addField(field.name, CodeFormat, "The selector has no such field.")
		case labels != nil:
			v.addField("matchLabels", CodeFormat, "The field occurs twice.")
		default:
			labels = field.value
		}
	}
	return v.readLabels(labels)
}

// readLabels reads and checks the value of matchLabels. If data is nil or null, the field is missing.
func (v *violations) readLabels(data jsontext.Value) map[string]string {
	labels := make(map[string]string)
	if data != nil && data.Kind() != jsontext.KindNull {
		entries, err := parseObject(data)
		if err != nil {
			v.addField("matchLabels", CodeFormat, "The labels must be a JSON object.")
			return nil
		}
		for _, entry := range entries {
			if _, duplicate := labels[entry.name]; duplicate {
				v.addLabel(entry.name, CodeFormat, "The key occurs twice.")
			}
			var value string
			if entry.value.Kind() != jsontext.KindString || jsonv2.Unmarshal(entry.value, &value, lenient) != nil {
				v.addLabel(entry.name, CodeFormat, "The value must be a string.")
			}
			labels[entry.name] = value
		}
	}
	v.checkLabels(labels)
	return labels
}

// lenient makes the decoder accept duplicate names and unpaired surrogates, so that they are reported with the field
// or label. The decoder replaces unpaired surrogates with U+FFFD, which the checks of keys and values reject.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// object has the fields of a JSON object in their original order, including duplicates.
type object []field

type field struct {
	name  string
	value jsontext.Value
}

func parseObject(data []byte) (o object, err error) {
	err = jsonv2.Unmarshal(data, &o, lenient)
	return o, err
}

// UnmarshalJSONFrom implements jsonv2.UnmarshalerFrom. Any value other than an object is an error.
func (o *object) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err == nil && token.Kind() != jsontext.KindBeginObject {
		return errors.New("not an object")
	}
	for err == nil && d.PeekKind() == jsontext.KindString {
		name, _ := d.ReadToken()
		field := field{name: name.String()} // copied, because the next read invalidates the token
		field.value, err = d.ReadValue()
		field.value = field.value.Clone()
		*o = append(*o, field)
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return err
}
