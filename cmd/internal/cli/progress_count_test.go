package cli

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A long count shows a line every few seconds. A short one shows none.
func TestACountIsShown(t *testing.T) {
	for took, want := range map[time.Duration]int{LogEvery - time.Second: 0, 2*LogEvery + time.Second: 3} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			stop := ShowCount(&out, "judged", func() int64 { return 7 })
			time.Sleep(took)
			stop()
			if n := strings.Count(out.String(), "msg=progress judged=7\n"); n != want {
				t.Errorf("%s: %d lines, want %d:\n%s", took, n, want, out.String())
			}
		})
	}
}
