package describe

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// With hashes for hosts, the texts that are published are hashes or of a closed
// vocabulary: of this program, its configuration, its registry of agents. A host's file
// and header may name any host, so a new column of text is left out or listed here.
func TestHashesLeaveOutForeignText(t *testing.T) {
	vocabulary := map[string]string{
		"fetches":     "scheme tld source vantage challenge outcome reason error_class fallback_error_class http_version tls_version content_digest answers_since copy_digest front_page front_error_class",
		"groups":      "class template digest",
		"rules":       "kind",
		"lines":       "class agent parser cause",
		"signals":     "field",
		"preferences": "scope mechanism header use preference level remark",
		"templates":   "template kind version",
		"answers":     "identity user_agent agent category outcome reason error_class content_digest challenge policy treatment class",
		"agents":      "agent category operator tokens falls_back_to user_agent kind uses policy_tokens reads_as source",
		"policies":    "agent category profile judged_by outcome match class versus_star versus_first parity template ai_train ai_input search",
		"verdicts":    "agent profile judged_by url verdict reason rule_kind", // hashAbsolute
		"summary":     "metric stratum agent category profile key",
		"examples":    "metric key",
	}
	s, err := Select([]*journal.Manifest{{Plan: journal.Plan{Tables: schema.TableNames}}}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range s.tables {
		for _, d := range s.columns(table) {
			if !strings.Contains(d.Type, "STRING") && !strings.Contains(d.Type, "BLOB") {
				continue
			}
			if !slices.Contains(HashedColumns, d.Column) && !slices.Contains(strings.Fields(vocabulary[table]), d.Column) {
				t.Errorf("%s.%s is published as it is", table, d.Column)
			}
		}
	}
}

// The views show the tables of the latest run, by its ID if dates are equal. Queries of
// tables that it lacks are not published.
func TestQueriesAreOfTheLatestRun(t *testing.T) {
	run := func(id string, day int, tables ...string) *journal.Manifest {
		return &journal.Manifest{Plan: journal.Plan{Run: id, Tables: tables}, Date: time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC)}
	}
	all, without := schema.TableNames, slices.DeleteFunc(slices.Clone(schema.TableNames), func(table string) bool { return table == "verdicts" })
	for _, row := range []struct {
		name string
		runs []*journal.Manifest
		gone bool
	}{
		{"the later has it", []*journal.Manifest{run("b", 1, without...), run("a", 2, all...)}, false},
		{"the later lacks it", []*journal.Manifest{run("b", 1, all...), run("a", 2, without...)}, true},
		{"of one day, the second has it", []*journal.Manifest{run("a", 1, without...), run("b", 1, all...)}, false},
		{"of one day, the second lacks it", []*journal.Manifest{run("a", 1, all...), run("b", 1, without...)}, true},
		{"of one day, in the other order", []*journal.Manifest{run("b", 1, without...), run("a", 1, all...)}, true},
	} {
		if gone := (Selection{}).gone(row.runs); gone["verdicts"] != row.gone || gone["fetches"] {
			t.Errorf("%s: gone are %v", row.name, gone)
		}
	}
}

// What can be published at all, and what can be left out of it.
func TestWhatCannotBeLeftOut(t *testing.T) {
	run := &journal.Manifest{Plan: journal.Plan{Run: "r", Tables: slices.DeleteFunc(slices.Clone(schema.TableNames), func(table string) bool { return table == "answers" })}}
	for name, ok := range map[string]bool{
		"fetches.rank": true, "verdicts": true, "verdicts.url": true, "bodies.body": true, "summary": true,
		"summary.key": false, "summary.stratum": false, "fetches.seq": false, "policies.agent": false, "bodies.content_digest": false, "nothing": false, "fetches.nothing": false,
	} {
		if _, err := Select([]*journal.Manifest{run}, []string{name}, false); (err == nil) != ok || err != nil && !errors.Is(err, ErrSelection) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	if _, err := Select([]*journal.Manifest{run}, run.Tables, false); !errors.Is(err, ErrSelection) {
		t.Errorf("without any table: %v", err)
	}
}
