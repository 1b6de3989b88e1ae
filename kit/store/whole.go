package store

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Whole fails if something of a stored document is not in doc, which points to what was read from it. The stored
// document is given as the tree that encoding/json makes of its JSON, with numbers as json.Number.
func Whole(stored map[string]any, doc any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("the document %v cannot be written again: %w", stored["id"], err)
	}
	again, err := ParseTree(text)
	if err != nil {
		return err
	}
	if field := lost(stored, again, reflect.TypeOf(doc)); field != nil {
		return fmt.Errorf("the document %v has the field %q, which the service does not know, or cannot keep as it is; "+
			"remove the field, or declare it in the collection's type", stored["id"], strings.Join(field, "."))
	}
	return nil
}

// ParseTree reads a JSON object for Whole.
func ParseTree(text []byte) (tree map[string]any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return tree, decoder.Decode(&tree)
}

// lost is the path to something of stored that is not in again; nil if all is. A type may leave out values that are
// empty, of fields that it knows.
func lost(stored, again any, t reflect.Type) []string {
	equal := false
	switch stored := stored.(type) {
	case nil:
		return nil
	case map[string]any:
		again, _ := again.(map[string]any) // nil where it is left out
		for _, name := range slices.Sorted(maps.Keys(stored)) {
			if path := lostIn(stored[name], again[name], t, name); path != nil {
				return path
			}
		}
		equal = true
	case []any:
		again, _ := again.([]any)
		if len(stored) != len(again) {
			break
		}
		for i := range stored {
			if path := lostIn(stored[i], again[i], t, strconv.Itoa(i)); path != nil {
				return path
			}
		}
		equal = true
	case json.Number:
		equal = sameNumber(stored, again)
	case string:
		equal = stored == again || stored == "" && again == nil
	case bool:
		equal = stored == again || !stored && again == nil
	}
	if equal {
		return nil
	}
	return []string{}
}

// lostIn is lost for what t holds under a name.
func lostIn(stored, again any, t reflect.Type, name string) []string {
	of, known := typeOf(t, name)
	if stored == nil || known || again != nil {
		path := lost(stored, again, of)
		if path == nil {
			return nil
		}
		return append([]string{name}, path...)
	}
	return []string{name}
}

func sameNumber(stored json.Number, again any) bool {
	if again == nil {
		again = json.Number("0")
	}
	number, _ := again.(json.Number)
	if stored == number {
		return true
	}
	x, ok := new(big.Rat).SetString(string(stored))
	y, also := new(big.Rat).SetString(string(number))
	return ok && also && x.Cmp(y) == 0
}

// typeOf is the type of what t holds under a name, and whether it holds such a thing; nil holds all.
func typeOf(t reflect.Type, name string) (reflect.Type, bool) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() == reflect.Interface {
		return nil, true
	}
	switch t.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array:
		return t.Elem(), true
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(t) {
			if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag == name {
				return field.Type, true
			}
		}
	}
	return nil, t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}
