package config_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"conclave/internal/config"
)

// Whatever the text: no panic, positions inside the file, problems in order, and
// never a file together with errors. What loads has rules to run by.
func FuzzParse(f *testing.F) {
	for _, tt := range refusals {
		f.Add(tt.src)
	}
	for _, tt := range backendRefusals {
		f.Add("agents:\n  - id: a\n    backend:\n      " + strings.ReplaceAll(tt.src, "\n", "\n      ") + "\n")
	}
	for _, trials := range ofBackends {
		for _, tt := range trials {
			f.Add(inBackend(tt.yaml))
		}
	}
	f.Setenv("MY_KEY", canary)
	f.Setenv("SOME_TOKEN", canary)
	f.Fuzz(func(t *testing.T, src string) {
		file, err := config.Parse("team.yaml", []byte(src))
		if err != nil {
			e, ok := errors.AsType[*config.Error](err)
			if !ok || file != nil {
				t.Fatalf("%v and %T", file, err)
			}
			inOrder(t, src, e.Problems)
			return
		}
		inOrder(t, src, file.Warnings)
		if len(file.Agents) == 0 {
			t.Error("no agents")
		}
		if p, err := json.Marshal(file); err != nil || strings.Contains(string(p), canary) && !strings.Contains(src, canary) {
			t.Errorf("a secret is in the values: %s, %v", p, err)
		}
		if _, err := file.Settings.Rules(file.Mode()); err != nil {
			t.Error(err)
		}
	})
}

func inOrder(t *testing.T, src string, problems []config.Problem) {
	t.Helper()
	last := config.Problem{Line: 1}
	lines := 1 + strings.Count(src, "\n") + strings.Count(src, "\r")
	for _, p := range problems {
		if p.Line < last.Line || p.Line == last.Line && p.Column < last.Column || p.Column < 1 || p.Line > lines+1 {
			t.Errorf("out of place: %s", p)
		}
		if p.Message == "" || !utf8.ValidString(p.String()) {
			t.Errorf("cannot be read: %q", p)
		}
		last = p
	}
}
