package publish

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// With hashes for hosts, no text that a host wrote is published: it may name any host. A
// test of package verify asks of each column whether it holds such text.
func TestHashesLeaveOutForeignText(t *testing.T) {
	s, err := choose([]*journal.Manifest{{Plan: journal.Plan{Tables: schema.TableNames}}}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range sink.Dictionary() {
		info := schema.Describe(d.Table)
		if want := d.Table != "series" && !info.AllForeign && !slices.Contains(info.Foreign, d.Column); s.shows(d.Table,
			d.Column) != want {
			t.Errorf("%s.%s is published: %v, want %v", d.Table, d.Column, !want, want)
		}
	}
}

// The views show the tables of the latest run, by its ID if dates are equal. Queries of
// tables that it lacks are not published.
func TestQueriesAreOfTheLatestRun(t *testing.T) {
	run := func(id string, day int, tables ...string) *journal.Manifest {
		return &journal.Manifest{Plan: journal.Plan{Run: id, Tables: tables}, Date: time.Date(2026, 11, day, 0, 0, 0, 0,
			time.UTC)}
	}
	all, without := schema.TableNames, slices.DeleteFunc(slices.Clone(schema.TableNames), func(table string) bool {
		return table == "verdicts"
	})
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
		if gone := (selection{}).gone(row.runs); gone["verdicts"] != row.gone || gone["fetches"] {
			t.Errorf("%s: gone are %v", row.name, gone)
		}
	}
}

// What can be published at all, and what can be left out of it.
func TestWhatCannotBeLeftOut(t *testing.T) {
	run := &journal.Manifest{Plan: journal.Plan{Run: "r", Tables: slices.DeleteFunc(slices.Clone(schema.TableNames),
		func(table string) bool { return table == "answers" })}}
	for name, ok := range map[string]bool{
		"fetches.rank": true, "verdicts": true, "verdicts.url": true, "bodies.body": true, "summary": true,
		"summary.key": false, "summary.stratum": false, "fetches.seq": false, "policies.agent": false,
		"bodies.content_digest": false, "nothing": false, "fetches.nothing": false,
	} {
		_, err := choose([]*journal.Manifest{run}, []string{name}, false)
		if (err == nil) != ok || err != nil && !errors.Is(err, ErrSelection) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	if _, err := choose([]*journal.Manifest{run}, run.Tables, false); !errors.Is(err, ErrSelection) {
		t.Errorf("without any table: %v", err)
	}
}
