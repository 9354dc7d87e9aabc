package hosts

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/store"
)

func TestShardsOfAListAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text string
		for range rapid.IntRange(1, 60).Draw(t, "lines") {
			line := rapid.SampledFrom([]string{
				"a.test", "http://a.test", "http://a.test/y", "https://a.test/z", "a.test/w", "www.a.test",
				"b.test, http://b.test", "https//b.test", "https://c.test/x", "https://c.test/y", "http://c.test/z", "-bad-.test",
				"", "# no host", "d.test:8443",
			}).Draw(t, "line")
			text += line + "\n"
		}
		read := func(s target.Shard) (targets, rejected []string) {
			return readShard(t, text, s)
		}
		wholeTargets, wholeRejected := read(target.Shard{})
		count := rapid.IntRange(1, 5).Draw(t, "shards")
		var targets, rejected []string
		for i := range count {
			some, others := read(target.Shard{Index: i, Count: count})
			targets, rejected = append(targets, some...), append(rejected, others...)
		}
		slices.Sort(wholeTargets)
		slices.Sort(targets)
		slices.Sort(wholeRejected)
		slices.Sort(rejected)
		if !slices.Equal(targets, wholeTargets) || !slices.Equal(rejected, wholeRejected) {
			t.Fatalf("of\n%s%d shards read\n%q\n%q\ninstead of\n%q\n%q", text, count, targets, rejected, wholeTargets,
				wholeRejected)
		}
	})
}

// readShard returns the targets and the rejected lines of a shard of a list.
func readShard(t interface{ Fatal(...any) }, text string, shard target.Shard) (targets, rejected []string) {
	return readGrouped(t, shard, func(take func(row) error) error {
		return readLines("list", strings.NewReader(text), form{}, take)
	})
}

func readGrouped(t interface{ Fatal(...any) }, shard target.Shard, read func(take func(row) error) error) (targets,
	rejected []string) {
	g := &grouper{schemes: []string{"https", "http"}, shard: shard, emit: func(x target.Target) error {
		targets = append(targets, fmt.Sprint(x.Seq, x.Input, x.Candidates, x.Paths, x.Lines, x.Rank != nil))
		return nil
	}}
	g.reject = func(line int64, text, reason string) error {
		rejected = append(rejected, fmt.Sprint(line, text, reason))
		return nil
	}
	g.remark = g.reject
	if err := read(g.take); err != nil {
		t.Fatal(err)
	}
	if err := g.flush(); err != nil {
		t.Fatal(err)
	}
	return targets, rejected
}

// The lists of a partition yield what shards of the whole list yield, whatever the
// lines hold.
func TestPartitionIsTheShards(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := "rank,host,url\n"
		for range rapid.IntRange(1, 60).Draw(t, "lines") {
			text += rapid.SampledFrom([]string{
				"1,a.test,", ",http://a.test,", ",https://a.test,/z", ",a.test,/w", ",http://a.test,/v", ",b.test c.test,",
				",www.a.test,", "x,b.test,", ",,https://c.test/x", ",,https://c.test/y", ",,http://c.test/z?a=\"\"&b,",
				"2,-bad-.test,",
				"", "# no host", ",d.test:8443,/p", "\"1\",\"e.test\",\"/a,b\"", ",\"f.test\r\",", ",\x00\xff,", "one field",
				",h.test,/" + strings.Repeat("x", 500),
			}).Draw(t, "line") + "\n"
		}
		path := filepath.Join(dir, "list.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		count := rapid.IntRange(1, 5).Draw(t, "shards")
		s, err := store.Create(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		scratch, err := s.Scratch(".")
		if err != nil {
			t.Fatal(err)
		}
		defer scratch.Close()
		p, err := NewPartition(t.Context(), List{Path: path, Schemes: []string{"https", "http"}}, count, scratch, nil,
			func(int64) {})
		if err != nil {
			return // only lines that are not rows
		}
		for i := range count {
			var list bytes.Buffer
			if err := p.WriteShard(&list, i); err != nil {
				t.Fatal(err)
			}
			planned := filepath.Join(dir, "shard")
			if err := os.WriteFile(planned, list.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			shard := target.Shard{Index: i, Count: count}
			targets, rejected := readGrouped(t, shard, func(take func(row) error) error {
				return readHosts(t.Context(), path, "", io.Discard, take)
			})
			got, also := readGrouped(t, shard, func(take func(row) error) error {
				return readPlanned(t.Context(), planned, false, take)
			})
			if !slices.Equal(got, targets) || !slices.Equal(also, rejected) {
				t.Fatalf("of\n%s%v reads\n%q\n%q\nfrom its list, and from the whole\n%q\n%q", text, shard, got, also, targets,
					rejected)
			}
		}
	})
}

// A shard does not ask again whether names without a dot are hosts, which it cannot tell.
func TestPartitionOfNamesWithoutADot(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Create(t.Context(), dir)
	must(t, err)
	defer s.Close()
	scratch, err := s.Scratch(".")
	must(t, err)
	defer scratch.Close()
	path := writeFile(t, "list.csv", []byte("host\nintranet\nwiki\nnull\n"))
	p, err := NewPartition(t.Context(), List{Path: path, Schemes: []string{"https"}}, 1, scratch, nil, func(int64) {})
	must(t, err)
	var list bytes.Buffer
	must(t, p.WriteShard(&list, 0))
	planned := writeFile(t, "shard", list.Bytes())
	targets, rejected := readGrouped(t, target.Shard{Count: 1}, func(take func(row) error) error {
		return readPlanned(t.Context(), planned, false, take)
	})
	if len(targets) != 2 || len(rejected) != 1 || !strings.Contains(rejected[0], "not_a_host") {
		t.Errorf("targets %q, rejected %q", targets, rejected)
	}
}
