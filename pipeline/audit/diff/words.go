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
	words   map[decision]words // once asked for
}

// A decision is what decides for an agent: the groups of a token, and their template if all
// of them have the same one, as numbers of a row of policies.
type decision struct{ group, template uint64 }

// words say whose words those pieces are that a file has and the other one has not:
// template is nil for the file's own.
type words struct {
	template *string
	none     bool // the other file has all pieces
	unknown  bool // the tables do not show the pieces
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

// changed returns whose words those groups are that decide by a row of policies, and that
// another file has not. The tables show the groups in the first profile's reading: a token
// that finds a group only by another profile's is unknown, and where all that decides is a
// template's, other groups of the token do not decide.
func (f *fileGroups) changed(names *records.Names, p records.Policy, other *fileGroups) words {
	key := decision{p.Group, p.Template}
	w, asked := f.words[key]
	if asked {
		return w
	}
	f.load()
	other.load()
	var pieces []piece
	if token, template := names.Optional(p.Group), names.Optional(p.Template); token != nil {
		for _, i := range f.naming[strings.ToLower(*token)] {
			if g := &f.list[i]; template == nil || g.Template == *template {
				pieces = append(pieces, piece{g.Digest, g.Template})
			}
		}
		w.unknown = len(pieces) == 0
	}
	if !w.unknown {
		w = wordsOf(pieces, other.digests)
	}
	if f.words == nil {
		f.words = make(map[decision]words)
	}
	f.words[key] = w
	return w
}

// wordsOf returns whose words those pieces are whose keys the other file has not.
func wordsOf(pieces []piece, others map[string]bool) words {
	w := words{none: true}
	for _, p := range pieces {
		switch {
		case others[p.key]:
		case w.none:
			w = words{template: schema.NonZero(p.template)}
		case p.template != schema.OrZero(w.template):
			return words{}
		}
	}
	return w
}

// setWords sets whose words decide about the agent of a row, before and after, and whose
// words the change of a policy is.
func (c *comparison) setWords(row *schema.Change) {
	names := c.d.names
	two := c.both[records.PolicyKey{Profile: names.ID(*row.Profile), Agent: names.ID(*row.Agent)}]
	row.TemplateBefore, row.TemplateAfter = names.Optional(two[0].Template), names.Optional(two[1].Template)
	var known bool
	if row.Template, known = changedIn(c.files[0].changed(names, two[0], &c.files[1]), c.files[1].changed(names, two[1], &c.files[0])); !known {
		row.Template = decidesIn(row)
	}
}

// changedIn returns the template whose words a change is, nil for the file's own: those of
// what decides now and did not stand in the file before or, if all of it did, of what decided
// before and is gone. known is false if the tables show no such piece.
func changedIn(gone, new words) (template *string, known bool) {
	if new.none {
		new = gone
	}
	return new.template, !new.none && !new.unknown
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
