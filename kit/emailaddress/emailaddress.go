// Package emailaddress defines the normal form in which email addresses are stored, compared and counted.
package emailaddress

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// maxBytes is the maximum length of an address (RFC 5321 section 4.5.3.1.3, erratum 1690).
const maxBytes = 254

// Normalize returns the normal form of an email address: trimmed, in Unicode normalization form C, with ASCII letters in
// lower case, and with the domain in lower case and in its ASCII form (IDNA 2008, RFC 5891). Other letters before the @ keep
// their case, which only the receiving server can interpret (RFC 5321 section 2.4).
//
// ok is false, and normal is "", if the address has no normal form: a part is missing, IDNA does not allow the domain, or the
// normal form has more than 254 bytes. An address with a character that normalization or conversion to lower case would turn
// into ASCII, such as the Kelvin sign, has none either: it could become somebody else's address.
//
// Normalize does not check the syntax of the address otherwise.
func Normalize(address string) (normal string, ok bool) {
	address = strings.TrimSpace(address)
	if !utf8.ValidString(address) || strings.ContainsFunc(address, becomesASCII) {
		return "", false
	}
	address = norm.NFC.String(lowerASCII(norm.NFC.String(address))) // again: h with a combining macron below has a composed form, H has none
	local, domain := split(address)
	domain, ok = normalizeDomain(domain)
	if normal = local + domain; !ok || len(local) < len("a@") || len(normal) > maxBytes {
		return "", false
	}
	return normal, true
}

// becomesASCII reports whether r is not ASCII, but its lower case or its normalization form C is.
func becomesASCII(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.ToLower(r) < utf8.RuneSelf || norm.NFC.String(string(r))[0] < utf8.RuneSelf)
}

// normalizeDomain returns the ASCII form of a domain whose ASCII letters are in lower case. Domains without internationalized
// labels can have labels that IDNA does not allow, such as r3---a.
func normalizeDomain(domain string) (ascii string, ok bool) {
	international := strings.Contains(domain, "xn--") || strings.ContainsFunc(domain, func(r rune) bool { return r >= utf8.RuneSelf })
	if !international {
		return domain, domain != "" && !strings.HasSuffix(domain, ".") // a domain with a dot at the end is not a normal form
	}
	ascii, err := idna.Registration.ToASCII(norm.NFC.String(strings.ToLower(domain)))
	return ascii, err == nil && !strings.HasSuffix(ascii, ".")
}

// Readable returns a normal form with its domain in Unicode.
func Readable(normal string) string {
	local, domain := split(normal)
	readable, err := idna.Registration.ToUnicode(domain)
	if err != nil {
		return normal
	}
	return local + readable
}

// split splits an address after the last @, which is part of local. Without an @, local is "".
func split(address string) (local, domain string) {
	at := strings.LastIndexByte(address, '@')
	return address[:at+1], address[at+1:]
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}
