package diff

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/closing"
	"github.com/robocensus/robocensus/sink/schema"
)

// A piece is what a file says in one place: a group, or a statement about use. Two files
// say the same in pieces of one key. template is "" for the file's own words.
type piece struct{ key, template string }

// fileGroups are the groups of a file, once read.
type fileGroups struct {
	rows    *records.Rows
	read    bool
	list    []records.Group
	naming  map[string][]int // by token in lower case: the places of the groups that name it
	digests map[string]bool
}

func (f *fileGroups) load() {
	if f.read {
		return
	}
	f.read, f.naming, f.digests = true, make(map[string][]int), make(map[string]bool)
	for d := f.rows[records.Groups]; len(d) > 0; {
		g := d.Group()
		for _, t := range g.Tokens {
			if at := f.naming[t]; len(at) == 0 || at[len(at)-1] != len(f.list) {
				f.naming[t] = append(at, len(f.list))
			}
		}
		f.list, f.digests[g.Digest] = append(f.list, g), true
	}
}

// at returns the place of the group that a line stands in, -1 before the first.
func (f *fileGroups) at(line int32) int {
	i, begins := slices.BinarySearchFunc(f.list, line, func(g records.Group, line int32) int { return int(g.Line - line) })
	if !begins {
		i--
	}
	return i
}

// pieces returns the groups that name a token, in lower case.
func (f *fileGroups) pieces(token string) (out []piece) {
	for _, i := range f.naming[token] {
		out = append(out, piece{f.list[i].Digest, f.list[i].Template})
	}
	return out
}

// setWords sets whose words decide about the agent of a row, before and after, and whose
// words the change of a policy is.
func (c *comparison) setWords(row *schema.Change) {
	names := c.d.names
	two := c.both[records.PolicyKey{Profile: names.ID(*row.Profile), Agent: names.ID(*row.Agent)}]
	row.TemplateBefore, row.TemplateAfter = names.Optional(two[0].Template), names.Optional(two[1].Template)
	var decide [2][]piece
	var stand [2]map[string]bool
	for i := range c.files {
		f := &c.files[i]
		f.load()
		if group := names.Optional(two[i].Group); group != nil {
			decide[i] = f.pieces(strings.ToLower(*group))
		}
		stand[i] = f.digests
	}
	var known bool
	if row.Template, known = changedIn(decide, stand); !known {
		row.Template = decidesIn(row)
	}
}

// changedIn returns the template whose words a change is, nil for the file's own: those of
// what decides now and did not stand in the file before or, if all of it did, of what decided
// before and is gone. stand holds the keys of all pieces of both files. known is false if
// the tables show no such piece.
func changedIn(decide [2][]piece, stand [2]map[string]bool) (template *string, known bool) {
	for _, side := range []int{1, 0} {
		changed := slices.DeleteFunc(slices.Clone(decide[side]), func(p piece) bool { return stand[1-side][p.key] })
		if len(changed) == 0 {
			continue
		}
		if slices.ContainsFunc(changed, func(p piece) bool { return p.template != changed[0].template }) {
			return nil, true
		}
		return schema.NonZero(changed[0].template), true
	}
	return nil, false
}

// decidesIn returns the template of all that decides now; where something only opened or
// ended, and no template decides now, of all that decided before.
func decidesIn(row *schema.Change) *string {
	m, _ := closing.Of(row)
	if row.TemplateAfter == nil && (m.Opens && !m.Closes || row.Kind == "preference" && row.After == nil) {
		return row.TemplateBefore
	}
	return row.TemplateAfter
}
