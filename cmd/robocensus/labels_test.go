package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// labelledFolders writes two folders of 600 files and the labels of their hosts. The files of the
// second shut GPTBot out more often in the sector news.
func labelledFolders(t *testing.T, dir string) (labels string, sectorOf map[string]string, shut [2]map[string]bool) {
	random := rand.New(rand.NewPCG(54, 2))
	sectors := []string{"news", "shop", "gov", "edu"}
	sectorOf, shut = make(map[string]string), [2]map[string]bool{{}, {}}
	var list strings.Builder
	list.WriteString("Website,sector\n")
	n := 3000
	if testing.Short() {
		n = 600
	}
	for i := range n {
		host := fmt.Sprintf("h%d.example", i)
		sectorOf[host] = sectors[random.IntN(len(sectors))]
		fmt.Fprintf(&list, "https://%s/,%s\n", host, sectorOf[host])
		isShut := random.IntN(10) == 0
		for run := range 2 {
			if run == 1 {
				isShut = isShut || random.IntN(100) < map[string]int{"news": 40}[sectorOf[host]]+2
			}
			text := "User-agent: *\nDisallow: /private\n"
			if isShut {
				text = "User-agent: GPTBot\nDisallow: /\n"
			}
			shut[run][host] = isShut
			must(t, os.MkdirAll(filepath.Join(dir, "edition-"+strconv.Itoa(run)), 0o777))
			must(t, os.WriteFile(filepath.Join(dir, "edition-"+strconv.Itoa(run), host), []byte(text), 0o666))
		}
	}
	labels = filepath.Join(dir, "labels.csv")
	must(t, os.WriteFile(labels, []byte(list.String()), 0o666))
	return labels, sectorOf, shut
}

// Report, series, diff, show and expectations say of the values of a label what a count of our
// own says.
func TestFiguresByLabel(t *testing.T) {
	dir := t.TempDir()
	labels, sectorOf, shut := labelledFolders(t, dir)
	out := filepath.Join(dir, "out")
	for run := range 2 {
		call(t, 0, "run", "--bodies", filepath.Join(dir, "edition-"+strconv.Itoa(run)), "--out", out, "--run", "r"+strconv.Itoa(run), "--as-of", "202"+strconv.Itoa(5+run), "--labels", labels, "--progress", "none")
	}
	type counts struct{ hosts, before, after, gained int }
	of := make(map[string]*counts)
	for host, sector := range sectorOf {
		c := of[sector]
		if c == nil {
			c = new(counts)
			of[sector] = c
		}
		c.hosts++
		if shut[0][host] {
			c.before++
		}
		if shut[1][host] {
			c.after++
		}
		if shut[1][host] && !shut[0][host] {
			c.gained++
		}
	}

	text := call(t, 0, "report", "--out", out, "latest", "--by", "SECTOR")
	for sector, c := range of {
		fields := fieldsAfter(text, sector)
		if len(fields) < 2 || fields[0] != strconv.Itoa(c.hosts) || fields[1] != strconv.Itoa(c.after) {
			t.Errorf("report --by says of %s %q, want %d hosts and %d: \n%s", sector, fields, c.hosts, c.after, text)
		}
		if more := sector == "news"; strings.HasSuffix(strings.Join(fields, " "), " more") != more {
			t.Errorf("report --by says of %s: %q", sector, fields)
		}
	}

	for _, how := range [][]string{nil, {"--panel"}, {"--clustered"}} {
		points := filepath.Join(dir, "points.csv")
		args := append([]string{"series", "--out", out, "--csv", points, "--stratum", "all"}, how...)
		for sector := range of {
			args = append(args, "--stratum", "sector="+sector)
		}
		call(t, 0, args...)
		content, err := os.ReadFile(points)
		must(t, err)
		rows, err := csv.NewReader(strings.NewReader(string(content))).ReadAll()
		must(t, err)
		seen := 0
		for _, row := range rows {
			if row[0] != "policy" || row[3] != "GPTBot" || row[6] != "disallow_all" || row[9] != "hosts" || row[1] == "others" {
				continue
			}
			sector, ok := strings.CutPrefix(row[2], "sector=")
			if !ok {
				continue
			}
			seen++
			want := fmt.Sprint(of[sector].before, of[sector].hosts)
			if row[7] == "r1" {
				want = fmt.Sprint(of[sector].after, of[sector].hosts)
			}
			if got := row[10] + " " + row[11]; got != want {
				t.Errorf("series %v says of %s in %s of %s %s, want %s", how, row[2], row[7], row[1], got, want)
			}
		}
		populations := 1
		if len(how) > 0 && how[0] == "--panel" {
			populations = 2
		}
		if seen != 2*len(of)*populations {
			t.Errorf("series %v has %d points", how, seen)
		}
	}
	news := of["news"]
	text = call(t, 0, "series", "--out", out, "--agent", "GPTBot", "--panel", "--stratum", "sector=news")
	if difference := fmt.Sprintf("%+.1f", 100*float64(news.after-news.before)/float64(news.hosts)); !strings.Contains(text, difference) || !strings.Contains(text, "paired:") {
		t.Errorf("the panel of news differs by %s:\n%s", difference, text)
	}

	rest := counts{}
	for sector, c := range of {
		if sector != "news" {
			rest.hosts, rest.gained = rest.hosts+c.hosts, rest.gained+c.gained
		}
	}
	sentence := fmt.Sprintf("sector news: %d of %d hosts shut GPTBot out since, of the others %d of %s", news.gained, news.hosts, rest.gained, words.Number(int64(rest.hosts)))
	if text := call(t, 0, "diff", "--out", out, "r0", "r1"); !strings.Contains(text, sentence) || strings.Contains(text, "sector shop:") {
		t.Errorf("diff does not say %q:\n%s", sentence, text)
	}
	type moved struct {
		ShutOut int `json:"shut_out"`
		Hosts   int
	}
	type group struct {
		Label, Value, Agent string
		Here, Others        moved
		Least               float64 `json:"least_difference"`
	}
	var told struct {
		Compared int64
		Labels   []group
	}
	must(t, json.NewDecoder(strings.NewReader(call(t, 0, "diff", "--out", out, "r0", "r1", "--format", "json"))).Decode(&told))
	i := slices.IndexFunc(told.Labels, func(g group) bool { return g.Label == "sector" && g.Value == "news" && g.Agent == "GPTBot" })
	if i < 0 || told.Labels[i].Here != (moved{news.gained, news.hosts}) || told.Labels[i].Others != (moved{rest.gained, rest.hosts}) || told.Labels[i].Least <= 0 || told.Compared == 0 {
		t.Errorf("diff --format json says %+v", told)
	}

	if text := call(t, 0, "show", "h0.example", "--out", out); !strings.Contains(text, "\nsector: "+sectorOf["h0.example"]+"\n") {
		t.Errorf("show: %s", text)
	}

	promises := filepath.Join(dir, "promises.yaml")
	must(t, os.WriteFile(promises, []byte("- {name: news, where: {sector: news}, agents: GPTBot, class: [allow_all, partial]}\n- {name: steady, where: {sector: [news]}, agents: GPTBot, no_change: policy_class}\n- {name: nobody, where: {sector: nothing}, reachable: true}\n"), 0o666))
	text = call(t, 1, "diff", "--out", out, "r0", "r1", "--again", "--expect", promises)
	for name, want := range map[string]string{"news": fmt.Sprint("BROKEN ", news.hosts, " ", news.after), "steady": fmt.Sprint("BROKEN ", news.hosts, " ", news.gained), "nobody": "unchecked 0 0"} {
		if got := strings.Join(fieldsAfter(text, name), " "); got != want {
			t.Errorf("the promise %s: %q, want %q\n%s", name, got, want, text)
		}
	}
	call(t, 64, "report", "--out", out, "latest", "--by", "sectr")
	call(t, 64, "series", "--out", out, "--panel", "--stratum", "sector=news,1-1000")
	call(t, 0, "verify", "--out", out, "r1")
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
