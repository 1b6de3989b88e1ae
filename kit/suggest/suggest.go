// Package suggest finds the word that a misspelled one probably stands for.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxDistance is the maximum number of letters that are added, removed or replaced in a misspelled word.
const maxDistance = 2

// Nearest returns the known word with the smallest Levenshtein distance to word, regardless of case; "" if all differ by
// more than maxDistance.
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
