package textsearch

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestMissingWord compares MissingWord with the result of Words. Texts and queries are random sequences of pieces: scripts with
// and without spaces, accents, marks, cases, and words that exceed the maximum length.
func TestMissingWord(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"root", "Root", "ro", "o", "é", "e\u0301", "ß", "SS", "1", "２", " ", "-", "\xff", "東", "京都", "の", "ば", "は\u3099", "ー",
		"ไทย", "กา", "한", "하", "ﬁ", "Σ", "ς", "ا", "ـ", "मि", strings.Repeat("long", 9), strings.Repeat("長", 8),
	}
	random := rand.New(rand.NewPCG(1, 2))
	text := func(most int) string {
		var b strings.Builder
		for range 1 + random.IntN(most) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	found := 0
	const tries = 50_000
	for range tries {
		stored, query := text(12), text(3)
		want := hasPrefixes(stored, query)
		if got := matches(stored, query); got != want {
			t.Fatalf("%q finds %q: %t, want %t", query, stored, got, want)
		}
		if want {
			found++
		}
	}
	if found < tries/20 || found > tries*19/20 {
		t.Errorf("%d of %d tries found something: the test proves little", found, tries)
	}
}

// matches reports whether a query finds a text, with MissingWord.
func matches(text, query string) bool {
	prefixes := QueryWords(query)
	return len(prefixes) > 0 && MissingWord([]byte(text), prefixes) < 0
}

// TestWordsOfLongTexts checks that Words and MissingWord find the last of many words.
func TestWordsOfLongTexts(t *testing.T) {
	t.Parallel()
	const n = 20_000
	var spaced, han strings.Builder
	for i := range n {
		fmt.Fprintf(&spaced, "w%d same ", i)
		han.WriteRune(rune('一' + i))
	}
	for _, test := range []struct {
		name, text string
		words      int
		query      string
	}{
		{"spaced", spaced.String() + "last", n + 2, "w0 w19999 same last"},
		{"unspaced", han.String() + "ok", n + 1, "一 ok " + string(rune('一'+n-1))},
	} {
		if words := Words(test.text); len(words) != test.words {
			t.Errorf("%s: %d words, want %d", test.name, len(words), test.words)
		}
		if !hasPrefixes(test.text, test.query) || !matches(test.text, test.query) {
			t.Errorf("%s: %q is not found", test.name, test.query)
		}
		if hasPrefixes(test.text, test.query+" other") || matches(test.text, test.query+" other") {
			t.Errorf("%s: a word that is missing is found", test.name)
		}
	}
}

func FuzzMissingWord(f *testing.F) {
	f.Add("Straße 東京 \xff\x00 é", "京 str")
	f.Fuzz(func(t *testing.T, text, query string) {
		if got, want := matches(text, query), hasPrefixes(text, query); got != want {
			t.Errorf("%q finds %q: %t, want %t", query, text, got, want)
		}
	})
}

func BenchmarkMissingWord(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 9)
	b.ReportAllocs()
	for b.Loop() {
		MissingWord([]byte(text), []string{"lazier"})
	}
}

func BenchmarkMissingText(b *testing.B) {
	text := []byte(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 9))
	b.ReportAllocs()
	for b.Loop() {
		MissingText(text, []string{"lazier"})
	}
}
