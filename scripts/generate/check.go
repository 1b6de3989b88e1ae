package main

import (
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/ginseng/scripts/internal/naming"
)

// check reports modifiers that contradict each other or the type. It converts the bounds and the default to their canonical form.
func (f *Field) check(bad func(string, ...any)) {
	k := f.kind()
	if k.isFile {
		f.checkFile(bad)
		return
	}
	for _, rule := range []struct {
		broken bool
		text   string
	}{
		{f.Types != "", "types is for file, image and []file"},
		{f.Search && !k.search, "search is for strings, not for " + f.Type},
		{f.Title != "" && (f.Title != "true" || !f.Search), "title=true needs search, and has no other value"},
		{f.Sort && (k.filter == "" || f.IsList()), "sort is not possible for " + f.Type},
		{f.Filter && k.filter == "", "filter is not possible for " + f.Type},
		{f.Unique && !k.unique, "unique is not possible for " + f.Type},
		{f.Among != "" && f.Among != "global", "unique has only the value global; write unique, or unique=global"},
		{f.Required && f.HasDefault(), "required excludes default; to give stored records a value, write required:backfill=VALUE with --add or --change"},
		{f.Unique && f.HasDefault(), "unique excludes default"},
	} {
		if rule.broken {
			bad("%s", rule.text)
		}
	}
	f.checkBounds(bad)
	f.checkOnDelete(bad)
	if f.HasDefault() {
		f.checkDefault(bad)
	}
	if f.Backfill != "" {
		f.checkBackfill(bad)
	}
	checkDoc(f.Doc, bad)
}

const maxDoc = 200 // characters of a description

// checkDoc reports a description that cannot be written as a comment, a struct tag and an annotation.
func checkDoc(text string, bad func(string, ...any)) {
	switch {
	case !plainString.MatchString(text):
		bad("doc must not have quotes, backslashes, dollar signs or control characters")
	case strings.TrimSpace(text) != text:
		bad("doc must not start or end with a space")
	case utf8.RuneCountInString(text) > maxDoc:
		bad("doc has more than %d characters", maxDoc)
	}
}

// checkBackfill reports an invalid value of backfill, and converts a valid value to its canonical form.
func (f *Field) checkBackfill(bad func(string, ...any)) {
	if !f.Required || f.Unique {
		bad("backfill is for a required field that is not unique")
		return
	}
	value := *f
	value.Default = f.Backfill
	value.checkDefault(func(format string, args ...any) {
		bad("%s", strings.Replace(fmt.Sprintf(format, args...), "default", "backfill", 1))
	})
	f.Backfill = value.Default
}

// checkReadOnly reports fields with readonly that the methods of the resource do not allow.
func (r Resource) checkReadOnly(wrong *mistakes) {
	fields := r.ReadOnly()
	switch {
	case fields == nil:
		return
	case len(fields) == len(r.Fields):
		wrong.Add("fields: all are readonly; declare one that clients set, or omit create and update with --methods list,show,delete")
	}
	if r.Name == "read-only" {
		wrong.Add("name read-only: is a type of modules with readonly fields; choose another name")
	}
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, "readOnly") {
			wrong.Add("field %s: is an embedded struct of resources with readonly fields; choose another name", f.Name)
		}
		if f.ReadOnly && f.Required && r.Has(methodCreate) {
			wrong.Add("field %s: readonly excludes required while a route creates records, because clients cannot send it; write default=VALUE, "+
				"or omit required: the field is empty or null until your code sets it", f.Name)
		}
	}
}

// checkBounds reports invalid values of min and max, and converts valid values to their canonical form.
func (f *Field) checkBounds(bad func(string, ...any)) {
	if f.Min == "" && f.Max == "" {
		return
	}
	k := f.kind()
	low, high := -math.MaxFloat64, math.MaxFloat64
	switch {
	case k.maxLength > 0:
		low, high = 0, float64(max(k.maxLength, k.limit))
	case k.isNumber:
		low, high = -k.greatest, k.greatest
	default:
		bad("min and max are not possible for %s", f.Type)
		return
	}
	least, greatest := low, high
	if !f.bound("min", &f.Min, &least, bad) || !f.bound("max", &f.Max, &greatest, bad) {
		return
	}
	switch {
	case least > greatest:
		bad("min=%s is greater than max=%s", number(least), number(greatest))
	case least < low || greatest > high:
		bad("min and max of %s are between %s and %s", f.Type, number(low), number(high))
	case k.maxLength > 0 && greatest < 1:
		bad("max=%s allows only empty values", f.Max)
	case f.Unique && k.isNumber && greatest-least+1 < minUnique, f.Unique && k.maxLength > 0 && greatest < 2:
		bad("unique needs bounds that allow at least %d values", minUnique)
	}
}

// bound parses the bound *text, stores the number in *into, and converts *text to its canonical form. If *text is "", bound does
// nothing. It returns false if the bound is invalid.
func (f *Field) bound(word string, text *string, into *float64, bad func(string, ...any)) bool {
	if *text == "" {
		return true
	}
	x, err := strconv.ParseFloat(*text, 64)
	if k := f.kind(); err != nil || !isDecimal(*text) || (k.isInteger || !k.isNumber) && !isInteger(*text) {
		bad("%s=%s is not a number; write %s=10", word, *text, word)
		return false
	}
	if f.kind().isExact && !exactDecimal.MatchString(*text) {
		bad("%s=%s is not exact; write at most 12 digits and 6 decimals, without zeros at the end", word, *text)
		return false
	}
	if *into = x; !f.kind().isExact {
		*text = number(x)
	}
	return true
}

// exactDecimal matches a number in the format of store.Decimal.String.
var exactDecimal = regexp.MustCompile(`^(0|-?[1-9]\d{0,11}|-?(0|[1-9]\d{0,11})\.\d{0,5}[1-9])$`)

func isInteger(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text
}

// isDecimal reports whether text, which strconv.ParseFloat has accepted, is neither NaN nor infinite, and has neither hexadecimal
// digits nor underscores.
func isDecimal(text string) bool { return strings.Trim(text, "0123456789+-.eE") == "" }

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// plainString matches strings that need no quoting in a go:generate line and in a struct tag.
var plainString = regexp.MustCompile("^[^\\x00-\\x1f\"`$\\\\]*$")

// timeEnd matches the time of day and the zone of RFC 3339, section 5.6. time.Parse also accepts others, such as 1:00:00+24:00.
var timeEnd = regexp.MustCompile(`T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

func isEmail(value string) bool {
	a, err := mail.ParseAddress(value)
	return err == nil && a.Address == value
}

func isURL(value string) bool {
	u, err := url.Parse(value)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && !strings.Contains(value, " ")
}

// checkDefault reports an invalid default, and converts a valid default to its canonical form.
func (f *Field) checkDefault(bad func(string, ...any)) {
	value := f.Default
	if !plainString.MatchString(value) {
		bad("default must not have quotes, backslashes, dollar signs or control characters; edit the generated code instead")
		return
	}
	check := f.kind().checkDefault
	if check == nil {
		bad("default is not possible for %s", f.Type)
		return
	}
	check(f, bad)
}

// checkValue returns the checkDefault of a kind. values describes the valid defaults in the message.
func checkValue(values string, isValid func(string) bool) func(*Field, reporter) {
	return func(f *Field, bad reporter) {
		if !isValid(f.Default) {
			bad("default=%s is not %s", f.Default, values)
		}
	}
}

// checkText is checkDefault for a string.
func (f *Field) checkText(bad reporter) {
	if strings.TrimSpace(f.Default) != f.Default {
		bad("default must not start or end with a space")
	} else if n := utf8.RuneCountInString(f.Default); n < f.MinLength() || n > f.MaxLength() {
		bad("default=%s has %d characters, which min and max do not allow", f.Default, n)
	}
}

// checkTime is checkDefault for a time.
func (f *Field) checkTime(bad reporter) {
	t, err := time.Parse(time.RFC3339, f.Default)
	if err != nil || !timeEnd.MatchString(f.Default) || t.UTC().Year() > 9999 || t.UTC().Year() < 0 {
		bad("default=%s is not a time such as 2026-01-02T15:04:05Z", f.Default)
		return
	}
	f.Default = t.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
}

// checkEnum is checkDefault for an enum.
func (f *Field) checkEnum(bad reporter) {
	if !slices.Contains(f.Values, f.Default) {
		bad("default=%s is not in the enum; %s", f.Default, naming.Suggest(f.Default, f.Values))
	}
}

// checkNumber is checkDefault for a number.
func (f *Field) checkNumber(bad reporter) {
	k := f.kind()
	x, err := strconv.ParseFloat(f.Default, 64)
	switch low, high := f.bounds(); {
	case err != nil || !isDecimal(f.Default):
		bad("default=%s is not a number", f.Default)
	case k.isInteger && (!isInteger(f.Default) || math.Abs(x) > k.greatest):
		bad("default=%s is not an integer between -%d and %d", f.Default, maxInt, maxInt)
	case k.isExact && !exactDecimal.MatchString(f.Default):
		bad("default=%s is not exact; write at most 12 digits and 6 decimals, without zeros at the end", f.Default)
	case x < low || x > high:
		bad("default=%s is outside of min and max", f.Default)
	case !k.isExact:
		f.Default = number(x)
	}
}

// bounds returns min and max of a number; -math.MaxFloat64 if there is no min, and math.MaxFloat64 if there is no max.
func (f Field) bounds() (low, high float64) {
	low, high = -math.MaxFloat64, math.MaxFloat64
	if x, err := strconv.ParseFloat(f.Min, 64); err == nil {
		low = x
	}
	if x, err := strconv.ParseFloat(f.Max, 64); err == nil {
		high = x
	}
	return low, high
}

// MinLength returns the minimum length of a string in characters, or of a list in items; 0 if there is none.
func (f Field) MinLength() int {
	n, _ := strconv.Atoi(f.Min) // valid: see checkBounds
	return n
}

// MaxLength returns the maximum length of a string in characters, or of a list in items.
func (f Field) MaxLength() int {
	if n, err := strconv.Atoi(f.Max); err == nil {
		return n
	}
	return f.kind().maxLength
}
