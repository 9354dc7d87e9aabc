package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/schema"
)

// readPopulation is what hosts answer, by the begin of their names: how many there are, the
// fault of the farm, and whether a census has read them.
var readPopulation = []struct {
	name   string
	hosts  int
	fault  string
	isRead bool
}{
	{"closed", 9, `{body: "User-agent: GPTBot\nDisallow: /\n"}`, true},
	{"open", 4, `{body: "User-agent: *\nDisallow: /x\n"}`, true},
	{"none", 3, `404`, true},
	{"page", 3, `{body: "<html><p>Welcome</p></html>", headers: {Content-Type: text/html}}`, true},
	{"wall200", 2, `{headers: {cf-mitigated: challenge}, body: "<html>User-agent: *\nDisallow: /\n"}`, false},
	{"wall302", 1, `{status: 302, headers: {cf-mitigated: challenge}}`, false},
	{"wall403", 2, `{status: 403, body: "<html>_cf_chl_opt"}`, false},
	{"wall503", 3, `{status: 503, headers: {cf-mitigated: challenge}}`, false},
	{"down", 3, `503`, false},
	{"reset", 2, `{reset: start}`, false},
	{"wallvendor", 1, `{status: 202, headers: {x-amzn-waf-action: challenge}}`, false},
	{"wallcaptcha", 1, `{status: 403, body: "<html>Access denied <script src=//ct.captcha-delivery.com/c.js></script>"}`,
		false},
	{"walllimit", 1, `{status: 429, headers: {cf-mitigated: challenge}}`, false},
	{"wall404", 1, `{status: 404, headers: {cf-mitigated: challenge}}`, false},
	{"wallplain", 1,
		`{headers: {cf-mitigated: challenge, Content-Type: text/plain}, body: "User-agent: *\nDisallow: /\n"}`, false},
	// Odd answers.
	{"empty", 1, `{body: ""}`, true},
	{"comments", 1, `{body: "# nothing\n"}`, true},
	{"mark", 1, `{body: "\uFEFF"}`, true},
	{"latin", 1, `{body_file: latin.txt}`, true},
	{"nul", 1, `{body: "User-agent: GPTBot\0\nDisallow: /\0\n"}`, true},
	{"long", 1, `{pad: 600KiB, body: "User-agent: *\nDisallow: /\n"}`, true},
	{"unended", 1, `{body: "User-agent: *\nDisallow: /"}`, true},
	{"returns", 1, `{body: "User-agent: *\rDisallow: /\r"}`, true},
	{"parked", 1, `{body: "<!DOCTYPE html><title>This domain is for sale</title>", headers: {Content-Type: text/plain}}`,
		true},
	{"sorry", 1, `{status: 200, body: "Not Found", headers: {Content-Type: text/plain}}`, true},
	{"created", 1, `{status: 203, body: "User-agent: *\nDisallow: /\n"}`, true},
	{"bare", 1, `204`, true},
	{"partly", 1, `{status: 206, body: "User-agent: *\n"}`, false},
	{"stream", 1, `{body: "User-agent: *\nDisallow: /\n", framing: close}`, true},
	{"packed", 1, `{body: "User-agent: *\nDisallow: /\n", encoding: gzip}`, true},
	{"borrowed", 1, `{redirect: "http://open-0.example/robots.txt"}`, true},
	{"walltarget", 1, `{redirect: "http://wall200-0.example/robots.txt"}`, false},
	{"todown", 1, `{redirect: "http://down-0.example/robots.txt"}`, false},
	{"gone", 1, `410`, true},
	{"refused", 1, `401`, true},
	{"paid", 1, `402`, true},
	{"method", 1, `405`, true},
	{"teapot", 1, `418`, true},
	{"law", 1, `451`, true},
	{"loop", 1, `{redirect: /robots.txt}`, true},
	{"missing", 1, `{redirect: /nothing}`, true},
	{"far", 1, `{hops: 12, body: "User-agent: *\nDisallow: /\n"}`, true},
	{"scheme", 1, `{redirect: "gopher://files.example/robots.txt"}`, true},
	{"mail", 1, `{redirect: "mailto:root@mail.example"}`, true},
	{"nowhere", 1, `{status: 302}`, true},
	{"many", 1, `429`, false}, // counts with 5xx under google
	{"odd", 1, `304`, false},
	{"choices", 1, `300`, true},
	{"none600", 1, `600`, false},
	{"later", 1, `{status: 503, retry_after: 1}`, false},
	{"fault", 1, `500`, false},
	{"gateway", 1, `{status: 502, body: "User-agent: *\nDisallow: /\n"}`, false},
	{"cut", 1, `{body: "User-agent: *\nDisallow: /\n", reset: body}`, false},
	{"short", 1, `{raw: "HTTP/1.1 200 OK\r\nContent-Length: 90\r\nConnection: close\r\n\r\nUser-agent: *\n"}`, false},
	{"lengths", 1, `{raw: "HTTP/1.1 200 OK\r\nContent-Length: 14\r\nContent-Length: 9\r\n\r\nUser-agent: *\n"}`, false},
	{"chunks", 1, `{body: "User-agent: *\nDisallow: /\n", framing: bad_chunk}`, false},
	{"coded", 1, `{body: "User-agent: *\nDisallow: /\n", headers: {Content-Encoding: gzip}}`, true},
	{"strange", 1, `{body: "User-agent: *\nDisallow: /\n", headers: {Content-Encoding: x-own}}`, true},
	{"undecoded", 1, `{body: "\x1f\0\x01\0\x02", headers: {Content-Encoding: gzip}}`, false},
	{"noise", 1, `{garbage: true}`, false},
	{"ended", 1, `{close: start}`, false},
	{"silent", 1, `{hang: start}`, false},
	{"insecure", 1, `{redirect: "https://open-0.example/robots.txt"}`, false}, // no TLS is spoken there
	{"heads", 1, `{header_bytes: 2MiB}`, false},
}

// A host behind a wall is unread, and so is one that an outage hides. Every output that
// counts hosts says of as many that they were read; one that is not in the lists below is
// asked about here before it is written.
func TestEveryOutputReadsTheSameHosts_NoRace(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred commands")
	}
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	file("latin.txt", "User-agent: *\nDisallow: /caf\xe9\n")
	var faults, hosts strings.Builder
	var names []string
	expected := make(map[string]bool) // which hosts are read
	all, read, walls := 0, 0, 0
	for _, p := range readPopulation {
		fmt.Fprintf(&faults, "%s-*.example: %s\n", p.name, p.fault)
		for i := range p.hosts {
			names = append(names, fmt.Sprintf("%s-%d.example", p.name, i))
			expected[names[len(names)-1]] = p.isRead
			fmt.Fprintf(&hosts, "%s,%s\n", strconv.Itoa(len(names)), names[len(names)-1])
		}
		if all += p.hosts; p.isRead {
			read += p.hosts
		}
		if strings.HasPrefix(p.name, "wall") {
			walls += p.hosts
		}
	}
	parsed, err := farm.ParseFaults(strings.NewReader(faults.String()), file("faults", faults.String()))
	must(t, err)
	server, err := farm.New(farm.Config{Faults: parsed})
	must(t, err)
	t.Cleanup(func() { server.Close() })
	addr, err := server.ListenHTTP("127.0.0.1:0")
	must(t, err)
	said := func(args ...string) string {
		t.Helper()
		c := command(args...)
		c.Dir = dir
		var out, problems bytes.Buffer
		c.Stdout, c.Stderr = &out, &problems
		if err := c.Run(); err != nil && c.ProcessState.ExitCode() > 2 {
			t.Fatalf("%q: %v\n%s", args, err, problems.String())
		}
		return out.String()
	}
	list, agents, promises := file("hosts.csv", hosts.String()),
		file("agents.yaml", "- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n"),
		file("promises.yaml", "- {name: up, reachable: true}\n- {name: known, class: [allow_all, partial]}\n")
	file("urls.txt", "/\n")
	run := func(id, day string, more ...string) string {
		return said(append([]string{"run", "--hosts", list, "--out", "out", "--run", id, "--as-of", day, "--schemes", "http",
			"--connect-to", addr, "--agents", agents, "--urls", "urls.txt",
			"--retries", "0", "--timeout", "5s", "--keep-bodies", "--progress", "none"}, more...)...)
	}
	var result struct {
		Read              int
		Outcomes, Reasons map[string]int
		Walls             map[string]int
		Expectations      []struct{ Hosts, Checked, Broken, Unknown int }
	}
	must(t, json.Unmarshal([]byte(run("w1", "2026-01-01", "--json", "--expect", promises)), &result))
	lines := run("w2", "2026-01-08", "--lines")
	current := []string{"success", "client_error", "redirect_limit", "redirect_loop", "redirect_invalid",
		"redirect_unsupported"}
	named := append(slices.Clone(current), "payment", "refused") // of client_error, wherever answers are named
	ofReasons := func(by map[string]int) (n int) {
		for _, reason := range named {
			n += by[reason]
		}
		return n
	}
	number := func(text, pattern string) (n int) {
		t.Helper()
		found := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if found == nil {
			return 0
		}
		n, _ = strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
		return n
	}
	records := func(text string) (rows []map[string]string) {
		table, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		must(t, err)
		for _, line := range table[1:] {
			row := make(map[string]string)
			for i, cell := range line {
				row[table[0][i]] = cell
			}
			rows = append(rows, row)
		}
		return rows
	}
	exported := func(table string) (rows []map[string]string) {
		stream, err := ipc.NewReader(strings.NewReader(said("export", "--out", "out", "w1", table)))
		must(t, err)
		defer stream.Release()
		for stream.Next() {
			batch := stream.RecordBatch()
			for i := range int(batch.NumRows()) {
				row := make(map[string]string)
				for k, field := range batch.Schema().Fields() {
					if batch.Column(k).IsValid(i) {
						row[field.Name] = batch.Column(k).ValueStr(i)
					}
				}
				rows = append(rows, row)
			}
		}
		must(t, stream.Err())
		return rows
	}
	isRead := func(reason string, challenge *string) bool {
		return challenge == nil && slices.Contains(current, reason)
	}
	said("diff", "--out", "out", "w1", "w2")
	said("series", "--out", "out", "--csv", "series.csv", "--panel")

	// Commands, each with what it says were read. Others count no hosts by what they answered.
	commandsThatCount := map[string]map[string]func() int{
		"run": {
			"read":      func() int { return result.Read },
			"outcomes":  func() int { return result.Outcomes["conditional_allow"] + result.Outcomes["full_allow"] },
			"reasons":   func() int { return ofReasons(result.Reasons) },
			"reachable": func() int { return result.Expectations[0].Checked - result.Expectations[0].Broken },
			"class":     func() int { return result.Expectations[1].Checked / 2 }, // for two agents
			"--lines": func() (n int) {
				for line := range strings.Lines(lines) {
					var host struct {
						Host, Reason  string
						Challenge     *string
						Groups, Rules *int
					}
					must(t, json.Unmarshal([]byte(line), &host))
					if got := isRead(host.Reason, host.Challenge); got != expected[host.Host] {
						t.Errorf("%s has the reason %s: read is %v, want %v", host.Host, host.Reason, got, !got)
					}
					if isFile := host.Reason == "success" && host.Challenge == nil; (host.Groups != nil) != isFile ||
						(host.Rules != nil) != isFile {
						t.Errorf("%s has no numbers of a file, or those of none: %s", host.Host, line)
					}
					if isRead(host.Reason, host.Challenge) {
						n++
					}
				}
				return n
			},
		},
		"report": {
			"--text": func() int {
				text := said("report", "--out", "out", "w1", "--text")
				return number(text, `the rules decide +([\d,]+)`) + number(text, `everything allowed, no rules +([\d,]+)`)
			},
			"answers": func() int {
				text := said("report", "--out", "out", "w1", "--text")
				said := []string{"a robots.txt", words.Page}
				for _, reason := range named[1:] {
					said = append(said, words.Reason.Of(reason))
				}
				n := 0
				for _, what := range said {
					n += number(text, "(?m)^ +"+regexp.QuoteMeta(what)+` +([\d,]+)`)
				}
				return n
			},
			"--html": func() int {
				said("report", "--out", "out", "w1", "--html", "report.html")
				page, err := os.ReadFile(filepath.Join(dir, "report.html"))
				must(t, err)
				return number(string(page), `the rules decide for ([\d,]+) host`) + number(string(page),
					`everything is allowed without rules at ([\d,]+) host`)
			},
		},
		"show": {"--json": func() (n int) {
			var views []struct {
				Reason                         string
				Challenge                      *string
				Lines, Groups, Rules, Sitemaps *int
				Findings                       map[string]int
				Categories                     []struct{ Classes map[string]int }
			}
			must(t, json.Unmarshal([]byte(said(append([]string{"show", "--out", "out", "--run", "w1", "--json"}, names...)...)),
				&views))
			for _, v := range views {
				if isRead(v.Reason, v.Challenge) != (v.Categories[0].Classes["unknown"] == 0) {
					t.Errorf("show says of a host with the reason %s: %+v", v.Reason, v.Categories)
				}
				isFile := v.Reason == "success" && v.Challenge == nil
				for _, isThere := range []bool{v.Lines != nil, v.Groups != nil, v.Rules != nil, v.Sitemaps != nil,
					v.Findings != nil} {
					if isThere != isFile {
						t.Errorf("show has no numbers of a file, or those of none: %+v", v)
					}
				}
				if isRead(v.Reason, v.Challenge) {
					n++
				}
			}
			return n
		}},
		"history": {"--json": func() (n int) {
			for _, host := range names {
				var events []struct{ Event string }
				must(t, json.Unmarshal([]byte(said("history", host, "--out", "out", "--json")), &events))
				if kind := events[0].Event; kind == "state" {
					n++
				} else if want := map[bool]string{true: "wall", false: "outage"}[strings.HasPrefix(host, "wall")]; kind != want ||
					len(events) != 2 || events[1].Event != want {
					t.Errorf("history tells %s as %v, want %s twice", host, events, want)
				}
			}
			return n
		}},
		"diff": {"--format json": func() int {
			var result struct{ Compared, Unread int }
			must(t, json.Unmarshal([]byte(said("diff", "--out", "out", "--format", "json", "w1", "w2")), &result))
			return result.Compared - result.Unread
		}},
		"series": {
			"policies": func() (n int) {
				for _, p := range records(readFile(t, dir, "series.csv")) {
					if p["metric"] == "policy" && p["population"] == "all" && p["stratum"] == "all" && p["agent"] == "GPTBot" &&
						p["run"] == "w1" && p["base"] == "hosts" && p["key"] != "unknown" {
						count, _ := strconv.Atoi(p["count"])
						n += count
					}
				}
				return n
			},
			"reasons of the panel": func() (n int) {
				for _, p := range records(readFile(t, dir, "series.csv")) {
					if p["metric"] == "reason" && p["population"] == "panel" && p["stratum"] == "all" && p["run"] == "w1" &&
						slices.Contains(current, p["key"]) {
						count, _ := strconv.Atoi(p["count"])
						n += count
					}
				}
				return n
			},
			"outcomes": func() (n int) {
				for _, p := range records(readFile(t, dir, "series.csv")) {
					if p["metric"] == "outcome" && p["population"] == "all" && p["stratum"] == "all" && p["run"] == "w2" &&
						(p["key"] == "conditional_allow" || p["key"] == "full_allow") {
						count, _ := strconv.Atoi(p["count"])
						n += count
					}
				}
				return n
			},
		},
		"check": {"--out": func() (n int) {
			var urls strings.Builder
			for _, host := range names {
				fmt.Fprintf(&urls, "http://%s/a\n", host)
			}
			var judged []struct{ Verdict, Reason string }
			must(t, json.Unmarshal([]byte(said("check", "--out", "out", "--run", "w1", "--agent", "GPTBot", "--urls",
				file("asked.txt", urls.String()), "--json")), &judged))
			for _, v := range judged {
				if v.Reason != "challenge" && v.Reason != "full_disallow" && v.Reason != "undefined" {
					n++
				}
			}
			return n
		}},
		"export": {"verdicts": func() (n int) {
			for _, v := range exported("verdicts") {
				if v["agent"] == "GPTBot" && v["reason"] != "challenge" && v["reason"] != "full_disallow" &&
					v["reason"] != "undefined" {
					n++
				}
			}
			return n
		}},
		"publish": {"DATASHEET.md": func() int {
			said("publish", "--out", "out", "w1", "--to", "set", "--title", "T", "--creator", "A", "--licence", "CC0-1.0")
			sheet := readFile(t, filepath.Join(dir, "set"), "DATASHEET.md")
			return number(sheet, "`conditional_allow` \\| (\\d+)") + number(sheet, "`full_allow` \\| (\\d+)")
		}},
	}
	countNoAnswers := []string{"plan", "demo", "compare", "runs", "verify", "reproduce", "prune", "completion", "help"}
	for _, c := range commands().Commands() {
		outputs := commandsThatCount[c.Name()]
		if (outputs == nil) != slices.Contains(countNoAnswers, c.Name()) {
			t.Errorf("it is not listed whether the command %s counts hosts by what they answered", c.Name())
		}
		for what, count := range outputs {
			if got := count(); got != read {
				t.Errorf("%s, %s: %d hosts of %d were read, want %d", c.Name(), what, got, all, read)
			}
		}
	}
	if by := result.Walls; by["cloudflare"] != walls-2 || by["aws-waf"] != 1 || by["datadome"] != 1 ||
		result.Reasons["challenge"] != walls {
		t.Errorf("run --json has the walls %v and the reasons %v", result.Walls, result.Reasons)
	}

	// Counters: of each host once, of each that was read once, of both under a key of its own,
	// or of something else.
	metrics := map[string]string{
		"targets": "all", "outcome": "all", "reason": "all", "status": "all", "source": "all", "tld": "all",
		"address_block": "all", "server": "all", "challenge": "", "turned_away": "", "turned_away_reason": "",
		"policy": "known", "category": "known", "challenge_outcome": "walls",
		"total_us": "", "tld_failed": "", "address_block_failed": "", "server_failed": "", "tld_slow": "",
		"address_block_slow": "", "server_slow": "", "error_class": "", "network_failure": "",
		"body": "", "body_bytes": "", "lines": "", "rules": "", "groups": "", "sitemaps": "", "feature": "",
		"line_class": "", "line_class_hosts": "", "policy_explicit": "", "policy_versus_star": "",
		"refusal": "", "refusal_set": "", "verdict": "", "parity": "", "parity_hosts": "",
	}
	sums := make(map[string]int)
	for _, c := range exported("summary") {
		kind, listed := metrics[c["metric"]]
		if !listed {
			t.Errorf("it is not listed which hosts the metric %s counts", c["metric"])
		}
		n, _ := strconv.Atoi(c["count"])
		if kind != "known" || c["key"] != "unknown" {
			sums[strings.Join([]string{c["metric"], c["agent"], c["category"], c["profile"]}, " ")] += n
		}
	}
	for name, n := range sums {
		want := map[string]int{"all": all, "known": read, "walls": walls}
		metric, _, _ := strings.Cut(name, " ")
		if kind := metrics[metric]; kind != "" && n != want[kind] {
			t.Errorf("the metric %s counts %d hosts, want %d", name, n, want[kind])
		}
	}

	// Views and macros: those that count hosts by what they answered go by one of the macros, or
	// by classes and counters that know walls.
	views := []string{
		"stratum", "stratum_order", "canonical_url", "was_read", "rules_decide", "directives", "named_classes",
		"classifications", "series_counts", "series_sizes", "series_files", "series_policies", "series_closings",
		"series_categories", "series_answers", "series_statuses", "series_signals", "series_features", "series_refusals",
		"series_templates", "families", "turned_away", "newly_turned_away", "pages_met", "paper_and_practice",
		"policy_changes", "preference_changes", "answer_changes", "series_documents", "series_pages", "identity_changes",
		"page_changes", "document_changes", "statement_changes", "runs", "fetches_latest", "redirects", "fetches_resolved",
		"policies_resolved", "verdicts_resolved",
	}
	for _, name := range regexp.MustCompile(`CREATE OR REPLACE (?:VIEW|MACRO) ([a-z_.]+)`).FindAllStringSubmatch(
		readFile(t, dir, "out/views.sql"), -1) {
		if table := strings.TrimPrefix(name[1], "history."); !slices.Contains(views, table) && !isTable(table) {
			t.Errorf("it is not listed how the view %s knows which hosts were read", name[1])
		}
	}

	// Figures of the page.
	figures := strings.Fields(
		`answers ai-training access intervals sites agents categories named ranks together words templates versus-star errors walls statuses sizes groups rules features delays sitemaps fields flaws
		bodies refusals preferences signal-reach preference-remarks dead-names parity parity-causes versus-first times tld server addresses network contents`)
	sumsOf := map[string]struct {
		columns []string // which add up
		want    int
	}{
		"ai-training": {[]string{"shut out all", "shut out some", "shut out none"}, read},
		"categories":  {[]string{"shut out all", "shut out some", "shut out none"}, 2 * read}, // of two categories
		// many and later throttle, unread
		"answers": {[]string{"file", "no file", "dead redirect", "turned away"}, read + 2},
		"walls":   {[]string{"hosts"}, walls},
		"sizes":   {[]string{"files"}, result.Reasons["success"]},
	}
	cells := regexp.MustCompile(`<t[hd](?: [^>]*)?>(?:<bdi>)?([^<]*)`)
	for _, figure := range strings.Split(readFile(t, dir, "report.html"), `<figure id="`)[1:] {
		id, text, _ := strings.Cut(figure, `"`)
		if !slices.Contains(figures, id) {
			t.Errorf("it is not listed whether the figure %s counts hosts that were read", id)
		}
		want, counts := sumsOf[id]
		if !counts {
			continue
		}
		delete(sumsOf, id)
		_, numbers, _ := strings.Cut(text, `<table class="numbers">`)
		numbers, _, _ = strings.Cut(numbers, "</table>")
		var heads []string
		sum := 0
		for row := range strings.SplitSeq(numbers, "</tr>") {
			var texts []string
			for _, cell := range cells.FindAllStringSubmatch(row, -1) {
				texts = append(texts, cell[1])
			}
			if heads == nil {
				heads = texts
				continue
			}
			for i, text := range texts {
				if slices.Contains(want.columns, heads[i]) {
					n, err := strconv.Atoi(text)
					must(t, err)
					sum += n
				}
			}
		}
		if sum != want.want {
			t.Errorf("the figure %s counts %d hosts, want %d", id, sum, want.want)
		}
	}
	for id := range sumsOf {
		t.Errorf("the page has no figure %s", id)
	}
}

func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	return string(text)
}

func isTable(name string) bool {
	return slices.Contains(append(slices.Clip(schema.TableNames), "changes"), name)
}
