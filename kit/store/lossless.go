package store

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
)

// CheckLossless compares doc, a pointer to a decoded document, with the stored JSON. It fails if doc cannot represent the
// JSON: the type has no such field, or changes the value. Null and absent are equal, and doc may omit empty values.
func CheckLossless(stored []byte, doc any) error {
	var encoded bytes.Buffer
	if err := EncodeStored(&encoded, doc); err != nil {
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
	field := lost(before, after)
	err = json.Unmarshal(stored, reflect.New(reflect.TypeOf(doc).Elem()).Interface(), json.RejectUnknownMembers(true))
	if unknown := new(json.SemanticError); errors.As(err, &unknown) {
		field = slices.Collect(unknown.JSONPointer.Tokens())
	} else if field == nil {
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

// lost returns the path of the first value of before that is missing or different in after, or nil. A missing empty
// value is not a difference.
func lost(before, after any) []string {
	var same bool
	switch before := before.(type) {
	case nil:
		return nil
	case map[string]any:
		after, _ := after.(map[string]any)
		for name, value := range before {
			if path := lost(value, after[name]); path != nil {
				return append([]string{name}, path...)
			}
		}
		return nil
	case []any:
		after, _ := after.([]any)
		same = len(before) == len(after)
		for i := 0; same && i < len(before); i++ {
			if path := lost(before[i], after[i]); path != nil {
				return append([]string{strconv.Itoa(i)}, path...)
			}
		}
	case stdjson.Number:
		if after == nil {
			after = stdjson.Number("0")
		}
		if same = before == after; !same {
			number, _ := after.(stdjson.Number)
			x, xOK := new(big.Rat).SetString(string(before))
			y, yOK := new(big.Rat).SetString(string(number))
			same = xOK && yOK && x.Cmp(y) == 0
		}
	case string:
		same = before == after || before == "" && after == nil
	case bool:
		same = before == after || !before && after == nil
	}
	if same {
		return nil
	}
	return []string{}
}
