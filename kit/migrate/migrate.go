// Package migrate changes stored documents to a new form before a service serves requests.
//
// A module declares its migrations, the oldest first. Each runs at least once on a database, which records when it is done. A
// step changes one document, and only if its version is still the one that was read. Therefore two instances can migrate at the
// same time, and an interrupted migration can start again. The lease only prevents instances from doing the same work twice.
//
// A migration first applies its steps to all documents without storing the result. If a value cannot be converted, or
// a required one is missing, it stops before any change.
package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"example.com/ginseng/kit/store"
)

// Module is a module that used to store its documents in another form. The server runs its migrations at startup.
type Module interface {
	// Migrations returns all migrations, the oldest first.
	Migrations() []Migration
}

// Migration changes the documents of a collection. The command generate writes migrations to the file migrations.go of a module;
// others are written there by hand.
type Migration struct {
	Name       string // unique in the service, and never changed: it is recorded in the database
	Collection store.Engine
	Steps      []Step // in the order in which they apply to each document
}

// String describes the steps.
func (m Migration) String() string {
	var steps []string
	for _, s := range m.Steps {
		steps = append(steps, s.text)
	}
	return strings.Join(steps, "; ")
}

// fields returns the fields that the steps read.
func (m Migration) fields() []string {
	out := []string{"version"}
	for _, s := range m.Steps {
		out = append(out, s.fields...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// apply applies the steps to a document.
func (m Migration) apply(d *document) error {
	for _, s := range m.Steps {
		if err := s.apply(d); err != nil {
			return err
		}
	}
	return nil
}

// canFail reports whether a step can fail.
func (m Migration) canFail() bool {
	return slices.ContainsFunc(m.Steps, func(s Step) bool { return s.fails })
}

// Step changes one document. It has no effect on a document that it has changed before. Fields are top-level fields.
type Step struct {
	text   string   // describes the step
	fields []string // fields that it reads
	fails  bool     // it can fail
	apply  func(*document) error
}

// String describes the step, such as "rename state to status".
func (s Step) String() string { return s.text }

// Default returns a step that sets a field, if it is missing, to a value of type T. text is the value as JSON, or a string
// without its quotes. Default panics if text is not a T.
func Default[T any](field, text string) Step {
	value, err := parse[T](text)
	if err != nil {
		panic(fmt.Sprintf("migrate: the value of %s: %v", field, err))
	}
	return Step{text: fmt.Sprintf("set %s to %q where it is missing", field, text), fields: []string{field}, apply: func(d *document) error {
		if d.get(field) == nil {
			d.set(field, value)
		}
		return nil
	}}
}

// Backfill is like Default, but the step also replaces an empty string or list. Use it for a field that becomes required.
func Backfill[T any](field, text string) Step {
	step := Default[T](field, text)
	step.apply = func(d *document) error {
		if absent, err := d.lacks(field); err != nil || !absent {
			return err
		}
		d.set(field, nil)
		return Default[T](field, text).apply(d)
	}
	return step
}

// Derive returns a step that sets a field, if it is missing, to a value that derive computes from the document. D is a struct
// with the fields that derive needs and their json tags; a field that the document lacks is zero. A nil pointer sets nothing.
func Derive[D, T any](field string, derive func(D) (T, error)) Step {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[D]()) {
		if name := store.FieldName(f); name != "" {
			names = append(names, name)
		}
	}
	text := fmt.Sprintf("derive %s from %s where it is missing", field, strings.Join(names, ", "))
	return Step{text: text, fields: append(names, field), fails: true, apply: func(d *document) error {
		if d.get(field) != nil {
			return nil
		}
		var in D
		err := d.decode(names, &in)
		if err != nil {
			return fmt.Errorf("%s cannot be derived: %w", field, err)
		}
		value, err := derive(in)
		if err != nil {
			return fmt.Errorf("%s cannot be derived: %w", field, err)
		}
		if !store.IsNil(value) {
			d.set(field, value)
		}
		return nil
	}}
}

// Undecided returns a step for a new required field of type T, which fails if a document lacks it. The error has the steps that
// can replace it.
func Undecided[T any](field string) Step {
	step := Require(field)
	require := step.apply
	step.apply = func(d *document) error {
		if err := require(d); err != nil {
			return undecided{err, field, strings.ReplaceAll(reflect.TypeFor[T]().String(), "bson.ObjectID", "store.ID")}
		}
		return nil
	}
	return step
}

// undecided is the error of the step Undecided.
type undecided struct {
	error
	field, goType string
}

// remedy returns the steps that can replace Undecided.
func (u undecided) remedy() string {
	return fmt.Sprintf("\nIn migrations.go, replace migrate.Undecided[%[1]s](%[2]q) by one of these steps, with your value or function:\n"+
		"\tmigrate.Backfill[%[1]s](%[2]q, \"VALUE\"),\n"+
		"\tmigrate.Derive(%[2]q, func(d struct{ Name string `json:\"name\"` }) (%[1]s, error) { return VALUE, nil }),", u.goType, u.field)
}

// parse parses a string without its quotes, or other JSON, as a T.
func parse[T any](text string) (value T, err error) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return value, err
	}
	switch any(value).(type) {
	case store.Date:
		_, err = store.ParseDate(text)
	case store.UUID:
		_, err = store.ParseUUID(text)
	}
	if err == nil && (json.Unmarshal(quoted, &value) == nil || json.Unmarshal([]byte(text), &value) == nil) {
		return value, nil
	}
	return value, fmt.Errorf("it is not a valid %s", reflect.TypeFor[T]().Name())
}

// Require returns a step that fails if a field is missing, or if it is an empty string or list.
func Require(field string) Step {
	return Step{text: "require " + field, fields: []string{field}, fails: true, apply: func(d *document) error {
		absent, err := d.lacks(field)
		if err == nil && absent {
			err = fmt.Errorf("%s is required and missing", field)
		}
		return err
	}}
}

// Rename returns a step that moves the value of a field to another. A document that has both keeps the value of the new one.
func Rename(from, to string) Step {
	return Step{text: "rename " + from + " to " + to, fields: []string{from, to}, apply: func(d *document) error {
		value := d.get(from)
		if value == nil {
			return nil
		}
		if d.get(to) == nil {
			d.set(to, value)
		}
		d.set(from, nil)
		return nil
	}}
}

// Drop returns a step that removes a field.
func Drop(field string) Step {
	return Step{text: "drop " + field, fields: []string{field}, apply: func(d *document) error {
		if d.get(field) != nil {
			d.set(field, nil)
		}
		return nil
	}}
}

// Convert returns a step that changes the type of a scalar field to T: "12" becomes 12 as int64, and 12 becomes "12" as
// string. If T cannot represent the value, the step removes an empty string, and fails for any other value.
func Convert[T any](field string) Step {
	return ConvertFunc(field, reflect.TypeFor[T]().Name(), func(old any) (any, error) {
		text := fmt.Sprint(old)
		if f, ok := old.(float64); ok {
			text = formatFloat(f)
		}
		value, err := parse[T](text)
		if err != nil && text == "" {
			return nil, nil
		}
		return value, err
	})
}

// OneOf returns a step that fails if a scalar field has a value other than these. It removes an empty string.
func OneOf(field string, values ...string) Step {
	return ConvertFunc(field, "one of "+strings.Join(values, ", "), func(old any) (any, error) {
		switch text := fmt.Sprint(old); {
		case slices.Contains(values, text):
			return text, nil
		case text == "":
			return nil, nil
		}
		return nil, errors.New("it is not one of the values")
	})
}

// ConvertFunc returns a step that replaces the value of a scalar field, unless it is missing. convert receives a bool, an
// int64, a float64 or a string (also for times, decimals and IDs). nil as its result removes the field. Applied to its own
// result, it must return the same value. to describes the new form.
func ConvertFunc(field, to string, convert func(old any) (any, error)) Step {
	return Step{text: "convert " + field + " to " + to, fields: []string{field}, fails: true, apply: func(d *document) error {
		stored := d.get(field)
		if stored == nil {
			return nil
		}
		old, err := plain(stored)
		if err != nil {
			return err
		}
		switch old.(type) {
		case bool, int64, float64, string:
		default:
			return fmt.Errorf("%s is a list or an object, and cannot be converted", field)
		}
		value, err := convert(old)
		if err != nil {
			return fmt.Errorf("%s cannot be converted to %s: %w", field, to, err)
		}
		if value == nil || !same(stored, value) {
			d.set(field, value)
		}
		return nil
	}}
}
