package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// FenceOf is a fence that texts cannot foretell, because it is made of them; and
// that is the same for the same texts, so that a prompt which says the same is the
// same.
func FenceOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:])[:16]
}
