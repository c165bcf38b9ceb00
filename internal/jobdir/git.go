package jobdir

import (
	"context"
	"regexp"
	"sync"
)

func (d Dir) run(ctx context.Context, stdin []byte, env []string, args ...string) ([]byte, error) {
	return d.repo().Run(ctx, stdin, env, args...)
}

// named is how a commit may be named: by its hash or the beginning of it, or by a
// tag of a phase.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{4,64}|phase-[0-9]+(\.[0-9]+)?|HEAD)$`) })

// Resolve is the commit that somebody has named; empty is the newest.
func (d Dir) Resolve(ctx context.Context, at string) (string, error) {
	if at != "" && !named().MatchString(at) {
		return "", d.repo().Missing("commit", at)
	}
	return d.repo().Resolve(ctx, at)
}
