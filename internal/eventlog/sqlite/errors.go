package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"

	"conclave/internal/eventlog"
)

// SQLite's primary result codes that mean something to a caller.
const (
	codePerm       = 3
	codeBusy       = 5
	codeReadOnly   = 8
	codeIO         = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeCantOpen   = 14
	codeConstraint = 19
	codeNotADB     = 26
)

// code is the primary result code of an error of the database, or 0.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// fail describes an error of the database or the file system in one line: what
// was tried, on which file, of which kind it is and what to do about it.
// Errors of this package's own kinds are left as they are.
func fail(op, file string, err error) error {
	advice, kind := classify(err)
	switch {
	case err == nil:
		return nil
	case kind == nil:
		return fmt.Errorf("%s %s: %w", op, file, err)
	}
	return fmt.Errorf("%s %s: %w (%w); %s", op, file, kind, err, advice)
}

// unknown is fail for a COMMIT whose outcome is not known.
func unknown(file string, err error) error {
	return fmt.Errorf("%w: %w", eventlog.ErrUnknown, fail("write", file, err))
}

func classify(err error) (advice string, kind error) {
	switch code(err) {
	case codeFull:
		return adviceFull, eventlog.ErrFull
	case codePerm, codeReadOnly, codeCantOpen:
		return adviceUnwritable, eventlog.ErrUnwritable
	case codeBusy:
		return "another process keeps the database locked; end it or wait for it", eventlog.ErrUnwritable
	case codeCorrupt, codeNotADB:
		return "put back a copy or move the file away to start anew; it was not changed", eventlog.ErrCorrupt
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return adviceFull, eventlog.ErrFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return adviceUnwritable, eventlog.ErrUnwritable
	}
	return "", nil
}

const (
	adviceFull       = "free some space and try again"
	adviceUnwritable = "give this user write access to the directory and its files"
)
