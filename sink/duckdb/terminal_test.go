package main

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sections returns the output of the demo by heading: the lines after the heading,
// up to an empty line. The heading "" has the lines before the first one.
func sections() map[string][]string {
	out := make(map[string][]string)
	for paragraph := range strings.SplitSeq(strings.Trim(string(said), "\n"), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		if len(out) == 0 {
			out[""] = lines
			continue
		}
		out[lines[0]] = lines[1:]
	}
	return out
}

// turnedAway holds for rows of fetches whose answer turns a census away, with or without a wall.
const turnedAway = "coalesce(status IN (401, 402, 403, 429, 451) OR status = 503 AND retry_after IS NOT NULL, false)"

// Words of the terminal, and the rows of fetches that each counts.
var printedRows = map[string]string{
	"answered": "reason IN ('success', 'html_redirect', 'client_error', 'misconfigured_server', " +
		"'redirect_unresolved', 'revisit_unresolved') OR reason LIKE 'redirect_%' OR " + turnedAway,
	"  a robots.txt": "reason = 'success' AND NOT is_html",
	"  a page of HTML in place of a robots.txt":  "reason = 'success' AND is_html",
	"  no robots.txt (4xx)":                      "status BETWEEN 400 AND 499 AND NOT " + turnedAway,
	"  throttled (429, or 503 with Retry-After)": "status = 429 OR status = 503 AND retry_after IS NOT NULL",
	"  payment demanded (402)":                   "status = 402",
	"  refused (401, 403, 451)":                  "status IN (401, 403, 451)",
	"  redirect to what cannot be crawled":       "reason = 'redirect_unsupported'",
	"  redirect without a usable location":       "reason = 'redirect_invalid'",
	"  redirects in a loop":                      "reason = 'redirect_loop'",
	"  too many redirects":                       "reason = 'redirect_limit'",
	"server error":                               "reason = 'server_error' AND NOT " + turnedAway,
	"could not be reached": "status IS NULL AND error_class IN ('dns_not_found', 'dns_failure', " +
		"'connect_refused', 'connect_timeout', 'connect_failure', 'tls', 'timeout', 'reset')",
	"  connection reset": "error_class = 'reset'",
	"  timeout":          "error_class = 'timeout'",
	"no usable answer": "error_class IN ('protocol', 'truncated_body', 'header_too_large') " +
		"OR status = 304",
	"  invalid answer":             "error_class = 'protocol' OR status = 304",
	"  answer that broke off":      "error_class = 'truncated_body'",
	"the rules decide":             "outcome = 'conditional_allow' AND challenge IS NULL",
	"everything allowed, no rules": "outcome = 'full_allow' AND challenge IS NULL",
	"unknown behind a wall": "outcome IN ('conditional_allow', 'full_allow') AND " +
		"challenge IS NOT NULL",
	"closed by an outage": "outcome = 'full_disallow'",
}

var printedRow = regexp.MustCompile(`^(.*?) +(\S+) +(\S+)$`)

// Every figure that the demo prints agrees with the tables.
func TestTerminalIsWhatTheTablesSay(t *testing.T) {
	t.Parallel()
	db := reader(t, single)
	text := said
	said := sections()
	hosts, files := number(t, db, "count(*)"), number(t, db,
		"count(*) FILTER (outcome = 'conditional_allow' AND challenge IS NULL)")

	counted := 0
	for _, heading := range []string{"How they answered", "What that means under profile google"} {
		if len(said[heading]) < 4 {
			t.Fatalf("under %q stand %q", heading, said[heading])
		}
		if got := strings.Fields(said[heading][0]); !slices.Equal(got, []string{"hosts", "of", "hosts"}) {
			t.Errorf("the head of %q is %q", heading, got)
		}
		top := int64(0)
		for _, line := range said[heading][1:] {
			cells := printedRow.FindStringSubmatch(line)
			if cells == nil {
				t.Errorf("not a row: %q", line)
				continue
			}
			condition, ok := printedRows[cells[1]]
			if !ok {
				t.Errorf("nobody knows what %q counts", cells[1])
				continue
			}
			counted++
			n := number(t, db, "count(*) FILTER ("+condition+")")
			if n == 0 || cells[2] != fmt.Sprint(n) || cells[3] != share(n, hosts) {
				t.Errorf("%q, and the tables say %d of %d", line, n, hosts)
			}
			if !strings.HasPrefix(line, " ") {
				top += n
			}
		}
		if top != hosts {
			t.Errorf("%q adds up to %d of %d hosts", heading, top, hosts)
		}
	}
	shown := 0
	for _, condition := range printedRows {
		if number(t, db, "count(*) FILTER ("+condition+")") > 0 {
			shown++
		}
	}
	if counted != shown {
		t.Errorf("%d rows are printed of %d", counted, shown)
	}

	answered := number(t, db, "count(*) FILTER ("+printedRows["answered"]+")")
	if want := fmt.Sprintf("%d of %d hosts answered (%s), and the rules of %d decide (%s).", answered, hosts,
		share(answered, hosts), files, share(files, hosts)); len(said[""]) != 2 || said[""][1] != want {
		t.Errorf("it says %q, want %q", said[""], want)
	}
	if want := fmt.Sprintf("%d hosts asked in ", hosts); !strings.HasPrefix(said[""][0], want) {
		t.Errorf("it says %q, want %q", said[""][0], want)
	}
	training := one(t, db, "SELECT count(DISTINCT seq) FROM policies WHERE category = 'ai-training' AND "+
		"class = 'disallow_all'")
	var n int64
	fmt.Sscan(training, &n)
	if want := fmt.Sprintf("%d hosts (%s) shut out an agent for AI training; %s of those with rules.", n, share(n, hosts),
		share(n, files)); said[want] == nil {
		t.Errorf("it does not say %q", want)
	}

	_, ways, err := ask(db, refusalsOf+
		`SELECT way, count(DISTINCT seq)::VARCHAR AS n FROM refusals GROUP BY way ORDER BY count(DISTINCT seq) DESC, way`)
	must(t, err)
	var waysSaid []string
	for _, row := range ways {
		waysSaid = append(waysSaid, row[1]+" "+map[string]string{
			"crawler": "by shutting out a crawler", "token": "by shutting out a policy token",
			"content-signal": "by a content signal", "content-usage": "by a usage preference",
		}[row[0]])
	}
	if want := fmt.Sprintf("%s hosts refuse AI training in robots.txt: %s",
		one(t, db, refusalsOf+"SELECT count(DISTINCT seq) FROM refusals"), strings.Join(waysSaid, ", ")); len(ways) != 4 ||
		!strings.Contains(strings.Join(strings.Fields(string(text)), " "), want+" ") {
		t.Errorf("it does not say %q", want)
	}

	terms := one(t, db, refusalsOf+"SELECT count(DISTINCT seq) FROM ("+byTerms+")")
	if want := "a licence in robots.txt, whose terms permit or refuse AI training."; !strings.Contains(string(text),
		"\n"+terms+" other names "+want) && !strings.Contains(string(text), "\n"+terms+" others name "+want) {
		t.Errorf("it does not say that %s name %q", terms, want)
	}

	table := said["Shut out most often, by hosts"]
	if len(table) != 14 {
		t.Fatalf("who is shut out: %q", table)
	}
	_, rows, err := ask(db,
		`SELECT category, agent, hosts, own, partly FROM (SELECT category, agent, count(*) FILTER (class = 'disallow_all') AS hosts,
		count(*) FILTER (class = 'disallow_all' AND is_explicit) AS own, count(*) FILTER (class = 'partial') AS partly FROM policies GROUP BY ALL)
		ORDER BY hosts DESC, own DESC, agent LIMIT 10`)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{strings.Fields("category agent hosts of hosts with rules by name partly")}
	for _, row := range rows {
		fmt.Sscan(row[2], &n)
		want = append(want, []string{row[0], row[1], row[2], share(n, hosts), share(n, files), row[3], row[4]})
	}
	var got [][]string
	for _, line := range table[:11] {
		got = append(got, strings.Fields(line))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who is shut out (-tables +printed):\n%s", diff)
	}
	left := one(t, db,
		`WITH shut_out AS (SELECT agent, count(*) AS n FROM policies WHERE class = 'disallow_all' GROUP BY agent), last AS (SELECT n FROM shut_out ORDER BY n DESC LIMIT 1 OFFSET 9)
		SELECT CASE tied WHEN 0 THEN format('and {} more with fewer', fewer) ELSE format('and {} more with {} hosts, {} with fewer', tied, (FROM last), fewer) END FROM (SELECT count(*) FILTER (n < (FROM last)) AS fewer,
			count(*) FILTER (n = (FROM last)) - (SELECT count(*) FROM (FROM shut_out ORDER BY n DESC LIMIT 10) WHERE n = (FROM last)) AS tied FROM shut_out)`)
	if want := fmt.Sprintf("with rules: of the %d hosts whose rules decide;", files); table[11] != left+
		" (report --html has all)" || !strings.HasPrefix(table[12], want) {
		t.Errorf("below it says %q, want %q and %q", table[11:], left, want)
	}

	written := ""
	for heading, lines := range said {
		if strings.HasPrefix(heading, "Rows written to ") {
			written = strings.Join(lines, "")
		}
	}
	for _, name := range []string{"fetches", "policies", "verdicts", "summary", "examples"} {
		rows := strings.ReplaceAll(one(t, db, "SELECT format('{:,}', count(*)) FROM "+name), "'", "")
		if !strings.Contains(written+",", " "+name+" "+rows+",") {
			t.Errorf("rows written are %q, and %s has %s", written, name, rows)
		}
	}
}

// The demo's output fits a terminal, except for paths.
func TestTerminalWidth(t *testing.T) {
	for i, line := range strings.Split(string(said), "\n") {
		if len([]rune(line)) > 80 && !strings.Contains(line, scratch) {
			t.Errorf("line %d has %d columns: %s", i+1, len([]rune(line)), line)
		}
	}
}

// All shares have the same format.
func TestTerminalShares(t *testing.T) {
	odd := regexp.MustCompile(`\d+\.\d+ +%|\d\.\d\d+%|\d\.0%\b`)
	if found := odd.FindAllString(string(said), -1); found != nil {
		t.Errorf("shares written as %q", found)
	}
}

func number(t *testing.T, db *sql.DB, what string) (n int64) {
	t.Helper()
	if err := db.QueryRow("SELECT " + what + " FROM fetches").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// share formats n of a whole as the terminal does.
func share(n, whole int64) string {
	if n == whole {
		return "100%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(whole))
}
