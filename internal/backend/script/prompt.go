package script

import (
	"cmp"
	"strconv"
	"strings"
)

// A prompt is what has been read of a conversation so far.
type prompt struct {
	task    string
	opening string // the first message of the user's, if nothing is marked
	ids     []string
	newest  map[string]Answer
	said    []string // by the user, besides the task
}

// user reads a message of the user's, which is ours: its first tag is genuine.
func (p *prompt) user(text string) {
	b := blocks(text, "")
	p.task = cmp.Or(p.task, b.task)
	p.opening = cmp.Or(p.opening, strings.TrimSpace(text))
	if b.id != "" {
		p.ids = append(p.ids, b.id)
	}
	p.keep(b.answers)
	p.said = append(p.said, b.said...)
}

// result reads what a tool gave back, which anybody may have written.
func (p *prompt) result(text string) {
	for _, id := range p.ids {
		b := blocks(text, id)
		p.keep(b.answers)
		p.said = append(p.said, b.said...)
	}
}

// keep replaces answers by newer revisions.
func (p *prompt) keep(answers []Answer) {
	for _, a := range answers {
		if old, ok := p.newest[a.Label]; !ok || a.Revision >= old.Revision {
			p.newest[a.Label] = a
		}
	}
}

// found is what one message shows.
type found struct {
	id      string
	task    string
	answers []Answer
	said    []string
}

// blocks reads a text line by line. With no id given the first tag sets it.
func blocks(text, id string) found {
	f := found{id: id}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t\r")
		if attrs, ok := tag(line, "task"); ok && f.task == "" {
			f.id = cmp.Or(f.id, attrs["id"])
			if end := closing(lines, i+1, "task", attrs["id"]); end > 0 {
				f.task, i = body(lines[i+1:end]), end
			}
			continue
		}
		if attrs, ok := tag(line, "message"); ok && attrs["id"] != "" && (f.id == "" || attrs["id"] == f.id) {
			f.id = attrs["id"]
			if end := closing(lines, i+1, "message", f.id); end > 0 {
				f.said, i = append(f.said, body(lines[i+1:end])), end
			}
			continue
		}
		attrs, ok := tag(line, "answer")
		if !ok || attrs["id"] == "" || attrs["label"] == "" || f.id != "" && attrs["id"] != f.id {
			continue
		}
		f.id = attrs["id"]
		if end := closing(lines, i+1, "answer", f.id); end > 0 {
			f.answers = append(f.answers, header(attrs, body(lines[i+1:end])))
			i = end
		}
	}
	return f
}

// tag reads a line that is nothing but an opening tag of that name.
func tag(line, name string) (attrs map[string]string, ok bool) {
	rest, ok := strings.CutPrefix(line, "<"+name)
	if !ok {
		return nil, false
	}
	rest, ok = strings.CutSuffix(rest, ">")
	attrs = map[string]string{}
	for ok && rest != "" {
		var key, value string
		key, rest, ok = strings.Cut(rest, `="`)
		if !ok || !strings.HasPrefix(key, " ") {
			return nil, false
		}
		value, rest, ok = strings.Cut(rest, `"`)
		attrs[key[1:]] = value
	}
	return attrs, ok
}

// header is an answer as its tag describes it: label="agent2.1" yours="true".
func header(attrs map[string]string, text string) Answer {
	label, rev, _ := strings.Cut(attrs["label"], ".")
	n, err := strconv.Atoi(rev)
	if err != nil {
		n = 1
	}
	return Answer{Label: label, Revision: n, Text: text, Yours: attrs["yours"] == "true"}
}

// closing is the line of the tag that ends a block, or 0.
func closing(lines []string, from int, name, id string) int {
	tag := "</" + name + ">"
	if id != "" {
		tag = "</" + name + ` id="` + id + `">`
	}
	for i := from; i < len(lines); i++ {
		if strings.TrimRight(lines[i], " \t\r") == tag {
			return i
		}
	}
	return 0
}

func body(lines []string) string { return strings.TrimSpace(strings.Join(lines, "\n")) }
