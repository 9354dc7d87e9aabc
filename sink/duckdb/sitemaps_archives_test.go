package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wget lets GNU wget ask the farm for URLs and write an archive.
func wget(t *testing.T, addr, name, urls string, more ...string) string {
	t.Helper()
	list := write(t, name+".txt", urls)
	flags := append([]string{"-q", "--no-config", "-e", "use_proxy=yes", "-e", "http_proxy=http://" + addr, "-e",
		"robots=off", "--tries=1",
		"--max-redirect=5", "-O", "/dev/null", "--warc-file=" + name, "--no-warc-keep-log", "-i", list}, more...)
	c := exec.Command("wget", flags...)
	c.Run() // fails where an answer is an error
	must(t, os.Remove(list))
	if _, err := os.Stat(name + ".warc.gz"); err != nil {
		t.Fatalf("wget wrote nothing: %v", err)
	}
	return name + ".warc.gz"
}

// recordsOf returns the records of an archive that has each in a gzip member.
func recordsOf(t *testing.T, name string) (all [][]byte) {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	for len(b) > 0 {
		in := bytes.NewReader(b)
		z, err := gzip.NewReader(in)
		must(t, err)
		z.Multistream(false)
		_, err = new(bytes.Buffer).ReadFrom(z)
		must(t, err)
		n := len(b) - in.Len()
		all, b = append(all, b[:n]), b[n:]
	}
	return all
}

// unpack returns what a gzip file holds.
func unpack(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	text, err := io.ReadAll(z)
	must(t, err)
	return text
}

// What another program has crawled gives the rows that asking the hosts gives, in whatever
// order its captures are, in one file or several, as revisit records, and by an index.
func TestSitemapsOfForeignArchives(t *testing.T) {
	if testing.Short() {
		t.Skip("TestDocumentsOfForeignArchives reads what wget has crawled")
	}
	t.Parallel()
	if _, err := exec.LookPath("wget"); err != nil {
		t.Skip("wget is not installed")
	}
	const n = 500
	addr, log := serveSites(t)
	dir := t.TempDir()
	asks := sitesRun(t, dir, addr, n)
	out := filepath.Join(dir, "out")
	robocensus(t, 0, append(asks, "--out", out, "--run", "r")...)
	urls := ""
	for host, targets := range log.asked {
		for _, target := range targets {
			urls += "http://" + host + target + "\n"
		}
	}
	// Of records with one digest wget refers to the last: so that this is a missing robots.txt.
	noFile := "http://" + siteHost(slices.IndexFunc(siteKinds, func(k siteKind) bool { return k.robots == "404" })) +
		"/robots.txt\n"
	urls = strings.Replace(urls, noFile, "", 1) + noFile
	whole := wget(t, addr, filepath.Join(dir, "whole"), urls, "--warc-cdx")
	revisits := wget(t, addr, filepath.Join(dir, "again"), urls, "--warc-dedup="+filepath.Join(dir, "whole.cdx"))

	all := recordsOf(t, whole)
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	write(t, filepath.Join(dir, "one.warc.gz"), string(bytes.Join(all[:len(all)/2], nil)))
	write(t, filepath.Join(dir, "two.warc.gz"), string(bytes.Join(all[len(all)/2:], nil)))

	reads := func(name string, more ...string) string {
		to := filepath.Join(dir, name)
		robocensus(t, 0, append([]string{"run", "--agents", asks[2], "--keep-bodies", "--keep-urls", "--sitemaps",
			fmt.Sprintf("%d,%d", mostFiles, mostBytes), "--progress", "none",
			"--hosts", filepath.Join(dir, "hosts.csv"), "--out", to, "--run", "r"}, more...)...)
		robocensus(t, 0, "verify", "--out", to, "r")
		return to
	}
	index, err := os.ReadFile(filepath.Join(dir, "whole.cdx"))
	must(t, err)
	write(t, filepath.Join(dir, "index.cdx"), strings.ReplaceAll(string(index), dir+"/", ""))
	for file, text := range map[string]string{"plain.warc": string(unpack(t, whole)),
		"together.warc.gz": packed(string(unpack(t, whole)))} {
		write(t, filepath.Join(dir, file), text)
	}
	for name, row := range map[string]struct {
		flags []string
		want  string
	}{
		"a pipe": {[]string{"--warc", "-"}, "-: is no file that can be read again"},
		"records in one member": {[]string{"--warc", filepath.Join(dir, "together.warc.gz")},
			"together.warc.gz: at byte 0: several records are compressed in one"},
		"a shard": {[]string{"--warc", whole, "--warc", revisits, "--shards", "2", "--shard", "0", "--run",
			"r"}, "--sitemaps, --documents or --front-page: of archives that another program wrote does not apply to a shard"},
	} {
		c := exec.Command(filepath.Join(bin, "robocensus"), append([]string{"run", "--sitemaps", "5", "--progress", "none",
			"--out", filepath.Join(dir, "refused")}, row.flags...)...)
		in, err := os.Open(whole)
		must(t, err)
		c.Stdin = in
		if text, err := c.CombinedOutput(); c.ProcessState.ExitCode() != 65 || !strings.Contains(string(text), row.want) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		in.Close()
	}
	for name, flags := range map[string][]string{
		"plain":    {"--warc", filepath.Join(dir, "plain.warc")},
		"index":    {"--cdx", filepath.Join(dir, "index.cdx"), "--warc-base", dir},
		"as it is": {"--warc", whole},
		"shuffled": {"--warc", filepath.Join(dir, "one.warc.gz"), "--warc", filepath.Join(dir, "two.warc.gz")},
		"last":     {"--warc", whole, "--warc", revisits, "--last-capture"},
	} {
		got := reads(name, flags...)
		rejects, err := os.ReadFile(filepath.Join(got, "_runs", "r", "rejected.csv"))
		if must(t, err); strings.Contains(string(rejects), "not_robots_txt") {
			t.Errorf("%s: captures of sitemaps are rejected:\n%s", name, rejects)
		}
		for _, table := range []string{"sitemap_files", "coverage", "urls"} {
			columns := map[string]string{"sitemap_files": "* EXCLUDE (seq, fetch_time)"}[table]
			if columns == "" {
				columns = "* EXCLUDE seq"
			}
			rows := func(dir string) string {
				return fmt.Sprintf("(SELECT %s FROM read_parquet('%s/%s/run=r/*.parquet', hive_partitioning = false))", columns,
					dir, table)
			}
			db := bare(t)
			_, lost, err := ask(db, rows(out)+" EXCEPT ALL "+rows(got)+" ORDER BY ALL")
			must(t, err)
			_, made, err := ask(db, rows(got)+" EXCEPT ALL "+rows(out)+" ORDER BY ALL")
			must(t, err)
			if len(lost)+len(made) > 0 || one(t, db, "SELECT count(*) FROM "+rows(got)) == "0" {
				t.Errorf("%s: %s: %d rows are lost\n%s\nand %d should not be there\n%s", name, table, len(lost), head(lost),
					len(made), head(made))
			}
		}
	}
	if !strings.Contains(string(unpack(t, revisits)), "Type: revisit") {
		t.Error("wget wrote no revisit records")
	}
	half := reads("half", "--warc", filepath.Join(dir, "one.warc.gz"))
	if got := one(t, quick(t, half), "SELECT count(*) > 0 AND count(*) = count(*) FILTER (kind = 'none' AND urls = 0) "+
		"FROM sitemap_files WHERE outcome = 'uncaptured'"); got != "true" {
		t.Errorf("of half an archive nothing is uncaptured: %s", got)
	}
	wantFiguresOfSitemaps(t, half, "r")
}

// head writes the first rows.
func head(rows [][]string) (text string) {
	for _, row := range rows[:min(len(rows), 6)] {
		text += strings.Join(row, " | ") + "\n"
	}
	return text
}
