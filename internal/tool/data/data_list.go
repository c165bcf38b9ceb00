package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"conclave/internal/confine"
	"conclave/internal/datasource"
	"conclave/internal/tool"
)

type listIn struct {
	Source  string `json:"source" jsonschema_description:"The directory."`
	Path    string `json:"path,omitempty" jsonschema_description:"A folder in it; the directory itself if not given."`
	Pattern string `json:"pattern,omitempty" jsonschema_description:"Look for files below the folder whose paths in it fit, like **/*.csv."`
	Limit   int    `json:"limit,omitempty" jsonschema_description:"How many entries to show; 500 if not given, 2000 at most."`
}

func (in listIn) aim() (source, path string) { return in.Source, in.Path }

// maxLooked is how many entries are looked at.
const maxLooked = 50_000

// errEnough ends a look.
var errEnough = errors.New("enough")

func (k *kit) list(ctx context.Context, in listIn) (tool.Result, error) {
	f, err := k.folder(ctx, in.Source)
	if err != nil {
		return failed(ctx, in.Source, err)
	}
	if in.Pattern != "" && !doublestar.ValidatePattern(in.Pattern) {
		return tool.Failed("The pattern cannot be read. Use *, **, ? and [a-z]."), nil
	}
	base, err := f.Abs(orHere(in.Path))
	if err != nil {
		return lost(ctx, in.Source, in.Path, err)
	}
	var found []string
	looked := 0
	each := func(e confine.Entry) error {
		if looked++; looked > maxLooked {
			return errEnough
		}
		rel := strings.TrimPrefix(f.Rel(e.Path), f.Rel(base)+"/")
		if in.Pattern == "" || e.Type.IsRegular() && doublestar.MatchUnvalidated(in.Pattern, rel) {
			found = append(found, described(f.Rel(e.Path), e))
		}
		return nil
	}
	if in.Pattern == "" {
		err = f.ReadDir(ctx, orHere(in.Path), each)
	} else {
		err = f.Walk(ctx, orHere(in.Path), each)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return lost(ctx, in.Source, in.Path, err)
	}
	return shown(found, bounded(in.Limit, 500, 2000), looked > maxLooked)
}

// described is a line about an entry, whose path can be given to data_read.
func described(path string, e confine.Entry) string {
	path = datasource.OneLine(path)
	switch {
	case e.Type.IsDir():
		return path + "/"
	case e.Type&fs.ModeSymlink != 0:
		return path + " (symbolic link)"
	case !e.Type.IsRegular():
		return path + " (special file)"
	}
	info, err := e.Info()
	if err != nil {
		return path // it has gone meanwhile
	}
	return fmt.Sprintf("%s (%d bytes)", path, info.Size())
}

// shown is the first of some lines, and how many more there are.
func shown(all []string, limit int, endless bool) (tool.Result, error) {
	slices.Sort(all)
	var out strings.Builder
	n := 0
	for ; n < len(all) && n < limit && out.Len() < maxShown; n++ {
		out.WriteString(all[n] + "\n")
	}
	if n == 0 {
		out.WriteString("Nothing was found.\n")
	}
	if more := len(all) - n; more > 0 {
		fmt.Fprintf(&out, "[and %d more]\n", more)
	}
	if endless {
		fmt.Fprintf(&out, "[There is more: only %d entries were looked at. Name a folder further down.]\n", maxLooked)
	}
	return tool.Result{Text: out.String()}, nil
}
