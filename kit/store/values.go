package store

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ID is the key of a document: 12 bytes, written as 24 hexadecimal characters.
type ID = bson.ObjectID

// NewID returns a unique ID. The IDs of one process are ascending.
func NewID() ID { return bson.NewObjectID() }

// ParseID parses 24 hexadecimal characters.
func ParseID(s string) (ID, bool) {
	id, err := bson.ObjectIDFromHex(s)
	return id, err == nil
}

// Time is an instant in UTC with millisecond precision. It is written as ISO 8601 with three decimals and Z, which
// sorts by time, and as a BSON date.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At converts t to UTC and truncates it to the millisecond.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// ParseTime parses an RFC 3339 time with any zone and precision. Its year in UTC must have four digits.
func ParseTime(s string) (Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return Time{}, err
	}
	return At(t), checkYear(t)
}

func checkYear(t time.Time) error {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("store: year %d is out of 0..9999", y)
	}
	return nil
}

// String returns t in the form of MarshalText.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// AppendText appends t in the form of MarshalText. The year must have four digits (RFC 3339).
func (t Time) AppendText(b []byte) ([]byte, error) {
	if err := checkYear(t.Time); err != nil {
		return b, err
	}
	b = t.UTC().AppendFormat(b, time.RFC3339) // package time formats it three times as fast as other layouts
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
		return fmt.Errorf("store: a time is a JSON string")
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

// MarshalValues encodes scalars, as in Comparison. UnmarshalValues decodes them with their types: numbers as int32,
// int64 or float64, times as Time.
func MarshalValues(values []any) ([]byte, error) {
	return bson.Marshal(bson.D{{Key: "v", Value: values}})
}

// UnmarshalValues decodes the result of MarshalValues.
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
