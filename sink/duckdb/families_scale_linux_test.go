package main

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var familyHosts = flag.Int("families", 1_000_000, "how many hosts TestFamiliesAreBounded has")

// The view families takes no more memory than DuckDB may have, however many hosts there are: here
// 400 MB (and what DuckDB does not count) for a million hosts with three groups each, two of which
// no other host has. make soak asks it; -families 10000000 takes minutes.
func TestFamiliesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: millions of rows")
	}
	const families, hostsOfDomain = 1000, 2
	hosts := *familyHosts / (families * hostsOfDomain) * families * hostsOfDomain
	dir := t.TempDir()
	bodies, out := filepath.Join(dir, "bodies"), filepath.Join(dir, "out")
	must(t, os.Mkdir(bodies, 0o777))
	write(t, filepath.Join(bodies, "a.example"), "User-agent: *\nDisallow: /x\n")
	robocensus(t, 0, "run", "--bodies", bodies, "--out", out, "--run", "r", "--as-of", "2026-01-01", "--progress", "none")
	db, err := sql.Open("duckdb", "")
	must(t, err)
	put := func(table, columns, from string) {
		part := filepath.Join(out, table, "run=r", "part-0000000000.parquet")
		_, err := db.Exec(fmt.Sprintf("COPY (SELECT * FROM (SELECT * FROM read_parquet('%s') LIMIT 0) UNION ALL BY NAME "+
			"SELECT %s FROM %s) TO '%s.new' (FORMAT parquet)", part, columns, from, part))
		must(t, err)
		must(t, os.Rename(part+".new", part))
	}
	_, err = db.Exec("SET preserve_insertion_order = true; SET memory_limit = '2GB'")
	must(t, err)
	put("fetches",
		fmt.Sprintf("i AS seq, 'h' || i || '.example' AS host, i + 1 AS rank, 'd' || i // %d || '.example' "+
			"AS registered_domain", hostsOfDomain), fmt.Sprintf("range(%d) t(i)", hosts))
	// The first group of a host is that of a family; the others are its own.
	put("groups",
		fmt.Sprintf(
			`i AS seq, 'h' || i || '.example' AS host, k::INTEGER AS group_index, (4 * k + 1)::INTEGER AS line, ['*'] AS tokens, 0::INTEGER AS allow_rules, 3::INTEGER AS disallow_rules,
		md5(CASE k WHEN 0 THEN 'family ' || i // %d %% %d ELSE i || ' ' || k END) AS digest`, hostsOfDomain, families),
		fmt.Sprintf("range(%d) t(i), range(3) u(k)", hosts))
	must(t, db.Close())
	limit := 400 // MB
	if hosts > 1_000_000 {
		limit = 2000
	}
	views, err := os.ReadFile(filepath.Join(out, "views.sql"))
	must(t, err)
	write(t, filepath.Join(out, "views.sql"),
		fmt.Sprintf("SET memory_limit = '%dMB'; SET threads = 2; SET temp_directory = '%s';\n%s", limit,
			filepath.Join(dir, "spill"), views))
	ask := exec.Command(os.Args[0], out, "SELECT count(*), min(domains), max(domains), min(hosts), max(hosts), "+
		"count(DISTINCT example), max(line), max(first_seen)::DATE FROM families")
	ask.Env = append(os.Environ(), "AS_DUCKDB=1")
	began := time.Now()
	text, err := ask.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	usage := ask.ProcessState.SysUsage().(*syscall.Rusage)
	peak := int(usage.Maxrss >> 10)
	t.Logf("%d hosts, %d MB for DuckDB: peak %d MB, %v, CPU %v", hosts, limit, peak, time.Since(began).Round(time.Second),
		ask.ProcessState.UserTime()+ask.ProcessState.SystemTime())
	if peak > limit+500 { // beside what it counts
		t.Errorf("DuckDB may have %d MB and takes %d", limit, peak)
	}
	domains, of := hosts/hostsOfDomain/families, hosts/families
	want := fmt.Sprintf("%d %d %d %d %d %d 1 2026-01-01", families, domains, domains, of, of, families)
	if got := strings.Fields(strings.SplitN(string(text), "\n", 2)[1]); strings.Join(got[:min(len(got), 8)], " ") != want {
		t.Errorf("families: %s, want %s", got, want)
	}
}
