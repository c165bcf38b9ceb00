package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"conclave/internal/backend"
)

// A Version is the beginning of a program's version.
type Version struct{ Major, Minor int }

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Compare orders versions by age.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor))
}

var number = regexp.MustCompile(`\b(?:v)?(\d{1,6})\.(\d{1,6})(?:\.[0-9A-Za-z.+-]+)?`)

// ParseVersion finds the version in what a program says of itself.
func ParseVersion(s string) (v Version, whole string, ok bool) {
	m := number.FindStringSubmatch(s)
	if m == nil {
		return Version{}, "", false
	}
	v.Major, _ = strconv.Atoi(m[1])
	v.Minor, _ = strconv.Atoi(m[2])
	return v, strings.TrimPrefix(m[0], "v"), true
}

// A Need is the version of a program that its backend can speak with.
type Need struct {
	Program string // as its user knows it
	Least   Version
	Install string // the command that brings a newer one
}

// Check refuses a version that is too old or no version at all. A newer one is
// given the benefit of the doubt.
func (n Need) Check(said string) error {
	v, whole, ok := ParseVersion(said)
	switch {
	case !ok:
		return n.refuse(fmt.Sprintf("%s says its version is %.40q, which Conclave cannot read: it", n.Program, said))
	case v.Compare(n.Least) < 0:
		return n.refuse(fmt.Sprintf("%s %s is too old: Conclave", n.Program, whole))
	}
	return nil
}

// tellLimit is how long a program may take to say its version.
const tellLimit = 20 * time.Second

// Explain says why a program ended before it had answered anything: it is too old to
// know what it was asked, it does not run at all, or something else. Argv is the
// command that makes it say its version.
func (n Need) Explain(ctx context.Context, room backend.Room, argv, env []string, p *Process) error {
	dead := p.Ended()
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	var said bytes.Buffer
	complaints := &tail{}
	run, err := room.Start(ctx, backend.Start{Argv: argv, Env: env, Stdout: &said, Stderr: complaints})
	if err != nil {
		return dead
	}
	exit, err := run.Wait()
	switch {
	case err != nil || ctx.Err() != nil || exit > 127:
		return dead // somebody ended it
	case exit != 0:
		why := cmp.Or(complaints.String(), strings.TrimSpace(said.String()), fmt.Sprintf("exit code %d", exit))
		why, _, _ = strings.Cut(why, "\n")
		return &backend.Error{Kind: backend.Invalid, Message: fmt.Sprintf("%s does not run as it is installed (%s); install it again: %s", n.Program, strings.TrimRight(why, ". "), n.Install)}
	}
	if err := n.Check(said.String()); err != nil {
		return err
	}
	return dead
}

func (n Need) refuse(why string) error {
	return &backend.Error{Kind: backend.Invalid, Message: fmt.Sprintf("%s needs %v or newer; %s", why, n.Least, n.Install)}
}
