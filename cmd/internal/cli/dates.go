package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrYear reports a date before there was a robots.txt, or of a mistyped year.
var ErrYear = errors.New("give a year from 1994 to 2099")

// ParseDate reads a year, a month, a week of ISO 8601, a day or a time. A period is
// its first instant in UTC.
func ParseDate(text string) (t time.Time, err error) {
	for _, form := range []string{"2006", "2006-01", time.DateOnly, time.RFC3339} {
		if t, err = time.Parse(form, text); err == nil {
			break
		}
	}
	if monday, ok := parseWeek(text); ok {
		t, err = monday, nil
	}
	if err == nil && (t.Year() < 1994 || t.Year() >= 2100) {
		err = ErrYear
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
