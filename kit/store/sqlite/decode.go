package sqlite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"example.com/ginseng/kit/store"
)

// decoder reads documents into structs as encoding/json does, which goes over each byte twice and was most of what a list
// cost. It relies on what it reads being JSON, which SQLite has made or checked: it does not look at what it copies or
// steps over.
type decoder struct {
	layouts sync.Map // of reflect.Type: layout
}

// layout is where the fields of a struct are, by their names in JSON.
type layout map[string][]int

// decode reads the members of an object that are wanted, nil being all, into the struct at into. Of the others, and of
// members without a field, it decodes nothing.
func (d *decoder) decode(object []byte, into any, wanted func(name []byte) bool) error {
	document := reflect.ValueOf(into).Elem()
	_, byItself := into.(json.Unmarshaler)
	if byItself || document.Kind() != reflect.Struct { // such as a map, for who wants to see what is stored
		return json.Unmarshal(object, into)
	}
	fields := d.layout(document.Type())
	for rest := object; ; {
		key := bytes.IndexByte(rest, '"')
		if key < 0 {
			return nil
		}
		rest = rest[key:]
		member := rest[:memberSize(rest)]
		rest = rest[len(member):]
		quoted := member[:stringSize(member)]
		name := bytes.Trim(quoted, `"`)
		index, ok := fields[string(name)]
		if !ok || wanted != nil && !wanted(name) {
			continue
		}
		_, value, _ := bytes.Cut(member[len(quoted):], []byte(":"))
		if err := set(document.FieldByIndex(index), bytes.TrimSpace(value)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// set reads a value into a field: what most fields hold at once, the rest by encoding/json.
func set(field reflect.Value, value []byte) error {
	into := field.Addr().Interface()
	if n, ok := into.(*int64); ok {
		if parsed, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			*n = parsed
			return nil
		}
	}
	if len(value) > 1 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		switch text := value[1 : len(value)-1]; into := into.(type) {
		case *string:
			*into = string(text)
			return nil
		case *store.ID:
			return into.UnmarshalText(text)
		case *store.Time:
			return into.UnmarshalText(text)
		}
	}
	return json.Unmarshal(value, into)
}

func (d *decoder) layout(t reflect.Type) layout {
	if known, ok := d.layouts.Load(t); ok {
		return known.(layout)
	}
	fields := make(layout)
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && (!f.Anonymous || name != "") { // those of an embedded struct without a name follow it
			fields[cmp.Or(name, f.Name)] = f.Index
		}
	}
	d.layouts.Store(t, fields)
	return fields
}

// memberSize is the size of the member that text begins with: up to the comma or the brace after it.
func memberSize(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringSize(text[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// stringSize is the size of the string that text begins with, and its quotes.
func stringSize(text []byte) int {
	for i := 1; ; i++ {
		quote := bytes.IndexByte(text[i:], '"')
		if quote < 0 {
			return len(text)
		}
		i += quote
		before := bytes.TrimRight(text[:i], `\`)
		if (i-len(before))%2 == 0 { // an even number of backslashes escape each other, not the quote
			return i + 1
		}
	}
}
