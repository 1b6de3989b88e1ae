package passwordreset

import (
	"strings"
	"testing"
	"time"

	tokens "golang.org/x/net/html"

	"example.com/ginseng/modules/user"
)

const aToken = "Zk3n0cXGk2-_Zk3n0cXGk2-_Zk3n0cXGk2-_Zk3n0cX"

// texts returns the visible text, the targets of the links, and the elements of an HTML page.
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
		"J. R. R. Tolkien":                true,
		"Ada Lovelace Jr.":                true,
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
		"Your account ends today call us": false,
		"Ada\u202e":                       false,
		"Ada\u2028x":                      false,
	} {
		m := newMessage(user.User{Email: "ada@example.com", Name: name}, link, 90*time.Minute)
		greeting := "Hello,"
		if shown {
			greeting = "Hello " + name + ","
		}
		page, hrefs, elements := texts(t, m.HTML)
		if m.To != "ada@example.com" || !strings.HasPrefix(m.Subject, "Choose a new password") {
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
