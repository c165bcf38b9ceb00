package script

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
)

var label = regexp.MustCompile(`^agent[0-9]+$`)

// ordered puts answers in the order a word stands for, the one it picks first.
// What the word does not tell apart stays in the order of labels.
func ordered(as []Answer, word string) []Answer {
	out := slices.Clone(as)
	slices.SortStableFunc(out, func(a, b Answer) int {
		labels := byLabel(a.Label, b.Label)
		switch word {
		case "longest":
			return cmp.Or(cmp.Compare(len(b.Text), len(a.Text)), labels)
		case "shortest":
			return cmp.Or(cmp.Compare(len(a.Text), len(b.Text)), labels)
		case "last":
			return -labels
		case "self":
			return cmp.Or(first(a.Yours, b.Yours), labels)
		case "other":
			return cmp.Or(first(b.Yours, a.Yours), labels)
		}
		return labels
	})
	return out
}

// first puts the true one first.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// pick is the label a word or label stands for.
func (s *Scene) pick(word string) (string, error) {
	if label.MatchString(word) {
		return word, nil
	}
	order := ordered(s.Answers, word)
	if len(order) == 0 || word == "self" && !order[0].Yours || word == "other" && order[0].Yours {
		return "", fmt.Errorf("there is no answer to vote for as %q", word)
	}
	return order[0].Label, nil
}

// rank is a whole order: that of the one word given, or what a list names.
func (s *Scene) rank(words []string) ([]string, error) {
	var out []string
	if len(words) == 1 && !label.MatchString(words[0]) {
		for _, a := range ordered(s.Answers, words[0]) {
			out = append(out, a.Label)
		}
		return out, nil
	}
	for _, w := range words {
		l, err := s.pick(w)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out, nil
}
