package user

import (
	_ "embed"
	"strings"
	"unicode"
)

// EmailLayout is the layout of every email; see email.NewTemplate.
//
//go:embed emails/layout.html
var EmailLayout string

// The limits of a name in an email.
const (
	maxGreeting      = 40 // characters
	maxGreetingWords = 4
)

// Greeting returns a space and the user's name, or "" if the name is not safe in our email. Anyone can sign up with
// somebody's address and a message as the name, and email programs turn URLs into links. So the name must be short and may
// only have letters, spaces and the punctuation of names.
func (u User) Greeting() string {
	runes := []rune(u.Name)
	if len(runes) > maxGreeting || len(strings.Fields(u.Name)) > maxGreetingWords {
		return ""
	}
	for i, r := range runes {
		abbreviates := r == '.' && (i+1 == len(runes) || runes[i+1] == ' ')
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune(" -'’", r) && !abbreviates {
			return ""
		}
	}
	if len(runes) == 0 {
		return ""
	}
	return " " + u.Name
}
