package store

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The maximum length of a word, in runes. It is the same for texts and queries, so that a longer word of a query matches a
// longer word of a text, and it keeps the keys of an index short.
const (
	maxWord  = 32 // in a script with spaces
	maxPiece = 6  // in a script without spaces
)

// Words returns the distinct words of a stored text in the form that a search compares: runs of letters and digits
// without case and accents, of at most 32 runes. In a script without spaces between words, each position of a run gives
// the up to 6 runes from there, so that any part of the run is the prefix of a word.
func Words(text string) []string {
	return split(text, func(add func(string), run string) {
		for len(run) > 0 {
			add(cut(run, maxPiece))
			run = run[len(cut(run, 1)):]
		}
	})
}

// QueryWords returns the distinct prefixes of a query. A text matches if each of them begins one of its Words. The
// result is empty if the query has neither letters nor digits.
func QueryWords(text string) []string {
	return split(text, func(add func(string), run string) {
		for piece := cut(run, maxPiece); ; piece = cut(run, maxPiece) {
			add(piece)
			if len(piece) == len(run) {
				return
			}
			// Pieces overlap by half, so that texts with all pieces are likely to have them in this order.
			run = run[len(cut(run, maxPiece/2)):]
		}
	})
}

// split folds the text and returns its distinct words. It calls pieces with each run of a script without spaces.
func split(text string, pieces func(add func(string), run string)) []string {
	text = fold(text)
	var words []string
	seen := make(map[string]struct{})
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
		end, dense := start, false
		for end < len(text) && text[end] != ' ' {
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
		if dense {
			pieces(add, text[start:end])
		} else {
			add(cut(text[start:end], maxWord))
		}
		start = end
	}
	return words
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

// fold returns the text without case and accents. A space replaces each character that is not part of a word.
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
		// Through upper case, which is the same for σ and ς, and for i and ı.
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

// asciiFold is fold of each ASCII character.
var asciiFold = func() (table [utf8.RuneSelf]byte) {
	for c := range table {
		table[c] = ' '
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			table[c] = byte(unicode.ToLower(r))
		}
	}
	return table
}()

// plainLetters are letters that Unicode does not decompose, but that people type without their stroke or as two
// letters; the mark that is a letter in upper case; and the letter that only stretches a line of Arabic.
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

// isVoicingMark reports whether r changes は to ば or ぱ, which is another sound and no accent.
func isVoicingMark(r rune) bool { return r == '\u3099' || r == '\u309A' }

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
