package draw

import "strconv"

// Listed is the table of a figure's examples.
type Listed struct {
	Caption string
	What    string // head of the column of texts
	HasKey  bool
	HasLine bool
	HasRank bool
	Rows    []Example
	Rest    string // how many are left out, and how to get them
}

// cut returns the number of rows that are not folded: groups stay whole.
func (l *Listed) cut() int {
	if len(l.Rows) <= shortList {
		return len(l.Rows)
	}
	at := firstPart
	for at < len(l.Rows) && l.HasKey && l.Rows[at].Span == 0 {
		at++
	}
	return at
}

// First returns the rows that are not folded.
func (l *Listed) First() *Listed {
	first := *l
	first.Rows = l.Rows[:l.cut()]
	return &first
}

// More returns the rows that are folded, nil for none.
func (l *Listed) More() *Listed {
	if l.cut() == len(l.Rows) {
		return nil
	}
	more := *l
	more.Caption, more.Rows = "", l.Rows[l.cut():]
	return &more
}

// Example is a row. Key is "" if it equals that of the row before; otherwise Span
// is the number of rows with the key.
type Example struct {
	Key, Host, Rank, Line, Text string
	Span                        int
}

// Measured formats the texts that are numbers with name.
func (l *Listed) Measured(name func(int64) string) *Listed {
	if l != nil {
		for i := range l.Rows {
			if n, err := strconv.ParseInt(l.Rows[i].Text, 10, 64); err == nil {
				l.Rows[i].Text = name(n)
			}
		}
	}
	return l
}

// A list longer than shortList shows its first part, of about firstPart rows; the rest is
// folded.
const (
	shortList = 15
	firstPart = 12
)

// findings are the figures of a page by their titles: those of its list, and those of the
// part that is folded.
type findings struct{ First, More []*Figure }

// Next is the number of the first finding that is folded.
func (f *findings) Next() int { return len(f.First) + 1 }

// Findings returns the findings of a page, or nil if it has no figures.
func (p *Page) Findings() *findings {
	f := new(findings)
	for _, s := range p.Sections {
		f.First = append(f.First, s.Figures...)
	}
	if f.First == nil {
		return nil
	}
	if len(f.First) > shortList {
		f.First, f.More = f.First[:firstPart], f.First[firstPart:]
	}
	return f
}

// FirstBars returns the bars that are not folded.
func (f *Figure) FirstBars() []Bar {
	if len(f.Bars) <= shortList {
		return f.Bars
	}
	return f.Bars[:firstPart]
}

// MoreBars returns the bars that are folded.
func (f *Figure) MoreBars() []Bar { return f.Bars[len(f.FirstBars()):] }
