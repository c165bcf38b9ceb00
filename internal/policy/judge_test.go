package policy_test

import (
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/policy"
)

func command(line string) policy.Action {
	return policy.Action{Tool: "shell", Kind: policy.Command, Target: line, Dir: "/ws"}
}

func TestOrderOfRules(t *testing.T) {
	a := command("git push")
	for _, c := range []struct {
		name string
		p    policy.Permissions
		a    policy.Action
		want policy.Decision
	}{
		{"nothing said, no sandbox", policy.Permissions{}, a, policy.Ask},
		{"nothing said, sandbox", policy.Permissions{}, policy.Action{Kind: policy.Command, Boxed: true}, policy.Allow},
		{"nothing said, a file", policy.Permissions{}, policy.Action{Kind: policy.Write, Target: "/ws/a"}, policy.Allow},
		{"otherwise", policy.Permissions{Otherwise: policy.Deny}, policy.Action{Kind: policy.Read}, policy.Deny},
		{"otherwise is misspelt", policy.Permissions{Otherwise: "alow"}, a, policy.Deny},
		{"allow", policy.Permissions{Allow: []string{"command(git *)"}}, a, policy.Allow},
		{"allow all", policy.Permissions{Allow: []string{"*"}}, a, policy.Allow},
		{"ask before allow", policy.Permissions{Allow: []string{"command"}, Ask: []string{"command(git push)"}}, a, policy.Ask},
		{"deny before ask", policy.Permissions{Ask: []string{"command"}, Deny: []string{"*(git push)"}}, a, policy.Deny},
		{"given before ask", policy.Permissions{Ask: []string{"command"}, Given: []event.Hash{a.Hash()}}, a, policy.Allow},
		{"given is exact", policy.Permissions{Given: []event.Hash{a.Hash()}}, command("git push "), policy.Ask},
		{"deny before given", policy.Permissions{Deny: []string{"command"}, Given: []event.Hash{a.Hash()}}, a, policy.Deny},
		{"read-only", policy.Permissions{ReadOnly: true, Allow: []string{"*"}, Given: []event.Hash{a.Hash()}}, a, policy.Deny},
		{"read-only reads", policy.Permissions{ReadOnly: true}, policy.Action{Kind: policy.Read}, policy.Allow},
		{"a broken rule denies", policy.Permissions{Deny: []string{"comand(rm)"}}, command("ls"), policy.Deny},
		{"a broken rule allows nothing", policy.Permissions{Allow: []string{"command(git"}}, a, policy.Ask},
	} {
		if got := c.p.Judge(c.a); got.Decision != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

// What allows must be sure of every command in a line.
func TestAllowedCommands(t *testing.T) {
	p := policy.Permissions{Allow: []string{"command(git status *)", "command(ls)", "command(go:*)", `command(echo "a b")`}, Otherwise: policy.Deny}
	for line, want := range map[string]bool{
		"git status":                                 true,
		"git status -s; git status":                  true,
		"git  'status' \"-s\" && git status":         true,
		"g\\it status":                               true,
		"(git status | git status) 2>&1":             true,
		"git status > /dev/null 2>&1 &":              true,
		"git status # and so on":                     true,
		"go test ./...":                              true,
		"ls":                                         true,
		`echo 'a b'`:                                 true,
		"echo a b":                                   false,
		"ls -l":                                      false,
		"git push":                                   false,
		"/tmp/git status":                            false,
		"./git status":                               false,
		"git status && git push":                     false,
		"git status\ngit push":                       false,
		"git status & git push":                      false,
		"git status | sh":                            false,
		"git status $(git push)":                     false,
		"git status `git push`":                      false,
		"git status <(git push)":                     false,
		"git status \"$(git push)\"":                 false,
		"git${IFS}push":                              false,
		"git status $X":                              false,
		"$X":                                         false,
		"git status > /ws/.bashrc":                   false,
		"git status >> x":                            false,
		"git status < /etc/shadow":                   false,
		"PATH=/evil git status":                      false,
		"PATH=/evil; git status":                     false,
		"export PATH=/evil; git status":              false,
		"git() { evil; }; git status":                false,
		"alias git=evil; git status":                 false,
		"git status {-s,--output=x}":                 false,
		"git status *":                               false,
		"git status ~/x":                             false,
		"git status $'\\x20'":                        false,
		"for i in a; do git status; done":            false,
		"[[ -f x ]] && git status":                   false,
		"git status <<EOF\n$(git push)\nEOF":         false,
		"git status \x1b[2K":                         false,
		"git status \r\n":                            false,
		"git status '":                               false,
		"":                                           false,
		"git status " + strings.Repeat("a", 200<<10): false,
	} {
		if got := p.Judge(command(line)).Decision == policy.Allow; got != want {
			t.Errorf("%.60q allowed is %v, want %v", line, got, want)
		}
	}
}

// What denies must not be talked around.
func TestDeniedCommands(t *testing.T) {
	p := policy.Permissions{Deny: []string{"command(rm)", "command(git push)"}, Otherwise: policy.Allow}
	for line, want := range map[string]bool{
		"ls":                                 false,
		"git rm x":                           false,
		"echo rm":                            false,
		"git status":                         false,
		"rmdir x":                            false,
		"bash build.sh":                      false,
		"FOO=1 make":                         false,
		"sudo ls":                            false,
		"env | sort":                         false,
		"rm":                                 true,
		"rm -rf /":                           true,
		"/bin/rm x":                          true,
		"RM x":                               true,
		"\\rm x":                             true,
		"r''m x":                             true,
		"r\\\nm x":                           true,
		"X=1 rm x":                           true,
		"ls; rm x":                           true,
		"ls | rm x":                          true,
		"ls && (cd a; rm x)":                 true,
		"ls\nrm x":                           true,
		"echo $(rm x)":                       true,
		"cat <<EOF\n`rm x`\nEOF":             true,
		"cat <(rm x)":                        true,
		"if true; then rm x; fi":             true,
		"f() { rm x; }; f":                   true,
		"((rm x))":                           true,
		"[[ a && rm x ]]":                    true,
		"$R x":                               true,
		"r${X}m":                             true,
		"{rm,x}":                             true,
		"/bin/r? x":                          true,
		"$'\\x72m' x":                        true,
		"git $X":                             true,
		"git push origin":                    true,
		"git 'pu'sh":                         true,
		"git -C dir push":                    true,
		"git --no-pager -c a=b push origin":  true,
		"git -C push push":                   true,
		"git -C dir log push":                false,
		"git commit -m push":                 false,
		"setpriv --reuid 1 rm x":             true,
		"sudo rm x":                          true,
		"sudo -u a env X=1 rm x":             true,
		"find . -exec rm {} +":               true,
		"ls | xargs rm":                      true,
		"env -S 'rm x'":                      true,
		"sh -c 'rm x'":                       true,
		"sudo bash -c \"ls; rm x\"":          true,
		"sh -c \"sh -c 'rm x'\"":             true,
		"sh -c \"$X\"":                       true,
		"echo cm0gLXJmIC8= | base64 -d | sh": true,
		"sh <<EOF\nrm x\nEOF":                true,
		"eval rm x":                          true,
		"eval 'r''m' x":                      true,
		"alias ll='rm -rf'":                  true,
		"trap 'rm x' EXIT":                   true,
		"coproc rm x":                        true,
		"ls '":                               true,
		"ls )":                               true,
	} {
		if got := p.Judge(command(line)).Decision == policy.Deny; got != want {
			t.Errorf("%q denied is %v, want %v", line, got, want)
		}
	}
}

func TestRulesAboutTheRest(t *testing.T) {
	file := func(p string) policy.Action { return policy.Action{Kind: policy.Write, Target: p, Dir: "/ws"} }
	url := func(u string) policy.Action { return policy.Action{Kind: policy.URL, Target: u} }
	mcp := func(n string) policy.Action { return policy.Action{Kind: policy.MCP, Target: n} }
	for _, c := range []struct {
		rule        string
		a           policy.Action
		allow, deny bool
	}{
		{"write_file(src/**)", file("/ws/src/a/b.go"), true, true},
		{"write_file(src/)", file("/ws/src/a/b.go"), true, true},
		{"write_file(src/*.go)", file("/ws/src/a/b.go"), false, false},
		{"write_file(src/**)", file("/ws/src/../b.go"), false, false},
		{"write_file(.env)", file("/ws/a/.env"), true, true},
		{"write_file(.env)", file("/ws/a/.ENV"), false, true},
		{"write_file(/data/**)", file("/data/x"), true, true},
		{"write_file(/data/**)", file("/data-evil/x"), false, false},
		{"read_file", file("/ws/a"), false, false},
		{"read_url(example.com)", url("https://example.com/a"), true, true},
		{"read_url(example.com)", url("https://EXAMPLE.com:443"), true, true},
		{"read_url(example.com)", url("https://example.com.evil.org/"), false, false},
		{"read_url(example.com)", url("https://evil.org/example.com"), false, false},
		{"read_url(example.com)", url("https://example.com@evil.org/"), false, false},
		{"read_url(evil.org)", url("https://example.com@evil.org/"), false, true},
		{"read_url(evil.org)", url("https://evil.org:8443/"), false, true},
		{"read_url(evil.org)", url(`https:\\evil.org\`), false, true},
		{"read_url(*.example.com)", url("http://a.example.com/"), true, true},
		{"read_url(https://example.com/docs/*)", url("https://example.com/docs/a?b=c"), true, true},
		{"read_url(https://example.com/docs/*)", url("http://example.com/docs/a"), false, false},
		{"read_url(https://example.com/docs/*)", url("https://example.com/docs/../admin"), false, false},
		{"read_url(example.com/admin/*)", url("https://example.com/docs/%2e%2e/%61dmin/x"), false, true},
		{"mcp(github)", mcp("mcp__github__create_issue"), true, true},
		{"mcp(github/create_*)", mcp("mcp__github__create_issue"), true, true},
		{"mcp(mcp__github__create_issue)", mcp("mcp__github__create_issue"), true, true},
		{"mcp(git)", mcp("mcp__github__create_issue"), false, false},
		{"mcp(github)", mcp("github/create_issue"), true, true},
		{"mcp(github/create_*)", mcp("github/create_issue"), true, true},
		{"mcp(mcp__github__create_issue)", mcp("github/create_issue"), true, true},
		{"mcp(mcp__github__*)", mcp("github/create_issue"), true, true},
		{"mcp(git)", mcp("github/create_issue"), false, false},
		{"other(plan_*)", policy.Action{Tool: "plan_add", Kind: policy.Other}, true, true},
		{"*", mcp("mcp__a__b"), true, true},
	} {
		allow := policy.Permissions{Allow: []string{c.rule}, Otherwise: policy.Ask}.Judge(c.a)
		deny := policy.Permissions{Deny: []string{c.rule}, Otherwise: policy.Ask}.Judge(c.a)
		if got := allow.Decision == policy.Allow; got != c.allow {
			t.Errorf("%s allows %s is %v, want %v", c.rule, c.a.Target, got, c.allow)
		}
		if got := deny.Decision == policy.Deny; got != c.deny {
			t.Errorf("%s denies %s is %v, want %v", c.rule, c.a.Target, got, c.deny)
		}
		if c.deny && (deny.Rule != c.rule || !strings.Contains(deny.Reason, c.rule)) {
			t.Errorf("%s is not named: %+v", c.rule, deny)
		}
	}
}

// A call that does two things is as free as the stricter of them.
func TestJudgeAlso(t *testing.T) {
	move := policy.Action{
		Tool: "move", Kind: policy.Delete, Target: "/ws/a", Dir: "/ws",
		Also: []policy.Action{{Kind: policy.Write, Target: "/ws/.env", Dir: "/ws"}},
	}
	deny := policy.Permissions{Deny: []string{"write_file(.env)"}, Given: []event.Hash{move.Hash()}}
	if v := deny.Judge(move); v.Decision != policy.Deny || v.Rule != "write_file(.env)" {
		t.Errorf("%+v", v)
	}
	ask := policy.Permissions{Ask: []string{"write_file"}, Given: []event.Hash{move.Hash()}}
	if v := ask.Judge(move); v.Decision != policy.Allow {
		t.Errorf("%+v", v)
	}
	allow := policy.Permissions{Allow: []string{"delete_file"}, Otherwise: policy.Ask}
	if v := allow.Judge(move); v.Decision != policy.Ask {
		t.Errorf("%+v", v)
	}
	if want := "move: delete a file\n    /ws/a\nand write a file\n    /ws/.env\nin the directory\n    /ws\nin the directory\n    /ws\n"; move.Describe() != want {
		t.Errorf("%q", move.Describe())
	}
	other := move
	other.Also = nil
	if other.Hash() == move.Hash() {
		t.Error("the hash does not cover everything")
	}
}

func TestCheck(t *testing.T) {
	for rule, want := range map[string]string{
		"command(git *)":     "",
		"write_file(src/**)": "",
		"*":                  "",
		"comand(git *)":      `did you mean "command"?`,
		"writefile(a)":       `did you mean "write_file"?`,
		"fly":                "use one of",
		"command(git":        "closing parenthesis",
		"command()":          "nothing stands in",
		"command(a; b)":      "not one command",
		"command(a $(b))":    "not one command",
		"command(a > b)":     "not one command",
		"write_file([)":      "no pattern for paths",
	} {
		err := policy.Permissions{Ask: []string{rule}}.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rule, err, want)
		}
	}
	err := policy.Permissions{Allow: []string{"a"}, Deny: []string{"b"}, Otherwise: "c"}.Check()
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("not everything is said: %v", err)
	}
}

func TestCommandFilter(t *testing.T) {
	f := policy.CommandFilter{Allowed: []string{"git .*", "ls"}, Blocked: []string{"git push"}}
	for line, want := range map[string]policy.Decision{
		"git status":       policy.Allow,
		"ls | git apply":   policy.Allow,
		"git 'push'":       policy.Deny,
		"git status; rm x": policy.Deny,
		"git $X":           policy.Deny,
		"xls":              policy.Deny,
		"git status '":     policy.Deny,
	} {
		if got := f.Judge(line); got.Decision != want {
			t.Errorf("%s: %+v, want %s", line, got, want)
		}
	}
	if err := (policy.CommandFilter{Blocked: []string{"("}}).Check(); err == nil {
		t.Error("a broken expression passes")
	}
	if v := (policy.CommandFilter{Blocked: []string{"("}}).Judge("ls"); v.Decision != policy.Deny {
		t.Errorf("a broken expression: %+v", v)
	}
}

func TestHash(t *testing.T) {
	seen := map[event.Hash]policy.Action{}
	for _, a := range []policy.Action{
		{}, {Tool: "a"}, {Kind: "a"}, {Target: "a"}, {Dir: "a"}, {Input: "a"}, {Boxed: true},
		{Target: "a\n0:"}, {Target: "a", Dir: "b"}, {Target: "ab"}, {Target: "\xff"}, {Target: "\xfe"}, {Target: "\uFFFD"},
	} {
		if b, ok := seen[a.Hash()]; ok {
			t.Errorf("%+v and %+v have the same hash", a, b)
		}
		seen[a.Hash()] = a
	}
}

func TestDescribe(t *testing.T) {
	a := policy.Action{
		Tool: "shell", Kind: policy.Command, Dir: "/ws", Input: `{"command":"…"}`,
		Target: "ls \x1b[2K\u202e\u200b\u3164\ta\xff\r\nin the directory\n/safe",
	}
	const want = "shell: run a command, outside any sandbox\n" +
		"    ls \\u{1b}[2K\\u{202e}\\u{200b}\\u{3164}\\ta\\xff\\r\n" +
		"    in the directory\n    /safe\n" +
		"in the directory\n    /ws\n" +
		"with the input\n    {\"command\":\"…\"}\n"
	if got := a.Describe(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	long := policy.Action{Kind: policy.Write, Input: strings.Repeat("x", 1<<20)}
	if n := len(long.Describe()); n < 1<<20 {
		t.Errorf("something was left out: %d bytes", n)
	}
}
