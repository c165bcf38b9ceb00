package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// What is in dist is what the sources give: whoever changes a page builds it, and
// whoever clones the program needs nothing but Go to see it.
func TestBuiltFilesMatchTheirSources(t *testing.T) {
	files, err := build("../../web/ui")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "app.js", "app.css"} {
		want, ok := files[name]
		if !ok {
			t.Errorf("the bundler gives no %s", name)
			continue
		}
		got, err := os.ReadFile(filepath.Join("../../web/dist", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what its sources give; run: go generate ./internal/web/dist", name)
		}
	}
	if len(files) != 3 {
		t.Errorf("%d files were built, want three", len(files))
	}
}

// Building twice gives the same bytes, wherever the sources lie.
func TestBuildingIsReproducible(t *testing.T) {
	here, err := build("../../web/ui")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "ui")
	if err := os.CopyFS(elsewhere, os.DirFS("../../web/ui")); err != nil {
		t.Fatal(err)
	}
	there, err := build(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range here {
		if !bytes.Equal(p, there[name]) {
			t.Errorf("%s differs from one folder to another", name)
		}
	}
}
