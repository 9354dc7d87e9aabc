package pages

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Few rows are read at a time where texts can be large, and one at least.
func TestRowsOfLargeTexts(t *testing.T) {
	for _, c := range []struct {
		name string
		e    Extent
		want int64
	}{
		{"nothing measured", Extent{}, 8192},
		{"short texts", Extent{values: 1000, widest: 40}, 8192},
		{"a wide text", Extent{values: 1000, widest: MostTexts / 4}, 4},
		{"wider than all", Extent{values: 1000, widest: 2 * MostTexts}, 1},
		{"plain pages of ten texts", Extent{values: 1000, largest: MostTexts / 8, fewest: 10, plain: MostTexts}, 60},
		{"plain pages as large as all", Extent{values: 1000, largest: MostTexts, fewest: 10, plain: MostTexts}, 1},
		{"a row of lists", Extent{values: 1000, widestRow: MostTexts / 5}, 5},
		{"pages of many values in lists", Extent{listed: mostBatch / 10, rowsThere: 3}, 24},
		{"more values than a batch may have", Extent{listed: mostValues, rowsThere: 100}, 1},
		{"both", Extent{values: 1000, widest: MostTexts / 3, largest: MostTexts / 8, fewest: 10}, 3},
	} {
		if got := c.e.Rows(8192); got != c.want {
			t.Errorf("%s: %d rows at a time, want %d", c.name, got, c.want)
		}
	}
}

// The widest text of a dictionary is found, at whatever place. A file that is not
// compressed, as ours are, counts as one text.
func TestWidestOfADictionary(t *testing.T) {
	type row struct {
		Text string `parquet:"text,dict"`
	}
	for _, codec := range []parquet.WriterOption{parquet.Compression(&parquet.Zstd), parquet.Compression(&parquet.Uncompressed)} {
		for _, at := range []int{0, 500, 999} {
			var rows []row
			for i := range 1000 {
				size := 20_000
				if i == at {
					size = 170_000
				}
				rows = append(rows, row{strings.Repeat("x", size) + fmt.Sprint(i)})
			}
			var out bytes.Buffer
			if err := parquet.Write(&out, rows, codec); err != nil {
				t.Fatal(err)
			}
			file, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
			if err != nil {
				t.Fatal(err)
			}
			m := file.Metadata().RowGroups[0].Columns[0].MetaData
			c := check{Chunk: Chunk{Length: m.TotalCompressedSize, Codec: m.Codec, IsText: true}, in: bytes.NewReader(out.Bytes()[m.DictionaryPageOffset:])}
			if err := c.pages(); err != nil {
				t.Fatal(err)
			}
			want := int64(170_000 + len(fmt.Sprint(at)))
			if m.Codec != format.Zstd {
				want = 1000*(4+20_000) + 150_000 + 2890 // sizes, texts, their numbers
			}
			if c.widest != want || c.values != 1000 || c.largest != 0 {
				t.Errorf("text %d of a dictionary: %+v, want %d bytes", at, c.Extent, want)
			}
		}
	}
}
