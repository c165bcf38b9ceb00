// Package sandboxtest is the meaning of the sandbox seam: what commands in a box
// can do, and a corpus of ways out that must not work.
//
// The test of an engine has three lines:
//
//	func TestMain(m *testing.M) { sandboxtest.Main(m) }
//
//	func TestEngine(t *testing.T) { sandboxtest.Run(t, open, sandboxtest.Traits{}) }
//
// What runs in the box is the test binary itself, by [Main], so a box needs no
// tools. A test of an engine that cannot do something says so in its [Traits].
package sandboxtest

import (
	"os"
	"testing"

	"conclave/internal/sandbox"
)

// Traits are what an engine cannot do. The zero value can do everything.
type Traits struct {
	// Unconfined: there is no boundary; nothing of the corpus is tried.
	Unconfined bool
	// Strays: a process that leaves its session and clears its environment is
	// lost.
	Strays bool
	// Modes: modes and times of files that cannot be written can be changed.
	Modes bool
	// Crowded: nothing new can be made in a directory that holds something
	// protected or hidden, and it cannot be listed if it holds something hidden.
	Crowded bool
	// NoUnix: there are no unix sockets, not even among commands of the box.
	NoUnix bool
	// NoMemory, NoProcs: that limit is not held, and asking for it is an error.
	NoMemory, NoProcs bool
	// Calls are system calls of the corpus that get through and do no harm.
	Calls []string
	// OwnLoopback: with a network, the loopback of the box is not the machine's.
	OwnLoopback bool
	// Static: boxes have other libraries than the machine.
	Static bool
	// Adjust changes a spec before a box is opened with it: an image, say.
	Adjust func(t *testing.T, s *sandbox.Spec)
}

// Main runs the tests of an engine, or what the suite runs in a box. Before, if
// given, runs first and is for engines that start their own binary again.
func Main(m *testing.M, before ...func()) {
	for _, f := range before {
		f()
	}
	if len(os.Args) > 2 && os.Args[1] == helperArg {
		os.Exit(help(os.Args[2], os.Args[3:]))
	}
	code := m.Run()
	_ = os.RemoveAll(built())
	os.Exit(code)
}

// Run tries an engine against the meaning of the seam. Make is called for every
// test.
func Run(t *testing.T, make func(t *testing.T) sandbox.Engine, traits Traits) {
	if err := make(t).Probe(t.Context()); err != nil {
		Missing(t, make(t).Name()+": "+err.Error())
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.cases {
				t.Run(c.name, func(t *testing.T) {
					if c.skip != nil && c.skip(traits) {
						t.Skip("the engine says that it cannot do this")
					}
					c.run(&world{T: t, engine: make(t), traits: traits})
				})
			}
		})
	}
}

// Missing skips a test because of a part that is not there, or fails it in CI,
// where every part has to be.
func Missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("missing: %s", what)
	}
	t.Skipf("missing: %s", what)
}

// testcase is one thing that has to hold; skip tells for which engines not.
type testcase struct {
	name string
	skip func(Traits) bool
	run  func(*world)
}

type group struct {
	name  string
	cases []testcase
}

// helperArg is what the test binary is started with in a box.
const helperArg = "__sandboxtest"
