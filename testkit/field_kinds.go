package testkit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ginseng/kit/store"
)

// The limits of values without min and max, as in scripts/generate.
const (
	maxString  = 200
	maxText    = 100_000
	maxItems   = 100
	maxDecimal = 999_999_999_999
	maxInt     = 1<<53 - 1
	minUnique  = 1000 // number of values that the bounds of a unique field allow
)

// kind is a type of fields: how its values look in JSON. n is 0, 1 or 2 in samples, and at least 1 in distinct values.
type kind struct {
	isString  bool                      // a value is any text, so that a number has the wrong type, and spaces are an empty value
	isList    bool                      // a value is a list
	isFile    bool                      // values are files, which are no parameters in JSON
	isNumber  bool                      // Min and Max are bounds of the value
	maxLength int                       // maximum length without Max; if not 0, Min and Max are lengths
	limit     float64                   // greatest absolute value that tests send
	sample    func(f *Field, n int) any // ascending in n, if the type has an order
	distinct  func(f *Field, n int) any // a different value for each n, none of the samples; nil: fields are references, or cannot be unique
	stored    func(id store.ID) any     // a different value for each ID; nil: fields cannot be unique
	trials    []trial                   // values that do not depend on the field
	number    func(x float64) any       // the JSON value of a number
}

// trial is a value, and the code of the expected error; "" if the value is valid.
type trial struct {
	value any
	code  string
}

var kinds = map[string]kind{
	"string": {
		isString: true, maxLength: maxString, sample: sampleText, distinct: distinctText, stored: func(id store.ID) any { return id.Hex() },
	},
	"text": {isString: true, maxLength: maxText, sample: sampleText},
	"int": {
		isNumber: true, limit: maxInt, number: func(x float64) any { return x }, sample: sampleNumber, distinct: distinctNumber,
		stored: func(id store.ID) any { return float64(numberOf(id)) },
		trials: []trial{{"ten", "type"}, {1.5, "type"}, {9007199254740992.0, "type"}},
	},
	"float": {
		isNumber: true, limit: maxInt, number: func(x float64) any { return x }, sample: sampleNumber, trials: []trial{{"ten", "type"}},
	},
	"decimal": {
		isNumber: true, limit: maxDecimal, number: func(x float64) any { return formatNumber(x) }, sample: sampleNumber, distinct: distinctNumber,
		stored: func(id store.ID) any { return strconv.Itoa(numberOf(id)) },
		trials: []trial{{"ten", "type"}, {true, "type"}, {"0.1234567", "type"}, {"1000000000000", "type"}},
	},
	"bool": {
		sample: func(_ *Field, n int) any { return n > 0 }, trials: []trial{{"true", "type"}, {false, ""}, {true, ""}},
	},
	"time": {
		trials:   []trial{{"yesterday", "type"}},
		sample:   func(_ *Field, n int) any { return fmt.Sprintf("2026-01-%02dT00:00:00.000Z", n+1) },
		distinct: func(_ *Field, n int) any { return store.At(time.Unix(int64(n), 0)).String() },
		stored:   func(id store.ID) any { return store.At(time.Unix(int64(numberOf(id)), 0)).String() },
	},
	"date": {
		trials:   []trial{{"2026-02-30", "type"}, {5.0, "type"}},
		sample:   func(_ *Field, n int) any { return fmt.Sprintf("2026-01-%02d", n+1) },
		distinct: func(_ *Field, n int) any { return dayOf(n) },
		stored:   func(id store.ID) any { return dayOf(numberOf(id)) },
	},
	"email": {
		isString: true,
		sample:   func(f *Field, n int) any { return f.word(n) + "@example.com" },
		distinct: func(_ *Field, n int) any { return fmt.Sprintf("a%d@example.com", n) },
		stored:   func(id store.ID) any { return id.Hex() + "@example.com" },
		trials:   []trial{{"nobody", "format"}, {strings.Repeat("a", 243) + "@example.com", "max_length"}},
	},
	"url": {
		isString: true,
		sample:   func(f *Field, n int) any { return "https://example.com/" + f.word(n) },
		distinct: func(_ *Field, n int) any { return fmt.Sprintf("https://example.com/%d", n) },
		stored:   func(id store.ID) any { return "https://example.com/" + id.Hex() },
		trials: []trial{
			{"javascript:alert(1)", "format"}, {"https://example.com/" + strings.Repeat("x", 2028), ""},
			{"https://example.com/" + strings.Repeat("x", 2029), "max_length"},
		},
	},
	"uuid": {
		trials:   []trial{{"x", "format"}, {5.0, "type"}},
		sample:   func(_ *Field, n int) any { return fmt.Sprintf("11111111-0000-4000-8000-%012d", n+1) },
		distinct: func(_ *Field, n int) any { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) },
		stored:   func(id store.ID) any { return "00000000-0000-4000-8000-" + id.Hex()[12:] },
	},
	"enum": {
		isString: true, trials: []trial{{"none of these", "one_of"}},
		sample: func(f *Field, n int) any { return f.Values[min(n, len(f.Values)-1)] },
	},
	"json": {
		sample: func(_ *Field, n int) any { return map[string]any{"n": float64(n)} },
		trials: []trial{
			{"x", "type"}, {[]any{}, "type"}, {map[string]any{"a": strings.Repeat("x", store.MaxObjectBytes)}, "max_length"}, {map[string]any{}, ""},
		},
	},
	"ref": {
		trials: []trial{{"x", "format"}, {5.0, "type"}},
		sample: func(_ *Field, n int) any { return RecordID(n).Hex() },
		stored: func(id store.ID) any { return id.Hex() },
	},
	"[]string": {
		isList: true, maxLength: maxItems, trials: []trial{{[]any{1.0}, "type"}},
		sample: func(f *Field, n int) any {
			return f.items(f.word(n), func(i int) any { return fmt.Sprintf("%s%03d", f.word(n), i) })
		},
	},
	"[]int": {
		isList: true, maxLength: maxItems, trials: []trial{{[]any{"x"}, "type"}, {[]any{1.5}, "type"}},
		sample: func(f *Field, n int) any {
			return f.items(float64(n+1), func(i int) any { return float64(1000*(n+1) + i) })
		},
	},
	"[]ref": {
		isList: true, maxLength: maxItems, trials: []trial{{[]any{"x"}, "format"}, {[]any{5.0}, "type"}},
		sample: func(f *Field, n int) any { return slices.Repeat([]any{RecordID(n).Hex()}, max(1, f.minLength())) },
	},
	"file": {
		isFile: true,
	},
	"image": {
		isFile: true,
	},
	"[]file": {
		isFile: true, isList: true,
	},
}
