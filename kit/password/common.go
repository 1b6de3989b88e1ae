// Package password hashes passwords and recognizes common ones.
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

// IsCommon reports whether a password is in the embedded list of common passwords, in any case (OWASP Authentication Cheat
// Sheet, NIST SP 800-63B section 5.1.1.2).
func IsCommon(password string) bool { return common()[strings.ToLower(password)] }
