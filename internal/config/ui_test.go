package config_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/config"
)

func TestUI(t *testing.T) {
	yes, no := true, false
	for src, want := range map[string]config.UI{
		"{}": {},
		"{display_type: simple, logging_enabled: true}": {Display: "simple"},
		"{theme: latte}": {Theme: "latte"},
		"{mouse: off, notifications: no, plain: true}":                  {Mouse: &no, Notify: &no, Plain: &yes},
		`{keys: {help: "?", quit: [ctrl+q, f10], pause: none}}`:         {Keys: map[string][]string{"help": {"?"}, "quit": {"ctrl+q", "f10"}, "pause": {"none"}}},
		`{keys: {first: 1, more: "+", all: "ctrl++", bottom: G, s: ß}}`: {Keys: map[string][]string{"first": {"1"}, "more": {"+"}, "all": {"ctrl++"}, "bottom": {"G"}, "s": {"ß"}}},
		"{keys: {send: ctrl+shift+enter, nothing: []}}":                 {Keys: map[string][]string{"send": {"ctrl+shift+enter"}, "nothing": nil}},
	} {
		f := mustParse(t, team+"ui: "+src+"\n")
		if d := cmp.Diff(want, f.UI); d != "" || len(f.Warnings) > 0 {
			t.Errorf("%s: %s %v", src, d, f.Warnings)
		}
	}
}

func TestUIRefusals(t *testing.T) {
	for src, want := range map[string]string{
		"theme: drak":               `did you mean "dark"?`,
		"keys: {help: crtl+h}":      `did you mean "ctrl"?`,
		"keys: {help: [f1, entre]}": `did you mean "enter"?`,
		"keys: {help: Ctrl+H}":      `did you mean "ctrl+h"?`,
		"keys: {help: f64}":         "a key such as ctrl+k",
		`keys: {help: ""}`:          "a key such as ctrl+k",
		`keys: {help: "ctrl+"}`:     "a key such as ctrl+k",
		`keys: {help: "g g"}`:       "a key such as ctrl+k",
		"keys: {help: {a: b}}":      "a key such as ctrl+k",
		"keys: f1":                  "a mapping",
		"keys: {help: a, help: b}":  "given twice",
		`mouse: "on"`:               "leave the quotation marks out",
	} {
		_, err := config.Parse("team.yaml", []byte(team+"ui: {"+src+"}\n"))
		if e, ok := errors.AsType[*config.Error](err); !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("%s: got %v, want %q", src, err, want)
		}
	}
}

// A file over another changes the actions it names, and each says where it was
// set.
func TestKeysOverOthers(t *testing.T) {
	dir := t.TempDir()
	base := write(t, filepath.Join(dir, "user.yaml"), "ui: {theme: dark, keys: {help: f1, quit: ctrl+q}}\n")
	over := write(t, filepath.Join(dir, "team.yaml"), team+"ui: {keys: {quit: f10}}\n")
	f, err := config.LoadOver(base, over)
	if err != nil {
		t.Fatal(err)
	}
	want := config.UI{Theme: "dark", Keys: map[string][]string{"help": {"f1"}, "quit": {"f10"}}}
	if d := cmp.Diff(want, f.UI); d != "" {
		t.Error(d)
	}
	from := map[string]string{}
	for _, o := range f.Origins {
		from[o.Path] = o.Value
	}
	if from["ui.keys.help"] != "f1" || from["ui.keys.quit"] != "f10" {
		t.Errorf("origins: %v", from)
	}
}
