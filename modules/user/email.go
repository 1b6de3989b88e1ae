package user

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// NormalEmail returns the form in which an email address is stored and compared: trimmed, ASCII letters in lower case, in
// Unicode normalization form C, and with the domain in lower case and in its ASCII form (IDNA, RFC 5891). Other letters
// before the @ keep their case, which only the receiving server can interpret (RFC 5321 section 2.4). An address with a
// character that would become ASCII, such as the Kelvin sign, and a domain that IDNA does not allow, stay as they are: they
// must not become somebody else's address.
func NormalEmail(email string) string {
	email = lowerASCII(strings.TrimSpace(email))
	if strings.ContainsFunc(email, becomesASCII) {
		return email
	}
	local, domain := splitEmail(norm.NFC.String(email))
	if ascii, err := idna.Registration.ToASCII(strings.ToLower(domain)); err == nil {
		domain = ascii
	}
	return local + domain
}

// becomesASCII reports whether r is not ASCII, but its lower case or normalization form C is.
func becomesASCII(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.ToLower(r) < utf8.RuneSelf || norm.NFC.String(string(r))[0] < utf8.RuneSelf)
}

// emailForms returns the forms in which the account of an address can be stored: the normal form, and those that earlier
// versions stored: the address as it was typed, with a domain in Unicode, also with its letters other than ASCII in upper
// case, and each of them decomposed. An account with another mixture of cases is found only by the address as it was typed.
// The first form is the closest to email.
func emailForms(email string) []string {
	normal := NormalEmail(email)
	forms := []string{lowerASCII(strings.TrimSpace(email))}
	local, domain := splitEmail(normal)
	if readable, err := idna.Registration.ToUnicode(domain); err == nil {
		domain = readable
	}
	for _, form := range []string{normal, local + domain, local + lowerASCII(strings.ToUpper(domain))} {
		for _, form := range []string{form, norm.NFD.String(form)} {
			if !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// emailWords returns a normal address with its domain in Unicode, or "" if that is the same.
func emailWords(normal string) string {
	local, domain := splitEmail(normal)
	if readable, err := idna.Registration.ToUnicode(domain); err == nil && readable != domain {
		return local + readable
	}
	return ""
}

// splitEmail splits an address after the last @.
func splitEmail(email string) (local, domain string) {
	at := strings.LastIndexByte(email, '@')
	return email[:at+1], email[at+1:]
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}
