package pages

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/schema"
)

// writtenGroups returns a part of groups as our writers write lists.
func writtenGroups(t *testing.T, rows []schema.Group) []byte {
	t.Helper()
	var out bytes.Buffer
	// Values of the largest size would not fit into the headers of pages.
	err := parquet.Write(&out, rows, parquet.Compression(&parquet.Zstd), parquet.SkipPageStatistics("agents", "list", "element"),
		parquet.ColumnIndexSizeLimit(func([]string) int { return 16 }))
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The sum of each row is that of its texts, whatever the runs of levels and indices.
func TestSumOfRows(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 30 {
		var texts []string
		for range 1 + random.IntN(40) {
			texts = append(texts, strings.Repeat("y", random.IntN(2000)))
		}
		rows, want := make([]schema.Group, 1+random.IntN(3000)), int64(0)
		for i := range rows {
			for range random.IntN(1 + random.IntN(30)) {
				text := texts[random.IntN(len(texts))]
				for range 1 + random.IntN(1+random.IntN(20)) {
					rows[i].Agents = append(rows[i].Agents, text)
				}
			}
			sum := int64(0)
			for _, text := range rows[i].Agents {
				sum += int64(len(text))
			}
			want = max(want, sum)
		}
		content := writtenGroups(t, rows)
		file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		j := slices.IndexFunc(file.Schema().Columns(), func(path []string) bool { return path[0] == "agents" })
		m := file.Metadata().RowGroups[0].Columns[j].MetaData
		c := check{Chunk: Chunk{From: m.DictionaryPageOffset, Length: m.TotalCompressedSize, Codec: m.Codec, IsText: true, MaxDef: 1, MaxRep: 1}}
		if err := c.check(bytes.NewReader(content), int64(len(content))); err != nil {
			t.Fatal(err)
		}
		if err := c.sumRows(); err != nil || c.widestRow != want {
			t.Fatalf("the widest row has %d bytes, want %d (%v)", c.widestRow, want, err)
		}
	}
}
