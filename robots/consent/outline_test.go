package consent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drawn returns words drawn from many.
func drawn(r *rand.Rand, n int) []string {
	words := make([]string, n)
	for i := range words {
		for range 4 + r.IntN(4) {
			words[i] += string(rune('a' + r.IntN(26)))
		}
	}
	return words
}

// Likeness is that of the texts: exact for short ones, near for long ones. Outlines survive
// their encoding.
func TestLikeness(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{3, 40, 400, 3000, 8000} {
		for _, share := range []float64{0, 0.01, 0.1, 0.3, 1} {
			words := drawn(r, n)
			other := append([]string{}, words...)
			for i := range other {
				if r.Float64() < share {
					other[i] = drawn(r, 1)[0]
				}
			}
			text := func(words []string) Shown { return Shown{Path: "/", Body: []byte(strings.Join(words, " "))} }
			a, b := text(words).Outline(), text(other).Outline()
			x, y, both := runs(words), runs(other), 0
			for run, n := range x {
				both += min(n, y[run])
			}
			want, most := float64(both)/float64(n), 1e-9
			if n > maxRuns {
				most = 0.08
			}
			got := a.Likeness(&b)
			if math.Abs(got-want) > most || got != b.Likeness(&a) {
				t.Errorf("%d words of which %g differ: %g, want %g", n, share, got, want)
			}
			text2, err := a.MarshalBinary()
			var again Outline
			if err == nil {
				err = again.UnmarshalBinary(text2)
			}
			if err != nil || !cmp.Equal(a, again, cmp.AllowUnexported(Outline{})) {
				t.Fatalf("encoded: %v", err)
			}
			for cut := range text2[:min(len(text2), 40)] {
				if again.UnmarshalBinary(text2[:cut]) == nil {
					t.Fatalf("the first %d bytes are an outline", cut)
				}
			}
		}
	}
	shuffled := strings.Repeat("a b c d ", 4)
	one, two := (Shown{Body: []byte(shuffled)}).Outline(), (Shown{Body: []byte("a b c d")}).Outline()
	if got := one.Likeness(&two); got != 4.0/16 { // abc, bcd and both ends are in both, once
		t.Errorf("repeated runs: %g", got)
	}
	empty := (Shown{}).Outline()
	if empty.Likeness(&one) != 0 || empty.Likeness(&empty) != 1 {
		t.Error("no text")
	}
	for i, bad := range []string{"", strings.Repeat("x", 20), strings.Repeat("x", 20) + "\x01\xff\xff\xff\xff\xff\x0f",
		strings.Repeat("x", 20) + "\x01\x01",
		strings.Repeat("x", 20) + "\x01\x02" + strings.Repeat("b", 8) + strings.Repeat("a", 8)} {
		if err := new(Outline).UnmarshalBinary([]byte(bad)); err == nil {
			t.Errorf("text %d is an outline", i)
		}
	}
}

// The digest of a page is the same whatever numbers and tokens it has.
func TestOutlineDigest(t *testing.T) {
	page := func(token, words string) string {
		return (Shown{Path: "/", Body: fmt.Appendf(nil, `<p data-t="%s">%s</p> %s`, token, words, "12:01")}).Outline().Digest
	}
	if page("9f86d081884c7d659a2f", "Hats and gloves") != page("60303ae22b998861bce3b28f33eec1be758a213c",
		"Hats and gloves") {
		t.Error("a token makes another page")
	}
	if page("1", "Hats and gloves") == page("1", "Hats and shoes") {
		t.Error("other words make no other page")
	}
}
