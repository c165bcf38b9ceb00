package workspace

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// A list is a file of entries in the order of their paths, each path once. It is
// written and read as a stream, so that its length costs no memory, and ends with
// the number of entries and a checksum.

const (
	listMagic = "conclave list 1\n"
	maxRecord = 1 << 20 // paths are shorter on every system
)

// errDamaged is a list that does not hold together.
var errDamaged = errors.New("the list is damaged")

// A listWriter writes a list under a temporary name.
type listWriter struct {
	file *os.File
	buf  *bufio.Writer
	crc  uint32
	n    uint64
	last string
	text []byte // of the record at hand
}

// newList begins a list in dir. It has a temporary name.
func newList(dir string) (*listWriter, error) {
	f, err := os.CreateTemp(dir, temporary+"list-*")
	if err != nil {
		return nil, err
	}
	l := &listWriter{file: f, buf: bufio.NewWriterSize(f, 64<<10)}
	_, err = l.buf.WriteString(listMagic)
	return l, err
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
	b := append(l.text[:0], e.sum[:]...)
	b = append(b, bit(e.settled))
	b = binary.AppendUvarint(b, uint64(e.kind))
	b = binary.AppendVarint(b, e.size)
	b = binary.AppendVarint(b, e.mtime)
	b = binary.AppendVarint(b, e.ctime)
	b = binary.AppendUvarint(b, e.inode)
	l.text = append(b, e.path...)
	l.crc = crc32.Update(l.crc, crc32.IEEETable, l.text)
	return l.write(l.text)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// write writes a record, its length first.
func (l *listWriter) write(record []byte) error {
	var n [binary.MaxVarintLen64]byte
	if _, err := l.buf.Write(binary.AppendUvarint(n[:0], uint64(len(record)))); err != nil {
		return err
	}
	_, err := l.buf.Write(record)
	return err
}

// end completes the list; it keeps its temporary name, which is returned.
func (l *listWriter) end() (string, error) {
	err := l.write(nil)
	if err == nil {
		err = l.write(binary.BigEndian.AppendUint32(binary.AppendUvarint(nil, l.n), l.crc))
	}
	err = errors.Join(err, l.buf.Flush(), l.file.Sync(), l.file.Close())
	return l.file.Name(), err
}

// drop removes a list that is not wanted.
func (l *listWriter) drop() error {
	l.file.Close() // again, if it was ended
	return os.Remove(l.file.Name())
}

// A listReader reads a list. The zero value is an empty one.
type listReader struct {
	file *os.File
	buf  *bufio.Reader
	crc  uint32
	n    uint64
	text []byte
	cur  entry // the entry at hand, if more
	more bool
}

// openList opens a list and goes to its first entry.
func openList(name string) (*listReader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	l := &listReader{file: f, buf: bufio.NewReaderSize(f, 64<<10)}
	magic := make([]byte, len(listMagic))
	if _, err = io.ReadFull(l.buf, magic); err != nil || string(magic) != listMagic {
		err = errDamaged
	} else {
		err = l.next()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Base(name), err), f.Close())
	}
	return l, nil
}

// record reads the next record, which is good until the one after it.
func (l *listReader) record() ([]byte, error) {
	n, err := binary.ReadUvarint(l.buf)
	if err != nil || n > maxRecord {
		return nil, errDamaged
	}
	l.text = slices.Grow(l.text[:0], int(n))[:n]
	if _, err := io.ReadFull(l.buf, l.text); err != nil {
		return nil, errDamaged
	}
	return l.text, nil
}

// next goes on to the next entry. After the last one, more is false.
func (l *listReader) next() error {
	b, err := l.record()
	if err != nil {
		return err
	}
	if len(b) == 0 {
		l.more = false
		return l.finish()
	}
	l.crc = crc32.Update(l.crc, crc32.IEEETable, b)
	e, ok := parseEntry(b)
	if !ok || l.n > 0 && e.path <= l.cur.path {
		return errDamaged
	}
	l.cur, l.more = e, true
	l.n++
	return nil
}

// parseEntry reads what add wrote.
func parseEntry(b []byte) (e entry, ok bool) {
	if len(b) <= len(e.sum) {
		return e, false
	}
	b = b[copy(e.sum[:], b):]
	e.settled = b[0] == 1
	b = b[1:]
	k, n := binary.Uvarint(b)
	if n <= 0 {
		return e, false
	}
	e.kind, b = kind(k), b[n:]
	for _, to := range []*int64{&e.size, &e.mtime, &e.ctime} {
		if *to, n = binary.Varint(b); n <= 0 {
			return e, false
		}
		b = b[n:]
	}
	if e.inode, n = binary.Uvarint(b); n <= 0 {
		return e, false
	}
	e.path = string(b[n:])
	return e, e.path != ""
}

// finish checks what comes after the last entry.
func (l *listReader) finish() error {
	got, err := l.record()
	if err != nil || !bytes.Equal(got, binary.BigEndian.AppendUint32(binary.AppendUvarint(nil, l.n), l.crc)) {
		return errDamaged
	}
	return nil
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
