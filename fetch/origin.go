package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// Origin is the scheme, host and port that one robots.txt applies to. Host is
// canonical: lower case, IDN as punycode, IPv6 without brackets, no trailing
// dot. Two spellings of one origin are equal values.
type Origin struct {
	Scheme string `json:"scheme"`
	Host   string `json:"host"`
	Port   uint16 `json:"port"`
}

// ErrScheme is wrapped by errors about a scheme that cannot be fetched.
var ErrScheme = errors.New("cannot be fetched (use http, https or ftp)")

// idnaProfile maps as browsers do (UTS #46, non-transitional, so ß stays ß) and
// refuses names that DNS cannot hold. It permits underscores: hosts with them
// exist and answer.
var idnaProfile = idna.New(
	idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
	idna.BidiRule(), idna.CheckHyphens(false), idna.VerifyDNSLength(true),
)

// parseHost returns the canonical form of a host. It accepts names, IDNs, IPv4
// literals and (bracketed or bare) IPv6 literals. For anything else the error
// says what is wrong.
func parseHost(s string) (string, error) {
	if s == "" {
		return "", errors.New("empty host")
	}
	if literal, ok := strings.CutPrefix(s, "["); ok {
		literal, ok = strings.CutSuffix(literal, "]")
		addr, err := netip.ParseAddr(literal)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", fmt.Errorf("%q is not an IPv6 address", Clip(s))
		}
		return addr.String(), nil
	}
	if addr, err := netip.ParseAddr(s); err == nil {
		if addr.Zone() != "" {
			return "", fmt.Errorf("%q has an IPv6 zone, which is meaningless on other machines", Clip(s))
		}
		return addr.String(), nil
	}
	host, err := plainHost(s)
	if err != nil {
		return "", err
	}
	// Some resolvers take "1.2.3" and "0x7f.1" for addresses, others for names.
	// No public name ends with a numeric label.
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last != "" && (isDigits(last) || strings.HasPrefix(last, "0x") && isHex(last[2:])) {
		return "", fmt.Errorf("%q is neither a name nor an IP address", Clip(s))
	}
	return host, nil
}

func plainHost(s string) (string, error) {
	if fast, ok := asciiHost(s); ok {
		return fast, nil
	}
	// Package idna would replace each invalid byte by U+FFFD, and we would ask
	// another host.
	if !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError) {
		return "", fmt.Errorf("%q is not UTF-8", Clip(s))
	}
	host, err := idnaProfile.ToASCII(strings.TrimSuffix(s, "."))
	if err != nil {
		return "", fmt.Errorf("%q is not a host name", Clip(s))
	}
	for i := 0; i < len(host); i++ {
		if !hostByte(host[i]) {
			return "", fmt.Errorf("%q holds %q, which is not allowed in a host name", Clip(s), host[i])
		}
	}
	if host == "" || strings.HasPrefix(host, ".") || strings.HasSuffix(host, ".") || strings.Contains(host, "..") {
		return "", fmt.Errorf("%q has an empty label", Clip(s))
	}
	return host, nil
}

// asciiHost handles the common case without idna's tables: ASCII, no punycode
// to verify, lengths within DNS.
func asciiHost(s string) (string, bool) {
	s = strings.TrimSuffix(s, ".")
	if len(s) == 0 || len(s) > 253 {
		return "", false
	}
	upper, label := false, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '.' {
			if label == 0 {
				return "", false
			}
			label = 0
			continue
		}
		if c >= 'A' && c <= 'Z' {
			upper = true
		} else if !hostByte(c) {
			return "", false
		}
		if label++; label > 63 {
			return "", false
		}
		if label == 4 && strings.EqualFold(s[i-3:i+1], "xn--") {
			return "", false
		}
	}
	if label == 0 {
		return "", false
	}
	if upper {
		s = strings.ToLower(s)
	}
	return s, true
}

func hostByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_'
}

// IsAsked reports whether resolvers look up a host. For a name with a label
// that begins or ends with a hyphen, resolvers, Go's among them, report without
// a query that it does not exist. Stored captures contain such hosts
// nevertheless.
func IsAsked(host string) bool {
	return !strings.HasPrefix(host, "-") && !strings.HasSuffix(host, "-") && !strings.Contains(host, ".-") &&
		!strings.Contains(host, "-.")
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
func isHex(s string) bool    { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// Parse parses a host, an origin or a URL, as host lists hold them. A bare host
// gets scheme. target is the path and query of a URL, "" if there are none, so
// that a caller can distinguish an origin from a sample URL. Credentials,
// unknown schemes and invalid ports are errors.
func Parse(s, scheme string) (o Origin, target string, err error) {
	rest := s
	if i := strings.IndexByte(s, ':'); i > 0 && slices.Contains(noAuthority, strings.ToLower(s[:i])) {
		return Origin{}, "", fmt.Errorf("scheme %q %w", Clip(s[:i]), ErrScheme)
	}
	if i := strings.Index(s, "://"); i >= 0 {
		scheme, rest = strings.ToLower(s[:i]), s[i+3:]
		if DefaultPort(scheme) == 0 {
			return Origin{}, "", fmt.Errorf("scheme %q %w", Clip(scheme), ErrScheme)
		}
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, target = rest[:i], rest[i:]
		if j := strings.IndexByte(target, '#'); j >= 0 {
			target = target[:j]
		}
		if strings.HasPrefix(target, "?") {
			target = "/" + target
		}
	}
	if strings.ContainsRune(authority, '@') {
		shown := Clip(WithoutUser(authority))
		if rest == s {
			return Origin{}, "", fmt.Errorf("%q is not a host: it has an @, like a mail address or credentials", shown)
		}
		return Origin{}, "", fmt.Errorf("%q holds credentials; remove them", shown)
	}
	if authority == "" {
		return Origin{}, "", fmt.Errorf("%q names no host", Clip(s))
	}
	host, port, err := splitPort(authority)
	if err != nil {
		return Origin{}, "", err
	}
	if host, err = parseHost(host); err != nil {
		return Origin{}, "", err
	}
	if port == 0 {
		port = DefaultPort(scheme)
	}
	return Origin{Scheme: scheme, Host: host, Port: port}, target, nil
}

// WithoutUser returns what a user gives for an address without the name and the password
// that it may have before an @: a message is in logs, too.
func WithoutUser(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		return "…" + text[at:]
	}
	return text
}

// noAuthority are schemes whose URLs have no host, so that no :// follows them.
var noAuthority = []string{"mailto", "javascript", "data", "tel", "sms", "sip", "sips", "urn", "news", "about",
	"blob", "magnet", "view-source"}

func splitPort(authority string) (host string, port uint16, err error) {
	colon := strings.LastIndexByte(authority, ':')
	bracket := strings.LastIndexByte(authority, ']')
	if colon < bracket || colon < 0 || bracket < 0 && (authority[0] == '[' || strings.Count(authority, ":") > 1) {
		return authority, 0, nil // no port, or a bare IPv6 literal
	}
	text := authority[colon+1:]
	if text == "" {
		return authority[:colon], 0, nil // RFC 3986 section 3.2.3: an empty port is the default one
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("%q has no port between 1 and 65535 after the colon", Clip(authority))
	}
	return authority[:colon], uint16(n), nil
}

// DefaultPort returns the default port of a scheme, 0 if it cannot be fetched.
func DefaultPort(scheme string) uint16 {
	switch scheme {
	case "http":
		return 80
	case "https":
		return 443
	case "ftp":
		return 21
	}
	return 0
}

// WithScheme returns the same host under another scheme. A default port changes
// with the scheme; any other stays.
func (o Origin) WithScheme(scheme string) Origin {
	if o.Port == DefaultPort(o.Scheme) {
		o.Port = DefaultPort(scheme)
	}
	o.Scheme = scheme
	return o
}

// Authority returns host and port as in a URL: without a default port, IPv6 in
// brackets.
func (o Origin) Authority() string {
	host := o.Host
	if strings.IndexByte(host, ':') >= 0 {
		host = "[" + host + "]"
	}
	if o.Port == DefaultPort(o.Scheme) {
		return host
	}
	return host + ":" + strconv.Itoa(int(o.Port))
}

func (o Origin) String() string { return o.Scheme + "://" + o.Authority() }

// RobotsURL returns the URL of the origin's robots.txt (RFC 9309 section 2.3).
func (o Origin) RobotsURL() string { return o.String() + "/robots.txt" }

// RegisteredDomain returns the registrable domain of a host by the public
// suffix list, and its last label. Both are "" for an IP literal; domain is ""
// for a public suffix.
func RegisteredDomain(host string) (domain, tld string) {
	if _, err := netip.ParseAddr(host); err == nil {
		return "", ""
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		domain = ""
	}
	return domain, host[strings.LastIndexByte(host, '.')+1:]
}

// reserved are top-level domains that no registry has: of RFC 2606, 6761, 6762, 7686 and
// 9476, and of ICANN for networks of one's own.
var reserved = []string{"test", "example", "invalid", "localhost", "local", "onion", "alt", "internal"}

// HasTopLevel reports whether a host is an address, or ends in a top-level domain: the names
// of most files do not.
func HasTopLevel(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	_, icann := publicsuffix.PublicSuffix("x." + last)
	return icann || slices.Contains(reserved, last)
}

// DomainOf returns the registered domain of a host, or the host if it has none.
func DomainOf(host string) string {
	if domain, _ := RegisteredDomain(host); domain != "" {
		return domain
	}
	return host
}
