package files

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"conclave/internal/confine"
	"conclave/internal/policy"
	"conclave/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A desk is a workspace and the tools for it.
type desk struct {
	*kit
	t   *testing.T
	dir string
}

// newDesk has a writable workspace ws and a read-only folder ro beside it.
func newDesk(t *testing.T) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: dir}
	d.put("ws/a.txt", "one\ntwo\nthree\n")
	d.put("ro/r.txt", "read only\n")
	root, err := confine.Open(policy.Place{Dir: d.path("ws"), Mounts: []policy.Mount{{Path: d.path("ws"), Write: true}, {Path: d.path("ro")}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	d.kit = newKit(root, &Seen{}, policy.Permissions{})
	return d
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *desk) put(name, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o777); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(d.path(name), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) holds(name, want string) {
	d.t.Helper()
	if got, err := os.ReadFile(d.path(name)); err != nil || string(got) != want {
		d.t.Errorf("%s holds %q, %v, want %q", name, got, err, want)
	}
}

// call runs a tool; fields are names and values in turn.
func (d *desk) call(name string, fields ...any) tool.Result {
	d.t.Helper()
	in := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		in[fields[i].(string)] = fields[i+1]
	}
	raw, err := json.Marshal(in)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, x := range d.tools() {
		if x.Name() == name {
			res, err := x.Run(d.t.Context(), raw)
			if err != nil {
				d.t.Fatalf("%s %s: %v", name, raw, err)
			}
			return res
		}
	}
	d.t.Fatalf("there is no tool %s", name)
	return tool.Result{}
}

// ok wants a call to work and to say something.
func (d *desk) ok(want string, name string, fields ...any) {
	d.t.Helper()
	if res := d.call(name, fields...); res.Error || !strings.Contains(res.Text, want) {
		d.t.Errorf("%s %v: %q (error %v), want %q", name, fields, res.Text, res.Error, want)
	}
}

// bad wants a call to fail and to say why.
func (d *desk) bad(want string, name string, fields ...any) {
	d.t.Helper()
	if res := d.call(name, fields...); !res.Error || !strings.Contains(res.Text, want) {
		d.t.Errorf("%s %v: %q (error %v), want %q", name, fields, res.Text, res.Error, want)
	}
}
