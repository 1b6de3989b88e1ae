package email

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/net/html"
)

const layout = `<title>{subject}</title><body>{content}</body>`

func templateFiles(text string) fstest.MapFS {
	return fstest.MapFS{
		"emails/reset.txt":  {Data: []byte(text)},
		"emails/reset.html": {Data: []byte("<p>Hello{name},</p><a href=\"{link}\">{link}</a> within {lifetime}\n")},
	}
}

// TestTemplate checks that the HTML is safe for any value, and that values are not searched for placeholders.
func TestTemplate(t *testing.T) {
	t.Parallel()
	const name, link = " <b>Ada</b>{link}{lifetime}", `"><script>alert('1')</script>&lt;`
	m := NewTemplate(templateFiles("Subject: A <new> password for{name}\r\n\r\nHello{name},\n{link}\n"), "reset", layout).
		Message("ada@example.com", map[string]string{"name": name, "link": link, "lifetime": "<i>{name}"})
	if m.To != "ada@example.com" || m.Subject != "A <new> password for"+name || m.Text != "Hello"+name+",\n"+link+"\n" {
		t.Errorf("%+v", m)
	}
	shown, href := "", ""
	for z := html.NewTokenizer(strings.NewReader(m.HTML)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if want := "A <new> password for" + name + "Hello" + name + "," + link + " within <i>{name}\n"; shown != want || href != link {
				t.Errorf("%q, link to %q, want %q", shown, href, want)
			}
			return
		case html.TextToken:
			shown += z.Token().Data
		case html.StartTagToken:
			tag := z.Token()
			if tag.Data != "title" && tag.Data != "body" && tag.Data != "p" && tag.Data != "a" {
				t.Errorf("element %s", tag.Data)
			}
			for _, a := range tag.Attr {
				href = a.Val
			}
		}
	}
}

// TestTemplateMistakes checks the errors for files that a person has edited.
func TestTemplateMistakes(t *testing.T) {
	t.Parallel()
	for want, files := range map[string]fstest.MapFS{
		`emails/reset.txt: the first line must be "Subject: …"`: templateFiles("Hello\n"),
		"emails/reset.txt: file does not exist":                 {},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			}()
			NewTemplate(files, "reset", layout)
		}()
	}
}

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Minute: "1 minute", 90 * time.Second: "1 minute", 30 * time.Minute: "30 minutes", time.Hour: "1 hour",
		90 * time.Minute: "90 minutes", 24 * time.Hour: "24 hours", 7 * 24 * time.Hour: "7 days",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
