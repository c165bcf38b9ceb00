package control

import (
	"context"
	"time"

	"conclave/internal/event"
)

// Looks is how surfaces look at what lies on disk, and do small things there on
// behalf of the person who sits at them, with that person's rights.
type Looks interface {
	// Tree lists what is below a folder in the order of its paths, at most limit
	// entries, and whether there are more; what lies near comes before what lies
	// deep. Relative folders begin where the program was started. Links are not
	// followed, and what version control and the program itself keep is left out.
	Tree(ctx context.Context, dir string, limit int) (entries []Entry, more bool, err error)
	// File gives the beginning of a regular file, at most limit bytes, and whether
	// there is more of it. In the folder of a run a link that leads out is refused.
	File(ctx context.Context, path string, limit int64) (text []byte, more bool, err error)
	// Shell runs a command line as the person typed it, where the program was
	// started, and returns the end of what it printed, if that is much. The error
	// is that it could not be run to its end; what it printed until then is given.
	Shell(ctx context.Context, line string) (output string, code int, err error)
	// Export writes the whole log of a flow to a file that is not there yet, as
	// lines of JSON; an empty name, or that of a folder, is one made from the flow's.
	Export(ctx context.Context, id event.FlowID, path string) (written string, err error)
	// Clipboard saves the picture on the clipboard to a file. Its error says what
	// to install where nothing here can read the clipboard.
	Clipboard(ctx context.Context) (path string, err error)
	// Look is how the person wants surfaces to be, as configured. If it cannot be
	// read there is an error, and the rest is as if nothing were said.
	Look(ctx context.Context) (Look, error)
}

// An Entry is one file or folder.
type Entry struct {
	Path string // below the folder that was asked for, with slashes
	Dir  bool
	Size int64
	Mod  time.Time
}

// A Look is how a person wants surfaces to look and to be handled.
type Look struct {
	Theme string // empty is auto
	// Keys are bindings by the name of an action; "none" takes one away.
	Keys map[string][]string
	// NoMouse, NoNotify: the mouse is left to the terminal, nobody is called.
	// Plain: lines of text from top to bottom, for screen readers.
	NoMouse, NoNotify, Plain bool
	// File is where this is written, or would be.
	File string
	// Warnings are about what is written and does not count.
	Warnings []string
}
