// Package naming suggests valid names for invalid or unknown names.
package naming

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	"golang.org/x/text/unicode/norm"

	"example.com/ginseng/kit/suggest"
)

var kebabCase = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue", "ß", "ss")

// Kebab converts name to kebab-case. It returns example if that is not possible.
func Kebab(name, example string) string {
	ascii := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			return c
		case c >= 0x300 && c < 0x370: // combining accents
			return -1
		}
		return '-'
	}, norm.NFD.String(umlauts.Replace(norm.NFC.String(name))))
	words := strings.FieldsFunc(strings.ToLower(flect.Dasherize(strings.Trim(ascii, "-"))), func(c rune) bool { return c == '-' })
	if out := strings.Join(words, "-"); kebabCase.MatchString(out) {
		return out
	}
	return example
}

// Suggest returns advice about an unknown word for the end of a message: the nearest known word, or all known words.
func Suggest(word string, known []string) string {
	others := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return name == word })
	if nearest := suggest.Nearest(word, others); nearest != "" {
		return "did you mean " + nearest + "?"
	}
	return "use one of " + strings.Join(known, ", ")
}
