package diff

import (
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// setWords sets whose words decide about the agent of a row, before and after, and whose
// words the change of a policy is.
func (c *comparison) setWords(row *schema.Change) {
	names := c.d.names
	two := c.policyOf(*row.Profile, *row.Agent).rows
	row.TemplateBefore, row.TemplateAfter = names.Optional(two[0].Template), names.Optional(two[1].Template)
	var known bool
	if row.Template, known = c.files.groupWords(two); !known {
		row.Template = decidesIn(row)
	}
}

// decidesIn returns the template of all that decides now; where something only opened or
// ended, and no template decides now, of all that decided before.
func decidesIn(row *schema.Change) *string {
	m, _ := summary.MoveOf(row)
	if row.TemplateAfter == nil && (m.Opens && !m.Closes || row.Kind == "preference" && row.After == nil) {
		return row.TemplateBefore
	}
	return row.TemplateAfter
}

// A piece is what a file says in one place: a group, or a statement about use. Two files
// say the same in pieces of one key. template is "" for the file's own words.
type piece struct{ key, template string }

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

// changedIn returns the template whose words a change is, nil for the file's own: those of
// what decides now and did not stand in the file before or, if all of it did, of what decided
// before and is gone. known is false if the tables show no such piece.
func changedIn(gone, new words) (template *string, known bool) {
	if new.none {
		new = gone
	}
	return new.template, !new.none && !new.unknown
}

// changed returns whose words those groups are that decide by a row of policies, and that
// another file has not. The tables show the groups in the first profile's reading: a token
// that finds a group only by another profile's is unknown, and where all that decides is a
// template's, other groups of the token do not decide.
func (f *file) changed(names *records.Names, p records.Policy, other *file) words {
	key := decision{p.Group, p.Template}
	w, told := f.words[key]
	if told {
		return w
	}
	f.readGroups()
	other.readGroups()
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
