package input

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-playground/validator/v10"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/store"
)

// Decode fills the struct that dst points to and holds it against its rules. The error is ValidationFailed with every
// parameter at fault, in the order of the fields.
//
// Fields are string, bool, int64, float64, store.Time, store.ID, []string (a JSON array, a repeated form parameter, or
// one comma-separated text), what implements Parser, or pointers to these, which stay nil if the parameter was not given.
// A pointer to a pointer tells three things apart: nil is not given; a pointer to nil is null, with null:"clear", or in a
// form, which has no null, an empty text; else it is given.
// Tags:
//
//   - json: the name.
//   - validate: the rules of github.com/go-playground/validator, and maxbytes=N, uncommon (no common password),
//     dnslabel (a label of RFC 1123, less its length). min=1 on text means required: text that is empty after trimming;
//     so it does on a list.
//   - trim:"no" keeps the blanks around text; all other text is trimmed.
//   - null:"clear" on a pointer lets JSON null mean "make it empty" instead of "not given".
func (v Values) Decode(dst any) error {
	value := reflect.ValueOf(dst).Elem()
	plan := planOf(value.Type())
	wrong := make(map[string][]apperr.Field)
	for _, f := range plan {
		if faults := v.decodeField(f, value.Field(f.index)); len(faults) > 0 {
			wrong[f.name] = faults
		}
	}
	checkRules(dst, wrong)
	if len(wrong) == 0 {
		return nil
	}
	fields := make([]apperr.Field, 0, len(wrong))
	for _, f := range plan {
		fields = append(fields, wrong[f.name]...)
	}
	return apperr.Invalid(fields...)
}

// Parser is a parameter that is more than a scalar or a list, and reads itself. ParseInput is given its JSON, which in a
// form is its text, and the name under which it stands. It returns all that is wrong, each with Param, a path that
// begins with the name; In is filled in by the caller. JSON null does not come to it: see Decode.
type Parser interface {
	ParseInput(name string, value json.RawMessage) []apperr.Field
}

// maxInt is the largest integer that every JSON reader keeps exact (RFC 8259 section 6).
const maxInt = 1<<53 - 1

type field struct {
	index  int
	name   string
	trim   bool
	clear  bool
	parser bool // a Parser, or a pointer to one
	triple bool // a pointer to a pointer
}

var parserType = reflect.TypeFor[Parser]()

var plans sync.Map // reflect.Type → []field

func planOf(t reflect.Type) []field {
	if plan, ok := plans.Load(t); ok {
		return plan.([]field)
	}
	plan := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		tag, fieldType := t.Field(i).Tag, t.Field(i).Type
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		plan = append(plan, field{
			index: i, name: name, trim: tag.Get("trim") != "no", clear: tag.Get("null") == "clear",
			parser: fieldType.Implements(parserType) || reflect.PointerTo(fieldType).Implements(parserType),
			triple: fieldType.Kind() == reflect.Pointer && fieldType.Elem().Kind() == reflect.Pointer,
		})
	}
	plans.Store(t, plan)
	return plan
}

func (v Values) decodeField(f field, dst reflect.Value) []apperr.Field {
	raw, inJSON := v.json[f.name]
	texts, inForm := v.form[f.name]
	switch {
	case !inJSON && !inForm:
		return nil
	case inForm && len(texts) == 1 && f.parser:
		raw = json.RawMessage(strings.TrimSpace(texts[0]))
	case inForm && len(texts) == 1 && f.triple && strings.TrimSpace(texts[0]) == "":
		raw = json.RawMessage("null")
	case inForm:
		return f.fault(f.fromForm(texts, target(dst)))
	}
	if string(raw) == "null" {
		if f.clear {
			dst.Set(reflect.New(dst.Type().Elem()))
		}
		return nil
	}
	if !f.parser {
		return f.fault(f.fromJSON(raw, target(dst)))
	}
	faults := target(dst).Addr().Interface().(Parser).ParseInput(f.name, raw)
	for i := range faults {
		faults[i].In = "body"
	}
	return faults
}

// fault is the one thing that is wrong with the field, if there is one.
func (f field) fault(fault *apperr.Field) []apperr.Field {
	if fault == nil {
		return nil
	}
	fault.In, fault.Param = "body", f.name
	return []apperr.Field{*fault}
}

// target is where a given value goes: what a pointer, or a pointer to a pointer, points to, made now.
func target(dst reflect.Value) reflect.Value {
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
	switch p := dst.Addr().Interface().(type) {
	case *store.Time:
		t, err := store.ParseTime(strings.TrimSpace(texts[0]))
		if err != nil {
			return typeFault("a time such as 2006-01-02T15:04:05.000Z")
		}
		*p = t
	case *store.ID:
		return setID(strings.TrimSpace(texts[0]), p)
	case *string:
		return f.setText(texts[0], p)
	default:
		return setNumber(strings.TrimSpace(texts[0]), dst)
	}
	return nil
}

func (f field) fromJSON(raw json.RawMessage, dst reflect.Value) *apperr.Field {
	switch p := dst.Addr().Interface().(type) {
	case *[]string:
		var items []*string
		if json.Unmarshal(raw, &items) != nil || slices.Contains(items, nil) {
			return typeFault("a list of texts")
		}
		list := make([]string, len(items))
		for i, item := range items {
			list[i] = *item
		}
		return f.setList(list, p)
	case *store.Time:
		if json.Unmarshal(raw, p) != nil {
			return typeFault("a time such as 2006-01-02T15:04:05.000Z")
		}
	case *store.ID:
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return typeFault("text")
		}
		return setID(text, p)
	case *string:
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return typeFault("text")
		}
		return f.setText(text, p)
	default:
		return setNumber(string(raw), dst)
	}
	return nil
}

func (f field) setText(text string, dst *string) *apperr.Field {
	if f.trim {
		text = strings.TrimSpace(text)
	}
	if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		return &apperr.Field{Code: apperr.Format, Message: "Must be valid UTF-8 without the character U+0000."}
	}
	*dst = text
	return nil
}

func setID(text string, dst *store.ID) *apperr.Field {
	id, ok := store.ParseID(text)
	if !ok {
		return &apperr.Field{Code: apperr.Format, Message: "Must be an id: 24 hexadecimal characters."}
	}
	*dst = id
	return nil
}

func (f field) setList(texts []string, dst *[]string) *apperr.Field {
	list := make([]string, 0, len(texts))
	for _, text := range texts {
		var item string
		if fault := f.setText(text, &item); fault != nil {
			return fault
		}
		if item != "" {
			list = append(list, item)
		}
	}
	*dst = list
	return nil
}

func setNumber(text string, dst reflect.Value) *apperr.Field {
	switch dst.Kind() {
	case reflect.Bool:
		if text != "true" && text != "false" {
			return typeFault("true or false")
		}
		dst.SetBool(text == "true")
	case reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n > maxInt || n < -maxInt {
			return typeFault("a whole number within ±9007199254740991")
		}
		dst.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return typeFault("a number")
		}
		dst.SetFloat(x)
	default:
		panic("input: no parameter can be of type " + dst.Type().String())
	}
	return nil
}

func typeFault(expected string) *apperr.Field {
	return &apperr.Field{Code: apperr.Type, Message: "Must be " + expected + "."}
}

var rules = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return name
	})
	v.RegisterCustomTypeFunc(func(t reflect.Value) any { return t.Interface().(store.Time).Time }, store.Time{})
	register(v, "uncommon", func(fl validator.FieldLevel) bool { return !password.IsCommon(fl.Field().String()) })
	register(v, "maxbytes", func(fl validator.FieldLevel) bool {
		n, err := strconv.Atoi(fl.Param())
		return err == nil && len(fl.Field().String()) <= n
	})
	register(v, "dnslabel", func(fl validator.FieldLevel) bool { return dnsLabel.MatchString(fl.Field().String()) })
	return v
})

// dnsLabel is a label as hosts bear it: RFC 1123 section 2.1, in lower case.
var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

func register(v *validator.Validate, tag string, rule validator.Func) {
	if err := v.RegisterValidation(tag, rule); err != nil {
		panic(err) // a tag that the library reserves: a mistake of ours
	}
}

// checkRules adds to wrong the parameters that break a rule and are not there yet.
func checkRules(dst any, wrong map[string][]apperr.Field) {
	err := rules().Struct(dst)
	broken, ok := err.(validator.ValidationErrors)
	if err != nil && !ok {
		panic(err) // dst is no struct: a mistake of ours
	}
	unread := maps.Clone(wrong)
	for _, b := range broken {
		name, _, _ := strings.Cut(b.Field(), "[") // list[0] is a text of the list
		if _, known := unread[name]; !known {
			fault := ruleFault(b)
			fault.In, fault.Param = "body", b.Field()
			wrong[name] = append(wrong[name], fault)
		}
	}
}

func ruleFault(b validator.FieldError) apperr.Field {
	text, list := b.Kind() == reflect.String, b.Kind() == reflect.Slice
	switch tag, param := b.Tag(), b.Param(); {
	case tag == "required", tag == "min" && (text || list) && param == "1":
		return apperr.Field{Code: apperr.Required, Message: "Must be given."}
	case tag == "max" && list:
		return bound(apperr.MaxLength, "Must have at most %v items.", param)
	case tag == "min" && list:
		return bound(apperr.MinLength, "Must have at least %v items.", param)
	case tag == "max" && text:
		return bound(apperr.MaxLength, "Must have at most %v characters.", param)
	case tag == "maxbytes":
		return bound(apperr.MaxLength, "Must have at most %v bytes.", param)
	case tag == "min" && text:
		return bound(apperr.MinLength, "Must have at least %v characters.", param)
	case tag == "max":
		return bound(apperr.Max, "Must be at most %v.", param)
	case tag == "min":
		return bound(apperr.Min, "Must be at least %v.", param)
	case tag == "oneof":
		allowed := strings.Fields(param)
		return apperr.Field{Code: apperr.OneOf, Message: "Must be one of " + strings.Join(allowed, ", ") + ".", Expected: allowed}
	case tag == "email", tag == "excludes":
		return apperr.Field{Code: apperr.Format, Message: "Must be an e-mail address."}
	case strings.HasSuffix(tag, "http_url"): // alone, or as len=0|http_url
		return apperr.Field{Code: apperr.Format, Message: "Must be an address that begins with http:// or https://."}
	case tag == "dnslabel":
		return apperr.Field{Code: apperr.Format, Message: "Must be lower-case letters, digits and hyphens, and begin and end with a letter or digit."}
	case tag == "uncommon":
		return apperr.Field{Code: apperr.TooCommon, Message: "Is one of the most common passwords. Choose another."}
	}
	return apperr.Field{Code: apperr.Format, Message: "Is not valid."}
}

func bound(code apperr.FieldCode, message, param string) apperr.Field {
	n, err := strconv.ParseFloat(param, 64)
	if err != nil {
		return apperr.Field{Code: code, Message: fmt.Sprintf(message, param)}
	}
	return apperr.Field{Code: code, Message: fmt.Sprintf(message, param), Expected: n}
}
