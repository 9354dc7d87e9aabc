package consent

import (
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// An Outline is what is kept of a page to compare it with others: enough to tell whether two
// pages are alike, at a hundredth of their size.
type Outline struct {
	// Digest is the SHA-1 of the words but those that change at each request, in bare base32.
	Digest string
	Bytes  int // of the text
	words  int
	// least are the least hashes of the runs of three words, ascending: all of them, or as many
	// as are kept. Of pages with more, likeness is an estimate, and the same each time.
	least []uint64
}

// maxRuns bounds the hashes of an outline. Of pages with more, likeness has a standard error of
// 0.02 at most.
const maxRuns = 512

// Outline returns the outline of a text.
func (s Shown) Outline() Outline {
	words := s.words()
	out := Outline{Bytes: len(s.Body), words: len(words)}
	text := make([]byte, 0, len(s.Body)+len(words))
	for _, word := range words {
		text = append(append(text, word...), 0)
	}
	digest := sha1.Sum(text)
	out.Digest = base32.StdEncoding.EncodeToString(digest[:])
	all := hashes(words)
	slices.Sort(all)
	last, again := uint64(0), uint64(0) // how often a run has come before
	for i, h := range all {
		if again++; i == 0 || h != last {
			last, again = h, 0
		}
		all[i] = spread(h + again*0x9e3779b97f4a7c15)
	}
	slices.Sort(all)
	out.least = slices.Clone(all[:min(len(all), maxRuns)])
	return out
}

// hashes returns the hashes of the runs of three words of a text: FNV-1a, of the words with a
// zero behind each. It allocates once: a page has thousands of words.
func hashes(words []string) []uint64 {
	all := make([]uint64, len(words))
	for i := range words {
		h := uint64(14695981039346656037)
		for _, word := range words[i:min(i+3, len(words))] {
			for k := range len(word) {
				h = (h ^ uint64(word[k])) * 1099511628211
			}
			h *= 1099511628211
		}
		all[i] = h
	}
	return all
}

// spread makes a number of which all bits depend on all of x, so that the least are a sample.
func spread(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Likeness returns the share of the runs of three words that two pages have in common, of
// those of the longer one.
func (o *Outline) Likeness(p *Outline) float64 {
	switch {
	case o.Digest == p.Digest:
		return 1
	case o.words == 0 || p.words == 0:
		return 0
	}
	last := min(o.end(), p.end())
	both, either := 0, 0
	a, b := o.least, p.least
	for len(a) > 0 && a[0] <= last || len(b) > 0 && b[0] <= last {
		either++
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			b = b[1:]
		default:
			both++
			a, b = a[1:], b[1:]
		}
	}
	share := float64(both) / float64(either)
	return min(1, share/(1+share)*float64(o.words+p.words)/float64(max(o.words, p.words)))
}

// end returns the hash beyond which an outline tells nothing.
func (o *Outline) end() uint64 {
	if o.words <= maxRuns {
		return math.MaxUint64
	}
	return o.least[len(o.least)-1]
}

// MarshalBinary encodes an outline: digest, bytes, words, and the hashes.
func (o *Outline) MarshalBinary() ([]byte, error) {
	digest, err := base32.StdEncoding.DecodeString(o.Digest)
	if err != nil || len(digest) != sha1.Size {
		return nil, errOutline
	}
	digest = binary.AppendUvarint(digest, uint64(o.Bytes))
	digest = binary.AppendUvarint(digest, uint64(o.words))
	for _, h := range o.least {
		digest = binary.BigEndian.AppendUint64(digest, h)
	}
	return digest, nil
}

var errOutline = errors.New("not an outline of a page")

// UnmarshalBinary reverses MarshalBinary.
func (o *Outline) UnmarshalBinary(text []byte) error {
	if len(text) < sha1.Size {
		return errOutline
	}
	got := Outline{Digest: base32.StdEncoding.EncodeToString(text[:sha1.Size])}
	text = text[sha1.Size:]
	for _, to := range []*int{&got.Bytes, &got.words} {
		n, size := binary.Uvarint(text)
		if size <= 0 || n > alikeBytes {
			return errOutline
		}
		*to, text = int(n), text[size:]
	}
	if len(text) != 8*min(got.words, maxRuns) {
		return errOutline
	}
	for ; len(text) > 0; text = text[8:] {
		got.least = append(got.least, binary.BigEndian.Uint64(text))
	}
	if !slices.IsSorted(got.least) {
		return errOutline
	}
	*o = got
	return nil
}
