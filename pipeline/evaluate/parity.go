package evaluate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/portable"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// A parity says whether a file means the same to an agent as google reads it and as the
// agent's own parser does (reads_as). It does not depend on the profiles of the run.
type parity struct {
	agent int
	portable.Parity
}

// explainers returns an explainer for each agent whose parser is documented and is not
// google, else nil; nil if there is none.
func (c *Config) explainers() []*portable.Explainer {
	google := c.Readers[robots.DefaultReader]
	var out []*portable.Explainer
	for i := range c.Agents {
		a := &c.Agents[i]
		if p := c.Readers[registry.Reader(a)]; a.Kind != registry.KindToken && google != nil && p != nil && p != google {
			if out == nil {
				out = make([]*portable.Explainer, len(c.Agents))
			}
			out[i] = portable.NewExplainer(google, p, registry.Robots(a))
		}
	}
	return out
}

// explained remembers files whose difference took an explanation: that reads a file up to
// a hundred times, and many hosts may have it. The evaluators share it.
type explained struct {
	mu    sync.Mutex
	files map[explainedFile][]parity
}

type explainedFile struct {
	digest [sha256.Size]byte
	cut    bool
}

// Bounds of the files that are remembered, and of the lines of each.
const (
	explainedFiles = 256
	explainedBytes = 16 << 10
)

func (x *explained) find(file explainedFile) []parity {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.files[file]
}

// keep remembers a file if it was explained.
func (x *explained) keep(file explainedFile, found []parity) {
	if weightOf(found) > explainedBytes || !slices.ContainsFunc(found, func(p parity) bool {
		return p.Difference == robots.Differs
	}) {
		return
	}
	kept := cloneParities(found)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.files == nil || len(x.files) == explainedFiles {
		x.files = make(map[explainedFile][]parity)
	}
	x.files[file] = kept
}

// weightOf estimates the bytes that parities take.
func weightOf(all []parity) (n int) {
	for i := range all {
		n += 96
		for _, c := range all[i].Causes {
			n += 64
			for _, line := range c.Lines {
				n += 64 + len(line.Text)
			}
		}
	}
	return n
}

// cloneParities returns parities whose lines stand in memory of their own.
func cloneParities(all []parity) []parity {
	all = slices.Clone(all)
	for i := range all {
		all[i].Causes = slices.Clone(all[i].Causes)
		for k := range all[i].Causes {
			c := &all[i].Causes[k]
			c.Lines = slices.Clone(c.Lines)
			for n := range c.Lines {
				c.Lines[n].Text = bytes.Clone(c.Lines[n].Text)
			}
		}
	}
	return all
}

// parities compares a file for the agents that it may name. Few files name one.
func (e *Evaluator) parities(dst []parity, f *robots.File, body []byte, cut bool) []parity {
	if e.readings[0].profile.Name != robots.DefaultReader {
		f = &e.plain // which agents a file names is google's reading too
		f.Cut = cut
		f.Parse(body, e.config.Readers[robots.DefaultReader])
	}
	var file explainedFile
	asked := false
	from := len(dst)
	for i, x := range e.explainers {
		if x == nil || !slices.ContainsFunc(f.Agents, func(a robots.AgentLine) bool { return x.Concerns(a.Value) }) {
			continue
		}
		if !asked {
			asked, file = true, explainedFile{sha256.Sum256(body), cut}
			if known := e.explained.find(file); known != nil {
				return append(dst, known...)
			}
		}
		if p := x.Compare(f); p.Named {
			dst = append(dst, parity{i, p})
		}
	}
	if asked {
		e.explained.keep(file, dst[from:])
	}
	return dst
}

// effect names what the other reading does to the agent: a key of the counter parity.
func (p *parity) effect() string {
	shut, open := p.Google == robots.DisallowAll, p.Parser != robots.DisallowAll
	switch {
	case p.Difference != robots.Differs:
		return p.Difference.String()
	case shut && open:
		return summary.LetIn
	case !shut && !open:
		return summary.KeptOut
	}
	return p.Difference.String()
}

// cause returns the key of the cause, or that there are several.
func (p *parity) cause() string {
	if len(p.Causes) > 1 {
		return summary.SeveralCauses
	}
	return p.Causes[0].Key
}

// linesOf returns the lines of a cause. Where none is known, it is that where the agent's
// group begins.
func (p *parity) linesOf(c *portable.Cause) []portable.Line {
	if len(c.Lines) > 0 {
		return c.Lines
	}
	return []portable.Line{{Number: int(max(p.GroupLine, 1))}}
}

// groupAt returns the group that a line stands in, -1 before the first.
func groupAt(f *robots.File, line int) int32 {
	i, _ := slices.BinarySearchFunc(f.Groups, int32(line)+1,
		func(g robots.Group, n int32) int { return cmp.Compare(g.Line, n) })
	return int32(i) - 1
}

// parityRows returns the rows of lines on which parsers part.
func (e *Evaluator) parityRows(row *schema.Fetch, f *robots.File, dst []schema.Line) []schema.Line {
	for i := range e.readings[0].content.parities {
		p := &e.readings[0].content.parities[i]
		for _, c := range p.Causes {
			for _, line := range p.linesOf(&c) {
				agent := &e.config.Agents[p.agent]
				dst = append(dst, schema.Line{
					Seq: row.Seq, Host: row.Host, Origin: row.Origin, Line: int32(line.Number),
					GroupIndex: e.groupIndex(groupAt(f, line.Number)), Value: schema.Text(line.Text),
					Class: robots.NotPortable.String(), Agent: &agent.Name, Parser: agent.ReadsAs, Cause: new(c.Key),
					Causes: new(int32(len(p.Causes))),
				})
			}
		}
	}
	return dst
}

// parityOf returns the cell of an agent's parity, null where the file does not name it or
// no parser of its own is documented.
func (e *Evaluator) parityOf(agent int) *string {
	if e.explainers == nil || e.explainers[agent] == nil {
		return nil
	}
	all := e.readings[0].content.parities
	for i := range all {
		if all[i].agent == agent {
			return new(all[i].effect())
		}
	}
	return nil
}

// countParity counts what a file means to the crawlers that it names and to their parsers.
func (e *Evaluator) countParity(stratum string) {
	all := e.readings[0].content.parities
	if len(all) == 0 {
		return
	}
	worst, lines := 0, int64(0)
	class := robots.NotPortable.String()
	for i := range all {
		p := &all[i]
		effect := p.effect()
		worst = max(worst, slices.Index(summary.ParityNames, effect))
		e.counts.AddOf("parity", stratum, p.agent, effect)
		if p.Difference != robots.Differs {
			continue
		}
		cause := p.cause()
		e.counts.AddOf("parity_cause", stratum, p.agent, cause)
		e.once("parity_cause_hosts", stratum, cause)
		line := p.linesOf(&p.Causes[0])[0]
		if e.examples.Wants("parity_cause", cause) {
			agent := &e.config.Agents[p.agent]
			e.examples.Add("parity_cause", cause, int32(line.Number), fmt.Sprintf("%s, google: %s; %s: %s", agent.Name,
				p.Google, registry.Reader(agent), p.Parser))
		}
		if lines == 0 && e.examples.Wants("line_class", class) {
			e.examples.Add("line_class", class, int32(line.Number), summary.Clip(line.Text))
		}
		for k := range p.Causes {
			lines += int64(len(p.linesOf(&p.Causes[k])))
		}
	}
	e.counts.Add("parity_hosts", stratum, summary.ParityNames[worst])
	if lines > 0 {
		e.counts.AddN("line_class", stratum, class, lines)
		e.counts.Add("line_class_hosts", stratum, class)
	}
}
