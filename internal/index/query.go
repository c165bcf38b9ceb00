package index

import (
	"fmt"
	"strings"
	"unicode"
)

// maxTerms is how many words of a query are looked for.
const maxTerms = 32

// terms are the words of a query that are worth looking for, in lower case and
// each once. Words that say nothing are left out if others are left.
func terms(query string) []string {
	var all, telling []string
	seen := map[string]bool{}
	for _, w := range strings.Fields(strings.ToLower(strings.ToValidUTF8(query, " "))) {
		w = strings.TrimFunc(w, func(r rune) bool { return !wordly(r) })
		if w == "" || seen[w] {
			continue
		}
		seen[w] = true
		all = append(all, w)
		if !stops[strings.ReplaceAll(w, "’", "'")] {
			telling = append(telling, w)
		}
	}
	if len(telling) == 0 {
		telling = all
	}
	return telling[:min(len(telling), maxTerms)]
}

// wordly reports whether a rune is a part of words for the tables of words.
func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// match is an expression of FTS5 for rows of a space with any of the words in
// the given columns. Each word is a string of FTS5, in which nothing has a
// meaning but the quote: no text of a user's is ever syntax. A word with signs in
// it ("R-449A") is a phrase.
func match(space int64, columns string, words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return fmt.Sprintf("space : %s AND {%s} : (%s)", spaceWord(space), columns, strings.Join(quoted, " OR "))
}

// quote makes a word a string of FTS5.
func quote(word string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(word, "\x00", " "), `"`, `""`) + `"`
}

// spaceWord is the word by which rows of a space are found.
func spaceWord(space int64) string { return fmt.Sprintf("s%d", space) }
