package script

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/backend"
)

// A Scene is what an agent makes of what it was sent. Templates see its fields.
type Scene struct {
	Task    string
	Label   string   // the agent's own, "" until it has an answer
	Own     string   // the text of its newest answer
	Peers   []Answer // the others' newest answers, by label
	Answers []Answer // everybody's
	Call    int      // which model call of the turn this is, from 1
	Result  string   // the last tool result

	own        int // revision of the own answer
	behind     int // peers with fewer revisions
	presenting bool
	refused    bool
	offered    []string
	sent       string
}

// An Answer is one agent's newest answer as a prompt shows it.
type Answer struct {
	Label    string // "agent2"
	Revision int
	Text     string
	Yours    bool
}

// NewScene reads an input. The prompt is ordinary text in which blocks are
// marked by tags that stand alone on a line:
//
//	<task id="k3f9a1"> … </task id="k3f9a1">          (the id may be absent)
//	<answer label="agent2.1" id="k3f9a1"> … </answer id="k3f9a1">
//	<answer label="agent1.2" yours="true" id="k3f9a1"> … </answer id="k3f9a1">
//
// The id is a nonce that the authors of answers cannot know. In a message from
// the user the first tag sets it, and in results of tools only one already set
// counts; whatever has another id is text that imitates a tag.
func NewScene(in backend.Input) *Scene {
	s := &Scene{Call: 1}
	var sent strings.Builder
	sent.WriteString(in.System)
	for _, t := range in.Tools {
		s.offered = append(s.offered, t.Name)
		sent.WriteString("\n" + t.Name + " " + t.Description + " " + string(t.Schema))
	}
	s.presenting = !slices.Contains(s.offered, "new_answer") && !slices.Contains(s.offered, "vote")

	ids := map[string]bool{}
	newest := map[string]Answer{}
	task, opening := "", ""
	for _, m := range in.Messages {
		sent.WriteString("\n" + m.Text)
		if m.From == backend.Assistant {
			s.Call++
			for _, c := range m.Calls {
				sent.WriteString("\n" + c.Name + " " + string(c.Input))
			}
		}
		if m.From == backend.User {
			b := blocks(m.Text, "")
			ids[b.id] = b.id != ""
			task = cmp.Or(task, b.task)
			opening = cmp.Or(opening, strings.TrimSpace(m.Text))
			keep(newest, b.answers)
		}
		if len(m.Results) > 0 {
			s.refused = false
		}
		for _, res := range m.Results {
			sent.WriteString("\n" + res.Text)
			s.Result, s.refused = res.Text, s.refused || res.Error
			for id, ok := range ids {
				if ok {
					keep(newest, blocks(res.Text, id).answers)
				}
			}
		}
	}
	s.Task, s.sent = cmp.Or(task, opening), sent.String()
	s.take(newest)
	return s
}

// keep replaces answers by newer revisions.
func keep(newest map[string]Answer, answers []Answer) {
	for _, a := range answers {
		if old, ok := newest[a.Label]; !ok || a.Revision >= old.Revision {
			newest[a.Label] = a
		}
	}
}

func (s *Scene) take(newest map[string]Answer) {
	for _, a := range newest {
		s.Answers = append(s.Answers, a)
	}
	slices.SortFunc(s.Answers, func(a, b Answer) int { return byLabel(a.Label, b.Label) })
	for _, a := range s.Answers {
		if a.Yours {
			s.Label, s.Own, s.own = a.Label, a.Text, a.Revision
		} else {
			s.Peers = append(s.Peers, a)
		}
	}
	for _, p := range s.Peers {
		if p.Revision < s.own {
			s.behind++
		}
	}
}

// byLabel puts agent2 before agent10.
func byLabel(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// found is what one message shows.
type found struct {
	id      string
	task    string
	answers []Answer
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
