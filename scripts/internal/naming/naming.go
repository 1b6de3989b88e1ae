// Package naming suggests names for invalid and unknown ones.
package naming

import (
	"errors"
	"regexp"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/gobuffalo/flect"
	"github.com/spf13/pflag"
	"golang.org/x/text/unicode/norm"
)

var kebabCase = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue", "ß", "ss")

// Kebab returns a valid name that resembles an invalid one, or example.
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

// Suggest returns advice for an unknown word: the nearest known one, or all of them.
func Suggest(word string, known []string) string {
	best, least := "", 3
	for _, candidate := range known {
		distance := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(candidate))
		if candidate != word && distance < least && distance < len(candidate) {
			best, least = candidate, distance
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "use one of " + strings.Join(known, ", ")
}

// FlagHint returns a suggestion if the error of pflag is an unknown flag.
func FlagHint(flags *pflag.FlagSet, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return "; " + Suggest("--"+unknown.GetSpecifiedName(), names)
}
