package bolttest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// A Struct is a value of PackStream with a tag: a message, a node.
type Struct struct {
	Tag    byte
	Fields []any
}

// pack writes a value: nil, bool, int, float64, string, []any, map[string]any
// or a Struct.
func pack(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteByte(0xC0)
	case bool:
		if v {
			b.WriteByte(0xC3)
		} else {
			b.WriteByte(0xC2)
		}
	case int:
		packInt(b, v)
	case float64:
		b.WriteByte(0xC1)
		_ = binary.Write(b, binary.BigEndian, v) // a buffer takes everything
	case string:
		size(b, len(v), 0x80, 0xD0)
		b.WriteString(v)
	case []any:
		size(b, len(v), 0x90, 0xD4)
		for _, x := range v {
			pack(b, x)
		}
	case map[string]any:
		size(b, len(v), 0xA0, 0xD8)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			pack(b, key)
			pack(b, v[key])
		}
	case Struct:
		b.Write([]byte{0xB0 | byte(len(v.Fields)), v.Tag})
		for _, x := range v.Fields {
			pack(b, x)
		}
	default:
		panic(fmt.Sprintf("bolttest cannot write a %T", v))
	}
}

func packInt(b *bytes.Buffer, n int) {
	if n >= -16 && n <= 127 {
		b.WriteByte(byte(int8(n)))
		return
	}
	b.WriteByte(0xCB)
	_ = binary.Write(b, binary.BigEndian, int64(n))
}

// size writes how long something is: small ones in their marker, others behind
// one of two bytes or four.
func size(b *bytes.Buffer, n int, small, marker byte) {
	switch {
	case n < 16:
		b.WriteByte(small | byte(n))
	case n <= math.MaxUint16:
		b.WriteByte(marker + 1)
		_ = binary.Write(b, binary.BigEndian, uint16(n))
	default:
		b.WriteByte(marker + 2)
		_ = binary.Write(b, binary.BigEndian, uint32(n))
	}
}

// unpack reads a value. What it cannot read is a fault of the test.
func unpack(b *bytes.Buffer) any {
	m := b.Next(1)[0]
	switch {
	case m < 0x80 || m >= 0xF0:
		return int(int8(m))
	case m < 0x90:
		return string(b.Next(int(m & 0xF)))
	case m < 0xA0:
		return unpackList(b, int(m&0xF))
	case m < 0xB0:
		return unpackMap(b, int(m&0xF))
	case m < 0xC0:
		return Struct{Tag: b.Next(1)[0], Fields: unpackList(b, int(m&0xF))}
	}
	switch m {
	case 0xC0:
		return nil
	case 0xC2, 0xC3:
		return m == 0xC3
	case 0xC1:
		return math.Float64frombits(uint64(number(b, 8)))
	case 0xC8, 0xC9, 0xCA, 0xCB:
		width := 1 << (m - 0xC8)
		shift := 64 - 8*width
		return number(b, width) << shift >> shift
	case 0xD0, 0xD1, 0xD2:
		return string(b.Next(number(b, 1<<(m-0xD0))))
	case 0xD4, 0xD5, 0xD6:
		return unpackList(b, number(b, 1<<(m-0xD4)))
	case 0xD8, 0xD9, 0xDA:
		return unpackMap(b, number(b, 1<<(m-0xD8)))
	}
	panic(fmt.Sprintf("bolttest cannot read what begins with %#x", m))
}

func number(b *bytes.Buffer, width int) int {
	n := 0
	for _, x := range b.Next(width) {
		n = n<<8 | int(x)
	}
	return n
}

func unpackList(b *bytes.Buffer, n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = unpack(b)
	}
	return out
}

func unpackMap(b *bytes.Buffer, n int) map[string]any {
	out := map[string]any{}
	for range n {
		key, _ := unpack(b).(string)
		out[key] = unpack(b)
	}
	return out
}
