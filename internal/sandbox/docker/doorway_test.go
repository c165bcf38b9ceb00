//go:build linux

package docker

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"conclave/internal/policy"
	"conclave/internal/proc"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/docker/dockertest"
)

func TestDoorwayAmongAddresses(t *testing.T) {
	address := func(s string) net.Addr {
		ip, n, err := net.ParseCIDR(s)
		if err != nil {
			t.Fatal(err)
		}
		return &net.IPNet{IP: ip, Mask: n.Mask}
	}
	here := []net.Addr{address("127.0.0.1/8"), address("192.168.1.7/24"), address("fd00::1/64"), address("172.17.0.1/16")}
	for subnet, want := range map[string]string{"172.17.0.0/16": "172.17.0.1", "fd00::/64": "", "10.0.0.0/8": ""} {
		d, ok := doorway([]netip.Prefix{{}, netip.MustParsePrefix(subnet)}, here)
		if d.Listen != want || d.Name != want || ok != (want != "") || ok && d.From.String() != subnet {
			t.Errorf("in %s it is %+v", subnet, d)
		}
	}
}

// A box with a network reaches what listens at its doorway, and nothing on the
// loopback of the machine.
func TestDoorway(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	d, err := dockertest.Setup{Bridge: true, Holds: []string{bash}}.Start()
	if errors.Is(err, dockertest.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	}()
	e := New(Options{Host: d.Host(), Image: dockertest.Image, Boxes: t.TempDir()})
	defer e.Close()
	door, err := e.Doorway(t.Context())
	if err != nil || !door.From.IsValid() {
		t.Fatalf("%+v, %v", door, err)
	}
	serve := func(listen string) (port string) {
		l, err := net.Listen("tcp", net.JoinHostPort(listen, "0"))
		if err != nil {
			t.Fatal(err)
		}
		s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			from, err := netip.ParseAddrPort(r.RemoteAddr)
			if err != nil || !door.From.Contains(from.Addr()) {
				t.Errorf("it comes from %s, which is not in %s", r.RemoteAddr, door.From)
			}
			_, _ = io.WriteString(w, "reached")
		})}}
		s.Start()
		t.Cleanup(s.Close)
		_, port, _ = net.SplitHostPort(l.Addr().String())
		return port
	}
	box, err := e.Open(t.Context(), sandbox.Spec{Flow: "run-1", Owner: "a", Place: policy.Place{Dir: "/"}, Network: true})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	get := func(host, port string) string {
		said := proc.NewCapture(1<<10, 0)
		p, err := box.Start(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", fmt.Sprintf(`exec 3<>/dev/tcp/%s/%s && printf 'GET / HTTP/1.0\r\n\r\n' >&3 && cat <&3`, host, port)}, Stdout: said, Stderr: said})
		if err == nil {
			_, err = p.Wait()
		}
		if err != nil {
			t.Fatal(err)
		}
		return said.String()
	}
	if got := get(door.Name, serve(door.Listen)); !strings.HasSuffix(got, "reached") {
		t.Errorf("at the doorway: %s", got)
	}
	if got := get("127.0.0.1", serve("127.0.0.1")); !strings.Contains(got, "refused") {
		t.Errorf("on the loopback: %s", got)
	}
	if _, err := e.With("none").Doorway(t.Context()); err == nil || !strings.Contains(err.Error(), "set shell.network to bridge") {
		t.Errorf("without a network: %v", err)
	}
	if door, err := e.With("host").Doorway(t.Context()); err != nil || door.Listen != "127.0.0.1" {
		t.Errorf("in the machine's network: %+v, %v", door, err)
	}
}
