package robots

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// GroupDigest returns the digest of a group as normalized: the first 32 hexadecimal digits
// of the SHA-256 of its tokens in lower case, sorted, each as "user-agent: token\n", and
// its rules in the order of the file, as "disallow: /path\n", with the path as written.
// The same block has the same digest on every host, whatever stands around it. The File
// must not be used concurrently.
func (f *File) GroupDigest(i int) string {
	g := &f.Groups[i]
	text := f.digested[:0]
	if g.Agents.Len() == 1 { // as of nearly all groups
		text = append(appendLower(append(text, "user-agent: "...), f.Agents[g.Agents.From].Wide), '\n')
	} else {
		tokens := make([]string, 0, 8)
		for k := g.Agents.From; k < g.Agents.To; k++ {
			tokens = append(tokens, strings.ToLower(string(f.Agents[k].Wide)))
		}
		slices.Sort(tokens)
		for _, token := range tokens {
			text = append(append(append(text, "user-agent: "...), token...), '\n')
		}
	}
	for k := g.Rules.From; k < g.Rules.To; k++ {
		r := &f.Rules[k]
		text = append(append(append(append(text, r.Kind.String()...), ": "...), r.Pattern...), '\n')
	}
	f.digested = text
	sum := sha256.Sum256(text)
	var digits [32]byte
	hex.Encode(digits[:], sum[:16])
	return string(digits[:])
}

// appendLower appends a token in lower case.
func appendLower(dst, token []byte) []byte {
	from := len(dst)
	for _, b := range token {
		if b >= 0x80 {
			return append(dst[:from], strings.ToLower(string(token))...)
		}
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst
}

// OnlyComments reports whether a file has a comment and no line that is a record.
func (f *File) OnlyComments() bool {
	return f.commented && len(f.Agents)+len(f.Rules)+len(f.Sitemaps)+len(f.Signals)+len(f.Usages) == 0 &&
		!slices.ContainsFunc(f.Remarks, func(r Remark) bool { return r.Class == Extension || r.Class == UnknownField })
}
