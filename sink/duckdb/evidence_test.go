package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// everyFault has a host for each way to answer, or not to.
const everyFault = "testdata/everyfault.yaml"

// faultyWeb serves everyFault over http and https.
func faultyWeb(t *testing.T) (http, https, ca, hosts string) {
	t.Helper()
	dir := t.TempDir()
	ca, addresses := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "addr")
	farm := exec.Command(filepath.Join(bin, "robofarm"), "serve", "--dir", "../../testdata/demo/hosts", "--http",
		"127.0.0.1:0", "--https", "127.0.0.1:0", "--ca-out", ca,
		"--addr-file", addresses, "--faults", everyFault)
	farm.Stderr = os.Stderr
	must(t, farm.Start())
	t.Cleanup(func() {
		farm.Process.Signal(syscall.SIGTERM)
		farm.Wait()
	})
	var lines []string
	for deadline := time.Now().Add(20 * time.Second); len(lines) < 2; time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(addresses)
		lines = strings.Fields(string(text))
		if time.Now().After(deadline) {
			t.Fatal("the farm does not answer within 20 seconds")
		}
	}
	for _, line := range lines {
		if addr, ok := strings.CutPrefix(line, "http://"); ok {
			http = addr
		}
		if addr, ok := strings.CutPrefix(line, "https://"); ok {
			https = addr
		}
	}
	var list strings.Builder
	faults, err := os.ReadFile(everyFault)
	must(t, err)
	for line := range strings.Lines(string(faults)) {
		if host, _, ok := strings.Cut(line, ": "); ok {
			list.WriteString(host + "\n")
		}
	}
	return http, https, ca, write(t, filepath.Join(dir, "hosts.txt"), list.String())
}

// The evidence of a run gives its tables again: whatever the hosts answer, over http,
// over https, and where https is given up for http.
func TestEvidenceGivesTheTablesAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("package pipeline reads evidence again; TestDocumentsOfConsent and TestSitemapsOfHosts read theirs")
	}
	t.Parallel()
	http, https, ca, hosts := faultyWeb(t)
	agents := write(t, filepath.Join(t.TempDir(), "agents.yaml"), "- {name: GPTBot}\n- {name: Googlebot}\n"+
		"- {name: Googlebot-Image, tokens: [Googlebot-Image, Googlebot]}\n- {name: Nobody}\n")
	for name, args := range map[string][]string{
		"http":     {"--schemes", "http", "--connect-to", http, "--probe-misconfigured", "--front-page", "--warc-no-secrets"},
		"https":    {"--schemes", "https", "--connect-to", https, "--ca-file", ca},
		"fallback": {"--schemes", "https,http", "--connect-to", http, "--retries", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			evidence := filepath.Join(dir, name+".warc.gz")
			common := []string{"run", "--run", "r", "--profile", "google,rfc9309,google-2012", "--agents", agents,
				"--keep-bodies", "--progress", "none"}
			robocensus(t, 0, append(append(common, "--out", filepath.Join(dir, "out"), "--hosts", hosts, "--retries", "2",
				"--timeout", "4s", "--warc-out", evidence), args...)...)
			robocensus(t, 0, append(common, "--out", filepath.Join(dir, "again"), "--warc", evidence)...)
			wantTablesAgain(t, filepath.Join(dir, "out"), filepath.Join(dir, "again"))
			wantWholeArchive(t, evidence, filepath.Join(dir, "out"), true)
			deduplicated := filepath.Join(dir, "deduplicated.warc")
			deduplicate(t, evidence, deduplicated)
			robocensus(t, 0, append(common, "--out", filepath.Join(dir, "deduplicated"), "--warc", deduplicated)...)
			wantTablesAgain(t, filepath.Join(dir, "out"), filepath.Join(dir, "deduplicated"))
			for _, run := range []string{"out", "again", "deduplicated"} {
				if text, _ := robocensus(t, 0, "verify", "--out", filepath.Join(dir, run), "r"); !strings.HasSuffix(text,
					": whole\n") {
					t.Errorf("verify says %s", text)
				}
			}
		})
	}
}

// deduplicate writes an archive with revisit records in the place of answers whose payload
// has the digest of an earlier one, as jwarc dedupe does: under another ID, with the header
// alone, and without a word of the records that they were concurrent to.
func deduplicate(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	must(t, err)
	in := bytes.NewReader(content)
	var out bytes.Buffer
	original, revisits := make(map[string]string), 0
	z, err := gzip.NewReader(in)
	for ; err == nil; err = z.Reset(in) {
		z.Multistream(false)
		record, err := io.ReadAll(z)
		must(t, err)
		head, block, _ := strings.Cut(string(record), "\r\n\r\n")
		fields := make(map[string]string)
		for line := range strings.SplitSeq(head, "\r\n") {
			name, value, _ := strings.Cut(line, ": ")
			fields[name] = value
		}
		uri, date, digest := fields["WARC-Target-URI"], fields["WARC-Date"], fields["WARC-Payload-Digest"]
		of := original[digest]
		if digest != "" && of == "" {
			original[digest] = fmt.Sprintf("WARC-Refers-To: %s\r\nWARC-Refers-To-Target-URI: %s\r\nWARC-Refers-To-Date: %s\r\n",
				fields["WARC-Record-ID"], uri, date)
		}
		if of != "" {
			header, _, _ := strings.Cut(block, "\r\n\r\n")
			header += "\r\n\r\n"
			revisits++
			record = fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: revisit\r\n"+
				"WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\nWARC-Record-ID: <%s>\r\n"+
				"WARC-Target-URI: %s\r\nWARC-Date: %s\r\n%sWARC-Payload-Digest: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n"+
				"\r\n%s\r\n\r\n",
				fmt.Sprintf("urn:uuid:00000000-0000-4000-8000-%012x", revisits), uri, date, of, digest, fields["Content-Type"],
				len(header), header)
		}
		out.Write(record)
	}
	if err != io.EOF || revisits < 5 {
		t.Fatalf("%d records became revisit records: %v", revisits, err)
	}
	must(t, os.WriteFile(to, out.Bytes(), 0o666))
}

// without are the columns that a run of the evidence of another has otherwise: those of
// the input, and where the answer is from. The times are the same.
var without = map[string]string{
	"fetches":       "* EXCLUDE (seq, input, rank, source, warc_file, warc_offset, warc_length)",
	"answers":       "* EXCLUDE (seq, rank)",
	"sitemap_files": "* EXCLUDE (seq, rank)",
	"coverage":      "* EXCLUDE (seq, rank)",
	"urls":          "* EXCLUDE (seq)",
	"policies":      "* EXCLUDE (seq, rank)",
	"verdicts":      "* EXCLUDE (seq, rank)",
	"preferences":   "* EXCLUDE (seq, rank)",
	"templates":     "* EXCLUDE (seq, rank)",
	"agents":        "*",
	"bodies":        "*",
	"examples":      "* EXCLUDE rank",
	"summary":       "metric, agent, category, profile, key, sum(count)",
	"documents":     "* EXCLUDE (seq, rank)",
}

// wantTablesAgain checks that run r of both folders has the same rows in the tables, or in
// all, but for the columns that are left out, in the same order.
func wantTablesAgain(t *testing.T, want, got string, tables ...string) {
	t.Helper()
	db := bare(t)
	if len(tables) == 0 {
		folders, err := filepath.Glob(filepath.Join(want, "*", "run=r"))
		must(t, err)
		for _, folder := range folders {
			if table := filepath.Base(filepath.Dir(folder)); table != "changes" {
				tables = append(tables, table)
			}
		}
		if len(tables) < 14 {
			t.Errorf("tables %v", tables)
		}
	}
	for _, table := range tables {
		columns := without[table]
		if columns == "" {
			columns = "* EXCLUDE seq"
		}
		rows := func(dir string) string {
			text := fmt.Sprintf("SELECT %s FROM read_parquet('%s/%s/run=r/*.parquet', hive_partitioning = false)", columns, dir,
				table)
			if table == "summary" {
				text += " WHERE metric NOT IN ('source', 'captured') GROUP BY ALL"
			}
			return "(" + text + ")"
		}
		lost := one(t, db, fmt.Sprintf("SELECT count(*) FROM (%s EXCEPT ALL %s)", rows(want), rows(got)))
		made := one(t, db, fmt.Sprintf("SELECT count(*) FROM (%s EXCEPT ALL %s)", rows(got), rows(want)))
		if lost != "0" || made != "0" {
			_, a, _ := ask(db, rows(want)+" EXCEPT ALL "+rows(got)+" ORDER BY ALL LIMIT 3")
			_, b, _ := ask(db, rows(got)+" EXCEPT ALL "+rows(want)+" ORDER BY ALL LIMIT 3")
			t.Errorf("%s: %s rows are lost, such as\n%s\nand %s should not be there, such as\n%s", table, lost, a, made, b)
		}
	}
	order := func(dir string) string {
		return one(t, db,
			fmt.Sprintf("SELECT string_agg(origin, ' ' ORDER BY seq) FROM read_parquet('%s/fetches/run=r/*.parquet')", dir))
	}
	if a, b := order(want), order(got); a != b || a == "" {
		t.Errorf("the order of targets is\n%s\nwant\n%s", b, a)
	}
}

// wantWholeArchive reads the evidence of run r with a reader that shares nothing with
// ours: Python and its zlib. allAsked says that no memory has answered.
func wantWholeArchive(t *testing.T, evidence, dir string, allAsked bool) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("no python3 on this machine: not read by it")
		return
	}
	text, err := exec.Command(python, "testdata/read_warc.py", evidence).CombinedOutput()
	if err != nil {
		t.Fatalf("read_warc.py: %v\n%s", err, text)
	}
	db := bare(t)
	var counts [3]int
	if _, err := fmt.Sscan(string(text), &counts[0], &counts[1], &counts[2]); err != nil {
		t.Fatalf("read_warc.py says %s", text)
	}
	// Every hop that has a status was asked and answered, in one attempt at least.
	hosts := one(t, db, fmt.Sprintf("SELECT count(*) FROM read_parquet('%s/fetches/run=r/*.parquet')", dir))
	answered := one(t, db, fmt.Sprintf("SELECT sum(len(list_filter(hops, lambda h: h.status IS NOT NULL))) FROM "+
		"read_parquet('%s/fetches/run=r/*.parquet')", dir))
	if n, _ := strconv.Atoi(answered); fmt.Sprint(counts[0]) != hosts || allAsked && (counts[1] < n || counts[2] < n) {
		t.Errorf("%d hosts of %s, %d requests and %d answers of %s hops or more", counts[0], hosts, counts[1], counts[2],
			answered)
	}
}

// The evidence of the corpus of real files gives its tables again.
func TestEvidenceOfTheCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("5,000 hosts; TestEvidenceGivesTheTablesAgain is the short form")
	}
	files, err := corpusFiles()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the corpus of real files is not beside this repository")
	}
	must(t, err)
	t.Parallel()
	address, stop, err := serveFiles(corpusFile)
	must(t, err)
	t.Cleanup(stop)
	dir := t.TempDir()
	evidence, hosts := filepath.Join(dir, "corpus.warc.gz"), write(t, filepath.Join(dir, "hosts.txt"),
		strings.Join(slices.Sorted(maps.Keys(files)), "\n"))
	common := []string{"run", "--run", "r", "--keep-bodies", "--progress", "none"}
	robocensus(t, 0, append(common, "--out", filepath.Join(dir, "out"), "--hosts", hosts, "--schemes", "http",
		"--connect-to", address, "--warc-out", evidence)...)
	robocensus(t, 0, append(common, "--out", filepath.Join(dir, "again"), "--warc", evidence)...)
	wantTablesAgain(t, filepath.Join(dir, "out"), filepath.Join(dir, "again"))
	wantWholeArchive(t, evidence, filepath.Join(dir, "out"), true)
	if n := one(t, bare(t), "SELECT count(*) FROM '"+dir+"/again/fetches/run=r/*.parquet'"); n != fmt.Sprint(len(files)) {
		t.Errorf("%s rows of %d hosts", n, len(files))
	}
}
