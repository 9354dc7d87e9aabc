package draw

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// Figure is a drawing with its finding, its numbers, and the SQL that computes
// them.
type Figure struct {
	ID        string
	Title     string // the finding: a sentence without a full stop
	Of        string // base of the shares
	Note      string
	Legend    []Legend
	Axis      string      // what the full width of a bar stands for, such as "2% of hosts"
	Heads     []string    // heads of the values beside the bars, if each bar has two
	Bars      []Bar       // nil for a histogram
	Cut       int         // bars that are left out; the numbers have them
	Columns   *columns    // a histogram, or nil
	Multiples []*Multiple // drawings of lines over time
	Heat      *Heat       // a coloured table, or nil
	Wide      bool        // each multiple takes the width of the page
	Head      []string    // heads of the numbers: the columns of the SQL
	Rows      [][]string  // the numbers as the SQL returns them
	Names     func(string) string
	SQL       string
	Examples  *Listed

	File   string // file name of a download, without suffix
	Source string // provenance, printed in a download
}

// Legend is the name of a colour.
type Legend struct{ Class, Name string }

// Bar is a name with one track, or with one for each base.
type Bar struct {
	Name, Sub string // Name may be text from the network
	Tracks    []Track
}

// Track is one horizontal bar: shares side by side, with its values at the right.
type Track struct {
	Label  string // distinguishes the tracks of a bar
	Whole  int64  // of which the shares are; 0 if only their numbers count
	Shares []Share
	Values []string

	Parts []rectangle // the drawing
}

// A rectangle is a part of a bar. X and Width are percentages of the track's width.
type rectangle struct {
	Class    string
	X, Width float64
	Tip      string // tooltip
	Text     string // inside the rectangle, if there is room
}

// Middle returns the x position of the text, in per cent.
func (p rectangle) Middle() float64 { return p.X + p.Width/2 }

// Part returns a bar of one share.
func Part(class, name string, n, whole int64, values ...string) Track {
	return Track{Whole: whole, Shares: []Share{{class, name, n}}, Values: values}
}

// Share is a number of hosts, or of what else a bar counts.
type Share struct {
	Class, Name string
	N           int64
}

// AddBar adds a bar. Fit, Fill or FitHosts draws all of them.
func (f *Figure) AddBar(name, sub string, tracks ...Track) {
	f.Bars = append(f.Bars, Bar{name, sub, tracks})
}

// AddRow adds a row of the numbers: names and then counts.
func (f *Figure) AddRow(names []string, counts ...int64) {
	for _, n := range counts {
		names = append(names, strconv.FormatInt(n, 10))
	}
	f.Rows = append(f.Rows, names)
}

// Fit draws the bars as shares. The width of a track stands for the least percentage that
// has room for the longest one, so that small shares stay visible. The axis says of what.
func (f *Figure) Fit(of string) {
	scale := int64(1)
	for t := range f.tracks {
		scale = max(scale, ScaleFor(t.sum(), t.Whole))
	}
	f.Axis = fmt.Sprintf("%d%% of %s", scale, of)
	f.drawShares(scale, false)
}

// Fill draws the bars as shares of 100%, and writes percentages into parts that have room.
func (f *Figure) Fill(of string) {
	f.Axis = "100% of " + of
	f.drawShares(100, true)
}

// FitHosts draws the bars as numbers of hosts.
func (f *Figure) FitHosts() {
	most := int64(0)
	for t := range f.tracks {
		most = max(most, t.sum())
	}
	full := roundUp(most)
	f.Axis = words.Hosts(full)
	for t := range f.tracks {
		t.draw(false, func(n int64) float64 { return 100 * float64(n) / float64(full) })
	}
}

// Shorten leaves out the bars beyond the first [MostBars], and lets the page say how many.
func (f *Figure) Shorten() {
	f.Cut = max(0, len(f.Bars)-MostBars)
	f.Bars = f.Bars[:len(f.Bars)-f.Cut]
}

// tracks yields the tracks of all bars.
func (f *Figure) tracks(yield func(*Track) bool) {
	for _, b := range f.Bars {
		for i := range b.Tracks {
			if !yield(&b.Tracks[i]) {
				return
			}
		}
	}
}

// drawShares draws the bars. The width of a track stands for scale per cent of its whole.
func (f *Figure) drawShares(scale int64, inscribed bool) {
	for t := range f.tracks {
		if t.Whole > 0 {
			t.draw(inscribed, func(n int64) float64 { return 100 * float64(n) / float64(t.Whole) * 100 / float64(scale) })
		}
	}
}

func (t *Track) sum() (n int64) {
	for _, s := range t.Shares {
		n += s.N
	}
	return n
}

func (t *Track) draw(inscribed bool, width func(n int64) float64) {
	x := 0.0
	for _, s := range t.Shares {
		if s.N <= 0 {
			continue
		}
		p := rectangle{Class: s.Class, X: x, Width: width(s.N), Tip: s.Name + ": " + words.Number(s.N)}
		if share := words.Percent(s.N, t.Whole); t.Whole > 0 {
			p.Tip += ", " + share
			if inscribed && p.Width >= 12 {
				p.Text = share
			}
		}
		t.Parts = append(t.Parts, p)
		x += p.Width
	}
}

// A Kind is what a part of every bar of a figure counts: its key, colour and name.
type Kind struct{ Key, Class, Name string }

// Kinds are the parts of the bars of a figure, from left to right.
type Kinds []Kind

// Keys returns their keys.
func (k Kinds) Keys() (keys []string) {
	for _, kind := range k {
		keys = append(keys, kind.Key)
	}
	return keys
}

// Legend returns their colours and names.
func (k Kinds) Legend() (out []Legend) {
	for _, kind := range k {
		out = append(out, Legend{kind.Class, kind.Name})
	}
	return out
}

// Numbers returns their counts.
func (k Kinds) Numbers(counts map[string]int64) (out []int64) {
	for _, kind := range k {
		out = append(out, counts[kind.Key])
	}
	return out
}

// Shares returns the parts of a bar with such counts.
func (k Kinds) Shares(counts map[string]int64) (out []Share) {
	for _, kind := range k {
		out = append(out, Share{kind.Class, kind.Name, counts[kind.Key]})
	}
	return out
}

// roundUp returns the least of 1, 2, 5, 10, 20, 50 and so on that is at least n.
func roundUp(n int64) int64 {
	for decade := int64(1); ; decade *= 10 {
		for _, step := range []int64{1, 2, 5} {
			if step*decade >= n || decade >= 1e17 {
				return max(step*decade, n)
			}
		}
	}
}

// ScaleFor returns the percentage that the width of a track stands for: the least
// that leaves room for the longest bar, so that small shares stay visible.
func ScaleFor(most, whole int64) int64 {
	for _, p := range []int64{1, 2, 5, 10, 20, 50} {
		if 100*float64(most) <= float64(whole)*float64(p) {
			return p
		}
	}
	return 100
}

// Decimal formats a position.
func Decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// Cell formats a cell of the numbers: keys in the first column as words, and
// numbers with thousands separators.
func (f *Figure) Cell(column int, text string) string {
	if column == 0 && f.Names != nil {
		return f.Names(text)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && column > 0 {
		return words.Number(n)
	}
	return text
}

// Label formats a head of the numbers.
func (f *Figure) Label(head string) string { return strings.ReplaceAll(head, "_", " ") }

// AreNumbers reports of each column of the numbers whether all its cells are numbers. The
// first one has names.
func (f *Figure) AreNumbers() []bool {
	are := make([]bool, len(f.Head))
	for column := 1; column < len(are); column++ {
		isText := func(row []string) bool { return strings.Trim(row[column], "0123456789") != "" }
		are[column] = !slices.ContainsFunc(f.Rows, isText)
	}
	return are
}

// HasLongValues reports whether a value beside the bars is longer than a share of a base.
func (f *Figure) HasLongValues() bool {
	const most = 15
	return slices.ContainsFunc(f.Bars, func(b Bar) bool {
		return slices.ContainsFunc(b.Tracks, func(t Track) bool {
			return slices.ContainsFunc(t.Values, func(v string) bool { return len([]rune(v)) > most })
		})
	})
}

// MostBars is the most bars that a figure draws. Its table lists all numbers.
const MostBars = 24
