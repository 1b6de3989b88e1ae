// Package suggest suggests a known word for a misspelled word.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxDistance is the maximum number of letters that must be added, removed or replaced to correct a word.
const maxDistance = 2

// Nearest returns the word in known with the smallest Levenshtein distance to word, regardless of case. It ignores a known word
// if the distance is greater than maxDistance, or is not less than the length of the known word. It returns "" if no word
// remains.
func Nearest(word string, known []string) string {
	best, least := "", maxDistance+1
	for _, candidate := range known {
		distance := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(candidate))
		if distance < min(least, len(candidate)) {
			best, least = candidate, distance
		}
	}
	return best
}
