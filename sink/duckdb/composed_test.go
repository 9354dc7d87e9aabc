package main

import (
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// composed returns the titles of figures that are composed of as many parts as there is
// something to tell, by the numbers of the figure. These are those of its SQL.
var composed = map[string]func(rows [][]string, hosts string) string{
	"answers": answersTitle,
	"tld":     func(rows [][]string, _ string) string { return networkTitle("top-level domain", ".", rows) },
	"server":  func(rows [][]string, _ string) string { return networkTitle("server software", "", rows) },
	"address-block": func(rows [][]string, _ string) string {
		return networkTitle("address block", "", rows)
	},
}

// whatAnswers has words for the columns of the figure of answers: of one host, and of several.
var whatAnswers = [][2]string{
	{"has a file", "have a file"}, {"has none", "have none"}, {"redirects to nowhere", "redirect to nowhere"},
	{"turns a census away", "turn a census away"}, {"gives a server error", "give a server error"},
	{"cannot be reached", "cannot be reached"}, {"gives a broken answer", "give a broken answer"},
	{"is down and judged by an earlier answer", "are down and judged by earlier answers"},
	{"was not asked, or its answer is not stored", "were not asked, or their answers are not stored"},
}

func answersTitle(rows [][]string, hosts string) string {
	of, said := digits(hosts), []string(nil)
	for i, what := range whatAnswers {
		n := 0.0
		for _, row := range rows[1:] {
			n += digits(row[1+i])
		}
		if n == 0 {
			continue
		}
		said = append(said, percentOf(int(n), int(of))+" ")
		if len(said) == 1 {
			said[0] += "of " + regexp.MustCompile(`(\d)(\d{3})$`).ReplaceAllString(hosts, "$1,$2") + " hosts "
		}
		said[len(said)-1] += what[map[bool]int{true: 0, false: 1}[n == 1]]
	}
	return joined(said)
}

func digits(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// percentOf writes a share as the page does.
func percentOf(n, of int) string {
	switch p := 100 * float64(n) / float64(of); {
	case of < 10:
		return fmt.Sprintf("%d of %d", n, of)
	case n == 0:
		return "0%"
	case n == of:
		return "100%"
	case p < 0.05:
		return "<0.1%"
	case p > 99.95:
		return ">99.9%"
	default:
		return fmt.Sprintf("%.1f%%", p)
	}
}

// joined joins parts of a sentence.
func joined(parts []string) string {
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return parts[0]
}

// networkTitle says which parts of the network fail most, and which are slowest.
func networkTitle(what, prefix string, rows [][]string) string {
	var said []string
	for i, of := range []string{"failures", "slow answers"} {
		most, tied := 0.0, []int(nil)
		for k, row := range rows[1:] {
			switch rate := digits(row[2+i]) / digits(row[1]); {
			case rate == 0 || rate < most:
			case rate > most:
				most, tied = rate, []int{k + 1}
			default:
				tied = append(tied, k+1)
			}
		}
		if tied == nil {
			continue
		}
		first := rows[tied[0]]
		commonest := ""
		if said == nil {
			commonest = " are commonest"
		}
		name := func(k int) string {
			if key := rows[k][0]; key != "other" && key != "address" {
				return prefix + key
			}
			return map[string]string{"other": "others", "address": "an IP address"}[rows[k][0]]
		}
		n, all := int(digits(first[2+i])), int(digits(first[1]))
		of += commonest + " for "
		switch {
		case len(tied) == 1:
			of += fmt.Sprintf("%s (%s of %d host", name(tied[0]), percentOf(n, all), all)
			if all != 1 {
				of += "s"
			}
			of += ")"
		case len(tied) > 3:
			of += fmt.Sprintf("%d of them (%s each)", len(tied), percentOf(n, all))
		default:
			var names []string
			for _, k := range tied {
				names = append(names, name(k))
			}
			slices.Sort(names)
			of += fmt.Sprintf("%s (%s each)", joined(names), percentOf(n, all))
		}
		said = append(said, of)
	}
	return "By " + what + ", " + strings.Join(said, ", ")
}

// tilesOf returns what stands at the head of a page: its title, and names, values and notes
// of its tiles.
func tilesOf(page string) []string {
	out := regexp.MustCompile(`<h1>(.*?)</h1>`).FindStringSubmatch(page)[1:]
	for _, tile := range regexp.MustCompile(
		`<div class="tile"><span>(.*?)</span><b>(.*?)</b><span>(.*?)</span></div>`).FindAllStringSubmatch(page, -1) {
		out = append(out, strings.Join(tile[1:], "; "))
	}
	return out
}

// tilesBy returns what should stand there, by the tables of the last run.
func tilesBy(t *testing.T, db *sql.DB) []string {
	count := func(query string) int { return int(digits(one(t, db, "SELECT "+query))) }
	hosts, files := count("hosts()"), count("files()")
	unknown := count("count(*) FROM fetches WHERE outcome IN ('full_disallow', 'undefined') AND reason <> 'stale_copy' " +
		"OR challenge IS NOT NULL")
	training := count("count(DISTINCT seq) FROM policies WHERE category = 'ai-training' AND class = 'disallow_all'")
	of := func(n, whole int, base string) string { return percentOf(n, whole) + " of " + base }
	return []string{
		fmt.Sprintf("Crawl policies of %d hosts, %s", hosts,
			one(t, db, "SELECT strftime(max(fetch_time), '%-d %B %Y') FROM fetches")),
		fmt.Sprintf("hosts; %d; ", hosts), fmt.Sprintf("hosts with rules; %d; %s: their rules decide", files,
			of(files, hosts, "hosts")),
		fmt.Sprintf("policy unknown; %d; %s, because of an outage or the like", unknown, of(unknown, hosts, "hosts")),
		fmt.Sprintf("shut out AI training; %d; %s, %s", training, of(training, hosts, "hosts"),
			of(training, files, "those with rules")),
		"agents evaluated; " + one(t, db, "SELECT count(DISTINCT agent) FROM policies") + "; ",
	}
}

// profilesTitle returns what a figure that compares profiles says, "" for other figures.
func profilesTitle(t *testing.T, db *sql.DB, run, id string, rows [][]string) string {
	column, compares := map[string]int{"profiles": 0, "profile-agents": 2}[id]
	if !compares {
		return ""
	}
	first := one(t, db, "SELECT key FROM (SELECT DISTINCT profile AS key FROM history.policies WHERE run = '"+run+
		"') WHERE key NOT IN ('"+strings.Join(columnOf(rows, column), "', '")+"')")
	at := func(n, of string) string {
		return percentOf(int(digits(n)), int(digits(of))) + " of " + of + " hosts"
	}
	switch id {
	case "profiles":
		closed := func(profile string) string {
			return one(t, db, "SELECT count(DISTINCT seq) FROM history.policies WHERE run = '"+run+"' AND profile = '"+profile+
				"' AND category = 'ai-training' AND class = 'disallow_all'")
		}
		row, under := rows[1], fmt.Sprintf("; under it %s hosts shut out an agent for AI training, under %s %s",
			closed(rows[1][0]), first, closed(first))
		if closed(row[0]) == closed(first) {
			under = fmt.Sprintf("; under both %s hosts shut out an agent for AI training", closed(first))
		}
		return fmt.Sprintf("%s allows or forbids some path that %s does not, for at least one agent, at %s%s", row[0], first,
			at(row[2], row[1]), under)
	case "profile-agents":
		most := make(map[string]bool)
		for _, row := range rows[1:] {
			if row[4] == rows[1][4] {
				most[row[0]] = true
			}
		}
		lead := rows[1][0]
		if len(most) > 1 {
			lead = fmt.Sprintf("%d agents, such as %s", len(most), lead)
		}
		return fmt.Sprintf("The profiles differ most for %s: %s allows or forbids some path that %s does not at %s", lead,
			rows[1][2], first, at(rows[1][4], rows[1][3]))
	}
	return ""
}

// columnOf returns a column of numbers under their head.
func columnOf(rows [][]string, k int) (out []string) {
	for _, row := range rows[1:] {
		out = append(out, row[k])
	}
	return out
}
