package passwordreset

import (
	"embed"
	"fmt"
	html "html/template"
	"strings"
	text "text/template"
	"time"
	"unicode"

	"example.com/ginseng/internal/mail"
	"example.com/ginseng/modules/user"
)

//go:embed templates
var templates embed.FS

// letter writes the mail. Its words are in templates/reset.txt, whose first line is the subject, and templates/reset.html.
type letter struct {
	text *text.Template
	html *html.Template
}

func newLetter() letter {
	return letter{
		text: text.Must(text.ParseFS(templates, "templates/reset.txt")),
		html: html.Must(html.ParseFS(templates, "templates/reset.html")),
	}
}

// words are what the templates may use.
type words struct {
	Name     string // empty, if hers would read as more than a name
	Link     string
	Lifetime string // of the link, such as "1 hour"
}

// write writes the mail to a user.
func (l letter) write(u user.User, link string, lifetime time.Duration) (*mail.Message, error) {
	w := words{Name: greeting(u.Name), Link: link, Lifetime: inWords(lifetime)}
	var plain, rich strings.Builder
	if err := l.text.Execute(&plain, w); err != nil {
		return nil, fmt.Errorf("passwordreset: the text of the mail: %w", err)
	}
	if err := l.html.Execute(&rich, w); err != nil {
		return nil, fmt.Errorf("passwordreset: the HTML of the mail: %w", err)
	}
	subject, body, _ := strings.Cut(plain.String(), "\n")
	return &mail.Message{
		To: u.Email, Subject: strings.TrimSpace(strings.TrimPrefix(subject, "Subject:")), Text: strings.TrimSpace(body) + "\n", HTML: rich.String(),
	}, nil
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
