package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The bundler drops types without reading them: they are read here. What the pages
// are built on has its types in the npm packages of the same versions.
func TestTypes(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		missing(t, "node is not installed")
	}
	tsc := filepath.Join(installed(t, "typescript"), "bin", "tsc")
	t.Parallel()
	packages := filepath.Dir(installed(t, "preact"))
	abs := func(path string) string {
		out, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	at := func(name string) []string { return []string{filepath.Join(packages, name)} }
	settings, err := json.Marshal(map[string]any{
		"extends": abs("npm/tsconfig.json"),
		"include": []string{abs("../ui") + "/**/*"},
		"exclude": []string{abs("../ui/third_party")},
		"compilerOptions": map[string]any{"paths": map[string][]string{
			"preact": at("preact"), "preact/*": at("preact/*"), "@preact/*": at("@preact/*"),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tsconfig.json")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", tsc, "-p", file, "--pretty", "false")
	cmd.Dir = abs("../ui")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the types of the pages: %v\n%s", err, out)
	}
}

// The types that are checked are those of what the pages are built on.
func TestTypesOfTheSameVersions(t *testing.T) {
	version := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out struct{ Version string }
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		return out.Version
	}
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	text, err := os.ReadFile("npm/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"preact", "@preact/signals", "@preact/signals-core"} {
		built, checked := version(filepath.Join("../ui/third_party", name, "package.json")), lock.Packages["node_modules/"+name].Version
		if built != checked {
			t.Errorf("%s is built in version %s and checked in version %s", name, built, checked)
		}
	}
}
