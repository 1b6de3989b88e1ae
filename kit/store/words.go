package store

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The longest word that Words and QueryWords return, in runes. Both cut at the same place, so that a longer word of a
// query still finds a longer word of a text, and a key of an index stays small.
const (
	maxWord  = 32 // of an ordinary word
	maxPiece = 6  // of a piece of a run in a script without blanks
)

// Words returns the distinct words of a stored text, as a search compares them: runs of letters and digits without
// case and accents, each of at most 32 runes. A script that puts no blanks between words gives, for each place of a
// run, the up to 6 runes that begin there, so that any part of the run is the prefix of a word.
func Words(text string) []string {
	return split(text, func(add func(string), run string) {
		for len(run) > 0 {
			add(cut(run, maxPiece))
			run = run[len(cut(run, 1)):]
		}
	})
}

// QueryWords returns the distinct prefixes that a query asks for: a text is found if each of them begins one of its
// Words. It is empty if the query has neither letter nor digit.
func QueryWords(text string) []string {
	return split(text, func(add func(string), run string) {
		for piece := cut(run, maxPiece); ; piece = cut(run, maxPiece) {
			add(piece)
			if len(piece) == len(run) {
				return
			}
			// Pieces overlap by half: that they all occur makes it likely that they do in this order.
			run = run[len(cut(run, maxPiece/2)):]
		}
	})
}

// split folds the text and collects its distinct words; pieces says what becomes of a run without blanks.
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

// fold returns the text without case and accents, with a blank for each character that is no part of a word.
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
		// Composed again, a Korean syllable and a voiced kana are one rune, which no search cuts in two.
		if norm.NFC.QuickSpan(letters) == len(letters) {
			folded = append(folded, letters...)
		} else {
			folded = norm.NFC.Append(folded, letters...)
		}
	}
	return string(folded)
}

// appendFolded appends a rune of decomposed text as fold returns it.
func appendFolded(folded []byte, r rune) []byte {
	if plain, ok := plainLetters[r]; ok {
		return append(folded, plain...)
	}
	switch {
	case unicode.IsLetter(r), unicode.IsNumber(r):
		// By way of the capital, as Σ makes one of σ and ς, and I one of i and ı.
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

// plainLetters are the letters that Unicode does not decompose but people type without their stroke or as two, the mark
// that is a letter in capitals, and the letter that only stretches a line of Arabic.
var plainLetters = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ø': "o", 'Ø': "o", 'đ': "d", 'Đ': "d",
	'ħ': "h", 'Ħ': "h", 'ł': "l", 'Ł': "l", 'ŧ': "t", 'Ŧ': "t", '\u0345': "ι", 'ـ': "",
}

// accented are the scripts whose marks a reader can do without. Elsewhere a mark is a vowel, and tells words apart.
var accented = []*unicode.RangeTable{unicode.Inherited, unicode.Hebrew, unicode.Arabic, unicode.Cyrillic}

// isUnspaced reports whether r belongs to a script that puts no blanks between words.
func isUnspaced(r rune) bool {
	if r < '\u0E00' {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar) || r == 'ー' || r == '〆' || isVoicingMark(r)
}

// isVoicingMark reports whether r makes は be ば or ぱ: another sound, not an accent.
func isVoicingMark(r rune) bool { return r == '\u3099' || r == '\u309A' }
