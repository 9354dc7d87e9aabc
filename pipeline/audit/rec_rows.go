package audit

import "github.com/robocensus/robocensus/sink"

// groupRow is a row of groups.
type groupRow struct {
	index, line int32
	class       string
	delay       *float64
	tokens      []string // in lower case
	agents      []agentLine
}

func (d *decoder) group() groupRow {
	g := groupRow{index: int32(d.uint()), line: int32(d.uint()), class: d.text()}
	if d.uint() == 1 {
		g.delay = sink.Some(d.float())
	}
	for range d.uint() {
		g.tokens = append(g.tokens, d.text())
	}
	for range d.uint() {
		g.agents = append(g.agents, agentLine{int32(d.uint()), d.text()})
	}
	return g
}

// ruleLine is a row of rules.
type ruleLine struct {
	group   int32 // -1 before the first group
	line    int32
	allow   bool
	pattern []byte
}

func (d *decoder) rule() ruleLine {
	r := ruleLine{group: int32(d.uint()) - 1, line: int32(d.uint())}
	r.allow = d.uint() == 1
	r.pattern = d.bytes()
	return r
}

// agentLine is a value on a user-agent line.
type agentLine struct {
	line  int32
	value string
}

// policyRow is a row of policies. It holds the numbers of its texts in names;
// group is 0 for null, else its number plus 1.
type policyRow struct{ profile, agent, category, class, group uint64 }

func (d *decoder) policy() policyRow {
	return policyRow{d.uint(), d.uint(), d.uint(), d.uint(), d.uint()}
}

// agentProfile identifies a policy by the numbers of its profile and agent in
// names.
type agentProfile struct{ profile, agent uint64 }

// sitemap reads the line and the URL of a row of sitemaps.
func (d *decoder) sitemap() (line int32, url string) { return int32(d.uint()), d.text() }
