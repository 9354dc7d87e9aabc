package audit

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

// checker holds rows against expectations. Every breach goes to a CSV file, and
// so does what cannot be checked; the first breaches of each expectation stay in
// memory.
type checker struct {
	expectations *Expectations
	promises     []*Promise // by expectation
	agents       []evaluate.Agent
	csv          *csv.Writer
	scratch      func() (*store.Scratch, error) // files to sort in
	model        *modelCheck                    // nil where no expectation has a model
}

func newChecker(e *Expectations, agents []evaluate.Agent, file io.Writer, scratch func() (*store.Scratch, error)) *checker {
	c := &checker{expectations: e, agents: agents, csv: csv.NewWriter(file), scratch: scratch}
	for _, x := range e.list {
		c.promises = append(c.promises, &Promise{Name: x.Name, Line: x.line, AtMost: x.AtMost, First: []Breach{}})
	}
	c.csv.Write([]string{"expectation", "host", "agent", "profile", "url", "found", "line"})
	return c
}

// breach counts one row of expectation i that is otherwise.
func (c *checker) breach(i int, b Breach) {
	p := c.promises[i]
	p.Broken++
	if len(p.First) < maxBreaches {
		p.First = append(p.First, b)
	}
	line := ""
	if b.Line != nil {
		line = strconv.Itoa(int(*b.Line))
	}
	c.csv.Write([]string{p.Name, b.Host, text(b.Agent), text(b.Profile), text(b.URL), b.Found, line}) // Flush tells errors
}

// finish judges, and ends the file, which its owner publishes.
func (c *checker) finish() ([]*Promise, error) {
	for i, x := range c.expectations.list {
		p := c.promises[i]
		if x.judge(p); p.State == Unchecked {
			c.csv.Write([]string{p.Name, "", "", "", "", "unchecked: " + p.Note, ""})
		}
	}
	c.csv.Flush()
	if err := c.csv.Error(); err != nil {
		return nil, fmt.Errorf("write expectations.csv: %w", err)
	}
	return c.promises, nil
}

// Check holds a complete run below dir against what is expected of it, and
// lists all that is otherwise, or could not be checked, in expectations.csv in
// the run's folder. agents are the run's. What is expected of changes is
// unchecked: [Diff] tells.
func (e *Expectations) Check(ctx context.Context, dir, run string, agents []evaluate.Agent) ([]*Promise, error) {
	m, err := sink.ReadManifest(dir, run)
	if err != nil {
		return nil, err
	}
	out, err := sink.CreateCheck(dir, m)
	if err != nil {
		return nil, err
	}
	defer out.Abort()
	file, err := out.Expectations()
	if err != nil {
		return nil, fmt.Errorf("write expectations.csv: %w", err)
	}
	c := newChecker(e, agents, file, out.Scratch)
	for i, x := range e.list {
		if x.what == "no_change" {
			c.promises[i].unchecked("it is about two runs; robocensus diff checks it", false)
		}
	}
	if err := c.run(ctx, dir, m); err != nil {
		return nil, err
	}
	promises, err := c.finish()
	if err != nil {
		return nil, err
	}
	return promises, out.Commit()
}

// run checks what is expected of one run, segment by segment. Of a segment
// without a host that is meant only its part of fetches is read.
func (c *checker) run(ctx context.Context, dir string, m *sink.Manifest) error {
	for i, x := range c.expectations.list {
		if x.isOfModel() {
			if why := c.lacksModel(m); why != "" {
				c.promises[i].unchecked(why, true)
			}
		} else if t := x.table(); x.what != "no_change" && !slices.Contains(m.Tables, t) {
			c.promises[i].unchecked(fmt.Sprintf("run %s has no table %s", m.Run, t), true)
		} else if x.what == "verdict" && len(x.Category) > 0 && len(c.agents) == 0 && !slices.Contains(m.Tables, "policies") {
			c.promises[i].unchecked(fmt.Sprintf("run %s has no table policies, which tells the categories of agents", m.Run), true)
		}
	}
	parts := make(map[int]map[string]sink.Part)
	var order []int
	for _, p := range m.Parts {
		if parts[p.Segment] == nil {
			parts[p.Segment] = make(map[string]sink.Part)
			order = append(order, p.Segment)
		}
		parts[p.Segment][p.Table] = p
	}
	for _, segment := range order {
		for _, table := range []string{"fetches", "policies", "verdicts"} {
			if p, ok := parts[segment][table]; ok {
				if err := c.part(ctx, dir, p, parts[segment]["fetches"]); err != nil {
					return err
				}
			}
		}
		if err := c.ofModels(ctx, dir, parts[segment]); err != nil {
			return err
		}
	}
	return nil
}

// meant are the expectations that look at a table, by index.
func (c *checker) meant(table string) (out []int) {
	for i, x := range c.expectations.list {
		if x.table() == table && c.promises[i].State != Unchecked {
			out = append(out, i)
		}
	}
	return out
}

func (c *checker) part(ctx context.Context, dir string, p, fetches sink.Part) error {
	meant := c.meant(p.Table)
	if len(meant) == 0 {
		return nil
	}
	var wanted func(least, greatest int64) bool
	if p.Table != "fetches" && fetches.Path != "" {
		seqs, err := c.seqs(ctx, dir, fetches, meant)
		if err != nil || len(seqs) == 0 {
			return err
		}
		slices.Sort(seqs)
		wanted = func(least, greatest int64) bool {
			i, _ := slices.BinarySearch(seqs, least)
			return i < len(seqs) && seqs[i] <= greatest
		}
	}
	columns := map[string][]string{
		"fetches":  {"host", "reason"},
		"policies": {"host", "agent", "category", "profile", "class"},
		"verdicts": {"host", "agent", "profile", "url", "verdict", "reason", "rule_line"},
	}[p.Table]
	check := map[string]func([]int, arrow.RecordBatch){"fetches": c.fetches, "policies": c.policies, "verdicts": c.verdicts}[p.Table]
	return scan.Rows(ctx, dir, p, scan.Selection{Columns: columns, Wanted: wanted}, func(batch arrow.RecordBatch) error {
		check(meant, batch)
		return nil
	})
}

// seqs are the targets of a segment that any of the expectations means.
func (c *checker) seqs(ctx context.Context, dir string, fetches sink.Part, meant []int) (out []int64, err error) {
	err = scan.Rows(ctx, dir, fetches, scan.Selection{Columns: []string{"seq", "host"}}, func(batch arrow.RecordBatch) error {
		seq, host := scan.Column[*array.Int64](batch, "seq"), scan.Column[*array.String](batch, "host")
		for i := range int(batch.NumRows()) {
			name := host.Value(i)
			if slices.ContainsFunc(meant, func(k int) bool { return c.expectations.list[k].matches(name) }) {
				out = append(out, seq.Value(i))
			}
		}
		return nil
	})
	return out, err
}

func (c *checker) fetches(meant []int, batch arrow.RecordBatch) {
	host, reason := scan.Column[*array.String](batch, "host"), scan.Column[*array.String](batch, "reason")
	for i := range int(batch.NumRows()) {
		for _, k := range meant {
			if !c.expectations.list[k].matches(host.Value(i)) {
				continue
			}
			c.promises[k].Checked++
			if r := reason.Value(i); unreachable[r] {
				c.breach(k, Breach{Host: strings.Clone(host.Value(i)), Found: strings.Clone(r)})
			}
		}
	}
}

// selection remembers which of the expectations mean a host, from row to row.
type selection struct {
	host  string
	begun bool
	of    []int
}

func (s *selection) at(c *checker, meant []int, host string) []int {
	if !s.begun || s.host != host {
		s.begun, s.host, s.of = true, host, s.of[:0]
		for _, k := range meant {
			if c.expectations.list[k].matches(host) {
				s.of = append(s.of, k)
			}
		}
	}
	return s.of
}

// policies counts classes apart that are not known: an outage is no policy.
func (c *checker) policies(meant []int, batch arrow.RecordBatch) {
	host, agent := scan.Column[*array.String](batch, "host"), scan.Column[*array.String](batch, "agent")
	category, profile := scan.Column[*array.String](batch, "category"), scan.Column[*array.String](batch, "profile")
	class := scan.Column[*array.String](batch, "class")
	var s selection
	for i := range int(batch.NumRows()) {
		for _, k := range s.at(c, meant, host.Value(i)) {
			x := c.expectations.list[k]
			if !x.isOf(agent.Value(i), category.Value(i)) || !x.Profile.has(profile.Value(i)) {
				continue
			}
			if class.Value(i) == summary.ClassNames[summary.ClassUnknown] {
				c.promises[k].Unknown++
				continue
			}
			c.promises[k].Checked++
			if !x.Class.has(class.Value(i)) {
				c.breach(k, Breach{Host: strings.Clone(host.Value(i)), Agent: sink.Some(strings.Clone(agent.Value(i))), Profile: sink.Some(strings.Clone(profile.Value(i))), Found: strings.Clone(class.Value(i))})
			}
		}
	}
}

func (c *checker) verdicts(meant []int, batch arrow.RecordBatch) {
	host, agent := scan.Column[*array.String](batch, "host"), scan.Column[*array.String](batch, "agent")
	profile, url := scan.Column[*array.String](batch, "profile"), scan.Column[*array.String](batch, "url")
	verdict, reason := scan.Column[*array.String](batch, "verdict"), scan.Column[*array.String](batch, "reason")
	line := scan.Column[*array.Int32](batch, "rule_line")
	categories := make(map[string]string)
	for _, a := range c.agents {
		categories[a.Name] = a.Category
	}
	var s selection
	for i := range int(batch.NumRows()) {
		for _, k := range s.at(c, meant, host.Value(i)) {
			x := c.expectations.list[k]
			if !slices.Contains(x.URLs, url.Value(i)) || !x.isOf(agent.Value(i), categories[agent.Value(i)]) || !x.Profile.has(profile.Value(i)) {
				continue
			}
			c.promises[k].Checked++
			if verdict.Value(i) == x.Verdict {
				continue
			}
			b := Breach{
				Host: strings.Clone(host.Value(i)), Agent: sink.Some(strings.Clone(agent.Value(i))), Profile: sink.Some(strings.Clone(profile.Value(i))),
				URL: sink.Some(strings.Clone(url.Value(i))), Found: verdict.Value(i) + " by " + reason.Value(i),
			}
			if !line.IsNull(i) {
				b.Line = sink.Some(line.Value(i))
			}
			c.breach(k, b)
		}
	}
}

// changed holds a change against what may not change.
func (c *checker) changed(row *sink.Change) {
	for _, k := range c.meant("changes") {
		x := c.expectations.list[k]
		if !x.matches(row.Host) || !slices.Contains(x.NoChange, "all") && !slices.Contains(x.NoChange, row.Kind) {
			continue
		}
		switch {
		case row.Kind == "rules" && *row.After == undecided && x.hangsOn(row):
			c.promises[k].Undecided++
		case x.forbids(row):
			c.breach(k, Breach{Host: row.Host, Agent: row.Agent, Profile: row.Profile, URL: row.URL, Found: shownFound(row), Line: row.LineAfter})
		}
	}
}

// forbids reports whether a change of a kind that may not occur is one of those
// that may not.
func (x *expectation) forbids(row *sink.Change) bool {
	if !x.Severity.has(row.Severity) || len(x.After) > 0 && (row.After == nil || !x.After.has(*row.After)) {
		return false
	}
	// A row that says nothing of agents is about none.
	return !((len(x.Agents) > 0 || len(x.Category) > 0) && (row.Agent == nil || !x.isOf(*row.Agent, text(row.Category))) ||
		len(x.Profile) > 0 && (row.Profile == nil || !x.Profile.has(*row.Profile)) ||
		len(x.URLs) > 0 && (row.URL == nil || !x.URLs.has(*row.URL)))
}

// hangsOn reports whether a change whose meaning is undecided may be one that
// may not occur. Where a path shows a difference, and any is forbidden, it is.
func (x *expectation) hangsOn(row *sink.Change) bool {
	if row.URL != nil && len(x.Severity)+len(x.After)+len(x.URLs) == 0 {
		return false
	}
	if row.Agent == nil {
		// It is about all agents, and of a kind that somebody has to name: runs
		// without bodies have it of every text that changed.
		if !slices.Contains(x.NoChange, "rules") {
			return false
		}
	} else if !x.isOf(*row.Agent, text(row.Category)) {
		return false
	}
	return row.Profile == nil || x.Profile.has(*row.Profile)
}

// host counts a host that is compared.
func (c *checker) host(name string) {
	for _, k := range c.meant("changes") {
		if c.expectations.list[k].matches(name) {
			c.promises[k].Checked++
		}
	}
}

var errEnoughRows = errors.New("enough rows")

// firstTarget is what a run has judged of its first target, and so of all: the
// agents, and the paths that are tried on every host. Each is empty where the run
// lacks the table, or a target.
type firstTarget struct {
	agents []evaluate.Agent
	paths  []string
}

func readFirst(ctx context.Context, dir string, m *sink.Manifest) (f firstTarget, err error) {
	err = firstRows(ctx, dir, m, "policies", []string{"agent", "category"}, func(cell func(column string) string) {
		f.agents = append(f.agents, evaluate.Agent{Name: strings.Clone(cell("agent")), Category: strings.Clone(cell("category"))})
	})
	if err != nil {
		return f, err
	}
	known := make(map[string]bool)
	err = firstRows(ctx, dir, m, "verdicts", []string{"url"}, func(cell func(column string) string) {
		if url := cell("url"); strings.HasPrefix(url, "/") && !known[url] {
			url = strings.Clone(url)
			known[url] = true
			f.paths = append(f.paths, url)
		}
	})
	return f, err
}

// firstRows gives the rows that a table has of its first target.
func firstRows(ctx context.Context, dir string, m *sink.Manifest, table string, columns []string, each func(cell func(column string) string)) error {
	for _, p := range m.Parts {
		if p.Table != table || p.Rows == 0 {
			continue
		}
		var first *int64
		err := scan.Rows(ctx, dir, p, scan.Selection{Columns: append([]string{"seq"}, columns...)}, func(batch arrow.RecordBatch) error {
			seq := scan.Column[*array.Int64](batch, "seq")
			texts := make(map[string]*array.String)
			for _, name := range columns {
				texts[name] = scan.Column[*array.String](batch, name)
			}
			for i := range int(batch.NumRows()) {
				if first == nil {
					first = sink.Some(seq.Value(i))
				}
				if *first != seq.Value(i) {
					return errEnoughRows
				}
				each(func(column string) string { return texts[column].Value(i) })
			}
			return nil
		})
		if errors.Is(err, errEnoughRows) {
			err = nil
		}
		return err
	}
	return nil
}
