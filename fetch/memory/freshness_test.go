package memory

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

func TestLifetime(t *testing.T) {
	const h = time.Hour
	for _, row := range []struct {
		clause, header  string // "-": no header
		shorter, longer time.Duration
	}{
		{"SPEC 2: 24 hours", "-", 24 * h, 24 * h},
		{"no directive", "", 24 * h, 24 * h},
		{"none that matters", "public, immutable, stale-if-error=60", 24 * h, 24 * h},
		{"5.2.2.1 max-age shortens", "max-age=3600", h, h},
		{"5.2.2.1 max-age lengthens where it may", "max-age=172800", 24 * h, 48 * h},
		{"SPEC 2: within bounds", "max-age=31536000", 24 * h, 7 * 24 * h},
		{"4.2: max-age=0 is stale at once", "max-age=0", 0, 0},
		{"5.2: names in any case", "Max-AGE=3600", h, h},
		{"5.2: among others", "public , must-revalidate,max-age=3600 , proxy-revalidate", h, h},
		{"5.2: quoted values", `max-age="3600"`, h, h},
		{"5.2: escapes in quotes", `max-age="\3\600"`, h, h},
		{"5.2: spaces about the sign", "max-age = 3600", h, h},
		{"RFC 9110 5.6.1: empty elements", ",,max-age=3600,,", h, h},
		{"5.2.2.4 no-cache", "no-cache", 0, 0},
		{"5.2.2.4 no-cache beside max-age", "max-age=3600, No-Cache", 0, 0},
		{"5.2.2.4 no-cache of some fields, as if of all", `no-cache="set-cookie"`, 0, 0},
		{"5.2.2.5 no-store", "no-store", 0, 0},
		{"5.2.2.7 private: the cache is one", "private, max-age=3600", h, h},
		{"5.2.2.10 s-maxage is for shared caches", "s-maxage=60, max-age=3600", h, h},
		{"5.2.2.10 alone, too", "s-maxage=60", 24 * h, 24 * h},
		{"4.2.1: the first of several", "max-age=3600, max-age=7200", h, h},
		{"4.2.1: no number is stale", "max-age=soon", 0, 0},
		{"4.2.1: nor is a negative one", "max-age=-1", 0, 0},
		{"4.2.1: nor a fraction", "max-age=1.5", 0, 0},
		{"4.2.1: nor none", "max-age", 0, 0},
		{"4.2.1: nor an empty one", "max-age=", 0, 0},
		{"4.2.1: nor signs of other languages", "max-age=٣٦٠٠", 0, 0},
		{"1.2.2: 2^31 and more", "max-age=2147483648", 24 * h, 7 * 24 * h},
		{"1.2.2: more than any integer", "max-age=99999999999999999999999999", 24 * h, 7 * 24 * h},
		{"directives in quotes are none", `private="no-store, max-age=5", max-age=3600`, h, h},
		{"nor are they after an escaped quote", `x="\", no-store", max-age=3600`, h, h},
		{"nor in a quoted string alone", `"no-store, max-age=5", max-age=3600`, h, h},
		{"quotes that do not end", `x="no-store, max-age=5`, 24 * h, 24 * h},
		{"an escape of nothing", `x="no-store\`, 24 * h, 24 * h},
		{"longer names", "no-stored, x-no-cache, xmax-age=5", 24 * h, 24 * h},
		{"garbage", "\x00\xff;=;==,\"=", 24 * h, 24 * h},
	} {
		header := &row.header
		if row.header == "-" {
			header = nil
		}
		if got := lifetime(24*h, header, false); got != row.shorter {
			t.Errorf("%s: %q is fresh for %v, want %v", row.clause, row.header, got, row.shorter)
		}
		if got := lifetime(24*h, header, true); got != row.longer {
			t.Errorf("%s: %q, lengthened, is fresh for %v, want %v", row.clause, row.header, got, row.longer)
		}
		if got := lifetime(0, header, true); got != 0 {
			t.Errorf("%s: %q is fresh for %v with --max-age 0", row.clause, row.header, got)
		}
	}
}

func TestNoHeaderLeavesTheBounds(t *testing.T) {
	directive := rapid.SampledFrom([]string{"max-age", "no-store", "no-cache", "=", ",", `"`, `\`, " ", "0", "9", "-",
		"99999999999"})
	rapid.Check(t, func(t *rapid.T) {
		header := ""
		for _, s := range rapid.SliceOfN(directive, 0, 12).Draw(t, "header") {
			header += s
		}
		maxAge := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "max age"))
		shorter, longer := lifetime(maxAge, &header, false), lifetime(maxAge, &header, true)
		if shorter < 0 || shorter > maxAge || longer < shorter || longer/7 > maxAge {
			t.Errorf("%q, %v: %v and %v", header, maxAge, shorter, longer)
		}
	})
}

// A run that reads bodies of errors asks again for one that a run before did not keep.
func TestAnErrorWithoutItsBodyIsNotFresh(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status     int
		kept, asks bool
		fresh      bool
	}{
		{404, false, false, true}, {404, false, true, false}, {404, true, true, true}, {200, true, true, true},
	} {
		last := &fetch.Capture{Start: now.Add(-time.Hour), Hops: []answer.Hop{{Status: c.status}}}
		past := &history{Last: last, Memory: answer.Memory{}.After(last.Facts().Kind(), last.Start)}
		if c.kept {
			past.LastBody = new(digest)
		}
		terms := Terms{MaxAge: 24 * time.Hour, Limits: fetch.Limits{ErrorBodies: c.asks}, Now: func() time.Time {
			return now
		}}
		if got := terms.isFresh(past); got != c.fresh {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
