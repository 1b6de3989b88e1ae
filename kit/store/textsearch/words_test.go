package textsearch

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

func TestWords(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"punctuation", " .,;:!?()[]{}'\"%_*\\^-+=<>/|@#$&~`\t\r\n", nil},
		{"several", "The quick, brown fox", []string{"the", "quick", "brown", "fox"}},
		{"distinct", "go Go GO gopher", []string{"go", "gopher"}},
		{"digits", "route66 3.14 ½ x² ①", []string{"route66", "3", "14", "1", "2", "x2"}},
		{"digits of other scripts", "３ ٣", []string{"3", "٣"}},
		{"NUL", "a\x00b", []string{"a", "b"}},
		{"invalid UTF-8", "a\xffb \xc3", []string{"a", "b"}},
		{"accents", "Café crème Škoda Ångström", []string{"cafe", "creme", "skoda", "angstrom"}},
		{"accents, decomposed", norm.NFD.String("Café crème Škoda Ångström"), []string{"cafe", "creme", "skoda", "angstrom"}},
		{"accents, many", "Z̸̢̛̗̼a̴͠l̷̛g̵͝o̸͑", []string{"zalgo"}},
		{"Vietnamese", "Tiếng Việt Đặng", []string{"tieng", "viet", "dang"}},
		{"Polish, Danish, Maltese", "Łódź Ærø Ħamrun", []string{"lodz", "aero", "hamrun"}},
		{"German", "Straße STRASSE STRAẞE Übergröße", []string{"strasse", "ubergrosse"}},
		{"Turkish", "İstanbul ISPARTA Isparta ısparta", []string{"istanbul", "isparta"}},
		{"Greek", "Ὀδυσσεύς ΟΔΥΣΣΕΥΣ σοφός", []string{"οδυσσευσ", "σοφοσ"}},
		{"Cyrillic", "Ёлка ЙОД", []string{"елка", "иод"}},
		{"ligatures", "ﬁnd oﬃce Œuvre ǆ", []string{"find", "office", "oeuvre", "dz"}},
		{"wide and styled", "Ｇｏ 𝕲𝖔 ⓖⓞ", []string{"go"}},
		{"invisible", "so\u00adft ze\u200bro \ufeffmark", []string{"soft", "zero", "mark"}},
		{"Hebrew", "שָׁלוֹם", []string{"שלום"}},
		{"Arabic", "مُحَمَّد محمـــد أحمد", []string{"محمد", "احمد"}},
		{"Hindi", "हिन्दी", []string{"हिन्दी"}},
		{"Korean", "한국어 " + norm.NFD.String("한국어"), []string{"한국어"}},
		{"Chinese", "北京,上海", []string{"北京", "京", "上海", "海"}},
		{"Chinese and Latin", "iPhone15手机", []string{"iphone15", "手机", "机"}},
		{"Japanese", "コーヒー", []string{"コーヒー", "ーヒー", "ヒー", "ー"}},
		{"Japanese, half wide", "ｶﾞｽ", []string{"ガス", "ス"}},
		{"Japanese, decomposed", norm.NFD.String("ガス"), []string{"ガス", "ス"}},
		{"Thai", "กิน", []string{"กิน", "ิน", "น"}},
		{"a long run", "一二三四五六七", []string{"一二三四五六", "二三四五六七", "三四五六七", "四五六七", "五六七", "六七", "七"}},
		{"a long word", strings.Repeat("é", 40), []string{strings.Repeat("e", 32)}},
		{"emoji", "👍🏽 go👩‍💻lang ❤️ 1️⃣", []string{"go", "lang", "1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Words(test.text); !reflect.DeepEqual(got, test.want) {
				t.Errorf("Words(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestQueryWords(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"punctuation", `% _ .* ( ) " ' * ^ - :`, nil},
		{"several", "Brown FOX fox", []string{"brown", "fox"}},
		{"a short run", "一二三四五六", []string{"一二三四五六"}},
		{"a long run", "一二三四五六七八九十", []string{"一二三四五六", "四五六七八九", "七八九十"}},
		{"a long word", strings.Repeat("a", 40), []string{strings.Repeat("a", 32)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := QueryWords(test.text); !reflect.DeepEqual(got, test.want) {
				t.Errorf("QueryWords(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// TestWordsOfOnePart checks Words and QueryWords together: whether a query finds a text.
func TestWordsOfOnePart(t *testing.T) {
	for _, test := range []struct {
		text, query string
		want        bool
	}{
		{"The quick brown fox", "qui the", true},
		{"The quick brown fox", "uick", false},
		{"The quick brown fox", "quick dog", false},
		{"don't", "don’t", true},
		{"Straße", "STRAS", true},
		{strings.Repeat("x", 50) + "y", strings.Repeat("x", 50) + "z", true}, // both are cut
		{"東京都庁", "京都", true},
		{"東京 都庁", "京都", false},
		{"学生大学", "生大学生", false},
		{"中华人民共和国成立于一九四九年", "人民共和国成立于一九四", true},
		{"中华人民共和国成立于一九四九年", "中华人民共和国成立于一九五", false},
		{"iPhone手机壳", "iphone机", true},
		{"バス", "ハス", false},
		{"コンピューター", "ピューター", true},
		{"ภาษาไทยง่าย", "ไทย", true},
		{"대한민국", "대한", true},
	} {
		if got := hasPrefixes(test.text, test.query); got != test.want {
			t.Errorf("%q finds %q: %t, want %t", test.query, test.text, got, test.want)
		}
	}
}

// TestWordsOfEveryRune checks that a search finds a character in each of its forms.
func TestWordsOfEveryRune(t *testing.T) {
	same := map[string]func(string) string{
		"NFC":   norm.NFC.String,
		"NFD":   norm.NFD.String,
		"NFKC":  norm.NFKC.String,
		"NFKD":  norm.NFKD.String,
		"fold":  cases.Fold().String,
		"lower": cases.Lower(language.Und).String,
		"upper": cases.Upper(language.Und).String,
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N) {
			continue
		}
		text := string(r)
		want := Words(text)
		for name, write := range same {
			if got := Words(write(text)); !slices.Equal(got, want) {
				t.Errorf("Words of U+%04X %q in %s are %q, want %q", r, r, name, got, want)
			}
		}
		if len(want) == 0 && !unicode.IsMark(r) && norm.NFKD.IsNormalString(text) && r != 'ـ' {
			t.Errorf("U+%04X %q makes no word", r, r)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add("Straße 東京 \xff\x00 é")
	f.Fuzz(func(t *testing.T, text string) {
		words := Words(text)
		for _, word := range words {
			if n := utf8.RuneCountInString(word); n == 0 || n > maxWord || strings.ContainsAny(word, " \"\x00") {
				t.Errorf("Words(%q) has %q", text, word)
			}
		}
		if !hasPrefixes(text, text) && len(words) > 0 {
			t.Errorf("%q does not find itself", text)
		}
	})
}

// hasPrefixes reports whether an engine must find the text by the query.
func hasPrefixes(text, query string) bool {
	words, prefixes := Words(text), QueryWords(query)
	for _, prefix := range prefixes {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, prefix) }) {
			return false
		}
	}
	return len(prefixes) > 0
}

func BenchmarkWords(b *testing.B) {
	for _, bench := range []struct{ name, text string }{
		{"ascii", strings.Repeat("The quick brown fox jumps over the lazy dog. ", 2222)},
		{"french", strings.Repeat("Portez ce vieux whisky à l'élève très âgé. ", 2325)},
		{"russian", strings.Repeat("Съешь же ещё этих мягких французских булок. ", 2272)},
		{"chinese", han(100_000)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.text)))
			b.ReportAllocs()
			for b.Loop() {
				Words(bench.text)
			}
		})
	}
}

// han returns a text of n Chinese characters in which few runs repeat.
func han(n int) string {
	var text strings.Builder
	x := uint32(1)
	for range n {
		x = x*1664525 + 1013904223
		text.WriteRune('一' + rune(x>>16)%3000)
	}
	return text.String()
}
