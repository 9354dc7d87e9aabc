package memory

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// FuzzMemoryRecord checks that bytes either are a damaged record or encode back
// to the record that they decode to.
func FuzzMemoryRecord(f *testing.F) {
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o := fetch.Origin{Scheme: "https", Host: "a.test", Port: 443}
	for _, c := range []*fetch.Capture{
		{Origin: o, Start: day, Attempts: 1, Hops: []answer.Hop{{URL: "https://a.test/robots.txt", Status: 200}},
			Body: []byte("a"), HTTPVersion: "1.1"},
		{Origin: o, Start: day, Error: answer.ErrorTimeout, Err: errors.New("caf\xe9"), Fallback: answer.ErrorTLS,
			Remote: netip.MustParseAddrPort("[2001:db8::1]:443")},
	} {
		r := new(record).followed("run", c)
		value, err := r.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		r, err := decodeRecord(value)
		if err != nil {
			return
		}
		past := r.past()
		if (past.Copy == nil) != (r.copy == digest{}) {
			t.Fatalf("copy %v with digest %x", past.Copy, r.copy)
		}
		again, err := r.encode()
		if err != nil {
			t.Skip(err) // the year is outside of JSON's range
		}
		back, err := decodeRecord(again)
		if err != nil {
			t.Fatalf("%q encodes as %q: %v", value, again, err)
		}
		texts := cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
		if diff := cmp.Diff(past, back.past(), cmpopts.IgnoreUnexported(fetch.Capture{}),
			cmpopts.EquateComparable(netip.AddrPort{}), cmpopts.EquateEmpty(), texts); diff != "" {
			t.Fatalf("decoded - encoded and decoded +:\n%s", diff)
		}
	})
}
