package draw

import (
	"fmt"
	"math"
)

// Heat is a table whose cells are coloured: of shares by their size, of words by class.
type Heat struct {
	Columns []string
	Rows    []HeatRow
}

// OfWords reports whether the cells are words, of which many stand side by side.
func (h *Heat) OfWords() bool {
	return len(h.Rows) > 0 && len(h.Rows[0].Cells) > 0 && h.Rows[0].Cells[0].Class != ""
}

// HeatRow is a row of cells.
type HeatRow struct {
	Name, Sub string
	Cells     []HeatCell
}

// HeatCell is a share, or a word of a class. Level is 0 for none and 9 for the greatest
// share of the table.
type HeatCell struct {
	Text, Tip string
	Share     float64
	Level     int
	Class     string
}

// heatLevels is the number of shades.
const heatLevels = 9

// Shade sets the levels of cells by their shares.
func (h *Heat) Shade() {
	most := 0.0
	for _, row := range h.Rows {
		for _, c := range row.Cells {
			most = max(most, c.Share)
		}
	}
	for _, row := range h.Rows {
		for k, c := range row.Cells {
			if c.Share > 0 {
				row.Cells[k].Level = max(1, int(math.Round(heatLevels*c.Share/most)))
			}
		}
	}
}

// heat draws the table of a figure.
func (s *svg) heat(h *Heat) {
	if h == nil {
		return
	}
	if h.OfWords() {
		s.words(h)
		return
	}
	const height = 24
	width := float64(svgWidth-2*svgMargin-svgNames) / float64(len(h.Columns))
	s.y += 16
	for k, name := range h.Columns {
		text := []rune(name)
		if most := int(width / 5.5); len(text) > most {
			text = append(text[:max(1, most-1)], '…')
		}
		s.text(svgMargin+svgNames+width*(float64(k)+0.5), s.y, `font-size="11" text-anchor="middle" fill="#55626f"`,
			string(text))
	}
	s.y += 6
	for _, r := range h.Rows {
		s.text(svgMargin, s.y+16, `font-size="13" fill="#16202a"`, r.Name)
		for k, c := range r.Cells {
			x := svgMargin + svgNames + width*float64(k)
			fmt.Fprintf(s, `<g><title>%s</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" fill-opacity="%.2f"/>`,
				esc(c.Tip), x, s.y, width-1, height-1, fills["closed"], heatShades[c.Level])
			ink := "#16202a"
			if c.Level > heatDark {
				ink = "#ffffff"
			}
			s.text(x+width/2, s.y+16, `font-size="12" text-anchor="middle" fill="`+ink+`"`, c.Text)
			s.WriteString("</g>")
		}
		s.y += height
	}
}

// words draws a table of words, with narrow columns whose names stand upright.
func (s *svg) words(h *Heat) {
	const height, head, widest, longest = 18, 150, 28.0, 26
	width := min(widest, float64(svgWidth-2*svgMargin-svgNames)/float64(len(h.Columns)))
	s.y += head
	for k, name := range h.Columns {
		text := []rune(name)
		if len(text) > longest {
			text = append(text[:longest-1], '…')
		}
		x := svgMargin + svgNames + width*(float64(k)+0.5) + 4
		s.text(x, s.y, fmt.Sprintf(`font-size="11" fill="#55626f" transform="rotate(-90 %.1f %d)"`, x, s.y), string(text))
	}
	s.y += 6
	for _, r := range h.Rows {
		s.text(svgMargin, s.y+13, `font-size="12" fill="#16202a"`, r.Name)
		for k, c := range r.Cells {
			x := svgMargin + svgNames + width*float64(k)
			ink := inks[c.Class]
			if ink == "" {
				ink = "#16202a"
			}
			fill := fills[c.Class]
			if fill == "" {
				fill = "#f4f6f8"
			}
			fmt.Fprintf(s, `<g><title>%s</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, esc(c.Tip), x,
				s.y, width-1, height-1, fill)
			s.text(x+width/2, s.y+13, `font-size="11" text-anchor="middle" fill="`+ink+`"`, c.Text)
			s.WriteString("</g>")
		}
		s.y += height
	}
}

// heatShades are the shares of the full colour in each level, as in the style sheet: no text
// stands on a shade on which neither ink can be read.
var heatShades = [heatLevels + 1]float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.84, 0.92, 1}

// heatDark is the last level with dark text.
const heatDark = 6
