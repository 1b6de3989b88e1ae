package store

import (
	"encoding/hex"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/apperr"
)

// Time is an instant in UTC with millisecond precision. In JSON it has the form 2006-01-02T15:04:05.000Z, which sorts by
// time; in BSON it is a date.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At converts t to UTC and truncates it to the millisecond.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// ParseTime parses an RFC 3339 time with any zone and precision. It fails if the year in UTC does not have four digits.
func ParseTime(s string) (Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err == nil && !isRFC3339(s) {
		err = fmt.Errorf("store: %q is not an RFC 3339 time", strings.Clone(s)) // without a copy, s is on the heap also without an error
	}
	if err != nil {
		return Time{}, err
	}
	return At(t), checkYear(t)
}

// isRFC3339 reports whether s, which time.Parse has accepted, is valid by RFC 3339, section 5.6. time.Parse also accepts an hour
// with one digit, a decimal comma, and time zones such as +24:00 and +00:60.
func isRFC3339(s string) bool {
	const hourEnd, secondsEnd = len("2006-01-02T15"), len("2006-01-02T15:04:05")
	if s[hourEnd] != ':' || s[secondsEnd] == ',' {
		return false
	}
	zone := s[len(s)-len("07:00"):]
	return s[len(s)-1] == 'Z' || zone[:2] < "24" && zone[3:] < "60"
}

// checkYear fails if the year of t in UTC does not have four digits.
func checkYear(t time.Time) error {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("store: year %d is outside the range 0 to 9999", y)
	}
	return nil
}

// String returns t in the same form as MarshalText.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// AppendText appends t in the same form as MarshalText. It fails if the year in UTC does not have four digits.
func (t Time) AppendText(b []byte) ([]byte, error) {
	if err := checkYear(t.Time); err != nil {
		return b, err
	}
	b = t.UTC().AppendFormat(b, time.RFC3339) // three times as fast as timeLayout
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z'), nil
}

// MarshalText returns t in the form 2006-01-02T15:04:05.000Z.
func (t Time) MarshalText() ([]byte, error) { return t.AppendText(make([]byte, 0, len(timeLayout))) }

// UnmarshalText parses b as ParseTime does.
func (t *Time) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTime(string(b))
	return err
}

// MarshalJSON returns t as a JSON string.
func (t Time) MarshalJSON() ([]byte, error) {
	b, err := t.AppendText(append(make([]byte, 0, len(timeLayout)+2), '"'))
	return append(b, '"'), err
}

// UnmarshalJSON parses a JSON string. null leaves t unchanged.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return fmt.Errorf("store: a time must be a JSON string")
	}
	return t.UnmarshalText(b[1 : len(b)-1])
}

// MarshalBSONValue returns a BSON date.
func (t Time) MarshalBSONValue() (byte, []byte, error) {
	typ, data, err := bson.MarshalValue(t.Time)
	return byte(typ), data, err
}

// UnmarshalBSONValue parses a BSON date.
func (t *Time) UnmarshalBSONValue(typ byte, data []byte) error {
	var v time.Time
	if err := bson.UnmarshalValue(bson.Type(typ), data, &v); err != nil {
		return err
	}
	*t = At(v)
	return nil
}

// MarshalValues encodes scalars (see Comparison) together with their types.
func MarshalValues(values []any) ([]byte, error) {
	return bson.Marshal(bson.D{{Key: "v", Value: values}})
}

// UnmarshalValues decodes the result of MarshalValues. Numbers are int32, int64 or float64; times are Time.
func UnmarshalValues(data []byte) ([]any, error) {
	var doc struct {
		Values bson.A `bson:"v"`
	}
	if err := bson.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	for i, v := range doc.Values {
		if t, ok := v.(bson.DateTime); ok {
			doc.Values[i] = At(t.Time())
		}
	}
	return doc.Values, nil
}

// Date is a calendar date in the form 2006-01-02. "" means no date.
type Date string

// ParseDate parses a date in the form 2006-01-02.
func ParseDate(s string) (Date, error) {
	_, err := time.Parse(time.DateOnly, s)
	return Date(s), err
}

// UUID is a UUID (RFC 9562) in lower case. "" means no UUID.
type UUID string

var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// ParseUUID parses a UUID of any version, in upper or lower case.
func ParseUUID(s string) (UUID, error) {
	s = strings.ToLower(s)
	if !uuidPattern.MatchString(s) {
		return "", fmt.Errorf("store: %.40q is not a UUID", s)
	}
	return UUID(s), nil
}

// Object is a JSON object. As in every document, null equals absent: ParseInput removes properties that are null. Numbers
// are float64.
type Object map[string]any

// Limits of an Object that a client sends.
const (
	MaxObjectBytes = 16 << 10 // bytes of the JSON
	MaxObjectDepth = 10       // levels of nested objects and arrays
)

// ParseInput implements rest.Parser. It returns the errors of the value; nil if the value is valid.
func (o *Object) ParseInput(name string, value stdjson.RawMessage) []apperr.Field {
	return o.parse(name, value, false)
}

// parse is like ParseInput; if keepNull is true, it does not remove null properties.
func (o *Object) parse(name string, value stdjson.RawMessage, keepNull bool) []apperr.Field {
	fieldErr := func(code apperr.FieldCode, format string, args ...any) []apperr.Field {
		return []apperr.Field{{Param: name, Code: code, Message: fmt.Sprintf(format, args...)}}
	}
	if len(value) > MaxObjectBytes {
		return fieldErr(apperr.MaxLength, "Must have at most %d bytes.", MaxObjectBytes)
	}
	err := json.Unmarshal(value, (*map[string]any)(o))
	if err == nil {
		err = normalize(map[string]any(*o), 1, keepNull)
	}
	switch {
	case errors.Is(err, errTooDeep):
		return fieldErr(apperr.Max, "Must have at most %d levels of nested objects and arrays.", MaxObjectDepth)
	case err != nil || *o == nil:
		return fieldErr(apperr.Type, "Must be a JSON object with distinct names, without the character U+0000.")
	}
	return nil
}

var errTooDeep, errNUL = errors.New("too deep"), errors.New("a string has the character U+0000")

// normalize removes the null properties of the objects in v, unless keepNull is true. depth is the level of v. It fails with
// errTooDeep if v has too many levels, and with errNUL if a string or a name has the character U+0000.
func normalize(v any, depth int, keepNull bool) (err error) {
	switch v := v.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			return errNUL
		}
	case []any:
		if depth > MaxObjectDepth {
			return errTooDeep
		}
		for _, item := range v {
			err = errors.Join(err, normalize(item, depth+1, keepNull))
		}
	case map[string]any:
		if depth > MaxObjectDepth {
			return errTooDeep
		}
		for key, item := range v {
			if item == nil && !keepNull {
				delete(v, key)
			}
			err = errors.Join(err, normalize(key, depth, keepNull), normalize(item, depth+1, keepNull))
		}
	}
	return err
}

// EncodeJSON writes v like encoding/json, but does not escape HTML. It takes half the time of encoding/json
// (docs/performance.md).
func EncodeJSON(w io.Writer, v any) error { return json.MarshalWrite(w, v, encodeOptions) }

var encodeOptions = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), json.WithMarshalers(marshalers))

// marshalers write IDs and times without allocations. A page has many IDs and times.
var marshalers = json.JoinMarshalers(
	json.MarshalToFunc(func(e *jsontext.Encoder, id ID) error {
		return e.WriteValue(append(hex.AppendEncode(append(e.AvailableBuffer(), '"'), id[:]), '"'))
	}),
	json.MarshalToFunc(func(e *jsontext.Encoder, t Time) error {
		text, err := t.AppendText(append(e.AvailableBuffer(), '"'))
		if err != nil {
			return err
		}
		return e.WriteValue(append(text, '"'))
	}),
)

// EncodeStored writes a document, or a value in a document, in the JSON form that engines store. Decimals are integers; all other
// values have the same form as with EncodeJSON.
func EncodeStored(w io.Writer, v any) error { return json.MarshalWrite(w, v, storedEncoding) }

var storedEncoding = json.JoinOptions(encodeOptions, json.WithMarshalers(json.JoinMarshalers(marshalers, json.MarshalToFunc(
	func(e *jsontext.Encoder, d Decimal) error { return e.WriteToken(jsontext.Int(d.Stored())) }))))

// SetDefaults sets each field that has a default tag to the tag's value. It sets slices without a default tag to empty slices.
// dst is a pointer to a zero struct. If dst points to a value that is not a struct, SetDefaults does nothing. The value of a tag
// is JSON, or a string without quotes. SetDefaults panics if a default does not fit the type of its field.
func SetDefaults(dst any) {
	v := reflect.ValueOf(dst).Elem()
	if v.Kind() != reflect.Struct {
		return
	}
	cached, ok := defaultCache.Load(v.Type())
	if !ok {
		cached, _ = defaultCache.LoadOrStore(v.Type(), withDefaults(v.Type()))
	}
	v.Set(cached.(reflect.Value))
}

var defaultCache sync.Map // reflect.Type → reflect.Value, a struct with its defaults

// withDefaults returns a struct of type t with its defaults.
func withDefaults(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	for _, f := range reflect.VisibleFields(t) {
		if text, ok := f.Tag.Lookup("default"); ok {
			into := v.FieldByIndex(f.Index).Addr().Interface()
			if json.Unmarshal([]byte(text), into) != nil {
				if err := json.Unmarshal([]byte(strconv.Quote(text)), into); err != nil {
					panic(fmt.Sprintf("store: the field %s of %s cannot have the default %s: %v", f.Name, t, text, err))
				}
			}
		} else if f.Type.Kind() == reflect.Slice {
			v.FieldByIndex(f.Index).Set(reflect.MakeSlice(f.Type, 0, 0))
		}
	}
	return v
}

// FieldName returns the JSON name of a struct field; "" if the json tag has no name.
func FieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// FieldNames returns the JSON names of a struct's fields, including the fields of embedded structs.
func FieldNames(t reflect.Type) []string {
	cached, ok := fieldNames.Load(t)
	if !ok {
		cached, _ = fieldNames.LoadOrStore(t, readFieldNames(t))
	}
	return slices.Clone(cached.([]string))
}

var fieldNames sync.Map // reflect.Type → []string

func readFieldNames(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name := FieldName(f); name != "" && !f.Anonymous {
			names = append(names, name)
		}
	}
	return names
}
