package robots

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// A Target is the path and query of a URL, prepared for a profile: [Profile.Target] makes
// one of a URL, and [Policy.Judge] takes its address.
//
//	target := profile.Target("https://news.example/a?b")
//	verdict := judge.Policy(0).Judge(&target)
//
// It can be used with the policies of any file under that profile. It is immutable and
// safe for concurrent use.
type Target struct {
	path  []byte
	query int    // index of the first ?, or the length of path
	head  uint64 // the first eight bytes, padded with zeros
	start uint64 // the bit of the second and third bytes in ruleset.starts
	// letters and pairs are small Bloom filters of the bytes and byte pairs of
	// the path. A long path would fill them, so allPairs is the exact set of
	// its pairs. They nearly always show without a search that a wildcard
	// pattern cannot match.
	letters, pairs uint64
	allPairs       *[1 << 10]uint64
	isRobotsTxt    bool
	// letter is the target with reserved characters in the path equal to their
	// escapes, if the profile leaves that open and it makes a difference.
	letter *Target
	// whole makes a pattern cover only itself and the paths below it, not what
	// merely begins with it (BarePrefix).
	whole bool
}

// longPath is the length of a path from which its letters and pairs filter too
// little.
const longPath = 128

// Target prepares a URL or a path as a person writes it: it escapes what a URL
// cannot hold. See URLPath for its parts.
func (p *Profile) Target(pathOrURL string) Target {
	return p.target(rewrite.AppendURL(nil, URLPath(pathOrURL)))
}

// LiteralTarget prepares a URL without escaping anything.
func (p *Profile) LiteralTarget(url string) Target {
	return p.target([]byte(URLPath(url)))
}

func (p *Profile) target(path []byte) Target {
	if p.isDialect() {
		path = dialect.RewriterOf(&p.Matching.Matching).URL(path)
		if p.SortedQuery {
			path = sortQuery(path)
		}
		return p.prepare(path)
	}
	switch p.Escapes {
	case EscapesBoth:
		return p.prepare(rewrite.AppendUpperHex(make([]byte, 0, len(path)), path))
	case EscapesRFC:
		t := p.prepare(rewrite.AppendRFC(make([]byte, 0, len(path)), path, rewrite.OfURL, false, p.Reserved == ReservedEqual))
		if p.Reserved == ReservedOpen {
			if letter := rewrite.AppendRFC(nil, path, rewrite.OfURL, false, true); !bytes.Equal(letter, t.path) {
				other := p.prepare(letter)
				t.letter = &other
			}
		}
		return t
	}
	return p.prepare(path)
}

// IsRobotsTxt reports whether the profile always allows the target, as /robots.txt itself
// (RFC 9309, 2.2.2).
func (t *Target) IsRobotsTxt() bool { return t.isRobotsTxt }

func (p *Profile) prepare(path []byte) Target {
	t := prepare(path)
	t.isRobotsTxt = p.RobotsTxtAllowed && string(path) == "/robots.txt"
	if len(path) >= longPath {
		t.allPairs = new([1 << 10]uint64)
		for i := 0; i+1 < len(path); i++ {
			k := uint16(path[i])<<8 | uint16(path[i+1])
			t.allPairs[k>>6] |= 1 << (k & 63)
		}
	}
	return t
}

// prepare makes a Target of a normalized path.
func prepare(path []byte) Target {
	t := Target{path: path, query: len(path)}
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		t.query = i
	}
	var head [8]byte
	copy(head[:], path)
	t.head = binary.LittleEndian.Uint64(head[:])
	t.start = pairBit(head[1], head[2])
	t.letters, t.pairs = filters(path)
	return t
}

// Path returns the path and query in the form that is compared.
func (t *Target) Path() string { return string(t.path) }

func filters(b []byte) (letters, pairs uint64) {
	for i, c := range b {
		letters |= 1 << (c & 63)
		if i > 0 {
			pairs |= pairBit(b[i-1], c)
		}
	}
	return letters, pairs
}

func pairBit(a, b byte) uint64 { return 1 << ((a*11 ^ b*5) & 63) }

// may reports whether a literal can occur in the path, which must have
// allPairs.
func (t *Target) may(seg []byte) bool {
	for i := 0; i+1 < len(seg); i++ {
		k := uint16(seg[i])<<8 | uint16(seg[i+1])
		if t.allPairs[k>>6]&(1<<(k&63)) == 0 {
			return false
		}
	}
	return true
}

// URLPath returns the part of a URL that patterns are compared with: path,
// parameters and query, found as Google's parser finds it. It begins at the
// first of / ? ; after the scheme and host and ends before the fragment or a
// NUL. The result always begins with a slash; for a URL without a path it is
// "/". URLPath neither checks the host nor resolves dot segments or escapes.
func URLPath(url string) string {
	start := 0
	if strings.HasPrefix(url, "//") {
		start = 2
	}
	rest := url[start:]
	begin := strings.IndexAny(rest, "/?;")
	// A :// separates a scheme only if no path has begun before it.
	if i := strings.Index(rest, "://"); i >= 0 && begin > i {
		begin = strings.IndexAny(rest[i+3:], "/?;")
		if begin >= 0 {
			begin += i + 3
		}
	}
	hash := strings.IndexByte(rest, '#')
	if begin < 0 || hash >= 0 && hash < begin {
		return "/"
	}
	if hash < 0 {
		hash = len(rest)
	}
	path := rest[begin:hash]
	if path[0] != '/' {
		path = "/" + path
	}
	if i := strings.IndexByte(path, 0); i >= 0 {
		path = path[:i]
	}
	return path
}
