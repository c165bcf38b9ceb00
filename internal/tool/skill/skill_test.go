package skill_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/tool"
	"conclave/internal/tool/skill"
	"conclave/internal/tool/tooltest"
)

// put writes files, given as names and contents.
func put(t *testing.T, dir string, namesAndContents ...string) {
	t.Helper()
	for i := 0; i < len(namesAndContents); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(namesAndContents[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(namesAndContents[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func manual(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n# %s\nDo it.\n", name, description, name)
}

// home and project are two directories with skills; review is in both.
func dirs(t *testing.T) (project, home string) {
	t.Helper()
	project, home = t.TempDir(), t.TempDir()
	put(t, project,
		"review/SKILL.md", manual("review", "the project's"),
		"review/scripts/run.sh", "echo run\n",
		"review/logo.png", "\x89PNG\r\n\x1a\n\x00\x00",
		"review/.cache/x", "x",
		"README.md", "not a skill",
		"notes/a.md", "not a skill")
	put(t, home,
		"review/SKILL.md", manual("review", "the user's"),
		"pdf-folder/SKILL.md", "---\nname: pdf\ndescription: >\n  reads\n  PDF files\nlicense: MIT\n---\nUse it.\n")
	return project, home
}

func TestList(t *testing.T) {
	project, home := dirs(t)
	put(t, home,
		"a/SKILL.md", "# no front matter",
		"b/SKILL.md", manual("B b", "d"),
		"c/SKILL.md", manual("c", "''"),
		"d/SKILL.md", manual("pdf", "again"),
		"e/SKILL.md", manual("e", "d")+strings.Repeat("x", 300<<10))
	got, problems := skill.List([]string{project, filepath.Join(home, "gone"), home})
	want := []skill.Skill{
		{Name: "pdf", Description: "again", Dir: home, Folder: "d"},
		{Name: "review", Description: "the project's", Dir: project, Folder: "review"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, w := range []string{"a/SKILL.md: it does not begin", `"B b" is no name`, "c/SKILL.md: it has no description", "more than", `pdf-folder: the skill "pdf" is in d already`} {
		if len(problems) != 5 || !strings.Contains(filepath.ToSlash(problems[i].Error()), w) {
			t.Fatalf("problems %v, want %q", problems, w)
		}
	}
	if got, problems := skill.List(nil); got != nil || problems != nil {
		t.Errorf("of nothing: %v, %v", got, problems)
	}
}

func call(t *testing.T, x tool.Tool, name, file string) tool.Result {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"name": name, "file": file})
	if err != nil {
		t.Fatal(err)
	}
	res, err := x.Run(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestRead(t *testing.T) {
	project, home := dirs(t)
	put(t, project, "big/SKILL.md", manual("big", "d"), "big/big.txt", strings.Repeat("0123456789", 100<<10), "secret.txt", "secret")
	for i := range 300 {
		put(t, project, fmt.Sprintf("big/many/%d", i), "")
	}
	if err := os.Symlink(filepath.Join("..", "secret.txt"), filepath.Join(project, "review", "out")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	skills, problems := skill.List([]string{project, home})
	if problems != nil {
		t.Fatal(problems)
	}
	x := skill.New(skills)
	if d := x.Description(); !strings.Contains(d, "\n- pdf: reads PDF files\n- review: the project's") || x.Tier() != tool.Read {
		t.Errorf("%s", d)
	}
	for _, c := range []struct {
		name, file, want string
		error            bool
	}{
		{"review", "", "# review\nDo it.\n", false},
		{"review", "", "SKILL.md\nlogo.png\nout\nscripts/run.sh", false},
		{"review", "scripts/run.sh", "echo run\n", false},
		{"review", "scripts", "scripts/run.sh", false},
		{"pdf", "SKILL.md", "license: MIT", false},
		{"big", "big.txt", "[237568 bytes more are not shown]", false},
		{"big", "many", "\nand more", false},
		{"", "", "- review: the project's", false},
		{"review", "gone", "no such file", true},
		{"review", "logo.png", "no text but image/png", true},
		{"review", "out", "escapes", true},
		{"review", "../secret.txt", "escapes", true},
		{"review", filepath.Join(project, "secret.txt"), "escapes", true},
		{"nothing", "", "There are: big, pdf, review.", true},
	} {
		res := call(t, x, c.name, c.file)
		if res.Error != c.error || !strings.Contains(res.Text, c.want) || strings.Contains(res.Text, ":\n\nsecret") {
			t.Errorf("%s %s: %.400s, want %q", c.name, c.file, res.Text, c.want)
		}
	}
}

// A folder that is a link out of the directory is no skill of it.
func TestLinkedSkill(t *testing.T) {
	project, home := dirs(t)
	if err := os.Symlink(filepath.Join(home, "pdf-folder"), filepath.Join(project, "linked")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	skills, problems := skill.List([]string{project})
	if len(skills) != 1 || len(problems) != 1 || !strings.Contains(problems[0].Error(), "escapes") {
		t.Errorf("%v, %v", skills, problems)
	}
}

// However many skills there are, the description stays short.
func TestManySkills(t *testing.T) {
	var skills []skill.Skill
	for i := range 120 {
		skills = append(skills, skill.Skill{Name: fmt.Sprintf("skill-%03d", i), Description: strings.Repeat("x", 500)})
	}
	x := skill.New(skills)
	if n := len(x.Description()); n > 4<<10 || !strings.Contains(x.Description(), "skill-119") {
		t.Errorf("%d bytes", n)
	}
	if res := call(t, x, "", ""); len(res.Text) < 120*500 {
		t.Errorf("the whole list has %d bytes", len(res.Text))
	}
}

func TestSeam(t *testing.T) {
	tooltest.Run(t, func(t *testing.T) []tool.Tool {
		project, home := dirs(t)
		skills, _ := skill.List([]string{project, home})
		return []tool.Tool{skill.New(skills)}
	})
}
