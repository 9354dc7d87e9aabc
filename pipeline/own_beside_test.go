package pipeline

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// Each agent's verdicts under own are the same whatever other profiles a run has, also one
// that is the parser of some agents and then judges all of them.
func TestOwnBesideAnotherProfile_NoRace(t *testing.T) {
	var agents []schema.Agent
	parsers := []string{"google", "heritrix", "wget", "nutch", "httrack"}
	readers := make(map[string]*robots.Profile)
	for i, parser := range append(parsers, parsers...) {
		name := fmt.Sprintf("bot%c", 'a'+i)
		agents = append(agents, schema.Agent{Name: name, Tokens: []string{name}, ReadsAs: &parser})
		readers[parser], _ = robots.ProfileNamed(parser)
	}
	bodies := map[string]string{
		"all.example":   "User-agent: *\nDisallow: *\n",
		"group.example": "User-agent: bota\nUser-agent: botb\nUser-agent: botc\nDisallow: *\n",
		"wild.example":  "User-agent: botg\nUser-agent: botb\nUser-agent: botf\nDisallow: /*.php\nDisallow: /se\nAllow: /\n",
		"order.example": "User-agent: *\nAllow: /\nDisallow: /search\n",
		"bytes.example": "\xff\xfe\nUser-agent: *\nDisallow: /\n",
		"names.example": "User-agent: bot\nDisallow: /a\n\nUser-agent: *\nDisallow: /index.php\n",
		"none.example":  "",
	}
	verdicts := func(profiles ...string) (rows []string) {
		var hosts strings.Builder
		for host := range bodies {
			fmt.Fprintln(&hosts, host)
		}
		c := newConfig(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, bodies[r.Host]) }, hosts.String())
		c.Evaluate.Agents, c.Evaluate.Profiles, c.Evaluate.Readers = agents, profilesNamed(profiles...), readers
		if _, err := Run(context.Background(), c, new(Progress)); err != nil {
			t.Fatal(err)
		}
		cells := make(map[string][]string)
		columns := []string{"profile", "host", "agent", "judged_by", "url", "verdict", "reason", "rule_pattern"}
		for _, column := range columns {
			cells[column] = texts(t, c, "verdicts", column)
		}
		for i, profile := range cells["profile"] {
			if profile == "own" {
				var row []string
				for _, column := range columns {
					row = append(row, cells[column][i])
				}
				rows = append(rows, strings.Join(row, " "))
			}
		}
		return rows
	}
	sorted := cmp.Transformer("set", func(rows []string) map[string]int {
		set := make(map[string]int)
		for _, r := range rows {
			set[r]++
		}
		return set
	})
	alone := verdicts("own")
	if len(alone) == 0 {
		t.Fatal("no verdicts under own")
	}
	for _, beside := range parsers {
		if diff := cmp.Diff(alone, verdicts(beside, "own"), sorted); diff != "" {
			t.Errorf("own alone, and beside %s (-alone +beside):\n%.2000s", beside, diff)
		}
	}
}
