package dialect

import "strings"

// commonNames finds the name that an agent follows if its token has only a part that
// equals one: the first name of the file whose groups all have a name that is such a part,
// each spelt alike. Names that stand in the same groups share a set, so that a head of
// thousands of names costs no square of them.
type commonNames struct {
	of    []int32   // the set of each name
	sets  [][]int32 // spellings
	texts []string  // of the spellings, in lower case
	ids   map[string]int32

	group int32           // that the names stand in now
	here  []int32         // the group by which each spelling was seen last, from 1
	all   int32           // the set of all names in the group, -1 before it is needed
	meets map[int32]int32 // sets, and what of them stands in the group too
}

// add notes that name k stands in a group; for the first time, or in a further one.
func (c *commonNames) add(k int, first bool, head []Agent, group int32) {
	if c.ids == nil {
		c.ids, c.group = make(map[string]int32), -1
	}
	if c.group != group {
		c.begin(head, group)
	}
	switch {
	case first:
		for len(c.of) <= k {
			c.of = append(c.of, -1)
		}
		if c.all < 0 {
			c.all = c.keep(c.spellings(head))
		}
		c.of[k] = c.all
	case c.of[k] != c.all:
		set, ok := c.meets[c.of[k]]
		if !ok {
			var both []int32
			for _, id := range c.sets[c.of[k]] {
				if c.here[id] == group+1 {
					both = append(both, id)
				}
			}
			set = c.keep(both)
			c.meets[c.of[k]], c.meets[set] = set, set
		}
		c.of[k] = set
	}
}

func (c *commonNames) begin(head []Agent, group int32) {
	c.group, c.all, c.meets = group, -1, make(map[int32]int32)
	for _, id := range c.spellings(head) {
		c.here[id] = group + 1
	}
}

func (c *commonNames) keep(set []int32) int32 {
	c.sets = append(c.sets, set)
	return int32(len(c.sets) - 1)
}

// spellings returns the names at the head of a group, but for *.
func (c *commonNames) spellings(head []Agent) (ids []int32) {
	for _, a := range head {
		if a.ForAll {
			continue
		}
		id, ok := c.ids[string(a.Value)]
		if !ok {
			id = int32(len(c.texts))
			c.ids[string(a.Value)] = id
			c.texts, c.here = append(c.texts, foldName(a.Value)), append(c.here, 0)
		}
		ids = append(ids, id)
	}
	return ids
}

// find returns the number of the first name by which an agent is found, or -1.
func (c *commonNames) find(token string) int {
	misses := make([]bool, len(c.sets))
	for k, set := range c.of {
		if misses[set] {
			continue
		}
		for _, id := range c.sets[set] {
			if strings.Contains(token, c.texts[id]) {
				return k
			}
		}
		misses[set] = true
	}
	return -1
}
