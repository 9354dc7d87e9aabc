package sitemap

import "time"

// parseDate reads the date of a page, in one of the forms of W3C's note on date and time,
// which the protocol names and Atom has, or in that of RSS. Of a year or a month it is the
// beginning; a date without a time is in UTC.
func parseDate(text string) (time.Time, bool) {
	forms := []string{time.RFC1123Z, time.RFC1123}
	switch {
	case len(text) == len("2006"):
		forms = []string{"2006"}
	case len(text) == len("2006-01"):
		forms = []string{"2006-01"}
	case len(text) == len(time.DateOnly):
		forms = []string{time.DateOnly}
	case len(text) > len(time.DateOnly) && text[4] == '-':
		forms = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00"} // a fraction of a second is read too
	}
	for _, form := range forms {
		if t, err := time.Parse(form, text); err == nil && t.Year() > 0 {
			return t.UTC().Truncate(time.Microsecond), true
		}
	}
	return time.Time{}, false
}
