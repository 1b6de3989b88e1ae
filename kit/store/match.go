package store

import (
	"strings"
	"unicode/utf8"
)

// MatchWords reports whether text has a word that begins with each of the prefixes, which are those of QueryWords. It
// selects the same texts as an index of Words.
func MatchWords(text string, prefixes []string) bool {
	folded := fold(text)
	for _, prefix := range prefixes {
		if !beginsWord(folded, prefix) {
			return false
		}
	}
	return len(prefixes) > 0
}

// beginsWord reports whether a word of a folded text begins with prefix.
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
