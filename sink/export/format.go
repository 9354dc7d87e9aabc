package export

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/robocensus/robocensus/sink/visible"
)

// Formats are the formats that [Table] writes.
var Formats = []string{"arrow", "csv", "ndjson", "xlsx"}

// IsBinary reports whether a format is none for a terminal.
func IsBinary(format string) bool { return format == "arrow" || format == "xlsx" }

// A format writes rows: begin, batches, and then either end or abort.
type format interface {
	isArrow() bool
	begin(columns *arrow.Schema) error
	// write writes rows, and returns how many. It returns errFull after the last that the
	// format holds, if there are more.
	write(batch arrow.RecordBatch) (int64, error)
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

// broken is the prefix of an Arrow IPC message of 8 bytes, which never follow. A
// stream needs no mark at its end, so one that an error cuts would look whole.
var broken = []byte{0xff, 0xff, 0xff, 0xff, 8, 0, 0, 0}

type arrowFormat struct {
	out    *bufio.Writer
	stream *ipc.Writer
}

func (f *arrowFormat) isArrow() bool { return true }
func (f *arrowFormat) cut() int64    { return 0 }

func (f *arrowFormat) begin(columns *arrow.Schema) error {
	f.stream = ipc.NewWriter(f.out, ipc.WithSchema(columns))
	return nil
}

func (f *arrowFormat) write(batch arrow.RecordBatch) (int64, error) {
	return batch.NumRows(), f.stream.Write(batch)
}

func (f *arrowFormat) end() error {
	err := f.stream.Close()
	if e := f.out.Flush(); err == nil {
		err = e
	}
	return err
}

func (f *arrowFormat) abort() {
	f.out.Write(broken)
	f.out.Flush()
}

// textFormat is one with a line for each row.
type textFormat struct {
	out *bufio.Writer
	// row returns what writes rows of columns with these names.
	row func(names []string) func(batch arrow.RecordBatch, row int) error

	print func(batch arrow.RecordBatch, row int) error
}

func (f *textFormat) isArrow() bool { return false }
func (f *textFormat) cut() int64    { return 0 }
func (f *textFormat) abort()        { f.out.Flush() }
func (f *textFormat) end() error    { return f.out.Flush() }

func (f *textFormat) begin(columns *arrow.Schema) error {
	f.print = f.row(names(columns))
	return nil
}

func (f *textFormat) write(batch arrow.RecordBatch) (int64, error) {
	for row := range int(batch.NumRows()) {
		if err := f.print(batch, row); err != nil {
			return int64(row), err
		}
	}
	return batch.NumRows(), nil
}

// csvRow prints rows as CSV, with a header; lists are JSON. Texts are guarded against
// spreadsheets (see [visible.Cell]).
func csvRow(out io.Writer) func([]string) func(arrow.RecordBatch, int) error {
	return func(names []string) func(arrow.RecordBatch, int) error {
		w := csv.NewWriter(out)
		w.Write(names)
		w.Flush()
		cells := make([]string, len(names))
		return func(batch arrow.RecordBatch, row int) error {
			for i, c := range batch.Columns() {
				cells[i] = guarded(value(c, row))
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
func jsonRow(out io.Writer) func([]string) func(arrow.RecordBatch, int) error {
	return func(names []string) func(arrow.RecordBatch, int) error {
		keys := slices.Clone(names)
		for i, name := range keys {
			keys[i] = string(asJSON(name)) + ":"
		}
		var line []byte
		return func(batch arrow.RecordBatch, row int) error {
			line = append(line[:0], '{')
			for i, c := range batch.Columns() {
				if i > 0 {
					line = append(line, ',')
				}
				line = append(append(line, keys[i]...), asJSON(value(c, row))...)
			}
			_, err := out.Write(append(visible.JSON(append(line, '}')), '\n'))
			return err
		}
	}
}
