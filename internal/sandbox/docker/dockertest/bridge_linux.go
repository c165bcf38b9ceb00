package dockertest

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A bridge is a network between this machine and the containers of one engine. It
// leads nowhere else.
type bridge struct {
	name string
	ip   net.IP // of this machine
}

// newBridge makes one with an address that nobody here has.
func newBridge() (*bridge, error) {
	var r [6]byte
	_, _ = rand.Read(r[:])
	b := &bridge{name: "conclave" + hex.EncodeToString(r[:3]), ip: net.IPv4(10, 200+r[3]%50, r[4], 1).To4()}
	sock, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(sock)
	if err := b.call(sock, unix.SIOCBRADDBR); err != nil {
		return nil, fmt.Errorf("make a bridge: %w", err)
	}
	set := func(request uint, fill func(*unix.Ifreq) error) {
		var req *unix.Ifreq
		if err != nil {
			return
		}
		if req, err = unix.NewIfreq(b.name); err == nil {
			err = fill(req)
		}
		if err == nil {
			err = unix.IoctlIfreq(sock, request, req)
		}
	}
	set(unix.SIOCSIFADDR, func(q *unix.Ifreq) error { return q.SetInet4Addr(b.ip) })
	set(unix.SIOCSIFNETMASK, func(q *unix.Ifreq) error { return q.SetInet4Addr([]byte{255, 255, 255, 0}) })
	set(unix.SIOCSIFFLAGS, func(q *unix.Ifreq) error { q.SetUint16(unix.IFF_UP); return nil })
	if err != nil {
		_ = b.call(sock, unix.SIOCBRDELBR)
		return nil, fmt.Errorf("set up the bridge %s: %w", b.name, err)
	}
	return b, nil
}

// remove takes it down.
func (b *bridge) remove() error {
	sock, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(sock)
	down, err := unix.NewIfreq(b.name)
	if err == nil {
		err = unix.IoctlIfreq(sock, unix.SIOCSIFFLAGS, down)
	}
	if err == nil {
		err = b.call(sock, unix.SIOCBRDELBR)
	}
	if err != nil {
		return fmt.Errorf("remove the bridge %s: %w", b.name, err)
	}
	return nil
}

// call is a request that is given nothing but the name.
func (b *bridge) call(sock int, request uintptr) error {
	name, err := unix.BytePtrFromString(b.name)
	if err != nil {
		return err
	}
	if _, _, no := unix.Syscall(unix.SYS_IOCTL, uintptr(sock), request, uintptr(unsafe.Pointer(name))); no != 0 {
		return no
	}
	return nil
}
