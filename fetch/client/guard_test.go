package client

import (
	"net/netip"
	"testing"

	"github.com/robocensus/robocensus/fetch"
)

func TestSpecialAddresses(t *testing.T) {
	for _, row := range []struct {
		addr    string
		special bool
	}{
		{"8.8.8.8", false}, {"1.1.1.1", false}, {"2606:4700:4700::1111", false}, {"198.17.255.255", false},
		{"127.0.0.1", true}, {"127.255.255.254", true}, {"0.0.0.0", true}, {"10.1.2.3", true}, {"172.16.0.1", true},
		{"172.32.0.1", false}, {"192.168.1.1", true}, {"169.254.169.254", true}, {"100.64.0.1", true}, {"198.18.0.1", true},
		{"192.0.2.1", true}, {"203.0.113.9", true}, {"224.0.0.1", true}, {"255.255.255.255", true},
		{"::1", true}, {"::", true}, {"fe80::1", true}, {"fc00::1", true}, {"fd12::1", true}, {"ff02::1", true},
		{"2001:db8::1", true},
		// IPv4 inside IPv6
		{"::ffff:127.0.0.1", true}, {"::ffff:8.8.8.8", false}, {"::127.0.0.1", true},
		{"64:ff9b::7f00:1", true}, {"64:ff9b::808:808", false}, {"64:ff9b:1::808:808", true},
		{"2002:7f00:1::", true}, {"2002:a9fe:a9fe::1", true}, {"2002:7f00:808::1", true}, {"2002:808:7f00::1", false},
		{"2001:0:4136:e378::1", true},
		{"::ffff:0:127.0.0.1", true}, {"1::1", true}, {"4000::1", true}, {"100:0:0:1::1", true}, {"2a00:1450::1", false},
	} {
		if got := IsSpecial(netip.MustParseAddr(row.addr)); got != row.special {
			t.Errorf("%s: special is %v, want %v", row.addr, got, row.special)
		}
	}
}

func TestPortsOfRedirects(t *testing.T) {
	asked, hop := fetch.Origin{Scheme: "http", Host: "a.example", Port: 81}, fetch.Origin{Scheme: "https",
		Host: "b.example", Port: 443}
	for location, followed := range map[string]bool{
		"http://c.example/": true, "https://c.example/": true, "ftp://c.example/": true, "http://c.example:443/": true,
		"http://c.example:8080/": true, "http://c.example:49152/": true, "http://c.example:81/": true,
		"http://c.example:22/": false, "http://c.example:21/": false, "http://c.example:25/": false,
		"http://c.example:6000/": false,
		"http://c.example:6667/": false, "https://c.example:5060/": false,
	} {
		_, _, fail := follow(hop.RobotsURL(), location, asked, hop)
		if (fail == nil) != followed {
			t.Errorf("%s: %v, want followed %v", location, fail, followed)
		}
	}
}

// The ports that the Fetch standard refuses, and the system ports.
func TestEdgesOfPortsThatAreRefused(t *testing.T) {
	asked := fetch.Origin{Scheme: "http", Host: "a.example", Port: 80}
	for port, want := range map[uint16]bool{
		1: true, 22: true, 79: true, 80: false, 81: true, 443: false, 1023: true, 1024: false, 1025: false,
		6664: false, 6665: true, 6669: true, 6670: false, 8080: false, 10080: true, 65535: false,
	} {
		if got := isPortRefused(fetch.Origin{Scheme: "http", Host: "b.example", Port: port}, asked, asked); got != want {
			t.Errorf("port %d is refused: %v", port, got)
		}
	}
}
