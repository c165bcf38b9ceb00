package tui

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"conclave/internal/tui/shot"
)

var update = flag.Bool("update", false, "rewrite testdata and docs/screens")

// Every state of the window in three sizes, without colours: one archive for each
// size, to be read from top to bottom.
func TestGoldenScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {120, 40}} {
		w, h := size[0], size[1]
		t.Run(fmt.Sprintf("%dx%d", w, h), func(t *testing.T) {
			path := filepath.Join("testdata", "screens", fmt.Sprintf("%dx%d.txtar", w, h))
			got := txtar.Archive{Comment: []byte("Made by go test -run TestGoldenScreens -update; read the difference.\n\n")}
			for _, s := range states() {
				if s.wide > w {
					continue
				}
				p := rehearse(t, w, h, "none")
				s.set(p)
				fits(t, s.name, p.Model.View().Content, w, h)
				got.Files = append(got.Files, txtar.File{Name: s.name, Data: []byte(p.screen())})
			}
			if *update {
				write(t, path, txtar.Format(&got))
				return
			}
			want, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			screens := map[string]string{}
			for _, f := range want.Files {
				screens[f.Name] = string(f.Data)
			}
			for _, f := range got.Files {
				if d := cmp.Diff(screens[f.Name], string(f.Data)); d != "" {
					t.Errorf("%s of %s (-want +got; -update makes it so):\n%s", f.Name, path, d)
				}
			}
			if len(screens) != len(got.Files) {
				t.Errorf("%s has %d screens, and there are %d states", path, len(screens), len(got.Files))
			}
		})
	}
}

// The pictures in the documents show what the window looks like now.
func TestPictures(t *testing.T) {
	const w, h = 110, 32
	for _, s := range states() {
		if s.about == "" {
			continue
		}
		p := rehearse(t, w, h, "dark")
		s.set(p)
		path := filepath.Join("..", "..", "docs", "screens", s.name+".svg")
		got := []byte(shot.SVG(p.Model.View().Content, w, shot.Dark))
		if len(got) > 60_000 {
			t.Errorf("%s has %d bytes", path, len(got))
		}
		if *update {
			write(t, path, got)
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != string(got) {
			t.Errorf("%s does not show what the window looks like any more; -update makes it so", path)
		}
	}
}

func write(t testing.TB, path string, p []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, p, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// fits fails unless a frame is exactly so many lines of exactly so many cells,
// and has no control character but in styles.
func fits(t testing.TB, what, frame string, w, h int) {
	t.Helper()
	if why := misfit(frame, w, h); why != "" {
		t.Errorf("%s at %d×%d: %s\n%s", what, w, h, why, strings.ReplaceAll(frame, "\x1b", "␛"))
	}
}
