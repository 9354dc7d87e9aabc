package check

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/robots"
)

// BenchmarkCheckURLs judges a list of 100,000 paths by check --urls --changed-from, and
// beside it by a loop that reads the list and judges by both files in memory.
func BenchmarkCheckURLs(b *testing.B) {
	var file, list bytes.Buffer
	file.WriteString("User-agent: *\n")
	for i := range 50 {
		fmt.Fprintf(&file, "Disallow: /private%d/*.html\n", i)
	}
	const urls = 100_000
	for i := range urls {
		fmt.Fprintf(&list, "/section/private%d/page/%d.html?id=%d\n", i%80, i, i)
	}
	dir := b.TempDir()
	for name, text := range map[string][]byte{"new.txt": file.Bytes(), "old.txt": bytes.Replace(file.Bytes(),
		[]byte("private7/"), nil, 1), "list.txt": list.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	google, _ := robots.ProfileNamed("google")
	in := func(name string) string { return filepath.Join(dir, name) }
	b.Run("command", func(b *testing.B) {
		for b.Loop() {
			f := newCheckFlags()
			f.urls, f.before = in("list.txt"), in("old.txt")
			err := f.checkURLs(context.Background(), []string{in("new.txt"), "Googlebot"}, []*robots.Profile{google}, nil,
				io.Discard, io.Discard)
			if err != nil && err != cli.ExitDisallowed {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/urls, "ns/URL")
	})
	b.Run("memory", func(b *testing.B) {
		p := google
		var policies [2]*robots.Policy
		for i, name := range []string{"new.txt", "old.txt"} {
			text, err := os.ReadFile(in(name))
			if err != nil {
				b.Fatal(err)
			}
			var file robots.File
			file.Parse(text, p)
			judge := robots.NewJudge(p, []robots.Agent{{Name: "Googlebot", Tokens: []string{"Googlebot"}}})
			judge.Load(&file)
			policies[i] = judge.Policy(0)
		}
		for b.Loop() {
			f, err := os.Open(in("list.txt"))
			if err != nil {
				b.Fatal(err)
			}
			differ := 0
			for lines := bufio.NewScanner(f); lines.Scan(); {
				t := p.Target(lines.Text())
				if policies[0].Judge(&t).Value != policies[1].Judge(&t).Value {
					differ++
				}
			}
			f.Close()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/urls, "ns/URL")
	})
}
