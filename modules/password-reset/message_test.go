package passwordreset

import (
	"html"
	"strings"
	"testing"
	"time"

	tokens "golang.org/x/net/html"

	"example.com/ginseng/modules/user"
)

// texts parses HTML: the visible text, the targets of the links, and the elements.
func texts(t *testing.T, page string) (shown string, hrefs []string, elements map[string]bool) {
	t.Helper()
	elements = map[string]bool{}
	for z := tokens.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case tokens.ErrorToken:
			return shown, hrefs, elements
		case tokens.TextToken:
			shown += z.Token().Data
		case tokens.StartTagToken:
			tag := z.Token()
			elements[tag.Data] = true
			for _, a := range tag.Attr {
				if a.Key == "href" {
					hrefs = append(hrefs, a.Val)
				}
			}
		}
	}
}

func TestNewMessage(t *testing.T) {
	t.Parallel()
	link := "https://app.example.com/reset/" + aToken + "?a=1&b='(x)'#c"
	for name, shown := range map[string]bool{
		"Ada":                             true,
		"Ada Lovelace-King":               true,
		"Søren Ó Conaill":                 true,
		"Sinéad O'Connor":                 true,
		"J. R. R. Tolkien Jr.":            true,
		"नरेन्द्र":                        true,
		"李小龍":                             true,
		"":                                false,
		"ada.lovelace":                    false,
		"evil.example":                    false,
		"evil。example":                    false,
		"https://evil.example/":           false,
		"Ada, log in at //evil":           false,
		"ada@evil.example":                false,
		"<b>Ada</b>":                      false,
		"<script>alert(1)</script>":       false,
		`"><a href="https://evil.example`: false,
		"{link}":                          false,
		"Ada\r\nBcc: eve@evil.example":    false,
		"Ada\n\nYour bill is due":         false,
		"Call 0900 123456":                false,
		"Ada\u202e":                       false,
		"Ada\u2028x":                      false,
	} {
		m := newMessage(user.User{Email: "ada@example.com", Name: name}, link, 90*time.Minute)
		greeting := "Hello,"
		if shown {
			greeting = "Hello " + name + ","
		}
		page, hrefs, elements := texts(t, m.HTML)
		if m.To != "ada@example.com" || m.Subject != "Choose a new password for Ginseng" {
			t.Errorf("%q: to %q, subject %q", name, m.To, m.Subject)
		}
		if !strings.HasPrefix(m.Text, greeting+"\n\n") || !strings.Contains(m.Text, "\n\n"+link+"\n\n") || !strings.Contains(m.Text, "within 90 minutes:") {
			t.Errorf("%q: %s", name, m.Text)
		}
		if !strings.Contains(page, greeting) || !strings.Contains(page, link) || !strings.Contains(page, "within 90 minutes:") {
			t.Errorf("%q: %s", name, m.HTML)
		}
		if len(hrefs) != 2 || hrefs[0] != link || hrefs[0] != hrefs[1] || elements["script"] || elements["b"] {
			t.Errorf("%q: has links to %v", name, hrefs)
		}
		if strings.Contains(m.Text+m.HTML, "evil") {
			t.Errorf("the email contains %q", name)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Minute: "1 minute", 90 * time.Second: "1 minute", 30 * time.Minute: "30 minutes", time.Hour: "1 hour",
		90 * time.Minute: "90 minutes", 24 * time.Hour: "24 hours",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

// TestFillEscapes checks that the HTML is safe for any name and link, and that values are not searched for
// placeholders.
func TestFillEscapes(t *testing.T) {
	t.Parallel()
	const name, link = " <b>Ada</b>{link}{lifetime}", `"><script>alert('1')</script>&lt;`
	page := fill(messageHTML, map[string]string{"{name}": name, "{link}": link, "{lifetime}": "<i>{name}"}, html.EscapeString)
	shown, hrefs, elements := texts(t, page)
	if !strings.Contains(shown, "Hello"+name+",") || !strings.Contains(shown, "within <i>{name}:") || len(hrefs) != 2 || hrefs[0] != link || hrefs[1] != link {
		t.Errorf("%q: links to %q", shown, hrefs)
	}
	if elements["b"] || elements["i"] || elements["script"] {
		t.Errorf("elements %v", elements)
	}
}
