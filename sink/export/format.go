package export

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/visible"
)

// Formats are the formats that [Table] writes.
var Formats = []string{"arrow", "csv", "ndjson", "xlsx"}

// IsBinary reports whether a format is none for a terminal.
func IsBinary(format string) bool { return format == "arrow" || format == "xlsx" }

// A format writes rows: begin, rows in batches, and then either end or abort.
type format interface {
	isArrow() bool
	begin(columns []column, said map[string]string) error
	// write writes a row. It returns errFull for the first that the format does not hold.
	write(cells []reflect.Value) error
	flush() error // ends a batch
	end() error
	abort()
	// cut returns the number of cells that are not whole.
	cut() int64
}

func newFormat(name string, w io.Writer) (format, error) {
	out := bufio.NewWriterSize(w, 1<<16)
	switch name {
	case "arrow":
		return &arrowFormat{out: out}, nil
	case "csv":
		return &textFormat{out: out, row: csvRow(out)}, nil
	case "ndjson":
		return &textFormat{out: out, row: jsonRow(out)}, nil
	case "xlsx":
		return &xlsxFormat{out: w}, nil
	}
	return nil, fmt.Errorf("format %q %w: the formats are %s", name, ErrNotThere, strings.Join(Formats, ", "))
}

// textFormat is one with a line for each row.
type textFormat struct {
	out *bufio.Writer
	// row returns what writes rows of columns with these names.
	row func(names []string) func(cells []reflect.Value) error

	print func(cells []reflect.Value) error
}

func (f *textFormat) isArrow() bool { return false }
func (f *textFormat) cut() int64    { return 0 }
func (f *textFormat) flush() error  { return nil }
func (f *textFormat) abort()        { f.out.Flush() }
func (f *textFormat) end() error    { return f.out.Flush() }

func (f *textFormat) begin(columns []column, _ map[string]string) error {
	f.print = f.row(names(columns))
	return nil
}

func (f *textFormat) write(cells []reflect.Value) error { return f.print(cells) }

// csvRow prints rows as CSV, with a header; lists are JSON. Texts are guarded against
// spreadsheets (see [visible.Cell]).
func csvRow(out io.Writer) func([]string) func([]reflect.Value) error {
	return func(names []string) func([]reflect.Value) error {
		w := csv.NewWriter(out)
		w.Write(names)
		w.Flush()
		cells := make([]string, len(names))
		return func(row []reflect.Value) error {
			for i, cell := range row {
				cells[i] = guarded(value(cell))
			}
			if len(cells) == 1 && cells[0] == "" { // a blank line would be no row
				_, err := io.WriteString(out, "\"\"\n")
				return err
			}
			w.Write(cells)
			w.Flush() // into the buffer
			return w.Error()
		}
	}
}

// guarded returns a cell for a spreadsheet.
func guarded(v any) string {
	if s, isText := v.(string); isText {
		return visible.Cell(s)
	}
	return visible.Text(text(v))
}

// jsonRow prints rows as objects of JSON, whose keys are in the order of the columns.
func jsonRow(out io.Writer) func([]string) func([]reflect.Value) error {
	return func(names []string) func([]reflect.Value) error {
		keys := slices.Clone(names)
		for i, name := range keys {
			keys[i] = string(asJSON(name)) + ":"
		}
		var line []byte
		return func(row []reflect.Value) error {
			line = append(line[:0], '{')
			for i, cell := range row {
				if i > 0 {
					line = append(line, ',')
				}
				line = append(append(line, keys[i]...), asJSON(value(cell))...)
			}
			_, err := out.Write(append(visible.JSON(append(line, '}')), '\n'))
			return err
		}
	}
}
