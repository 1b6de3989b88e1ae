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

// The templates of the email. {name} is a space and the user's name, or empty; {link} is the link; {lifetime} is its
// lifetime, such as "1 hour". The first line of the text is the subject. text/template would make the binary a quarter
// larger, because it keeps every exported method.
var (
	//go:embed templates/reset.txt
	messageText string
	//go:embed templates/reset.html
	messageHTML string
)

// newMessage returns the email for a user.
func newMessage(u user.User, link string, lifetime time.Duration) *email.Message {
	name := greeting(u.Name)
	if name != "" {
		name = " " + name
	}
	words := map[string]string{"{name}": name, "{link}": link, "{lifetime}": formatDuration(lifetime)}
	subject, body, _ := strings.Cut(fill(messageText, words, func(word string) string { return word }), "\n")
	return &email.Message{
		To: u.Email, Subject: strings.TrimSpace(strings.TrimPrefix(subject, "Subject:")), Text: strings.TrimSpace(body) + "\n",
		HTML: fill(messageHTML, words, html.EscapeString),
	}
}

// fill replaces placeholders by values, in one pass.
func fill(text string, words map[string]string, escape func(string) string) string {
	var pairs []string
	for place, word := range words {
		pairs = append(pairs, place, escape(word))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// greeting returns a name if it is safe in our email, or "". Anyone can sign up with somebody's address and a message as
// the name, and email programs turn URLs into links. So a name may only have letters, spaces and the punctuation of names.
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

// formatDuration formats a duration of at least a minute, such as "1 hour".
func formatDuration(d time.Duration) string {
	n, unit := int(d/time.Minute), "minute"
	if d%time.Hour == 0 {
		n, unit = int(d/time.Hour), "hour"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
