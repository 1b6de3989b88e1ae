package main

import (
	"slices"
	"strings"
)

// irregular are plurals that no rule gives; those without a plural are their own.
var irregular = map[string]string{
	"child": "children", "foot": "feet", "goose": "geese", "man": "men", "mouse": "mice", "ox": "oxen", "person": "people",
	"tooth": "teeth", "woman": "women",
	"echo": "echoes", "hero": "heroes", "potato": "potatoes", "tomato": "tomatoes", "torpedo": "torpedoes", "veto": "vetoes",
	"calf": "calves", "elf": "elves", "half": "halves", "knife": "knives", "leaf": "leaves", "life": "lives",
	"loaf": "loaves", "self": "selves", "shelf": "shelves", "thief": "thieves", "wife": "wives", "wolf": "wolves",
	"criterion": "criteria", "datum": "data", "medium": "media", "phenomenon": "phenomena",
	"appendix": "appendices", "index": "indices", "matrix": "matrices", "quiz": "quizzes", "vertex": "vertices",
	"aircraft": "aircraft", "data": "data", "deer": "deer", "equipment": "equipment", "feedback": "feedback", "fish": "fish",
	"information": "information", "media": "media", "money": "money", "news": "news", "series": "series", "sheep": "sheep",
	"software": "software", "species": "species", "staff": "staff", "stuff": "stuff", "weather": "weather",
}

// plural is the English plural of a kebab-case name: that of its last word.
func plural(name string) string {
	before, word := "", name
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		before, word = name[:i+1], name[i+1:]
	}
	ends := func(suffixes ...string) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(word, s) })
	}
	p, known := irregular[word]
	switch {
	case known:
	case ends("man") && !ends("human", "german", "roman", "talisman"):
		p = strings.TrimSuffix(word, "man") + "men"
	case ends("sis", "xis"):
		p = word[:len(word)-2] + "es" // analysis, axis
	case ends("zz", "ss", "sh", "ch", "x", "s"):
		p = word + "es"
	case ends("z"):
		p = word + "zes"
	case ends("y") && len(word) > 1 && !strings.ContainsRune("aeiou", rune(word[len(word)-2])):
		p = strings.TrimSuffix(word, "y") + "ies"
	default:
		p = word + "s"
	}
	return before + p
}

// initialisms are words that Go writes in capitals: those that staticcheck knows, and some more.
var initialisms = map[string]bool{
	"acl": true, "amqp": true, "api": true, "ascii": true, "cpu": true, "css": true, "csv": true, "db": true, "dns": true,
	"eof": true, "gid": true, "guid": true, "html": true, "http": true, "https": true, "iban": true, "id": true, "ip": true,
	"isbn": true, "json": true, "pdf": true, "qps": true, "ram": true, "rpc": true, "rtp": true, "sip": true, "sku": true,
	"sla": true, "smtp": true, "sms": true, "sql": true, "ssh": true, "tcp": true, "tls": true, "ts": true, "ttl": true,
	"udp": true, "ui": true, "uid": true, "uri": true, "url": true, "utf8": true, "uuid": true, "vat": true, "vm": true,
	"xml": true, "xmpp": true, "xsrf": true, "xss": true,
}

// goName is the exported Go name of words in kebab-case or camelCase: imageUrl is ImageURL.
func goName(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		lower := strings.ToLower(word)
		if initialisms[lower] || initialisms[strings.TrimRight(lower, "0123456789")] {
			b.WriteString(strings.ToUpper(word))
		} else {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// camelName is the unexported Go name, and the JSON name, of a name in kebab-case.
func camelName(name string) string {
	first, rest, _ := strings.Cut(name, "-")
	return first + goName(rest)
}

// words are the parts of a name in kebab-case or camelCase.
func words(name string) []string {
	var out []string
	start := 0
	for i, c := range name {
		upper := c >= 'A' && c <= 'Z' && i > 0 && (name[i-1] < 'A' || name[i-1] > 'Z')
		if c == '-' || upper {
			if i > start {
				out = append(out, name[start:i])
			}
			start = i
			if c == '-' {
				start++
			}
		}
	}
	if start < len(name) {
		out = append(out, name[start:])
	}
	return out
}

// spoken is a name as a sentence has it: blog-post is "blog post".
func spoken(name string) string {
	parts := words(name)
	for i, part := range parts {
		if lower := strings.ToLower(part); initialisms[lower] {
			parts[i] = strings.ToUpper(part)
		} else {
			parts[i] = lower
		}
	}
	return strings.Join(parts, " ")
}

// withArticle puts a or an before words, by their first sound as far as the letters tell it.
func withArticle(text string) string {
	begins := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(strings.ToLower(text), p) })
	}
	if begins("hour", "heir", "honest", "honor", "honour") || begins("a", "e", "i", "o", "u") && !begins("eu", "one", "once", "uni", "use", "usa", "ute", "uti", "uri", "url", "utc", "utf", "udp", "ui", "uuid") {
		return "an " + text
	}
	return "a " + text
}

// nearest is the word of a list that is at most two edits away, or "".
func nearest(word string, list []string) string {
	best, least := "", 3
	for _, candidate := range list {
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); candidate != word && d < least && d < len(candidate) {
			best, least = candidate, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, change or swap with the next.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
