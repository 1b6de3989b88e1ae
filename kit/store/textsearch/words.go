// Package textsearch splits texts and queries into the words that a search compares.
package textsearch

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The maximum length of a word, in runes. Longer words are cut, which keeps the keys of an index short. The words of texts and
// queries are cut alike, so a long word in a query matches the same word in a text.
const (
	maxWord  = 32 // in a script with spaces between words
	maxPiece = 6  // in a script without spaces between words
)

// Words returns the distinct words of a stored text. A word is a run of letters and digits without case and accents, of at most
// 32 runes. In a script without spaces between words, each rune of a run begins a word of up to 6 runes. Therefore any part of
// the run, up to 6 runes long, is the prefix of a word.
func Words(text string) []string {
	return split(fold(text), func(run string, add func(string)) {
		for rest := run; len(rest) > 0; rest = rest[len(cut(rest, 1)):] {
			add(cut(rest, maxPiece))
		}
	})
}

// QueryWords returns the distinct words of a query. A text matches if each of these words is a prefix of a word of the text. The
// result is empty if the query has neither letters nor digits.
func QueryWords(text string) []string {
	return split(fold(text), func(run string, add func(string)) {
		for rest := run; ; {
			piece := cut(rest, maxPiece)
			add(piece)
			if len(piece) == len(rest) {
				return
			}
			// Pieces overlap by half, so that texts with all pieces are likely to have them in this order.
			rest = rest[len(cut(rest, maxPiece/2)):]
		}
	})
}

// split returns the distinct words of a folded text. For each run of a script without spaces, it calls pieces.
func split(text string, pieces func(run string, add func(string))) (words []string) {
	seen := make(map[string]struct{}, min(len(text)/6, 128)) // most texts need no larger buffer
	add := func(word string) {
		if _, ok := seen[word]; !ok {
			seen[word] = struct{}{}
			words = append(words, word)
		}
	}
	for start := 0; start < len(text); {
		if text[start] == ' ' {
			start++
			continue
		}
		end, dense := runEnd(text, start)
		if run := text[start:end]; dense {
			pieces(run, add)
		} else {
			add(cut(run, maxWord))
		}
		start = end
	}
	return words
}

// runEnd returns the end of the run that begins at start. dense reports whether the script of the run has no spaces between
// words. A run either has only characters of such scripts, or none.
func runEnd(text string, start int) (end int, dense bool) {
	for end = start; end < len(text) && text[end] != ' '; {
		size, unspaced := 1, false
		if text[end] >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(text[end:])
			unspaced = isUnspaced(r)
		}
		if end > start && unspaced != dense {
			break
		}
		dense = unspaced
		end += size
	}
	return end, dense
}

// cut returns the first n runes of s.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// fold returns the text in lower case without accents. A space replaces each character that is not part of a word.
func fold(text string) string {
	folded := make([]byte, 0, len(text))
	var letters []byte
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			folded = append(folded, asciiFold[c])
			i++
			continue
		}
		letters = letters[:0]
		for i < len(text) && text[i] >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if parts := norm.NFKD.PropertiesString(text[i:]).Decomposition(); parts == nil {
				letters = appendFolded(letters, r)
			} else {
				for len(parts) > 0 {
					part, n := utf8.DecodeRune(parts)
					letters = appendFolded(letters, part)
					parts = parts[n:]
				}
			}
			i += size
		}
		// Compose again, so that a Korean syllable and a voiced kana are one rune, which a prefix cannot split.
		if norm.NFC.QuickSpan(letters) == len(letters) {
			folded = append(folded, letters...)
		} else {
			folded = norm.NFC.Append(folded, letters...)
		}
	}
	return string(folded)
}

// appendFolded appends a rune of decomposed text in folded form.
func appendFolded(folded []byte, r rune) []byte {
	if plain, ok := plainLetters[r]; ok {
		return append(folded, plain...)
	}
	switch {
	case unicode.IsLetter(r), unicode.IsNumber(r):
		// Convert to upper case first, which is the same for σ and ς, and for i and ı.
		return utf8.AppendRune(folded, unicode.ToLower(unicode.ToUpper(r)))
	case isVoicingMark(r):
		return utf8.AppendRune(folded, r)
	case unicode.In(r, unicode.Mn, unicode.Me) && unicode.In(r, accented...), unicode.Is(unicode.Cf, r):
		return folded
	case unicode.IsMark(r): // the vowels of Indic scripts and Thai
		return utf8.AppendRune(folded, r)
	}
	return append(folded, ' ')
}

// asciiFold has the result of fold for each ASCII character.
var asciiFold = func() (table [utf8.RuneSelf]byte) {
	for c := range table {
		table[c] = ' '
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			table[c] = byte(unicode.ToLower(r))
		}
	}
	return table
}()

// plainLetters has the folded forms of letters that Unicode does not decompose. People type these letters without the stroke or
// as two letters. plainLetters also has U+0345, a mark whose upper case is a letter, and U+0640, which only stretches Arabic
// text.
var plainLetters = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ø': "o", 'Ø': "o", 'đ': "d", 'Đ': "d",
	'ħ': "h", 'Ħ': "h", 'ł': "l", 'Ł': "l", 'ŧ': "t", 'Ŧ': "t", '\u0345': "ι", 'ـ': "",
}

// accented are the scripts whose marks are optional. In other scripts a mark is a vowel and distinguishes words.
var accented = []*unicode.RangeTable{unicode.Inherited, unicode.Hebrew, unicode.Arabic, unicode.Cyrillic}

// isUnspaced reports whether r belongs to a script without spaces between words.
func isUnspaced(r rune) bool {
	if r < '\u0E00' {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar) || r == 'ー' || r == '〆' || isVoicingMark(r)
}

// isVoicingMark reports whether r is a mark that changes は to ば or ぱ. The mark changes the sound, so fold keeps the mark.
func isVoicingMark(r rune) bool { return r == '\u3099' || r == '\u309A' }

// MissingWord returns the index of the first prefix with which no word of a text begins; -1 if there is no such prefix. The
// prefixes must come from QueryWords.
func MissingWord(text []byte, prefixes []string) int {
	if isASCII(text) {
		return slices.IndexFunc(prefixes, func(prefix string) bool { return !containsFold(text, prefix, true) })
	}
	folded := fold(string(text))
	return slices.IndexFunc(prefixes, func(prefix string) bool { return !hasWord(folded, prefix) })
}

// MissingText returns the index of the first prefix that a text does not contain, not even within a word; -1 if there is no
// such prefix. It is faster than MissingWord if the text is ASCII.
func MissingText(text []byte, prefixes []string) int {
	if isASCII(text) {
		return slices.IndexFunc(prefixes, func(prefix string) bool { return !containsFold(text, prefix, false) })
	}
	folded := fold(string(text))
	return slices.IndexFunc(prefixes, func(prefix string) bool { return !strings.Contains(folded, prefix) })
}

func isASCII(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c >= utf8.RuneSelf })
}

// containsFold reports whether an ASCII text contains prefix, in upper or lower case. If atWord is true, it only looks at the
// start of words.
func containsFold(text []byte, prefix string, atWord bool) bool {
	lower := prefix[0]
	upper := byte(unicode.ToUpper(rune(lower)))
	return containsCase(text, prefix, lower, atWord) || containsCase(text, prefix, upper, atWord)
}

// containsCase is like containsFold, but the first character of prefix must have the case of first in the text.
func containsCase(text []byte, prefix string, first byte, atWord bool) bool {
	for start := 0; ; {
		at := bytes.IndexByte(text[start:], first)
		if at < 0 || start+at+len(prefix) > len(text) {
			return false
		}
		at += start
		if (!atWord || at == 0 || asciiFold[text[at-1]] == ' ') && bytes.EqualFold(text[at:at+len(prefix)], []byte(prefix)) {
			return true
		}
		start = at + 1
	}
}

// hasWord reports whether a word of a folded text begins with prefix.
func hasWord(folded, prefix string) bool {
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
