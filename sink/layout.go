package sink

import (
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/parquet-go/parquet-go"
)

// emptyParts write a part without rows of every table.
var emptyParts = map[string]func(io.Writer) error{
	"fetches":  empty[Fetch],
	"groups":   empty[Group],
	"rules":    empty[Rule],
	"sitemaps": empty[Sitemap],
	"lines":    empty[Line],
	"signals":  empty[Signal],
	"policies": empty[Policy],
	"verdicts": empty[Verdict],
	"agents":   empty[Agent],
	"summary":  empty[Count],
	"examples": empty[Example],
	"bodies":   empty[Body],
	"changes":  empty[Change],
}

// layouts are the columns of every table as it is written, one text for each.
func layouts() (map[string][]string, error) {
	out := make(map[string][]string)
	for table, write := range emptyParts {
		var content bytes.Buffer
		if err := write(&content); err != nil {
			return nil, fmt.Errorf("schema of %s: %w", table, err)
		}
		r, err := file.NewParquetReader(bytes.NewReader(content.Bytes()))
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", table, err)
		}
		out[table] = columns(r.MetaData().Schema)
	}
	return out, nil
}

// Schema is the schema of a table's parts, without the column run.
func Schema(table string) (*arrow.Schema, error) {
	var content bytes.Buffer
	write, ok := emptyParts[table]
	if !ok {
		return nil, fmt.Errorf("table %q %w", table, ErrNotThere)
	}
	if err := write(&content); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", table, err)
	}
	r, err := file.NewParquetReader(bytes.NewReader(content.Bytes()))
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", table, err)
	}
	return pqarrow.FromParquet(r.MetaData().Schema, nil, nil)
}

func empty[T any](w io.Writer) error { return parquet.Write[T](w, nil) }

func columns(s *schema.Schema) (texts []string) {
	for i := range s.NumColumns() {
		c := s.Column(i)
		texts = append(texts, fmt.Sprintf("%s %s %s, levels %d and %d", c.Path(), c.PhysicalType(), c.LogicalType(), c.MaxDefinitionLevel(), c.MaxRepetitionLevel()))
	}
	return texts
}

// otherColumn names the first column that is not the one it should be, "" for
// none.
func otherColumn(want, got []string) string {
	column := func(texts []string, i int) string {
		if i < len(texts) {
			return texts[i]
		}
		return "none"
	}
	for i := range max(len(want), len(got)) {
		if a, b := column(want, i), column(got, i); a != b {
			return fmt.Sprintf("column %d is %s, and should be %s", i, b, a)
		}
	}
	return ""
}
