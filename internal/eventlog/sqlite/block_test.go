package sqlite

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBlock(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 100, minBlock, maxBlock} {
		var pos, hashes []uint64
		p := uint64(rnd.IntN(1 << 40))
		for i := range n {
			p += 1 + uint64(rnd.IntN(300))
			pos, hashes = append(pos, p), append(hashes, hashID(fmt.Sprint("turn/", i)))
		}
		hashes[n/2] = hashes[0] // two ids with one hash
		b, err := decode(7, n, newBlock(7, pos, hashes).encode())
		if err != nil {
			t.Fatal(err)
		}
		if b.end() != 7+uint64(n) || !slices.Equal(b.pos, pos) || !slices.Equal(b.hashes(), hashes) {
			t.Fatalf("a block of %d came back as another", n)
		}
		for i, h := range hashes {
			var found []uint64
			b.find(h, func(pos uint64) { found = append(found, pos) })
			if !slices.Contains(found, pos[i]) || len(found) > 2 {
				t.Fatalf("event %d of %d: found %v, want %d", i, n, found, pos[i])
			}
		}
		b.find(hashID("none"), func(uint64) { t.Fatal("found what is not there") })
	}
}

func TestBlockDamaged(t *testing.T) {
	p := newBlock(1, []uint64{1, 5, 6}, []uint64{3, 2, 1}).encode()
	if _, err := decode(1, 2, p); err == nil {
		t.Fatal("the wrong number of events was not noticed")
	}
	for i := range p {
		q := slices.Clone(p)
		q[i] ^= 1
		if _, err := decode(1, 3, q); err == nil {
			t.Fatalf("a changed byte %d was not noticed", i)
		}
		if _, err := decode(1, 3, p[:i]); err == nil {
			t.Fatalf("a block cut to %d bytes was not noticed", i)
		}
	}
}

// Whatever is taken for a block is one that can be used and written again.
func FuzzBlock(f *testing.F) {
	seed := newBlock(1, []uint64{1, 5, 6}, []uint64{3, 2, 1}).encode()
	f.Add(uint16(3), seed[:len(seed)-4])
	f.Fuzz(func(t *testing.T, n uint16, p []byte) {
		p = binary.LittleEndian.AppendUint32(p, crc32.Checksum(p, castagnoli))
		b, err := decode(1, int(n), p)
		if err != nil {
			return
		}
		again, err := decode(1, int(n), b.encode())
		if err != nil || !slices.Equal(again.pos, b.pos) || !slices.Equal(again.hashes(), b.hashes()) {
			t.Fatalf("%v came back as %v, %v", b, again, err)
		}
	})
}
