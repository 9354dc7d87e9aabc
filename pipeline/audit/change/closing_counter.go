package change

import (
	"cmp"

	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// OfAgent identifies a policy of each host.
type OfAgent struct {
	Agent    string `json:"agent"`
	Category string `json:"category"`
	Profile  string `json:"profile"`
}

// OfCategory identifies the policies of each host for agents of one category.
type OfCategory struct {
	Category string `json:"category"`
	Profile  string `json:"profile"`
}

// Totals counts hosts by all policies under one profile.
type Totals struct {
	Counts
	// Reworded counts the hosts whose text alone differs: no verdict on any path does.
	Reworded int64 `json:"reworded"`
	// Template counts, of the hosts that closed or opened, those that did so in the words of
	// templates alone.
	Template int64 `json:"by_template"`
}

// AgentWords identifies the policies of each host for an agent that changed in the words
// of a template; "" for the file's own.
type AgentWords struct {
	OfAgent
	Template string
}

// Counter counts hosts by the rows of changes.
type Counter struct {
	Agents     map[OfAgent]*Counts
	Categories map[OfCategory]*Counts
	Profiles   map[string]*Totals
	Words      map[AgentWords]*Counts
	Uses       map[OfUse]*UseCounts
	Identities map[string]*IdentityCounts // by name
	Pages      map[string]*IdentityCounts // by name, for a page
	Documents  map[string]*DocumentCounts // by name
	Stated     map[OfDocument]*StatedCounts

	// State of the current host.
	policies map[OfAgent]summary.Move
	words    map[OfAgent]string // templates of those that closed or opened, "" for the file's own
	uses     map[OfUse]*useMove
	text     string // severity of its row of kind text
}

// NewCounter counts hosts under the given profiles.
func NewCounter(profiles []string) *Counter {
	c := &Counter{Agents: make(map[OfAgent]*Counts), Categories: make(map[OfCategory]*Counts),
		Profiles: make(map[string]*Totals),
		Words:    make(map[AgentWords]*Counts), Uses: make(map[OfUse]*UseCounts),
		Identities: make(map[string]*IdentityCounts), Pages: make(map[string]*IdentityCounts),
		Documents: make(map[string]*DocumentCounts), Stated: make(map[OfDocument]*StatedCounts),
		policies: make(map[OfAgent]summary.Move), words: make(map[OfAgent]string),
		uses: make(map[OfUse]*useMove)}
	for _, p := range profiles {
		c.Profiles[p] = new(Totals)
	}
	return c
}

// Add adds a row of the current host.
func (c *Counter) Add(row *schema.Change) {
	if row.Kind == "text" {
		c.text = row.Severity
		return
	}
	m, ok := summary.MoveOf(row)
	switch {
	case ok && c.Profiles[*row.Profile] != nil:
		agent := OfAgent{*row.Agent, *row.Category, *row.Profile}
		c.policies[agent] = m.And(c.policies[agent])
		if m.Closes || m.Opens {
			c.words[agent] = schema.OrZero(row.Template)
		}
	case row.Kind == "preference" && row.Profile != nil && row.Use != nil && c.Profiles[*row.Profile] != nil:
		c.addUse(row)
	case row.Kind == "preference" && row.Document != nil && row.Use != nil:
		moveOf(c.Stated, OfDocument{*row.Document, *row.Use}).add(row)
	case row.Kind == "answer" && row.Identity != nil:
		moveOf(c.Identities, *row.Identity).add(row)
	case row.Kind == "page" && row.Identity != nil:
		moveOf(c.Pages, *row.Identity).add(row)
	case row.Kind == "document" && row.Document != nil:
		moveOf(c.Documents, *row.Document).add(row)
	case row.Kind == "rules" && row.Agent == nil && row.Profile != nil && c.Profiles[*row.Profile] != nil:
		c.policies[OfAgent{Profile: *row.Profile}] = summary.Move{Undecided: true} // of all agents
	}
}

// EndOfHost counts the current host.
func (c *Counter) EndOfHost() {
	categories, profiles := make(map[OfCategory]summary.Move), make(map[string]summary.Move)
	for agent, m := range c.policies {
		if agent.Agent != "" {
			moveOf(c.Agents, agent).add(m)
			at := OfCategory{agent.Category, agent.Profile}
			categories[at] = categories[at].And(m)
		}
		profiles[agent.Profile] = profiles[agent.Profile].And(m)
	}
	own := make(map[string]bool) // profiles under which it changed in its own words
	for agent, template := range c.words {
		moveOf(c.Words, AgentWords{agent, template}).add(c.policies[agent])
		own[agent.Profile] = own[agent.Profile] || template == ""
	}
	for at, m := range categories {
		moveOf(c.Categories, at).add(m)
	}
	if len(profiles) > 0 || c.text != "" {
		for name, t := range c.Profiles {
			m := profiles[name]
			m.Undecided = m.Undecided || c.text != "" && c.text != "cosmetic"
			t.add(m)
			if (m.Closes || m.Opens) && !own[name] {
				t.Template++
			}
			if c.text == "cosmetic" { // then there is no other row
				t.Reworded++
			}
		}
	}
	c.endOfUses()
	clear(c.policies)
	clear(c.words)
	c.text = ""
}

// of returns the value of a key, a new one if it has none.
func moveOf[K comparable, V any](in map[K]*V, key K) *V {
	if in[key] == nil {
		in[key] = new(V)
	}
	return in[key]
}

// Compare orders counts: those that most hosts closed to first.
func (c *Counts) Compare(o *Counts) int {
	return cmp.Or(cmp.Compare(o.Closed, c.Closed), cmp.Compare(o.ShutOut, c.ShutOut), cmp.Compare(o.Opened, c.Opened),
		cmp.Compare(o.LetIn, c.LetIn))
}
