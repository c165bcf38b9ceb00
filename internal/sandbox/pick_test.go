package sandbox

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type fake struct {
	name string
	err  error
}

func (f fake) Name() string                            { return f.name }
func (f fake) Probe(context.Context) error             { return f.err }
func (f fake) Open(context.Context, Spec) (Box, error) { return nil, errors.ErrUnsupported }

func TestPick(t *testing.T) {
	no := errors.New("it is broken: repair it")
	all := func(bwrap, landlock error) []Engine {
		return []Engine{fake{"host", nil}, fake{"landlock", landlock}, fake{"docker", no}, fake{"bwrap", bwrap}}
	}
	for _, c := range []struct {
		name    string
		engines []Engine
		wanted  string
		got     string
		reasons int
		says    string
	}{
		{"the best", all(nil, nil), "", "bwrap", 0, ""},
		{"the next", all(no, nil), "", "landlock", 1, ""},
		{"never the host by itself", all(no, no), "", "", 2, "ask for docker, or for host"},
		{"only the host is there", []Engine{fake{"host", nil}}, "", "", 0, "no sandbox works here"},
		{"by name", all(nil, nil), "landlock", "landlock", 0, ""},
		{"the host by name", all(nil, nil), "host", "host", 0, ""},
		{"by name and broken", all(nil, nil), "docker", "", 0, "docker does not work here: it is broken: repair it"},
		{"no such name", all(nil, nil), "jail", "", 0, "choose one of bwrap, docker, host, landlock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, reasons, err := Pick(t.Context(), c.engines, c.wanted)
			if (e == nil) != (c.got == "") || e != nil && e.Name() != c.got || len(reasons) != c.reasons {
				t.Errorf("got %v because of %q", e, reasons)
			}
			if (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, ErrNone) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestEnv(t *testing.T) {
	got := Env("/home/x", "/tmp", []string{"A=1", "PATH=/mine"}, []string{"A=2", "B=x=y"})
	want := []string{"PATH=/mine", "HOME=/home/x", "TMPDIR=/tmp", "LANG=C.UTF-8", "TERM=dumb", "A=2", "B=x=y"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
