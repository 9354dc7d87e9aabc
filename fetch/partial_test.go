package fetch

import (
	"fmt"
	"strings"
	"testing"
)

// RFC 9110 section 14.4: a range is the whole file only if it begins at the
// first byte and ends at the last.
func TestPartialIsWhole(t *testing.T) {
	for value, want := range map[string]string{
		"bytes 0-9/10": "", "BYTES 0-9/10": "", " bytes  0-9 / 10 ": "", "bytes 0-0/1": "",
		"bytes 0-8/10": "ends at byte 8", "bytes 0-10/10": "ends at byte 10", "bytes 0-7/10": "ends at byte 7",
		"bytes 1-9/10": "begins at byte 1", "bytes 0-9/*": "ends at byte 9", "bytes 0-9/": "ends at byte 9",
		"": "without Content-Range", "bytes */10": "impossible", "lines 0-9/10": "impossible", "bytes 0-9": "impossible",
		"bytes -9/10": "impossible",
	} {
		if got := func() string { _, err := Partial(value, false); return fmt.Sprint(err) }(); want == "" &&
			got != "<nil>" || !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %q", value, got, want)
		}
	}
	// A body that reaches the limit needs no rest.
	for value, want := range map[string]bool{"bytes 0-9/20": true, "bytes 0-9/*": true, "bytes 0-9/10": false} {
		if beyond, err := Partial(value, true); err != nil || beyond != want {
			t.Errorf("%q, up to the limit: beyond %v, want %v, error %v", value, beyond, want, err)
		}
	}
	if _, err := Partial("bytes 1-9/20", true); err == nil {
		t.Error("up to the limit, without the first byte: whole")
	}
}
