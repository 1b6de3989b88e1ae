package passkey_test

import (
	"strings"
	"testing"

	"example.com/ginseng/modules/passkey"
)

// TestSettings checks which settings are rejected, and the reported reasons.
func TestSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id, origins, reported string
	}{
		"neither":                    {"", "", ""},
		"a page":                     {"example.com", "https://example.com", ""},
		"a page below the domain":    {"example.com", "https://a.b.example.com:8443", ""},
		"localhost":                  {"localhost", "http://localhost:5173", ""},
		"apps only":                  {"example.com", "android:apk-key-hash:AAAA,ios:bundle-id:com.example.app", ""},
		"no origins":                 {"example.com", "", "PASSKEY_ORIGINS"},
		"no domain":                  {"", "https://example.com", "PASSKEY_RP_ID"},
		"a URL as domain":            {"https://example.com", "https://example.com", "PASSKEY_RP_ID"},
		"a port":                     {"example.com:8443", "https://example.com:8443", "PASSKEY_RP_ID"},
		"an IP address":              {"127.0.0.1", "https://127.0.0.1", "PASSKEY_RP_ID"},
		"upper case":                 {"Example.com", "https://example.com", "PASSKEY_RP_ID"},
		"a path":                     {"example.com", "https://example.com/", "PASSKEY_ORIGINS"},
		"plain http":                 {"example.com", "http://example.com", "PASSKEY_ORIGINS"},
		"another domain":             {"example.com", "https://example.org", "PASSKEY_ORIGINS"},
		"a domain with the same end": {"example.com", "https://notexample.com", "PASSKEY_ORIGINS"},
		"a pattern":                  {"example.com", "https://*", "PASSKEY_ORIGINS"},
		"a name":                     {"example.com", "example.com", "PASSKEY_ORIGINS"},
		"an unknown app":             {"example.com", "android:example.com", "PASSKEY_ORIGINS"},
	} {
		s, reported := passkey.Settings{RPID: test.id}, ""
		if test.origins != "" {
			s.Origins = strings.Split(test.origins, ",")
		}
		s.Check(func(name, reason string) { reported += name })
		if reported != test.reported {
			t.Errorf("%s: reported %q, want %q", name, reported, test.reported)
		}
	}
}
