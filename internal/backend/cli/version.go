package cli

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

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

func (n Need) refuse(why string) error {
	return &backend.Error{Kind: backend.Invalid, Message: fmt.Sprintf("%s needs %v or newer; %s", why, n.Least, n.Install)}
}
