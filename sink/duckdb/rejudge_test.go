package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// rejudged returns the arguments to re-judge run r of a folder.
func (w *web) rejudged(from, to string, args ...string) []string {
	return append([]string{"run", "--from-run", filepath.Join(from, "_runs", "r"), "--out", to, "--run", "r", "--agents",
		w.agents, "--urls", w.url,
		"--profile", "google,rfc9309", "--keep-bodies", "--progress", "none"}, args...)
}

// Re-judging a run with answers of every kind gives the same tables without asking
// any host; the times stay those of the fetch.
func TestAnEarlierRunJudgedAgainIsTheSame(t *testing.T) {
	t.Parallel()
	const hosts = segmentTargets + 50 // two segments
	w := newWeb(t, hosts, "none")
	dir, again := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	robocensus(t, 0, w.census(dir, once...)...)
	w.reset(t)
	robocensus(t, 0, w.rejudged(dir, again)...)
	if n := len(w.asked(t)); n > 0 {
		t.Errorf("%d hosts were asked", n)
	}
	if text, _ := robocensus(t, 0, "verify", "--out", again, "r"); !strings.HasSuffix(text, ": whole\n") {
		t.Errorf("verify says %s", text)
	}
	db := bare(t)
	for _, table := range tables {
		rows := func(dir string) string {
			return fmt.Sprintf("(FROM read_parquet('%s/%s/run=r/*.parquet'))", dir, table)
		}
		n, sum := fingerprint(t, db, rows(dir))
		if m, other := fingerprint(t, db, rows(again)); m != n || other != sum {
			_, lost, _ := ask(db, rows(dir)+" EXCEPT ALL "+rows(again)+" LIMIT 2")
			_, made, _ := ask(db, rows(again)+" EXCEPT ALL "+rows(dir)+" LIMIT 2")
			t.Errorf("%s: %s rows instead of %s; lost are such as %v, and should not be there %v", table, m, n, lost, made)
		}
	}

	// No target of the first segment passes the filter.
	some := filepath.Join(t.TempDir(), "out")
	robocensus(t, 0, w.rejudged(dir, some, "--hosts", write(t, filepath.Join(t.TempDir(), "some"),
		fmt.Sprintf("h%d.test\nh%d.test\n", segmentTargets+32, segmentTargets+33)))...)
	if text, _ := robocensus(t, 0, "verify", "--out", some, "r"); !strings.HasSuffix(text, ": whole\n") {
		t.Errorf("the second segment alone: verify says %s", text)
	}
	if n := one(t, db, fmt.Sprintf("SELECT count(*) FROM read_parquet('%s/fetches/run=r/*.parquet')", some)); n != "2" {
		t.Errorf("the second segment alone: %s rows, want 2", n)
	}
	// A filter that no target passes is bad input.
	robocensus(t, 65, w.rejudged(dir, filepath.Join(t.TempDir(), "out"), "--hosts",
		write(t, filepath.Join(t.TempDir(), "none"), "elsewhere.test\n"))...)
}

// tables are the tables of a run with bodies.
var tables = []string{"fetches", "groups", "rules", "sitemaps", "lines", "signals", "preferences", "agents",
	"policies", "verdicts", "summary", "examples", "bodies"}
