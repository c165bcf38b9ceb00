package main

import (
	"path/filepath"
	"strings"
	"testing"

	"conclave/internal/event"
)

// Every example passes the strictest check.
func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) < 9 {
		t.Fatal(files, err)
	}
	args := []string{"validate", "--strict"}
	for _, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, abs)
	}
	p := &project{dir: t.TempDir(), env: []string{"DOCS_TOKEN=fake"}}
	if out := p.output(t, args...); strings.Count(out, ": valid\n") != len(files) {
		t.Errorf("not all are valid:\n%s", out)
	}
}

// An example of models runs, once the addresses are those of fakes: what each of
// them says about tools and rules is taken.
func TestExampleCoding(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	claude, gpt := serve(t, "claude", plain), serve(t, "openai", plain)
	p := bench(t, "", claude, gpt)
	text := read(t, "../../examples/coding.yaml")
	for _, s := range []*provider{claude, gpt} {
		text = strings.Replace(text, "type: "+s.kind+"\n", "type: "+s.kind+"\n      base_url: "+s.url+"\n", 1)
	}
	p.write(t, "coding.yaml", text)
	p.write(t, "LICENSE", "mine\n")
	if got := p.output(t, "run", "-q", "--config", "coding.yaml", "a task"); got != "The final answer.\n" {
		t.Errorf("the answer is %q", got)
	}
	for _, s := range []*provider{claude, gpt} {
		if all := s.all(); len(all) == 0 || !all[0].offers("shell") || !all[0].offers("write") || !all[0].offers("plan_create") {
			t.Errorf("%s was offered %v", s.kind, all)
		}
	}
	p.sound(t)
}

// The rehearsal uses real tools without any model: without --ask the command that
// needs a permission is refused, with it somebody is asked.
func TestExampleRehearsal(t *testing.T) {
	t.Parallel()
	needsSandbox(t)
	file, err := filepath.Abs("../../examples/rehearsal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := newTeam(t)
	x := p.start(t, "run", "--json", "--config", file, "Sort three numbers")
	x.ends(0)
	events, r := ran(t, x.out.String())
	if r.Status != "success" || r.Coordination.Winner != "boxed" || len(r.Answers) != 2 {
		t.Errorf("the result is %+v", r)
	}
	if got := read(t, filepath.Join(r.Workspace, "sorted.txt")); got != "4\n30\n100\n" {
		t.Errorf("sorted.txt holds %q", got)
	}
	if n := len(bodies[event.Refused](events)); n != 1 {
		t.Errorf("%d refusals, want that of the command outside", n)
	}
	p.sound(t)

	p = newTeam(t)
	x = p.start(t, "run", "--ask", "--config", file, "Sort three numbers")
	x.says(x.err, `(?s)sort -n numbers\.txt.*Allow it with: conclave approve run-`)
	p.output(t, "approve")
	x.ends(0)
	if !strings.Contains(x.out.String(), "4\n30\n100") {
		t.Errorf("the answer is %q", x.out)
	}
	done, err := filepath.Glob(filepath.Join(p.dir, ".conclave", "runs", "*", "snapshots", "*", "sorted.txt"))
	if err != nil || len(done) != 2 {
		t.Errorf("sorted were %v (%v), want both", done, err)
	}
	p.sound(t)
}
