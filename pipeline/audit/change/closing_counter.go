package change

import (
	"cmp"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/sink/schema"
)

// Agent identifies a policy of each host.
type Agent struct{ Agent, Category, Profile string }

// Category identifies the policies of each host for agents of one category.
type Category struct{ Category, Profile string }

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
	Agent
	Template string
}

// Counter counts hosts by the rows of changes.
type Counter struct {
	Agents     map[Agent]*Counts
	Categories map[Category]*Counts
	Profiles   map[string]*Totals
	Words      map[AgentWords]*Counts
	Uses       map[Use]*UseCounts
	Identities map[string]*IdentityCounts // by name
	Pages      map[string]*IdentityCounts // by name, for a page
	Documents  map[string]*DocumentCounts // by name
	Stated     map[DocumentUse]*StatedCounts

	// State of the current host.
	policies map[Agent]Move
	words    map[Agent]string // templates of those that closed or opened, "" for the file's own
	uses     map[Use]useMove
	text     string // severity of its row of kind text
}

// NewCounter counts hosts under the given profiles.
func NewCounter(profiles []string) *Counter {
	c := &Counter{Agents: make(map[Agent]*Counts), Categories: make(map[Category]*Counts),
		Profiles: make(map[string]*Totals),
		Words:    make(map[AgentWords]*Counts), Uses: make(map[Use]*UseCounts),
		Identities: make(map[string]*IdentityCounts), Pages: make(map[string]*IdentityCounts),
		Documents: make(map[string]*DocumentCounts), Stated: make(map[DocumentUse]*StatedCounts),
		policies: make(map[Agent]Move), words: make(map[Agent]string),
		uses: make(map[Use]useMove)}
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
	m, ok := MoveOf(row)
	switch {
	case ok && c.Profiles[*row.Profile] != nil:
		agent := Agent{*row.Agent, *row.Category, *row.Profile}
		c.policies[agent] = m.and(c.policies[agent])
		if m.Closes || m.Opens {
			c.words[agent] = schema.OrZero(row.Template)
		}
	case row.Kind == "preference" && row.Profile != nil && row.Use != nil && c.Profiles[*row.Profile] != nil:
		c.addUse(row)
	case row.Kind == "preference" && row.Document != nil && row.Use != nil:
		moveOf(c.Stated, DocumentUse{*row.Document, *row.Use}).add(row)
	case row.Kind == "answer" && row.Identity != nil:
		moveOf(c.Identities, *row.Identity).add(row)
	case row.Kind == "page" && row.Identity != nil:
		moveOf(c.Pages, *row.Identity).add(row)
	case row.Kind == "document" && row.Document != nil:
		moveOf(c.Documents, *row.Document).add(row)
	case row.Kind == "rules" && row.Agent == nil && row.Profile != nil && c.Profiles[*row.Profile] != nil:
		c.policies[Agent{Profile: *row.Profile}] = Move{Undecided: true} // of all agents
	}
}

// and returns what happened if both did.
func (m Move) and(n Move) Move {
	return Move{m.Closes || n.Closes, m.Opens || n.Opens, m.Undecided || n.Undecided, m.ShutOut || n.ShutOut, m.LetsIn ||
		n.LetsIn}
}

// EndOfHost counts the current host.
func (c *Counter) EndOfHost() {
	categories, profiles := make(map[Category]Move), make(map[string]Move)
	for agent, m := range c.policies {
		if agent.Agent != "" {
			moveOf(c.Agents, agent).add(m)
			at := Category{agent.Category, agent.Profile}
			categories[at] = categories[at].and(m)
		}
		profiles[agent.Profile] = profiles[agent.Profile].and(m)
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

// SortedCounts returns the keys of counts, those that most hosts closed to first, and of
// equal ones by compare.
func SortedCounts[K comparable](list map[K]*Counts, compare func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(list), func(a, b K) int {
		x, y := list[a], list[b]
		if n := cmp.Or(cmp.Compare(y.Closed, x.Closed), cmp.Compare(y.ShutOut, x.ShutOut), cmp.Compare(y.Opened, x.Opened),
			cmp.Compare(y.LetIn, x.LetIn)); n != 0 {
			return n
		}
		return compare(a, b)
	})
}
