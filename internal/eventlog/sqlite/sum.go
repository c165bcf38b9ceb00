package sqlite

import (
	"encoding/binary"
	"hash/crc32"

	"conclave/internal/eventlog/internal/record"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers a whole row and the flow it belongs to: a CRC-32C over the
// numbers and the length-prefixed strings. Inbox entries have no Seq and At; n
// takes the place of Pos.
func checksum(flow string, r record.Record) int64 {
	var buf [256]byte
	b := buf[:0]
	b = binary.LittleEndian.AppendUint64(b, r.Pos)
	b = binary.LittleEndian.AppendUint64(b, r.Seq)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.At))
	for _, s := range [...]string{flow, r.ID, r.Agent, r.Kind} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return int64(crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, r.Body))
}

// seal puts a checksum before the data of a checkpoint.
func seal(data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, crc32.Checksum(data, castagnoli)), data...)
}

// unseal reports whether sealed data is whole.
func unseal(sealed []byte) ([]byte, bool) {
	if len(sealed) < 4 {
		return nil, false
	}
	data := sealed[4:]
	return data, binary.LittleEndian.Uint32(sealed) == crc32.Checksum(data, castagnoli)
}
