package project

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Bounds of what a project holds.
const (
	// MaxSize is the largest deliverable, in bytes.
	MaxSize = 64 << 20
	// MaxDeliverables is how many deliverables a project has, MaxVersions how many
	// versions one of them.
	MaxDeliverables = 1000
	MaxVersions     = 5000

	maxProjects = 1000
	maxRuns     = 5000
	maxSessions = 5000
	maxEntries  = 500       // of filepaths.json
	maxContext  = 256 << 10 // bytes of CONTEXT.md
	maxJSON     = 4 << 20   // bytes of any other file that is read
	maxText     = 8 << 10   // bytes of a goal, a decision, a description
	maxPath     = 400       // bytes
	maxDepth    = 16
)

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`) })

// CheckName is what is wrong with the name of a project, if anything.
func CheckName(name string) error {
	if !nameForm().MatchString(name) || strings.HasSuffix(name, ".") {
		return fmt.Errorf("%.80q is no name for a project: use letters, digits, dashes, underscores and dots, 64 at most; it begins with a letter, a digit or an underscore and does not end with a dot", name)
	}
	return nil
}

// CheckPath is what is wrong with the path of a deliverable, if anything.
func CheckPath(p string) error {
	bad := func(why string) error {
		return fmt.Errorf("%.200q is no path for a deliverable: %s", p, why)
	}
	switch {
	case p == "" || p == ".":
		return bad("it names no file")
	case len(p) > maxPath || strings.Count(p, "/") >= maxDepth:
		return bad(fmt.Sprintf("it is too long; %d bytes and %d folders are the most", maxPath, maxDepth))
	case !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl) || strings.ContainsAny(p, `\:`):
		return bad("it holds a character that not every system takes in a name")
	case path.IsAbs(p) || path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../"):
		return bad("write it relative to the project's deliverables, as in reports/summary.md, without . and ..")
	}
	return nil
}

// checkText is what is wrong with something that is written down.
func checkText(what, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%s is empty", what)
	case len(text) > maxText:
		return fmt.Errorf("%s has %d bytes; %d is the most, and what is longer can be a file of its own", what, len(text), maxText)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return fmt.Errorf("%s is not UTF-8 text", what)
	}
	return nil
}
