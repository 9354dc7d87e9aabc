package fetch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/robots/answer"
)

// The facts of an answer are the same before and after a memory has stored it, and their
// dates are those that the tables hold.
func TestFactsOfAMemory(t *testing.T) {
	at := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 123456789, time.UTC) }
	micro := func(n int) time.Time { return at(n).Truncate(time.Microsecond) }
	c := &Capture{Start: at(3), Hops: []answer.Hop{{URL: "a", Status: 503}}, Copy: &WholeCopy{}}
	good, down := answer.Kind{Class: answer.Success}, c.Facts().Kind()
	limited := answer.Facts{Hops: []answer.Hop{{URL: "a", Status: 429}}}.Kind()
	before := answer.Memory{}.After(good, at(1)).After(limited, at(2))
	after := before.After(down, at(3))
	want := &answer.Memory{First: micro(1), Seen: []answer.Seen{{Kind: good, Next: micro(2)},
		{Kind: limited, Next: micro(3)}, {Kind: down}}, HasCopy: true}
	for name, m := range map[string]answer.Memory{"before": before, "after": after} {
		c.Memory = &m
		f := c.Facts()
		if diff := cmp.Diff(want, f.Memory); diff != "" || !f.Time.Equal(micro(3)) {
			t.Errorf("%s it was stored, at %v (-want +got):\n%s", name, f.Time, diff)
		}
	}
}
