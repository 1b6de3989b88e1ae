package store

import (
	"strings"
	"unicode/utf8"
)

// Finds reports whether each of the prefixes, which are of QueryWords, begins some word of a text: what an index of
// Words would say, for a text at hand.
func Finds(text string, prefixes []string) bool {
	folded := fold(text)
	for _, prefix := range prefixes {
		if !beginsWord(folded, prefix) {
			return false
		}
	}
	return len(prefixes) > 0
}

// beginsWord reports whether the prefix stands somewhere in a folded text where split begins a word.
func beginsWord(folded, prefix string) bool {
	first, _ := utf8.DecodeRuneInString(prefix)
	for at := 0; ; at++ {
		found := strings.Index(folded[at:], prefix)
		if found < 0 {
			return false
		}
		at += found
		before, _ := utf8.DecodeLastRuneInString(folded[:at])
		if at == 0 || before == ' ' || isUnspaced(first) || isUnspaced(before) {
			return true
		}
	}
}
