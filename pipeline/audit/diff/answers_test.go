package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

// An answeredHost is a host with what it answered to identities, each as "NAME TREATMENT
// POLICY DIGEST", where the agent may follow the name behind a slash. A name that begins
// with ! is a control; - stands for no policy and no digest. What it met on a page is
// "/PATH NAME TREATMENT", with a remark or without. documents are "DOCUMENT OUTCOME DIGEST", with a
// remark or without, and stated "DOCUMENT USE PREFERENCE PATH AGENT".
type answeredHost struct {
	schema.Fetch
	answers, documents, stated []string
}

// row makes the row of an answer of the host.
func (h *answeredHost) row(text string) schema.Answer {
	f := strings.Fields(text)
	path := schema.RobotsPath
	if f[0][0] == '/' {
		path, f = f[0], append(f[1:], "-", "-")
	}
	name, control := strings.CutPrefix(f[0], summary.Control)
	name, agent, _ := strings.Cut(name, "/")
	a := schema.Answer{Seq: h.Seq, Host: h.Host, Origin: h.Origin, Identity: name, IsControl: control, UserAgent: name +
		"/1",
		Agent: schema.NonZero(agent), Path: path, FetchTime: &h.FetchTime, Treatment: f[1], Policy: "unknown",
		Class: "partial"}
	if schema.IsPage(a.Path) {
		a.Paper, a.Verdict, a.Remark = new("partly"), new("allow"), schema.NonZero(strings.Trim(f[2], "-"))
		return a
	}
	a.Outcome, a.Reason, a.Policy = new("undefined"), new("success"), strings.ReplaceAll(f[2], "-", "unknown")
	a.ContentDigest = schema.NonZero(strings.Trim(f[3], "-"))
	return a
}

// writeAnswered writes a run of hosts that were asked under identities, with all tables
// and nothing in most of them. tokens are further ones of GPTBot.
func writeAnswered(t *testing.T, dir, id string, day int, hosts []answeredHost, tokens ...string) {
	t.Helper()
	run, err := sink.Create(dir, journal.Plan{Run: id, Profiles: []string{"google"}, Tables: schema.TableNames,
		AsOf: new(audittest.FirstDay.AddDate(0, 0, day))})
	sinktest.Must(t, err)
	s, err := run.Segment(0)
	sinktest.Must(t, err)
	for _, name := range []string{"RoboTestA search", "RoboTestB ai-training", "GPTBot ai-training"} {
		name, category, _ := strings.Cut(name, " ")
		agent := schema.Agent{Name: name, Category: category, Tokens: []string{name}, Kind: "crawler"}
		if name == "GPTBot" {
			agent.Tokens = append(agent.Tokens, tokens...)
		}
		sinktest.Must(t, s.Agents.Write(agent))
	}
	for seq, host := range hosts {
		host.Seq = int64(seq)
		sinktest.Must(t, s.Fetches.Write(host.Fetch))
		for _, text := range host.answers {
			a := host.row(text)
			kind, metric := a.Identity, "answer"
			if a.IsControl {
				kind = summary.Control + kind
			}
			if schema.IsPage(a.Path) {
				metric = "page_met"
			}
			sinktest.Must(t, s.Summary.Write(schema.Count{Metric: metric, Stratum: summary.Unranked, Agent: a.Agent,
				Key: new(kind + " " + a.Treatment), Count: 1}))
			sinktest.Must(t, s.Answers.Write(a))
		}
		for _, text := range host.documents {
			f := strings.Fields(text)
			sinktest.Must(t, s.Documents.Write(schema.Document{Seq: host.Seq, Host: host.Host, Origin: host.Origin,
				Document: f[0],
				URL:      host.Origin + "/" + f[0], Outcome: f[1], ContentDigest: schema.NonZero(strings.Trim(f[2], "-")),
				Remark: schema.NonZero(strings.Join(f[3:], " "))}))
		}
		for _, text := range host.stated {
			f := strings.Fields(text)
			scope, document := "document", &f[0]
			switch f[0] {
			case "page":
				scope = "page"
			case "header":
				scope, document = "page", nil
			}
			sinktest.Must(t, s.Preferences.Write(schema.Preference{Seq: host.Seq, Host: host.Host, Origin: host.Origin,
				Scope:     scope,
				Mechanism: "tdmrep", Document: document, Use: &f[1], Preference: &f[2],
				Path: schema.NonZero(strings.Trim(f[3], "-")), GroupAgent: &f[4]}))
		}
	}
	s.Targets = int64(len(hosts))
	sinktest.Must(t, s.Commit())
	totals, err := summary.SumUp(t.Context(), run)
	sinktest.Must(t, err)
	sinktest.Must(t, run.Complete(sink.Completion{Finished: time.Now(), Totals: totals, Tally: journal.Tally{
		Targets: s.Targets}}))
}

// answeredRun writes a run of the hosts h0.example, …, each as "REASON DIGEST" for the
// host's own answer and what it answered to identities.
func answeredRun(t *testing.T, dir, id string, day int, hosts ...[]string) {
	t.Helper()
	var rows []answeredHost
	for i, host := range hosts {
		reason, digest, _ := strings.Cut(host[0], " ")
		row := audittest.Fetch(fmt.Sprintf("https://h%d.example", i), reason, strings.Trim(digest, "-"), day)
		if reason == string(answer.Challenged) {
			row.Outcome, row.Reason, row.Challenge = "full_allow", "client_error", new("cloudflare")
		}
		rows = append(rows, answeredHost{Fetch: row, answers: host[1:]})
	}
	writeAnswered(t, dir, id, day, rows)
}

// allChanges compares runs a and b in dir, and returns all changes, which can be looked up.
func allChanges(t *testing.T, dir, promises string) (all []schema.Change, r *Result) {
	t.Helper()
	var list *expect.List
	var err error
	if promises != "" {
		list, err = expect.Parse("promises", []byte(promises), nil)
		sinktest.Must(t, err)
	}
	r, err = Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b", Expect: list})
	sinktest.Must(t, err)
	all = changesOf(t, dir, "b", "a")
	checkLookedUp(t, dir, "b", "a", all)
	return all, r
}

// answerChanges compares runs a and b in dir. It returns the rows of answers, all kinds of
// others, and the result.
func answerChanges(t *testing.T, dir, promises string) (rows, others []string, r *Result) {
	t.Helper()
	all, r := allChanges(t, dir, promises)
	for _, row := range all {
		if row.Kind == "answer" {
			rows = append(rows, strings.Join([]string{row.Host, row.Severity, *row.Identity, schema.OrZero(row.Agent),
				*row.Before, *row.After, *row.BeforeRun}, " "))
		} else {
			others = append(others, row.Host+" "+row.Kind)
		}
	}
	return rows, others, r
}

const (
	aFile, control = "success A", "!control served equal -"
	alike          = "bot/GPTBot served equal -"
	refusedBot     = "bot/GPTBot refused - -"
)

// How a host answers an identity changes by what it means for the identity's agent, where
// both runs show it: the host was read in both, and its second request to us was answered
// as the first.
func TestAnswersChange(t *testing.T) {
	bot := func(answer string) string { return "bot/GPTBot " + answer }
	var before, after [][]string
	var want []string
	for i, row := range []struct {
		clause        string
		before, after []string
		want          string
	}{
		{"answered as before", []string{aFile, control, alike}, []string{aFile, control, alike}, ""},
		{"turned away", []string{aFile, control, alike}, []string{aFile, control, refusedBot},
			"major bot GPTBot alike refused"},
		{"met with a wall", []string{aFile, control, alike}, []string{aFile, control, bot("challenged - -")},
			"major bot GPTBot alike challenged"},
		{"let in", []string{aFile, control, refusedBot}, []string{aFile, control, alike}, "major bot GPTBot refused alike"},
		{"turned away in another way", []string{aFile, control, refusedBot}, []string{aFile, control, bot("challenged - -")},
			"minor bot GPTBot refused challenged"},
		{"a stricter file", []string{aFile, control, alike}, []string{aFile, control, bot("served stricter S")},
			"major bot GPTBot alike stricter"},
		{"a looser file", []string{aFile, control, alike}, []string{aFile, control, bot("served looser S")},
			"minor bot GPTBot alike looser"},
		{"the same stricter file", []string{aFile, control, bot("served stricter S")},
			[]string{aFile, control, bot("served stricter S")}, ""},
		{"another file, stricter too", []string{aFile, control, bot("served stricter S")},
			[]string{aFile, control, bot("served stricter T")}, "minor bot GPTBot stricter undecided"},
		{"other bytes of equal meaning", []string{aFile, control, alike}, []string{aFile, control, bot("served equal T")},
			""},
		{"no file, as we: the host changed, not how it answers", []string{aFile, control, alike}, []string{"client_error -",
			"!control absent - -", bot("absent - -")}, ""},
		{"a file where we get none", []string{"client_error -", "!control absent - -", bot("absent - -")},
			[]string{"client_error -", "!control absent - -", bot("other - X")}, "minor bot GPTBot alike other"},
		{"no answer may be an outage", []string{aFile, control, alike}, []string{aFile, control, bot("unreached - -")},
			"minor bot GPTBot alike unreached"},
		{"an error may be an outage", []string{aFile, control, bot("failing - -")}, []string{aFile, control, refusedBot},
			"minor bot GPTBot failing refused"},
		{"our second request is turned away too", []string{aFile, control, alike}, []string{aFile, "!control refused - -",
			refusedBot}, ""},
		{"our second request was turned away too", []string{aFile, "!control unreached - -", refusedBot},
			[]string{aFile, control, alike}, ""},
		{"our second request gets another file too", []string{aFile, control, alike},
			[]string{aFile, "!control served stricter R", bot("served stricter S")}, ""},
		{"one of two controls is turned away", []string{aFile, control, alike},
			[]string{aFile, control, "!mirror challenged - -", refusedBot}, ""},
		{"our own first request was no better off", []string{aFile, control, alike}, []string{"client_error -",
			"!control incomparable - -", bot("incomparable - -")}, ""},
		{"an outage of the first request", []string{aFile, control, alike}, []string{"network_failure -"}, ""},
		{"a wall before the first request", []string{aFile, control, alike}, []string{string(answer.Challenged) + " -",
			control, refusedBot}, ""},
		{"asked in one run alone", []string{aFile, control}, []string{aFile, control, refusedBot}, ""},
		{"asked for another agent", []string{aFile, control, "bot served equal -"}, []string{aFile, control, refusedBot}, ""},
		{"an identity without an agent", []string{aFile, control, "zed served equal -"},
			[]string{aFile, control, "zed refused - -"}, "major zed  alike refused"},
		{"the order of identities does not count", []string{aFile, control, "zed refused - -", alike},
			[]string{aFile, alike, "zed refused - -", control}, ""},
		{"beside a changed file", []string{aFile, control, alike}, []string{"success B", control, refusedBot},
			"major bot GPTBot alike refused"},
	} {
		before, after = append(before, row.before), append(after, row.after)
		if row.want != "" {
			want = append(want, fmt.Sprintf("h%d.example %s a", i, row.want))
		}
		t.Logf("h%d: %s", i, row.clause)
	}
	dir := t.TempDir()
	answeredRun(t, dir, "a", 0, before...)
	answeredRun(t, dir, "b", 7, after...)
	rows, others, r := answerChanges(t, dir, "")
	slices.Sort(want)
	slices.Sort(rows)
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	// A changed text has its row whatever an identity is answered, and an outage its own.
	for _, other := range []string{"h25.example text", "h19.example reachability", "h20.example reachability"} {
		if !slices.Contains(others, other) {
			t.Errorf("%s is missing: %v", other, others)
		}
	}
	if diff := cmp.Diff([]string{"bot 3 1 4 3", "zed 1 0 0 0"}, countsOf(r)); diff != "" {
		t.Errorf("hosts by identity: -want +got\n%s", diff)
	}
}

func countsOf(r *Result) (out []string) {
	for _, i := range r.Identities {
		out = append(out, fmt.Sprint(i.Identity, " ", i.TurnedAway, " ", i.LetIn, " ", i.Otherwise, " ", i.Undecided))
	}
	return out
}

// What the control does not show is said, and a run without answers shows nothing.
func TestNotesOnAnswers(t *testing.T) {
	for _, row := range []struct {
		clause        string
		before, after []string
		want          string
	}{
		{"with a control", []string{aFile, control, alike}, []string{aFile, control, refusedBot}, ""},
		{"without one now", []string{aFile, control, alike}, []string{aFile, refusedBot}, "b has no control"},
		{"without one in either run", []string{aFile, alike}, []string{aFile, refusedBot}, "a and b have no control"},
		{"nobody was asked", []string{aFile}, []string{aFile}, ""},
	} {
		dir := t.TempDir()
		answeredRun(t, dir, "a", 0, row.before)
		answeredRun(t, dir, "b", 7, row.after)
		_, _, r := answerChanges(t, dir, "")
		i := slices.IndexFunc(r.Notes, func(note string) bool { return strings.Contains(note, "control") })
		switch {
		case row.want == "" && i >= 0:
			t.Errorf("%s: %q", row.clause, r.Notes[i])
		case row.want != "" && (i < 0 || !strings.HasPrefix(r.Notes[i], row.want)):
			t.Errorf("%s: %q, want %s…", row.clause, r.Notes, row.want)
		}
	}
	dir := t.TempDir()
	answeredRun(t, dir, "a", 0, []string{aFile, control, alike})
	audittest.Run(t, dir, "b", []string{"fetches"}, []schema.Fetch{audittest.Fetch("https://h0.example", "success", "A",
		7)})
	rows, _, r := answerChanges(t, dir, "")
	if want := "answers to identities are not compared: b has no such table"; len(rows) > 0 || !slices.Contains(r.Notes,
		want) {
		t.Errorf("without the table: %v, %q", rows, r.Notes)
	}
}

// If the run before could not read a host, its answers before are those of the latest run
// that could.
func TestAnOutageHidesNoAnswer(t *testing.T) {
	dir := t.TempDir()
	answeredRun(t, dir, "0", -7, []string{aFile, control, alike})
	answeredRun(t, dir, "a", 0, []string{"network_failure -"})
	answeredRun(t, dir, "b", 7, []string{aFile, control, refusedBot})
	rows, _, _ := answerChanges(t, dir, "")
	if diff := cmp.Diff([]string{"h0.example major bot GPTBot alike refused 0"}, rows); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	// A run without a control does not stand in for one with it.
	dir = t.TempDir()
	answeredRun(t, dir, "0", -7, []string{aFile, alike}, []string{aFile, alike})
	answeredRun(t, dir, "a", 0, []string{"network_failure -"}, []string{aFile, control, alike})
	answeredRun(t, dir, "b", 7, []string{aFile, control, refusedBot}, []string{aFile, control, alike})
	if rows, _, _ := answerChanges(t, dir, ""); len(rows) > 0 {
		t.Errorf("by a run without a control: %v", rows)
	}
}

// What a file means to an agent that the runs define differently is not compared, nor is
// anything promised of a host that was not asked.
func TestAnswersThatAreNotCompared(t *testing.T) {
	for _, row := range []struct {
		clause  string
		tokens  []string
		promise string
		want    string
	}{
		{"the agent has another token now", []string{"GPTBot-Other"}, "hosts: h0.example", "[] unchecked"},
		{"the agent is as it was", nil, "hosts: h0.example", "[h0.example major bot GPTBot alike refused a] broken"},
		{"the host was not asked", nil, "hosts: h1.example", "[h0.example major bot GPTBot alike refused a] unchecked"},
	} {
		dir := t.TempDir()
		for i, answer := range []string{alike, refusedBot} {
			var hosts []answeredHost
			for k, answers := range [][]string{{control, answer}, nil} {
				hosts = append(hosts, answeredHost{Fetch: audittest.Fetch(fmt.Sprintf("https://h%d.example", k), "success", "A",
					7*i), answers: answers})
			}
			writeAnswered(t, dir, []string{"a", "b"}[i], 7*i, hosts, [][]string{nil, row.tokens}[i]...)
		}
		rows, _, r := answerChanges(t, dir, "- {name: x, no_change: answer, "+row.promise+"}\n")
		if got := fmt.Sprint(rows, " ", r.Expectations[0].State); got != row.want {
			t.Errorf("%s: %s, want %s (%s)", row.clause, got, row.want, r.Expectations[0].Note)
		}
	}
}

// A promise about answers is kept only if both runs show them for certain.
func TestPromisesOfAnswers(t *testing.T) {
	for _, row := range []struct {
		clause        string
		before, after []string
		promise       string
		want          expect.State
	}{
		{"nothing changed", []string{aFile, control, alike}, []string{aFile, control, alike}, "no_change: answer",
			expect.Kept},
		{"turned away", []string{aFile, control, alike}, []string{aFile, control, refusedBot}, "no_change: answer",
			expect.Broken},
		{"of all kinds", []string{aFile, control, alike}, []string{aFile, control, refusedBot},
			"no_change: all, identity: bot", expect.Broken},
		{"another identity", []string{aFile, control, alike, "zed served equal -"}, []string{aFile, control, refusedBot,
			"zed served equal -"}, "no_change: answer, identity: zed", expect.Kept},
		{"by severity", []string{aFile, control, alike}, []string{aFile, control, refusedBot},
			"no_change: answer, severity: minor", expect.Kept},
		{"by what it is now", []string{aFile, control, alike}, []string{aFile, control, refusedBot},
			"no_change: answer, after: [refused, challenged]", expect.Broken},
		{"an outage breaks nothing", []string{aFile, control, alike}, []string{aFile, control, "bot/GPTBot unreached - -"},
			"no_change: answer", expect.Unchecked},
		{"nor does an undecided file", []string{aFile, control, "bot/GPTBot served mixed S"},
			[]string{aFile, control, "bot/GPTBot served mixed T"}, "no_change: answer", expect.Unchecked},
		{"nor what our own second request meets", []string{aFile, control, alike}, []string{aFile, "!control refused - -",
			refusedBot}, "no_change: answer", expect.Unchecked},
		{"the first request met a wall", []string{aFile, control, alike}, []string{string(answer.Challenged) + " -", control,
			refusedBot}, "no_change: answer", expect.Unchecked},
		{"asked in one run alone", []string{aFile, control, alike}, []string{aFile, control, alike, "zed refused - -"},
			"no_change: answer, identity: zed", expect.Unchecked},
		{"asked in neither", []string{aFile, control, alike}, []string{aFile, control, alike},
			"no_change: answer, identity: none", expect.Unchecked},
		{"of the control itself", []string{aFile, control, alike}, []string{aFile, control, alike},
			"no_change: answer, identity: control", expect.Unchecked},
		{"nobody was asked", []string{aFile}, []string{aFile}, "no_change: answer", expect.Unchecked},
	} {
		t.Run(row.clause, func(t *testing.T) {
			dir := t.TempDir()
			answeredRun(t, dir, "a", 0, row.before)
			answeredRun(t, dir, "b", 7, row.after)
			_, _, r := answerChanges(t, dir, "- {name: x, "+row.promise+"}\n")
			if got := r.Expectations[0]; got.State != row.want {
				t.Errorf("%s: %s, want %s (%s)", row.promise, got.State, row.want, got.Note)
			}
		})
	}
}
