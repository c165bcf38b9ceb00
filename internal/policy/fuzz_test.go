package policy_test

import (
	"strings"
	"testing"
	"unicode"

	"conclave/internal/policy"
)

// tricks are ways to hide a command from whoever reads the line.
var tricks = []string{
	"git status", "git status; rm x", "git status && rm x", "git status | rm x", "git status\nrm x",
	"git${IFS}status", "r\\m x", "r''m x", "\"rm\" x", "$(rm x)", "`rm x`", "(rm x)", "{ rm x; }", "X=1 rm x",
	"cat <<EOF\n$(rm x)\nEOF", "cat <<'EOF'\nrm\nEOF\nrm", "{rm,x}", "r{m,} x", "alias g=rm; g x", "eval \"r\"\"m\"",
	"git() { rm x; }; git status", "sh -c 'rm x'", "<(rm x)", "$'rm' x", "((rm))", "[[ rm ]]", "time rm", "! rm", "coproc rm",
	"case x in x) rm;; esac", "for i in rm; do $i x; done", "git status #\rrm x", "git\u00a0status", "git status \\\nrm", "a=(rm x); ${a[@]}",
}

// Whatever the line: the judge does not panic, no line is both surely one
// command and possibly another, and its description shows no tricks.
func FuzzJudge(f *testing.F) {
	for _, s := range tricks {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a := command(line)
		git := policy.Permissions{Allow: []string{"command(git status *)"}, Otherwise: policy.Deny}.Judge(a)
		rm := policy.Permissions{Deny: []string{"command(rm)"}, Otherwise: policy.Allow}.Judge(a)
		if git.Decision == policy.Allow && rm.Decision == policy.Deny {
			t.Errorf("%q is surely git status, and may be rm", line)
		}
		if git.Decision == policy.Allow && strings.ContainsAny(line, "$`*?") && !strings.ContainsAny(line, `'"\#`) {
			t.Errorf("%q is allowed with something in it that a shell replaces", line)
		}
		for _, r := range a.Describe() {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Fatalf("the description of %q holds %U", line, r)
			}
		}
		policy.CommandFilter{Allowed: []string{"git"}}.Judge(line)
	})
}

// The same for addresses and paths.
func FuzzTarget(f *testing.F) {
	f.Add("https://example.com/docs/a", "/ws/src/a.go")
	f.Add("https://example.com@evil.org/docs/", "/ws/src/../../etc/passwd")
	f.Add(`https:/\example.com\..`, "")
	f.Fuzz(func(t *testing.T, url, path string) {
		p := policy.Permissions{Allow: []string{"read_url(https://example.com/docs/*)", "write_file(src/**)"}, Otherwise: policy.Deny}
		if p.Judge(policy.Action{Kind: policy.URL, Target: url}).Decision == policy.Allow && !strings.HasPrefix(strings.ToLower(url), "https://example.com") {
			t.Errorf("%q is allowed", url)
		}
		a := policy.Action{Kind: policy.Write, Target: path, Dir: "/ws"}
		if p.Judge(a).Decision == policy.Allow && (!strings.HasPrefix(path, "/") || !strings.Contains(path, "src")) {
			t.Errorf("%q is allowed", path)
		}
		place().May(path, policy.ToDelete)
	})
}
