package journal

import (
	"cmp"
	"slices"
	"time"

	"github.com/robocensus/robocensus/sink/schema"
)

// Captured is the metric of summary that counts captures of archives by day, and
// DayFormat the form of its keys.
const (
	Captured  = "captured"
	DayFormat = "2006-01-02"
)

// setDate sets the date of the run, unless it has one.
func (m *Manifest) setDate() {
	if m.Date.IsZero() {
		m.Date = m.dateBy(nil)
	}
}

// dateBy returns the date of the run. counts are the rows of summary, nil if they are not
// known.
func (p *Plan) dateBy(counts []schema.Count) time.Time {
	date := p.Started
	if p.AsOf != nil {
		date = *p.AsOf
	} else if day, ok := medianDay(counts); ok && !day.After(p.Started) {
		date = day // else the clock of the archives is wrong
	}
	return date.UTC()
}

// medianDay returns the median day of the captures. The first and the last would
// depend on a single capture with a wrong clock.
func medianDay(counts []schema.Count) (day time.Time, ok bool) {
	type days struct {
		time.Time
		n int64
	}
	var all []days
	var total int64
	for _, c := range counts {
		if c.Metric != Captured || c.Key == nil {
			continue
		}
		if t, err := time.Parse(DayFormat, *c.Key); err == nil {
			all, total = append(all, days{t, c.Count}), total+c.Count
		}
	}
	slices.SortFunc(all, func(a, b days) int { return a.Compare(b.Time) })
	var before int64
	for _, d := range all {
		if before += d.n; before >= total-before {
			return d.Time, true
		}
	}
	return day, false
}

// byDate orders runs by date, then by ID.
func byDate(a, b *Manifest) int {
	return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.Run, b.Run))
}
