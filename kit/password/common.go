// Package password knows the passwords that are guessed first, and hashes the others.
package password

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed common.txt
var commonText string

var common = sync.OnceValue(func() map[string]bool {
	set := make(map[string]bool)
	for line := range strings.Lines(commonText) {
		if word := strings.TrimSpace(line); word != "" && word[0] != '#' {
			set[word] = true
		}
	}
	return set
})

// IsCommon reports whether a password is on the embedded list of the most common ones, in whatever case (OWASP
// Authentication Cheat Sheet, NIST SP 800-63B section 5.1.1.2).
func IsCommon(password string) bool { return common()[strings.ToLower(password)] }
