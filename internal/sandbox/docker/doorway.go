package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/moby/moby/client"

	"conclave/internal/sandbox"
)

// desktop is by what name containers of a Docker that runs in a machine of its own
// reach the loopback of this one.
const desktop = "host.docker.internal"

// Doorway implements [sandbox.Secluded]: the address this machine has on the bridge
// to its containers. Whoever is in another container of that network reaches it as
// well, and so does the machine itself; nobody from elsewhere does who does not
// pretend to be one of them, and an answer would not come back to him.
func (e *Engine) Doorway(ctx context.Context) (sandbox.Doorway, error) {
	const loopback = "127.0.0.1"
	switch e.options.Network {
	case "host":
		return sandbox.Doorway{Listen: loopback, Name: loopback}, nil
	case "none":
		return sandbox.Doorway{}, errors.New("its container has no network; set shell.network to bridge")
	}
	api, err := e.reach(ctx)
	if err != nil {
		return sandbox.Doorway{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, usual.answer)
	defer cancel()
	info, err := api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return sandbox.Doorway{}, fmt.Errorf("ask what Docker can do: %w", err)
	}
	if strings.Contains(info.Info.OperatingSystem, "Docker Desktop") {
		return sandbox.Doorway{Listen: loopback, Name: desktop}, nil
	}
	network := e.options.Network
	if network == "" {
		network = "bridge"
	}
	found, err := api.NetworkInspect(ctx, network, client.NetworkInspectOptions{})
	if err != nil {
		return sandbox.Doorway{}, fmt.Errorf("look at Docker's network %s: %w", network, err)
	}
	var subnets []netip.Prefix
	for _, c := range found.Network.IPAM.Config {
		subnets = append(subnets, c.Subnet)
	}
	here, err := net.InterfaceAddrs()
	if err != nil {
		return sandbox.Doorway{}, fmt.Errorf("look at the addresses of this machine: %w", err)
	}
	d, ok := doorway(subnets, here)
	if !ok {
		return sandbox.Doorway{}, fmt.Errorf("this machine has no address in Docker's network %s, as with one that runs without root or elsewhere; "+
			"set shell.network to host, or choose another sandbox", network)
	}
	return d, nil
}

// doorway is the address of this machine in one of those networks. The first that
// is of the fourth version is taken, which every container has.
func doorway(subnets []netip.Prefix, here []net.Addr) (sandbox.Doorway, bool) {
	for _, a := range here {
		at, err := netip.ParsePrefix(a.String())
		if err != nil || !at.Addr().Is4() {
			continue
		}
		if i := slices.IndexFunc(subnets, func(s netip.Prefix) bool { return s.IsValid() && s.Contains(at.Addr()) }); i >= 0 {
			return sandbox.Doorway{Listen: at.Addr().String(), Name: at.Addr().String(), From: subnets[i]}, true
		}
	}
	return sandbox.Doorway{}, false
}
