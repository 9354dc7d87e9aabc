package client

import (
	"net/netip"

	"github.com/robocensus/robocensus/fetch"
)

// special holds the blocks without public hosts: the IANA registries of
// special-purpose addresses (RFC 6890 and its updates), multicast and reserved
// space. A name that resolves there is a mistake or an attempt to make the
// census probe a private network.
var special = func() []netip.Prefix {
	var out []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
		"192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
		"224.0.0.0/4", "240.0.0.0/4",
		"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20",
		"2620:4f:8000::/48", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}()

// carriers embed an IPv4 address at the given byte: dialling the IPv6 address
// reaches the IPv4 address (RFC 6052 NAT64, RFC 3056 6to4).
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
}

// IsSpecial reports whether addr must not be dialled unless Config.AllowPrivate
// is set. IPv4 inside IPv6 (mapped, NAT64, 6to4) is judged by the IPv4 address.
func IsSpecial(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, p := range special {
		if p.Contains(addr) {
			return true
		}
	}
	if addr.Is4() {
		return false
	}
	bytes := addr.As16()
	for _, c := range carriers {
		if c.prefix.Contains(addr) {
			return IsSpecial(netip.AddrFrom4([4]byte(bytes[c.at : c.at+4])))
		}
	}
	return !global.Contains(addr)
}

// global is the part of IPv6 assigned to public hosts (RFC 4291 section 2.4,
// IANA). Everything else is special or unassigned.
var global = netip.MustParsePrefix("2000::/3")

// isPortRefused reports whether a redirect may not lead to a port: the system
// ports except those of the web and FTP, and the other ports that browsers
// refuse (Fetch standard, section 2.9 "port blocking"), where servers of other
// protocols listen. An origin in a list may have any port, and a chain may
// return to its earlier ports.
func isPortRefused(to, asked, from fetch.Origin) bool {
	switch to.Port {
	case asked.Port, from.Port, fetch.DefaultPort("http"), fetch.DefaultPort("https"), fetch.DefaultPort(to.Scheme):
		return false
	case 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080:
		return true
	}
	return to.Port < 1024
}
