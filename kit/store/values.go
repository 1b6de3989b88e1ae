package store

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ID is the key of a document: 12 bytes, written as 24 hexadecimal characters (seed: User.id, Article.id).
type ID = bson.ObjectID

// NewID makes an ID that no other process makes; IDs of one process grow.
func NewID() ID { return bson.NewObjectID() }

// ParseID reads 24 hexadecimal characters.
func ParseID(s string) (ID, bool) {
	id, err := bson.ObjectIDFromHex(s)
	return id, err == nil
}

// Time is an instant in UTC, to the millisecond. It reads and writes ISO 8601 with exactly three decimals and Z (seed:
// createdAt), a form whose text sorts as its time does, and BSON's date.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At makes a Time of t: UTC, cut to the millisecond.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// ParseTime reads an RFC 3339 time with any zone and precision. In UTC its year must have four digits, as a Time could
// not be written otherwise.
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

// String is the form on the wire.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// AppendText appends the form on the wire. The year must have four digits (RFC 3339).
func (t Time) AppendText(b []byte) ([]byte, error) {
	if err := checkYear(t.Time); err != nil {
		return b, err
	}
	b = t.UTC().AppendFormat(b, time.RFC3339) // which package time writes three times as fast as another layout
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z'), nil
}

// MarshalText writes the form on the wire, as AppendText does.
func (t Time) MarshalText() ([]byte, error) { return t.AppendText(make([]byte, 0, len(timeLayout))) }

// UnmarshalText reads what ParseTime reads.
func (t *Time) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTime(string(b))
	return err
}

// MarshalJSON writes the form on the wire, quoted.
func (t Time) MarshalJSON() ([]byte, error) {
	b, err := t.AppendText(append(make([]byte, 0, len(timeLayout)+2), '"'))
	return append(b, '"'), err
}

// UnmarshalJSON reads a quoted time; null leaves t as it is.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return fmt.Errorf("store: a time is a JSON string")
	}
	return t.UnmarshalText(b[1 : len(b)-1])
}

// MarshalBSONValue writes BSON's date.
func (t Time) MarshalBSONValue() (byte, []byte, error) {
	typ, data, err := bson.MarshalValue(t.Time)
	return byte(typ), data, err
}

// UnmarshalBSONValue reads BSON's date.
func (t *Time) UnmarshalBSONValue(typ byte, data []byte) error {
	var v time.Time
	if err := bson.UnmarshalValue(bson.Type(typ), data, &v); err != nil {
		return err
	}
	*t = At(v)
	return nil
}

// MarshalValues writes scalars, as in Comparison, so that UnmarshalValues gives them back with their types: numbers as
// int32, int64 or float64, times as Time.
func MarshalValues(values []any) ([]byte, error) {
	return bson.Marshal(bson.D{{Key: "v", Value: values}})
}

// UnmarshalValues reads what MarshalValues wrote.
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
