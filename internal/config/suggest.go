package config

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// nearest is the known word that was probably meant, or "".
func nearest(word string, known []string) string {
	word = strings.ReplaceAll(strings.ToLower(word), "-", "_")
	best, at := "", max(1, min(len(word), 30)/3)+1
	for _, k := range known {
		if d := Slips(word, strings.ToLower(k)); d < at {
			best, at = k, d
		}
	}
	return best
}

// Slips is how many slips of the hand lie between two words: a letter too many,
// too few or another one, or two that changed places.
func Slips(a, b string) int {
	least := levenshtein.ComputeDistance(a, b)
	for i := 0; i+1 < len(a) && least > 1; i++ {
		turned := a[:i] + a[i+1:i+2] + a[i:i+1] + a[i+2:]
		least = min(least, 1+levenshtein.ComputeDistance(turned, b))
	}
	return least
}

// didYouMean is a suggestion, or "" if nothing is near.
func didYouMean(word string, known []string) string {
	if len(word) > 100 {
		return ""
	}
	if best := nearest(word, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return ""
}

// oneOf lists words for a sentence: "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// secret reports whether a path leads to something that must not be shown.
func secret(path string) bool {
	words := strings.FieldsFunc(strings.ToLower(path), func(c rune) bool { return strings.ContainsRune("._-[] ", c) })
	for i, w := range words {
		switch w {
		case "token", "secret", "secrets", "password", "passwd", "passphrase", "apikey", "credential", "credentials", "authorization", "bearer":
			return true
		case "key", "keys":
			if i > 0 && (words[i-1] == "api" || words[i-1] == "access" || words[i-1] == "private") {
				return true
			}
		}
	}
	return false
}
