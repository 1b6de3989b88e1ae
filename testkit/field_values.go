package testkit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ginseng/kit/store"
)

// complete sets the values that follow from the type and the rules of the field, unless they are set. i is the position of the
// field among the fields of the resource.
func (f *Field) complete(i int) {
	if f.Type == "" {
		return
	}
	k, known := kinds[f.Type]
	if !known {
		panic(fmt.Sprintf("testkit: the field %s has the unknown type %s; the types are %q", f.Name, f.Type, slices.Sorted(maps.Keys(kinds))))
	}
	f.kind, f.index = k, i
	if k.isFile {
		return
	}
	if f.Samples == nil {
		f.Samples = []any{k.sample(f, 0), k.sample(f, 1), k.sample(f, 2)}
	}
	trials := f.trials()
	if f.Valid == nil {
		f.Valid = trials[""]
	}
	if f.Invalid == nil {
		delete(trials, "")
		f.Invalid = trials
	}
	if f.Absent == nil && !f.Required {
		f.Absent = f.absent()
	}
	if f.Distinct == nil && f.Unique && k.distinct != nil {
		f.Distinct = func(n int) any { return k.distinct(f, n) }
	}
	f.Decimal = f.Type == "decimal"
}

// absent returns the value in a response if the request had no value or null.
func (f *Field) absent() any {
	isText := (f.Type == "string" || f.Type == "text") && !f.Unique // several records can lack a unique value, but "" would be a duplicate
	switch {
	case f.kind.isList:
		return []any{}
	case f.Default == "" && !isText:
		return nil
	case f.Type == "bool":
		return f.Default == "true"
	case f.kind.isNumber && f.Type != "decimal":
		return parseNumber(f.Default)
	}
	return f.Default
}

// trials returns values by the code of the expected error; "" is the code of valid values. The code of an error in the first item
// of a list is [0].CODE.
func (f *Field) trials() map[string][]any {
	out, empty := map[string][]any{}, ""
	add := func(value any, code string) {
		if !slices.ContainsFunc(out[code], func(other any) bool { return reflect.DeepEqual(other, value) }) {
			out[code] = append(out[code], value)
		}
	}
	if f.Required {
		empty = "required"
	}
	switch {
	case f.kind.isString:
		add(5.0, "type")
		add("  ", empty)
	case f.kind.isList:
		add("x", "type")
		add([]any{}, empty)
	}
	if f.Type == "[]string" {
		add(slices.Repeat([]any{strings.Repeat("ä", maxString+1)}, max(1, f.minLength())), "[0].max_length")
	}
	for _, t := range slices.Concat(f.kind.trials, f.lengths(), f.numbers()) {
		add(t.value, t.code)
	}
	return out
}

// lengths returns values at and beyond the bounds of a string or list.
func (f *Field) lengths() (out []trial) {
	if f.kind.maxLength == 0 {
		return nil
	}
	value := func(n int) any { return strings.Repeat("ä", n) }
	if f.kind.isList {
		item := f.Samples[0].([]any)[:1]
		value = func(n int) any { return slices.Repeat(item, n) }
	}
	if n := f.minLength(); n > 1 {
		out = append(out, trial{value(n - 1), "min_length"}, trial{value(n), ""})
	}
	return append(out, trial{value(f.maxLength()), ""}, trial{value(f.maxLength() + 1), "max_length"})
}

// numbers returns values at and beyond the bounds of a number.
func (f *Field) numbers() (out []trial) {
	if !f.kind.isNumber {
		return nil
	}
	low, high := f.bounds()
	limit, value := f.kind.limit, f.kind.number
	low, high = max(low, -limit), min(high, limit)
	out = append(out, trial{value(low), ""}, trial{value(high), ""})
	if low > -limit {
		out = append(out, trial{value(low - 1), "min"})
	}
	if high < limit {
		out = append(out, trial{value(high + 1), "max"})
	}
	return out
}

// bounds returns Min and Max of a number; -math.MaxFloat64 if there is no Min, and math.MaxFloat64 if there is no Max.
func (f *Field) bounds() (low, high float64) {
	low, high = -math.MaxFloat64, math.MaxFloat64
	if f.Min != "" {
		low = parseNumber(f.Min)
	}
	if f.Max != "" {
		high = parseNumber(f.Max)
	}
	return low, high
}

func (f *Field) minLength() int { return int(parseNumber(cmp.Or(f.Min, "0"))) }

func (f *Field) maxLength() int {
	if f.Max != "" {
		return int(parseNumber(f.Max))
	}
	return f.kind.maxLength
}

// parseNumber parses a number of a declaration. It panics if text is not a number.
func parseNumber(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("testkit: " + err.Error())
	}
	return x
}

func formatNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// sampleWords are in alphabetical order, so that samples are sorted. No word is a prefix of another word, so that searches find one.
var sampleWords = []string{
	"amber", "birch", "cedar", "daisy", "elder", "fennel", "garlic", "hazel", "indigo", "jasmine", "kale", "lotus",
	"maple", "nettle", "olive", "poppy", "quince", "rowan", "saffron", "thyme", "umbel", "violet", "walnut", "yarrow",
}

// word returns word n of the field. No other field has the word.
func (f *Field) word(n int) string {
	word := sampleWords[(3*f.index+n)%len(sampleWords)]
	if f.index >= len(sampleWords)/3 {
		word += strconv.Itoa(f.index)
	}
	return word
}

func sampleText(f *Field, n int) any {
	word := f.word(n)
	length := min(max(f.minLength(), len(word)), f.maxLength())
	return strings.Repeat(word+"-", length/len(word)+1)[:length]
}

func distinctText(f *Field, n int) any {
	width := min(max(f.minLength(), 4), f.maxLength())
	if width < 4 { // base 36 has enough values
		return strconv.FormatInt(int64(math.Pow(36, float64(width-1)))+int64(n), 36)
	}
	return fmt.Sprintf("%0*d", width, n)
}

func sampleNumber(f *Field, n int) any {
	low, high := f.bounds()
	x := 10 * float64(n+1)
	switch {
	case f.Min != "" && f.Max != "" && f.Type == "int":
		x = math.Floor(low + (high-low)*float64(n)/2)
	case f.Min != "" && f.Max != "":
		x = math.Round((low+(high-low)*float64(n)/2)*1e6) / 1e6
	case f.Min != "":
		x = low + float64(n)
	case f.Max != "":
		x = high - 2 + float64(n)
	}
	return f.kind.number(x)
}

// distinctNumber returns numbers that are no samples.
func distinctNumber(f *Field, n int) any {
	low, high := f.bounds()
	return f.kind.number(math.Ceil(min(max(low, 0), high-minUnique)) + 100 + float64(n))
}

// items returns a list of the field: first and, if Max allows it, at least a second item. item returns item i, which begins at 2.
func (f *Field) items(first any, item func(i int) any) []any {
	out := []any{first}
	for i := 2; i <= min(max(2, f.minLength()), f.maxLength()); i++ {
		out = append(out, item(i))
	}
	return out
}

func dayOf(n int) string { return time.Unix(int64(n)*86400, 0).UTC().Format(time.DateOnly) }

// numberOf returns the last two bytes of an ID, as a number.
func numberOf(id store.ID) int { return int(id[10])<<8 + int(id[11]) }

// stored returns a value of a required field for a record that a test inserts, a different one for each ID if the field is unique.
func (f *Field) stored(id store.ID) any {
	f.complete(0)
	if f.Unique {
		return f.kind.stored(id)
	}
	return f.Samples[0]
}
