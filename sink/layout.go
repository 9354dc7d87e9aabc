package sink

import (
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/scan"
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
	for table := range emptyParts {
		part, err := emptyPart(table)
		if err != nil {
			return nil, err
		}
		out[table] = part.Layout()
	}
	return out, nil
}

// Schema is the schema of a table's parts, without the column run.
func Schema(table string) (*arrow.Schema, error) {
	part, err := emptyPart(table)
	if err != nil {
		return nil, err
	}
	return part.Schema(), nil
}

// emptyPart is a part of a table as it is written, without rows.
func emptyPart(table string) (*scan.File, error) {
	write, ok := emptyParts[table]
	if !ok {
		return nil, fmt.Errorf("table %q %w", table, ErrNotThere)
	}
	var content bytes.Buffer
	err := write(&content)
	if err == nil {
		var f *scan.File
		if f, err = scan.Open(bytes.NewReader(content.Bytes())); err == nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("schema of %s: %w", table, err)
}

func empty[T any](w io.Writer) error { return parquet.Write[T](w, nil) }

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
