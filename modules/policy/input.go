package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/selector/v1beta1"
)

var _, _ rest.Parser = (*Selector)(nil), (*Source)(nil)

// maxLabels is the maximum number of labels of a Source, the same as for a selector.
const maxLabels = v1beta1.MaxLabels

// ParseInput reads a selector with v1beta1.FromJSON. It returns an apperr.Field with the path and the code of each violation.
func (s *Selector) ParseInput(name string, value json.RawMessage) []apperr.Field {
	message, err := v1beta1.FromJSON(value)
	s.MatchLabels = message.GetMatchLabels()
	return invalidFields(name, err)
}

// check returns ValidationFailed if the selector is not nil and invalid. Only Go callers can pass such a selector; see ParseInput.
func (s *Selector) check() error {
	if s == nil {
		return nil
	}
	fields := invalidFields("selector", v1beta1.Validate(s.message()))
	if fields == nil {
		return nil
	}
	for i := range fields {
		fields[i].In = "body"
	}
	return apperr.Invalid(fields...)
}

// invalidFields returns the violations of an *v1beta1.InvalidError, or nil if err is nil. name is the parameter with the selector.
func invalidFields(name string, err error) []apperr.Field {
	var invalid *v1beta1.InvalidError
	if !errors.As(err, &invalid) {
		return nil
	}
	violations := invalid.Under(name)
	fields := make([]apperr.Field, len(violations))
	for i, v := range violations {
		fields[i] = apperr.Field{Param: v.Path, Code: apperr.FieldCode(v.Code), Message: v.Message}
	}
	return fields
}

// ParseInput reads {"labels": {…}}: at most 4096 labels with string values. Missing labels and null mean no labels. Other
// fields are ignored. The codes of the returned errors are apperr.Type and apperr.Max.
func (s *Source) ParseInput(name string, value json.RawMessage) []apperr.Field {
	var source struct {
		Labels map[string]jsontext.Value `json:"labels"`
	}
	lenient := jsontext.AllowInvalidUTF8(true) // unpaired surrogates in escapes become U+FFFD; invalid bytes are rejected below
	err := jsonv2.Unmarshal(value, &source, lenient)
	if err != nil && inLabels(err) {
		name += ".labels"
	}
	if err != nil || !utf8.Valid(value) {
		return []apperr.Field{{Param: name, Code: apperr.Type, Message: "Must be a JSON object without duplicate keys."}}
	}
	var fields []apperr.Field
	name += ".labels"
	if len(source.Labels) > maxLabels {
		fields = append(fields, apperr.Field{
			Param: name, Code: apperr.Max, Message: fmt.Sprintf("Must have at most %d labels.", maxLabels), Expected: maxLabels,
		})
	}
	s.Labels = make(map[string]string, len(source.Labels))
	for key, raw := range source.Labels {
		var label string
		if raw.Kind() != jsontext.KindString || jsonv2.Unmarshal(raw, &label, lenient) != nil {
			param := name + "[" + strconv.Quote(key) + "]"
			fields = append(fields, apperr.Field{Param: param, Code: apperr.Type, Message: "Must be a string."})
		}
		s.Labels[key] = label
	}
	slices.SortFunc(fields, func(a, b apperr.Field) int { return strings.Compare(a.Param, b.Param) })
	return fields
}

// inLabels reports whether err means that labels is not an object, or has a duplicate key.
func inLabels(err error) bool {
	var kind *jsonv2.SemanticError
	var syntax *jsontext.SyntacticError
	return errors.As(err, &kind) && kind.JSONPointer == "/labels" ||
		errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName) && syntax.JSONPointer.Parent() == "/labels"
}
