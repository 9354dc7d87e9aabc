package shred

import (
	"math/rand/v2"
	"testing"
)

// Pages of which nothing repeats, as digests, take the bits of their letters: in base32 five
// of eight.
func TestLettersAreCounted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{smallPage, smallPage + 1, 8 * smallPage} {
		page := make([]byte, size)
		for i := range page {
			page[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[random.IntN(32)]
		}
		compressed, err := Zstd.Encode(nil, page)
		if err != nil {
			t.Fatal(err)
		}
		if share := float64(len(compressed)) / float64(size); share > 0.66 {
			t.Errorf("%d letters take %.2f bytes each", size, share)
		}
	}
}
