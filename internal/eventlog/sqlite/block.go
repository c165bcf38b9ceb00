package sqlite

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"sort"
)

// A block says where some consecutive events of a flow are: their positions,
// and the hashes of their ids. It is an index that takes ten bytes an event and
// one row for hundreds of them, where an index of the database would take two
// rows each.
//
// Its stored form is the positions, as differences in order of the events; the
// hashes in ascending order; for each hash the event it belongs to; a CRC-32C.
type block struct {
	first uint64   // number of the first event
	pos   []uint64 // ascending
	data  []byte   // hashes, then places
}

const (
	// A block that has fewer events than minBlock is merged with what follows.
	minBlock = 1024
	maxBlock = 8192
)

// hashID is the 64-bit FNV-1a hash.
func hashID(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h
}

// newBlock makes a block of events given in order, at most maxBlock of them.
func newBlock(first uint64, pos, hashes []uint64) *block {
	n := len(pos)
	order := make([]uint16, n)
	for i := range order {
		order[i] = uint16(i)
	}
	slices.SortFunc(order, func(a, b uint16) int {
		if hashes[a] < hashes[b] {
			return -1
		}
		return 1
	})
	b := &block{first: first, pos: pos, data: make([]byte, 0, 10*n)}
	for _, i := range order {
		b.data = binary.LittleEndian.AppendUint64(b.data, hashes[i])
	}
	for _, i := range order {
		b.data = binary.LittleEndian.AppendUint16(b.data, i)
	}
	return b
}

func (b *block) end() uint64            { return b.first + uint64(len(b.pos)) }
func (b *block) hash(i int) uint64      { return binary.LittleEndian.Uint64(b.data[8*i:]) }
func (b *block) place(i int) int        { return int(binary.LittleEndian.Uint16(b.data[8*len(b.pos)+2*i:])) }
func (b *block) last() (pos uint64)     { return b.pos[len(b.pos)-1] }
func (b *block) from(n uint64) []uint64 { return b.pos[n-b.first:] }

// hashes returns the hashes in order of the events.
func (b *block) hashes() []uint64 {
	out := make([]uint64, len(b.pos))
	for i := range b.pos {
		out[b.place(i)] = b.hash(i)
	}
	return out
}

// find calls f with the positions of events whose id has that hash.
func (b *block) find(hash uint64, f func(pos uint64)) {
	n := len(b.pos)
	for i := sort.Search(n, func(i int) bool { return b.hash(i) >= hash }); i < n && b.hash(i) == hash; i++ {
		f(b.pos[b.place(i)])
	}
}

// encode gives the stored form.
func (b *block) encode() []byte {
	out := make([]byte, 0, len(b.data)+2*len(b.pos)+16)
	prev := uint64(0)
	for _, p := range b.pos {
		out = binary.AppendUvarint(out, p-prev)
		prev = p
	}
	out = append(out, b.data...)
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

var errBlock = errors.New("the index does not match its checksum")

// decode reads the stored form of a block of n events.
func decode(first uint64, n int, p []byte) (*block, error) {
	if len(p) < 4 || n <= 0 || n > maxBlock {
		return nil, errBlock
	}
	sum := binary.LittleEndian.Uint32(p[len(p)-4:])
	if p = p[:len(p)-4]; crc32.Checksum(p, castagnoli) != sum {
		return nil, errBlock
	}
	b := &block{first: first, pos: make([]uint64, n)}
	prev := uint64(0)
	for i := range b.pos {
		d, k := binary.Uvarint(p)
		if k <= 0 || d == 0 {
			return nil, errBlock
		}
		prev += d
		b.pos[i] = prev
		p = p[k:]
	}
	if len(p) != 10*n {
		return nil, errBlock
	}
	b.data = p
	for i := range b.pos {
		if b.place(i) >= n {
			return nil, errBlock
		}
	}
	return b, nil
}
