package pipeline

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

// counter is a counter without what groups its hosts.
type counter struct{ Metric, Agent, Category, Profile, Key string }

// countersOf returns the counters of a run by value of a label, as the table has them.
func countersOf(t *testing.T, c Config) map[summary.LabelValue]map[counter]int64 {
	t.Helper()
	in := sinktest.Open(t, c.Dir)
	m, err := journal.ReadManifest(in, c.Run)
	must(t, err)
	out := make(map[summary.LabelValue]map[counter]int64)
	must(t, rowio.Of(t.Context(), in, m.PartsOf("label_counts"), rowio.Selection{}, func(rows []schema.LabelCount) error {
		for _, r := range rows {
			v := summary.LabelValue{Label: strings.Clone(r.Label), Value: strings.Clone(r.Value)}
			if out[v] == nil {
				out[v] = make(map[counter]int64)
			}
			k := counter{r.Metric, schema.OrZero(r.Agent), schema.OrZero(r.Category), schema.OrZero(r.Profile),
				schema.OrZero(r.Key)}
			if _, twice := out[v][k]; twice {
				t.Fatalf("%v %v has two rows", v, k)
			}
			out[v][k] = r.Count
		}
		return nil
	}))
	return out
}

// wholeOf returns the counters of a run over all bands of rank.
func wholeOf(t *testing.T, c Config) map[counter]int64 {
	t.Helper()
	in := sinktest.Open(t, c.Dir)
	m, err := journal.ReadManifest(in, c.Run)
	must(t, err)
	counts, err := summary.Read(t.Context(), in, m)
	must(t, err)
	out := make(map[counter]int64)
	for _, x := range counts.List() {
		out[counter{x.Metric, x.Agent, x.Category, x.Profile, x.Key}] += x.N
	}
	return out
}

// labelled is a population of hosts with labels, and an archive of their answers.
type labelled struct {
	hosts         []string
	sector, owner []string // "" for none
	shut          []bool   // GPTBot out
	archive, list string   // paths
}

func newLabelled(t *testing.T, n, owners int) *labelled {
	random := rand.New(rand.NewPCG(54, uint64(n)))
	p := new(labelled)
	var archive, list strings.Builder
	list.WriteString("rank,Website,Sector,Owner\n")
	bodies := []string{
		"User-agent: *\nDisallow: /private\n", "User-agent: GPTBot\nDisallow: /\n",
		"Sitemap: https://x.example/a.xml\n# nothing\n",
		"User-agent: *\nCrawl-delay: 10\nDisallow: /\nUser-agent: Googlebot\nAllow: /\nContent-Signal: ai-train=no\n",
		"<!doctype html><html></html>",
		"User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\nUser-agent: *\nDisalow: /x\n",
	}
	shuts := []bool{false, true, false, true, false, true}
	tlds := []string{"com", "de", "example", "co.uk", "org", "nosuchtld"}
	sectors := []string{"news", "shop", "gov", "", "Größe"}
	for i := range n {
		host := fmt.Sprintf("h%d.%s", i, tlds[random.IntN(len(tlds))])
		sector, owner, k := sectors[random.IntN(len(sectors))], fmt.Sprintf("o%d", random.IntN(owners)),
			random.IntN(len(bodies)+3)
		shut := false
		header := []string{"", "CF-Ray: 1-FRA\r\n", "X-Served-By: cache-fra-1\r\n", "Via: 1.1 varnish\r\n"}[random.IntN(4)]
		switch {
		case k < len(bodies):
			archive.WriteString(warcResponse(host, "HTTP/1.1 200 OK\r\n"+header+"\r\n"+bodies[k]))
			shut = shuts[k]
		case k == len(bodies):
			archive.WriteString(warcResponse(host, "HTTP/1.1 503 Unavailable\r\n"+header+"\r\n"))
		default:
			archive.WriteString(warcResponse(host, "HTTP/1.1 404 Not Found\r\n"+header+"\r\n"))
		}
		fmt.Fprintf(&list, "%d,%s,%s,%s\n", 1+random.IntN(1_000_000), host, sector, owner)
		p.hosts, p.sector, p.owner, p.shut = append(p.hosts, host), append(p.sector, sector), append(p.owner, owner),
			append(p.shut, shut)
	}
	p.archive, p.list = writeFile(t, "a.warc", []byte(archive.String())), writeFile(t, "list.csv", []byte(list.String()))
	return p
}

func (p *labelled) config(t *testing.T) Config {
	c := storedConfig(t, source.Config{Schemes: []string{"http"}, WARC: []string{p.archive}, Hosts: p.list,
		Label: []string{"Sector", "owner", "tld", "cdn"}})
	c.Evaluate.OwnLabels = c.Source.OwnLabels()
	c.Fetch.CDNs = fetch.CDNs{{Name: "cloudflare", Header: "cf-ray"}, {Name: "fastly", Header: "x-served-by",
		Value: "cache-"}}
	return c
}

// Each counter of a value is that of a run over the hosts that have it, and the sums over
// summary are those of a run without labels.
func TestCountersByLabel_NoRace(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = 400
	}
	p := newLabelled(t, n, 12)
	c := p.config(t)
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	got := countersOf(t, c)

	plain := c
	plain.Dir, plain.Source.Label, plain.Evaluate.OwnLabels = filepath.Join(t.TempDir(), "out"), nil, nil
	plain.Tables = slices.DeleteFunc(slices.Clone(plain.Tables), func(t string) bool {
		return t == "labels" || t == "label_counts"
	})
	_, err = Run(t.Context(), plain, new(Progress))
	must(t, err)
	for _, table := range plain.Tables {
		part := filepath.Join(table, "run="+c.Run, "part-0000000000.parquet")
		a, errA := os.ReadFile(filepath.Join(c.Dir, part))
		b, errB := os.ReadFile(filepath.Join(plain.Dir, part))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s has other bytes with labels, %d instead of %d: %v, %v", table, len(a), len(b), errA, errB)
		}
	}

	// A computation of our own, from what was generated.
	own := make(map[summary.LabelValue][2]int64) // hosts, and those that shut GPTBot out
	add := func(label, value string, shut bool) {
		if value == "" {
			return
		}
		of := own[summary.LabelValue{Label: label, Value: value}]
		if of[0]++; shut {
			of[1]++
		}
		own[summary.LabelValue{Label: label, Value: value}] = of
	}
	for i, host := range p.hosts {
		add("Sector", p.sector[i], p.shut[i])
		add("Owner", p.owner[i], p.shut[i])
		tld := host[strings.LastIndexByte(host, '.')+1:]
		if tld == "nosuchtld" {
			tld = summary.Other
		}
		add("tld", tld, p.shut[i])
	}
	for v, want := range own {
		shut := got[v][counter{"policy", "GPTBot", "other", "google", "disallow_all"}]
		if hosts := got[v][counter{Metric: "targets"}]; hosts != want[0] || shut != want[1] {
			t.Errorf("%v: %d hosts, %d shut GPTBot out; want %v", v, hosts, shut, want)
		}
	}
	networks := make(map[string]int64)
	for v := range got {
		if _, known := own[v]; v.Label == "cdn" {
			networks[v.Value] = got[v][counter{Metric: "targets"}]
		} else if !known {
			t.Errorf("%v is counted", v)
		}
	}
	if len(networks) != 3 || networks["cloudflare"]+networks["fastly"]+networks["none"] != int64(n) {
		t.Errorf("networks %v", networks)
	}

	// Every metric: a run over the hosts of the value.
	for _, v := range []summary.LabelValue{{Label: "Sector", Value: "news"}, {Label: "Sector", Value: "Größe"},
		{Label: "Owner", Value: "o3"}, {Label: "tld", Value: "de"}, {Label: "tld", Value: "uk"}} {
		var hosts strings.Builder
		for i, host := range p.hosts {
			if v.Label == "Sector" && p.sector[i] == v.Value || v.Label == "Owner" && p.owner[i] == v.Value ||
				v.Label == "tld" && strings.HasSuffix(host, "."+v.Value) {
				hosts.WriteString(host + "\n")
			}
		}
		some := plain
		some.Dir, some.Source.Hosts = filepath.Join(t.TempDir(), "out"), writeFile(t, "some", []byte(hosts.String()))
		_, err := Run(t.Context(), some, new(Progress))
		must(t, err)
		if diff := gocmp.Diff(wholeOf(t, some), got[v]); diff != "" {
			t.Errorf("%v (-hosts +label):\n%s", v, diff)
		}
	}
	// Rows of labels.
	rows, have := 0, 0
	in := sinktest.Open(t, c.Dir)
	m, err := journal.ReadManifest(in, c.Run)
	must(t, err)
	for _, part := range m.PartsOf("labels") {
		rows += int(part.Rows)
	}
	for _, sector := range p.sector {
		if sector != "" {
			have++
		}
	}
	if rows != 3*n+have {
		t.Errorf("%d labels, want %d", rows, 3*n+have)
	}
}

// Shards, a run that was stopped, and a run that judges again count by label as the whole.
func TestCountersByLabelOfParts_NoRace(t *testing.T) {
	p := newLabelled(t, 300, 9)
	c := p.config(t)
	c.Tables = schema.TableNames
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	want := countersOf(t, c)

	again := c
	again.Dir = filepath.Join(t.TempDir(), "out")
	again.Source = source.Config{FromRun: filepath.Join(c.Dir, "_runs", c.Run), Label: []string{"*", "tld", "cdn"}}
	_, err = Run(t.Context(), again, new(Progress))
	must(t, err)
	for v, counters := range want {
		if diff := gocmp.Diff(counters, countersOf(t, again)[v]); diff != "" {
			t.Errorf("judged again, %v (-first +again):\n%s", v, diff)
		}
	}

	listed := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /a\n")
	}, "")
	listed.Source = source.Config{Hosts: p.list, Schemes: []string{"http"}, Label: []string{"*"}}
	for _, count := range []int{0, 3} {
		c := listed
		c.Dir = filepath.Join(t.TempDir(), "out")
		c.Spool = filepath.Join(c.Dir, "spool")
		if count == 0 {
			_, err := Run(t.Context(), c, new(Progress))
			must(t, err)
			want = countersOf(t, c)
			continue
		}
		for i := range count {
			c.Source.Shard = target.Shard{Index: i, Count: count}
			_, err := Run(t.Context(), c, new(Progress))
			must(t, err)
		}
		got := countersOf(t, c)
		for v := range want { // durations differ
			for _, k := range []counter{{Metric: "targets"}, {"policy", "GPTBot", "other", "google", "unknown"},
				{"policy", "GPTBot", "other", "google", "allow_all"}} {
				if got[v][k] != want[v][k] {
					t.Errorf("%v %v: %d in shards, %d in one run", v, k, got[v][k], want[v][k])
				}
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d values in shards, %d in one run", len(got), len(want))
		}
	}
}

// A run that ends after its first segment and is resumed counts by label as the whole does, and
// the reports of what it has until then are its own.
func TestCountersByLabelAfterAResume(t *testing.T) {
	p := newLabelled(t, pieceTargets+60, 9)
	c := p.config(t)
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	want := countersOf(t, c)

	c.Dir = filepath.Join(t.TempDir(), "out")
	c.Memory = 128 << 20 // one evaluator
	stopAfterOne(t, c, new(Progress))
	in := sinktest.Open(t, c.Dir)
	m, err := journal.ReadManifest(in, c.Run)
	must(t, err)
	byLabel, err := summary.ReadByLabel(t.Context(), in, m, nil)
	must(t, err)
	hosts, policies := int64(0), int64(0)
	for _, n := range byLabel.List() {
		switch {
		case !strings.HasPrefix(n.Stratum, "cdn="):
		case n.Metric == "targets":
			hosts += n.N
		case n.Metric == "policy" && n.Agent == "GPTBot":
			policies += n.N
		}
	}
	if hosts != pieceTargets || policies != pieceTargets {
		t.Errorf("a segment of %d has %d hosts and %d policies of GPTBot by cdn", pieceTargets, hosts, policies)
	}

	c.Resume = true
	_, err = Run(t.Context(), c, new(Progress))
	must(t, err)
	if diff := gocmp.Diff(want, countersOf(t, c)); diff != "" {
		t.Errorf("(-whole +resumed):\n%s", diff)
	}
}

// Of 10,000 values those are counted apart that most hosts of the list have.
func TestTenThousandValues_NoRace(t *testing.T) {
	p := newLabelled(t, 1500, 1)
	var list strings.Builder
	list.WriteString("domain\towner\n")
	hosts := make(map[string]int)
	ownerOf := make(map[string]string)
	for i := range 12_000 {
		host := fmt.Sprintf("x%d.example", i)
		if i < len(p.hosts) {
			host = p.hosts[i]
		}
		owner := fmt.Sprintf("o%05d", i%10_000)
		ownerOf[host] = owner
		hosts[owner]++
		fmt.Fprintf(&list, "%s\t%s\n", host, owner)
	}
	kept := make([]string, 0, len(hosts))
	for owner := range hosts {
		kept = append(kept, owner)
	}
	slices.SortFunc(kept, func(a, b string) int { return cmp.Or(cmp.Compare(hosts[b], hosts[a]), cmp.Compare(a, b)) })
	kept = kept[:1000]
	want := make(map[string]int64)
	for _, host := range p.hosts {
		owner := ownerOf[host]
		if !slices.Contains(kept, owner) {
			owner = "other"
		}
		want[owner]++
	}
	c := p.config(t)
	c.Source.Hosts, c.Source.Label, c.Source.Labels, c.Evaluate.OwnLabels = "", nil, writeFile(t, "labels.tsv",
		[]byte(list.String())), nil
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	got := make(map[string]int64)
	for v, counters := range countersOf(t, c) {
		got[v.Value] = counters[counter{Metric: "targets"}]
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("hosts by owner (-want +got):\n%s", diff)
	}
	for _, row := range rowsOf[schema.Label](t, c, "labels") {
		if row.Value != ownerOf[row.Host] {
			t.Fatalf("%s has the owner %s, want %s", row.Host, row.Value, ownerOf[row.Host])
		}
	}
}

// A value with the name of the rest is an error where there is a rest, and a value like any other
// where there is none.
func TestValueOther(t *testing.T) {
	p := newLabelled(t, 3, 1)
	for _, n := range []int{10, 1001} {
		list := "domain,owner\n" + p.hosts[0] + ",other\n"
		for i := range n {
			list += fmt.Sprintf("x%d.example,o%d\n", i, i)
		}
		c := p.config(t)
		c.Source.Hosts, c.Source.Label, c.Source.Labels, c.Evaluate.OwnLabels = "", nil, writeFile(t, "labels.csv",
			[]byte(list)), nil
		_, err := Run(t.Context(), c, new(Progress))
		if n > 1000 {
			if err == nil || !strings.Contains(err.Error(),
				`labels.csv: the label "owner" has more than 1000 values, of which the rest counts as "other", and also a value of that name: rename the value`) {
				t.Errorf("of %d values: %v", n, err)
			}
			continue
		}
		must(t, err)
		if hosts := countersOf(t, c)[summary.LabelValue{Label: "owner", Value: "other"}][counter{
			Metric: "targets"}]; hosts != 1 {
			t.Errorf("%d hosts of the value other", hosts)
		}
	}
}

// A value may have a line break, in quotes.
func TestALineBreakInALabel(t *testing.T) {
	list := "Website,Sector,Country\r\na.example,\"news,\r\n  and \"\"views\"\"\",de\r\nnot a host,x,y\r\n" +
		"b.example,shop,fr\r\n"
	archive := warcResponse("a.example", "HTTP/1.1 404 Not Found\r\n\r\n") + warcResponse("b.example",
		"HTTP/1.1 404 Not Found\r\n\r\n")
	c := storedConfig(t, source.Config{Schemes: []string{"http"}, WARC: []string{writeFile(t, "a.warc", []byte(archive))},
		Labels: writeFile(t, "labels.csv", []byte(list))})
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	var got []string
	for _, row := range rowsOf[schema.Label](t, c, "labels") {
		got = append(got, row.Host+" "+row.Label+" "+row.Value)
	}
	if content, err := os.ReadFile(filepath.Join(c.Dir, "_runs", c.Run, "rejected.csv")); err != nil ||
		!strings.Contains(string(content), "\n4,\"not a host") {
		t.Errorf("of line 4: %s, %v", content, err)
	}
	want := []string{`a.example Sector news, and "views"`, "a.example Country de", "b.example Sector shop",
		"b.example Country fr"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A second value of a label is rejected, and domains stand for their hosts.
func TestLabelsOfAList(t *testing.T) {
	var archive strings.Builder
	for _, host := range []string{"www.a.example", "b.example", "deep.c.example", "d.example"} {
		archive.WriteString(warcResponse(host, "HTTP/1.1 404 Not Found\r\n\r\n"))
	}
	labels := "sep=;\nDomain;Sector;Country\na.example;news;de\nb.example;shop;\nb.example;news;fr\nb.example;shop;fr\n" +
		"c.example;gov;it\nnot a host;x;y\nd.example;" + strings.Repeat("x", 201) + ";\n" +
		"d.example;M\xf6bel;\n"
	c := storedConfig(t, source.Config{Schemes: []string{"http"},
		WARC: []string{writeFile(t, "a.warc", []byte(archive.String()))}, Labels: writeFile(t, "labels.csv", []byte(labels))})
	result, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	if result.Rejected != 3 || result.RejectedFor["origin_not_in_run"].N != 2 || result.LeftLabels != 3 {
		t.Errorf("rejected: %v; %d labels not taken, want 3", result.RejectedFor, result.LeftLabels)
	}
	var got []string
	for _, row := range rowsOf[schema.Label](t, c, "labels") {
		got = append(got, row.Host+" "+row.Label+" "+row.Value)
	}
	want := []string{"www.a.example Sector news", "www.a.example Country de", "b.example Sector shop",
		"b.example Country fr", "deep.c.example Sector gov", "deep.c.example Country it"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	f, err := os.Open(filepath.Join(c.Dir, "_runs", c.Run, "rejected.csv"))
	must(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	must(t, err)
	got = nil
	for _, row := range rows[1:] {
		why, _, _ := strings.Cut(row[2], ":")
		if row[3] == "labels" {
			got = append(got, row[0]+" "+why)
		}
	}
	want = []string{"5 label_conflict", "8 bad_host", "9 label_too_long", "10 label_not_utf8"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("rejected (-want +got):\n%s\n%v", diff, rows)
	}
}

// Each table is the same alone, as any set of tables may be asked for.
func TestTablesAlone_NoRace(t *testing.T) {
	const file = "User-agent: *\nDisallow: /a\nContent-Signal: ai-train=no\nContent-Usage: train-ai=n\n" +
		"License: https://a.example/l.xml\nCrawl-delay: 3\nNoindex: /b\nUser-agent: GPTBot\nDisallow: /\n" +
		"Sitemap: https://a.example/s.xml\nSitemap: /t.xml\n"
	archive := writeFile(t, "a.warc", []byte(warcResponse("a.example", "HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\n"+file)+
		warcResponse("b.example", "HTTP/1.1 404 Not Found\r\n\r\n")+
		warcResponse("c.example", "HTTP/1.1 200 OK\r\n\r\nSitemap: http://c.example/s.xml\n")))
	c := storedConfig(t, source.Config{Schemes: []string{"http"}, WARC: []string{archive}, Label: []string{"tld"}})
	c.Evaluate.OwnLabels, c.Tables = c.Source.OwnLabels(), slices.Clone(schema.TableNames)
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	for _, table := range schema.TableNames {
		one := c
		one.Dir, one.Tables = filepath.Join(t.TempDir(), "out"), []string{table}
		_, err := Run(t.Context(), one, new(Progress))
		must(t, err)
		all, errAll := filepath.Glob(filepath.Join(c.Dir, table, "run="+c.Run, "*.parquet"))
		alone, errAlone := filepath.Glob(filepath.Join(one.Dir, table, "run="+c.Run, "*.parquet"))
		if errAll != nil || errAlone != nil || len(all) == 0 || len(all) != len(alone) {
			t.Fatalf("%s: %d parts, alone %d: %v, %v", table, len(all), len(alone), errAll, errAlone)
		}
		for i := range all {
			a, errA := os.ReadFile(all[i])
			b, errB := os.ReadFile(alone[i])
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s has other bytes alone, %d instead of %d: %v, %v", table, len(b), len(a), errA, errB)
			}
		}
	}
}
