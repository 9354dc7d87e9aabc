package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/sinktest"
)

// One host with many lines about use, of which one changes.
func BenchmarkManyLinesOfUse(b *testing.B) {
	for _, agents := range []int{1, 179} {
		b.Run(fmt.Sprint(agents), func(b *testing.B) {
			dir := b.TempDir()
			var names strings.Builder
			for i := range agents {
				fmt.Fprintf(&names, "- {name: Bot%d}\n", i)
			}
			for _, run := range []string{"a", "b"} {
				var file strings.Builder
				file.WriteString("User-agent: *\nDisallow: /x\n")
				for i := range 11_000 {
					fmt.Fprintf(&file, "Content-Usage: /%d train-ai=n,search=y\n", i)
				}
				fmt.Fprintf(&file, "Content-Usage: /%s train-ai=n\n", run)
				statingRun{text: file.String(), agents: names.String()}.run(b, dir, run)
			}
			for b.Loop() {
				if _, err := Runs(b.Context(), Config{In: sinktest.Open(b, dir), Before: "a", After: "b"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
