package export

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/apache/arrow-go/v18/arrow"
)

// Limits of a sheet, and of what of a number a spreadsheet keeps.
const (
	// MostRows is the most rows of a workbook: a sheet has 1,048,576 lines, one of which is
	// the header.
	MostRows    = 1_000_000
	mostColumns = 16_384
	mostUnits   = 32_767 // of UTF-16 in a cell
	mostExact   = 1 << 53
)

// xlsxFormat writes a workbook of one sheet (ECMA-376, part 1) as a stream. A workbook
// whose end is missing opens nowhere: its directory is there.
type xlsxFormat struct {
	out     io.Writer
	archive *zip.Writer
	sheet   *bufio.Writer
	rows    int
	cutAway int64
}

func (f *xlsxFormat) isArrow() bool { return false }
func (f *xlsxFormat) cut() int64    { return f.cutAway }

const (
	xmlHead       = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	packageSchema = "http://schemas.openxmlformats.org/package/2006/"
	officeSchema  = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	sheetSchema   = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	mediaType     = "application/vnd.openxmlformats-officedocument.spreadsheetml."
)

// workbookFiles lead to the sheet, which is written last.
var workbookFiles = [][2]string{
	{"[Content_Types].xml", `<Types xmlns="` + packageSchema + `content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + mediaType + `sheet.main+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + mediaType + `worksheet+xml"/></Types>`},
	{"_rels/.rels", `<Relationships xmlns="` + packageSchema + `relationships"><Relationship Id="rId1" Type="` +
		officeSchema + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/workbook.xml", `<workbook xmlns="` + sheetSchema + `" xmlns:r="` + officeSchema + `"><bookViews><workbookView/></bookViews>` +
		`<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="` + packageSchema + `relationships"><Relationship Id="rId1" Type="` +
		officeSchema + `/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`},
}

// sheetHead begins a sheet whose first line stays where it is.
const sheetHead = `<worksheet xmlns="` + sheetSchema + `"><sheetViews><sheetView workbookViewId="0">` +
	`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>`

func (f *xlsxFormat) begin(columns *arrow.Schema) error {
	if n := columns.NumFields(); n > mostColumns {
		return fmt.Errorf("%d columns, and a sheet has %d at most: choose some with --columns", n, mostColumns)
	}
	f.archive = zip.NewWriter(f.out)
	for _, file := range append(workbookFiles[:len(workbookFiles):len(workbookFiles)],
		[2]string{"xl/worksheets/sheet1.xml", sheetHead}) {
		w, err := f.archive.Create(file[0])
		if err == nil {
			f.sheet = bufio.NewWriterSize(w, 64<<10)
			f.sheet.WriteString(xmlHead + file[1])
			err = f.sheet.Flush()
		}
		if err != nil {
			return fmt.Errorf("write a workbook: %w", err)
		}
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
	line := strconv.Itoa(f.rows)
	f.sheet.WriteString(`<row r="` + line + `">`)
	for i, cell := range cells {
		kind, text := "", ""
		switch v := cell.(type) {
		case nil:
			continue
		case bool:
			kind, text = ` t="b"`, "0"
			if v {
				text = "1"
			}
		case int64:
			text = strconv.FormatInt(v, 10)
		case float64:
			text = strconv.FormatFloat(v, 'f', -1, 64)
		case string:
			f.sheet.WriteString(`<c r="` + columnName(i) + line + `" t="inlineStr"><is><t xml:space="preserve">`)
			xml.EscapeText(f.sheet, []byte(literal(v)))
			f.sheet.WriteString("</t></is></c>")
			continue
		}
		f.sheet.WriteString(`<c r="` + columnName(i) + line + `"` + kind + "><v>" + text + "</v></c>")
	}
	if _, err := f.sheet.WriteString("</row>"); err != nil {
		return fmt.Errorf("write a workbook: %w", err)
	}
	return nil
}

// columnName returns the name of a column: A to Z, AA to ZZ, AAA.
func columnName(i int) (name string) {
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// escaped is what a spreadsheet reads as a character (ECMA-376, part 1, 22.9.2.19).
var escaped = regexp.MustCompile("^_x[0-9A-Fa-f]{4}_")

// literal escapes the first character of what would be read as an escape.
func literal(s string) string {
	for i := 0; ; i++ {
		n := strings.Index(s[i:], "_x")
		if n < 0 {
			return s
		}
		if i += n; escaped.MatchString(s[i:]) {
			s = s[:i] + "_x005F" + s[i:]
			i += len("_x005F")
		}
	}
}

func (f *xlsxFormat) write(batch arrow.RecordBatch) (int64, error) {
	cells := make([]any, batch.NumCols())
	for row := range int(batch.NumRows()) {
		if f.rows > MostRows {
			return int64(row), errFull
		}
		for i, c := range batch.Columns() {
			cells[i] = f.cell(value(c, row))
		}
		if err := f.row(cells); err != nil {
			return int64(row), err
		}
	}
	return batch.NumRows(), nil
}

func (f *xlsxFormat) cell(v any) any {
	switch v := v.(type) {
	case nil, bool:
		return v
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
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
	f.sheet.WriteString("</sheetData></worksheet>")
	if err := errors.Join(f.sheet.Flush(), f.archive.Close()); err != nil {
		return fmt.Errorf("write a workbook: %w", err)
	}
	return nil
}

func (f *xlsxFormat) abort() {}
