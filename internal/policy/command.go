package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A word of a command line. What it is can be told from the text alone only if
// it is literal: no variable, substitution, pattern, brace or tilde in it.
type word struct {
	text    string
	literal bool
}

// A simple command is a program and its arguments.
type simple struct {
	words []word
	// bare: nothing else is done besides: no variable is set for it.
	bare bool
}

// A script is a command line taken apart.
type script struct {
	commands []simple // every one, wherever it stands
	// plain: there is nothing in it but literal commands, put together with
	// ; & && || | ( ) { }. Only then the commands say all that will happen.
	plain bool
	// opaque: it could not be read, and may do anything.
	opaque bool
}

// parseScript reads a command line as bash does.
func parseScript(line string) script {
	if len(line) > maxScript {
		return script{opaque: true}
	}
	s, err := parse(line, syntax.LangBash)
	if err != nil {
		return script{opaque: true}
	}
	odd := strings.ContainsFunc(line, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == '\uFFFD'
	})
	s.plain = s.plain && !odd
	return s
}

func parse(line string, lang syntax.LangVariant) (script, error) {
	f, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(line), "")
	if err != nil {
		return script{}, fmt.Errorf("read the command: %w", err)
	}
	s := script{plain: true}
	syntax.Walk(f, func(n syntax.Node) bool {
		s.visit(n)
		return true
	})
	return s, nil
}

func (s *script) visit(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.CallExpr:
		c := simple{bare: len(n.Assigns) == 0}
		for _, w := range n.Args {
			c.words = append(c.words, wordOf(w))
		}
		if len(c.words) > 0 {
			s.commands = append(s.commands, c)
		}
		s.plain = s.plain && c.bare && !slices.ContainsFunc(c.words, func(w word) bool { return !w.literal })
	case *syntax.Redirect:
		s.plain = s.plain && harmless(n)
	case *syntax.DeclClause:
		// export and its like are commands with a name of their own.
		s.commands = append(s.commands, simple{words: []word{{n.Variant.Value, true}, {"", false}}})
		s.plain = false
	case *syntax.File, *syntax.Stmt, *syntax.BinaryCmd, *syntax.Subshell, *syntax.Block,
		*syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.Comment, nil:
	default:
		s.plain = false
	}
}

// harmless reports whether a redirection neither reads nor writes a file.
func harmless(r *syntax.Redirect) bool {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") || r.Word == nil {
		return false
	}
	w := wordOf(r.Word)
	switch r.Op {
	case syntax.DplOut, syntax.DplIn:
		return w.literal && (w.text == "-" || w.text != "" && strings.Trim(w.text, "0123456789") == "")
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrIn:
		return w.literal && w.text == "/dev/null"
	}
	return false // a here-document is a program where a shell reads it
}

// wordOf is a word without its quotes.
func wordOf(w *syntax.Word) word {
	out := word{literal: true}
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text, ok := unquoted(p.Value, i == 0)
			out.text += text
			out.literal = out.literal && ok
		case *syntax.SglQuoted:
			out.text += p.Value
			out.literal = out.literal && !p.Dollar
		case *syntax.DblQuoted:
			out.literal = out.literal && !p.Dollar
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					out.literal = false
					continue
				}
				out.text += inQuotes(lit.Value)
			}
		default:
			out.literal = false
		}
	}
	return out
}

// unquoted is text outside of quotes: a backslash stands for what follows it.
// It is not literal if the shell would make something else of it.
func unquoted(s string, first bool) (text string, literal bool) {
	var b strings.Builder
	literal = !first || !strings.HasPrefix(s, "~")
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case '*', '?', '[', '{', '}', '=', '!':
			// An = may make it a variable or a path to expand, a ! a word of history.
			literal = literal && (c == '=' && !strings.Contains(s[i:], "~") || c == '}' && s == "{}" || c == '{' && s == "{}")
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), literal
}

// inQuotes is text inside of double quotes.
func inQuotes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// patternWords are the words of a rule about commands. In them * stands for any
// text in a word and, alone at the end, for any further words.
func patternWords(pattern string) ([]string, error) {
	if program, ok := strings.CutSuffix(pattern, ":*"); ok {
		pattern = program + " *" // as some other programs write it
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(pattern), "")
	bad := fmt.Errorf("%q is not one command with plain arguments; write the first words of a command, as in command(git status *)", pattern)
	if err != nil || len(f.Stmts) != 1 || len(f.Stmts[0].Redirs) > 0 {
		return nil, bad
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || s.Background || s.Negated {
		return nil, bad
	}
	var out []string
	for _, w := range call.Args {
		for _, part := range w.Parts {
			switch part.(type) {
			case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
			default:
				return nil, bad
			}
		}
		out = append(out, wordOf(w).text)
	}
	return out, nil
}

// fitsCommand matches a command line. Surely: it is plain, and each of its
// commands is one the pattern means. Maybe: one of them may be.
func fitsCommand(pattern []string, line string, s sense) bool {
	if s == maybe {
		return mayRun(pattern, line, 0)
	}
	in := parseScript(line)
	if in.opaque || !in.plain || len(in.commands) == 0 {
		return false
	}
	for _, c := range in.commands {
		if !exactly(pattern, c.words) {
			return false
		}
	}
	return true
}

// exactly matches a whole command.
func exactly(pattern []string, words []word) bool {
	last := len(pattern) - 1
	if open := pattern[last] == "*"; open {
		if len(words) < last {
			return false
		}
		pattern, words = pattern[:last], words[:last]
	}
	if len(words) != len(pattern) {
		return false
	}
	for i, p := range pattern {
		if !words[i].literal || !wild(p, words[i].text) {
			return false
		}
	}
	return true
}

// begins reports whether a command may begin with the words of a pattern. What
// is not literal may be any word, several or none; an option, with or without a
// value, may stand before a word that is no program: git -C dir push.
func begins(pattern []string, words []word) bool {
	if len(pattern) == 0 {
		return true
	}
	// The program may be named by its path, or in capitals.
	first := pattern[0]
	if open(pattern) || len(words) > 0 && !words[0].literal {
		return true
	}
	if len(words) == 0 || !wild(first, words[0].text) && !wild(strings.ToLower(first), strings.ToLower(path.Base(words[0].text))) {
		return false
	}
	return follows(pattern[1:], words[1:])
}

// open reports whether a pattern, or the rest of one, is about any words.
func open(pattern []string) bool { return len(pattern) == 1 && pattern[0] == "*" }

// follows is begins for the words after the program. Where one is looked for, at
// are the places it may be in: the next one, or behind options and their values.
func follows(pattern []string, words []word) bool {
	at := make([]bool, len(words)+2)
	at[0] = true
	for i, p := range pattern {
		if open(pattern[i:]) {
			break
		}
		next, found := make([]bool, len(at)), false
		for j, w := range words {
			if !at[j] {
				continue
			}
			if !w.literal {
				return true
			}
			if wild(p, w.text) {
				next[j+1], found = true, true
			}
			if strings.HasPrefix(w.text, "-") {
				at[j+1], at[j+2] = true, true
			}
		}
		if !found {
			return false
		}
		at = next
	}
	return true
}

// maxNesting is how deep scripts within scripts are looked into, maxScript how
// long a command line may be to be looked at: what is beyond may do anything.
const (
	maxNesting = 4
	maxScript  = 64 << 10
)

// carriers run what their arguments name; any of them may be the program.
var carriers = strings.Fields("sudo doas env command builtin exec nohup nice ionice time timeout setsid stdbuf xargs find fd parallel watch flock chroot busybox toybox unshare nsenter strace ltrace script entr chrt taskset runuser su ssh pkexec systemd-run setpriv prlimit numactl gosu su-exec tini dumb-init rlwrap unbuffer setarch fakeroot xvfb-run dbus-run-session")

// shells take a script, as arguments or from elsewhere.
var shells = strings.Fields("sh bash dash zsh ksh mksh ash fish eval trap alias source .")

// mayRun reports whether a command line may run what a pattern means, whichever
// shell reads it.
func mayRun(pattern []string, line string, depth int) bool {
	in := parseScript(line)
	if in.opaque || depth > maxNesting {
		return true
	}
	// [[ a && b ]] and ((a)) are commands to a plainer shell.
	posix, err := parse(line, syntax.LangPOSIX)
	if err == nil {
		in.commands = append(in.commands, posix.commands...)
	}
	return slices.ContainsFunc(in.commands, func(c simple) bool {
		return begins(pattern, c.words) || carried(pattern, c.words, depth)
	})
}

// carried looks for the pattern in what a command is told to run.
func carried(pattern []string, words []word, depth int) bool {
	name := strings.ToLower(path.Base(words[0].text))
	if slices.Contains(shells, name) {
		return carriedScript(pattern, words[1:], depth)
	}
	if !slices.Contains(carriers, name) {
		return false
	}
	for i := 1; i < len(words); i++ {
		w := words[i]
		isShell := slices.Contains(shells, strings.ToLower(path.Base(w.text)))
		isScript := strings.ContainsAny(w.text, " \t\n;|&")
		if begins(pattern, words[i:]) || isShell && carriedScript(pattern, words[i+1:], depth) || isScript && mayRun(pattern, w.text, depth+1) {
			return true
		}
	}
	return false
}

// carriedScript looks into the arguments of a shell, each as a script of its own
// and all together as one. A shell that is given none reads one from elsewhere.
func carriedScript(pattern []string, args []word, depth int) bool {
	var all []string
	for _, a := range args {
		if !a.literal {
			return true
		}
		if strings.HasPrefix(a.text, "-") {
			continue
		}
		all = append(all, a.text)
		if _, value, ok := strings.Cut(a.text, "="); ok && mayRun(pattern, value, depth+1) {
			return true // an alias
		}
		if mayRun(pattern, a.text, depth+1) {
			return true
		}
	}
	return len(all) == 0 || mayRun(pattern, strings.Join(all, " "), depth+1)
}
