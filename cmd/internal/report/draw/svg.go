package draw

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"html/template"
	"strings"

	"github.com/robocensus/robocensus/sink/visible"
)

// A figure can be downloaded: its numbers as CSV and its drawing as SVG, from
// data: URLs, which need no script. The files are opened outside the page, by a
// spreadsheet or as a document, where its Content-Security-Policy does not apply.

// CSVFile returns the file name of the numbers.
func (f *Figure) CSVFile() string { return f.File + ".csv" }

// SVGFile returns the file name of the drawing.
func (f *Figure) SVGFile() string { return f.File + ".svg" }

// CSV returns the numbers as a data: URL.
func (f *Figure) CSV() (template.URL, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, row := range append([][]string{f.Head}, f.Rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = visible.Cell(cell)
		}
		w.Write(cells)
	}
	w.Flush()
	return dataURL("text/csv;charset=utf-8", out.Bytes()), w.Error()
}

func dataURL(kind string, content []byte) template.URL {
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(visible.Lines(content)))
}

// Dimensions of a drawing in pixels.
const (
	svgWidth  = 960
	svgNames  = 260 // names of bars
	svgValues = 150
	svgTrack  = 17
	svgMargin = 20
	svgPlot   = svgWidth - 2*svgMargin - svgNames - svgValues
)

// fills are the colours of the page's light theme.
var fills = map[string]string{
	"allow": "#2f6fb3", "open": "#9cc4ea", "partly": "#e9b44c", "closed": "#b23a0e", "star": "#f0a07c",
	"broken": "#7a5195", "stale": "#5f9e8f", "away": "#c2578a", "error": "#7f8a2e", "unknown": "#a9b3bc",
}

// inks are the colours of text on dark fills.
var inks = map[string]string{"allow": "#ffffff", "closed": "#ffffff", "broken": "#ffffff", "error": "#ffffff"}

// svg draws a figure as a self-contained document.
type svg struct {
	bytes.Buffer
	y int
}

// esc escapes text from the network for XML.
func esc(s string) string {
	var out strings.Builder
	xml.EscapeText(&out, []byte(visible.Text(s)))
	return out.String()
}

func (s *svg) text(x float64, y int, attributes, text string) {
	fmt.Fprintf(s, `<text x="%.1f" y="%d" %s>%s</text>`, x, y, attributes, esc(text))
}

// lines writes a text, wrapped at longest characters.
func (s *svg) lines(text string, longest, height int, attributes string) {
	line := ""
	flush := func() {
		if line != "" {
			s.y += height
			s.text(svgMargin, s.y, attributes, line)
			line = ""
		}
	}
	for _, word := range strings.Fields(visible.Text(text)) {
		for len([]rune(word)) > longest {
			flush()
			line = string([]rune(word)[:longest])
			word = string([]rune(word)[longest:])
		}
		if len([]rune(line))+1+len([]rune(word)) > longest {
			flush()
		}
		line = strings.TrimSpace(line + " " + word)
	}
	flush()
}

// SVG returns the drawing as a data: URL.
func (f *Figure) SVG() template.URL {
	return dataURL("image/svg+xml", f.draw())
}

func (f *Figure) draw() []byte {
	s := &svg{y: 10}
	s.lines(f.Title, 84, 24, `font-size="18" font-weight="bold" fill="#16202a"`)
	s.lines(f.Of, 130, 19, `font-size="13" fill="#55626f"`)
	s.legend(f.Legend)
	s.y += 8
	if f.Columns != nil {
		s.columns(f.Columns)
	}
	s.bars(f)
	s.heat(f.Heat)
	if f.Multiples != nil {
		s.multiples(f)
	}
	s.y += 6
	s.lines(f.Note, 130, 18, `font-size="12" fill="#55626f"`)
	s.lines(f.Source, 130, 22, `font-size="12" fill="#55626f"`)
	s.y += 18
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" `+
		`viewBox="0 0 %[1]d %[2]d" role="img" aria-labelledby="title desc" `+
		`font-family="system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif">`, svgWidth, s.y)
	fmt.Fprintf(&out,
		`<title id="title">%s</title><desc id="desc">%s</desc><rect width="100%%" height="100%%" fill="#ffffff"/>`,
		esc(f.Title), esc(strings.TrimSpace(f.Of+" "+f.Note)))
	out.Write(s.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func (s *svg) legend(of []Legend) {
	if len(of) == 0 {
		return
	}
	s.y += 22
	x := svgMargin
	for _, l := range of {
		width := 30 + 7*len([]rune(l.Name))
		if x > svgMargin && x+width > svgWidth-svgMargin {
			x = svgMargin
			s.y += 20
		}
		fmt.Fprintf(s, `<rect x="%d" y="%d" width="12" height="12" fill="%s"/>`, x, s.y-10, fills[l.Class])
		s.text(float64(x+18), s.y, `font-size="12" fill="#16202a"`, l.Name)
		x += width
	}
}

func (s *svg) columns(c *columns) {
	const plot = svgWidth - 2*svgMargin
	top := s.y + 6
	base := top + plotTop + plotHeight
	for _, col := range c.Columns {
		x, middle, height := svgMargin+plot*col.X/100, svgMargin+plot*col.Middle/100, plotHeight*col.Share
		fmt.Fprintf(s, `<g><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, esc(col.Tip),
			x, float64(base)-height, plot*col.Width/100, height, fills["allow"])
		s.text(middle, base-int(height)-5, `font-size="11" text-anchor="middle" fill="#55626f"`, col.Top)
		s.text(middle, base+15, `font-size="11" text-anchor="middle" fill="#16202a"`, col.Label)
		s.WriteString("</g>")
	}
	fmt.Fprintf(s, `<line x1="%d" x2="%d" y1="%d" y2="%[3]d" stroke="#55626f"/>`, svgMargin, svgWidth-svgMargin, base)
	s.text(svgWidth-svgMargin, base+31, `font-size="12" text-anchor="end" fill="#55626f"`, c.Axis)
	s.y = base + 36
}

func (s *svg) bars(f *Figure) {
	if len(f.Bars) == 0 {
		return
	}
	right := float64(svgWidth - svgMargin)
	value := func(i, of int) float64 { return right - float64(of-1-i)*svgValues/float64(of) }
	if len(f.Heads) > 0 {
		s.y += 16
		for i, head := range f.Heads {
			s.text(value(i, len(f.Heads)), s.y, `font-size="12" text-anchor="end" fill="#55626f"`, head)
		}
	}
	for _, b := range f.Bars {
		s.y += 4
		name := []rune(visible.Text(b.Name))
		if len(name) > 34 {
			name = append(name[:33], '…')
		}
		s.text(svgMargin, s.y+13, `font-size="13" fill="#16202a"`, string(name))
		if room := 34 - len(name); len(b.Sub) < room || len(b.Tracks) > 1 {
			at, y := float64(svgMargin+svgNames-10), s.y+13
			attributes := `font-size="11" text-anchor="end" fill="#55626f"`
			if len(b.Tracks) > 1 {
				at, y, attributes = svgMargin, s.y+13+svgTrack, `font-size="11" fill="#55626f"`
			}
			s.text(at, y, attributes, b.Sub)
		}
		for _, t := range b.Tracks {
			fmt.Fprintf(s, `<rect x="%d" y="%d" width="%d" height="%d" fill="#f4f6f8"/>`, svgMargin+svgNames, s.y, svgPlot,
				svgTrack-1)
			for _, p := range t.Parts {
				x, width := svgMargin+svgNames+svgPlot*p.X/100, svgPlot*p.Width/100
				fmt.Fprintf(s, `<g><title>%s</title><rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s"/>`, esc(p.Tip), x,
					s.y, width, svgTrack-1, fills[p.Class])
				if p.Text != "" {
					ink := inks[p.Class]
					if ink == "" {
						ink = "#16202a"
					}
					s.text(x+width/2, s.y+12, `font-size="11" text-anchor="middle" fill="`+ink+`"`, p.Text)
				}
				s.WriteString("</g>")
			}
			for i, v := range t.Values {
				s.text(value(i, len(t.Values)), s.y+13, `font-size="12" text-anchor="end" fill="#16202a"`, v)
			}
			s.y += svgTrack
		}
	}
	if f.Axis != "" {
		s.y += 14
		s.text(svgMargin+svgNames, s.y, `font-size="12" fill="#55626f"`, "0")
		s.text(svgMargin+svgNames+svgPlot, s.y, `font-size="12" text-anchor="end" fill="#55626f"`, f.Axis)
	}
}
