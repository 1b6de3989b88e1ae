package passwordreset

import (
	_ "embed"
	"fmt"
	"html"
	"strings"
	"time"
	"unicode"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/modules/user"
)

// The words of the mail. In both files {name} is a blank and the user's name, or nothing; {link} is where the password is
// chosen; {lifetime} is how long the link is good, such as "1 hour". The first line of the text is the subject. They are no
// templates of Go's: these call methods by name, and a program that does bears every method of all it is linked with, here
// a quarter of its size.
var (
	//go:embed templates/reset.txt
	letterText string
	//go:embed templates/reset.html
	letterHTML string
)

// newLetter writes the mail to a user.
func newLetter(u user.User, link string, lifetime time.Duration) *email.Message {
	name := greeting(u.Name)
	if name != "" {
		name = " " + name
	}
	words := map[string]string{"{name}": name, "{link}": link, "{lifetime}": inWords(lifetime)}
	subject, body, _ := strings.Cut(fill(letterText, words, func(word string) string { return word }), "\n")
	return &email.Message{
		To: u.Email, Subject: strings.TrimSpace(strings.TrimPrefix(subject, "Subject:")), Text: strings.TrimSpace(body) + "\n",
		HTML: fill(letterHTML, words, html.EscapeString),
	}
}

// fill puts words in their places. What is put in is not looked at again.
func fill(text string, words map[string]string, escape func(string) string) string {
	var pairs []string
	for place, word := range words {
		pairs = append(pairs, place, escape(word))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// greeting is a name as it may stand in a mail that bears our address. Anyone can sign up with somebody's e-mail and a
// name that is a message of theirs, and mail programs make links of what looks like one: so a name with more than
// letters, blanks and the marks that names have is left out.
func greeting(name string) string {
	runes := []rune(name)
	for i, r := range runes {
		abbreviates := r == '.' && (i+1 == len(runes) || runes[i+1] == ' ')
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune(" -'’", r) && !abbreviates {
			return ""
		}
	}
	return name
}

// inWords writes a duration of at least a minute as a person would.
func inWords(d time.Duration) string {
	n, unit := int(d/time.Minute), "minute"
	if d%time.Hour == 0 {
		n, unit = int(d/time.Hour), "hour"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
