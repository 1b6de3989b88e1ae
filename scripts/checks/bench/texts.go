package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

const (
	rareHits   = 20   // articles with the rare word
	vocabulary = 5000 // number of different words
)

// The words of the searches: in every second article, in every third article, and in rareHits articles.
const (
	commonWord = "ginseng"
	secondWord = "harvest"
	rareWord   = "quaking"
)

// fields are the fields that clients set.
type fields struct {
	Title   string `json:"title"`
	Content string `json:"content"`
}

// newFields returns the fields of the i-th of n articles: about 400 bytes, always the same for the same i and n. Few words are
// frequent and many words are rare, as in a language.
func newFields(i, n int) fields {
	random := rand.New(rand.NewPCG(uint64(i), 1))
	var text strings.Builder
	text.Grow(400)
	if i%2 == 0 {
		text.WriteString(commonWord + " ")
	}
	if i%3 == 0 {
		text.WriteString(secondWord + " ")
	}
	if i%max(1, n/rareHits) == 0 {
		text.WriteString(rareWord + " ")
	}
	for text.Len() < 360 {
		text.WriteString(words[random.IntN(len(words))])
		text.WriteByte(' ')
	}
	return fields{fmt.Sprintf("Article %d about %s", i, word(i%vocabulary)), strings.TrimSpace(text.String())}
}

// words contains each word in proportion to its frequency in texts. To select a random element of words is much faster than to
// draw a random number with that distribution.
var words = func() []string {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 1)), 1.1, 10, vocabulary-1)
	drawn := make([]string, 1<<16)
	for i := range drawn {
		drawn[i] = word(int(zipf.Uint64()))
	}
	return drawn
}()

// word returns the n-th word, of two to five syllables.
func word(n int) string {
	const consonants, vowels = "bdfghklmnprstvz", "aeiou"
	var text strings.Builder
	for n += len(consonants) * len(vowels); n > 0; n /= len(consonants) * len(vowels) {
		text.WriteByte(consonants[n%len(consonants)])
		text.WriteByte(vowels[n/len(consonants)%len(vowels)])
	}
	return text.String()
}
