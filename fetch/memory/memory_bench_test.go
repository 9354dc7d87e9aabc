package memory

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
)

// benchAnswer returns a typical answer with a body of 4 KB.
func benchAnswer(i int, body []byte) *fetch.Capture {
	c := whole(host(i), day, "")
	text, d := func(s string) *string { return &s }, 12345*time.Microsecond
	c.HTTPVersion, c.TLSVersion, c.Body = "1.1", "1.3", body
	c.Headers = fetch.Headers{ContentType: text("text/plain; charset=utf-8"), Server: text("nginx"),
		ETag: text(fmt.Sprintf(`"%x"`, i)), CacheControl: text("max-age=3600")}
	c.Times = fetch.Times{DNS: &d, Connect: &d, TLS: &d, FirstByte: &d, Total: &d}
	return c
}

func benchBody(i int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "Disallow: /host-%06d/%08x\n", i, uint32(i)*2654435761), 140)[:4096]
}

// together calls do n times from 500 goroutines, as many as a run has.
func together(b *testing.B, n int, do func(i int) error) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range 500 {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkKeep(b *testing.B) {
	for _, kind := range []string{"new bodies", "known bodies", "same again"} {
		b.Run(kind, func(b *testing.B) {
			m := openMemory(b, b.TempDir())
			defer closeMemory(b, m)
			answer := func(i int) *fetch.Capture {
				if kind == "known bodies" {
					return benchAnswer(i, benchBody(i%100))
				}
				return benchAnswer(i, benchBody(i))
			}
			if kind == "same again" {
				together(b, b.N, func(i int) error { return m.keep("r", answer(i)) })
			}
			b.ResetTimer()
			together(b, b.N, func(i int) error { return m.keep("r", answer(i)) })
			b.StopTimer()
		})
	}
}

func BenchmarkRecall(b *testing.B) {
	const origins = 100_000
	dir := b.TempDir()
	m := openMemory(b, dir)
	together(b, origins, func(i int) error { return m.keep("r", benchAnswer(i, benchBody(i))) })
	closeMemory(b, m)
	m = openMemory(b, dir)
	defer closeMemory(b, m)
	for _, row := range []struct {
		name string
		past func(i int) error
	}{
		{"known", func(i int) error { _, err := m.recall(host(i * 7919 % origins)); return err }},
		{"with body", func(i int) error {
			p, err := m.recall(host(i * 7919 % origins))
			if err != nil {
				return err
			}
			_, err = m.body(*p.LastBody)
			return err
		}},
		{"unknown", func(i int) error { _, err := m.recall(host(origins + i)); return err }},
	} {
		b.Run(row.name, func(b *testing.B) {
			for i := range b.N {
				if err := row.past(i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
