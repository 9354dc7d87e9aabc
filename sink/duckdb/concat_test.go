package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// DuckDB reads of a file that is made of parts what it reads of the parts, by Bloom
// filters too, and sees all their row groups.
func TestJoinedParts(t *testing.T) {
	if testing.Short() {
		t.Skip("package sink reads joined files with two other readers; DuckDB reads those of runs in every test")
	}
	t.Parallel()
	dir := t.TempDir()
	files := exec.Command("go", "test", "-count=1", "-run", "^TestConcatenatedRows_NoRace$", "./sink", "-args", "-keep",
		dir)
	files.Dir = "../.."
	files.Env = append(files.Environ(), "CGO_ENABLED=0")
	if text, err := files.CombinedOutput(); err != nil {
		t.Fatalf("make the files: %v\n%s", err, text)
	}
	joined, err := filepath.Glob(filepath.Join(dir, "*[a-z].parquet"))
	if err != nil || len(joined) != 21 {
		t.Fatalf("%d files, %v", len(joined), err)
	}
	db := bare(t)
	for _, file := range joined {
		table := strings.TrimSuffix(filepath.Base(file), ".parquet")
		fill := strings.NewReplacer("JOINED", "'"+file+"'", "PARTS", "'"+strings.TrimSuffix(file, ".parquet")+
			"-*.parquet'").Replace
		same := func(query string) {
			t.Helper()
			want, got := one(t, db, fill(strings.ReplaceAll(query, "FILES", "PARTS"))),
				one(t, db, fill(strings.ReplaceAll(query, "FILES", "JOINED")))
			if got != want {
				t.Errorf("%s: %s\n%s, want %s", table, query, got, want)
			}
		}
		same("SELECT count(*) FROM read_parquet(FILES)")
		same("SELECT count(DISTINCT (file_name, row_group_id)) FROM parquet_metadata(FILES)")
		same("SELECT sum(num_rows) FROM parquet_file_metadata(FILES)")
		same("SELECT sum(hash(r)::HUGEINT) FROM read_parquet(FILES) AS r")
		if table != "verdicts" && table != "fetches" {
			continue
		}
		for _, host := range []string{"h0.s0.example", "h246.s0.example", "h7.s1.example", "h2.s3.example",
			"absent.example"} {
			same("SELECT count(*) FROM read_parquet(FILES) WHERE host = '" + host + "'")
			same("SELECT count(*) FROM parquet_bloom_probe(FILES, 'host', '" + host + "') WHERE bloom_filter_excludes")
		}
		same("SELECT sum(seq) FROM read_parquet(FILES) WHERE seq BETWEEN 200 AND 1010")
	}
}
