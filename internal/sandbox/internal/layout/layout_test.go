package layout

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/policy"
)

// tree makes files, and folders by names that end in a slash.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		path := filepath.Join(base, n)
		dir := filepath.Dir(path)
		if n[len(n)-1] == '/' {
			dir = path
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir != path {
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return base
}

func TestOf(t *testing.T) {
	base := tree(t, "work/a/b/keep", "work/private/shown/file", "work/token", "work/ro/")
	at := func(name string) string { return filepath.Join(base, name) }
	got, err := Of(policy.Place{Dir: at("work"), Mounts: []policy.Mount{
		{Path: at("work/private/shown"), Write: true},
		{Path: at("work/ro")},
		{Path: at("work"), Write: true, Protected: []string{at("work/a/b/keep"), at("work/.git/config")}, Hidden: []string{at("work/private"), at("work/token"), at("work/absent")}},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Item{
		{at("work"), Write},
		{at("work/.git"), Read}, {at("work/a"), Pin}, {at("work/private"), Conceal}, {at("work/ro"), Read}, {at("work/token"), Blank},
		{at("work/a/b"), Pin}, {at("work/private/shown"), Write},
		{at("work/a/b/keep"), Read},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOfRefuses(t *testing.T) {
	base := tree(t, "work/dir/", "other/")
	at := func(name string) string { return filepath.Join(base, name) }
	if err := os.Symlink(at("other"), at("work/link")); err != nil {
		t.Skip(err)
	}
	for name, m := range map[string]policy.Mount{
		"not there":         {Path: at("none")},
		"not absolute":      {Path: "work"},
		"everything":        {Path: "/"},
		"a link":            {Path: at("work/link")},
		"protected link":    {Path: at("work"), Write: true, Protected: []string{at("work/link")}},
		"hidden link":       {Path: at("work"), Hidden: []string{at("work/link/x")}},
		"protected outside": {Path: at("work"), Write: true, Protected: []string{at("other")}},
	} {
		if got, err := Of(policy.Place{Mounts: []policy.Mount{m}}, nil); err == nil {
			t.Errorf("%s is %v", name, got)
		}
	}
}

func TestHolds(t *testing.T) {
	base := tree(t, "work/")
	git := filepath.Join(base, "work", ".git")
	place := policy.Place{Mounts: []policy.Mount{{Path: filepath.Join(base, "work"), Write: true, Protected: []string{git, filepath.Join(git, "hooks")}}}}
	var noted []string
	var holds Holds
	one := holds.New(func(path string) error { noted = append(noted, path); return nil })
	two := holds.New(func(path string) error { noted = append(noted, path); return nil })
	for _, h := range []*Hold{one, two, one} {
		if _, err := h.Take(place); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{git}, noted); diff != "" {
		t.Errorf("noted (-want +got):\n%s", diff)
	}
	one.Give()
	if _, err := os.Stat(git); err != nil {
		t.Errorf("the folder of another box is gone: %v", err)
	}
	two.Give()
	if _, err := os.Stat(git); err == nil {
		t.Error("the folder is still there")
	}
}
