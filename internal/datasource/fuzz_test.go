package datasource_test

import (
	"regexp"
	"strings"
	"testing"

	"conclave/internal/datasource"
)

// Whatever is written, nothing breaks, and no password gets into what is kept.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"hunter2", "${P}", "a/b", "x@y", "a b", "'", `\`, "?#", "%", ":", "${P}${Q}", "é"} {
		f.Add(s)
	}
	name := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, spec := range []string{s, "dir:" + s, "sqlite:" + s, "postgres:" + s, "neo4j:" + s, "x=" + s, s + ",write"} {
			if got, err := datasource.Parse(spec); err == nil && !name.MatchString(got.Name) {
				t.Errorf("%q is called %q", spec, got.Name)
			}
		}
		if s == "" || strings.HasPrefix(s, "${") {
			return
		}
		for _, spec := range []string{"postgres://u:" + s + "@h/db", "neo4j:bolt://u:" + s + "@h", "postgres:host=h password='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"} {
			if got, err := datasource.Parse(spec); err == nil {
				t.Errorf("%q became %+v", spec, got)
			}
		}
	})
}
