package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A description of a team with next to nothing in it is told what it lacks as one, by
// where it is or by what it has.
func TestValidateOfHardlyATeam(t *testing.T) {
	dir := away(t)
	for name, c := range map[string]struct{ text, want string }{
		".conclave/teams/empty.yaml": {"", "the description of a team is empty; it needs roles"},
		".conclave/teams/named.yaml": {"name: x\n", "roles is missing"},
		"teams/later.yaml":           {"# later\n", "the description of a team is empty"},
		"title.yaml":                 {"title: Bakers\nabout: They bake.\n", "roles is missing"},
		"empty.yaml":                 {"", "the configuration is empty; it needs agents"},
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, _ := command(t, dir, nil, "", "validate", file)
		if code != exitUsage || !strings.Contains(out, c.want) || strings.Contains(out, "unknown key") {
			t.Errorf("%s: %d\n%s", name, code, out)
		}
	}
}
