package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// sampleWords are in alphabetical order, so that tests can sort them. No word is a prefix of another word, so that tests can
// search for each.
var sampleWords = []string{
	"amber", "birch", "cedar", "daisy", "elder", "fennel", "garlic", "hazel", "indigo", "jasmine", "kale", "lotus",
	"maple", "nettle", "olive", "poppy", "quince", "rowan", "saffron", "thyme", "umbel", "violet", "walnut", "yarrow",
}

// text returns sample n of the field, a valid value for tests, as text in a query string. Samples 0, 1 and 2 are in ascending
// order if the type has at least three values.
func (f Field) text(n int) string {
	word := sampleWords[(3*f.index+n)%len(sampleWords)]
	if f.index >= len(sampleWords)/3 {
		word += strconv.Itoa(f.index)
	}
	switch k := f.kind(); {
	case k.sample != "":
		return strings.NewReplacer("WORD", word, "N", strconv.Itoa(n+1)).Replace(k.sample)
	case k.isNumber:
		return number(f.number(n))
	case f.IsList():
		return strings.Join(f.items(n), ",")
	case f.Type == typeBool:
		return strconv.FormatBool(n > 0)
	case f.Type == typeJSON:
		return fmt.Sprintf(`{"n": %d}`, n)
	case f.Type == typeEnum:
		return f.Values[min(n, len(f.Values)-1)]
	}
	length := min(max(f.MinLength(), len(word)), f.MaxLength())
	return strings.Repeat(word+"-", length/len(word)+1)[:length]
}

// recordID returns the ID of record n in the tests.
func recordID(n int) string { return fmt.Sprintf("%024d", n+1) }

// number returns sample n of a number.
func (f Field) number(n int) float64 {
	low, high := f.bounds()
	switch hasLow, hasHigh := f.Min != "", f.Max != ""; {
	case hasLow && hasHigh && f.Type == typeInt:
		return math.Floor(low + (high-low)*float64(n)/2)
	case hasLow && hasHigh:
		return math.Round((low+(high-low)*float64(n)/2)*1e6) / 1e6
	case hasLow:
		return low + float64(n)
	case hasHigh:
		return high - 2 + float64(n)
	}
	return 10 * float64(n+1)
}

// items returns sample n of a list.
func (f Field) items(n int) []string {
	word := sampleWords[(3*f.index+n)%len(sampleWords)]
	switch f.Type {
	case typeInts:
		word = strconv.Itoa(n + 1)
	case typeRefs:
		return slices.Repeat([]string{recordID(n)}, max(1, f.MinLength()))
	}
	out := []string{word}
	for i := 2; i <= min(max(2, f.MinLength()), f.MaxLength()); i++ {
		out = append(out, fmt.Sprintf("%s%03d", word, i))
	}
	return out
}

// Sent returns Go code for sample n, with the type that encoding/json decodes into.
func (f Field) Sent(n int) string {
	switch f.Type {
	case typeInt, typeFloat:
		return decimal(f.number(n))
	case typeBool:
		return f.text(n)
	case typeStrings, typeRefs:
		return `[]any{"` + strings.Join(f.items(n), `", "`) + `"}`
	case typeInts:
		return "[]any{" + strings.Join(f.items(n), ".0, ") + ".0}"
	case typeJSON:
		return fmt.Sprintf(`map[string]any{"n": %d.0}`, n)
	}
	return strconv.Quote(f.text(n))
}

// Samples returns Go code for the three samples, separated by commas.
func (f Field) Samples() string { return strings.Join([]string{f.Sent(0), f.Sent(1), f.Sent(2)}, ", ") }

// FilterOperators returns the constant of package testkit with the operators of the field's filter.
func (f Field) FilterOperators() string { return f.kind().operators }

// Distinct returns Go code for a value of a unique field that is different for each n.
func (f Field) Distinct() string {
	width := min(max(f.MinLength(), 4), f.MaxLength())
	if f.Type == typeString && width < 4 { // base 36 has enough values
		return fmt.Sprintf("strconv.FormatInt(int64(%.0f+n), 36)", math.Pow(36, float64(width-1)))
	}
	low, high := f.bounds()
	least := math.Ceil(min(max(low, 0), high-minUnique)) + 100 // so that no value equals a sample
	return strings.NewReplacer("LOW", number(least), "WIDTH", strconv.Itoa(width)).Replace(f.kind().unique)
}

// decimal returns x as a Go literal of a float64.
func decimal(x float64) string {
	text := number(x)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
