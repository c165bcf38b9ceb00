package web

import (
	"fmt"
	"net/netip"
)

// special are the networks that are not the public internet, or lead to one that
// is not: the special-purpose registries of IPv4 and IPv6, and addresses at
// which clouds keep what a machine may know of itself.
var special = []struct {
	net  netip.Prefix
	what string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private network"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a carrier's network"},
	{netip.MustParsePrefix("127.0.0.0/8"), "this machine"},
	{netip.MustParsePrefix("168.63.129.16/32"), "a cloud's metadata service"},
	{netip.MustParsePrefix("169.254.0.0/16"), "the local link, where clouds keep metadata"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private network"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved network"},
	{netip.MustParsePrefix("192.0.2.0/24"), "a network for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a reserved network"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private network"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a network for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "a network for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "a network for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved network"},
	{netip.MustParsePrefix("2001::/23"), "a reserved network"},
	{netip.MustParsePrefix("2001:db8::/32"), "a network for documentation"},
	{netip.MustParsePrefix("2002::/16"), "a tunnel"},
	{netip.MustParsePrefix("3fff::/20"), "a network for documentation"},
}

var (
	global6 = netip.MustParsePrefix("2000::/3")
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
)

// public is nil for an address of the public internet.
func public(to netip.AddrPort) error {
	ip := to.Addr().Unmap().WithZone("")
	if nat64.Contains(ip) { // an IPv4 address in disguise
		b := ip.As16()
		ip = netip.AddrFrom4([4]byte(b[12:]))
	}
	for _, s := range special {
		if s.net.Contains(ip) {
			return refuse(to, s.what)
		}
	}
	if ip.Is6() && !global6.Contains(ip) {
		return refuse(to, "not on the public internet")
	}
	return nil
}

func refuse(to netip.AddrPort, what string) error {
	return fmt.Errorf("it leads to %s, which is %s; only public addresses can be read", to.Addr(), what)
}
