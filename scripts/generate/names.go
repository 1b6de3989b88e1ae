package main

import (
	"slices"
	"strings"

	"github.com/gobuffalo/flect"

	"example.com/ginseng/scripts/internal/naming"
)

// inOes are the nouns in -o whose usual plural ends in -oes.
var inOes = strings.Fields("buffalo cargo dingo domino echo embargo hero mango mosquito potato tomato tornado torpedo veto volcano")

func init() { // flect writes octupuses, and -oes after most consonants
	_ = flect.LoadInflections(strings.NewReader(`{"octopus": "octopuses"}`))
	flect.InsertPluralRule("o", "os")
	for _, noun := range inOes {
		flect.InsertPluralRule(noun, noun+"es")
	}
}

// plural returns the English plural of a kebab-case name. It returns a plural unchanged.
func plural(name string) string {
	if len(name) == 1 {
		return name + "s"
	}
	return flect.Pluralize(name)
}

// initialisms has initialisms, most of them from staticcheck, that flect does not know.
var initialisms = strings.Fields(`amqp ascii css db gid guid iban isbn qps rpc rtp sip sku sla sms tcp tls ts ttl ui uid utf vat
	vm xml xmpp xsrf xss`)

// goName returns the exported Go name of a name in kebab-case or camelCase: imageUrl2 is ImageURL2.
func goName(name string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(flect.Dasherize(name), "-") {
		letters := strings.TrimRight(word, "0123456789")
		if slices.Contains(initialisms, letters) {
			out.WriteString(strings.ToUpper(letters))
		} else {
			out.WriteString(flect.Pascalize(letters))
		}
		out.WriteString(word[len(letters):])
	}
	return out.String()
}

// variableName returns the unexported Go name of a kebab-case name.
func variableName(name string) string { return flect.Camelize(name) }

// packageName returns the package of a module.
func packageName(module string) string { return strings.ReplaceAll(module, "-", "") }

// inWords converts a kebab-case name to words in a sentence: "API key" for api-key.
func inWords(name string) string {
	words := strings.Split(name, "-")
	for i, word := range words {
		if upper := strings.ToUpper(word); len(word) > 1 && goName(word) == upper {
			words[i] = upper
		}
	}
	return strings.Join(words, " ")
}

// withArticle puts "a" or "an" before words.
func withArticle(words string) string {
	begins := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(strings.ToLower(words), p) })
	}
	vowel := begins("a", "e", "i", "o", "u", "hour", "heir", "honest", "honor", "honour", "html", "http", "sms", "sql", "xml")
	if vowel && !begins("eu", "one", "once", "uni", "use", "usa", "ute", "uti", "uri", "url", "utc", "utf", "udp", "ui", "uuid") {
		return "an " + words
	}
	return "a " + words
}

// suggestCamel returns a valid field name that resembles an invalid name.
func suggestCamel(name string) string { return variableName(naming.Kebab(name, "first-name")) }
