package fetch

import (
	"bytes"
	"testing"
	"time"
)

// FuzzCapture checks that bytes either are not a capture or encode back to the
// capture that they decode to.
func FuzzCapture(f *testing.F) {
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := &Capture{Origin: Origin{"https", "a.test", 443}, Start: day, Attempts: 1, Body: []byte("body"),
		Copy: &WholeCopy{Fetched: day, Body: []byte("copy")}}
	value, err := c.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(value)
	f.Fuzz(func(t *testing.T, value []byte) {
		var one, two Capture
		if one.UnmarshalBinary(value) != nil {
			return
		}
		again, err := one.MarshalBinary()
		if err != nil {
			t.Skip(err) // the year is outside of JSON's range
		}
		if err := two.UnmarshalBinary(again); err != nil {
			t.Fatalf("%q encodes as %q: %v", value, again, err)
		}
		if !bytes.Equal(one.Body, two.Body) || (one.Copy == nil) != (two.Copy == nil) || one.Origin != two.Origin ||
			!one.Start.Equal(two.Start) {
			t.Fatalf("%+v becomes %+v", one, two)
		}
	})
}
