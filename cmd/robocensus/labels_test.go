package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// A labelledSite has a value of each label, "" for none, and shuts agents out in two editions.
type labelledSite struct {
	labels map[string]string
	shut   [2][len(labelledAgents)]bool
}

var labelledAgents = [...]string{"GPTBot", "Googlebot"}

// labelledSites returns n sites by host. More of those of the sector news shut GPTBot out in the
// second edition, more of those of the country c3 Googlebot, and more of those of owners of few
// sites GPTBot.
func labelledSites(n, owners int) map[string]*labelledSite {
	random := rand.New(rand.NewPCG(54, 2))
	sites := make(map[string]*labelledSite)
	for i := range n {
		owner := i % owners
		if random.IntN(4) == 0 {
			owner = random.IntN(min(owners, 300))
		}
		s := &labelledSite{labels: map[string]string{
			"sector": []string{"news", "shop", "gov", "edu", ""}[random.IntN(5)], "country": fmt.Sprint("c", random.IntN(12)),
			"owner": fmt.Sprintf("o%05d", owner),
		}}
		add := func(agent, before, since int) {
			s.shut[0][agent] = random.IntN(100) < before
			s.shut[1][agent] = s.shut[0][agent] || random.IntN(100) < since
		}
		since := [2]int{2, 1}
		if s.labels["sector"] == "news" {
			since[0] += 40
		}
		if owner > 1000 {
			since[0] += 20
		}
		if s.labels["country"] == "c3" {
			since[1] += 50
		}
		add(0, 10, since[0])
		add(1, 2, since[1])
		sites[fmt.Sprintf("h%d.example", i)] = s
	}
	return sites
}

func (s *labelledSite) file(edition int) (text string) {
	for agent, name := range labelledAgents {
		if s.shut[edition][agent] {
			text += "User-agent: " + name + "\nDisallow: /\n\n"
		}
	}
	return text + "User-agent: *\nDisallow: /private\n"
}

// labelSums counts sites of a value: those that shut agents out in each edition, and in the second alone.
type labelSums struct {
	hosts  int
	shut   [2][len(labelledAgents)]int
	gained [len(labelledAgents)]int
}

func (c *labelSums) add(s *labelledSite) {
	c.hosts++
	for agent := range labelledAgents {
		for edition := range 2 {
			if s.shut[edition][agent] {
				c.shut[edition][agent]++
			}
		}
		if s.shut[1][agent] && !s.shut[0][agent] {
			c.gained[agent]++
		}
	}
}

// sumsByLabel counts sites by label and value: the 1,000 values of a label that most have, and the rest.
func sumsByLabel(sites map[string]*labelledSite) map[string]map[string]*labelSums {
	have := make(map[string]map[string]int)
	for _, s := range sites {
		for label, value := range s.labels {
			if have[label] == nil {
				have[label] = make(map[string]int)
			}
			if value != "" {
				have[label][value]++
			}
		}
	}
	of := make(map[string]map[string]*labelSums)
	for label, values := range have {
		var names []string
		for value := range values {
			names = append(names, value)
		}
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(values[b]-values[a], strings.Compare(a, b)) })
		as := make(map[string]string)
		for i, value := range names {
			if as[value] = value; i >= 1000 {
				as[value] = "other"
			}
		}
		of[label] = make(map[string]*labelSums)
		for _, s := range sites {
			value := as[s.labels[label]]
			if value == "" {
				continue
			}
			if of[label][value] == nil {
				of[label][value] = new(labelSums)
			}
			of[label][value].add(s)
		}
	}
	return of
}

// Report, series, diff, show and expectations say of the values of three labels what a count of our
// own says, of runs of four shards; of 10,000 values 1,000 are told apart. Its commands run one after
// the other, so that the race detector has nothing to find here.
func TestFiguresByLabel_NoRace(t *testing.T) {
	t.Parallel()
	hosts, many, values := 3000, 12_000, 10_000
	if testing.Short() {
		hosts, many, values = 400, 1600, 1400
	}
	for name, run := range map[string]func(*testing.T){
		"three labels": func(t *testing.T) { wantFiguresByLabel(t, labelledSites(hosts, 50), false) },
		"many values":  func(t *testing.T) { wantFiguresByLabel(t, labelledSites(many, values), true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

func wantFiguresByLabel(t *testing.T, sites map[string]*labelledSite, planned bool) {
	dir := t.TempDir()
	var list strings.Builder
	list.WriteString("Website,sector,country,owner\n")
	for host, s := range sites {
		fmt.Fprintf(&list, "http://%s/,%s,%s,%s\n", host, s.labels["sector"], s.labels["country"], s.labels["owner"])
	}
	path, agents, out := filepath.Join(dir, "list.csv"), filepath.Join(dir, "agents.yaml"), filepath.Join(dir, "out")
	must(t, os.WriteFile(path, []byte(list.String()), 0o666))
	must(t, os.WriteFile(agents,
		[]byte("- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n"), 0o666))
	var edition atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, sites[r.Host].file(int(edition.Load())))
	}))
	t.Cleanup(server.Close)
	const shards = 4
	for n := range 2 {
		edition.Store(int32(n))
		run := "r" + strconv.Itoa(n)
		how := []string{"--hosts", path, "--label", "*", "--agents", agents, "--out", out, "--run", run, "--schemes", "http",
			"--connect-to", strings.TrimPrefix(server.URL, "http://"), "--shards", strconv.Itoa(shards)}
		if planned {
			call(t, 0, append([]string{"plan"}, how...)...)
			how = []string{"--out", out, "--run", run}
		}
		for shard := range shards {
			call(t, 0, slices.Concat([]string{"run", "--progress", "none", "--shard", strconv.Itoa(shard)}, how)...)
		}
	}
	of := sumsByLabel(sites)
	if told := len(of["owner"]); planned && told != 1001 {
		t.Fatalf("%d values of owners are told apart, so the test shows nothing", told)
	}
	wantReportByLabel(t, out, of["sector"])
	wantSeriesByLabel(t, out, dir, of)
	wantDiffByLabel(t, out, of)

	if text := call(t, 0, "show", "h0.example", "--out", out); sites["h0.example"].labels["sector"] != "" &&
		!strings.Contains(text, "sector: "+sites["h0.example"].labels["sector"]+", country: "+
			sites["h0.example"].labels["country"]+", owner: ") {
		t.Errorf("show: %s", text)
	}
	promises, news := filepath.Join(dir, "promises.yaml"), of["sector"]["news"]
	must(t, os.WriteFile(promises, []byte("- {name: news, where: {sector: news}, agents: GPTBot, class: [allow_all, "+
		"partial]}\n- {name: steady, where: {sector: [news]}, agents: GPTBot, no_change: policy_class}\n"+
		"- {name: nobody, where: {sector: nothing}, reachable: true}\n"), 0o666))
	text := call(t, 1, "diff", "--out", out, "r0", "r1", "--again", "--expect", promises)
	for name, want := range map[string]string{"news": fmt.Sprint("BROKEN ", words.Number(int64(news.hosts)), " ",
		words.Number(int64(news.shut[1][0]))), "steady": fmt.Sprint("BROKEN ", words.Number(int64(news.hosts)), " ",
		words.Number(int64(news.gained[0]))), "nobody": "unchecked 0 0"} {
		if got := strings.Join(fieldsAfter(text, name), " "); got != want {
			t.Errorf("the promise %s: %q, want %q\n%s", name, got, want, text)
		}
	}
	call(t, 64, "report", "--out", out, "latest", "--by", "sectr")
	call(t, 64, "series", "--out", out, "--panel", "--stratum", "sector=news,1-1000")
	call(t, 0, "verify", "--out", out, "r1")
}

// A host that changed its label is in the group of the later run alone, one that is gone in the
// group that it was in, and one that lost its label in none. Labels of two origins of a host do
// not add up to more of them.
func TestExpectationsFollowLabels(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var edition atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if edition.Load() > 0 {
			io.WriteString(w, "User-agent: GPTBot\nDisallow: /\n")
		}
	}))
	t.Cleanup(server.Close)
	out := filepath.Join(dir, "out")
	for n, list := range []string{
		"host,sector,country\nstays.example,news,de\nmoves.example,news,fr\ngone.example,news,de\nloses.example,news,\n" +
			"http://two.example,news,fr\nhttp://two.example:81,news,it\n",
		"host,sector,country\nstays.example,news,de\nmoves.example,shop,fr\nloses.example,,\n" +
			"http://two.example,news,fr\nhttp://two.example:81,news,it\n",
	} {
		path := filepath.Join(dir, fmt.Sprint(n, ".csv"))
		must(t, os.WriteFile(path, []byte(list), 0o666))
		edition.Store(int32(n))
		call(t, 0, "run", "--progress", "none", "--hosts", path, "--label", "*", "--out", out, "--run", "r"+strconv.Itoa(n),
			"--schemes", "http",
			"--connect-to", strings.TrimPrefix(server.URL, "http://"), "--allow-private")
	}
	promises := filepath.Join(dir, "promises.yaml")
	must(t, os.WriteFile(promises,
		[]byte("- {name: news, where: {sector: news}, agents: GPTBot, no_change: policy_class}\n"+
			"- {name: shop, where: {sector: shop}, agents: GPTBot, no_change: policy_class}\n"+
			"- {name: both, where: {sector: news, country: de}, agents: GPTBot, no_change: policy_class}\n"+
			"- {name: there, where: {sector: news}, no_change: host_gone}\n"), 0o666))
	text := call(t, 1, "diff", "--out", out, "r0", "r1", "--expect", promises)
	for name, want := range map[string]string{"news": "BROKEN 3 3", "shop": "BROKEN 1 1", "both": "BROKEN 1 1",
		"there": "unchecked 4 0"} {
		if got := strings.Join(fieldsAfter(text, name), " "); got != want {
			t.Errorf("the promise %s: %q, want %q\n%s", name, got, want, text)
		}
	}
}

func wantReportByLabel(t *testing.T, out string, of map[string]*labelSums) {
	text := call(t, 0, "report", "--out", out, "latest", "--by", "SECTOR")
	for sector, c := range of {
		fields := fieldsAfter(text, sector)
		if len(fields) < 3 || fields[0] != words.Number(int64(c.hosts)) || fields[1] != fields[0] ||
			fields[2] != words.Number(int64(c.shut[1][0])) {
			t.Errorf("report --by says of %s %q, want %d hosts and %d: \n%s", sector, fields, c.hosts, c.shut[1][0], text)
		}
		if more := sector == "news"; strings.HasSuffix(strings.Join(fields, " "), " more") != more {
			t.Errorf("report --by says of %s: %q", sector, fields)
		}
	}
}

// wantSeriesByLabel checks the points of both runs for each value of each label and each agent.
func wantSeriesByLabel(t *testing.T, out, dir string, of map[string]map[string]*labelSums) {
	for label, values := range of {
		lists := slices.Collect(slices.Chunk(slices.Sorted(maps.Keys(values)), 200))
		if testing.Short() && len(lists) > 2 { // the last has those that are not told apart
			lists = [][]string{lists[0], lists[len(lists)-1]}
		}
		for _, names := range lists {
			for _, how := range [][]string{nil, {"--panel"}, {"--clustered"}} {
				args := slices.Concat([]string{"series", "--out", out, "--csv", filepath.Join(dir, "points.csv"), "--stratum",
					"all"}, how)
				for _, value := range names {
					args = append(args, "--stratum", label+"="+value)
				}
				call(t, 0, args...)
				wantPointsByLabel(t, filepath.Join(dir, "points.csv"), how, len(names), of)
			}
		}
	}
	news := of["sector"]["news"]
	text := call(t, 0, "series", "--out", out, "--agent", "GPTBot", "--panel", "--stratum", "sector=news")
	if difference := fmt.Sprintf("%+.1f", 100*float64(news.shut[1][0]-news.shut[0][0])/float64(
		news.hosts)); !strings.Contains(text, difference) || !strings.Contains(text, "paired:") {
		t.Errorf("the panel of news differs by %s:\n%s", difference, text)
	}
}

func wantPointsByLabel(t *testing.T, path string, how []string, values int, of map[string]map[string]*labelSums) {
	content, err := os.ReadFile(path)
	must(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(content))).ReadAll()
	must(t, err)
	seen := 0
	for _, row := range rows {
		agent := slices.Index(labelledAgents[:], row[3])
		label, value, ok := strings.Cut(row[2], "=")
		if row[0] != "policy" || agent < 0 || row[6] != "disallow_all" || row[9] != "hosts" || row[1] == "others" || !ok {
			continue
		}
		seen++
		c := of[label][value]
		if got, want := row[10]+" "+row[11], fmt.Sprint(c.shut[strings.Index("01", row[7][1:])][agent],
			c.hosts); got != want {
			t.Errorf("series %v says of %s and %s in %s of %s %s, want %s", how, row[2], row[3], row[7], row[1], got, want)
		}
	}
	populations := 1
	if len(how) > 0 && how[0] == "--panel" {
		populations = 2
	}
	if want := 2 * len(labelledAgents) * values * populations; seen != want {
		t.Errorf("series %v has %d points, want %d", how, seen, want)
	}
}

// groupTold is a value of a label of which diff tells, as its JSON has it.
type groupTold struct {
	Label, Value, Agent string
	Here, Others        struct {
		ShutOut int `json:"shut_out"`
		Hosts   int
	}
	Least float64 `json:"least_difference"`
}

// wantDiffByLabel checks that diff tells of the values that moved more than the others by more than
// chance, of all that are compared.
func wantDiffByLabel(t *testing.T, out string, of map[string]map[string]*labelSums) {
	var want []groupTold
	compared := 0
	for _, values := range of {
		compared += len(values) * len(labelledAgents)
	}
	for label, values := range of {
		var all labelSums
		for _, c := range values {
			all.hosts += c.hosts
			for agent := range labelledAgents {
				all.gained[agent] += c.gained[agent]
			}
		}
		for value, c := range values {
			for agent, name := range labelledAgents {
				g := groupTold{Label: label, Value: value, Agent: name}
				g.Here.ShutOut, g.Here.Hosts = c.gained[agent], c.hosts
				g.Others.ShutOut, g.Others.Hosts = all.gained[agent]-c.gained[agent], all.hosts-c.hosts
				g.Least = leastDifference(g.Others.ShutOut, g.Others.Hosts, c.gained[agent], c.hosts, 0.05/float64(compared))
				if g.Least > 0 && tailOf(c.gained[agent], c.hosts, all.gained[agent], all.hosts) <= 0.05/float64(compared)/2 {
					want = append(want, g)
				}
			}
		}
	}
	t.Logf("%d figures are compared, of which %d are told", compared, len(want))
	text := call(t, 0, "diff", "--out", out, "r0", "r1")
	var told struct {
		Compared int64
		Labels   []groupTold
	}
	must(t, json.NewDecoder(strings.NewReader(call(t, 0, "diff", "--out", out, "r0", "r1", "--format", "json"))).Decode(
		&told))
	sorted := cmpopts.SortSlices(func(a, b groupTold) bool {
		return a.Label+" "+a.Value+" "+a.Agent < b.Label+" "+b.Value+" "+b.Agent
	})
	if diff := gocmp.Diff(want, told.Labels, sorted, cmpopts.EquateApprox(0, 1e-9)); diff != "" || told.Compared == 0 ||
		len(want) < 2 {
		t.Errorf("diff --format json, of %d hosts (-want +got)\n%s", told.Compared, diff)
	}
	slices.SortFunc(want, func(a, b groupTold) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(b.Least, a.Least))
	})
	for i, g := range want {
		first := slices.IndexFunc(want, func(other groupTold) bool { return other.Label == g.Label })
		if i == first+3 {
			rest := 0
			for ; first+3+rest < len(want) && want[first+3+rest].Label == g.Label; rest++ {
			}
			if sentence := fmt.Sprintf("and %d more of a value and an agent", rest); !strings.Contains(text, sentence) {
				t.Errorf("diff does not say of %s %q:\n%s", g.Label, sentence, text)
			}
		}
		if i >= first+3 {
			continue
		}
		sentence := fmt.Sprintf("%s %s: %s of %s hosts shut %s out since, of the others %s of %s", g.Label, g.Value,
			words.Number(int64(g.Here.ShutOut)), words.Number(int64(g.Here.Hosts)), g.Agent,
			words.Number(int64(g.Others.ShutOut)), words.Number(int64(g.Others.Hosts)))
		if !strings.Contains(text, sentence) {
			t.Errorf("diff does not say %q:\n%s", sentence, text)
		}
	}
	if strings.Contains(text, "sector shop:") {
		t.Errorf("diff says\n%s", text)
	}
}

// leastDifference returns the lower end of the interval of the difference between the share n of some
// hosts and a later one (Newcombe 1998, method 10): of the distances to the roots of
// (p - n/of)² = z² p (1 - p) / of.
func leastDifference(n, of, later, ofLater int, level float64) float64 {
	z2 := math.Pow(math.Sqrt2*math.Erfinv(1-level), 2)
	roots := func(k, n float64) (low, high float64) {
		a, b, c := 1+z2/n, -(2*k/n + z2/n), k*k/(n*n)
		root := math.Sqrt(max(0, b*b-4*a*c))
		return (-b - root) / (2 * a), (-b + root) / (2 * a)
	}
	_, high := roots(float64(n), float64(of))
	low, _ := roots(float64(later), float64(ofLater))
	before, after := float64(n)/float64(of), float64(later)/float64(ofLater)
	return after - before - math.Hypot(after-low, high-before)
}

// tailOf returns the chance of k or more of n hosts if n are drawn out of all, of which some are those.
func tailOf(k, n, those, all int) (p float64) {
	log := make([]float64, all+1) // of factorials
	for i := 1; i <= all; i++ {
		log[i] = log[i-1] + math.Log(float64(i))
	}
	choose := func(n, k int) float64 { return log[n] - log[k] - log[n-k] }
	for x := k; x <= min(n, those); x++ {
		if n-x <= all-those {
			p += math.Exp(choose(those, x) + choose(all-those, n-x) - choose(all, n))
		}
	}
	return p
}

// fieldsAfter returns the words of the first line that begins with a word, without that.
func fieldsAfter(text, word string) []string {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == word {
			return fields[1:]
		}
	}
	return nil
}
