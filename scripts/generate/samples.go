package main

import (
	"fmt"
	"strconv"
	"strings"
)

// plants are the words of texts. Three in a row are in their order, and no word begins another.
var plants = []string{
	"amber", "birch", "cedar", "daisy", "elder", "fennel", "garlic", "hazel", "indigo", "jasmine", "kale", "lotus",
	"maple", "nettle", "olive", "poppy", "quince", "rowan", "saffron", "thyme", "umbel", "violet", "walnut", "yarrow",
}

// familiar are texts for names that resources often use, for the documentation: one, and another.
var familiar = map[string][2]string{
	"title":       {"On ginseng", "On ginseng, again"},
	"content":     {"A root worth waiting for.", "Six years, at least."},
	"name":        {"Ginseng", "Wild ginseng"},
	"description": {"A root worth waiting for.", "Six years, at least."},
	"summary":     {"A root worth waiting for.", "Six years, at least."},
	"text":        {"A root worth waiting for.", "Six years, at least."},
	"body":        {"A root worth waiting for.", "Six years, at least."},
	"city":        {"Seoul", "Vienna"},
	"country":     {"Korea", "Austria"},
	"color":       {"green", "red"},
	"slug":        {"on-ginseng", "on-ginseng-again"},
}

// example is a value in the documentation.
func (f Field) example(n int) string {
	if pair, known := familiar[f.Name]; known && (f.Type == typeString || f.Type == typeText) {
		high, _ := strconv.Atoi(f.length())
		if len(pair[n]) >= f.least() && len(pair[n]) <= high {
			return pair[n]
		}
	}
	switch f.Type {
	case typeTime:
		return []string{"2026-01-02T15:04:05.678Z", "2026-02-03T16:05:06.789Z"}[n]
	case typeRef:
		return "65f0c1d2e3a4b5c6d7e8f90" + strconv.Itoa(4+n)
	}
	return f.text(n)
}

// text is the nth sample, 0 to 2, as a form has it. All keep the field's rules; they ascend where the type lets them.
func (f Field) text(n int) string {
	word := plants[(3*f.at+n)%len(plants)]
	if f.at >= len(plants)/3 {
		word += strconv.Itoa(f.at)
	}
	switch f.Type {
	case typeEmail:
		return word + "@example.com"
	case typeURL:
		return "https://example.com/" + word
	case typeInt, typeFloat:
		return number(f.number(n))
	case typeBool:
		return strconv.FormatBool(n > 0)
	case typeTime:
		return fmt.Sprintf("2026-01-%02dT00:00:00.000Z", n+1)
	case typeEnum:
		return f.Values[min(n, len(f.Values)-1)]
	case typeRef:
		return strings.Repeat("0", 23) + strconv.Itoa(n+1)
	case typeList:
		return strings.Join(f.items(n), ",")
	}
	high, _ := strconv.Atoi(f.length()) // rules holds it
	length := min(max(f.least(), len(word)), high)
	word = strings.Repeat(word+" ", length/len(word)+1)[:length]
	if strings.HasSuffix(word, " ") { // which would be trimmed
		word = word[:length-1] + "x"
	}
	return word
}

// number is the nth sample of an int or float.
func (f Field) number(n int) float64 {
	low, errLow := strconv.ParseFloat(f.Min, 64)
	high, errHigh := strconv.ParseFloat(f.Max, 64)
	step := 10.0
	if f.Type == typeFloat {
		step = 0.5
	}
	x := step * float64(n+1)
	switch {
	case errLow == nil && errHigh == nil && (step < low || 3*step > high):
		x = low + float64(n)
		if f.Type == typeFloat {
			x = low + (high-low)*float64(n)/4
		}
		return min(x, high)
	case errLow == nil && step < low:
		return low + float64(n)
	case errHigh == nil && 3*step > high:
		return high - 2 + float64(n)
	}
	return x
}

// items is the nth sample of a list.
func (f Field) items(n int) []string {
	word := plants[(3*f.at+n)%len(plants)]
	most, _ := strconv.Atoi(f.length())
	out := []string{word}
	for i := 2; i <= max(2, f.least()) && i <= most; i++ {
		out = append(out, word+strconv.Itoa(i))
	}
	return out
}

// Plain is the nth sample as a Go value of the base type.
func (f Field) Plain(n int) string {
	text := f.text(n)
	switch f.Type {
	case typeInt:
		return "int64(" + text + ")"
	case typeFloat:
		return "float64(" + text + ")"
	case typeBool:
		return text
	case typeTime:
		return timeGo(text)
	case typeRef:
		return fmt.Sprintf("store.ID{11: %d}", n+1)
	case typeList:
		return `[]string{"` + strings.Join(f.items(n), `", "`) + `"}`
	}
	return strconv.Quote(text)
}

// inType is the nth sample in a type of as many pointers.
func (f Field) inType(n int, goType string) string {
	value := f.Plain(n)
	for range strings.Count(goType, "*") {
		value = "new(" + value + ")"
	}
	return value
}

// Stored is the nth sample as the document has it, Created as CreateInput does, Updated as UpdateInput does.
func (f Field) Stored(n int) string { return f.inType(n, f.StoredType()) }

// Created is the nth sample in CreateInput.
func (f Field) Created(n int) string { return f.inType(n, f.CreateType()) }

// Updated is the nth sample in UpdateInput.
func (f Field) Updated(n int) string { return f.inType(n, f.UpdateType()) }

// Sent is the nth sample as JSON comes and goes, in Go.
func (f Field) Sent(n int) string {
	switch f.Type {
	case typeInt, typeFloat:
		return decimal(f.number(n))
	case typeBool:
		return f.text(n)
	case typeList:
		return `[]any{"` + strings.Join(f.items(n), `", "`) + `"}`
	}
	return strconv.Quote(f.text(n))
}

// Form is the nth sample in a form, in Go.
func (f Field) Form(n int) string {
	if f.Type == typeList {
		return `{"` + strings.Join(f.items(n), `", "`) + `"}`
	}
	return "{" + strconv.Quote(f.text(n)) + "}"
}

// decimal is a number as Go writes a float64.
func decimal(x float64) string {
	text := number(x)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
