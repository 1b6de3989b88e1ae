package rest

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/go-playground/validator/v10"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Bind reads the parameters of the request body, form-encoded or JSON, into a struct and validates them. The error is that
// of Body, or ValidationFailed with every invalid parameter, in the order of the fields.
//
// Fields are string, bool, int64, float64, store.Time, store.ID, []string (a JSON array, a repeated form parameter, or
// one comma-separated string), a type that implements Parser, or a pointer to one of these. The fields of embedded structs
// are parameters too. A parameter that is absent, null, or empty (an empty form value, string or list) has the default of
// its field, or else its zero value, in which lists are empty and pointers nil. Tags:
//
//   - json: the name.
//   - default: the default; see store.SetDefaults.
//   - validate: rules of github.com/go-playground/validator for parameters that are not empty, and maxbytes=N, uncommon (not
//     a common password), dnslabel (an RFC 1123 label of any length), plain (no control characters), plain_http_url (a URL
//     that is safe in a page). required, the first rule, rejects an absent or empty parameter.
//   - trim:"no" keeps the spaces around a string; other strings are trimmed.
//
// The type of a JSON value must match: a number for a string is an error, and so is an object, which keeps operators such
// as {"$gt":""} out of queries. Unknown parameters are ignored.
func Bind[T any](c *gin.Context) (T, error) {
	in, _, err := bind[T](c, false)
	return in, err
}

// BindPatch is Bind for an update: an absent parameter is not an error, and its field does not change.
func BindPatch[T any](c *gin.Context) (store.Patch[T], error) {
	in, given, err := bind[T](c, true)
	return store.Patch[T]{Fields: in, Given: given}, err
}

func bind[T any](c *gin.Context, partial bool) (in T, given []string, err error) {
	params, err := Body(c)
	if err == nil {
		given, err = params.decode(&in, partial)
	}
	return in, given, err
}

// Parser is implemented by parameters other than scalars and lists of strings. ParseInput receives the JSON value, or the
// form value, and the name of the parameter. It returns all errors, each with Param, a path that begins with the name.
// ParseInput is not called for null.
type Parser interface {
	ParseInput(name string, value json.RawMessage) []apperr.Field
}

// decode returns the names of the given parameters. If it is not partial, required ones must be given.
func (p Params) decode(dst any, partial bool) (given []string, err error) {
	store.SetDefaults(dst)
	value := reflect.ValueOf(dst).Elem()
	var faults []apperr.Field
	for _, f := range fieldsOf(value.Type()) {
		target := value.FieldByIndex(f.index)
		isGiven, empty, invalid := p.decodeField(f, target)
		switch {
		case invalid != nil:
		case !empty:
			invalid = f.check(target)
		case f.required && (isGiven || !partial):
			invalid = f.bodyFault(&apperr.Field{Code: apperr.Required, Message: "Must be given."})
		}
		faults = append(faults, invalid...)
		if isGiven {
			given = append(given, f.name)
		}
	}
	if len(faults) > 0 {
		return nil, apperr.Invalid(faults...)
	}
	return given, nil
}

// field describes how to decode a field of a struct.
type field struct {
	index    []int
	name     string
	trim     bool
	parser   bool // a Parser, or a pointer to one
	required bool
	rules    string // for the validator
}

var parserType = reflect.TypeFor[Parser]()

var fieldCache sync.Map // reflect.Type → []field

func fieldsOf(t reflect.Type) []field {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.([]field)
	}
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		rules, required := strings.CutPrefix(f.Tag.Get("validate"), "required")
		fields = append(fields, field{
			index: f.Index, name: store.FieldName(f), trim: f.Tag.Get("trim") != "no", required: required, rules: strings.TrimPrefix(rules, ","),
			parser: f.Type.Implements(parserType) || reflect.PointerTo(f.Type).Implements(parserType),
		})
	}
	fieldCache.Store(t, fields)
	return fields
}

// decodeField sets dst to a parameter that is not empty.
func (p Params) decodeField(f field, dst reflect.Value) (given, empty bool, faults []apperr.Field) {
	raw, inJSON := p.json[f.name]
	texts, inForm := p.form[f.name]
	if !inJSON && !inForm {
		return false, true, nil
	}
	if inForm && f.parser && len(texts) == 1 {
		raw = json.RawMessage(strings.TrimSpace(texts[0]))
	}
	isEmpty := inForm && !f.parser && len(texts) == 1 && strings.TrimSpace(texts[0]) == "" && (f.trim || texts[0] == "")
	if isEmpty || string(raw) == "null" {
		return true, true, nil
	}
	if f.parser && raw != nil {
		faults = allocate(dst).Addr().Interface().(Parser).ParseInput(f.name, raw)
		for i := range faults {
			faults[i].In = "body"
		}
		return true, false, faults
	}
	value := reflect.New(dst.Type()).Elem()
	target := allocate(value)
	if inForm {
		faults = f.bodyFault(f.fromForm(texts, target))
	} else {
		faults = f.bodyFault(f.fromJSON(raw, target))
	}
	if kind := target.Kind(); (kind == reflect.String || kind == reflect.Slice) && target.Len() == 0 {
		return true, true, faults
	}
	dst.Set(value)
	return true, false, faults
}

// check returns the violations of the rules.
func (f field) check(value reflect.Value) (faults []apperr.Field) {
	if f.rules == "" {
		return nil
	}
	err := validation().Var(reflect.Indirect(value).Interface(), f.rules)
	violations, ok := err.(validator.ValidationErrors)
	if err != nil && !ok {
		panic(err) // unreachable: the value is valid
	}
	for _, v := range violations {
		fault := violation(v)
		fault.In, fault.Param = "body", f.name+v.Field() // [0] is the first item of a list
		faults = append(faults, fault)
	}
	return faults
}

// bodyFault completes a fault of the field; nil has none.
func (f field) bodyFault(fault *apperr.Field) []apperr.Field {
	if fault == nil {
		return nil
	}
	fault.In, fault.Param = "body", f.name
	return []apperr.Field{*fault}
}

// allocate sets pointers to new values and returns the value at their end.
func allocate(dst reflect.Value) reflect.Value {
	for dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		dst = dst.Elem()
	}
	return dst
}

func (f field) fromForm(texts []string, dst reflect.Value) *apperr.Field {
	if list, ok := dst.Addr().Interface().(*[]string); ok {
		if len(texts) == 1 {
			texts = strings.Split(texts[0], ",")
		}
		return f.setList(texts, list)
	}
	if len(texts) != 1 {
		return &apperr.Field{Code: apperr.Type, Message: "Must be given once."}
	}
	if _, ok := dst.Addr().Interface().(*string); ok {
		return f.setScalar(texts[0], dst)
	}
	return f.setScalar(strings.TrimSpace(texts[0]), dst)
}

func (f field) fromJSON(raw json.RawMessage, dst reflect.Value) *apperr.Field {
	switch p := dst.Addr().Interface().(type) {
	case *[]string:
		var items []*string
		if json.Unmarshal(raw, &items) != nil || slices.Contains(items, nil) {
			return wrongType("a list of strings")
		}
		list := make([]string, len(items))
		for i, item := range items {
			list[i] = *item
		}
		return f.setList(list, p)
	case *string, *store.ID, *store.Time:
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return wrongType("a string")
		}
		return f.setScalar(text, dst)
	}
	return f.setScalar(string(raw), dst)
}

func (f field) setScalar(text string, dst reflect.Value) (fault *apperr.Field) {
	switch p := dst.Addr().Interface().(type) {
	case *string:
		if f.trim {
			text = strings.TrimSpace(text)
		}
		if fault = CheckString(text); fault == nil {
			*p = text
		}
	case *store.Time:
		*p, fault = ParseTime(text)
	case *store.ID:
		*p, fault = ParseID(text)
	default:
		switch dst.Kind() {
		case reflect.Bool:
			var b bool
			b, fault = ParseBool(text)
			dst.SetBool(b)
		case reflect.Int64:
			var n int64
			n, fault = ParseInt(text)
			dst.SetInt(n)
		case reflect.Float64:
			var x float64
			x, fault = ParseFloat(text)
			dst.SetFloat(x)
		default:
			panic("rest: a parameter cannot have the type " + dst.Type().String())
		}
	}
	return fault
}

// setList sets a list of strings, without the empty ones.
func (f field) setList(texts []string, dst *[]string) *apperr.Field {
	list := make([]string, 0, len(texts))
	for _, text := range texts {
		var item string
		if fault := f.setScalar(text, reflect.ValueOf(&item).Elem()); fault != nil {
			return fault
		}
		if item != "" {
			list = append(list, item)
		}
	}
	*dst = list
	return nil
}

// The parsers below are for parameters of bodies and of query strings. The *apperr.Field is nil for a valid value; else it
// has Code and Message, and the caller sets In and Param. An ID that cannot be parsed has the code format, any other
// scalar type.

// maxInt is the largest integer that every JSON reader keeps exactly (RFC 8259 section 6).
const maxInt = 1<<53 - 1

// ParseInt parses an integer within ±(2^53-1).
func ParseInt(s string) (int64, *apperr.Field) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > maxInt || n < -maxInt {
		return 0, wrongType("an integer between -9007199254740991 and 9007199254740991")
	}
	return n, nil
}

// ParseFloat parses a finite number.
func ParseFloat(s string) (float64, *apperr.Field) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, wrongType("a number")
	}
	return x, nil
}

// ParseBool parses true or false.
func ParseBool(s string) (bool, *apperr.Field) {
	if s != "true" && s != "false" {
		return false, wrongType("true or false")
	}
	return s == "true", nil
}

// ParseTime parses an RFC 3339 time.
func ParseTime(s string) (store.Time, *apperr.Field) {
	t, err := store.ParseTime(s)
	if err != nil {
		return t, wrongType("a time such as 2006-01-02T15:04:05.000Z")
	}
	return t, nil
}

// ParseID parses an ID.
func ParseID(s string) (store.ID, *apperr.Field) {
	id, ok := store.ParseID(s)
	if !ok {
		return id, &apperr.Field{Code: apperr.Format, Message: "Must be an ID: 24 hexadecimal characters."}
	}
	return id, nil
}

// CheckString checks that a string can be stored.
func CheckString(s string) *apperr.Field {
	if strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
		return &apperr.Field{Code: apperr.Format, Message: "Must be valid UTF-8 without the character U+0000."}
	}
	return nil
}

func wrongType(expected string) *apperr.Field {
	return &apperr.Field{Code: apperr.Type, Message: "Must be " + expected + "."}
}
