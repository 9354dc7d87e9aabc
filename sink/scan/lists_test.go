package scan

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/internal/pages"
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

func many(text string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = text
	}
	return out
}

// Lists of few bytes that stand for gigabytes are refused before they are decoded, and
// large lists that a hostile file makes are read.
func TestListsThatStandForMuch(t *testing.T) {
	wide := strings.Repeat("x", 100<<10)
	honest := make([]schema.Group, 3000)
	for i := range honest {
		honest[i] = schema.Group{Seq: int64(i), Agents: []string{wide, "a"}}
	}
	for _, c := range []struct {
		name string
		rows []schema.Group
		want string // part of the error, "" for none
	}{
		{"a row of 2 GB", []schema.Group{{Agents: []string{"a"}}, {Agents: many(wide, 20_000)}}, "a row with more than"},
		{"a row of 100 MB", []schema.Group{{Agents: many(wide, 1000)}}, ""},
		{"300 MB of texts, in rows of one each", honest, ""},
		{"a page of 17 million texts", []schema.Group{{Agents: many("", 17<<20)}}, "values in lists"},
		{"a million numbers", []schema.Group{{AgentLines: make([]int32, 1<<20)}, {AgentLines: []int32{1}}}, ""},
	} {
		content := writtenGroups(t, c.rows)
		f, err := Open(bytes.NewReader(content))
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		texts, rows := 0, int64(0)
		err = f.Batches(context.Background(), Selection{}, func(b arrow.RecordBatch) error {
			rows += b.NumRows()
			values := Column[*array.List](b, "agents").ListValues().(*array.String)
			if n := len(values.ValueBytes()); n > pages.MostListed {
				t.Errorf("%s: a batch with %d bytes of texts", c.name, n)
			}
			texts += len(values.ValueBytes())
			return nil
		})
		want := 0
		for _, r := range c.rows {
			for _, text := range r.Agents {
				want += len(text)
			}
		}
		if err != nil || rows != int64(len(c.rows)) || texts != want {
			t.Errorf("%s: %d rows, %d bytes of texts, want %d; %v", c.name, rows, texts, want, err)
		}
	}
}
