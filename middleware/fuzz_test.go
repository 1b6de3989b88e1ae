package middleware

import (
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
)

// basicOf reads an Authorization header.
func basicOf(header string) (email, password string, given bool) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("POST", "/", nil)
	c.Request.Header["Authorization"] = []string{header}
	return Basic(c)
}

// FuzzBasic gives back whatever a client can send as an e-mail and a password, and takes nothing else for them than
// net/http does.
func FuzzBasic(f *testing.F) {
	f.Add("ada@example.com", "correct horse battery", "Basic YWRhQGV4YW1wbGUuY29tOnBhdGllbmNl")
	f.Add("", ":", "basic  OjoK")
	f.Add("пароль@example.com", "密码\x00", "Basic /+/=")
	f.Add("a", "\xff", "Bearer YTpi")
	f.Add("a\nb", " blanks ", "Basic")
	f.Fuzz(func(t *testing.T, email, password, header string) {
		r := httptest.NewRequest("POST", "/", nil)
		r.SetBasicAuth(email, password)
		gotEmail, gotPassword, given := basicOf(r.Header.Get("Authorization"))
		sendable := !strings.Contains(email, ":") && utf8.ValidString(email+":"+password) // RFC 7617 section 2
		if !given || sendable && (gotEmail != email || gotPassword != password) {
			t.Errorf("%q and %q were sent, %q and %q were read, %v", email, password, gotEmail, gotPassword, given)
		}

		email, password, given = basicOf(header)
		if strings.Contains(email, ":") || !utf8.ValidString(email+password) || !given && email+password != "" {
			t.Errorf("%q: %q and %q, %v", header, email, password, given)
		}
		r.Header.Set("Authorization", header)
		theirEmail, theirPassword, ok := r.BasicAuth()
		if ok && utf8.ValidString(theirEmail+":"+theirPassword) && (!given || email != theirEmail || password != theirPassword) {
			t.Errorf("%q: %q and %q, net/http reads %q and %q", header, email, password, theirEmail, theirPassword)
		}
	})
}

// FuzzRequestID looks for a request id that would break out of a line of the log.
func FuzzRequestID(f *testing.F) {
	for _, id := range []string{"", "mine-1", "a b", "a\nlevel=ERROR", `"`, strings.Repeat("x", 65), "ä", "\x00", "../.."} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		got := incomingID(id)
		if got != "" && got != id || len(got) > 64 || strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'=\\<>&", r) }) {
			t.Errorf("%q became %q", id, got)
		}
	})
}
