package workspace

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// A list is a file of entries in the order of their paths, each path once. It is
// written and read as a stream, so that its length costs no memory. It begins
// with a head of the writer's and ends with the number of entries and a checksum.

const (
	listMagic = "conclave list 1\n"
	maxPath   = 1 << 20 // longer than any system allows
)

// errDamaged is a list that does not hold together.
var errDamaged = errors.New("the list is damaged")

// A listWriter writes a list under a temporary name.
type listWriter struct {
	file  *os.File
	buf   *bufio.Writer
	crc   uint32
	n     uint64
	last  string
	bytes []byte
}

// newList begins a list in dir. It has its name only when keep was called.
func newList(dir string, head any) (*listWriter, error) {
	f, err := os.CreateTemp(dir, temporary+"list-*")
	if err != nil {
		return nil, err
	}
	l := &listWriter{file: f, buf: bufio.NewWriterSize(f, 64<<10)}
	text, err := json.Marshal(head)
	if err != nil {
		return nil, errors.Join(err, l.drop())
	}
	l.bytes = append(l.bytes, listMagic...)
	l.bytes = binary.AppendUvarint(l.bytes, uint64(len(text)))
	l.bytes = append(l.bytes, text...)
	return l, l.write()
}

// clock is the time by the clock of the file system that the list is on.
func (l *listWriter) clock() (int64, error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.ModTime().UnixNano(), nil
}

func (l *listWriter) add(e entry) error {
	if e.path <= l.last {
		return fmt.Errorf("list files: %q comes after %q", e.path, l.last)
	}
	l.last = e.path
	l.n++
	b := binary.AppendUvarint(l.bytes[:0], uint64(len(e.path)))
	b = append(b, e.path...)
	b = binary.AppendUvarint(b, uint64(e.kind))
	b = binary.AppendVarint(b, e.size)
	b = binary.AppendVarint(b, e.mtime)
	b = binary.AppendVarint(b, e.ctime)
	b = binary.AppendUvarint(b, e.inode)
	b = append(b, flag(e.settled))
	l.bytes = append(b, e.sum[:]...)
	return l.write()
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// write writes out what is in l.bytes.
func (l *listWriter) write() error {
	l.crc = crc32.Update(l.crc, crc32.IEEETable, l.bytes)
	_, err := l.buf.Write(l.bytes)
	l.bytes = l.bytes[:0]
	return err
}

// end completes the list; it keeps its temporary name, which is returned.
func (l *listWriter) end() (string, error) {
	l.bytes = binary.AppendUvarint(l.bytes[:0], 0)
	l.bytes = binary.AppendUvarint(l.bytes, l.n)
	err := l.write()
	if err == nil {
		_, err = l.buf.Write(binary.BigEndian.AppendUint32(nil, l.crc))
	}
	err = errors.Join(err, l.buf.Flush(), l.file.Sync(), l.file.Close())
	return l.file.Name(), err
}

// drop removes a list that is not wanted.
func (l *listWriter) drop() error {
	l.file.Close() // again, if it was ended
	return os.Remove(l.file.Name())
}

// A listReader reads a list.
type listReader struct {
	file *os.File
	buf  *bufio.Reader
	crc  uint32
	n    uint64
	cur  entry // the entry at hand, if more
	more bool
}

// openList opens a list, fills in its head and goes to its first entry.
func openList(name string, head any) (*listReader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	l := &listReader{file: f, buf: bufio.NewReaderSize(f, 64<<10)}
	if err := l.begin(head); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Base(name), err), f.Close())
	}
	return l, nil
}

func (l *listReader) begin(head any) error {
	magic, err := l.bytes(uint64(len(listMagic)))
	if err != nil || string(magic) != listMagic {
		return errDamaged
	}
	n, err := l.uvarint()
	if err != nil {
		return err
	}
	text, err := l.bytes(n)
	if err != nil {
		return err
	}
	if json.Unmarshal(text, head) != nil {
		return errDamaged
	}
	return l.next()
}

// next goes on to the next entry. After the last one, more is false.
func (l *listReader) next() error {
	n, err := l.uvarint()
	if err != nil {
		return err
	}
	if n == 0 {
		l.more = false
		return l.finish()
	}
	name, err := l.bytes(n)
	if err != nil {
		return err
	}
	e := entry{path: string(name)}
	if l.n > 0 && e.path <= l.cur.path {
		return errDamaged
	}
	var k uint64
	if k, err = l.uvarint(); err != nil {
		return err
	}
	e.kind = kind(k)
	for _, to := range []*int64{&e.size, &e.mtime, &e.ctime} {
		if *to, err = binary.ReadVarint(l); err != nil {
			return errDamaged
		}
	}
	if e.inode, err = l.uvarint(); err != nil {
		return err
	}
	rest, err := l.bytes(1 + uint64(len(e.sum)))
	if err != nil {
		return err
	}
	e.settled = rest[0] == 1
	copy(e.sum[:], rest[1:])
	l.cur, l.more = e, true
	l.n++
	return nil
}

// finish checks what comes after the last entry.
func (l *listReader) finish() error {
	n, err := l.uvarint()
	if err != nil {
		return err
	}
	want := l.crc
	var got [4]byte
	if _, err := io.ReadFull(l.buf, got[:]); err != nil || n != l.n || binary.BigEndian.Uint32(got[:]) != want {
		return errDamaged
	}
	return nil
}

// ReadByte is for package binary.
func (l *listReader) ReadByte() (byte, error) {
	b, err := l.buf.ReadByte()
	if err == nil {
		l.crc = crc32.Update(l.crc, crc32.IEEETable, []byte{b})
	}
	return b, err
}

func (l *listReader) uvarint() (uint64, error) {
	n, err := binary.ReadUvarint(l)
	if err != nil {
		return 0, errDamaged
	}
	return n, nil
}

func (l *listReader) bytes(n uint64) ([]byte, error) {
	if n > maxPath {
		return nil, errDamaged
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(l.buf, b); err != nil {
		return nil, errDamaged
	}
	l.crc = crc32.Update(l.crc, crc32.IEEETable, b)
	return b, nil
}

// upTo goes on to path, calls gone for every entry before it, and reports
// whether the list has one there, which is then behind.
func (l *listReader) upTo(path string, gone func(entry) error) (entry, bool, error) {
	for l.more && l.cur.path < path {
		if err := l.pass(gone); err != nil {
			return entry{}, false, err
		}
	}
	if !l.more || l.cur.path != path {
		return entry{}, false, nil
	}
	e := l.cur
	return e, true, l.next()
}

// rest calls gone for every entry that is left.
func (l *listReader) rest(gone func(entry) error) error {
	for l.more {
		if err := l.pass(gone); err != nil {
			return err
		}
	}
	return nil
}

func (l *listReader) pass(f func(entry) error) error {
	if err := f(l.cur); err != nil {
		return err
	}
	return l.next()
}

func (l *listReader) close() error { return l.file.Close() }
