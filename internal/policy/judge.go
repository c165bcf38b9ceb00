package policy

import (
	"cmp"
	"fmt"
	"slices"
)

// Judge decides about an action. What is denied stays denied; a person's own
// permission comes before the rules that ask, and those before the ones that
// allow. A rule to deny or ask that cannot be read is held to mean everything.
//
// A rule about commands is compared with the words of each simple command in a
// line, never with its text. To allow, it has to be every command's, word by
// word, and each word has to stand there as it is: no variable, substitution,
// pattern, assignment or file for its output. To ask or deny it is enough that
// one command may begin with the rule's words, by itself or carried by another
// (sudo, env, xargs, sh -c).
//
// What a call does besides is judged too, and the strictest decision holds.
func (p Permissions) Judge(a Action) Verdict {
	given := slices.Contains(p.Given, a.Hash())
	out := p.judge(a, given)
	for _, more := range a.Also {
		if v := p.judge(more, given); severity[v.Decision] > severity[out.Decision] {
			out = v
		}
	}
	return out
}

// severity puts the decisions in order.
var severity = map[Decision]int{Allow: 0, Ask: 1, Deny: 2}

func (p Permissions) judge(a Action, given bool) Verdict {
	if p.ReadOnly && a.Kind != Read && a.Kind != URL {
		return denied("This agent may only read, and to %s is more than that. Say in your answer what should be done.", cmp.Or(deeds[a.Kind], string(a.Kind)))
	}
	if r, ok := first(p.Deny, a, maybe); ok {
		return Verdict{Decision: Deny, Rule: r, Reason: fmt.Sprintf("The rule %q denies this. Do it another way or leave it.", r)}
	}
	if given {
		return Verdict{Decision: Allow, Reason: "A person has allowed exactly this for good."}
	}
	if r, ok := first(p.Ask, a, maybe); ok {
		return Verdict{Decision: Ask, Rule: r, Reason: fmt.Sprintf("The rule %q wants a person to be asked.", r)}
	}
	if r, ok := first(p.Allow, a, surely); ok {
		return Verdict{Decision: Allow, Rule: r, Reason: fmt.Sprintf("The rule %q allows this.", r)}
	}
	return p.otherwise(a)
}

// otherwise decides where no rule fits.
func (p Permissions) otherwise(a Action) Verdict {
	switch p.Otherwise {
	case Allow:
		return Verdict{Decision: Allow, Reason: "No rule is about this, and then it is allowed."}
	case Ask:
		return Verdict{Decision: Ask, Reason: "No rule is about this, and then a person is asked."}
	case "":
		if a.Kind == Command && !a.Boxed {
			return Verdict{Decision: Ask, Reason: "A command outside any sandbox can do anything: a person is asked."}
		}
		return Verdict{Decision: Allow}
	}
	return Verdict{Decision: Deny, Reason: "No rule allows this, and then it is denied. Do it another way or leave it."}
}

// first is the first rule that fits.
func first(rules []string, a Action, s sense) (string, bool) {
	for _, text := range rules {
		r, err := parseRule(text)
		if err != nil && s == maybe || err == nil && r.fits(a, s) {
			return text, true
		}
	}
	return "", false
}
