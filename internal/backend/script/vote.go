package script

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// isLabel reports whether w is an agent's label, such as agent2.
func isLabel(w string) bool {
	n, ok := strings.CutPrefix(w, "agent")
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}

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

// among is the answers that fit, or all of them if none does.
func among(as []Answer, re *regexp.Regexp) []Answer {
	var out []Answer
	for _, a := range as {
		if matches(re, a.Text) {
			out = append(out, a)
		}
	}
	if out == nil {
		return as
	}
	return out
}

// pick is the label a word or label stands for.
func pick(from []Answer, word string) (string, error) {
	if isLabel(word) {
		return word, nil
	}
	order := ordered(from, word)
	if len(order) == 0 || word == "self" && !order[0].Yours || word == "other" && order[0].Yours {
		return "", fmt.Errorf("there is no answer to vote for as %q", word)
	}
	return order[0].Label, nil
}

// rank is a whole order: that of the one word given, or what a list names.
func (s *Scene) rank(words []string) ([]string, error) {
	var out []string
	if len(words) == 1 && !isLabel(words[0]) {
		for _, a := range ordered(s.Answers, words[0]) {
			out = append(out, a.Label)
		}
		return out, nil
	}
	for _, w := range words {
		l, err := pick(s.Answers, w)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out, nil
}
