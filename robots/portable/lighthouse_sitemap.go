package portable

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// unseen leaves out what the URL standard's parser leaves out.
var unseen = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// isAuditedSitemap reports whether the URL standard's parser takes a value for a URL of http,
// https or ftp. Of such a URL, all but the host and the port is always valid.
func isAuditedSitemap(value string) bool {
	value = strings.TrimFunc(value, func(r rune) bool { return r <= ' ' })
	value = unseen.Replace(value)
	scheme, rest, ok := strings.Cut(value, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "ftp":
	default:
		return false // another protocol, or no URL
	}
	rest = strings.TrimLeft(rest, `/\`)
	if i := strings.IndexAny(rest, `/\?#`); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	host, port := rest, ""
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, ']') {
		host, port = rest[:i], rest[i+1:]
	}
	return ok && isPort(port) && isHost(host)
}

func isPort(port string) bool {
	n, err := strconv.ParseUint(strings.TrimLeft(port, "0"), 10, 16)
	return strings.Trim(port, "0") == "" || err == nil && n > 0
}

// forbidden are the characters that no domain has, beside controls.
const forbidden = " #/<>?@[\\]^|%:\x7f"

// toASCII is the processing of domains that the URL standard demands: that of UTS 46,
// without a bound on lengths or hyphens, and with the checks of joiners and directions.
var toASCII = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
	idna.CheckHyphens(false), idna.VerifyDNSLength(false),
	idna.BidiRule(), idna.CheckJoiners(true))

func isHost(host string) bool {
	if strings.HasPrefix(host, "[") {
		address, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		return err == nil && strings.HasSuffix(host, "]") && address.Is6() && address.Zone() == ""
	}
	host, err := toASCII.ToASCII(unescapedHost(host))
	if err != nil || host == "" || strings.ContainsAny(host, forbidden) ||
		strings.ContainsFunc(host, func(r rune) bool { return r < ' ' || r >= 0x80 }) {
		return false
	}
	return !endsInNumber(host) || isIPv4(host)
}

// unescapedHost decodes the escapes of a host. Those of nothing valid stay, and are forbidden.
func unescapedHost(host string) string {
	if !strings.Contains(host, "%") {
		return host
	}
	var b strings.Builder
	for i := 0; i < len(host); i++ {
		if host[i] == '%' && i+2 < len(host) {
			if c, err := strconv.ParseUint(host[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(host[i])
	}
	return b.String()
}

// endsInNumber reports whether a host is to be an IPv4 address, because its last label is a
// number.
func endsInNumber(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := labels[len(labels)-1]
	_, ok := ipNumber(last)
	return ok || last != "" && strings.Trim(last, "0123456789") == ""
}

// ipNumber reads a part of an IPv4 address, which may be octal or hexadecimal.
func ipNumber(text string) (n uint64, ok bool) {
	base := 10
	switch {
	case text == "":
		return 0, false
	case strings.HasPrefix(text, "0x"):
		if text, base = text[2:], 16; text == "" {
			return 0, true
		}
	case len(text) > 1 && text[0] == '0':
		text, base = text[1:], 8
	}
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil && strings.Contains(err.Error(), "range") {
		return 1 << 63, true
	}
	return n, err == nil && text[0] != '+'
}

func isIPv4(host string) bool {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return false
	}
	for i, part := range parts {
		n, ok := ipNumber(part)
		most := uint64(255)
		if i == len(parts)-1 {
			most = 1<<(8*(5-len(parts))) - 1
		}
		if !ok || n > most {
			return false
		}
	}
	return true
}
