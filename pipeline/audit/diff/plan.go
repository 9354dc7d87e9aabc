package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots/answer"
)

// planProfiles decides what can be compared under the runs' profiles. A profile that
// the runs define differently may give a host another policy that has not changed its
// own. So under such a profile only files are compared, both by the later definition,
// for which they must be kept; under the first profile also by the tables, if it reads
// files as before.
func (d *differ) planProfiles() {
	a, b := d.Runs[0], d.Runs[1]
	before, after := a.FirstProfile(), b.FirstProfile()
	d.SameAnswers = true
	for _, name := range b.Profiles {
		if !slices.Contains(a.Profiles, name) {
			continue
		}
		fields := d.Between.Profile(name)
		first := name == before && name == after
		switch {
		case fields == nil:
			d.Common = append(d.Common, name)
			continue
		case first && d.Between.ReadsAlike(name):
			d.Common, d.SameAnswers = append(d.Common, name), false
			d.note("the runs define the profile %s differently (%s): hosts are compared only where both answered with a "+
				"file or a status 4xx", name, strings.Join(fields, "; "))
			continue
		}
		d.Others = append(d.Others, name)
		how := "policies and verdicts under it are not compared without the table bodies (--keep-bodies)"
		if d.lack("bodies") == "" {
			how = "under it the bodies of both are compared by the later definition"
		}
		d.note("the runs define the profile %s differently (%s): %s", name, strings.Join(fields, "; "), how)
	}
	d.SameReading = before == after && slices.Contains(d.Common, after)
	if !d.SameReading {
		how := cmp.Or(before, "none") + ", then " + cmp.Or(after, "none")
		if before == after {
			how = "the runs define " + cmp.Or(after, "none") + " differently"
		}
		d.note("the first profiles differ (%s): the tables show no change of the kinds %s", how,
			strings.Join(change.ReadingKinds, ", "))
	}
	switch {
	case len(d.Common)+len(d.Others) == 0:
		d.note("the runs have no profile in common: policies and verdicts are not compared")
	case len(d.Common) > 0 && !slices.Equal(a.Profiles, b.Profiles):
		d.note("the runs' profiles differ: policies and verdicts are compared under %s", strings.Join(d.Common, ", "))
	}
}

// planAgents finds the agents that both runs have and define differently. For them,
// too, files are compared by the later definition.
func (d *differ) planAgents() {
	d.Redefined = make(map[string]bool)
	var names []string
	why := ""
	for _, name := range slices.Sorted(maps.Keys(d.Runs[1].Category)) {
		if _, both := d.Runs[0].Category[name]; !both {
			continue
		}
		if text := d.Between.Entry(name); text != "" {
			d.Redefined[name], names, why = true, append(names, name), " ("+text+")"
		}
	}
	if len(names) == 0 {
		return
	}
	what := "agent " + names[0]
	if len(names) > 1 {
		what, why = "agents "+past.Some(names, 5), ""
	}
	how := "by the later definition"
	if d.rules == nil {
		how = "only where one run has no rules"
	}
	d.note("the runs define the %s differently%s: their policies are compared %s", what, why, how)
}

// compares reports whether the tables show changes of the policies of an agent under a
// profile. A host without rules allows everything to an agent, however defined.
func (d *differ) compares(key records.PolicyKey, p *pair) bool {
	profile := d.names.Text(key.Profile)
	if !slices.Contains(d.Common, profile) || !d.Redefined[d.names.Text(key.Agent)] {
		return slices.Contains(d.Common, profile)
	}
	return profile == d.Runs[1].FirstProfile() && d.SameReading && (p.sides[0].Outcome == string(answer.FullAllow) ||
		p.sides[1].Outcome == string(answer.FullAllow))
}

// planTables finds the tables that both runs have and that can be compared.
func (d *differ) planTables() {
	lacking := make(map[string][]string) // tables, by the runs that lack them
	var lacks []string                   // the keys, in order
	for i, table := range records.DetailTables {
		if !d.SameReading && table != "policies" && table != "verdicts" {
			continue
		}
		lack := d.lack(table)
		if lack == "" {
			d.tables = append(d.tables, i)
			continue
		}
		lack += " no such table" + d.effectOf(table)
		if lacking[lack] == nil {
			lacks = append(lacks, lack)
		}
		lacking[lack] = append(lacking[lack], table)
	}
	for _, lack := range lacks {
		d.note("%s are not compared: %s", strings.Join(lacking[lack], ", "), lack)
	}
}

// lack names the runs without a table, with a verb: "a has", "a and b have". It is
// empty if both have it.
func (d *differ) lack(table string) string {
	return d.lacking(func(m *past.Run) bool { return slices.Contains(m.Tables, table) })
}

// lacking does the same for whatever a run may have.
func (d *differ) lacking(has func(*past.Run) bool) string {
	var without []string
	for _, m := range d.Runs {
		if !has(m) {
			without = append(without, m.Run)
		}
	}
	if len(without) == 0 {
		return ""
	}
	return strings.Join(without, " and ") + []string{" has", " have"}[len(without)-1]
}

// effectOf says what it means for other changes that a table is not compared.
func (d *differ) effectOf(table string) string {
	judged := !slices.ContainsFunc(d.Runs[:], func(m *past.Run) bool { return !slices.Contains(m.Tables, "verdicts") })
	if table == "policies" && judged {
		return "; so an agent that is shut out shows in verdicts, which are never critical"
	}
	return ""
}

func (d *differ) note(format string, args ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

func digests(m *past.Run, role string) (out []string) {
	for _, in := range m.Inputs {
		if in.Role == role {
			out = append(out, in.SHA256)
		}
	}
	return out
}
