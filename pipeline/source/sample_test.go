package source

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// hostsOf returns the hosts that a source yields, and what it skips.
func hostsOf(t *testing.T, c Config) (map[string]bool, input.Skipped) {
	t.Helper()
	c.Schemes, c.MaxBody = []string{"https", "http"}, 1<<20
	s, err := Open(t.Context(), c)
	must(t, err)
	rejects := input.NewAccount(nil, in(t, t.TempDir()), func(int64) {})
	must(t, s.Start(t.Context(), rejects, func(int64) {}))
	hosts := make(map[string]bool)
	for _, v := range s.Volumes {
		must(t, v.Read(t.Context(), func(target target.Target) error {
			hosts[target.Candidates[0].Host] = true
			return nil
		}))
	}
	return hosts, rejects.Skipped()
}

// Whether a host is in the sample depends on neither the list, the source nor the
// order: the samples of several crawls are a panel.
func TestTheSampleIsAPanel_NoRace(t *testing.T) {
	const share = 0.1
	random := rand.New(rand.NewPCG(1, 2))
	in := make(map[string]bool) // of all sources
	hosts, sampled := 0, 0
	read := func(name string, c Config, hostsOfIt []string) {
		c.Sample = share
		got, skipped := hostsOf(t, c)
		for _, host := range hostsOfIt {
			if was, ok := in[host]; ok && was != got[host] {
				t.Fatalf("%s: %s is in the sample: %v, and elsewhere %v", name, host, got[host], was)
			}
			in[host] = got[host]
		}
		if n := int(skipped[input.NotSampled]); n+len(got) != len(hostsOfIt) {
			t.Errorf("%s: %d hosts are in the sample and %d are skipped, of %d", name, len(got), n, len(hostsOfIt))
		}
		hosts, sampled = hosts+len(hostsOfIt), sampled+len(got)
	}
	// Crawls of 50,000 of 100,000 hosts each, on 50,000 domains.
	for crawl := range 4 {
		var some []string
		for _, i := range random.Perm(100_000)[:50_000] {
			some = append(some, fmt.Sprintf("%s.site-%d.co.uk", []string{"www", "shop"}[i%2], i/2))
		}
		var archive strings.Builder
		for _, host := range some {
			archive.WriteString(sinktest.Response(host, "HTTP/1.1 200 OK\r\n\r\n"))
		}
		read(fmt.Sprintf("crawl %d", crawl), Config{WARC: []string{writeFile(t, "a.warc", []byte(archive.String()))}}, some)
		if crawl == 0 {
			slices.Reverse(some)
			read("list", Config{Hosts: writeFile(t, "hosts.txt", []byte(strings.Join(some, "\n")))}, some)
		}
	}
	for host, is := range in {
		other := "www" + strings.TrimPrefix(host, "shop")
		if was, ok := in[other]; ok && was != is {
			t.Fatalf("%s and %s are of one domain, and one is in the sample", host, other)
		}
	}
	if got := float64(sampled) / float64(hosts); math.Abs(got-share) > 0.005 {
		t.Errorf("the sample holds %g of the hosts, want %g", got, share)
	}
}

// A sample without hosts is an error that says so.
func TestAnEmptySample(t *testing.T) {
	c := Config{Named: []string{"a.example"}, Schemes: []string{"https"}, Sample: 1e-9}
	s, err := Open(t.Context(), c)
	must(t, err)
	must(t, s.Start(t.Context(), input.NewAccount(nil, nil, func(int64) {}), nil))
	must(t, s.Volumes[0].Read(t.Context(), func(target.Target) error { return nil }))
	if err := s.Empty(); err == nil || !strings.Contains(err.Error(), "none of them in the sample") {
		t.Errorf("%v", err)
	}
}

// The paths of a list are relative to the base, and captures keep them as listed.
func TestPathsHaveABase(t *testing.T) {
	file := writeFile(t, "a.warc", []byte(sinktest.Response("a.example", "HTTP/1.1 200 OK\r\n\r\n")))
	list := func(text string) string { return writeFile(t, "warc.paths", []byte(text)) }
	for _, row := range []struct{ paths, base, want string }{
		{"a.warc\n", filepath.Dir(file), "a.warc"},
		{file + "\n", "", file},
		{"../a.warc\n", filepath.Dir(file), "points outside --warc-base"},
		{file + "\n", filepath.Dir(file), "points outside --warc-base"},
	} {
		var got string
		s, err := Open(t.Context(), Config{Paths: list(row.paths), Base: row.base, Limits: fetch.Limits{MaxBody: 1 << 20}})
		if err == nil {
			must(t, s.Start(t.Context(), input.NewAccount(nil, in(t, t.TempDir()), func(int64) {}), func(int64) {}))
			must(t, s.Volumes[0].Read(context.Background(), func(target target.Target) error {
				got = target.Stored.WARC
				return nil
			}))
		} else {
			got = err.Error()
		}
		if !strings.HasSuffix(got, row.want) {
			t.Errorf("%q at %q: %q, want %q", row.paths, row.base, got, row.want)
		}
	}
}
