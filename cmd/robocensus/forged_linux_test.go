package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/visible"
)

// peakOf names the file to which a process of command writes the most memory that the
// kernel saw it use (VmHWM). The figure of a wait, ru_maxrss, is no less than what this
// process used when it started the other.
const peakOf = "ROBOCENSUS_PEAK"

func init() {
	if name := os.Getenv(peakOf); name != "" && os.Getenv("ROBOCENSUS_AS_COMMAND") != "" {
		code := mainCode(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		status, err := os.ReadFile("/proc/self/status")
		if err == nil {
			err = os.WriteFile(name, status, 0o666)
		}
		if err != nil {
			panic(err)
		}
		os.Exit(code)
	}
}

// measured is how a command ended.
type measured struct {
	code   int
	said   string // on both outputs
	peakMB int
}

// measure runs the command in a folder, as a process of its own.
func measure(t *testing.T, dir string, args ...string) measured {
	t.Helper()
	peak := filepath.Join(t.TempDir(), "peak")
	c := command(args...)
	c.Dir = dir
	c.Env = append(slices.DeleteFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, "GOGC=") }), peakOf+"="+peak)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	must(t, c.Start())
	late := time.AfterFunc(2*time.Minute, func() { c.Process.Kill() })
	c.Wait()
	if !late.Stop() {
		t.Errorf("robocensus %s takes more than two minutes", strings.Join(args, " "))
	}
	m := measured{code: c.ProcessState.ExitCode(), said: out.String()}
	status, err := os.ReadFile(peak)
	if err != nil {
		t.Errorf("robocensus %s ends early:\n%.2000s", strings.Join(args, " "), m.said)
		return m
	}
	_, figure, _ := strings.Cut(string(status), "VmHWM:")
	figure, _, _ = strings.Cut(figure, " kB")
	kb, err := strconv.Atoi(strings.TrimSpace(figure))
	must(t, err)
	m.peakMB = kb >> 10
	return m
}

// forgedSet is a copy of a run, or of a data set, that a forgery changes.
type forgedSet struct {
	*testing.T
	dir      string
	run      string // "" for r
	is       string // run, shards, or set for a data set
	chance   *rand.Rand
	manifest *journal.Manifest
	records  map[int]*journal.Record // of a run
	touched  map[string]bool         // tables, and manifest
}

// aForgery changes a set. It returns false if nothing came of it.
type aForgery struct {
	name  string
	of    string // the sets that it is of, all for ""
	large bool   // takes more than a second
	// refused names the commands that must refuse what it makes.
	refused []string
	forge   func(f *forgedSet) bool
}

// open reads what a forgery may change.
func (f *forgedSet) open() {
	m, err := journal.ReadManifest(sinktest.Open(f, f.dir), cmp.Or(f.run, "r"))
	must(f.T, err)
	f.manifest, f.records, f.touched = m, make(map[int]*journal.Record), make(map[string]bool)
	for _, name := range m.Records {
		r := new(journal.Record)
		text, err := os.ReadFile(f.record(name.Segment))
		must(f.T, err)
		must(f.T, json.Unmarshal(text, r))
		f.records[name.Segment] = r
	}
}

func (f *forgedSet) record(segment int) string {
	return filepath.Join(f.dir, fmt.Sprintf("_runs/%s/segments/%010d.json", cmp.Or(f.run, "r"), segment))
}

// parts returns the parts of tables, of all for none.
func (f *forgedSet) parts(tables ...string) (out []*journal.Part) {
	for _, list := range [][]journal.Part{f.manifest.RunParts, f.manifest.Parts} {
		for i := range list {
			if len(tables) == 0 || slices.Contains(tables, list[i].Table) {
				out = append(out, &list[i])
			}
		}
	}
	return out
}

// one returns one part of tables.
func (f *forgedSet) one(tables ...string) *journal.Part {
	all := f.parts(tables...)
	return all[f.chance.IntN(len(all))]
}

func (f *forgedSet) content(p *journal.Part) []byte {
	content, err := os.ReadFile(filepath.Join(f.dir, p.Path))
	must(f.T, err)
	return content
}

// put writes other contents of a part, with digests that fit.
func (f *forgedSet) put(p *journal.Part, content []byte) {
	must(f.T, os.WriteFile(filepath.Join(f.dir, p.Path), content, 0o666))
	sum := sha256.Sum256(content)
	was := *p
	p.Digest = store.Digest{Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
	f.touched[p.Table] = true
	if r := f.records[p.Segment]; r != nil {
		for i := range r.Parts {
			if r.Parts[i].Path == was.Path {
				r.Parts[i] = *p
			}
		}
	}
}

// seal writes the records and the manifest, and makes the checksums anew.
func (f *forgedSet) seal() {
	write := func(name string, object any) string {
		content, digest := sinktest.Sealed(f.T, object)
		must(f.T, os.WriteFile(name, content, 0o666))
		return digest
	}
	for i, name := range f.manifest.Records {
		if r := f.records[name.Segment]; r != nil {
			f.manifest.Records[i].SHA256 = write(f.record(name.Segment), r)
		}
	}
	write(filepath.Join(f.dir, "_runs", cmp.Or(f.run, "r"), "manifest.json"), f.manifest)
	f.checksum()
}

// checksum makes the checksums of a data set anew.
func (f *forgedSet) checksum() {
	if f.is == "set" {
		checksummed(f.T, f.dir)
	}
}

func forgeable(t *testing.T) map[string]string {
	t.Helper()
	run, set := published(t)
	work := t.TempDir()
	for i := range 60 {
		name := filepath.Join(work, "hosts", fmt.Sprintf("h%d.example", i))
		must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must(t, os.WriteFile(name, fmt.Appendf(nil, "# Robots & Agent policy\nUser-agent: GPTBot\nDisallow: /\n\n"+
			"User-agent: *\nDisallow: /%d\nSitemap: /s\ncontent-signal: ai-train=no\n", i), 0o666))
	}
	agents := filepath.Join(work, "agents.yaml") // all of the registry would make ten times as many rows of the same kinds
	must(t, os.WriteFile(agents,
		[]byte("- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n"), 0o666))
	shards := filepath.Join(work, "out")
	call(t, 0, "plan", "--bodies", filepath.Join(work, "hosts"), "--shards", "2", "--out", shards, "--run", "r",
		"--keep-bodies", "--agents", agents)
	for _, shard := range []string{"0", "1"} {
		call(t, 0, "run", "--out", shards, "--run", "r", "--shard", shard, "--progress", "none")
	}
	return map[string]string{"run": run, "shards": shards, "set": set, "identities": askedAlso(t, work, agents),
		"sitemaps": listing(t, work, agents)}
}

// askedAlso makes a run with labels that asked its hosts under two further identities.
func askedAlso(t *testing.T, work, agents string) (dir string) {
	t.Helper()
	hosts, err := farm.LoadFS(os.DirFS(filepath.Join(work, "hosts")))
	must(t, err)
	server, err := farm.New(farm.Config{Hosts: hosts})
	must(t, err)
	t.Cleanup(func() { server.Close() })
	addr, err := server.ListenHTTP("127.0.0.1:0")
	must(t, err)
	list, identities := filepath.Join(work, "list.txt"), filepath.Join(work, "identities.yaml")
	must(t, os.WriteFile(list, []byte("h1.example\nh2.example\nh3.example\n"), 0o666))
	must(t, os.WriteFile(identities, []byte("- {name: again}\n- {name: gptbot, user_agent: GPTBot/1.3, agent: GPTBot}\n"),
		0o666))
	dir = filepath.Join(work, "identities")
	call(t, 0, "run", "--hosts", list, "--out", dir, "--run", "r", "--schemes", "http", "--connect-to", addr, "--also-as",
		identities, "--documents=license.xml", "--label", "tld", "--agents", agents, "--keep-bodies", "--progress", "none")
	return dir
}

// listing makes a run over hosts with sitemaps, which keeps the pages that they list.
func listing(t *testing.T, work, agents string) (dir string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
			return
		}
		fmt.Fprintf(w, "http://%s/1\nhttp://%[1]s/private/2\n", r.Host)
	}))
	t.Cleanup(server.Close)
	dir = filepath.Join(work, "sitemaps")
	call(t, 0, "run", "h1.example", "h2.example", "h3.example", "--out", dir, "--run", "r", "--schemes", "http",
		"--connect-to", strings.TrimPrefix(server.URL, "http://"),
		"--sitemaps", "2", "--keep-urls", "--agents", agents, "--keep-bodies", "--progress", "none")
	return dir
}

// commandsOver returns the commands over the set in the folder forged, by name.
func commandsOver(is string) map[string][]string {
	all := map[string][]string{
		"from-run": {"run", "--from-run", "forged/_runs/r", "--out", "again", "--run", "r", "--memory", "256M", "--progress",
			"none"},
		"report": {"report", "--out", "forged", "r", "--html", "page.html"},
		"verify": {"verify", "--out", "forged", "r"},
	}
	if is == "set" {
		delete(all, "verify")
		all["reproduce"] = []string{"reproduce", "forged"}
	}
	return all
}

// mostBeyond is the memory in MB that a command may take of a forged set beyond what it
// takes of the set that was forged.
const mostBeyond = 300

// Data sets of strangers, forged or damaged, whatever digests they have: each command over
// them says what is damaged (65), or is right. None takes the memory or the time that the
// set announces, or prints a byte of it that a terminal obeys.
func TestForgedSets_NoRace(t *testing.T) {
	t.Parallel()
	bases := forgeable(t)
	need, whole := make(map[string]int), make(map[string]map[string]string)
	for is, dir := range bases {
		work := t.TempDir()
		must(t, os.CopyFS(filepath.Join(work, "forged"), os.DirFS(dir)))
		for name, args := range commandsOver(is) {
			m := measure(t, work, args...)
			if m.code != cli.ExitOK {
				t.Fatalf("%q ends with %d:\n%s", args, m.code, m.said)
			}
			need[is+" "+name] = m.peakMB
		}
		whole[is] = filesOf(t, work)
	}
	t.Logf("MB of the whole sets: %v", need)
	for _, table := range schema.TableNames {
		if !slices.ContainsFunc(forgeries, func(k aForgery) bool { return k.name == table+": a cell" }) {
			t.Errorf("no forgery changes a cell of %s", table)
		}
	}
	count := 300
	kinds := forgeries
	if testing.Short() {
		kinds = slices.DeleteFunc(slices.Clone(forgeries), func(k aForgery) bool { return k.large })
		count = len(kinds)
	}
	var mu sync.Mutex
	ended, most := make(map[string]int), make(map[string]int)
	for n := range count {
		kind := kinds[n%len(kinds)]
		t.Run(fmt.Sprintf("%d %s", n, kind.name), func(t *testing.T) {
			t.Parallel()
			chance := rand.New(rand.NewPCG(uint64(n), 31))
			is := kind.of
			if is == "" {
				is = []string{"run", "shards", "set"}[chance.IntN(3)]
			}
			work := t.TempDir()
			f := &forgedSet{T: t, dir: filepath.Join(work, "forged"), is: is, chance: chance}
			must(t, os.CopyFS(f.dir, os.DirFS(bases[is])))
			f.open()
			if !kind.forge(f) {
				t.Skip("it changes nothing")
			}
			commands := commandsOver(is)
			if testing.Short() { // one of those that must refuse it, or of all
				names := slices.Sorted(maps.Keys(commands))
				if len(kind.refused) > 0 {
					names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(kind.refused, name) })
				}
				one := names[n%len(names)]
				maps.DeleteFunc(commands, func(name string, _ []string) bool { return name != one })
			}
			for name, args := range commands {
				m := measure(t, work, args...)
				mu.Lock()
				ended[fmt.Sprintf("%s %d", name, m.code)]++
				most[name] = max(most[name], m.peakMB-need[is+" "+name])
				mu.Unlock()
				f.judge(name, m, need[is+" "+name], slices.Contains(kind.refused, name), work, whole[is])
			}
		})
	}
	t.Cleanup(func() { t.Logf("%d sets: %v; MB beyond the need of the whole set: %v", count, ended, most) })
}

// judge checks how a command over a forged set ended.
func (f *forgedSet) judge(name string, m measured, need int, refused bool, work string, whole map[string]string) {
	f.Helper()
	bad := func(format string, args ...any) {
		f.Helper()
		f.Errorf("%s of a %s, touched %v: %s\n%.1000s", name, f.is, slices.Sorted(maps.Keys(f.touched)),
			fmt.Sprintf(format, args...), visible.Text(m.said))
	}
	switch {
	case m.code == cli.ExitInput, name == "reproduce" && m.code == 1:
	case m.code != cli.ExitOK:
		bad("ends with %d", m.code)
	case refused:
		bad("ends with 0")
	}
	if m.peakMB > need+mostBeyond {
		bad("takes %d MB, and %d of the whole set", m.peakMB, need)
	}
	if at := obeyed(m.said); at >= 0 {
		bad("prints %q", m.said[max(0, at-20):min(len(m.said), at+20)])
	}
	if strings.Contains(m.said, "goroutine ") {
		bad("panics")
	}
	if m.code != cli.ExitOK {
		return
	}
	is := func(tables ...string) bool {
		return slices.ContainsFunc(tables, func(table string) bool { return f.touched[table] })
	}
	switch name {
	case "report":
		page, err := os.ReadFile(filepath.Join(work, "page.html"))
		must(f.T, err)
		if at := obeyed(string(page)); at >= 0 {
			bad("writes %q", page[max(0, at-20):min(len(page), at+20)])
		}
		if !is("summary", "examples", "manifest", "fetches", "policies") && string(page) != whole["page.html"] { // sites
			bad("draws another page")
		}
	case "from-run":
		if problems := verified(f.T, filepath.Join(work, "again"), "r"); problems != "" {
			bad("writes what verify refuses: %s", problems)
		}
		if !is("fetches", "bodies", "answers", "sitemap_files", "urls", "verdicts", "manifest") &&
			!maps.Equal(tablesOf(filesOf(f.T, work)), tablesOf(whole)) {
			bad("writes other tables")
		}
	case "reproduce":
		if len(f.touched) > 0 && !is("fetches", "bodies", "answers", "manifest") {
			bad("finds nothing")
		}
	}
}

// obeyed returns where a text has a character that a terminal may obey, or -1.
func obeyed(text string) int {
	return strings.IndexFunc(text, func(c rune) bool {
		return c != '\n' && c != '\t' && unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)
	})
}

// tablesOf returns the parts that --from-run writes.
func tablesOf(files map[string]string) map[string]string {
	out := make(map[string]string)
	for name, text := range files {
		if strings.HasPrefix(name, "again/") && strings.HasSuffix(name, ".parquet") {
			out[name] = text
		}
	}
	return out
}
