package event

import (
	"crypto/sha256"
	"encoding/hex"
)

// InlineMax is the size up to which text travels inside its event. Anything
// larger is a blob, durable before the event that names it.
const InlineMax = 4 << 10

// A Hash is the lower-case hexadecimal SHA-256 of a blob.
type Hash string

// HashOf names the blob that holds p.
func HashOf(p []byte) Hash {
	sum := sha256.Sum256(p)
	return Hash(hex.EncodeToString(sum[:]))
}

// Content is text inside a fact: inline when it is short, otherwise the hash of
// a blob. Size is its length in bytes either way. The zero value is no text.
type Content struct {
	Text string `json:"text,omitempty"`
	Blob Hash   `json:"blob,omitempty"`
	Size int    `json:"size,omitempty"`
}

// Inline is s as content that travels in its event, whatever its size.
func Inline(s string) Content { return Content{Text: s, Size: len(s)} }

// Empty reports whether there is no text at all.
func (c Content) Empty() bool { return c.Size == 0 }
