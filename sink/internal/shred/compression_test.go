package shred

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"
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

// Which cells are null takes next to nothing where it repeats, as the verdicts on one host do
// from agent to agent.
func TestNullsThatRepeat(t *testing.T) {
	var rows []verdict
	for i := range 15 {
		r := verdict{Seq: 1, URL: "/x"}
		if i*i%7 > 2 {
			r.RuleLine = new(int32(9))
		}
		rows = append(rows, r)
	}
	var batches [][]verdict
	for range 500 {
		batches = append(batches, rows)
	}
	f := shredded(t, new(sync.Pool), batches, parquet.Compression(Zstd))
	for _, c := range f.Metadata().RowGroups[0].Columns {
		if m := c.MetaData; m.PathInSchema[0] == "rule_line" && m.TotalCompressedSize > m.NumValues/30 {
			t.Errorf("%d cells, of which some are null, take %d bytes", m.NumValues, m.TotalCompressedSize)
		}
	}
}
