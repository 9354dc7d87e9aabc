package earlier_test

import (
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// fill sets each field of a struct of pointers.
func fill(of any) {
	v := reflect.ValueOf(of).Elem()
	for i := range v.NumField() {
		p := reflect.New(v.Field(i).Type().Elem())
		if p.Elem().Kind() == reflect.String {
			p.Elem().SetString(strings.ToLower(v.Type().Field(i).Name))
		} else {
			p.Elem().SetInt(int64(i+1) * int64(time.Millisecond))
		}
		v.Field(i).Set(p)
	}
}

// Judging again keeps every column of fetches: each has a value in some row.
func TestEveryColumnIsJudgedAgain(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	file := []byte("\xef\xbb\xbfUser-agent: *\nDisallow: /a\nodd\nSitemap: https://a.example/map\n")
	hops := func(status int) []answer.Hop {
		return []answer.Hop{{URL: "https://www.a.example/robots.txt", Status: status}}
	}
	outage := answer.Memory{}.After(answer.Facts{Hops: hops(200)}.Kind(), epoch.AddDate(0, 0, -40)).After(
		answer.Facts{Hops: hops(503)}.Kind(), epoch.AddDate(0, 0, -5))
	rank, value := int64(7), "noai"
	var all []target.Target
	for i, c := range []*fetch.Capture{
		{Hops: hops(200), Body: file, Remote: netip.MustParseAddrPort("192.0.2.7:443"), HTTPVersion: "1.1",
			TLSVersion: "1.3", Fallback: answer.ErrorTLS},
		{Hops: hops(200), Body: []byte("<html><!-- a wall -->"), Challenge: "generic", CDN: "fastly"},
		{Hops: hops(200), Body: []byte("# none\n"), Truncated: true},
		{Hops: hops(503), Error: answer.ErrorTruncatedBody, Err: errors.New("it broke off"), Probe: fetch.Probe{Front: 200,
			Missing: 404}, Memory: &outage, Copy: &fetch.WholeCopy{Fetched: epoch.AddDate(0, 0, -40), Body: file}},
		{Hops: hops(404), Front: &fetch.Front{Outcome: usage.PageRead, Hops: hops(200), Header: []usage.HeaderField{
			{Name: "x-robots-tag", Value: &value}}}},
		{Hops: hops(404), Front: &fetch.Front{Outcome: usage.PageFailed, Hops: hops(0), Error: answer.ErrorTimeout}},
	} {
		c.Origin, c.Start, c.Attempts = fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}, epoch, 2
		fill(&c.Headers)
		fill(&c.Times)
		all = append(all, target.Target{Seq: int64(i + 1), Input: "a.example", Rank: &rank, Candidates: []fetch.Origin{
			c.Origin}, Capture: c})
	}
	all[0].Stored = &target.Stored{Source: "warc", WARC: "a.warc", Offset: new(int64(5)), Length: 9, Vantage: &value}
	dir, profiles := t.TempDir(), []*robots.Profile{google}
	write(t, dir, "first", profiles, all)
	facts, _, err := read(t.Context(), dir, "first")
	must(t, err)
	write(t, dir, "again", profiles, facts)
	rows, columns := sinktest.Rows[schema.Fetch](t, dir, "first", "fetches"), reflect.TypeFor[schema.Fetch]()
	for i := range columns.NumField() {
		some := false
		for _, row := range rows {
			some = some || !reflect.ValueOf(row).Field(i).IsZero()
		}
		if !some {
			t.Errorf("column %s is empty in all rows: fetchRow of package evaluate makes it, of what the targets "+
				"of this test have", columns.Field(i).Name)
		}
	}
	compareRows[schema.Fetch](t, "what + lacks, targetOf does not read from its column", dir, "first", "again", "fetches")
}
