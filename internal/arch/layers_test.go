package arch

import (
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// layers says what each package may import of ours, from the bottom up: packages
// come after what they may import. A name that ends in /* stands for every
// package one level below that no earlier row names.
var layers = []struct {
	pkgs string // space-separated
	may  string
}{
	// Pure: values in, values out.
	{"event", ""},
	{"prompt", ""},
	{"flow budget view", "event"},
	{"flow/flowtest", "event flow"},
	{"coord/vote", "event"},
	{"coord", "event flow budget coord/vote"},
	{"coord/coordtest", "event flow coord"},
	{"chat", "event flow"},
	{"dialog", "event budget"},
	{"job", "event flow budget dialog"},
	{"job/jobtest", "event flow job"},
	{"team", "event flow budget dialog"},
	{"team/teamtest", "event flow team"},
	{"launch", "event"},
	{"talk", "event flow budget dialog"},

	{"policy", "event"},
	{"gear", "event policy"},
	{"confine", "policy"},
	{"project", "event"},
	{"git", "event"},
	{"jobdir", "event job git"},
	{"teamdir", "event git"},
	{"datasource", "event policy confine"},
	{"datasource/pgtest datasource/bolttest", ""},

	// Seams, each with its suite.
	{"eventlog", "event"},
	{"backend", "event policy"},
	{"tool sandbox", "event policy"},
	{"eventlog/eventlogtest", "event eventlog"},
	{"backend/backendtest", "event backend"},
	{"embed", ""},
	{"embed/embedtest", "embed"},

	// Engines know their seam and nothing of one another.
	{"eventlog/internal/*", "event eventlog"},
	{"eventlog/blobdir", "event eventlog"},
	{"eventlog/*", "event eventlog eventlog/internal/* eventlog/blobdir"},
	{"backend/wire backend/price", "event backend"},
	{"backend/openai/sdk", "backend backend/wire"},
	{"backend/openai backend/chat", "event backend backend/wire backend/price backend/openai/sdk"},
	{"backend/cli", "event backend"},
	{"backend/claudecode", "event policy backend backend/cli"},
	{"backend/rpc", "backend backend/cli"},
	{"backend/acp", "event policy backend backend/cli backend/rpc"},
	{"backend/codex", "event policy backend backend/cli backend/rpc backend/price"},
	{"backend/*", "event backend backend/wire backend/price"},
	{"backend/anthropic/anthropictest", "event backend backend/backendtest"},
	{"backend/openai/openaitest", "event backend backend/backendtest"},
	{"backend/chat/chattest", "backend/backendtest backend/openai/openaitest"},
	{"backend/gemini/geminitest", "backend backend/backendtest"},
	{"backend/claudecode/claudetest", "backend backend/backendtest backend/anthropic/anthropictest"},
	{"backend/script/demo", "backend/script"},
	{"tool/typed", "policy tool"},
	{"tool/tooltest", "tool"},
	{"tool/files", "policy confine tool tool/typed"},
	{"tool/shell", "policy sandbox tool tool/typed"},
	{"tool/plan", "policy tool tool/typed"},
	{"tool/front", ""},
	{"tool/memory", "policy tool tool/front tool/typed"},
	{"tool/skill", "tool tool/front tool/typed"},
	{"tool/web", "gear policy tool tool/typed"},
	{"tool/project", "event policy project tool tool/typed"},
	{"tool/todo", "tool tool/typed"},
	{"tool/team", "event tool tool/typed"},
	{"proc", "event"},
	{"backend/cli/clitest", "event policy backend proc"},
	{"tool/mcp", "event gear policy proc tool tool/typed"},
	{"tool/data", "event policy confine datasource tool tool/typed"},
	{"tool/*", "event tool"},

	{"sandbox/sandboxtest", "event policy proc sandbox"},
	{"sandbox/internal/layout", "policy"},
	{"sandbox/docker/dockertest", ""},
	{"sandbox/internal/*", "event"},
	{"sandbox/*", "event policy proc sandbox sandbox/internal/*"},

	// Shell.
	{"live workspace planfile", "event"},
	{"embed/minilm/weights", ""},
	{"embed/minilm", "embed embed/minilm/weights"},
	{"embed/minilm/generate", "embed/minilm/weights"},
	{"embed/remote", "embed"},
	{"index", "embed"},
	{"engine", "event flow eventlog live"},
	{"agent", "event flow eventlog live backend policy tool tool/todo tool/team coord talk job team dialog launch prompt engine"},
	{"redact", ""},
	{"kit", "event policy gear backend confine workspace sandbox tool prompt agent"},
	{"agent/agenttest", "event flow eventlog backend backend/script policy tool coord talk job team engine agent"},

	// Surfaces, what lies between them and the program, and the program.
	{"config", "event policy gear backend"},
	{"examples/teams", ""},
	{"control", "event live view launch project jobdir"},
	{"companion", "event view control tool tool/typed"},
	{"cli", "event live view config launch project control"},
	{"mcpserve", "event view launch control"},
	{"web", "event live view launch project control"},
	{"tui/text", "view"},
	{"tui/theme", ""},
	{"tui/list", "tui/text"},
	{"tui/markdown tui/diff tui/input", "tui/text tui/theme"},
	{"tui", "event live view launch project control tui/text tui/theme tui/list tui/markdown tui/diff tui/input"},
	{"tui/robot", "event live view control tui"},
	{"tui/shot", ""},
	{"web/dist web/e2e tools/buildui tools/suite", ""},
	{"app", "everything"},
	{"bench", "everything"},
	{"cmd/conclave", "app cli sandbox/landlock"},
	{"arch", ""},
}

// matches reports whether a package is meant by a name of the table.
func matches(name, pkg string) bool {
	if dir, ok := strings.CutSuffix(name, "/*"); ok {
		return path.Dir(pkg) == dir
	}
	return name == pkg || name == "everything"
}

func anyMatches(names, pkg string) bool {
	return slices.ContainsFunc(strings.Fields(names), func(n string) bool { return matches(n, pkg) })
}

// downward is the direction of every import outside tests.
func downward(all []*file) []problem {
	var out []problem
	missing := map[string]bool{}
	for _, f := range goFiles(all) {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		i := slices.IndexFunc(layers, func(l struct{ pkgs, may string }) bool { return anyMatches(l.pkgs, f.pkg()) })
		if i < 0 {
			if !missing[f.pkg()] {
				out = append(out, f.problem(token.NoPos, "package %s has no place in the table of layers; add it in internal/arch/layers_test.go, with as few arrows as it can live with", f.pkg()))
			}
			missing[f.pkg()] = true
			continue
		}
		for name, pos := range f.imports() {
			if pkg, our := ours(name); our && !anyMatches(layers[i].may, pkg) {
				out = append(out, f.problem(pos, "%s must not import %s; put what both need below them, or hand it in where app puts the program together", f.pkg(), pkg))
			}
		}
	}
	return out
}

// crowned is that nobody imports app but the commands, tests included. The tests
// of a window are the exception: they drive the whole program through it.
func crowned(all []*file) []problem {
	var out []problem
	for _, f := range goFiles(all) {
		if f.pkg() == "app" || f.pkg() == "bench" || strings.HasPrefix(f.pkg(), "cmd/") || f.pkg() == "tui" && f.test() {
			continue
		}
		if pos, ok := f.imports()[module+"internal/app"]; ok {
			out = append(out, f.problem(pos, "only a command imports app; take the interface in control"))
		}
	}
	return out
}

func TestEveryArrowPointsDownward(t *testing.T) { holds(t, downward) }
func TestNobodyImportsApp(t *testing.T)         { holds(t, crowned) }

func TestLayerRules(t *testing.T) {
	src := func(imports ...string) string {
		out := "package x\n"
		for _, i := range imports {
			out += "import _ \"" + i + "\"\n"
		}
		return out
	}
	const in = module + "internal/"
	fails(t, downward, "", "internal/coord/a.go", src("fmt", "example.org/event", in+"event", in+"coord/vote"))
	fails(t, downward, "event must not import flow", "internal/event/a.go", src(in+"flow"))
	fails(t, downward, "coord must not import eventlog", "internal/coord/a.go", src(in+"eventlog"))
	fails(t, downward, "eventlog/mem must not import eventlog/sqlite", "internal/eventlog/mem/a.go", src(in+"eventlog/sqlite"))
	fails(t, downward, "", "internal/eventlog/mem/a.go", src(in+"eventlog/internal/wake"))
	fails(t, downward, "engine must not import agent", "internal/engine/a.go", src(in+"agent"))
	fails(t, downward, "", "internal/engine/a_test.go", src(in+"agent"))
	fails(t, downward, "cli must not import engine", "internal/cli/a.go", src(in+"engine"))
	fails(t, downward, "cli must not import eventlog/sqlite", "internal/cli/a.go", src(in+"eventlog/sqlite"))
	fails(t, downward, "", "internal/app/a.go", src(in+"eventlog/sqlite", in+"cli"))
	fails(t, downward, "has no place in the table", "internal/extra/a.go", src())
	fails(t, downward, "cmd/conclave must not import coord", "cmd/conclave/a.go", src(in+"coord"))
	fails(t, crowned, "", "cmd/conclave/a.go", src(in+"app"))
	fails(t, crowned, "only a command imports app", "internal/cli/a_test.go", src(in+"app"))
}

// A row that names a package which is gone, or comes before what it may import,
// is a row nobody can trust.
func TestLayersAreInOrder(t *testing.T) {
	all, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, l := range layers {
		for _, name := range strings.Fields(l.may) {
			if name != "everything" && !slices.ContainsFunc(seen, func(s string) bool { return s == name || matches(s, name) }) {
				t.Errorf("%s may import %s, which is not below it", l.pkgs, name)
			}
		}
		seen = append(seen, strings.Fields(l.pkgs)...)
	}
	for _, name := range seen {
		if name != "tool/*" && !slices.ContainsFunc(goFiles(all), func(f *file) bool { return matches(name, f.pkg()) }) {
			t.Errorf("%s is in the table and not in the tree", name)
		}
	}
}
