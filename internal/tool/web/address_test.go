package web

import (
	"net/netip"
	"testing"
)

func TestPublic(t *testing.T) {
	for addr, want := range map[string]bool{
		"1.1.1.1":                true,
		"93.184.216.34":          true,
		"172.15.0.1":             true,
		"172.32.0.1":             true,
		"2606:4700:4700::1111":   true,
		"::ffff:1.1.1.1":         true,
		"64:ff9b::101:101":       true, // 1.1.1.1
		"0.0.0.0":                false,
		"10.1.2.3":               false,
		"100.100.100.200":        false,
		"127.0.0.1":              false,
		"127.255.255.254":        false,
		"168.63.129.16":          false,
		"169.254.169.254":        false,
		"172.16.0.1":             false,
		"172.31.255.255":         false,
		"192.0.0.192":            false,
		"192.168.1.1":            false,
		"198.19.0.1":             false,
		"224.0.0.1":              false,
		"255.255.255.255":        false,
		"::":                     false,
		"::1":                    false,
		"::127.0.0.1":            false,
		"::ffff:127.0.0.1":       false,
		"::ffff:169.254.169.254": false,
		"64:ff9b::7f00:1":        false,
		"64:ff9b:1::1":           false,
		"100::1":                 false,
		"2001::1":                false,
		"2001:db8::1":            false,
		"2002:7f00:1::":          false,
		"fc00::1":                false,
		"fd00:ec2::254":          false,
		"fe80::1":                false,
		"fe80::1%eth0":           false,
		"fec0::1":                false,
		"ff02::1":                false,
	} {
		err := public(netip.AddrPortFrom(netip.MustParseAddr(addr), 80))
		if (err == nil) != want {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
