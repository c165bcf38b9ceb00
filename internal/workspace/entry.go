package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// An entry is one file of a tree: a regular one or a symbolic link. Names are
// bytes; a path has slashes and is relative to the root of the tree.
type entry struct {
	path string
	kind kind
	stat
	sum sum // git's, of the content; zero if it is not known
	// settled: the file was last changed before it was looked at, so the same
	// stat later means the same content.
	settled bool
}

// A kind of file, with git's modes as values.
type kind uint32

const (
	regular    kind = 0o100644
	executable kind = 0o100755
	symlink    kind = 0o120000
)

// A stat is what tells quickly that a file is as it was.
type stat struct {
	size, mtime, ctime int64
	inode              uint64
}

// same reports whether e is surely unchanged since old was taken.
func (e entry) same(old entry) bool {
	return old.settled && e.kind == old.kind && e.stat == old.stat
}

// A sum is a hash as git names objects in repositories of ours.
type sum [sha256.Size]byte

func (s sum) String() string { return hex.EncodeToString(s[:]) }

// newSum begins the hash of an object of that size.
func newSum(object string, size int64) hash.Hash {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d\x00", object, size)
	return h
}

// sumOf is the hash of an object at hand.
func sumOf(object string, content []byte) (s sum) {
	h := newSum(object, int64(len(content)))
	h.Write(content)
	h.Sum(s[:0])
	return s
}

// errMoving is a file that is being written to while it is read.
var errMoving = errors.New("it keeps changing while it is read; stop what writes to it and try again")

// attempts is how often a file that changes while it is read is read again.
const attempts = 3

// take reads the content of a found file into to (rewound by again before every
// attempt) and returns its entry with the hash filled in.
func (f found) take(to io.Writer, again func() error) (entry, error) {
	if f.kind == symlink {
		target, err := f.dir.Readlink(f.name)
		if err != nil {
			return entry{}, gone(err)
		}
		e := f.entry
		e.size, e.sum = int64(len(target)), sumOf("blob", []byte(target))
		_, err = io.WriteString(to, target)
		return e, err
	}
	for range attempts {
		if err := again(); err != nil {
			return entry{}, err
		}
		e, err := f.read(to)
		if !errors.Is(err, errMoving) {
			return e, err
		}
	}
	return entry{}, errMoving
}

// read is one attempt of take at a regular file.
func (f found) read(to io.Writer) (entry, error) {
	file, err := f.open()
	if err != nil {
		return entry{}, err
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return entry{}, err
	}
	if !before.Mode().IsRegular() {
		return entry{}, fmt.Errorf("it is no regular file any more")
	}
	e := f.entry
	e.kind, e.stat = kindOf(before), statOf(before)
	h := newSum("blob", e.size)
	n, err := io.CopyBuffer(io.MultiWriter(h, to), io.LimitReader(file, e.size), f.w.buffer())
	if err != nil {
		return entry{}, err
	}
	after, err := file.Stat()
	if err != nil {
		return entry{}, err
	}
	if n != e.size || statOf(after) != e.stat {
		return entry{}, errMoving
	}
	h.Sum(e.sum[:0])
	e.settled = f.settle(e.stat)
	return e, nil
}

// kindOf is the kind of a regular file.
func kindOf(info os.FileInfo) kind {
	if info.Mode()&0o111 != 0 {
		return executable
	}
	return regular
}
