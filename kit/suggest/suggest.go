// Package suggest finds the word that a misspelled one stands for.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxDistance is the number of letters in which a misspelled word can differ.
const maxDistance = 2

// Nearest returns the known word with the fewest other letters, at most two, regardless of case; "" if there is none.
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
