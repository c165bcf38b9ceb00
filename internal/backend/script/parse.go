package script

import (
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// maxSource bounds a script's size; the parser's work is not linear in it.
const maxSource = 1 << 20

// Parse reads a script; name is the file it came from. Everything that is wrong
// with it is reported together as one [*Error].
func Parse(name string, src []byte) (*Script, error) {
	unix := lineEnds.Replace(string(src))
	r := &reader{file: name, lines: strings.Split(unix, "\n")}
	s := &Script{Name: stem(name), Pace: 1}
	if r.readable(unix) {
		if root := r.root(unix); root != nil {
			r.script(s, root)
		}
	}
	if err := chain(r.problems); err != nil {
		return nil, err
	}
	return s, nil
}

// lineEnds makes every way to end a line the same.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// readable reports whether the source is text of a sensible size.
func (r *reader) readable(src string) bool {
	if len(src) > maxSource {
		r.errorf(1, 1, "", "the script has %d bytes; %d is the most", len(src), maxSource)
		return false
	}
	for i, l := range r.lines {
		if !utf8.ValidString(l) {
			r.errorf(i+1, 1, "", "not text in UTF-8")
			return false
		}
	}
	return true
}

func (r *reader) script(s *Script, root ast.Node) {
	complete := false
	for _, f := range r.fields(root, root.GetToken(), "a script", "name", "pace", "word", "owns_loop", "steps") {
		switch f.key {
		case "name":
			s.Name = r.text(f)
		case "pace":
			s.Pace = r.number(f)
		case "word":
			s.Word = r.duration(f)
		case "owns_loop":
			s.OwnsLoop = r.bool(f)
		case "steps":
			s.steps, complete = r.steps(f), true
		}
	}
	for i := range s.steps {
		if s.steps[i].word < 0 {
			s.steps[i].word = s.Word
		}
	}
	if !complete && len(r.problems) == 0 {
		r.fail(place(root, root.GetToken()), "a script needs steps")
	}
}

func (r *reader) steps(f field) []step {
	var out []step
	items := r.items(f)
	if _, ok := f.value.(*ast.SequenceNode); ok && len(items) == 0 {
		r.fail(f.value.GetToken(), "a script needs at least one step")
	}
	for _, it := range items {
		st := r.step(it)
		if len(out) > 0 && out[len(out)-1].when.always() {
			r.fail(place(it.value, it.at), "this step is never played: the one at line %d has no conditions", out[len(out)-1].line)
		}
		out = append(out, st)
	}
	return out
}

func (r *reader) step(it field) step {
	st := step{word: -1, line: place(it.value, it.at).Position.Line}
	before := len(r.problems)
	complete := false
	for _, f := range r.fields(it.value, it.at, "a step", "when", "word", "do") {
		switch f.key {
		case "when":
			st.when = r.when(f)
		case "word":
			st.word = r.duration(f)
		case "do":
			st.do, complete = r.actions(f), true
		}
	}
	if !complete && len(r.problems) == before {
		r.fail(place(it.value, it.at), "a step needs do: what the agent does")
	}
	return st
}

func (r *reader) actions(f field) []action {
	var out []action
	for _, it := range r.items(f) {
		a, at := r.action(it)
		if len(out) > 0 && out[len(out)-1].ends() != "" {
			r.fail(at, "never played: %s ends the reply", out[len(out)-1].ends())
		}
		if a != nil {
			out = append(out, a)
		}
	}
	return out
}
