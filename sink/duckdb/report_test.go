package main

import (
	"database/sql"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	figurePattern = regexp.MustCompile(`(?s)<figure id="([^"]*)".*?</figure>`)
	titlePattern  = regexp.MustCompile(`(?s)<h3 [^>]*>(.*?)</h3>`)
	ofPattern     = regexp.MustCompile(`(?s)<p class="of">(.*?)</p>`)
	csvPattern    = regexp.MustCompile(`href="data:text/csv[^,]*,([^"]*)"`)
	sqlPattern    = regexp.MustCompile(`(?s)<pre class="sql">(.*?)</pre>`)
)

// drawn is a figure as the page shows it.
type drawn struct {
	title, of, sql string
	rows           [][]string // the numbers, under their head
}

// report renders a run of the census in dir.
func report(t *testing.T, dir string, args ...string) map[string]drawn {
	t.Helper()
	return drawnOf(t, reportPage(t, dir, args...))
}

func reportPage(t *testing.T, dir string, args ...string) string {
	t.Helper()
	page, err := exec.Command(filepath.Join(bin, "robocensus"), append([]string{"report", "--out", dir},
		args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func drawnOf(t *testing.T, page string) map[string]drawn {
	t.Helper()
	figures := make(map[string]drawn)
	for _, figure := range figurePattern.FindAllStringSubmatch(page, -1) {
		text := func(pattern *regexp.Regexp) string {
			if found := pattern.FindStringSubmatch(figure[0]); found != nil {
				return html.UnescapeString(found[1])
			}
			return ""
		}
		d := drawn{title: text(titlePattern), of: text(ofPattern), sql: text(sqlPattern)}
		content, err := base64.StdEncoding.DecodeString(text(csvPattern))
		if err == nil {
			d.rows, err = csv.NewReader(strings.NewReader(string(content))).ReadAll()
		}
		if err != nil || len(d.rows) < 2 || d.sql == "" {
			t.Errorf("%s: %d lines of numbers, SQL %q: %v", figure[1], len(d.rows), d.sql, err)
		}
		figures[figure[1]] = d
	}
	return figures
}

// sentence is the title of a figure, and queries over the tables for its values: %s
// is a share, for which the query gives both numbers, %d a number, %q a quantile,
// %w a word, which is not checked if there is no query.
type sentence struct {
	format string
	values []string // SQL
}

// ofTables holds macros for the bases, and for what several sentences ask.
const ofTables = `
CREATE OR REPLACE TEMP MACRO hosts() AS (SELECT count(*) FROM fetches);
CREATE OR REPLACE TEMP MACRO files() AS (SELECT count(*) FROM fetches WHERE outcome = 'conditional_allow' AND challenge IS NULL);
CREATE OR REPLACE TEMP VIEW closings AS SELECT seq, category, bool_and(class = 'disallow_all') AS every, bool_or(class = 'disallow_all') AS one, bool_or(class = 'unknown') AS unknown
  FROM policies GROUP BY ALL;
CREATE OR REPLACE TEMP VIEW shut_out AS SELECT agent, count(*) AS n FROM policies WHERE class = 'disallow_all' GROUP BY agent;
CREATE OR REPLACE TEMP VIEW named AS SELECT agent, count(*) AS n, count(*) FILTER (class = 'disallow_all') AS closed FROM policies WHERE match = 'own' GROUP BY agent;`

// refusalsOf is the way in which each host refuses the training of models, for the last
// run under its first profile. A group for * states nothing for a policy token.
const refusalsOf = `WITH refusals AS (
	SELECT seq, CASE kind WHEN 'token' THEN 'token' ELSE 'crawler' END AS way FROM policies JOIN (SELECT agent, kind, uses, falls_back_to FROM agents) USING (agent)
	WHERE class = 'disallow_all' AND CASE kind WHEN 'token' THEN list_contains(uses, 'ai-train') AND (is_explicit OR list_contains(falls_back_to, '*')) ELSE category = 'ai-training' END
	UNION SELECT seq, mechanism FROM preferences WHERE scope <> 'orphan' AND mechanism <> 'token' AND use = 'ai-train' AND preference = 'disallow') `

// byTerms are the hosts that refuse in no way of refusalsOf and name a licence.
const byTerms = `SELECT seq FROM preferences WHERE mechanism = 'license' AND remark IS NULL AND seq NOT IN (SELECT seq FROM refusals)`

// signalReach is whom the content signals of each file bind at best, from the groups in
// which they stand: a group reaches to the next.
const signalReach = `SELECT seq, ['nobody', 'one', 'several', 'all'][max(reach)] AS binds FROM (
		SELECT p.seq, CASE WHEN p.scope = 'orphan' THEN 1 WHEN p.group_agent = '*' THEN 4
			WHEN (SELECT len(list_distinct(list_transform(arg_max(g.tokens, g.line), lambda x: lower(x)))) FROM groups g WHERE g.run = p.run AND g.seq = p.seq AND g.line <= p.line) > 1 THEN 3 ELSE 2 END AS reach
		FROM preferences p WHERE p.mechanism = 'content-signal') GROUP BY seq`

// numbersOf holds the numbers of figures computed from the tables, not from the
// counters that the page uses.
var numbersOf = map[string]string{
	"ai-training": `SELECT stratum(rank) AS stratum, count(*) AS hosts, count(*) FILTER (outcome = 'conditional_allow' AND challenge IS NULL) AS with_rules,
		count(*) FILTER (one AND every AND NOT unknown) AS shut_out_all, count(*) FILTER (one AND NOT every AND NOT unknown) AS shut_out_some,
		count(*) FILTER (NOT one AND NOT unknown) AS shut_out_none, count(*) FILTER (unknown) AS unknown
		FROM fetches JOIN (FROM closings WHERE category = 'ai-training') USING (seq) GROUP BY ALL ORDER BY min(rank) NULLS LAST`,
	"refusals": refusalsOf +
		`SELECT ways, count(*) AS hosts FROM (SELECT seq, string_agg(way, '+' ORDER BY list_position(['crawler', 'token', 'content-signal', 'content-usage'], way)) AS ways
		FROM refusals GROUP BY seq) GROUP BY ways ORDER BY hosts DESC, ways`,
	"preferences": `SELECT mechanism || ' ' || use || ' ' || preference AS statement, count(DISTINCT seq) AS files FROM preferences
		WHERE scope <> 'orphan' AND use IS NOT NULL AND preference IS NOT NULL GROUP BY ALL ORDER BY files DESC, statement`,
	"preference-remarks": `SELECT remark, count(DISTINCT seq) AS files FROM (SELECT seq, remark FROM preferences WHERE remark IS NOT NULL UNION ALL SELECT seq, 'orphan' FROM preferences WHERE scope = 'orphan'
		UNION ALL SELECT seq, 'conflict' FROM preferences WHERE conflict) GROUP BY ALL ORDER BY files DESC, remark`,
	"signal-reach": "SELECT binds, count(*) AS files FROM (" + signalReach + ") GROUP BY ALL ORDER BY files DESC, binds",
	"templates":    `SELECT template, count(DISTINCT seq) AS files FROM templates GROUP BY ALL ORDER BY files DESC, template`,
	"template-ranks": `SELECT template, stratum, files, of_files FROM (SELECT *, sum(files) OVER (PARTITION BY template) AS total FROM (SELECT template, stratum(rank) AS stratum, count(DISTINCT seq) AS files, min(rank) AS least FROM templates GROUP BY ALL))
		JOIN (SELECT stratum(rank) AS stratum, count(*) AS of_files FROM fetches WHERE content_digest IS NOT NULL GROUP BY ALL) USING (stratum) ORDER BY total DESC, template, least NULLS LAST`,
	"dead-names": "SELECT name, count(DISTINCT seq) AS files FROM " + deadNames +
		" GROUP BY name ORDER BY files DESC, name",
	"words": `SELECT agent, category, count(*) AS shut_out, count(template) AS template, count(*) FILTER (template IS NULL) AS own_words FROM policies WHERE class = 'disallow_all'
		GROUP BY ALL HAVING count(template) > 0 ORDER BY template DESC, shut_out DESC, agent`,
	"categories": `SELECT category, count(*) FILTER (one AND every AND NOT unknown) AS shut_out_all, count(*) FILTER (one AND NOT every AND NOT unknown) AS shut_out_some,
		count(*) FILTER (NOT one AND NOT unknown) AS shut_out_none, count(*) FILTER (unknown) AS unknown FROM closings GROUP BY ALL ORDER BY shut_out_all + shut_out_some DESC, category`,
	"agents": `SELECT agent, category, count(*) FILTER (class = 'disallow_all') AS shut_out, count(*) FILTER (class = 'disallow_all' AND match = 'own') AS by_name,
		count(*) FILTER (class = 'disallow_all' AND match = 'fallback') AS by_fallback, count(*) FILTER (class = 'disallow_all' AND match = 'star') AS by_star
		FROM policies GROUP BY agent, category ORDER BY shut_out DESC, count(*) FILTER (match = 'own') DESC, agent`,
	"ranks": `SELECT agent, stratum(rank) AS stratum, count(*) FILTER (class = 'disallow_all') AS shut_out, count(*) FILTER (class <> 'unknown') AS known FROM policies
		WHERE agent IN (` + leading("class = 'disallow_all'", 15) + `) GROUP BY ALL ORDER BY agent, min(rank) NULLS LAST`,
	"together": `WITH named AS (SELECT seq, agent FROM policies WHERE ` + namedTraining +
		`), of AS (SELECT agent, count(*) AS hosts FROM named GROUP BY agent HAVING agent IN (` + leading(namedTraining, 8) +
		`))
		SELECT a.agent, b.agent AS other, count(*) AS common, any_value(hosts) AS hosts FROM named a JOIN named b ON a.seq = b.seq AND a.agent <> b.agent JOIN of ON of.agent = a.agent
		WHERE b.agent IN (SELECT agent FROM of) GROUP BY ALL ORDER BY a.agent, other`,
	"named": `SELECT agent, category, count(*) FILTER (match = 'own') AS named, count(*) FILTER (match = 'own' AND class = 'disallow_all') AS shut_out,
		count(*) FILTER (match = 'own' AND class = 'partial') AS partly_closed, count(*) FILTER (match = 'own' AND class = 'allow_all') AS open
		FROM policies GROUP BY agent, category ORDER BY named DESC, agent`,
	"versus-star": `SELECT agent, category, count(*) AS named, count(*) FILTER (versus_star = 'equal') AS equal, count(*) FILTER (versus_star = 'stricter') AS stricter,
		count(*) FILTER (versus_star = 'looser') AS looser, count(*) FILTER (versus_star = 'mixed') AS mixed, count(*) FILTER (versus_star = 'undecided') AS undecided
		FROM policies WHERE match = 'own' GROUP BY agent, category ORDER BY named DESC, agent`,
	"answers": `SELECT stratum(rank) AS stratum, count(*) FILTER (challenge IS NULL AND reason = 'success') AS file, count(*) FILTER (challenge IS NULL AND reason IN ('client_error', 'misconfigured_server') AND NOT (` + turnedAway + `)) AS no_file,
		count(*) FILTER (reason IN ('redirect_limit', 'redirect_loop', 'redirect_invalid', 'redirect_unsupported', 'html_redirect')) AS dead_redirect,
		count(*) FILTER (challenge IS NULL AND (` + turnedAway + `)) AS turned_away,
		count(*) FILTER (reason = 'server_error' AND NOT (` + turnedAway +
		`)) AS server_error, count(*) FILTER (reason = 'network_failure') AS unreachable,
		count(*) FILTER (reason IN ('invalid_response', 'incomplete_body')) AS broken, count(*) FILTER (challenge IS NOT NULL) AS wall, count(*) FILTER (reason IN ('stale_copy', 'unreachable_too_long')) AS earlier,
		count(*) FILTER (reason IN ('address_blocked', 'redirect_unresolved', 'revisit_unresolved')) AS not_seen FROM fetches GROUP BY ALL ORDER BY min(rank) NULLS LAST`,
	"errors":   `SELECT error_class, count(*) AS hosts FROM fetches WHERE error_class IS NOT NULL GROUP BY ALL ORDER BY hosts DESC, error_class`,
	"sizes":    binned("body_bytes", "files", "fetches WHERE content_digest IS NOT NULL"),
	"delays":   binned("floor(crawl_delay)::BIGINT", "groups", "groups WHERE crawl_delay IS NOT NULL"),
	"sitemaps": binned("sitemaps", "files", "fetches WHERE content_digest IS NOT NULL"),
	"times":    binned("total_us", "hosts", "fetches WHERE total_us IS NOT NULL"),
	"features": `SELECT feature, count(DISTINCT seq) AS files FROM (SELECT seq, 'group' AS feature FROM groups UNION ALL SELECT seq, 'joined' FROM groups WHERE joined
		UNION ALL SELECT seq, 'star_group' FROM groups WHERE list_contains(tokens, '*') UNION ALL SELECT seq, 'crawl_delay' FROM groups WHERE crawl_delay IS NOT NULL
		UNION ALL SELECT seq, 'rule' FROM rules UNION ALL SELECT seq, 'wildcard' FROM rules WHERE has_wildcard UNION ALL SELECT seq, 'anchor' FROM rules WHERE has_anchor
		UNION ALL SELECT seq, 'sitemap' FROM sitemaps) GROUP BY ALL ORDER BY files DESC, feature`,
	"fields": `SELECT field, count(DISTINCT seq) AS files FROM (SELECT seq, CASE class WHEN 'extension' THEN lower(field) ELSE 'other' END AS field FROM lines WHERE class IN ('extension', 'unknown_field')
		UNION ALL SELECT seq, field FROM signals) GROUP BY ALL ORDER BY files DESC, field`,
	"flaws": `SELECT class AS flaw, count(DISTINCT seq) AS files, count(*) AS lines FROM lines WHERE class NOT IN ('extension', 'comment') GROUP BY ALL ORDER BY files DESC, flaw`,
	"parity": `SELECT agent, category, count(*) AS named, count(*) FILTER (parity = 'let_in') AS let_in, count(*) FILTER (parity = 'kept_out') AS kept_out,
		count(*) FILTER (parity = 'different') AS different, count(*) FILTER (parity = 'undecided') AS undecided, count(*) FILTER (parity = 'escapes_only') AS escapes_only,
		count(*) FILTER (parity = 'equal') AS equal FROM policies WHERE parity IS NOT NULL GROUP BY ALL ORDER BY named DESC, agent`,
	"parity-causes": `SELECT cause, count(DISTINCT seq) AS files FROM (SELECT seq, CASE WHEN causes > 1 THEN 'several' ELSE cause END AS cause FROM lines WHERE class = 'not_portable')
		GROUP BY ALL ORDER BY files DESC, cause`,
	"bodies": `SELECT body, count(*) AS files FROM (SELECT unnest([CASE WHEN has_bom THEN 'bom' END, CASE WHEN NOT is_utf8 THEN 'not_utf8' END, CASE WHEN is_html THEN 'html' END, CASE WHEN body_truncated THEN 'truncated' END, CASE WHEN only_comments THEN 'only_comments' END]) AS body
		FROM fetches WHERE content_digest IS NOT NULL) WHERE body IS NOT NULL GROUP BY ALL ORDER BY files DESC, body`,
	"changes": `WITH worst AS (SELECT CASE WHEN bool_or(severity = 'critical') THEN 1 WHEN bool_or(severity = 'major') THEN 2 WHEN bool_or(severity = 'minor') THEN 3 ELSE 4 END AS n
		FROM changes WHERE kind NOT IN ('host_new', 'host_gone') GROUP BY origin) SELECT CASE n WHEN 1 THEN 'critical' WHEN 2 THEN 'major' WHEN 3 THEN 'minor' ELSE 'cosmetic' END AS severity, count(*) AS hosts FROM worst GROUP BY n ORDER BY n`,
	"before-categories": `WITH closings AS (SELECT run, seq, category, bool_or(class = 'disallow_all') AND NOT bool_or(class = 'unknown') AS closed FROM history.policies GROUP BY ALL)
		SELECT category, count(*) FILTER (run = 'before' AND closed) AS before, count(*) FILTER (run = 'after' AND closed) AS after, ` + ofBothRuns + ` FROM closings
		GROUP BY category HAVING before + after > 0 ORDER BY category = 'ai-training' DESC, after DESC, before DESC, category`,
	"before-agents": `FROM (SELECT agent, count(*) FILTER (run = 'before' AND class = 'disallow_all') AS before, count(*) FILTER (run = 'after' AND class = 'disallow_all') AS after, ` + ofBothRuns + ` FROM history.policies
		GROUP BY agent HAVING before + after > 0) ORDER BY abs(after * of_before - before * of_after) DESC, agent`,
	"before-average": `SELECT coalesce(category, 'all') AS category, count(DISTINCT agent) AS agents, count(*) FILTER (run = 'before' AND class = 'disallow_all') AS before,
		count(*) FILTER (run = 'after' AND class = 'disallow_all') AS after, count(*) FILTER (run = 'before' AND class <> 'unknown') // count(DISTINCT agent) AS of_before,
		count(*) FILTER (run = 'after' AND class <> 'unknown') // count(DISTINCT agent) AS of_after FROM history.policies GROUP BY GROUPING SETS ((), (category)) ORDER BY policies.category IS NOT NULL, policies.category`,
	"change-kinds": `SELECT kind, count(DISTINCT origin) AS hosts, count(*) AS rows FROM changes GROUP BY ALL ORDER BY hosts DESC, kind`,
	"change-together": `WITH mine AS (SELECT origin, host, coalesce(rank, 1000000000) AS rank, severity, concat_ws('|', kind, coalesce(agent, '-'), coalesce(profile, '-'), coalesce(template, '-'), coalesce(replace(url, host, '@'), '-'),
			coalesce(replace(before, host, '@'), '-'), coalesce(replace(after, host, '@'), '-')) AS row
			FROM changes WHERE kind IN ('policy_class', 'verdict', 'outcome', 'group', 'signal', 'crawl_delay') OR kind = 'rules' AND agent IS NOT NULL),
		hosts AS (SELECT origin, host, rank, bool_or(severity = 'critical') AS critical, bool_or(severity = 'major') AS major, string_agg(row, chr(10) ORDER BY row) AS way FROM mine GROUP BY ALL)
		SELECT arg_min(origin, (rank, host)) AS such_as, count(*) AS hosts FROM hosts GROUP BY way HAVING count(*) > 1
		ORDER BY hosts DESC, bool_or(critical) DESC, bool_or(major) DESC, arg_min(host, (rank, host)) LIMIT 10`,
	"change-agents": `SELECT agent, count(DISTINCT origin) FILTER (` + closedIs + `) AS closed,
		count(DISTINCT origin) FILTER (kind = 'policy_class' AND after = 'disallow_all') AS shut_out, count(DISTINCT origin) FILTER (` + openedIs + `) AS opened,
		count(DISTINCT origin) FILTER (kind = 'policy_class' AND before = 'disallow_all') AS let_in
		FROM changes WHERE category IS NOT NULL AND kind IN ('rules', 'policy_class') AND after <> 'undecided' GROUP BY ALL
		ORDER BY closed DESC, shut_out DESC, opened DESC, let_in DESC, agent`,
	"change-categories": `SELECT category, count(DISTINCT origin) FILTER (` + closedIs + `) AS closed,
		count(DISTINCT origin) FILTER (kind = 'policy_class' AND after = 'disallow_all') AS shut_out, count(DISTINCT origin) FILTER (` + openedIs + `) AS opened,
		count(DISTINCT origin) FILTER (kind = 'policy_class' AND before = 'disallow_all') AS let_in
		FROM changes WHERE category IS NOT NULL AND kind IN ('rules', 'policy_class') AND after <> 'undecided' GROUP BY ALL
		ORDER BY closed DESC, shut_out DESC, opened DESC, let_in DESC, category`,
}

// namedTraining is the condition that a group by name shuts out an agent for AI training.
const namedTraining = "class = 'disallow_all' AND match IN ('own', 'fallback') AND category = 'ai-training'"

// leading returns the agents that most hosts treat so, without those that tie with the first
// one beyond the limit.
func leading(condition string, most int) string {
	return fmt.Sprintf("SELECT agent FROM (SELECT agent, count(*) AS n FROM policies WHERE %s GROUP BY agent) QUALIFY n "+
		"> coalesce(nth_value(n, %d) OVER (ORDER BY n DESC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), 0)",
		condition, most+1)
}

// ofBothRuns are the hosts of the runs before and after.
const ofBothRuns = "(SELECT count(*) FROM history.fetches WHERE run = 'before') AS of_before, (SELECT count(*) FROM " +
	"history.fetches WHERE run = 'after') AS of_after"

// arrow is the pair of shares of the first row of a figure.
func arrow(id string) string {
	return "SELECT printf('%.1f → %.1f%%', 100 * before / of_before, 100 * after / of_after) FROM (" + numbersOf[id] +
		") LIMIT 1"
}

// What a closing and an opening are, by the rows of changes.
const (
	closedIs = "kind = 'rules' AND after IN ('closes', 'both') OR kind = 'policy_class' AND (after = 'disallow_all' OR " +
		"before = 'allow_all')"
	openedIs = "kind = 'rules' AND after IN ('opens', 'both') OR kind = 'policy_class' AND (after = 'allow_all' OR " +
		"before = 'disallow_all')"
)

// knownOfFirst are the hosts whose policy is known for the agent that most hosts shut out.
var knownOfFirst = "(SELECT count(*) FROM policies WHERE class <> 'unknown' AND agent = (SELECT agent FROM (" +
	numbersOf["agents"] + ") LIMIT 1))"

// rankedShare is the share of the commonest template in the band of ranks where it is
// commonest or rarest.
func rankedShare(order string) string {
	return "SELECT [coalesce(files, 0), of_files] FROM (SELECT stratum(rank) AS stratum, count(*) AS of_files FROM " +
		"fetches WHERE content_digest IS NOT NULL GROUP BY ALL) LEFT JOIN (SELECT stratum, files FROM (" +
		numbersOf["template-ranks"] + ") WHERE template = (SELECT template FROM (" + numbersOf["templates"] +
		") LIMIT 1)) USING (stratum) ORDER BY coalesce(files, 0) / of_files " + order + " LIMIT 1"
}

// deadNames is the user-agent lines of the last run with names that the registry has as
// named_only: SQL with their seq.
var deadNames = func() string {
	registry, err := os.ReadFile("../../configs/agents.yaml")
	if err != nil {
		panic(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(
		`(?m)^- \{name: (\S+), kind: named_only, source: "[^"]+"\}$`).FindAllStringSubmatch(string(registry), -1) {
		names = append(names, "('"+m[1]+"')")
	}
	return "(SELECT run, seq, name FROM (SELECT run, seq, unnest(tokens) AS token FROM groups) JOIN (VALUES " +
		strings.Join(names, ", ") + ") AS d(name) ON token = lower(name))"
}()

// binned counts values in bins of 1, 2 to 4, 5 to 9 and so on.
func binned(value, unit, from string) string {
	return `SELECT a AS least, CASE WHEN a = 0 THEN 0 WHEN left(a::VARCHAR, 1) = '2' THEN a // 2 * 5 - 1 ELSE a * 2 - 1 END AS most, count(*) AS ` + unit + `
		FROM (SELECT (CASE WHEN v = 0 THEN 0 ELSE CASE WHEN left(v::VARCHAR, 1) < '2' THEN 1 WHEN left(v::VARCHAR, 1) < '5' THEN 2 ELSE 5 END * 10::BIGINT ** (strlen(v::VARCHAR) - 1) END)::BIGINT AS a
			FROM (SELECT ` + value + ` AS v FROM ` + from + `)) GROUP BY ALL ORDER BY least`
}

// sentences holds the titles of figures. If a figure has several, the one that fits
// the data counts.
var sentences = map[string][]sentence{
	"ai-training": {
		{"%s of %d hosts (%s of the %d with rules) shut out agents for AI training: %s of hosts all of them, %s some",
			[]string{
				shareOf(closed, "hosts()"), "hosts()", shareOf(closed, "files()"), "files()", shareOf(closedAll, "hosts()"),
				shareOf(closed+" - "+closedAll, "hosts()")}}},
	"categories": {{"The category of agents that is shut out most is %w: %s of %d hosts (%s of the %d with rules) shut " +
		"out at least one of its agents, and %s of hosts all of them", []string{
		"", shareOf(worstCategory("one"), "hosts()"), "hosts()", shareOf(worstCategory("one"), "files()"), "files()",
		shareOf(worstCategory("every"), "hosts()")}}},
	"agents": {{"%w is shut out most often of %d agents, by %s of %d hosts (%s of the %d with rules)", []string{
		"SELECT agent FROM shut_out ORDER BY n DESC LIMIT 1", "SELECT count(DISTINCT agent) FROM policies",
		shareOf("(SELECT max(n) FROM shut_out)", "hosts()"), "hosts()", shareOf("(SELECT max(n) FROM shut_out)", "files()"),
		"files()"}},
		{"%d agents are shut out most often of %d agents, each by %s of %d hosts (%s of the %d with rules)", []string{
			"SELECT count(*) FROM shut_out WHERE n = (SELECT max(n) FROM shut_out)",
			"SELECT count(DISTINCT agent) FROM policies", shareOf("(SELECT max(n) FROM shut_out)", "hosts()"), "hosts()",
			shareOf("(SELECT max(n) FROM shut_out)", "files()"), "files()"}}},
	"named": {{"%w is named most often: by %s of %d hosts (%s of the %d with rules), of which %d shut it out", []string{
		"SELECT agent FROM named ORDER BY n DESC, agent LIMIT 1", shareOf("(SELECT max(n) FROM named)", "hosts()"),
		"hosts()", shareOf("(SELECT max(n) FROM named)", "files()"), "files()",
		"SELECT closed FROM named ORDER BY n DESC, agent LIMIT 1"}}},
	"versus-star": {{"Of the %d hosts that name %w, %s only repeat what holds for all", []string{
		"SELECT max(n) FROM named", "SELECT agent FROM named ORDER BY n DESC, agent LIMIT 1",
		shareOf("(SELECT count(*) FROM policies WHERE versus_star = 'equal' AND agent = (SELECT agent FROM named ORDER BY "+
			"n DESC, agent LIMIT 1))", "(SELECT max(n) FROM named)")}}},
	"sizes": {{"The median file has about %q bytes, and nine in ten at most %q; %s reach the size limit", []string{
		quantile("body_bytes", 0.5), quantile("body_bytes", 0.9),
		shareOf("(SELECT count(*) FROM fetches WHERE body_truncated)", "files()")}}},
	"features": {{"%s of files have a group for all (*), %s a wildcard in a rule, %s a sitemap", []string{
		shareOf("(SELECT count(DISTINCT seq) FROM groups WHERE list_contains(tokens, '*'))", "files()"),
		shareOf("(SELECT count(DISTINCT seq) FROM rules WHERE has_wildcard)", "files()"),
		shareOf("(SELECT count(DISTINCT seq) FROM sitemaps)", "files()")}}},
	"sitemaps": {{"%s of files name a sitemap; of %d sitemap lines, %s lead to another host and %s are not absolute URLs",
		[]string{
			shareOf("(SELECT count(DISTINCT seq) FROM sitemaps)", "files()"), "SELECT count(*) FROM sitemaps",
			shareOf("(SELECT count(*) FROM sitemaps WHERE is_absolute AND NOT is_same_host)", "(SELECT count(*) FROM sitemaps)"),
			shareOf("(SELECT count(*) FROM sitemaps WHERE NOT is_absolute)", "(SELECT count(*) FROM sitemaps)")}}},
	"fields": {{"The commonest extension is crawl-delay, in %s of files",
		[]string{
			shareOf("(SELECT count(DISTINCT seq) FROM lines WHERE class = 'extension' AND lower(field) = 'crawl-delay')",
				"files()")}}},
	"parity": {{"%s of hosts with rules shut out a crawler under its name that its own parser lets in",
		[]string{shareOf("(SELECT count(DISTINCT seq) FROM policies WHERE parity = 'let_in')", "files()")}}},
	"parity-causes": {{"%s of %d files mean something else to the parser of a crawler that they name", []string{
		shareOf("(SELECT count(DISTINCT seq) FROM lines WHERE class = 'not_portable')",
			"(SELECT count(DISTINCT seq) FROM policies WHERE parity IS NOT NULL)"),
		"(SELECT count(DISTINCT seq) FROM policies WHERE parity IS NOT NULL)"}}},
	"flaws": {{"The commonest flaw is “%w”, in %s of files",
		[]string{"", shareOf("(SELECT max(n) FROM (SELECT count(DISTINCT seq) AS n FROM lines WHERE class NOT IN "+
			"('extension', 'comment') GROUP BY class))", "files()")}}},
	"bodies": {{"%s of files are not UTF-8, %s are HTML, %s begin with a byte order mark, %s have comments and no record",
		[]string{
			shareOf("(SELECT count(*) FROM fetches WHERE content_digest IS NOT NULL AND NOT is_utf8)", "files()"),
			shareOf("(SELECT count(*) FROM fetches WHERE is_html)", "files()"),
			shareOf("(SELECT count(*) FROM fetches WHERE has_bom)", "files()"),
			shareOf("(SELECT count(*) FROM fetches WHERE only_comments)", "files()")}}},
	"refusals": {{"%s of %d hosts (%s of the %d with rules) refuse AI training in robots.txt, most often %w (%s of " +
		"hosts); %d more %w a licence, whose terms permit or refuse it", []string{
		shareOf(ofRefusals("count(DISTINCT seq)"), "hosts()"), "hosts()", shareOf(ofRefusals("count(DISTINCT seq)"),
			"files()"), "files()", "",
		shareOf(ofRefusals("count(*) FILTER (way = 'crawler')"), "hosts()"), "(" + refusalsOf +
			"SELECT count(DISTINCT seq) FROM (" + byTerms + "))", ""}}},
	"preferences": {
		{"Content-Signal refuses AI training in %s of files and permits it in %s; Content-Usage refuses AI training in %s " +
			"of files and permits it in %s", []string{
			shareOf(stated("content-signal", "disallow"), "files()"), shareOf(stated("content-signal", "allow"), "files()"),
			shareOf(stated("content-usage", "disallow"), "files()"), shareOf(stated("content-usage", "allow"), "files()")}},
		{"Content-Signal refuses AI training in %s of files and permits it in %s; no file has a Content-Usage about it",
			[]string{shareOf(stated("content-signal", "disallow"), "files()"), shareOf(stated("content-signal", "allow"),
				"files()")}},
		{"No file says in so many words whether models may be trained", nil},
	},
	"signal-reach": {{"Of %d files with content signals %d bind all agents, %d one agent or nobody", []string{
		"SELECT count(*) FROM (" + signalReach + ")", "SELECT count(*) FROM (" + signalReach + ") WHERE binds = 'all'",
		"SELECT count(*) FROM (" + signalReach + ") WHERE binds IN ('one', 'nobody')"}}},
	"preference-remarks": {
		{"The commonest misstatement is “%w”, in %s of files",
			[]string{"", shareOf("(SELECT max(files) FROM ("+numbersOf["preference-remarks"]+"))", "files()")}},
		{"The commonest misstatements are %w, in %s of files each",
			[]string{"", shareOf("(SELECT max(files) FROM ("+numbersOf["preference-remarks"]+"))", "files()")}},
	},
	"dead-names": {{"%d of %d files name agents that no operator is known to send; %d lines address nobody", []string{
		"SELECT count(DISTINCT seq) FROM " + deadNames, "SELECT count(*) FROM fetches WHERE content_digest IS NOT NULL",
		"SELECT count(*) FROM " + deadNames}},
		{"%d of %d files names an agent that no operator is known to send; %d line addresses nobody", []string{
			"SELECT count(DISTINCT seq) FROM " + deadNames, "SELECT count(*) FROM fetches WHERE content_digest IS NOT NULL",
			"SELECT count(*) FROM " + deadNames}}},
	"template-ranks": {{"%w is in %s of the files of hosts %w, and in %s of those %w", []string{"SELECT template FROM (" +
		numbersOf["templates"] + ") LIMIT 1",
		rankedShare("DESC"), "", rankedShare("ASC"), ""}}},
	"templates": {{"The commonest template is %w, in %s of files", []string{"SELECT template FROM (" +
		numbersOf["templates"] + ") LIMIT 1", shareOf("(SELECT max(files) FROM ("+numbersOf["templates"]+"))", "files()")}}},
	"words": {{"%w is shut out by %s of %d hosts (%s of the %d with rules): %s of hosts in their own words, %s " +
		"in those of a template", []string{
		"SELECT agent FROM (" + numbersOf["words"] +
			") ORDER BY template DESC, agent = 'GPTBot' DESC, shut_out DESC, agent LIMIT 1",
		shareOf(topWords("shut_out"), "hosts()"), "hosts()", shareOf(topWords("shut_out"), "files()"), "files()",
		shareOf(topWords("own_words"), "hosts()"), shareOf(topWords("template"), "hosts()")}}},
	"errors": {{"At %d of %d hosts the attempt failed or led nowhere, most often with %w",
		[]string{"SELECT count(error_class) FROM fetches", "hosts()", ""}}},
	"times": {{"The median fetch takes about %w, and nine in ten at most %w; %s take 1\u00a0s or more",
		[]string{"", "", shareOf("(SELECT count(*) FROM fetches WHERE total_us >= 1000000)",
			"(SELECT count(total_us) FROM fetches)")}}},
	"changes": {
		{"%d of %d hosts changed since %w: %d closed a path to an agent (%d shut one out entirely) and %d opened one",
			[]string{
				"SELECT count(DISTINCT origin) FROM changes WHERE kind NOT IN ('host_new', 'host_gone')", "hosts()", "",
				"SELECT count(DISTINCT origin) FROM changes WHERE category IS NOT NULL AND (" + closedIs + ")",
				"SELECT count(DISTINCT origin) FROM changes WHERE kind = 'policy_class' AND after = 'disallow_all'",
				"SELECT count(DISTINCT origin) FROM changes WHERE category IS NOT NULL AND (" + openedIs + ")"}}},
	"change-categories": {
		{"AI training lost most: %d hosts closed a path to at least one of its agents, and %d shut one out entirely",
			[]string{
				"SELECT count(DISTINCT origin) FROM changes WHERE category = 'ai-training' AND (" + closedIs + ")",
				"SELECT count(DISTINCT origin) FROM changes WHERE kind = 'policy_class' AND after = 'disallow_all' AND category " +
					"= 'ai-training'"}}},
	"change-agents": {{"%w lost most: %d hosts closed a path to it, and %d shut it out entirely", []string{
		"SELECT agent FROM (" + numbersOf["change-agents"] + ") LIMIT 1", "SELECT closed FROM (" +
			numbersOf["change-agents"] + ") LIMIT 1", "SELECT shut_out FROM (" + numbersOf["change-agents"] + ") LIMIT 1"}}},
	"ranks": {{"%w is shut out by %s of hosts of %w, and by %s of %w", []string{
		"SELECT agent FROM (" + numbersOf["agents"] + ") LIMIT 1", "SELECT [shut_out, known] FROM (" + numbersOf["ranks"] +
			") WHERE agent = (SELECT agent FROM (" + numbersOf["agents"] + ") LIMIT 1) LIMIT 1", "",
		"SELECT last([shut_out, known]) FROM (" + numbersOf["ranks"] + ") WHERE agent = (SELECT agent FROM (" +
			numbersOf["agents"] + ") LIMIT 1)", ""}}},
	"intervals": {{"%w is shut out by %s of %d hosts whose policy is known; if these are a sample, by %w to %w of all",
		[]string{"", shareOf("(SELECT max(n) FROM shut_out)", knownOfFirst), knownOfFirst, "", ""}}},
	"sites": {{"%d of %d sites shut at least one agent out, and %d are open to all of them; %d could not be read",
		[]string{
			"SELECT count(*) FROM (SELECT seq FROM policies GROUP BY seq HAVING bool_or(class = 'disallow_all'))", "hosts()",
			"SELECT count(*) FROM (SELECT seq FROM policies GROUP BY seq HAVING bool_and(class = 'allow_all'))",
			"SELECT count(*) FROM (SELECT seq FROM policies GROUP BY seq HAVING bool_and(class = 'unknown'))"}}},
	"together": {{"Of the %d hosts that shut out %w by name, %s shut out %w too", []string{
		"SELECT max(hosts) FROM (" + numbersOf["together"] + ")", "SELECT arg_max(agent, hosts) FROM (" +
			numbersOf["together"] + ")",
		"SELECT [max(common), any_value(hosts)] FROM (" + numbersOf["together"] +
			") WHERE hosts = (SELECT max(hosts) FROM (" + numbersOf["together"] + "))", ""}}},
	"before-categories": {{"%w of hosts shut out an agent for AI training", []string{arrow("before-categories")}}},
	"before-agents": {{"%w moved most: %w of hosts shut it out",
		[]string{"SELECT agent FROM (" + numbersOf["before-agents"] + ") LIMIT 1", arrow("before-agents")}}},
	"before-average": {
		{"The average host shuts out %w of %d agents; at %s of %d hosts whose policies were compared every agent may fetch " +
			"the same as before", averageValues},
		{"The average host shuts out %w of %d agents; at %s of %d hosts whose policies were compared every agent that was " +
			"compared may fetch the same as before", averageValues},
	},
	"delays": {{"%s of files ask for a crawl delay; %s of groups with one ask for %w seconds", []string{
		shareOf("(SELECT count(DISTINCT seq) FROM groups WHERE crawl_delay IS NOT NULL)",
			"(SELECT count(*) FROM fetches WHERE content_digest IS NOT NULL)"),
		"SELECT [max(groups), sum(groups)] FROM (" + numbersOf["delays"] + ")",
		"SELECT CASE WHEN least = most THEN least::VARCHAR ELSE least || ' to ' || most END FROM (" + numbersOf["delays"] +
			") ORDER BY groups DESC, least LIMIT 1"}}},
	"change-together": {{"%d hosts changed in the same way, such as %w: %w", []string{"SELECT max(hosts) FROM (" +
		numbersOf["change-together"] + ")", "SELECT split_part(such_as, '://', 2) FROM (" + numbersOf["change-together"] +
		") LIMIT 1", ""}}},
	"change-kinds": {{"What changed on most hosts: %w, on %d",
		[]string{"", "SELECT max(n) FROM (SELECT count(DISTINCT origin) AS n FROM changes GROUP BY kind)"}}},
}

// averageValues are what the average host shuts out before and after, of how many agents,
// and the hosts whose policies mean the same.
var averageValues = []string{
	"SELECT printf('%.1f → %.1f', before / of_before, after / of_after) FROM (" + numbersOf["before-average"] +
		") LIMIT 1", "SELECT count(DISTINCT agent) FROM policies",
	shareOf("("+readInBoth+" - (SELECT count(DISTINCT origin) FROM changes WHERE category IS NOT NULL AND kind IN "+
		"('rules', 'policy_class')))", readInBoth), readInBoth,
}

// readInBoth is the number of hosts whose stored files both runs could read: a wall is none.
const readInBoth = "(SELECT count(*) FROM (SELECT origin FROM history.fetches WHERE challenge IS NULL GROUP BY " +
	"origin HAVING count(*) = 2))"

const (
	closed    = "(SELECT count(*) FROM closings WHERE category = 'ai-training' AND one)"
	closedAll = "(SELECT count(*) FROM closings WHERE category = 'ai-training' AND one AND every)"
)

func worstCategory(condition string) string {
	return "(SELECT count(*) FILTER (one AND " + condition +
		") FROM closings GROUP BY category ORDER BY count(*) FILTER (one) DESC, category LIMIT 1)"
}

func ofRefusals(what string) string {
	return "(SELECT " + what + " FROM (" + refusalsOf + "SELECT * FROM refusals))"
}

func stated(mechanism, preference string) string {
	return "(SELECT count(DISTINCT seq) FROM preferences WHERE scope <> 'orphan' AND use = 'ai-train' AND mechanism = '" +
		mechanism + "' AND preference = '" + preference + "')"
}

// topWords returns a column of the agent that templates shut out at most hosts.
func topWords(column string) string {
	return "(SELECT " + column + " FROM (" + numbersOf["words"] +
		") ORDER BY template DESC, agent = 'GPTBot' DESC, shut_out DESC, agent LIMIT 1)"
}

func shareOf(n, of string) string { return "SELECT [" + n + ", " + of + "]" }

func quantile(column string, q float64) string {
	return fmt.Sprintf("SELECT quantile_disc(%s, %g) FROM fetches WHERE content_digest IS NOT NULL", column, q)
}

// holds reports whether a title is the sentence with the values of the queries.
func (s sentence) holds(t *testing.T, db *sql.DB, title string) bool {
	t.Helper()
	pattern, kinds := "^"+regexp.QuoteMeta(s.format), ""
	for _, verb := range regexp.MustCompile(`%[sdwq]`).FindAllString(s.format, -1) {
		kinds += verb[1:]
		pattern = strings.Replace(pattern, verb, map[string]string{"%s": `([<>]?[\d.]+%)`, "%d": `([\d,]+)`,
			"%q": `([\d,]+)`, "%w": `(.+?)`}[verb], 1)
	}
	found := regexp.MustCompile(pattern + "([:;(,].*| \\(.*|)$").FindStringSubmatch(title)
	if found == nil {
		return false
	}
	for i, kind := range kinds {
		query := s.values[i]
		if query == "" {
			continue
		}
		if !strings.HasPrefix(query, "SELECT") {
			query = "SELECT " + query
		}
		want := one(t, db, query)
		ok := found[i+1] == want
		switch kind {
		case 'd':
			ok = strings.ReplaceAll(found[i+1], ",", "") == want
		case 's':
			var n, of float64
			fmt.Sscanf(want, "[%g %g]", &n, &of)
			ok = isShare(found[i+1], n, of)
		case 'q': // within 2 %
			got, _ := strconv.ParseFloat(strings.ReplaceAll(found[i+1], ",", ""), 64)
			exact, _ := strconv.ParseFloat(want, 64)
			ok = math.Abs(got-exact) <= 0.02*exact
		}
		if !ok {
			t.Errorf("%q: %s is not %s", title, found[i+1], want)
		}
	}
	return true
}

func isShare(said string, n, of float64) bool {
	switch said {
	case "0%":
		return n == 0
	case "100%":
		return n == of
	case "<0.1%":
		return n > 0 && n/of < 0.0005
	case ">99.9%":
		return n < of && n/of > 0.9995
	}
	p, err := strconv.ParseFloat(strings.TrimSuffix(said, "%"), 64)
	return err == nil && math.Abs(p-100*n/of) <= 0.0500001
}

// checkReport compares all numbers and titles with the SQL below them and with the
// tables, and the bases with the tables. The page must have the figures named by
// want.
func checkReport(t *testing.T, db *sql.DB, figures map[string]drawn, want string) {
	t.Helper()
	if _, err := db.Exec(ofTables); err != nil {
		t.Fatal(err)
	}
	bases := []string{one(t, db, "SELECT hosts()"), one(t, db, "SELECT files()")}
	for id, f := range figures {
		for name, query := range map[string]string{"its SQL": f.sql, "the tables": numbersOf[id]} {
			if query == "" {
				continue
			}
			head, rows, err := ask(db, query)
			if err != nil {
				t.Errorf("%s by %s: %v\n%s", id, name, err, query)
				continue
			}
			if diff := cmp.Diff(f.rows, append([][]string{head}, rows...)); diff != "" {
				t.Errorf("%s (-report +%s):\n%s", id, name, diff)
			}
		}
		said := false
		if expect := composed[id]; expect != nil {
			said = true
			if want := expect(f.rows, bases[0]); f.title != want {
				t.Errorf("%s says %q, want %q", id, f.title, want)
			}
		}
		for _, s := range sentences[id] {
			said = said || s.holds(t, db, f.title)
		}
		if !said {
			t.Errorf("%s says what no test knows: %q", id, f.title)
		}
		if found := regexp.MustCompile(`Shares of ([\d,]+) (hosts|files)`).FindStringSubmatch(f.of); found != nil {
			if n := strings.ReplaceAll(found[1], ",", ""); n != bases[map[string]int{"hosts": 0, "files": 1}[found[2]]] {
				t.Errorf("%s: %s, and there are %s hosts, %s files", id, f.of, bases[0], bases[1])
			}
		}
	}
	for _, id := range strings.Fields(want) {
		if _, ok := figures[id]; !ok {
			t.Errorf("the report has no figure %s", id)
		}
	}
}

// The report of the demo agrees with the tables. Its SQL also gives the numbers of
// an earlier run, under one of two profiles.
func TestReportOfTheDemo(t *testing.T) {
	t.Parallel()
	db := quick(t, single)
	all := "ai-training categories refusals preferences signal-reach preference-remarks words templates agents ranks " +
		"together named answers errors sizes features delays sitemaps fields flaws bodies parity parity-causes " +
		"times tld server"
	page := reportPage(t, single, one(t, db, "SELECT any_value(run) FROM fetches"))
	checkReport(t, db, drawnOf(t, page), all)
	if diff := cmp.Diff(tilesBy(t, db), tilesOf(page)); diff != "" {
		t.Errorf("the head of the page (-tables +page):\n%s", diff)
	}
	db = reader(t, out)
	for id, f := range report(t, out, "first") {
		if title := profilesTitle(t, db, "first", id, f.rows); title != "" && f.title != title {
			t.Errorf("%s says %q, want %q", id, f.title, title)
		}
		head, rows, err := ask(db, f.sql)
		if diff := cmp.Diff(f.rows, append([][]string{head}, rows...)); err != nil || diff != "" {
			t.Errorf("%s of an earlier run: %v (-report +SQL)\n%s", id, err, diff)
		}
	}
}

// The same for real files.
func TestReportOfTheCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("the demo stands for it")
	}
	c, db := corpusDatabase(t)
	checkReport(t, db, report(t, c.dir, one(t, db, "SELECT any_value(run) FROM fetches")),
		"ai-training categories refusals templates agents ranks named answers sizes features delays sitemaps fields "+
			"flaws bodies times")
}

// The report of two runs between which 250 hosts changed: 200 shut out GPTBot, 50
// all agents.
func TestReportOfChanges(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(corpusFile); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the corpus of real files is not beside this repository")
	}
	files, err := corpusFiles()
	must(t, err)
	dir := t.TempDir()
	var hosts []string
	for host := range files {
		if !strings.ContainsAny(host, ":_") {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	if testing.Short() {
		hosts = hosts[:4*250]
	}
	for _, run := range []string{"before", "after"} {
		bodies := filepath.Join(dir, run)
		must(t, os.Mkdir(bodies, 0o777))
		for i, host := range hosts {
			body := files[host]
			switch {
			case run == "before" || i%4 != 0 || i >= 4*250:
			case i < 4*200:
				body = append([]byte("User-agent: GPTBot\nDisallow: /\n\n"), body...)
			default:
				body = []byte("User-agent: *\nDisallow: /\n")
			}
			must(t, os.WriteFile(filepath.Join(bodies, host), body, 0o666))
		}
		robocensus(t, 0, "run", "--bodies", bodies, "--ranks", ranksFile, "--out", filepath.Join(dir, "out"), "--run", run,
			"--progress", "none", "--tables", "fetches,groups,policies,signals,sitemaps,summary,examples")
	}
	diff, _ := robocensus(t, 0, "diff", "--out", filepath.Join(dir, "out"), "--format", "json", "before", "after")
	db := quick(t, filepath.Join(dir, "out"))
	figures := report(t, filepath.Join(dir, "out"), "after", "--against", "before")
	for id := range figures {
		if !strings.HasPrefix(id, "change") && !strings.HasPrefix(id, "before") {
			delete(figures, id) // they need tables that this run did not write
		}
	}
	checkReport(t, db, figures,
		"before-categories before-agents changes change-categories change-agents change-together change-kinds")
	var compared struct {
		Together []struct {
			Origin string
			Hosts  int
		}
	}
	must(t, json.Unmarshal([]byte(diff), &compared))
	together := [][]string{{"such_as", "hosts"}}
	for _, x := range compared.Together {
		together = append(together, []string{x.Origin, strconv.Itoa(x.Hosts)})
	}
	if diff := cmp.Diff(together, figures["change-together"].rows); diff != "" {
		t.Errorf("change-together (-diff +report):\n%s", diff)
	}
}
