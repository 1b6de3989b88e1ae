package middleware

import (
	"strings"
	"testing"
)

// FuzzRequestID looks for a request ID that would end a line of the log.
func FuzzRequestID(f *testing.F) {
	for _, id := range []string{"", "mine-1", "a b", "a\nlevel=ERROR", `"`, strings.Repeat("x", 65), "ä", "\x00", "../.."} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		got := validID(id)
		if got != "" && got != id || len(got) > 64 || strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'=\\<>&", r) }) {
			t.Errorf("%q became %q", id, got)
		}
	})
}
