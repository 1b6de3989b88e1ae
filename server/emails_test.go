package server

import (
	"io"
	"strings"
	"testing"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/route"
)

// previewed is a module with emails.
type previewed struct{ routes }

func (previewed) Parts() kit.Parts {
	return kit.Parts{EmailPreviews: func() []email.Preview {
		return []email.Preview{{Name: "hello", Message: &email.Message{To: "ada@example.com", Subject: "Hello <you>", Text: "Hello\n", HTML: "<p>Hello</p>"}}}
	}}
}

// TestEmails checks that emails are shown in development only.
func TestEmails(t *testing.T) {
	t.Parallel()
	for _, development := range []bool{true, false} {
		s := newHandler(t, io.Discard, func(*route.Router) {}, func(o *HandlerOptions) {
			o.Deps.Development = development
			o.Modules = append(o.Modules, previewed{func(*route.Router) {}})
		})
		for path, want := range map[string]string{
			"/dev/emails":            `<td>hello<td>Hello &lt;you&gt;<td><a href="emails/hello.html">`,
			"/dev/emails/hello.html": "<p>Hello</p>",
			"/dev/emails/hello.txt":  "To: ada@example.com\nSubject: Hello <you>\n\nHello\n",
		} {
			w := do(s, "GET", path, "", "")
			if !development {
				if w.Code != 404 {
					t.Errorf("%s in production: status %d", path, w.Code)
				}
				continue
			}
			if w.Code != 200 || !strings.Contains(w.Body.String(), want) || w.Header().Get("Content-Security-Policy") != emailsPolicy {
				t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
			}
		}
		if w := do(s, "GET", "/dev/emails/x.html", "", ""); w.Code != 404 {
			t.Errorf("an unknown email: status %d", w.Code)
		}
		if got := strings.Contains(strings.Join(s.Routes(), " "), "/dev/"); got != development {
			t.Errorf("development %t: routes %v", development, s.Routes())
		}
	}
}
