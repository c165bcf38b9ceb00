// Command buildui bundles the pages of the cockpit: the TypeScript and the style
// sheets in internal/web/ui become app.js and app.css, which lie with index.html in
// internal/web/dist and are part of the program. Run it by
//
//	go generate ./internal/web/dist
//
// after every change of a page; a test fails where the two differ. It is the one
// place that knows of the bundler: the program itself is built without.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	ui := flag.String("ui", "../ui", "folder of the sources")
	dist := flag.String("dist", ".", "folder to write to")
	flag.Parse()
	if err := write(*ui, *dist); err != nil {
		fmt.Fprintln(os.Stderr, "buildui:", err)
		os.Exit(1)
	}
}

func write(ui, dist string) error {
	files, err := build(ui)
	if err != nil {
		return err
	}
	for name, p := range files {
		if err := os.WriteFile(filepath.Join(dist, name), p, 0o644); err != nil {
			return fmt.Errorf("writing what was built: %w", err)
		}
	}
	return nil
}

// build gives the built files by their names.
func build(ui string) (map[string][]byte, error) {
	ui, err := filepath.Abs(ui)
	if err != nil {
		return nil, err
	}
	done := api.Build(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{{InputPath: filepath.Join(ui, "main.tsx"), OutputPath: "app"}},
		AbsWorkingDir:       ui,
		Outdir:              filepath.Join(ui, "out"), // named, never written to
		NodePaths:           []string{filepath.Join(ui, "third_party")},
		Bundle:              true,
		Format:              api.FormatIIFE,
		Target:              api.ES2022,
		Platform:            api.PlatformNeutral, // what a package names for import
		JSX:                 api.JSXAutomatic,
		JSXImportSource:     "preact",
		MinifySyntax:        true,
		MinifyWhitespace:    true,
		MinifyIdentifiers:   true,
		Charset:             api.CharsetUTF8,
		LegalComments:       api.LegalCommentsNone,
		Banner:              map[string]string{"js": banner, "css": banner},
	})
	if len(done.Errors) > 0 {
		return nil, fmt.Errorf("bundling the pages:\n%s", strings.Join(api.FormatMessages(done.Errors, api.FormatMessagesOptions{}), ""))
	}
	out := map[string][]byte{}
	for _, f := range done.OutputFiles {
		out[filepath.Base(f.Path)] = f.Contents
	}
	if out["index.html"], err = os.ReadFile(filepath.Join(ui, "index.html")); err != nil {
		return nil, err
	}
	return out, nil
}

const banner = "/* Built from internal/web/ui by: go generate ./internal/web/dist. Contains preact and @preact/signals (MIT, see internal/web/ui/third_party). */"
