package policy_test

import (
	"strings"
	"testing"

	"conclave/internal/policy"
)

// place is a workspace inside a project's hidden folder, beside a read-only
// folder, a file, and a part of the project that is writable.
func place() policy.Place {
	return policy.Place{
		Dir: "/proj/.conclave/runs/r/agent1",
		Mounts: []policy.Mount{
			{Path: "/proj", Write: true, Protected: []string{"docs", "/proj/lib/keep.txt"}, Hidden: []string{".conclave", "secret"}},
			{Path: "/proj/.conclave/runs/r/agent1", Write: true},
			{Path: "/proj/.conclave/runs/r/snapshots"},
			{Path: "/proj/src/vendor"},
			{Path: "/data/table.csv"},
		},
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ path, mount, rel string }{
		{"/proj", "/proj", "."},
		{"/proj/a/../b", "/proj", "b"},
		{"/proj/src/vendor/x", "/proj/src/vendor", "x"},
		{"/proj/src/vendored", "/proj", "src/vendored"},
		{"/proj/.conclave/runs/r/agent1/a", "/proj/.conclave/runs/r/agent1", "a"},
		{"/proj/.conclave/runs/r/agent12", "", ""},
		{"/proj/.conclave/conclave.db", "", ""},
		{"/proj/Secret/x", "", ""},
		{"/proj-evil/x", "", ""},
		{"/data/table.csv", "/data/table.csv", "."},
		{"/data/other.csv", "", ""},
		{"/proc/self/cwd/proj", "", ""},
		{"/", "", ""},
	} {
		m, rel, ok := place().Find(c.path)
		if ok != (c.mount != "") || m.Path != c.mount || rel != c.rel {
			t.Errorf("%s: in %q at %q, want %q at %q", c.path, m.Path, rel, c.mount, c.rel)
		}
	}
}

func TestMay(t *testing.T) {
	const yes = ""
	for _, c := range []struct {
		path                string
		read, write, delete string // a part of the reason, yes if it may be done
	}{
		{"notes.md", yes, yes, yes},
		{"../agent2/notes.md", "not among", "not among", "not among"},
		{"/proj/main.go", yes, yes, yes},
		{"/proj", yes, yes, "places you were given"},
		{"/proj/docs/a", yes, "protected", "protected"},
		{"/proj/DOCS/a", yes, "protected", "protected"},
		{"/proj/lib", yes, yes, "a part of it is protected"},
		{"/proj/lib/keep.txt", yes, "protected", "protected"},
		{"/proj/lib/keep.txt.bak", yes, yes, yes},
		{"/proj/.git/config", yes, "protected", "protected"},
		{"/proj/.GIT", yes, "protected", "protected"},
		{"/proj/.git. /hooks", yes, "protected", "protected"},
		{"/proj/.g\u200dit/hooks", yes, "protected", "protected"},
		{"/proj/GIT~1/hooks", yes, "protected", "protected"},
		{"/proj/.git::$INDEX_ALLOCATION/hooks", yes, "protected", "protected"},
		{"/proj/.gitignore", yes, yes, yes},
		{"/proj/sub/.git/config", yes, yes, yes},
		{"/proj/.conclave", "not among", "not among", "not among"},
		{".conclave/x", yes, "protected", "protected"},
		{"/proj/src", yes, yes, "/proj/src/vendor inside it does"},
		{"/proj/src/vendor/a.go", yes, "read-only", "read-only"},
		{"/data/table.csv", yes, "read-only", "read-only"},
		{"/etc/passwd", "not among", "not among", "not among"},
		{"", "empty", "empty", "empty"},
		{"a\x00b", "NUL", "NUL", "NUL"},
		{strings.Repeat("a/", 4000), "bytes long", "bytes long", "bytes long"},
	} {
		for a, want := range map[policy.Access]string{policy.ToRead: c.read, policy.ToWrite: c.write, policy.ToDelete: c.delete} {
			v := place().May(c.path, a)
			if (v.Decision == policy.Allow) != (want == yes) || !strings.Contains(v.Reason, want) {
				t.Errorf("%.40q for access %d: %+v, want %q", c.path, a, v, want)
			}
		}
	}
	if v := place().May("/etc", policy.ToRead); !strings.Contains(v.Reason, "/data/table.csv (read only)") {
		t.Errorf("the reason does not say what there is: %s", v.Reason)
	}
}
