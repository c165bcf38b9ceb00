//go:build linux && (amd64 || arm64)

package seccomp

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data, and of the lower half of an argument on the
// processors there are filters for.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

// What a filter answers with.
const (
	allow = unix.SECCOMP_RET_ALLOW
	kill  = unix.SECCOMP_RET_KILL_PROCESS
	eperm = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// A call that is said not to exist is one that programs have a way without.
	enosys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	eafno  = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
)

// Program is the filter as the kernel reads it.
func Program(r Rules) ([]byte, error) {
	raw, err := bpf.Assemble(instructions(r))
	if err != nil {
		return nil, fmt.Errorf("assemble the system call filter: %w", err)
	}
	var out []byte
	for _, i := range raw {
		out = binary.LittleEndian.AppendUint16(out, i.Op)
		out = append(out, i.Jt, i.Jf)
		out = binary.LittleEndian.AppendUint32(out, i.K)
	}
	return out, nil
}

func instructions(r Rules) []bpf.Instruction {
	// Calls in the manner of another processor have other numbers.
	out := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		bpf.RetConstant{Val: kill},
		bpf.LoadAbsolute{Off: offNr, Size: 4},
	}
	if foreign != 0 {
		out = append(out, bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: foreign, SkipFalse: 1}, bpf.RetConstant{Val: enosys})
	}
	for _, nr := range slices.Concat(refused, refusedHere) {
		out = append(out, on(nr, bpf.RetConstant{Val: eperm})...)
	}
	for _, nr := range missing {
		out = append(out, on(nr, bpf.RetConstant{Val: enosys})...)
	}
	if r.Shared {
		for _, nr := range shared {
			out = append(out, on(nr, bpf.RetConstant{Val: eperm})...)
		}
	}
	out = append(out, on(unix.SYS_CLONE, anyBit(0, namespaces)...)...)
	for _, v := range []uint32{unix.TIOCSTI, unix.TIOCLINUX} {
		out = append(out, on(unix.SYS_IOCTL, equal(1, v)...)...)
	}
	for _, c := range slices.Concat(modes, modesHere) {
		out = append(out, on(c.nr, anyBit(c.arg, unix.S_ISUID|unix.S_ISGID)...)...)
	}
	for _, c := range slices.Concat(opens, opensHere) {
		out = append(out, on(c.nr, creating(c.arg)...)...)
	}
	for _, c := range slices.Concat(nodes, nodesHere) {
		out = append(out, on(c.nr, device(c.arg)...)...)
	}
	out = append(out, on(unix.SYS_SOCKET, sockets(r.Sockets)...)...)
	return append(out, bpf.RetConstant{Val: allow})
}

// on is what is done on one call; the number is loaded before and after. What is
// done ends in an answer, or falls through to the next.
func on(nr uint32, do ...bpf.Instruction) []bpf.Instruction {
	if len(do) > 1 {
		do = append(slices.Clip(do), bpf.LoadAbsolute{Off: offNr, Size: 4})
	}
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpEqual, Val: nr, SkipFalse: uint8(len(do))}}, do...)
}

func load(arg int) bpf.Instruction { return bpf.LoadAbsolute{Off: uint32(offArgs + 8*arg), Size: 4} }

// anyBit refuses if an argument has any of some bits.
func anyBit(arg int, bits uint32) []bpf.Instruction {
	return []bpf.Instruction{load(arg), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: bits, SkipFalse: 1}, bpf.RetConstant{Val: eperm}}
}

// creating refuses bits of the mode if a file is made; otherwise there is no
// mode, and anything may lie where it would be.
func creating(arg int) []bpf.Instruction {
	const tmpfile = unix.O_TMPFILE &^ unix.O_DIRECTORY
	mode := anyBit(arg, unix.S_ISUID|unix.S_ISGID)
	return append([]bpf.Instruction{
		load(arg - 1), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.O_CREAT | tmpfile, SkipFalse: uint8(len(mode))},
	}, mode...)
}

// equal refuses if an argument is a value. The kernel, too, looks at the lower
// half alone where it matters here.
func equal(arg int, v uint32) []bpf.Instruction {
	return []bpf.Instruction{load(arg), bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipFalse: 1}, bpf.RetConstant{Val: eperm}}
}

// device refuses to make a node of a device.
func device(arg int) []bpf.Instruction {
	return []bpf.Instruction{
		load(arg), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: unix.S_IFMT},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.S_IFCHR, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.S_IFBLK, SkipFalse: 1},
		bpf.RetConstant{Val: eperm},
	}
}

// sockets lets some families through. All others are gone: a family nobody
// thought of may belong to the machine.
func sockets(s Sockets) []bpf.Instruction {
	if s == None {
		return []bpf.Instruction{bpf.RetConstant{Val: eperm}}
	}
	families := []uint32{unix.AF_INET, unix.AF_INET6}
	if s == Private {
		families = append(families, unix.AF_UNIX)
	}
	out := []bpf.Instruction{load(0)}
	for _, f := range families {
		out = append(out, bpf.JumpIf{Cond: bpf.JumpEqual, Val: f, SkipFalse: 1}, bpf.RetConstant{Val: allow})
	}
	// Netlink for the addresses and routes of the machine, which looking up a
	// name needs, and for nothing else.
	return append(out,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_NETLINK, SkipFalse: 3},
		load(2),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.NETLINK_ROUTE, SkipFalse: 1},
		bpf.RetConstant{Val: allow},
		bpf.RetConstant{Val: eafno})
}
