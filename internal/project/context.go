package project

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// firstContext is CONTEXT.md as a project begins.
func firstContext(name, goal string) []byte {
	return fmt.Appendf(nil, "# %s\n\n## Goal\n\n%s\n\n## Decisions\n\n## Constraints\n", name, strings.TrimSpace(goal))
}

// context is CONTEXT.md, as it was written.
func (f *folder) context() (string, error) {
	p, err := f.read(contextFile, maxContext)
	switch {
	case err != nil:
		return "", err
	case p == nil:
		return "", &Problem{File: f.path(contextFile), Why: "it is not there", Do: "write one that says what the project is for"}
	case !utf8.Valid(p):
		return "", f.problem(contextFile, p, invalidAt(p), "it is not UTF-8 text", "save it as UTF-8")
	}
	return string(p), nil
}

// NoteDecision adds a dated entry under "## Decisions" of CONTEXT.md and leaves
// everything else in it as it is. An entry that is there already is not made twice.
func (s Store) NoteDecision(ctx context.Context, name, text string) error {
	if err := checkText("the decision", text); err != nil {
		return err
	}
	entry := fmt.Sprintf("- %s: %s", s.now().Format("2006-01-02"), indented(text))
	return s.change(ctx, name, func(f *folder) error {
		err := f.rewrite(ctx, contextFile, maxContext, func(old []byte) ([]byte, error) {
			if !utf8.Valid(old) {
				return nil, f.problem(contextFile, old, invalidAt(old), "it is not UTF-8 text", "save it as UTF-8")
			}
			return []byte(decided(string(old), entry)), nil
		})
		if err != nil {
			return fmt.Errorf("note a decision in project %s: %w", name, err)
		}
		return nil
	})
}

// indented is a text as an item of a list: its further lines stand below the first.
func indented(text string) string {
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n"), "\n")
	for i, l := range lines {
		if l = strings.TrimRight(l, " \t\r"); i > 0 && l != "" {
			l = "  " + l
		}
		lines[i] = l
	}
	return strings.Join(lines, "\n")
}

var (
	decisions = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^ {0,3}##[ \t]+decisions[ \t]*#*[ \t]*$`) })
	section   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}##?([ \t]|$)`) })
	fence     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^ {0,3}(```|~~~)") })
)

// decided is a text with an entry put at the end of its section of decisions, which
// is added if there is none.
func decided(text, entry string) string {
	end := "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	lines := strings.SplitAfter(text, "\n")
	from, to, last := -1, len(lines), -1 // the section, and its last line that is not empty
	code := inCode(lines)
	for i, l := range lines {
		bare := strings.TrimRight(l, "\r\n")
		if !code[i] && from < 0 && decisions().MatchString(bare) {
			from = i
		} else if !code[i] && from >= 0 && section().MatchString(bare) {
			to = i
			break
		}
		if from >= 0 && strings.TrimSpace(bare) != "" {
			last = i
		}
	}
	if from < 0 {
		if text != "" {
			text = strings.TrimRight(text, "\r\n") + end + end
		}
		return text + strings.ReplaceAll("## Decisions\n\n"+entry+"\n", "\n", end)
	}
	if now := strings.ReplaceAll(strings.Join(lines[from:to], "")+"\n", "\r\n", "\n"); strings.Contains(now, "\n"+entry+"\n") {
		return text
	}
	entry = strings.ReplaceAll(entry, "\n", end)
	before := strings.Join(lines[:last+1], "")
	if !strings.HasSuffix(before, "\n") {
		before += end
	}
	if last == from {
		before += end
	}
	after := strings.Join(lines[last+1:], "")
	if strings.TrimSpace(after) != "" && strings.TrimSpace(lines[last+1]) != "" {
		after = end + after // the next heading is not part of the list
	}
	return before + entry + end + after
}

// inCode tells which lines are in a code block. A fence that nobody has closed makes
// none: it would swallow the rest.
func inCode(lines []string) []bool {
	code := make([]bool, len(lines))
	for i := 0; i < len(lines); i++ {
		open := fence().FindStringSubmatch(lines[i])
		if open == nil {
			continue
		}
		for j := i + 1; j < len(lines); j++ {
			if end := fence().FindStringSubmatch(lines[j]); end != nil && end[1] == open[1] {
				for ; i <= j; i++ {
					code[i] = true
				}
				i = j
				break
			}
		}
	}
	return code
}

// Goal is the first paragraph of what CONTEXT.md says below "## Goal", else of what
// it says at all.
func (p Project) Goal() string {
	first, found := "", false
	for para := range strings.SplitSeq(strings.ReplaceAll(p.Context, "\r\n", "\n"), "\n\n") {
		para = strings.TrimSpace(para)
		title, rest, _ := strings.Cut(para, "\n")
		if strings.HasPrefix(title, "#") {
			if found {
				break
			}
			found = goalHead().MatchString(title)
			para = strings.TrimSpace(rest)
		}
		if para == "" {
			continue
		}
		if found {
			return para
		}
		if first == "" {
			first = para
		}
	}
	return first
}

var goalHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^##?[ \t]+goals?\b`) })
