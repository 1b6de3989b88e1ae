package migrate

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"example.com/ginseng/kit/store"
)

// document is a stored document without its Go type. A value is a json.RawMessage or bson.RawValue, as the engine stores it, or
// a Go value that a step has set.
type document struct {
	id      store.ID
	fields  map[string]any // all fields that are not null
	changed map[string]any // the fields that steps have set; nil if a step has removed the field
}

// UnmarshalJSON implements json.Unmarshaler, for SQLite.
func (d *document) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	d.fields = make(map[string]any, len(fields))
	for name, value := range fields {
		if string(value) != "null" {
			d.fields[name] = value
		}
	}
	return json.Unmarshal(fields["id"], &d.id)
}

// UnmarshalBSON implements bson.Unmarshaler, for MongoDB.
func (d *document) UnmarshalBSON(data []byte) error {
	elements, err := bson.Raw(slices.Clone(data)).Elements()
	if err != nil {
		return err
	}
	d.fields = make(map[string]any, len(elements))
	for _, e := range elements {
		if value := e.Value(); value.Type != bson.TypeNull {
			d.fields[e.Key()] = value
		}
	}
	id, _ := d.fields["_id"].(bson.RawValue)
	return id.Unmarshal(&d.id)
}

// get returns the value of a field, or nil if the field is missing.
func (d *document) get(field string) any { return d.fields[field] }

// set sets a field, or removes the field if the value is nil.
func (d *document) set(field string, value any) {
	if d.changed == nil {
		d.changed = map[string]any{}
	}
	d.fields[field], d.changed[field] = value, value
}

// lacks reports whether a field is missing or contains an empty string or list.
func (d *document) lacks(field string) (bool, error) {
	value, err := plain(d.get(field))
	v := reflect.ValueOf(value)
	return !v.IsValid() || (v.Kind() == reflect.String || v.Kind() == reflect.Slice) && v.Len() == 0, err
}

// decode decodes the ID and the fields of the document into the struct that into points to.
func (d *document) decode(fields []string, into any) error {
	values := map[string]any{"id": d.id}
	for _, field := range fields {
		if d.get(field) == nil || field == "id" {
			continue
		}
		value, err := plain(d.get(field))
		if err != nil {
			return err
		}
		values[field] = value
	}
	data, err := json.Marshal(values)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// version returns a filter that selects the document only if its version has not changed since the document was read.
func (d *document) version() (store.Filter, error) {
	version, err := plain(d.get("version"))
	return store.And(store.Eq("id", d.id), store.Eq("version", version)), err
}

// changes returns the changes that the steps have made, sorted by field.
func (d *document) changes() (out []store.Change) {
	for _, field := range slices.Sorted(maps.Keys(d.changed)) {
		out = append(out, store.Set(field, d.changed[field]))
	}
	return out
}

// plain converts a stored value to a Go value. A scalar becomes a bool, an int64, a float64 or a string; a list or an object
// becomes the default type of the decoder.
func plain(value any) (any, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return plainJSON(v)
	case bson.RawValue:
		return plainBSON(v)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return plainJSON(data)
}

func plainJSON(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		return nil, err
	}
	if number, ok := out.(json.Number); ok {
		if n, err := number.Int64(); err == nil {
			return integer(n), nil
		}
		return number.Float64()
	}
	return out, nil
}

// integer returns n. If n is the stored form of a store.Decimal, integer returns the decimal as a string.
func integer(n int64) any {
	if d, ok := store.StoredDecimal(n); ok {
		return d.String()
	}
	return n
}

func plainBSON(value bson.RawValue) (out any, err error) {
	switch value.Type {
	case bson.TypeInt32, bson.TypeInt64:
		return integer(value.AsInt64()), nil
	case bson.TypeDateTime:
		return store.At(value.Time()).String(), nil
	case bson.TypeObjectID:
		return value.ObjectID().Hex(), nil
	}
	err = value.Unmarshal(&out)
	return out, err
}

// same reports whether storing value would result in stored.
func same(stored, value any) bool {
	switch stored := stored.(type) {
	case json.RawMessage:
		var data bytes.Buffer
		return store.EncodeStored(&data, value) == nil && bytes.Equal(bytes.TrimSpace(data.Bytes()), stored)
	case bson.RawValue:
		kind, data, err := bson.MarshalValue(value)
		return err == nil && kind == stored.Type && bytes.Equal(data, stored.Value)
	}
	return false
}

// formatFloat formats a number without an exponent.
func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
