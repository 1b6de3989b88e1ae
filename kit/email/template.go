package email

import (
	"fmt"
	"html"
	"io/fs"
	"strings"
	"time"
)

// Template is an email with placeholders, such as {link}, as text and as HTML. html/template is not used: it makes the
// linker keep every exported method, and the binary grows by a quarter.
type Template struct{ subject, text, html string }

// NewTemplate reads emails/NAME.txt, whose first line is "Subject: …", and emails/NAME.html, which replaces {content} in the
// layout; {subject} in the layout is the subject. It panics if a file is missing or has no subject.
func NewTemplate(files fs.FS, name, layout string) *Template {
	read := func(file string) string {
		content, err := fs.ReadFile(files, file)
		if err != nil {
			panic(fmt.Errorf("email template: %w; add the file", err))
		}
		return string(content)
	}
	first, text, _ := strings.Cut(read("emails/"+name+".txt"), "\n")
	subject, found := strings.CutPrefix(first, "Subject:")
	if !found {
		panic(fmt.Errorf(`email template: emails/%s.txt: the first line must be "Subject: …"`, name))
	}
	page := strings.NewReplacer("{content}", read("emails/"+name+".html"), "{subject}", html.EscapeString(strings.TrimSpace(subject)))
	return &Template{subject: strings.TrimSpace(subject), text: strings.TrimSpace(text) + "\n", html: page.Replace(layout)}
}

// Message returns an email, in which values["link"] replaces {link}, escaped in the HTML. Values are not searched for
// placeholders.
func (t *Template) Message(to string, values map[string]string) *Message {
	var plain, escaped []string
	for name, value := range values {
		plain = append(plain, "{"+name+"}", value)
		escaped = append(escaped, "{"+name+"}", html.EscapeString(value))
	}
	text := strings.NewReplacer(plain...)
	return &Message{To: to, Subject: text.Replace(t.subject), Text: text.Replace(t.text), HTML: strings.NewReplacer(escaped...).Replace(t.html)}
}

// FormatDuration formats a duration of at least a minute in the largest unit that divides it, such as "90 minutes" or "7
// days". One day is "24 hours". It leaves out seconds.
func FormatDuration(d time.Duration) string {
	n, unit := int(d/time.Minute), "minute"
	switch day := 24 * time.Hour; {
	case d%day == 0 && d > day:
		n, unit = int(d/day), "day"
	case d%time.Hour == 0:
		n, unit = int(d/time.Hour), "hour"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// Preview is an example of an email.
type Preview struct {
	Name    string // unique in the service
	Message *Message
}
