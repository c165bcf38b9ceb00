//go:build linux && (amd64 || arm64)

package seccomp

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// verdict runs a filter on one call. The machine in x/net/bpf reads numbers in
// the order of the network, so that is how they are laid out for it.
func verdict(t *testing.T, r Rules, as uint32, nr uint32, args ...uint32) uint32 {
	t.Helper()
	vm, err := bpf.NewVM(instructions(r))
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[offNr:], nr)
	binary.BigEndian.PutUint32(data[offArch:], as)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[offArgs+8*i:], a)
	}
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

func TestFilter(t *testing.T) {
	private, internet, none := Rules{}, Rules{Sockets: Internet}, Rules{Sockets: None, Shared: true}
	for _, c := range []struct {
		name  string
		rules Rules
		want  uint32
		nr    uint32
		args  []uint32
	}{
		{"read", none, allow, unix.SYS_READ, nil},
		{"execve", none, allow, unix.SYS_EXECVE, nil},
		{"ptrace", private, eperm, unix.SYS_PTRACE, nil},
		{"io_uring", internet, eperm, unix.SYS_IO_URING_SETUP, nil},
		{"clone", private, allow, unix.SYS_CLONE, []uint32{unix.CLONE_VM | unix.CLONE_THREAD}},
		{"clone into a namespace", private, eperm, unix.SYS_CLONE, []uint32{unix.CLONE_VM | unix.CLONE_NEWUSER}},
		{"clone3", private, enosys, unix.SYS_CLONE3, nil},
		{"window size", private, allow, unix.SYS_IOCTL, []uint32{0, unix.TIOCGWINSZ}},
		{"typing", private, eperm, unix.SYS_IOCTL, []uint32{0, unix.TIOCSTI}},
		{"pasting", private, eperm, unix.SYS_IOCTL, []uint32{0, unix.TIOCLINUX}},
		{"chmod", private, allow, unix.SYS_FCHMODAT, []uint32{0, 0, 0o755}},
		{"chmod setuid", private, eperm, unix.SYS_FCHMODAT, []uint32{0, 0, 0o4755}},
		{"create", private, allow, unix.SYS_OPENAT, []uint32{0, 0, unix.O_CREAT, 0o644}},
		{"create setgid", private, eperm, unix.SYS_OPENAT, []uint32{0, 0, unix.O_CREAT | unix.O_WRONLY, 0o2755}},
		{"a file without a name, setuid", private, eperm, unix.SYS_OPENAT, []uint32{0, 0, unix.O_TMPFILE | unix.O_RDWR, 0o4755}},
		{"open with anything as its mode", private, allow, unix.SYS_OPENAT, []uint32{0, 0, unix.O_RDONLY | unix.O_DIRECTORY, 0o7777}},
		{"fifo", private, allow, unix.SYS_MKNODAT, []uint32{0, 0, unix.S_IFIFO | 0o600}},
		{"device", private, eperm, unix.SYS_MKNODAT, []uint32{0, 0, unix.S_IFCHR | 0o600}},
		{"disk", private, eperm, unix.SYS_MKNODAT, []uint32{0, 0, unix.S_IFBLK | 0o600}},
		{"unix socket", private, allow, unix.SYS_SOCKET, []uint32{unix.AF_UNIX}},
		{"unix socket", internet, eafno, unix.SYS_SOCKET, []uint32{unix.AF_UNIX}},
		{"unix socket", none, eperm, unix.SYS_SOCKET, []uint32{unix.AF_UNIX}},
		{"pair", none, allow, unix.SYS_SOCKETPAIR, []uint32{unix.AF_UNIX}},
		{"internet", internet, allow, unix.SYS_SOCKET, []uint32{unix.AF_INET6}},
		{"internet", none, eperm, unix.SYS_SOCKET, []uint32{unix.AF_INET}},
		{"routes", internet, allow, unix.SYS_SOCKET, []uint32{unix.AF_NETLINK, 0, unix.NETLINK_ROUTE}},
		{"audit", internet, eafno, unix.SYS_SOCKET, []uint32{unix.AF_NETLINK, 0, unix.NETLINK_AUDIT}},
		{"virtual machine", private, eafno, unix.SYS_SOCKET, []uint32{unix.AF_VSOCK}},
		{"shared memory", none, eperm, unix.SYS_SHMGET, nil},
		{"shared memory", private, allow, unix.SYS_SHMGET, nil},
	} {
		if got := verdict(t, c.rules, arch, c.nr, c.args...); got != c.want {
			t.Errorf("%s under %+v is %#x, want %#x", c.name, c.rules, got, c.want)
		}
	}
	if got := verdict(t, private, arch+1, unix.SYS_READ); got != kill {
		t.Errorf("a call of another processor is %#x", got)
	}
	if foreign != 0 {
		if got := verdict(t, private, arch, foreign|unix.SYS_PTRACE); got != enosys {
			t.Errorf("a call of another manner is %#x", got)
		}
	}
}

// What a filter falls through to must find the number of the call loaded: every
// refusal holds whatever comes before it.
func TestEveryRefusalHolds(t *testing.T) {
	for _, r := range []Rules{{}, {Sockets: Internet}, {Sockets: None, Shared: true}} {
		for _, nr := range refused {
			if got := verdict(t, r, arch, nr); got != eperm {
				t.Errorf("call %d is %#x", nr, got)
			}
		}
	}
	program, err := Program(Rules{})
	if err != nil || len(program)%8 != 0 || len(program)/8 != len(instructions(Rules{})) {
		t.Errorf("the program has %d bytes (%v)", len(program), err)
	}
}
