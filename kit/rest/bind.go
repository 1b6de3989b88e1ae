package rest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/go-playground/validator/v10"
	"golang.org/x/text/unicode/norm"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/store"
)

// Bind reads the parameters of the request body, form-encoded or JSON, into a struct and validates them. It returns the errors
// of Body. If parameters are invalid, it returns ValidationFailed, which lists the invalid parameters in the order of the
// fields, and then the unknown parameters. The struct then has the parameters whose type is valid, so that the caller can add the
// errors of its own rules with apperr.JoinInvalid.
//
// The type of a field is string, bool, int64, float64, store.Time, Date, ID, UUID or Decimal (a JSON string or number), a list of
// these, a type that implements Parser, or a pointer to one of these types. A list is a JSON array (in a JSON body, or as a form
// value), a repeated form parameter, or one comma-separated form value. The fields of embedded structs are parameters too. If a
// parameter is absent, null, or empty (an empty form value, string or list; not for a Parser), its field gets the default or,
// without a default, the zero value.
//
// A field can also have the type *files.File or []files.File, which only multipart forms to routes with route.Files fill. null,
// also as a form value, deletes the file, or all files of the list: the field is nil and, for BindPatch, given. The view of a file,
// or a list of them, is ignored.
//
// The tags of a field:
//
//   - json: the name of the parameter.
//   - default: the default; see store.SetDefaults.
//   - doc: a description, which ends each message about the parameter.
//   - validate: rules for parameters that are not empty: the rules of github.com/go-playground/validator, and maxbytes=N,
//     uncommon (not a common password), dnslabel (an RFC 1123 label of any length), decmin=N and decmax=N (bounds of a
//     Decimal), plain (no control characters), plain_http_url (an http or https URL that is safe in HTML) and normalizable (an
//     email address that kit/email/address can normalize). required must be the first rule; it rejects an absent or empty
//     parameter.
//   - trim:"no" keeps the spaces around a string; other strings are trimmed.
//   - unicode:"NFC" converts a string to Unicode normalization form C.
//
// The type of a JSON value must match the field: a number or an object for a string is an error. This keeps operators such as
// {"$gt":""} out of queries. Bind ignores access_token and the fields of views, so that a client can send back the record that
// it received. Any other parameter without a field is an error.
func Bind[T any](g *gin.Context, views ...any) (T, error) {
	in, _, err := bind[T](g, false, views)
	return in, err
}

// BindPatch is like Bind, for an update: a required parameter may be absent. Patch.Given has the names of the parameters in the
// request. Patch.Merge is set if the Content-Type is application/merge-patch+json; a store.Object then keeps its null properties.
func BindPatch[T any](g *gin.Context, views ...any) (store.Patch[T], error) {
	in, given, err := bind[T](g, true, views)
	params, _ := Body(g) // bind has returned this error
	return store.Patch[T]{Fields: in, Given: given, Merge: params.merge}, err
}

// BindSome is like Bind, but ignores unknown parameters. Middleware uses it for parameters that the handler binds too.
func BindSome[T any](g *gin.Context) (in T, err error) {
	params, err := Body(g)
	if err != nil {
		return in, err
	}
	_, fieldErrs := params.decodeFields(&in, false)
	if len(fieldErrs) > 0 {
		err = apperr.Invalid(fieldErrs...)
	}
	return in, err
}

func bind[T any](g *gin.Context, partial bool, views []any) (in T, given []string, err error) {
	params, err := Body(g)
	if err == nil {
		err = params.late // QuotaExceeded; see AllowFiles.LateQuota
	}
	if err == nil {
		given, err = params.decode(&in, partial, views...)
	}
	return in, given, err
}

// Parser is implemented by the types of parameters that are neither scalars nor lists of scalars. ParseInput receives the name
// of the parameter and its JSON value. A value from a form has no quotes, so it may not be valid JSON. ParseInput returns all
// errors. The Param of each error is a path that begins with name. If there are errors, the field keeps what ParseInput has set, so
// that the caller of Bind can check it. ParseInput is not called for null. A form that repeats the parameter is rejected without a
// call of ParseInput.
type Parser interface {
	ParseInput(name string, value json.RawMessage) []apperr.Field
}

// decode decodes the parameters into the struct that dst points to, and returns the names of the parameters in the request. A
// required parameter must not be empty. If partial is true, a required parameter may be absent. After an error, given is nil.
func (p Params) decode(dst any, partial bool, views ...any) (given []string, err error) {
	given, fieldErrs := p.decodeFields(dst, partial)
	fieldErrs = append(fieldErrs, p.invalid...)
	fieldErrs = append(fieldErrs, p.unknown(fieldsOf(reflect.TypeOf(dst).Elem()), views)...)
	if len(fieldErrs) > 0 {
		return nil, apperr.Invalid(fieldErrs...)
	}
	return given, nil
}

// decodeFields is like decode, but ignores unknown parameters.
func (p Params) decodeFields(dst any, partial bool) (given []string, fieldErrs []apperr.Field) {
	store.SetDefaults(dst)
	value := reflect.ValueOf(dst).Elem()
	for _, f := range fieldsOf(value.Type()) {
		target := value.FieldByIndex(f.index)
		isGiven, empty, invalid := p.decodeField(&f, target)
		switch {
		case invalid != nil:
		case !empty:
			invalid = f.check(target)
		case f.required && (isGiven || !partial):
			invalid = f.bodyErrors(&apperr.Field{Code: apperr.Required, Message: "Must be given."})
		}
		fieldErrs = append(fieldErrs, f.describe(invalid)...)
		if isGiven {
			given = append(given, f.name)
		}
	}
	return given, fieldErrs
}

// unknown returns an error for each parameter that is not a field. It ignores access_token and the fields of views.
func (p Params) unknown(fields []field, views []any) []apperr.Field {
	var names []string
	add := func(name string) {
		if name != Credential && !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			names = append(names, name)
		}
	}
	for name := range p.json {
		add(name)
	}
	for name := range p.form {
		add(name)
	}
	for name := range p.files {
		add(name)
	}
	if names == nil {
		return nil
	}
	for _, view := range views {
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(store.FieldNames(reflect.TypeOf(view)), name) })
	}
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.name
	}
	note := " The body was read as JSON."
	if p.json == nil {
		note = " The body was read as a form; JSON needs Content-Type: application/json."
	}
	return unknown("body", names, known, note)
}

type field struct {
	index    []int
	name     string
	trim     bool
	nfc      bool // the string is converted to Unicode normalization form C
	parser   bool // the type of the field, or a pointer to it, implements Parser
	file     bool // the type of the field is *files.File or []files.File
	required bool
	rules    string // the rules of the validate tag, without required
	doc      string // the doc tag: a description of the field

	positions []int // in the request, of the items of the decoded list; nil until setList
}

// describe adds the description of the field to the messages of the errors.
func (f field) describe(fieldErrs []apperr.Field) []apperr.Field {
	if f.doc != "" {
		for i := range fieldErrs {
			fieldErrs[i].Message += " " + strings.TrimSuffix(f.doc, ".") + "."
		}
	}
	return fieldErrs
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
		rules := f.Tag.Get("validate")
		first, others, _ := strings.Cut(rules, ",")
		required := first == "required"
		if required {
			rules = others
		}
		fields = append(fields, field{
			index: f.Index, name: store.FieldName(f), trim: f.Tag.Get("trim") != "no", required: required, rules: rules,
			nfc:    f.Tag.Get("unicode") == "NFC",
			parser: f.Type.Implements(parserType) || reflect.PointerTo(f.Type).Implements(parserType),
			file:   f.Type == fileType || f.Type == filesType,
			doc:    f.Tag.Get("doc"),
		})
	}
	fieldCache.Store(t, fields)
	return fields
}

// decodeField decodes a parameter into dst. given reports whether the request has the parameter. empty reports whether the
// parameter is absent, null or empty; if so, or if there are errors and f has no Parser, dst keeps the default.
func (p Params) decodeField(f *field, dst reflect.Value) (given, empty bool, fieldErrs []apperr.Field) {
	if f.file {
		return p.decodeFile(*f, dst)
	}
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
	value := reflect.New(dst.Type()).Elem()
	target := allocate(value)
	switch {
	case f.parser && raw != nil: // fromForm rejects a repeated form parameter, which has no raw
		fieldErrs = p.callParser(*f, raw, target)
		dst.Set(value) // also after an error; see Parser
		return true, false, fieldErrs
	case inForm:
		fieldErrs = f.bodyErrors(f.fromForm(texts, target))
	default:
		fieldErrs = f.bodyErrors(f.fromJSON(string(raw), target))
	}
	if fieldErrs != nil {
		return true, false, fieldErrs
	}
	if kind := target.Kind(); (kind == reflect.String || kind == reflect.Slice) && target.Len() == 0 {
		return true, true, nil
	}
	dst.Set(value)
	return true, false, nil
}

// callParser decodes raw into dst, which implements Parser.
func (p Params) callParser(f field, raw json.RawMessage, dst reflect.Value) []apperr.Field {
	target := dst.Addr().Interface()
	parse := target.(Parser).ParseInput
	if object, ok := target.(*store.Object); ok && p.merge {
		parse = object.ParseMerge
	}
	fieldErrs := parse(f.name, raw)
	for i := range fieldErrs {
		fieldErrs[i].In = "body"
	}
	return fieldErrs
}

// check checks value against the rules of the field, and returns the errors.
func (f field) check(value reflect.Value) (fieldErrs []apperr.Field) {
	if f.rules == "" {
		return nil
	}
	err := validation().Var(reflect.Indirect(value).Interface(), f.rules)
	violations, ok := err.(validator.ValidationErrors)
	if err != nil && !ok {
		panic(err) // unreachable: Var returns other errors only for invalid arguments
	}
	for _, v := range violations {
		fieldErr := violation(v)
		fieldErr.In, fieldErr.Param = "body", f.name
		if item, err := strconv.Atoi(strings.Trim(v.Field(), "[]")); err == nil { // v.Field() is "", or the index of an item of a list, such as [0]
			if f.positions != nil {
				item = f.positions[item]
			}
			fieldErr.Param = fmt.Sprintf("%s[%d]", f.name, item)
		}
		fieldErrs = append(fieldErrs, fieldErr)
	}
	return fieldErrs
}

// bodyErrors sets In and Param of fieldErr, and returns fieldErr as a list. If fieldErr is nil, bodyErrors returns nil.
func (f field) bodyErrors(fieldErr *apperr.Field) []apperr.Field {
	if fieldErr == nil {
		return nil
	}
	fieldErr.In, fieldErr.Param = "body", f.name
	return []apperr.Field{*fieldErr}
}

// allocate allocates a new value for each level of pointers in dst, and returns the innermost value. If dst is not a pointer,
// allocate returns dst.
func allocate(dst reflect.Value) reflect.Value {
	for dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		dst = dst.Elem()
	}
	return dst
}

func (f *field) fromForm(texts []string, dst reflect.Value) *apperr.Field {
	if dst.Kind() == reflect.Slice && !f.parser {
		if len(texts) == 1 {
			if isArray(texts[0]) {
				return f.fromJSON(texts[0], dst)
			}
			texts = strings.Split(texts[0], ",")
		}
		return f.setList(texts, dst, f.setScalar)
	}
	if len(texts) != 1 {
		return &apperr.Field{Code: apperr.Type, Message: "Must be given once."}
	}
	return f.setScalar(texts[0], dst)
}

// isArray reports whether a form value is a JSON array.
func isArray(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "[") && utf8.ValidString(text) && json.Valid([]byte(text))
}

func (f *field) fromJSON(raw string, dst reflect.Value) *apperr.Field {
	switch into := dst.Addr().Interface().(type) {
	case *string, *store.ID, *store.Time, *store.Date, *store.UUID:
		var text string
		if json.Unmarshal([]byte(raw), &text) != nil || raw == "null" {
			return wrongType("a string")
		}
		return f.setScalar(text, dst)
	case *store.Decimal:
		return parse(strings.Trim(raw, `"`), into)
	}
	if dst.Kind() != reflect.Slice {
		return f.setScalar(raw, dst)
	}
	var items []json.RawMessage
	if json.Unmarshal([]byte(raw), &items) != nil {
		return wrongType("a list")
	}
	values := make([]string, len(items))
	for i, item := range items {
		values[i] = string(item)
	}
	return f.setList(values, dst, f.fromJSON)
}

func (f field) setScalar(text string, dst reflect.Value) *apperr.Field {
	into := dst.Addr().Interface()
	if _, isString := into.(*string); !isString || f.trim {
		text = strings.TrimSpace(text)
	}
	if f.nfc {
		text = norm.NFC.String(text)
	}
	return parse(text, into)
}

// setList decodes each value with set, and stores the results in dst, except empty strings. It sets f.positions.
func (f *field) setList(values []string, dst reflect.Value, set func(string, reflect.Value) *apperr.Field) *apperr.Field {
	list := reflect.MakeSlice(dst.Type(), 0, len(values))
	f.positions = []int{}
	for i, value := range values {
		item := reflect.New(dst.Type().Elem()).Elem()
		if fieldErr := set(value, item); fieldErr != nil {
			return fieldErr
		}
		if item.Kind() != reflect.String || item.Len() > 0 {
			list, f.positions = reflect.Append(list, item), append(f.positions, i)
		}
	}
	dst.Set(list)
	return nil
}
