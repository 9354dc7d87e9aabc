package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// A data set re-evaluated is the same, from its own bodies, from a folder and from a
// tar; a byte that changed is found, in a file and in a body.
func TestReproduce_NoRace(t *testing.T) {
	t.Parallel()
	dir, folder := published(t)
	text := call(t, 0, "reproduce", folder)
	// without answers, documents, labels and sitemaps
	if n := strings.Count(text, ": the same, "); n != len(schema.TableNames)-7 ||
		!strings.HasSuffix(text, "the same\n") {
		t.Errorf("%d tables are the same:\n%s", n, text)
	}

	if text := call(t, 0, "reproduce", folder, "--sample", "0.2"); !strings.Contains(text, " rows not looked at\n") ||
		!regexp.MustCompile(
			`\nthe same, as far as compared \(\d+ hosts re-evaluated, \d\d\d? not looked at; not compared: summary, examples, bodies\)\n$`).MatchString(text) {
		t.Errorf("a sample:\n%s", text)
	}
	for _, share := range []string{"0", "1.5", "NaN"} {
		call(t, 64, "reproduce", folder, "--sample", share)
	}
	distrusted(t, folder)
	forged(t, folder)

	extra := filepath.Join(folder, "NOTES.txt")
	must(t, os.WriteFile(extra, nil, 0o666))
	if text := call(t, 65, "reproduce", folder); !strings.HasSuffix(text,
		"NOTES.txt is not of the data set: checksums.sha256 has no checksum of it; remove it\n") {
		t.Errorf("a file too many: %s", text)
	}
	must(t, os.Remove(extra))

	part := filepath.Join(folder, "bodies", "run=r", "part-0000000000.parquet")
	content, err := os.ReadFile(part)
	must(t, err)
	content[len(content)/2] ^= 1
	must(t, os.WriteFile(part, content, 0o666))
	if text := call(t, 65, "reproduce", folder); !strings.Contains(text, "part-0000000000.parquet is damaged") {
		t.Errorf("a changed byte: %s", text)
	}
	if text := call(t, 65, "export", "--out", folder, "r", "bodies"); !strings.Contains(text,
		"part-0000000000.parquet (see robocensus reproduce): ") {
		t.Errorf("export of a changed byte: %s", text)
	}
	must(t, os.Remove(part))
	if text := call(t, 65, "reproduce", folder); !strings.HasSuffix(text,
		"bodies/run=r/part-0000000000.parquet is missing, and checksums.sha256 names it\n") {
		t.Errorf("a part that is missing: %s", text)
	}
	call(t, 65, "reproduce", dir)

	unjudged := filepath.Join(t.TempDir(), "unjudged")
	publishTo(t, dir, unjudged, "--without", "verdicts")
	if text := call(t, 0, "reproduce", unjudged); !strings.Contains(text, "run r: summary: the same") ||
		!strings.Contains(text, "not compared: verdict") {
		t.Errorf("without verdicts:\n%s", text)
	}

	bare := filepath.Join(t.TempDir(), "bare")
	publishTo(t, dir, bare, "--without", strings.Join(harmless(), ","))
	if text := call(t, 0, "reproduce", bare); !regexp.MustCompile(
		`\nthe same, as far as compared \(not compared: summary \([a-z_, ]*, turned_away\), .*\)\n$`).MatchString(text) {
		t.Errorf("without what decides nothing:\n%s", text)
	}

	less := filepath.Join(t.TempDir(), "less")
	publishTo(t, dir, less, "--without", "bodies,fetches.remote_address")
	call(t, 64, "reproduce", less)
	bodies, archive, unique := dumpBodies(t, dir)
	for _, given := range []string{bodies, archive} {
		text := call(t, 0, "reproduce", less, "--bodies", given)
		if !strings.Contains(text, "run r: summary: the same") || !strings.Contains(text, "not compared: address_block") {
			t.Errorf("--bodies %s:\n%s", given, text)
		}
	}
	body, err := os.ReadFile(unique)
	must(t, err)
	body[bytes.Index(body, []byte("llow: /"))] = 'x'
	must(t, os.WriteFile(unique, body, 0o666))
	if text := call(t, 1, "reproduce", less, "--bodies", bodies); !strings.Contains(text, "run r: fetches: different") ||
		!strings.Contains(text, "run r: rules: different") {
		t.Errorf("a changed body:\n%s", text)
	}
	must(t, os.Remove(unique))
	call(t, 65, "reproduce", less, "--bodies", bodies)
	must(t, os.Mkdir(unique, 0o777)) // a folder named by the host
	must(t, os.WriteFile(filepath.Join(unique, "robots.txt"), body, 0o666))
	call(t, 1, "reproduce", less, "--bodies", bodies)
	if text := call(t, 65, "reproduce", less, "--bodies", filepath.Join(bodies, "nowhere")); strings.Contains(text,
		"all files match") {
		t.Errorf("bodies that do not exist are missed after all files were read:\n%s", text)
	}

	hashed := filepath.Join(t.TempDir(), "hashed")
	publishTo(t, dir, hashed, "--hash-hosts")
	call(t, 64, "reproduce", hashed)
	appendTo(t, hashed, "CITATION.cff", "doi: 10.5281/zenodo.1\n")
	if text := call(t, 1, "reproduce", hashed); !strings.Contains(text, "CITATION.cff: different: line ") ||
		!strings.Contains(text, "not re-evaluated: the hosts of ") || !strings.HasSuffix(text, "files, 0 tables\n") {
		t.Errorf("another citation of hashes:\n%s", text)
	}
}

// A body above the size limit of the run is found by the digest of what the run read of
// it, under whatever name: the profiles of agents' parsers, which the run records too, may
// read more. A run that re-evaluates one has read what that one kept.
func TestReproduceBodiesAboveTheLimit_NoRace(t *testing.T) {
	t.Parallel()
	out, bodies, renamed, agents := t.TempDir(), t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "agents.yaml")
	must(t, os.WriteFile(agents, []byte("- {name: A, tokens: [a]}\n- {name: Y, tokens: [y], reads_as: protego}\n"), 0o666))
	for i, size := range []int{20, 600_000, 3_000_000} {
		line := fmt.Sprintf("Disallow: /%d\n", i)
		body := []byte("User-agent: *\n" + strings.Repeat(line, size/len(line)))
		must(t, os.WriteFile(filepath.Join(bodies, fmt.Sprintf("h%d.example", i)), body, 0o666))
		must(t, os.WriteFile(filepath.Join(renamed, fmt.Sprintf("file %d", i)), body, 0o666))
	}
	args := []string{"run", "--out", out, "--agents", agents, "--progress", "none"}
	call(t, 0, append(args, "--run", "r", "--bodies", bodies)...)
	folder := filepath.Join(t.TempDir(), "set")
	publishTo(t, out, folder)
	for _, given := range []string{bodies, renamed} {
		if text := call(t, 0, "reproduce", folder, "--bodies", given); !strings.HasSuffix(text, "\nthe same\n") {
			t.Errorf("%s", text)
		}
	}

	call(t, 0, append(args, "--run", "more", "--bodies", bodies, "--keep-bodies", "--profile", "protego")...)
	call(t, 0, append(args, "--run", "r", "--from-run", "more", "--force-new")...)
	again := filepath.Join(t.TempDir(), "set")
	publishTo(t, out, again)
	if text := call(t, 0, "reproduce", again, "--bodies", bodies); !strings.HasSuffix(text, "\nthe same\n") {
		t.Errorf("re-evaluated: %s", text)
	}
}

// forged checks data sets whose files are others than publish writes, with checksums made
// anew. The rows are judged all the same.
func forged(t *testing.T, folder string) {
	for name, text := range map[string]string{"views.sql": "COPY fetches TO 'x.csv';\n",
		"DATASHEET.md": "| `fetches` | 999 |\n", "queries/more.sql": "INSTALL x;\n"} {
		copied := filepath.Join(t.TempDir(), "copied")
		must(t, os.CopyFS(copied, os.DirFS(folder)))
		appendTo(t, copied, name, text)
		said := call(t, 1, "reproduce", copied)
		if !strings.Contains(said, "\n"+name+": different: ") || !strings.Contains(said, "run r: verdicts: the same, ") ||
			!regexp.MustCompile(`\ndifferent: \d files?, 0 tables\n$`).MatchString(said) {
			t.Errorf("%s:\n%s", name, said)
		}
	}
}

// appendTo appends text to a file of a data set, and makes its checksums anew.
func appendTo(t *testing.T, folder, name, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(folder, filepath.FromSlash(name)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, err)
	must(t, f.Close())
	checksummed(t, folder)
}

// checksummed makes the checksums of a data set anew.
func checksummed(t *testing.T, folder string) {
	t.Helper()
	var sums strings.Builder
	files := filesOf(t, folder)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name != "checksums.sha256" {
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(files[name])), name)
		}
	}
	must(t, os.WriteFile(filepath.Join(folder, "checksums.sha256"), []byte(sums.String()), 0o666))
}

// dumpBodies writes the bodies of run r as files named by their hosts, to a folder and
// a tar, and returns the name of one that no other host has, with a rule.
func dumpBodies(t *testing.T, dir string) (folder, archive, unique string) {
	t.Helper()
	texts, hosts := make(map[string][]byte), make(map[string]int)
	all, err := parquet.ReadFile[schema.Body](filepath.Join(dir, "bodies", "run=r", "part-0000000000.parquet"))
	must(t, err)
	for _, b := range all {
		texts[b.ContentDigest] = b.Body
	}
	rows, err := parquet.ReadFile[schema.Fetch](filepath.Join(dir, "fetches", "run=r", "part-0000000000.parquet"))
	must(t, err)
	for _, row := range rows {
		if row.ContentDigest != nil {
			hosts[*row.ContentDigest]++
		}
	}
	folder, archive = t.TempDir(), filepath.Join(t.TempDir(), "bodies.tar")
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, row := range rows {
		if row.ContentDigest == nil {
			continue
		}
		body := texts[*row.ContentDigest]
		name := fmt.Sprintf("%s_%d", row.Host, row.Port)
		must(t, os.WriteFile(filepath.Join(folder, name), body, 0o666))
		must(t, w.WriteHeader(&tar.Header{Name: "all/" + name, Mode: 0o666, Size: int64(len(body)), Typeflag: tar.TypeReg}))
		_, err := w.Write(body)
		must(t, err)
		if hosts[*row.ContentDigest] == 1 && row.Outcome == "conditional_allow" && row.Rules > 0 &&
			bytes.Contains(body, []byte("llow: /")) {
			unique = filepath.Join(folder, name)
		}
	}
	must(t, w.Close())
	must(t, os.WriteFile(archive, packed.Bytes(), 0o666))
	return folder, archive, unique
}

// distrusted checks data sets that are whole by their own checksums, and are not what
// they say.
func distrusted(t *testing.T, folder string) {
	t.Helper()
	policies := filepath.Join("policies", "run=r", "part-0000000000.parquet")
	for name, c := range map[string]struct {
		change func(t *testing.T, copied string, provenance map[string]any, run map[string]any)
		want   string
	}{
		"a run is not named": {func(t *testing.T, _ string, p, _ map[string]any) { p["runs"] = []any{} },
			"_runs/r/manifest.json is not of the data set: neither provenance.json nor a manifest names it"},
		"a run is null":   {func(t *testing.T, _ string, p, _ map[string]any) { p["runs"] = []any{nil} }, "a run is null"},
		"a run is a path": {func(t *testing.T, _ string, _, run map[string]any) { run["run"] = "../../r" }, "run ID"},
		"agents elsewhere": {func(t *testing.T, _ string, _, run map[string]any) {
			run["agents"] = "../../../../../etc/passwd"
		}, "is not _runs/r/agents.yaml"},
		"samples elsewhere": {func(t *testing.T, _ string, _, run map[string]any) {
			run["url_samples"] = "_runs/r/manifest.json"
		}, "is not _runs/r/urls.txt"},
		"a column that is said to be left out": {func(t *testing.T, _ string, p, _ map[string]any) {
			p["without"] = []any{"policies.class"}
		},
			"provenance.json is damaged: the columns that it says are left out"},
		"an unknown field of a profile": {func(t *testing.T, _ string, _, run map[string]any) {
			run["profile_fields"].(map[string]any)["google"].(map[string]any)["unheard_of"] = true
		}, "unheard_of"},
		"another part": {func(t *testing.T, copied string, _, _ map[string]any) {
			content, err := os.ReadFile(filepath.Join(copied, policies))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(copied, filepath.Dir(policies), "part-0000000009.parquet"), content, 0o666))
		}, "part-0000000009.parquet is not of the data set: neither"},
		"a part of endless rows": {func(t *testing.T, copied string, _, _ map[string]any) {
			boast(t, copied)
		}, "fetches/run=r/part-0000000000.parquet is damaged: "},
		"two bodies, swapped": {func(t *testing.T, copied string, _, _ map[string]any) { swapBodies(t, copied) },
			"the table bodies has a body with the digest "},
		"a damaged page of verdicts": {func(t *testing.T, copied string, _, _ map[string]any) {
			garble(t, copied, "verdicts")
		},
			"verdicts/run=r/part-0000000000.parquet is damaged: damaged Parquet: "},
		"a damaged page of bodies": {func(t *testing.T, copied string, _, _ map[string]any) { garble(t, copied, "bodies") },
			"bodies/run=r/part-0000000000.parquet is damaged: damaged Parquet: "},
	} {
		t.Run(name, func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "copied")
			must(t, os.CopyFS(copied, os.DirFS(folder)))
			text, err := os.ReadFile(filepath.Join(copied, "provenance.json"))
			must(t, err)
			var p map[string]any
			must(t, json.Unmarshal(text, &p))
			c.change(t, copied, p, p["runs"].([]any)[0].(map[string]any))
			text, err = json.Marshal(p)
			must(t, err)
			must(t, os.WriteFile(filepath.Join(copied, "provenance.json"), text, 0o666))
			checksummed(t, copied)
			if text := call(t, 65, "reproduce", copied); !strings.Contains(text, c.want) {
				t.Errorf("want %q:\n%s", c.want, text)
			}
		})
	}
}

// swapBodies exchanges two bodies, but not their digests.
func swapBodies(t *testing.T, folder string) {
	t.Helper()
	tampered(t, folder, "bodies", changedRows(t, func(all []schema.Body) {
		all[0].Body, all[1].Body = all[1].Body, all[0].Body
	}))
}

// boast makes the footer of a part of fetches say that its row group has 2^36 rows.
func boast(t *testing.T, folder string) {
	t.Helper()
	tampered(t, folder, "fetches", func(p *journal.Part, content []byte) []byte {
		end := len(content) - 8
		begin := end - int(binary.LittleEndian.Uint32(content[end:]))
		rows := func(n int64) []byte { return binary.AppendVarint([]byte{0x16}, n) } // field 3, of the compact protocol
		at := begin + bytes.LastIndex(content[begin:end], rows(p.Rows))
		footer := slices.Concat(content[begin:at], rows(1<<36), content[at+len(rows(p.Rows)):end])
		return slices.Concat(content[:begin], footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))),
			[]byte("PAR1"))
	})
}

// garble overwrites the first pages of a part.
func garble(t *testing.T, folder, table string) {
	t.Helper()
	tampered(t, folder, table, func(_ *journal.Part, content []byte) []byte {
		for i := 4; i < len(content)/4; i++ {
			content[i] = byte(i)
		}
		return content
	})
}

// tampered changes the parts of a table and their digests.
func tampered(t *testing.T, folder, table string, change func(p *journal.Part, content []byte) []byte) {
	t.Helper()
	resealed(t, folder, func(m *journal.Manifest) {
		for i := range m.Parts {
			p := &m.Parts[i]
			if p.Table != table {
				continue
			}
			content, err := os.ReadFile(filepath.Join(folder, p.Path))
			must(t, err)
			content = change(p, content)
			must(t, os.WriteFile(filepath.Join(folder, p.Path), content, 0o666))
			p.Bytes, p.SHA256 = int64(len(content)), fmt.Sprintf("%x", sha256.Sum256(content))
		}
	})
}

// resealed changes the manifest of run r.
func resealed(t *testing.T, folder string, change func(*journal.Manifest)) {
	t.Helper()
	m, err := journal.ReadManifest(sinktest.Open(t, folder), "r")
	must(t, err)
	change(m)
	must(t, os.Remove(filepath.Join(folder, "_runs", "r", "manifest.json")))
	s, err := store.Open(t.Context(), folder)
	must(t, err)
	defer s.Close()
	must(t, journal.PutManifest(s, m))
}
