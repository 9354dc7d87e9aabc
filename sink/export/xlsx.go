package export

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"
)

// Limits of a sheet, and of what of a number a spreadsheet keeps.
const (
	// mostRows is the most rows of a workbook: a sheet has 1,048,576 lines, one of which is
	// the header.
	mostRows    = 1_000_000
	mostColumns = 16_384
	mostUnits   = 32_767 // of UTF-16 in a cell
	mostExact   = 1 << 53
)

// xlsxFormat writes a workbook of one sheet, through a temporary file of the library. It is
// written to out at the end: there is no part of a workbook. It holds functions in place of
// the library's types: the linker keeps every method of a type that a value behind an
// interface refers to, here an engine for formulas of 3.6 MB.
type xlsxFormat struct {
	out     io.Writer
	set     func(at string, cells []any) error
	save    func() error
	close   func() error
	rows    int
	cutAway int64
}

const sheetName = "Sheet1" // that of a new file

func (f *xlsxFormat) isArrow() bool { return false }
func (f *xlsxFormat) cut() int64    { return f.cutAway }
func (f *xlsxFormat) flush() error  { return nil }

func (f *xlsxFormat) begin(columns []column, _ map[string]string) error {
	if n := len(columns); n > mostColumns {
		return fmt.Errorf("%d columns, and a sheet has %d at most: choose some with --columns", n, mostColumns)
	}
	file := excelize.NewFile()
	f.close = file.Close
	sheet, err := file.NewStreamWriter(sheetName)
	if err != nil {
		return fmt.Errorf("write a workbook: %w", err)
	}
	f.set = func(at string, cells []any) error { return sheet.SetRow(at, cells) }
	f.save = func() error {
		if err := sheet.Flush(); err != nil {
			return err
		}
		_, err := file.WriteTo(f.out)
		return err
	}
	if err := sheet.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2",
		ActivePane: "bottomLeft"}); err != nil {
		return fmt.Errorf("write a workbook: %w", err)
	}
	var head []any
	for _, name := range names(columns) {
		head = append(head, guarded(name))
	}
	return f.row(head)
}

// row writes the next line. Texts are cells of the type text, which no program takes for a
// formula, and guarded like those of CSV all the same, for a sheet may be saved as CSV.
func (f *xlsxFormat) row(cells []any) error {
	f.rows++
	at, err := excelize.CoordinatesToCellName(1, f.rows)
	if err == nil {
		err = f.set(at, cells)
	}
	if err != nil {
		return fmt.Errorf("write a workbook: %w", err)
	}
	return nil
}

func (f *xlsxFormat) write(row []reflect.Value) error {
	if f.rows > mostRows {
		return errFull
	}
	cells := make([]any, len(row))
	for i, cell := range row {
		cells[i] = f.cell(value(cell))
	}
	return f.row(cells)
}

func (f *xlsxFormat) cell(v any) any {
	switch v := v.(type) {
	case nil, bool, float64:
		return v
	case int64:
		if -mostExact <= v && v <= mostExact {
			return v
		}
	}
	s := guarded(v)
	if len(s) <= mostUnits {
		return s
	}
	units := 0
	for i, r := range s {
		if units += utf16.RuneLen(r); units > mostUnits {
			f.cutAway++
			return s[:i]
		}
	}
	return s
}

func (f *xlsxFormat) end() error {
	if err := errors.Join(f.save(), f.close()); err != nil {
		return fmt.Errorf("write a workbook: %w", err)
	}
	return nil
}

func (f *xlsxFormat) abort() {
	if f.close != nil {
		f.close()
	}
}
