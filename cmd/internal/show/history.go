package show

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/check"
	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

const historyHelp = `Shows the history of a HOST over all complete runs in DIR: its first state, then a line
for each change, with date, run and the lines that decide. Each run is compared with the
one before it, as robocensus diff compares them, whether or not it has. HOST is a host,
an origin or a URL.

A run that could not read the host is an outage or, where a wall answered in place of
the file, a wall; each such run has a line. From a run whose list lacks it the host is
absent, also before its first state. None of these is a change of policy. The state
before a change is that of the last run that could read the host. Of several captures of
an origin in a run, the last one counts. Where runs are further apart than usual (more
than one and a half times the median), the gap is shown.

With --agent, only changes for these agents and for the whole host are shown.

With --json, the output is one array, an object for each event:

    {"event", "date", "run", "origin", "outcome", "reason", "status", "closed",
     "challenge", "agents", "answers", "change", "group_line", "days", "note"}

event is state, answers, change, outage, wall, absent, gap or note. Answers are those to the
identities of run --also-as, whatever --agent says, when they are first known; later
ones are changes. A state has outcome, reason, status, closed (the agents that are shut
out, null if the run does not say) and agents (those of --agent, as robocensus show has
them). A change has change, as robocensus show has it; that of a policy has the line of
the group that decides now. An outage and a wall
have reason and status, a wall its vendor as challenge, and a gap has days. A note
says what of two runs is not compared.

With --sql, the output is the queries that give the same from the tables.

Exit codes: 0 done, 64 usage, 65 the host is in no run or a run is damaged, 74 I/O,
130 interrupted.`

const historyExamples = `  robocensus history www.example.com --out out
  robocensus history example.com --out out --agent GPTBot --json`

type historyFlags struct {
	out, profile string
	agents       []string
	json, sql    bool
}

func HistoryCommand() *cobra.Command {
	f := new(historyFlags)
	c := &cobra.Command{
		Use: "history HOST --out DIR [--agent AGENT] [flags]", Short: "Show how a host changed over all runs",
		Long: historyHelp, Example: historyExamples,
	}
	s := c.Flags()
	cli.OutVar(c, &f.out)
	s.StringArrayVar(&f.agents, "agent", nil, "show only changes for this `AGENT`, and for the whole host; repeatable")
	s.StringVar(&f.profile, "profile", "", "`NAME` of a profile (default the first of the last run)")
	cli.JSONVar(s, &f.json, "one array")
	s.BoolVar(&f.sql, "sql", false, "print the queries that give the same")
	c.RunE = func(c *cobra.Command, args []string) error {
		return f.history(c.Context(), args, c.OutOrStdout())
	}
	return c
}

// event is what the history of a host says of a run.
type event struct {
	Event     string               `json:"event"` // state, answers, change, outage, wall, absent, gap, note
	Date      time.Time            `json:"date"`
	Run       string               `json:"run"`
	Origin    *string              `json:"origin"`
	Outcome   *string              `json:"outcome"`
	Reason    *string              `json:"reason"`
	Status    *int32               `json:"status"`
	Closed    []string             `json:"closed"`
	Challenge *string              `json:"challenge"`
	Agents    []*agentView         `json:"agents"`
	Answers   shown[schema.Answer] `json:"answers"`
	Change    *changeView          `json:"change"`
	GroupLine *int32               `json:"group_line"`
	Days      *int                 `json:"days"`
	Note      *string              `json:"note"`

	target *lookup.Target // of a state or an outage
	view   *hostView      // of a state
	lacks  string         // why it does not say what agents may do
	change changeView     // of a change
	before string         // the run before it
}

func (f *historyFlags) history(ctx context.Context, args []string, stdout io.Writer) error {
	switch {
	case f.out == "":
		return cli.ErrNoOut
	case len(args) != 1:
		return cli.Usagef("give one HOST")
	case f.json && f.sql:
		return cli.Usagef("--json and --sql exclude each other: give one of them")
	}
	asked, err := check.OriginOf(args[0])
	if err != nil {
		return err
	}
	in, err := cli.OpenOut(ctx, f.out)
	if err != nil {
		return err
	}
	defer in.Close()
	complete, err := journal.CompleteRuns(in)
	if err != nil {
		return err
	}
	if len(complete) == 0 {
		return cli.Usagef("no run in %s is complete%s", f.out, cli.RunsIn(in))
	}
	f.profile = cmp.Or(f.profile, complete[len(complete)-1].FirstProfile())
	if !slices.ContainsFunc(complete, func(m *journal.Manifest) bool { return slices.Contains(m.Profiles, f.profile) }) {
		return cli.Usagef("--profile: no complete run has a profile %q", f.profile)
	}
	h := &historian{historyFlags: f, in: in, asked: asked, usual: usualGap(complete), seen: make(map[string]bool),
		answered: make(map[string]map[string]bool), targets: make(map[string][]lookup.Target)}
	for _, m := range complete {
		if err := h.add(ctx, m.Run); err != nil {
			return err
		}
	}
	switch {
	case h.found == 0:
		in := fmt.Sprintf("in none of the %d complete runs", len(complete))
		if len(complete) == 1 {
			in = "not in the only complete run"
		}
		return &userfile.Error{Path: args[0], Err: fmt.Errorf("is %s in %s", in, f.out)}
	case f.sql:
		historyQueries(stdout, asked, f.profile, f.agents,
			slices.ContainsFunc(h.events, func(e event) bool { return e.Event == "answers" }))
		return nil
	case f.json:
		return cli.JSON(stdout, h.events)
	}
	h.print(&cli.Text{Out: stdout})
	return nil
}

// A historian collects the history of a host, run by run.
type historian struct {
	*historyFlags
	in       store.Store
	asked    fetch.Origin
	usual    time.Duration // the median time between runs
	last     *past.Run
	targets  map[string][]lookup.Target // of the host, by run
	found    int                        // runs that have the host
	lacking  int                        // runs whose lists lack it
	seen     map[string]bool            // origins whose state is told; true if no run since lacks policies
	answered map[string]map[string]bool // of origins, the identities of which an answer is told
	events   []event
}

// usualGap returns the median time between runs; 0 for fewer than three of them.
func usualGap(runs []*journal.Manifest) time.Duration {
	if len(runs) < 3 {
		return 0
	}
	var gaps []time.Duration
	for i := range runs[1:] {
		gaps = append(gaps, runs[i+1].Date.Sub(runs[i].Date))
	}
	slices.Sort(gaps)
	return gaps[(len(gaps)-1)/2]
}

const day = 24 * time.Hour

// add adds what a run says of the host.
func (h *historian) add(ctx context.Context, id string) error {
	run, err := past.Read(ctx, h.in, id)
	if err != nil {
		return err
	}
	defer func() { h.last = run }()
	r := lookup.Open(h.in, run.Manifest)
	defer r.Close()
	targets, err := h.lookUp(ctx, r)
	if err != nil {
		return err
	}
	from := len(h.events)
	if gap := h.gap(run); gap > 0 && h.found > 0 {
		h.events = append(h.events, event{Event: "gap", Days: &gap})
	}
	isLacking := len(targets) == 0 && slices.Contains(run.Tables, "fetches")
	if h.found > 0 {
		if err := h.compare(ctx, run, targets); err != nil {
			return err
		}
	} else if isLacking && len(h.events) == 0 {
		h.events = append(h.events, event{Event: "absent"}) // from here until the first run that has it
	}
	if !h.judged(run.Manifest) {
		for origin := range h.seen {
			h.seen[origin] = false
		}
	}
	for i := range targets {
		if !isRead(&targets[i]) {
			h.events = append(h.events, unread(&targets[i]))
		}
		if err := h.groupLines(ctx, r, &targets[i], h.events[from:]); err != nil {
			return err
		}
		if err := h.state(ctx, r, &targets[i]); err != nil {
			return err
		}
		if err := h.answers(ctx, r, &targets[i]); err != nil {
			return err
		}
	}
	for i := from; i < len(h.events); i++ {
		h.events[i].Date, h.events[i].Run = run.Date, id
	}
	if len(targets) > 0 {
		h.found++
	}
	if isLacking {
		h.lacking++
	}
	return nil
}

// lookUp returns the targets of a run for what is asked, one of each origin, and keeps all
// those of the host.
func (h *historian) lookUp(ctx context.Context, r *lookup.Run) ([]lookup.Target, error) {
	if !slices.Contains(r.Tables, "fetches") {
		return nil, nil
	}
	targets, err := r.Targets(ctx, h.asked.Host)
	h.targets[r.Manifest.Run] = targets
	return slices.DeleteFunc(lookup.Last(targets), func(t lookup.Target) bool { return !h.isAbout(t.Origin) }), err
}

func (h *historian) isAbout(origin string) bool {
	return h.asked.Scheme == "" || origin == h.asked.String()
}

// gap returns the days between a run and the last one, if they are unusually many.
func (h *historian) gap(run *past.Run) int {
	if h.last == nil || h.usual == 0 {
		return 0
	}
	if gap := run.Date.Sub(h.last.Date); gap > h.usual*3/2 {
		return int(gap / day)
	}
	return 0
}

// compare adds the changes since the last run.
func (h *historian) compare(ctx context.Context, run *past.Run, targets []lookup.Target) error {
	gone := false
	rows, notes, err := diff.Hosts(ctx, h.in, h.last, run, func(_ context.Context, run *past.Run) ([]lookup.Target,
		error) {
		return h.targets[run.ID()], nil // the runs come by date
	})
	if errors.Is(err, diff.ErrNotComparable) {
		notes, err = []string{err.Error()}, nil
		gone = len(h.seen) > 0 && len(targets) == 0 && slices.Contains(run.Tables, "fetches")
		if slices.Contains(run.Tables, "fetches") { // otherwise the next run tells whether it is gone
			clear(h.seen)
			clear(h.answered)
		}
	}
	for _, note := range notes {
		h.events = append(h.events, event{Event: "note", Note: &note, before: h.last.ID()})
	}
	if gone {
		h.events = append(h.events, event{Event: "absent"})
	}
	for i := range rows {
		row := &rows[i]
		if !h.isAbout(row.Origin) || !isAsked(row, h.profile, h.agents) {
			continue
		}
		e := event{Event: "change", Origin: &row.Origin, change: changeView(*row), before: h.last.ID()}
		switch {
		case row.Kind == "host_new":
			continue // its state follows
		case row.Kind == "host_gone":
			e.Event = "absent"
			delete(h.seen, row.Origin)
			delete(h.answered, row.Origin)
		case row.Kind == "reachability" &&
			slices.ContainsFunc(targets, func(t lookup.Target) bool { return t.Origin == row.Origin && !isRead(&t) }):
			continue // the run is told as one that could not read the host
		default:
			e.Change = (*changeView)(row)
		}
		h.events = append(h.events, e)
	}
	return err
}
