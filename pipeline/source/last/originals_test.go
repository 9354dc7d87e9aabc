package last

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// described returns a capture as an index describes it: a letter is the digest of its
// payload.
func described(url, date, digest string, status int, within time.Duration) *warc.Capture {
	c := &warc.Capture{Within: within}
	if digest != "" {
		c.PayloadDigest = "other:" + digest + "!"
	}
	c.Start, _ = time.Parse("20060102150405", date)
	c.Hops = []answer.Hop{{URL: url, Status: status}}
	return c
}

// Among the captures of an index, those that a revisit record may stand for are found, the
// surest first, whatever they are sorted in.
func TestOriginalsByIndex(t *testing.T) {
	defer func(before int) { memory = before }(memory)
	memory = 300
	const a, b = "http://a.example/robots.txt", "http://b.example/robots.txt"
	o := &Originals{Scratch: sinktest.Scratch(t, t.TempDir())}
	for i, c := range []*warc.Capture{
		0: described(a, "20240101000000", "A", 200, time.Second),
		1: described(a, "20240103000000", "A", 200, time.Second),
		2: described(a, "20240105000000", "A", 200, time.Second),
		3: described(a, "20240103000000", "B", 503, time.Second),
		4: described(b, "20240102000000", "C", 200, time.Minute),
		5: described(a, "20240101120000", "", 200, time.Second),
		6: described(b, "20240109000000", "A", 200, time.Second),
		7: described(a, "20240103000000", "E", 200, time.Second), // of the same second as 1
	} {
		must(t, o.Add(c, uint64(i)))
	}
	must(t, o.Settle())
	defer o.Close()
	for name, row := range map[string]struct {
		url, date, digest, of, ofDate string
		status                        int
		want                          []uint64
	}{
		"the nearest earlier one":       {a, "20240104000000", "A", "", "", 200, []uint64{1}},
		"none is earlier":               {b, "20240101000000", "A", "", "", 200, []uint64{0}},
		"by date, not another status":   {a, "20240104000000", "", a, "2024-01-03T00:00:00Z", 200, []uint64{7, 1}},
		"by date and digest":            {a, "20240104000000", "E", a, "2024-01-03T00:00:00Z", 200, []uint64{7}},
		"by date, its fraction unknown": {a, "20240104000000", "A", a, "2024-01-01T00:00:00.5Z", 200, []uint64{0, 1}},
		"by a date to the minute":       {b, "20240104000000", "", b, "2024-01-02T00:00:42Z", 200, []uint64{4}},
		"another minute":                {b, "20240104000000", "", b, "2024-01-02T00:01:00Z", 200, nil},
		"another digest at that date":   {b, "20240104000000", "D", b, "2024-01-02T00:00:42Z", 200, nil},
		"a digest that is not known":    {a, "20240104000000", "D", a, "2024-01-01T12:00:00Z", 200, []uint64{5}},
		"of any URL":                    {"http://c.example/robots.txt", "20240108000000", "A", "", "", 200, []uint64{6}},
		"an error, without a header":    {a, "20240104000000", "B", "", "", 0, []uint64{3}},
		"an error of the same payload":  {a, "20240104000000", "B", "", "", 200, []uint64{3}},
	} {
		c := described(row.url, row.date, row.digest, row.status, time.Second)
		c.Unstored, c.Revisit = true, &warc.Revisit{TargetURI: row.of, OfDate: row.ofDate}
		var got []uint64
		must(t, o.Of(c, func(at uint64) (bool, error) { got = append(got, at); return false, nil }))
		if len(got) > len(row.want) && slices.Equal(got[:len(row.want)], row.want) && row.want != nil {
			got = got[:len(row.want)] // less sure ones follow
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
		n := 0
		must(t, o.Of(c, func(uint64) (bool, error) { n++; return true, nil }))
		if n > 1 {
			t.Errorf("%s: %d are tried after the right one", name, n-1)
		}
	}
	if err := o.Of(&warc.Capture{}, func(uint64) (bool, error) { return false, fmt.Errorf("asked") }); err != nil {
		t.Error(err)
	}
}
