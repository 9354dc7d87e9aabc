package diff

import (
	"cmp"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/sink/schema"
)

// signals writes a row for each signal that appeared, disappeared or changed its value.
func (c *comparison) signals(p *pair) error {
	changed, coarse := signalChanges(&p.rows)
	c.coarse = coarse
	for _, s := range changed {
		row := schema.Change{
			Kind: "signal", Severity: change.SignalSeverity(s.Field),
			Before: s.Before, After: s.After, LineBefore: s.LineBefore, LineAfter: s.LineAfter,
		}
		if s.Agent != "" {
			row.Agent, row.Category = c.named(s.Agent)
		}
		if err := c.emit(row); err != nil {
			return err
		}
	}
	return nil
}

// signalBytes bounds the text of a file's signals, repeated for every agent of
// their groups; a hostile file has thousands of both. Beyond it, the signals of
// both files are compared as those of the whole file. The bound does not depend on
// the order of lines, so reordering a file is never a change.
const signalBytes = 8 << 20

// A token names the agent of a group.
type token struct {
	name string // in lower case
	rank int    // its place among the tokens of both files, from 1
}

// tokensOf returns the tokens of each group of a target, by group index.
func tokensOf(d records.Decoder) map[int32][]token {
	out := make(map[int32][]token)
	for len(d) > 0 {
		g := d.Group()
		for _, name := range g.Tokens {
			out[g.Index] = append(out[g.Index], token{name: name})
		}
	}
	return out
}

// rank numbers texts from 1 in their order, so that long texts are compared once.
// each yields every text with the place for its number.
func rank(each func(f func(text string, rank *int))) {
	ranks := make(map[string]int)
	each(func(text string, _ *int) { ranks[text] = 0 })
	for i, text := range slices.Sorted(maps.Keys(ranks)) {
		ranks[text] = i + 1
	}
	each(func(text string, rank *int) { *rank = ranks[text] })
}

// A signalFile holds the signals of a file, and the tokens of its groups.
type signalFile struct {
	rows   []records.Signal
	tokens map[int32][]token
}

func (f *signalFile) paths(each func(text string, rank *int)) {
	for i := range f.rows {
		r := &f.rows[i]
		switch {
		case r.Path == nil:
		case i > 0 && r.Path == f.rows[i-1].Path:
			r.Rank = f.rows[i-1].Rank
		default:
			each(*r.Path, &r.Rank)
		}
	}
}

func (f *signalFile) agents(each func(text string, rank *int)) {
	for _, tokens := range f.tokens {
		for i := range tokens {
			each(tokens[i].name, &tokens[i].rank)
		}
	}
}

// bytes estimates the size of all signals, repeated for every agent.
func (f *signalFile) bytes() (n int) {
	for _, r := range f.rows {
		n += max(1, len(f.tokens[r.Group])) * (len(r.Text) + 100)
	}
	return n
}

// A signalID identifies a signal whose value may change.
type signalID struct {
	agent int // rank, 0 before the first group
	field string
	path  int // rank, 0 for none
	key   string
}

// signal is one value of a signalID.
type signal struct {
	agent string // token, "" for none
	text  string
	line  int32
}

// signals returns the signals of a file, for each agent of their group or for the
// whole file.
func (f *signalFile) signals(byAgent bool) map[signalID][]signal {
	out := make(map[signalID][]signal)
	for i := range f.rows {
		r := &f.rows[i]
		tokens := []token{{}}
		if byAgent && len(f.tokens[r.Group]) > 0 {
			tokens = f.tokens[r.Group]
		}
		for _, t := range tokens {
			id := signalID{agent: t.rank, field: r.Field, path: r.Rank, key: r.Key}
			out[id] = append(out[id], signal{agent: t.name, text: r.Text, line: r.Line})
		}
	}
	return out
}

// A signalChange is a signal that appeared, disappeared or changed its value.
type signalChange struct {
	Field                 string
	Agent                 string // a token in lower case, "" for the whole file
	Before, After         *string
	LineBefore, LineAfter *int32
}

// signalChanges returns the signals in which two files differ. coarse reports that it takes those of
// both as signals of the whole file, because they are too many to tell by agent.
func signalChanges(rows *[2]records.Rows) (changed []signalChange, coarse bool) {
	if len(rows[0][records.Signals])+len(rows[1][records.Signals]) == 0 {
		return nil, false
	}
	var files [2]signalFile
	for i := range files {
		files[i] = signalFile{records.ReadSignals(rows[i][records.Signals]), tokensOf(rows[i][records.Groups])}
		coarse = coarse || files[i].bytes() > signalBytes
	}
	rank(func(f func(string, *int)) { files[0].paths(f); files[1].paths(f) })
	rank(func(f func(string, *int)) { files[0].agents(f); files[1].agents(f) })
	before, after := files[0].signals(!coarse), files[1].signals(!coarse)
	ids := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.SortFunc(ids, func(a, b signalID) int {
		return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.field, b.field), cmp.Compare(a.path, b.path),
			cmp.Compare(a.key, b.key))
	})
	for _, id := range slices.Compact(ids) {
		gone, come := without(before[id], after[id]), without(after[id], before[id])
		for i := range max(len(gone), len(come)) {
			s := signalChange{Field: id.field}
			if i < len(gone) {
				s.Agent, s.Before, s.LineBefore = gone[i].agent, &gone[i].text, &gone[i].line
			}
			if i < len(come) {
				s.Agent, s.After, s.LineAfter = come[i].agent, &come[i].text, &come[i].line
			}
			changed = append(changed, s)
		}
	}
	return changed, coarse
}

// without returns the signals of list whose values are not in others, each once, in
// the order of the file.
func without(list, others []signal) (out []signal) {
	known := make(map[string]bool)
	for _, s := range others {
		known[s.text] = true
	}
	for _, s := range list {
		if !known[s.text] {
			known[s.text] = true
			out = append(out, s)
		}
	}
	return out
}
