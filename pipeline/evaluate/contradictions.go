package evaluate

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
)

// contradictions finds the statements of one mechanism that say the contrary of one use and
// path to an agent that follows both: in one group, or in several that name one token. A
// label that an item repeats has been replaced before.
type contradictions struct {
	rows []statedRow
	said map[int32]map[subject]said // by group
	all  said
}

// A subject is what statements can contradict each other about.
type subject struct{ mechanism, use, path string }

// said is what is said of a subject.
type said uint8

const (
	permitted said = 1 << iota
	refused
	contradicted

	both = permitted | refused
)

// A statedRow is a row that says something of a subject.
type statedRow struct {
	row   int
	group int32
	subject
}

// add notes what a row says for a group.
func (c *contradictions) add(r *schema.Preference, row int, group int32) {
	if r.Use == nil || r.Preference == nil {
		return
	}
	s := subject{r.Mechanism, *r.Use, schema.OrZero(r.Path)}
	c.rows = append(c.rows, statedRow{row, group, s})
	if c.said == nil {
		c.said = make(map[int32]map[subject]said)
	}
	if c.said[group] == nil {
		c.said[group] = make(map[subject]said)
	}
	says := permitted
	if *r.Preference == usage.Refuses.String() {
		says = refused
	}
	c.all |= says
	if c.said[group][s] |= says; c.said[group][s]&both == both {
		c.said[group][s] |= contradicted
	}
}

// mark marks the rows that contradict each other. f has the tokens of the groups, nil if
// each has its own.
func (c *contradictions) mark(rows []schema.Preference, f *robots.File) {
	if c.all != both {
		return // as in nearly all files
	}
	if f != nil && len(c.said) > 1 {
		for _, groups := range c.merged(f) {
			c.merge(groups)
		}
	}
	for _, x := range c.rows {
		rows[x.row].Conflict = c.said[x.group][x.subject]&contradicted != 0
	}
}

// merged returns the groups that state something and name one token, for each token that
// several name; once, if they name several.
func (c *contradictions) merged(f *robots.File) (all [][]int32) {
	naming := make(map[string][]int32)
	for i := range f.Agents {
		a := &f.Agents[i]
		if c.said[a.Group] == nil || len(a.Wide) == 0 {
			continue
		}
		token := strings.ToLower(string(a.Wide))
		if groups := naming[token]; len(groups) == 0 || groups[len(groups)-1] != a.Group {
			naming[token] = append(groups, a.Group)
		}
	}
	known := make(map[string]bool)
	var key []byte
	for _, groups := range naming {
		key = key[:0]
		for _, g := range groups {
			key = binary.LittleEndian.AppendUint32(key, uint32(g))
		}
		if len(groups) > 1 && !known[string(key)] {
			known[string(key)] = true
			all = append(all, groups)
		}
	}
	return all
}

// merge marks what groups contradict that one agent follows. It passes over what the group
// that states most alone says: thus many pairs with one large group cost little.
func (c *contradictions) merge(groups []int32) {
	most := slices.MaxFunc(groups, func(a, b int32) int { return cmp.Compare(len(c.said[a]), len(c.said[b])) })
	together := make(map[subject]said)
	for _, g := range groups {
		if g == most {
			continue
		}
		for s, says := range c.said[g] {
			together[s] |= says
		}
	}
	for _, g := range groups {
		if g == most {
			continue
		}
		for s := range c.said[g] {
			others := c.said[most][s]
			if (together[s]|others)&both != both {
				continue
			}
			c.said[g][s] |= contradicted
			if others != 0 {
				c.said[most][s] |= contradicted
			}
		}
	}
}
