package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"conclave/internal/config"
	"conclave/internal/control"
)

// questions are put to a person at a terminal. An empty answer is the default. An
// answer that cannot be taken is asked for again, with the reason, and the others
// stand.
type questions struct {
	in    *bufio.Reader
	out   io.Writer
	width int
}

func (q questions) ask(o *initOptions, told func(string) bool, here []control.Provider) error {
	q.say("Found: %s.", foundHere(here))
	q.say("Press Enter for what stands in brackets.")
	if !told("agents") {
		if err := q.agents(o, here); err != nil {
			return err
		}
	}
	if !told("model") {
		if err := q.models(o, here); err != nil {
			return err
		}
	}
	if !told("shell") && slices.ContainsFunc(o.agents, func(name string) bool { return name != "demo" }) {
		answer, err := q.until("May agents run commands, in a sandbox? y or n", "n", func(s string) string {
			if !slices.Contains([]string{"y", "yes", "n", "no"}, strings.ToLower(s)) {
				return "answer y or n"
			}
			return ""
		})
		if err != nil {
			return err
		}
		o.shell = strings.HasPrefix(strings.ToLower(answer), "y")
	}
	if told("max-cost") {
		return nil
	}
	_, err := q.until("The most a run may cost, in dollars; none is no limit", "none", func(s string) (reason string) {
		if strings.EqualFold(s, "none") {
			return ""
		}
		o.maxCost, reason = dollars(s)
		return reason
	})
	return err
}

// agents asks who takes part.
func (q questions) agents(o *initOptions, here []control.Provider) error {
	types := []string{"demo"}
	for _, p := range config.Providers() {
		types = append(types, p.Type)
	}
	for _, p := range config.Programs() {
		if p.Command != "" { // else nobody could guess it
			types = append(types, p.Type)
		}
	}
	q.say("Types: %s.", strings.Join(types, ", "))
	_, err := q.until("Agents, by type, with commas", strings.Join(whoIsHere(here), ","), func(s string) string {
		o.agents = nil
		for name := range strings.SplitSeq(s, ",") {
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			if reason := wrongType(name); reason != "" {
				return reason
			}
			o.agents = append(o.agents, name)
		}
		if len(o.agents) == 0 {
			return "name at least one"
		}
		return ""
	})
	return err
}

// models asks for the model of each agent.
func (q questions) models(o *initOptions, here []control.Provider) error {
	o.chosen = map[int]string{}
	for i, name := range o.agents {
		p, ok := config.FindProvider(name)
		if !ok {
			continue // the demo
		}
		var has []string
		if at := slices.IndexFunc(here, func(h control.Provider) bool { return h.Type == p.Type }); at >= 0 {
			has = here[at].Models
		}
		usual := modelOf(p, here)
		question := "Model of " + p.Type
		switch {
		case len(has) > 1:
			q.say("%s has: %s.", p.Type, strings.Join(has[:min(len(has), mostModels)], ", "))
		case usual == "" && p.Local:
			question += " (it does not answer here, so type a name)"
		case usual == "":
			question += " (there is no usual one, so type a name)"
		}
		answer, err := q.until(question, usual, func(s string) string {
			if s == "" {
				return "a model must be named; " + p.Type + " has no usual one"
			}
			return ""
		})
		if err != nil {
			return err
		}
		if len(has) > 0 && !slices.Contains(has, answer) {
			q.say("%s does not have %s yet; it is taken all the same.", p.Type, answer)
		}
		o.chosen[i] = answer
	}
	return nil
}

// mostModels is how many models of a server are listed.
const mostModels = 12

// until asks until there is an answer in which nothing is wrong.
func (q questions) until(question, or string, wrong func(string) string) (string, error) {
	for {
		answer, err := q.line(question, or)
		if err != nil {
			return "", err
		}
		reason := wrong(answer)
		if reason == "" {
			return answer, nil
		}
		q.say("  That does not work: %s", reason)
	}
}

// line asks one question.
func (q questions) line(question, or string) (string, error) {
	if or != "" {
		question += " [" + or + "]"
	}
	fmt.Fprintf(q.out, "%s: ", question)
	text, err := q.in.ReadString('\n')
	text = strings.TrimSpace(text)
	if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
		fmt.Fprintln(q.out)
		return "", control.Usagef("nothing was written: the questions were left unanswered; --yes asks none")
	}
	if text == "" {
		return or, nil
	}
	return text, nil
}

func (q questions) say(format string, args ...any) {
	fmt.Fprintln(q.out, strings.Join(folded(fmt.Sprintf(format, args...), q.width), "\n"))
}
