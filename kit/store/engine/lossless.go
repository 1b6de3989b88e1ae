package engine

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"example.com/ginseng/kit/store"
)

// CheckLossless compares doc, a pointer to a decoded document, with the JSON from which doc was decoded. It fails if the type
// of doc lacks a field of the JSON or changes a value. A null equals an absent value, and doc may omit empty values.
func CheckLossless(stored []byte, doc any) error {
	var encoded bytes.Buffer
	if err := store.EncodeStored(&encoded, doc); err != nil {
		return fmt.Errorf("encode %s: %w", stored, err)
	}
	if bytes.Equal(stored, encoded.Bytes()) {
		return nil
	}
	before, err := parse(stored)
	if err != nil {
		return err
	}
	after, err := parse(encoded.Bytes())
	if err != nil {
		return err
	}
	field, differs := difference(before, after)
	err = json.Unmarshal(stored, reflect.New(reflect.TypeOf(doc).Elem()).Interface(), json.RejectUnknownMembers(true))
	if unknown := new(json.SemanticError); errors.As(err, &unknown) {
		field = slices.Collect(unknown.JSONPointer.Tokens())
	} else if !differs {
		return err
	}
	return fmt.Errorf("the document %v has the field %q, which the service does not know or cannot keep unchanged; "+
		"remove the field, or declare it in the collection's type", before["id"], strings.Join(field, "."))
}

func parse(object []byte) (tree map[string]any, err error) {
	decoder := stdjson.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	err = decoder.Decode(&tree)
	return tree, err
}

// difference looks for a value in before that is missing from after, or is different in after. It returns the path of that
// value; the path is empty if before itself is different. An empty value may be missing. differs is false if there is no
// difference.
func difference(before, after any) (path []string, differs bool) {
	switch before := before.(type) {
	case map[string]any:
		after, _ := after.(map[string]any)
		for name, value := range before {
			if path, differs := difference(value, after[name]); differs {
				return append([]string{name}, path...), true
			}
		}
		return nil, false
	case []any:
		after, _ := after.([]any)
		if len(before) != len(after) {
			return nil, true
		}
		for i := range before {
			if path, differs := difference(before[i], after[i]); differs {
				return append([]string{strconv.Itoa(i)}, path...), true
			}
		}
		return nil, false
	case stdjson.Number:
		number, ok := after.(stdjson.Number)
		if after == nil {
			number = "0"
		} else if !ok {
			return nil, true
		}
		return nil, !equalNumbers(before, number)
	case string:
		return nil, before != after && (before != "" || after != nil)
	case bool:
		return nil, before != after && (before || after != nil)
	}
	return nil, false // null equals absent
}

// equalNumbers reports whether a and b are the same number, even if they are written differently, such as 1 and 1.0.
func equalNumbers(a, b stdjson.Number) bool {
	if a == b {
		return true
	}
	x, xOK := new(big.Rat).SetString(string(a))
	y, yOK := new(big.Rat).SetString(string(b))
	return xOK && yOK && x.Cmp(y) == 0
}
