package minilm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"conclave/internal/embed/minilm/weights"
)

// A vocab cuts text into the pieces the model knows, as BERT's tokenizer without
// case does.
type vocab struct {
	ids                 map[string]int32
	unknown, begin, end int32
}

func newVocab(words []string) vocab {
	v := vocab{ids: make(map[string]int32, len(words))}
	for i, w := range words {
		v.ids[w] = int32(i)
	}
	v.unknown, v.begin, v.end = v.ids["[UNK]"], v.ids["[CLS]"], v.ids["[SEP]"]
	return v
}

// maxWord is the length in runes from which on a word is unknown as a whole.
const maxWord = 100

// pieces are the numbers of the pieces of a text between a mark for the beginning
// and one for the end, as many as the model has positions for.
func (v *vocab) pieces(text string) []int32 {
	ids := append(make([]int32, 0, weights.Positions), v.begin)
	room := weights.Positions - 1
	eachWord(text, func(word string) bool {
		ids = v.cut(ids, word)
		return len(ids) < room
	})
	return append(ids[:min(len(ids), room)], v.end)
}

// cut appends the pieces of a word: always the longest that fits.
func (v *vocab) cut(ids []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > maxWord {
		return append(ids, v.unknown)
	}
	start := len(ids)
	for rest, prefix := word, ""; rest != ""; prefix = "##" {
		end := len(rest)
		id, ok := int32(0), false
		for end > 0 {
			if id, ok = v.ids[prefix+rest[:end]]; ok {
				break
			}
			_, n := utf8.DecodeLastRuneInString(rest[:end])
			end -= n
		}
		if !ok {
			return append(ids[:start], v.unknown)
		}
		ids, rest = append(ids, id), rest[end:]
	}
	return ids
}

// eachWord calls back with the words of a text in lower case and without accents
// until it answers false. Punctuation and Chinese characters are words of their
// own.
func eachWord(text string, each func(string) bool) {
	var word strings.Builder
	flush := func() bool {
		if word.Len() == 0 {
			return true
		}
		w := word.String()
		word.Reset()
		return each(w)
	}
	for rest := text; rest != ""; {
		// What is decomposed is decomposed in short stretches, so that a long text
		// costs no more than what is read of it.
		n := min(len(rest), 256)
		for n < len(rest) && !norm.NFD.PropertiesString(rest[n:]).BoundaryBefore() && n < 1024 {
			n++
		}
		for _, r := range norm.NFD.String(strings.ToValidUTF8(rest[:n], "")) {
			switch {
			case unicode.IsSpace(r):
				if !flush() {
					return
				}
			case unicode.Is(unicode.C, r) || r == utf8.RuneError || unicode.Is(unicode.Mn, r):
			case punctuation(r) || chinese(r):
				if !flush() || !each(string(r)) {
					return
				}
			default:
				word.WriteRune(unicode.ToLower(r))
			}
		}
		rest = rest[n:]
	}
	flush()
}

// punctuation is what BERT takes for it: some of ASCII's symbols, too.
func punctuation(r rune) bool {
	return r > ' ' && r < 0x7f && !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') || unicode.Is(unicode.P, r)
}

func chinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
