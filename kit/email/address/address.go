// Package address defines the normal form in which email addresses are stored, compared and counted.
package address

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// maxBytes is the maximum length of an address (RFC 5321 section 4.5.3.1.3; RFC 3696 erratum 1690).
const maxBytes = 254

// Normalize returns the normal form of an email address: without spaces around it, without needless quotes and backslashes
// before the @, in Unicode normalization form C, with ASCII letters in lower case, and with the domain in lower case and in its
// ASCII form (IDNA 2008, RFC 5891). Non-ASCII letters before the @ keep their case, which only the receiving server can interpret
// (RFC 5321 section 2.4).
//
// If the address has no normal form, ok is false and normal is "". An address has no normal form if it is not valid UTF-8, a
// part is missing, the domain ends with a dot, IDNA does not allow the domain, or the normal form would have more than 254
// bytes. An address also has no normal form if normalization or conversion to lower case would turn one of its characters into
// ASCII, such as the Kelvin sign into k. Otherwise, the address could become another user's address.
//
// Normalize does not check the rest of the syntax of the address.
func Normalize(address string) (normal string, ok bool) {
	address = strings.TrimSpace(address)
	if !utf8.ValidString(address) || strings.ContainsFunc(address, becomesASCII) {
		return "", false
	}
	local, domain := split(address)
	address = unquote(local) + domain
	address = compose(address)
	local, domain = split(address)
	domain, ok = normalizeDomain(domain)
	if normal = local + domain; !ok || len(local) < len("a@") || len(normal) > maxBytes {
		return "", false
	}
	return normal, true
}

// unquote removes needless quotes and backslashes from the part of an address before the domain, which ends with the @: they do not
// change the mailbox (RFC 5321 section 4.1.2, RFC 5322 section 3.2.4). It returns a part that is not a well-formed quoted string
// unchanged.
func unquote(local string) string {
	quoted, ok := strings.CutPrefix(strings.TrimSuffix(local, "@"), `"`)
	quoted, closed := strings.CutSuffix(quoted, `"`)
	if !ok || !closed {
		return local
	}
	var unescaped strings.Builder
	for i := 0; i < len(quoted); i++ {
		if quoted[i] == '"' {
			return local
		}
		if quoted[i] == '\\' {
			if i++; i == len(quoted) {
				return local
			}
		}
		unescaped.WriteByte(quoted[i])
	}
	content := compose(unescaped.String()) // a mark can compose with < to a character that needs no quotes
	if isDotString(content) {
		return content + "@"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(content) + `"@`
}

// compose returns s in normalization form C with ASCII letters in lower case.
func compose(s string) string {
	return norm.NFC.String(lowerASCII(norm.NFC.String(s))) // NFC again: a mark can compose with h, but not with H
}

// isDotString reports whether s needs no quotes: s consists of atoms with a dot between them (Dot-string in RFC 5321 section
// 4.1.2). An atom can have characters that are not ASCII (RFC 6531 section 3.3), except spaces here, which Normalize would trim.
func isDotString(s string) bool {
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" || strings.ContainsFunc(atom, func(r rune) bool {
			return r < utf8.RuneSelf && !isAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r) || unicode.IsSpace(r) || unicode.IsControl(r)
		}) {
			return false
		}
	}
	return true
}

func isAlphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}

// becomesASCII reports whether r is not ASCII, but its lower-case form or its normalization form C begins with an ASCII
// character.
func becomesASCII(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.ToLower(r) < utf8.RuneSelf || norm.NFC.String(string(r))[0] < utf8.RuneSelf)
}

// normalizeDomain returns the ASCII form of a domain whose ASCII letters are in lower case. It does not apply IDNA to a domain
// without internationalized labels, because IDNA would reject some valid labels, such as r3---a.
func normalizeDomain(domain string) (ascii string, ok bool) {
	international := strings.Contains(domain, "xn--") || strings.ContainsFunc(domain, func(r rune) bool { return r >= utf8.RuneSelf })
	if !international {
		return domain, domain != "" && !strings.HasSuffix(domain, ".") // the normal form of a domain does not end with a dot
	}
	ascii, err := idna.Registration.ToASCII(norm.NFC.String(strings.ToLower(domain)))
	return ascii, err == nil && !strings.HasSuffix(ascii, ".")
}

// Readable converts the domain of normal, an address in normal form, to Unicode. If the conversion fails, Readable returns
// normal unchanged.
func Readable(normal string) string {
	local, domain := split(normal)
	readable, err := idna.Registration.ToUnicode(domain)
	if err != nil {
		return normal
	}
	return local + readable
}

// split splits an address after the last @, so that local ends with the @. Without an @, local is "".
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
