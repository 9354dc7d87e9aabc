package sink

import (
	"bytes"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// emptyParts holds, by table, a function that writes a part without rows.
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
	"series":   empty[Point],
}

// EmptyPart returns a part of a table without rows, to read its columns from.
func EmptyPart(table string) ([]byte, error) {
	write, ok := emptyParts[table]
	if !ok {
		return nil, fmt.Errorf("no table %q", table)
	}
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", table, err)
	}
	return content.Bytes(), nil
}

func empty[T any](w io.Writer) error { return parquet.Write[T](w, nil) }
