package change

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

// severityTable is the column severity of the table of kinds in
// configs/schedule/README.md. Each part of a cell, up to a semicolon, has the
// severities that the code gives to the changes it describes. A cell without a colon
// is the severity of every change of these kinds.
var severityTable = []struct {
	kinds, documented string
	got               []string // for each part, separated by spaces
}{
	{"`policy_class`", "to disallow_all: critical; from disallow_all, or allow_all to partial: major; partial " +
		"to allow_all: minor", []string{
		ClassSeverity("allow_all", "disallow_all") + " " + ClassSeverity("partial", "disallow_all"),
		ClassSeverity("disallow_all", "allow_all") + " " + ClassSeverity("disallow_all", "partial") + " " +
			ClassSeverity("allow_all", "partial"),
		ClassSeverity("partial", "allow_all"),
	}},
	{"`verdict`", "allow to disallow: major; the same for a path if the agent's class became partial: minor; else: minor",
		[]string{
			VerdictSeverity(robots.Disallowed, false, false) + " " + VerdictSeverity(robots.Disallowed, false, true) + " " +
				VerdictSeverity(robots.Disallowed, true, true),
			VerdictSeverity(robots.Disallowed, true, false),
			VerdictSeverity(robots.Permitted, false, false) + " " + VerdictSeverity(robots.Permitted, true, true),
		}},
	{"`rules`", "something is closed: major; else: minor", []string{RulesSeverity(true), RulesSeverity(false)}},
	{"`preference`", "something is refused or priced, or no longer is: major; else: minor", []string{
		PreferenceSeverity("", "disallow") + " " + PreferenceSeverity("allow", "partial") + " " +
			PreferenceSeverity("disallow", "") + " " + PreferenceSeverity("partial", "allow") + " " + PreferenceSeverity("",
			"priced") + " " + PreferenceSeverity("priced", "allow"),
		PreferenceSeverity("", "allow") + " " + PreferenceSeverity("allow", "") + " " + PreferenceSeverity("partial",
			"undecided"),
	}},
	{"`outcome`", "to full_disallow: critical; full_allow to conditional_allow: minor; else: major", []string{
		OutcomeSeverity("full_allow", "full_disallow") + " " + OutcomeSeverity("conditional_allow", "full_disallow") + " " +
			OutcomeSeverity("undefined", "full_disallow"),
		OutcomeSeverity("full_allow", "conditional_allow"),
		OutcomeSeverity("conditional_allow", "full_allow") + " " + OutcomeSeverity("full_disallow", "conditional_allow") +
			" " + OutcomeSeverity("full_disallow", "full_allow") + " " + OutcomeSeverity("full_allow", "undefined"),
	}},
	{"`group`", "minor", nil},
	{"`signal`", "content-signal, content-usage, license: major; else: minor", []string{
		SignalSeverity("content-signal") + " " + SignalSeverity("content-usage") + " " + SignalSeverity("license"),
		SignalSeverity("noindex") + " " + SignalSeverity("host"),
	}},
	{"`sitemap`", "minor", nil},
	{"`crawl_delay`", "minor", nil},
	{"`redirect`", "on another site: major; else: minor", []string{
		RedirectSeverity("https://a.example/robots.txt", "https://b.example/robots.txt"),
		RedirectSeverity("https://a.example/robots.txt", "https://www.a.example/r.txt"),
	}},
	{"`answer`", "turned away, let in, or now served a stricter or mixed file, where both answers are certain: " +
		"major; else: minor", []string{
		AnswerSeverity("alike", "refused") + " " + AnswerSeverity("stricter", "challenged") + " " + AnswerSeverity("refused",
			"alike") + " " + AnswerSeverity("challenged", "other") + " " + AnswerSeverity("alike", "stricter") + " " +
			AnswerSeverity("looser", "mixed"),
		AnswerSeverity("alike", "unreached") + " " + AnswerSeverity("failing", "refused") + " " + AnswerSeverity("refused",
			"challenged") + " " + AnswerSeverity("stricter", "alike") + " " + AnswerSeverity("alike", "looser") + " " +
			AnswerSeverity("stricter", "undecided"),
	}},
	{"`page`", "turned away, or let in, where both are certain: major; else: minor", []string{
		AnswerSeverity("served", "refused") + " " + AnswerSeverity("served_other", "redirected_away") + " " +
			AnswerSeverity("payment", "served"),
		AnswerSeverity("served", "server_error") + " " + AnswerSeverity("no_answer", "served") + " " +
			AnswerSeverity("refused", "challenge") + " " + AnswerSeverity("served", "served_other"),
	}},
	{"`document`", "another text: cosmetic; else: minor", []string{DocumentSeverity(summary.OtherText),
		DocumentSeverity("present") + " " + DocumentSeverity("absent")}},
	{"`coverage`", "the share falls by 10 points or more: major; else: minor", []string{
		CoverageSeverity("200/200", "0/200") + " " + CoverageSeverity("196/200", "6/200") + " " + CoverageSeverity("10/10",
			"9/10"),
		CoverageSeverity("200/200", "181/200") + " " + CoverageSeverity("0/200", "200/200"),
	}},
	{"`reachability`", "lost: major; else: minor", []string{
		ReachabilitySeverity("success", "network_failure") + " " + ReachabilitySeverity("client_error", "server_error"),
		ReachabilitySeverity("network_failure", "success") + " " + ReachabilitySeverity("network_failure", "server_error") +
			" " + ReachabilitySeverity("success", "success"),
	}},
	{"`host_new`, `host_gone`", "minor", nil},
	{"`text`", "no verdict on any path differs, for any agent: cosmetic; undecided: minor", []string{TextSeverity(true),
		TextSeverity(false)}},
}

func TestSeveritiesAreTheDocumentedOnes(t *testing.T) {
	text, err := os.ReadFile("../../../configs/schedule/README.md")
	sinktest.Must(t, err)
	_, table, ok := strings.Cut(string(text), "| kind | a row says | severity |\n|---|---|---|\n")
	if !ok {
		t.Fatal("configs/schedule/README.md has no table of kinds")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var documented, want []string
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		documented = append(documented, strings.TrimSpace(cells[0])+": "+strings.TrimSpace(cells[len(cells)-1]))
	}
	var kinds strings.Builder
	for _, row := range severityTable {
		want = append(want, row.kinds+": "+row.documented)
		kinds.WriteString(row.kinds)
		if row.got == nil {
			continue
		}
		parts := strings.Split(row.documented, "; ")
		if len(parts) != len(row.got) {
			t.Fatalf("%s has %d parts, and %d are tested", row.kinds, len(parts), len(row.got))
		}
		for i, part := range parts {
			severity := part[strings.LastIndex(part, ": ")+2:]
			for _, got := range strings.Fields(row.got[i]) {
				if got != severity {
					t.Errorf("%s, %s: the code says %s", row.kinds, part, got)
				}
			}
		}
	}
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("configs/schedule/README.md (-tested +documented):\n%s", diff)
	}
	for _, kind := range Kinds {
		if !strings.Contains(kinds.String(), "`"+kind+"`") {
			t.Errorf("kind %s is not in severityTable", kind)
		}
	}
}

// The site of a URL is that of its host with or without www.
func TestSiteOf(t *testing.T) {
	for url, want := range map[string]string{
		"https://www.a.example/robots.txt": "a.example", "http://a.example/x": "a.example",
		"https://a.example:8443/": "a.example:8443", "https://b.example": "b.example",
	} {
		if got := siteOf(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

func TestKindsOfAnyFirstProfileAreTheDocumentedOnes(t *testing.T) {
	text, err := os.ReadFile("../../../configs/schedule/README.md")
	sinktest.Must(t, err)
	kinds := kindsWith(func(k *Kind) bool { return !k.Reading })
	last := len(kinds) - 1
	want := "If the first profiles differ, only `" + strings.Join(kinds[:last], "`, `") + "` and `" + kinds[last] +
		"` are compared."
	if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
		t.Errorf("configs/schedule/README.md lacks %q", want)
	}
}
