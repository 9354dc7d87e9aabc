package sink

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/schema"
)

// BenchmarkConcatenate joins 49 files, as many as a shard of 100,000 hosts has segments,
// and says how many times as long that takes as to copy them one after the other.
// Small files are fetches of 2,048 hosts; large ones are bodies.
func BenchmarkConcatenate(b *testing.B) {
	random := rand.NewChaCha8([32]byte{})
	var fetches []schema.Fetch
	var bodies []schema.Body
	for i := range 2048 {
		fetches = append(fetches, schema.Fetch{Seq: int64(i), Host: fmt.Sprint("h", random.Uint64())})
		body := make([]byte, 2000)
		random.Read(body)
		bodies = append(bodies, schema.Body{ContentDigest: fmt.Sprint(random.Uint64()), Body: body})
	}
	var small, large bytes.Buffer
	must(b, parquet.Write(&small, fetches, parquet.BloomFilters(parquet.SplitBlockFilter(10, "host"))))
	must(b, parquet.Write(&large, bodies, parquet.SkipPageBounds("body"), parquet.SkipPageStatistics("body")))
	for name, content := range map[string][]byte{"small": small.Bytes(), "large": large.Bytes()} {
		dir := b.TempDir()
		var names []string
		for i := range 49 {
			names = append(names, filepath.Join(dir, fmt.Sprint(i)))
			must(b, os.WriteFile(names[i], content, 0o666))
		}
		each := func(do func(*os.File) bool) {
			for _, name := range names {
				f, err := os.Open(name)
				must(b, err)
				more := do(f)
				f.Close()
				if !more {
					return
				}
			}
		}
		seconds := func(b *testing.B, write func(io.Writer)) float64 {
			b.SetBytes(int64(len(names) * len(content)))
			for b.Loop() {
				out, err := os.Create(filepath.Join(dir, "out"))
				must(b, err)
				write(out)
				must(b, out.Close())
			}
			return b.Elapsed().Seconds() / float64(b.N)
		}
		copying := 0.0
		b.Run(name+"/copy", func(b *testing.B) {
			copying = seconds(b, func(out io.Writer) {
				each(func(f *os.File) bool {
					_, err := io.Copy(out, f)
					must(b, err)
					return true
				})
			})
		})
		b.Run(name+"/concat", func(b *testing.B) {
			b.ReportAllocs()
			joining := seconds(b, func(out io.Writer) {
				must(b, concatenate(out, func(yield func(namedFile, error) bool) {
					each(func(f *os.File) bool {
						return yield(namedFile{Name: f.Name(), ReaderAt: f, Size: int64(len(content))}, nil)
					})
				}))
			})
			if copying > 0 {
				b.ReportMetric(joining/copying, "times-copying")
			}
		})
	}
}
