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

// contradictions finds the statements about use, in one file or in the header of one page,
// that contradict each other: statements of one mechanism that say the contrary of one use
// and path to an agent that follows both, in one group, or in several that name one token.
// It compares rows of preferences, whatever lines and labels they were made from. A label
// that an item repeats has been replaced before. The zero value knows no statement.
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

// add notes what a row, given by its place among all, says for a group.
func (f *contradictions) add(r *schema.Preference, row int, group int32) {
	if r.Use == nil || r.Preference == nil {
		return
	}
	s := subject{r.Mechanism, *r.Use, schema.OrZero(r.Path)}
	f.rows = append(f.rows, statedRow{row, group, s})
	if f.said == nil {
		f.said = make(map[int32]map[subject]said)
	}
	if f.said[group] == nil {
		f.said[group] = make(map[subject]said)
	}
	says := permitted
	if *r.Preference == usage.Refuses.String() {
		says = refused
	}
	f.all |= says
	if f.said[group][s] |= says; f.said[group][s]&both == both {
		f.said[group][s] |= contradicted
	}
}

// mark marks the rows that contradict each other. file has the tokens of the groups, nil if
// each has its own.
func (f *contradictions) mark(rows []schema.Preference, file *robots.File) {
	if f.all != both {
		return // as in nearly all files
	}
	if file != nil && len(f.said) > 1 {
		for _, groups := range f.merged(file) {
			f.merge(groups)
		}
	}
	for _, x := range f.rows {
		rows[x.row].Conflict = f.said[x.group][x.subject]&contradicted != 0
	}
}

// merged returns the groups that state something and name one token, for each token that
// several name; once, if they name several.
func (f *contradictions) merged(file *robots.File) (all [][]int32) {
	naming := make(map[string][]int32)
	for i := range file.Agents {
		a := &file.Agents[i]
		if f.said[a.Group] == nil || len(a.Wide) == 0 {
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
func (f *contradictions) merge(groups []int32) {
	most := slices.MaxFunc(groups, func(a, b int32) int { return cmp.Compare(len(f.said[a]), len(f.said[b])) })
	together := make(map[subject]said)
	for _, g := range groups {
		if g == most {
			continue
		}
		for s, says := range f.said[g] {
			together[s] |= says
		}
	}
	for _, g := range groups {
		if g == most {
			continue
		}
		for s := range f.said[g] {
			others := f.said[most][s]
			if (together[s]|others)&both != both {
				continue
			}
			f.said[g][s] |= contradicted
			if others != 0 {
				f.said[most][s] |= contradicted
			}
		}
	}
}
