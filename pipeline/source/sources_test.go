package source

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// Of a list beside stored answers, one shard alone rejects the lines without a host. A
// shard does not know which hosts have no answer.
func TestShardsRejectTheLinesOfAFilterOnce(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.example"), []byte("User-agent: *\n"), 0o666))
	list := writeFile(t, "hosts", []byte("a.example\nb.example\nnot a host\n"))
	for shard, want := range map[target.Shard]int64{{}: 1, {Index: 0, Count: 2}: 1, {Index: 1, Count: 2}: 0} {
		s, err := Open(t.Context(), Config{Bodies: dir, Hosts: list, Schemes: []string{"https"}, Shard: shard,
			Limits: fetch.Limits{MaxBody: 1 << 20}})
		must(t, err)
		rejects := input.NewAccount(nil, nil, func(int64) {})
		must(t, s.Start(t.Context(), rejects, nil))
		must(t, s.Volumes[0].Read(t.Context(), func(target.Target) error { return nil }))
		if n := rejects.Lines(); n != want {
			t.Errorf("%s rejects %d lines, want %d", shard, n, want)
		}
		switch n := s.Unmatched(); {
		case shard.IsPart() && n != nil:
			t.Errorf("%s says that %d hosts have no answer", shard, *n)
		case !shard.IsPart() && (n == nil || *n != 1):
			t.Errorf("hosts without an answer: %v, want 1", n)
		}
	}
}

// Only an archive that was read to its end, without damage, may be passed over when the
// run is resumed: rejected.csv lists the damage.
func TestTheEndOfAnArchive(t *testing.T) {
	good := sinktest.Response("a.example", "HTTP/1.1 200 OK\r\n\r\n") + sinktest.Response("b.example",
		"HTTP/1.1 200 OK\r\n\r\n")
	for _, row := range []struct {
		name, content string
		limit         int64
		end           bool
	}{
		{"whole", good, 0, true}, {"damaged", good + "WARC/1.0\r\nWARC-Type: response\r\n", 0, false},
		{"up to a limit", good, 1, false}, {"up to its end, by a limit", good, 9, false},
	} {
		s, err := Open(t.Context(), Config{WARC: []string{writeFile(t, "a.warc", []byte(row.content))}, Limit: row.limit,
			Limits: fetch.Limits{MaxBody: 1 << 20}})
		must(t, err)
		must(t, s.Start(t.Context(), input.NewAccount(nil, in(t, t.TempDir()), func(int64) {}), func(int64) {}))
		v := s.Volumes[0]
		must(t, v.Read(t.Context(), func(target.Target) error { return nil }))
		if a := v.Archive(); a.End != row.end || a.Bytes != int64(len(row.content)) {
			t.Errorf("%s: %+v, want end %v", row.name, a, row.end)
		}
	}
}

func TestSourceLimit(t *testing.T) {
	s, err := Open(t.Context(), Config{Hosts: writeFile(t, "h", []byte("a.example\nb.example\nc.example\n")),
		Schemes: []string{"https"}, Limit: 2})
	must(t, err)
	must(t, s.Start(t.Context(), input.NewAccount(nil, nil, func(int64) {}), nil))
	var got []int64
	must(t, s.Volumes[0].Read(t.Context(), func(t target.Target) error { got = append(got, t.Seq); return nil }))
	if fmt.Sprint(got) != "[1 2]" || !s.Enough() || s.Targets() != 2 {
		t.Errorf("targets %v", got)
	}
}

func TestInputsHaveOneOrder(t *testing.T) {
	for range 20 {
		s, err := Open(t.Context(), Config{Hosts: writeFile(t, "h", []byte("a.test\n")),
			Ranks: writeFile(t, "r", []byte("1,a.test\n"))})
		must(t, err)
		inputs := s.Inputs()
		if len(inputs) != 2 || inputs[0].Role != "hosts" || inputs[1].Role != "ranks" {
			t.Fatalf("%+v, %v", inputs, err)
		}
	}
}
