package shred

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// Integers have the bytes of parquet-go, in runs of any length.
func TestLongs(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 1))
	ends := []int{1, 2, 63, 64, 127, 128, 129, 130, 255, 256, 257, 3090}
	for range 3000 {
		var l longs
		var plain []int64
		for range 1 + r.IntN(6) {
			value, n := r.Int64N(4)-1, ends[r.IntN(len(ends))]
			if r.IntN(8) == 0 {
				value = []int64{math.MinInt64, math.MaxInt64, 1 << 40}[r.IntN(3)]
			}
			l.add(value, n)
			for range n {
				plain = append(plain, value)
			}
		}
		want, err := parquet.Int64Type.Encode(nil, encoding.Int64Values(plain), &parquet.DeltaBinaryPacked)
		if err != nil {
			t.Fatal(err)
		}
		got, err := longType{parquet.Int64Type, &l}.Encode([]byte("left"), encoding.Values{}, &parquet.DeltaBinaryPacked)
		if err != nil || !bytes.Equal(got, want) || l.count != len(plain) {
			t.Fatalf("%v %d: %x, %v; want %x", l.values, l.times, got, err, want)
		}
		least, greatest, ok := longPage{cells: &l}.Bounds()
		if !ok || least.Int64() != slices.Min(plain) || greatest.Int64() != slices.Max(plain) {
			t.Fatalf("bounds of %v: %v, %v, %v", l.values, least, greatest, ok)
		}
	}
}
