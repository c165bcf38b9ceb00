package git

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// hash is a whole name of a commit.
var hash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`) })

// Branch is the commit that a branch of the repository is at. It is asked for many
// times in every turn, so it is read where git has written it; if that is elsewhere,
// git is asked. The repository is the one that has the branches, not what it knows of
// another folder.
func (r Repo) Branch(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if named().MatchString(name) && !strings.Contains(name, "..") {
		text, err := os.ReadFile(filepath.Join(r.gitDir(), "refs", "heads", filepath.FromSlash(name)))
		if at := strings.TrimSpace(string(text)); err == nil && hash().MatchString(at) {
			return at, nil
		}
	}
	return r.Resolve(ctx, name)
}
