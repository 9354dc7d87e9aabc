package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/source"
)

// clockSkew is how far the clocks of the machines that share a folder may differ: a date
// that much later than now is not in the future.
const clockSkew = 5 * time.Minute

// setDate sets the date that --as-of gives. Without one, a run that re-evaluates another
// takes its date, which must not be in the future either.
func (f *runFlags) setDate(ctx context.Context, c *pipeline.Config) error {
	now := time.Now().UTC()
	isFuture := func(t time.Time) bool { return !f.future && t.After(now.Add(clockSkew)) }
	const then = "until then the run would be the latest, and prune would remove others; give --future if you mean it"
	if f.asOf == "" {
		if f.fromRun == "" {
			return nil
		}
		date, err := source.DateOf(ctx, f.fromRun)
		if err == nil && isFuture(date) { // the source reports the error
			return usagef("--from-run %s: its date, %s, is in the future, and it is %s: give --as-of another date; "+then, f.fromRun, date.Format(time.RFC3339), now.Format(time.RFC3339))
		}
		return nil
	}
	t, err := parseDate(f.asOf)
	if errors.Is(err, errYear) {
		return usagef("--as-of %q: %w", f.asOf, err)
	}
	if err != nil {
		return usagef("--as-of %q: give a date such as 2024, 2024-05, 2024-W20, 2024-05-14 or 2024-05-14T08:00:00Z", f.asOf)
	}
	if isFuture(t) {
		return usagef("--as-of %q: %s is in the future, and it is %s: "+then, f.asOf, t.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	c.AsOf = &t
	return nil
}

// errYear reports a date before there was a robots.txt, or of a mistyped year.
var errYear = errors.New("give a year from 1994 to 2099")

// parseDate reads a year, a month, a week of ISO 8601, a day or a time. A period is
// its first instant in UTC.
func parseDate(text string) (t time.Time, err error) {
	for _, form := range []string{"2006", "2006-01", time.DateOnly, time.RFC3339} {
		if t, err = time.Parse(form, text); err == nil {
			break
		}
	}
	if monday, ok := parseWeek(text); ok {
		t, err = monday, nil
	}
	if err == nil && (t.Year() < 1994 || t.Year() >= 2100) {
		err = errYear
	}
	return t.UTC(), err
}

// parseWeek returns the Monday of a week such as 2026-W47.
func parseWeek(text string) (monday time.Time, ok bool) {
	year, number, _ := strings.Cut(text, "-W")
	start, err := time.Parse("2006", year)
	week, e := strconv.Atoi(number)
	if err != nil || e != nil || number != fmt.Sprintf("%02d", week) {
		return monday, false
	}
	fourth := start.AddDate(0, 0, 3) // 4 January is in the first week
	monday = fourth.AddDate(0, 0, 7*(week-1)-(int(fourth.Weekday())+6)%7)
	y, w := monday.ISOWeek()
	return monday, y == start.Year() && w == week
}
