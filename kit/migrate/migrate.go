// Package migrate converts stored documents to a new form before a service serves requests.
//
// A module has its migrations in its kit.Parts, the oldest first. Each migration runs at least once on a database, and the database records
// that the migration is done. A migration changes a document only if the version of the document has not changed since the
// migration read the document. Therefore, it is safe for two instances to run the same migration concurrently, or to restart an
// interrupted migration. To avoid duplicate work, an instance normally has a lease while it runs a migration.
//
// The steps of all pending migrations are first applied to the documents without storing the result, if a step can fail. If a
// value cannot be converted, or a required value is missing, no migration changes any document. A step can rely on an earlier
// pending migration of its collection, which is applied before it. It must depend only on the document that it receives.
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

// Migration changes the documents of a collection. Migrations are in the file migrations.go of a module. The generator writes
// some migrations; developers write the others.
type Migration struct {
	Name       string // unique in the service; must never change, because it is recorded in the database
	Collection store.Engine
	Steps      []Step // in the order in which they are applied to each document
}

// String describes the steps.
func (m Migration) String() string {
	var steps []string
	for _, s := range m.Steps {
		steps = append(steps, s.text)
	}
	return strings.Join(steps, "; ")
}

func (m Migration) fields() []string {
	out := []string{"version"}
	for _, s := range m.Steps {
		out = append(out, s.fields...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (m Migration) apply(d *document) error {
	for _, s := range m.Steps {
		if err := s.apply(d); err != nil {
			return err
		}
	}
	return nil
}

// failed adds the name of the migration to an error.
func (m Migration) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("migration %s: %w", m.Name, err)
}

func (m Migration) canFail() bool {
	return slices.ContainsFunc(m.Steps, func(s Step) bool { return s.fails })
}

// Step changes one document. Applying a Step a second time has no effect. The fields of a Step are top-level fields.
type Step struct {
	text   string   // describes the step
	fields []string // fields that the step reads
	fails  bool     // the step can fail
	apply  func(*document) error
}

// String describes the step, such as "rename state to status".
func (s Step) String() string { return s.text }

// Default returns a step that sets a missing field to a value of type T. text is the value as JSON; the quotes of a string can
// be omitted. Default panics if text is not a valid T.
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

// Backfill is like Default, but the step also replaces an empty string or list. Use Backfill for a field that becomes required.
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

// Derive returns a step that sets a missing field to a value that derive computes from the document. D is a struct with the
// fields that derive needs, with their json tags. A field that is missing in the document has the zero value. If derive returns
// a nil pointer, the step does not set the field. If derive returns an error, the step fails.
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

// Undecided returns a step for a new required field of type T. The step fails if the field is missing or contains an empty string
// or list. The error lists the steps that can replace Undecided.
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

// undecided is the error of a step that Undecided returns.
type undecided struct {
	error
	field, goType string
}

// remedy returns the steps that can replace Undecided.
func (u undecided) remedy() string {
	return fmt.Sprintf("\nIn migrations.go, replace migrate.Undecided[%[1]s](%[2]q) with one of these steps, and insert your value or function:\n"+
		"\tmigrate.Backfill[%[1]s](%[2]q, \"VALUE\"),\n"+
		"\tmigrate.Derive(%[2]q, func(d struct{ Name string `json:\"name\"` }) (%[1]s, error) { return VALUE, nil }),", u.goType, u.field)
}

// parse parses text as a T. text is JSON; the quotes of a string can be omitted.
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
	return value, fmt.Errorf("not a valid %s", reflect.TypeFor[T]().Name())
}

// Require returns a step that fails if a field is missing or contains an empty string or list.
func Require(field string) Step {
	return Step{text: "require " + field, fields: []string{field}, fails: true, apply: func(d *document) error {
		absent, err := d.lacks(field)
		if err == nil && absent {
			err = fmt.Errorf("%s is required but missing", field)
		}
		return err
	}}
}

// Rename returns a step that renames the field oldName to newName. If a document has both fields, newName keeps its value and
// oldName is removed.
func Rename(oldName, newName string) Step {
	return Step{text: "rename " + oldName + " to " + newName, fields: []string{oldName, newName}, apply: func(d *document) error {
		value := d.get(oldName)
		if value == nil {
			return nil
		}
		if d.get(newName) == nil {
			d.set(newName, value)
		}
		d.set(oldName, nil)
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

// Convert returns a step that changes the type of a scalar field to T. If T is int64, the string "12" becomes the number 12; if
// T is string, the number 12 becomes the string "12". If the field contains an empty string that T cannot represent, the
// step removes the field. The step fails for any other value that T cannot represent.
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

// OneOf returns a step that fails if the value of a scalar field is not in values. If the field contains an empty string that is
// not in values, the step removes the field instead.
func OneOf(field string, values ...string) Step {
	return ConvertFunc(field, "one of "+strings.Join(values, ", "), func(old any) (any, error) {
		switch text := fmt.Sprint(old); {
		case slices.Contains(values, text):
			return text, nil
		case text == "":
			return nil, nil
		}
		return nil, errors.New("the value is not in the list")
	})
}

// ConvertFunc returns a step that replaces the value of a scalar field, unless the field is missing. convert receives a bool, an
// int64, a float64 or a string; times, decimals and IDs are strings. If convert returns nil, the step removes the field. The step
// fails if convert fails, or if the field contains a list or an object. If convert receives its own result, convert must return
// the same value. The to parameter describes the new form, such as "one of low, high".
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
