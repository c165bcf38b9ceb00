package index

import (
	"strings"
	"unicode"
)

// stops are words that say nothing about what an English text is about. They are
// left out of queries, unless a query has no others.
var stops = set(`a about above after again all am an and any are as at be because been before being below between both but by
can could did do does doing down during each few for from further had has have having he her here hers him his how i if in into is it
its just me more most my no nor not now of off on once only or other our out over own same she should so some such than that the their
them then there these they this those through to too under until up very was we were what when where which while who whom why will with
would you your`)

// signs are words that are frequent in other languages with Latin letters and
// are not English words: some of German, French, Spanish, Italian, Portuguese,
// Dutch, Swedish, Danish and Polish.
var signs = set(`der die das und ist nicht ein eine einen dem den des mit für auf wird werden sich von zu auch bei nach wie oder sind wurde kann wir
le les des et est une dans pour pas que qui sur avec sont par plus cette nous vous aux du
el los las y es en por con una para como pero más su lo del
il che di per non gli sono della nel alla questo anche
os não uma com mais ao dos são pelo foi
het een van niet zijn voor met ook naar wordt deze maar
och att är som det inte på med för av ett har kan
og ikke til af
nie się jest na przez oraz`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// readFirst is how much of a document is looked at to tell its language.
const readFirst = 64 << 10

// otherLanguage guesses whether a text is in another language than English: it is
// in another script, or has more words that only other languages use than
// English ones. What is no prose at all (tables, code) counts as English.
func otherLanguage(text string) bool {
	if len(text) > readFirst {
		text = text[:readFirst]
	}
	letters, latin := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(unicode.Latin, r) {
				latin++
			}
		}
	}
	if letters > 0 && letters-latin > letters/3 {
		return true
	}
	words, english, other := 0, 0, 0
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		words++
		if stops[w] {
			english++
		}
		if signs[w] {
			other++
		}
	}
	return other >= 2 && other > english && other*12 >= words
}
