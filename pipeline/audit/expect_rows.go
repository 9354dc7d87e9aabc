package audit

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/summary"
)

// part checks the expectations of one part. fetches are the segment's parts of fetches.
func (c *checker) part(ctx context.Context, dir string, p sink.Part, fetches []sink.Part) error {
	meant := c.meant(p.Table)
	if len(meant) == 0 {
		return nil
	}
	var wanted func(least, greatest int64) bool
	if p.Table != "fetches" && len(fetches) > 0 {
		var seqs []int64
		for _, f := range fetches {
			more, err := c.seqs(ctx, dir, f, meant)
			if err != nil {
				return err
			}
			seqs = append(seqs, more...)
		}
		if len(seqs) == 0 {
			return nil
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

// seqs returns the targets of a segment that any of the expectations covers.
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

// fetches checks that hosts are reachable.
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

// A selection caches which expectations cover the host of a row.
type selection struct {
	host  string
	begun bool
	of    []int
}

// at returns the expectations of meant that cover a host.
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

// policies checks classes. It counts unknown ones separately, because an outage is no
// policy.
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

// verdicts checks single verdicts.
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
