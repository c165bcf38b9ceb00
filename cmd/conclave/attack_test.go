package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"conclave/internal/event"
)

// An attempt is a tool call of an agent that has been turned against its user.
type attempt struct {
	tool  string
	input fields
}

func does(command string) attempt { return attempt{"shell", fields{"command": command}} }

func writes(path string) attempt {
	return attempt{"write", fields{"path": path, "content": "EVIL"}}
}

// attack plays attempts by one agent that may write a folder of the user's.
func attack(t *testing.T, p *project, sandbox, src string, attempts []attempt) []event.ToolReturned {
	t.Helper()
	var steps []string
	for i, a := range attempts {
		input, err := json.Marshal(a.input)
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, fmt.Sprintf("  - {when: {call: %d}, do: [{tool: {name: %s, input: %s}}]}\n", i+1, a.tool, input))
	}
	p.write(t, "evil.yaml", "pace: 0\nsteps:\n"+strings.Join(steps, "")+"  - do: [{answer: done}]\n")
	p.write(t, "evil-team.yaml", "agents: [{id: evil, backend: {type: script, script: evil.yaml, files: true, shell: {sandbox: "+sandbox+"}}}]\n")
	p.env = append(p.env, "CANARY_TOKEN=canary-of-the-environment")
	x := p.start(t, "run", "--json", "--single", "--quick", "--context", src+":rw", "--config", "evil-team.yaml", "a task")
	x.ends(0)
	events, _ := ran(t, x.out.String())
	got := bodies[event.ToolReturned](events)
	if len(got) != len(attempts) {
		t.Fatalf("%d of %d attempts were made", len(got), len(attempts))
	}
	return got
}

// tree is every file and link below a folder with what is in it.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if e.Type()&fs.ModeSymlink != 0 {
			out[path], err = os.Readlink(path)
			return err
		}
		out[path] = read(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// needsLandlock skips where the kernel is too old for it.
func needsLandlock(t *testing.T) {
	t.Helper()
	v, err := landlock.LandlockGetABIVersion()
	switch {
	case err == nil && v >= 6:
	case os.Getenv("CI") == "true":
		t.Fatalf("needs Landlock 6: %d, %v", v, err)
	default:
		t.Skipf("needs Landlock 6: %d, %v", v, err)
	}
}

// What was made of other agents' file tools and shells, tried on the program: in
// pairs, where a command prepares what a file tool then does outside any sandbox,
// and the other way round; on what exists, and on what does not exist yet.
func TestAttacks(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	for _, sandbox := range []string{"bwrap", "landlock"} {
		t.Run(sandbox, func(t *testing.T) {
			t.Parallel()
			if sandbox == "landlock" {
				needsLandlock(t)
			}
			p := newTeam(t)
			base := t.TempDir()
			src, home := filepath.Join(base, "src"), filepath.Join(base, "home")
			for _, f := range []string{"src/.git/config", "src/inner/.git/config", "src/inner/.conclave/config.yaml", "src/d/f", "home/id_rsa"} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(base, f)), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(base, f), "canary-of-"+strings.ReplaceAll(f, "/", "-")+"\n")
			}
			at := func(name string) string { return filepath.Join(src, name) }
			kept := []string{at(".git"), at("inner/.git"), at("inner/.conclave"), home}
			before := map[string]map[string]string{}
			for _, dir := range kept {
				before[dir] = tree(t, dir)
			}
			got := attack(t, p, sandbox, src, []attempt{
				does("cat " + home + "/id_rsa; ls -la " + home + "; cp " + home + "/id_rsa .; echo EVIL > " + home + "/id_rsa; echo EVIL > " + home + "/.bashrc"),
				does("cat " + p.dir + "/.conclave/conclave.db ../../../conclave.db; cat /proc/*/environ; cat " + p.dir + "/evil-team.yaml"),
				does("ln -s " + home + " out; ln -s " + at(".git") + " git; ln -s " + at("inner/.conclave") + " state; ln " + at(".git/config") + " hard; true"),
				writes("out/id_rsa"), writes("out/.bashrc"), writes("git/config"), writes("git/hooks/pre-commit"), writes("state/permissions.json"),
				{"read", fields{"path": "out/id_rsa"}}, {"copy", fields{"from": "out", "to": "stolen"}}, {"search", fields{"pattern": "canary", "path": "out"}},
				does("cd " + src + "; ln -s " + home + " d/out; mv .git .gone; mkdir -p .git/hooks inner/.git/hooks; echo EVIL > .git/hooks/pre-commit; echo EVIL > inner/.git/hooks/pre-commit; rm -rf .git inner/.git inner; true"),
				writes(at("d/out/id_rsa")), writes(at("inner/.git/config")), writes(at(".GIT/config")), writes(at("d/../.git/config")),
				{"move", fields{"from": at("inner"), "to": at("moved")}}, {"delete", fields{"path": at("inner"), "recursive": true}},
				does("mkdir -p " + at(".conclave") + " && echo EVIL > " + at(".conclave/config.yaml")),
				writes(at(".conclave/config.yaml")), {"make_dir", fields{"path": at(".conclave/runs")}},
				does("mkdir -p .git/hooks; printf '[core]\\nfsmonitor = touch " + home + "/pwned\\n' > .git/config; echo 'x filter=y' > .gitattributes; true"),
				does("(setsid sleep 86399 >/dev/null 2>&1 &); exec 3<>/dev/tcp/127.0.0.1/80 && echo connected"),
			})
			if last := got[len(got)-1].Result.Text; strings.Contains(last, "connected\n") {
				t.Errorf("there is a network: %s", last)
			}
			for line := range strings.Lines(p.output(t, "log", "--json")) {
				if strings.Contains(line, "canary-of-") || strings.Contains(line, "SQLite format") {
					t.Errorf("it was brought to light: %.2000s", line)
				}
			}
			for _, dir := range kept {
				after := tree(t, dir)
				for path, text := range after {
					if before[dir][path] != text {
						t.Errorf("%s holds %q now", path, text)
					}
				}
				if len(after) != len(before[dir]) {
					t.Errorf("of %v in %s there is %v", before[dir], dir, after)
				}
			}
			if _, err := os.Lstat(at(".conclave")); err == nil {
				t.Error("there is a .conclave in the user's folder now")
			}
			working, err := filepath.Glob("/proc/[0-9]*/cwd")
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range working {
				if cwd, err := os.Readlink(d); err == nil && strings.HasPrefix(cwd, p.dir+"/") {
					t.Errorf("%s still works in %s", filepath.Dir(d), cwd)
				}
			}
			p.sound(t)
		})
	}
}
