package records

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/pipeline/internal/sorter"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

// Wanted is the target of pair n, whose rows are compared. If digest is not empty,
// its body is needed too.
type Wanted struct {
	Seq, N int64
	Digest string
}

// Indices of tables in [Rows]. The first are those of detailTables.
const (
	Policies = iota
	Verdicts
	Groups
	Signals
	Sitemaps
	Rules
	Preferences
	Bodies // read by ReadBodies
	allTables
)

// detailTables lists the tables that describe a host's policy, each with the columns
// that are compared, those of them that are read as [texts], and the function that
// encodes a row of them.
var detailTables = []struct {
	name    string
	columns []string
	texts   []string
	bind    func(*reader, arrow.RecordBatch) func(row int, e *Encoder)
}{
	{"policies", []string{"seq", "agent", "category", "profile", "group_agent", "class", "template", "ai_train", "ai_input", "search"},
		[]string{"agent", "category", "profile", "group_agent", "class", "template", "ai_train", "ai_input", "search"}, (*reader).policies},
	{"verdicts", []string{"seq", "agent", "profile", "url", "verdict", "rule_line"}, []string{"agent", "profile", "url", "verdict"}, (*reader).verdicts},
	{"groups", []string{"seq", "group_index", "line", "agents", "agent_lines", "tokens", "class", "crawl_delay", "digest", "template"}, []string{"template"}, (*reader).groups},
	{"signals", []string{"seq", "line", "group_index", "field", "path", "key", "value"}, nil, (*reader).signals},
	{"sitemaps", []string{"seq", "line", "url"}, nil, (*reader).sitemaps},
	{"rules", []string{"seq", "group_index", "line", "kind", "pattern"}, nil, (*reader).rules},
	{"preferences", []string{"seq", "scope", "mechanism", "label", "use", "preference", "path", "line"}, []string{"scope", "mechanism", "use", "preference"}, (*reader).preferences},
}

// DetailTables holds the names of the tables that Read reads, by index.
var DetailTables = func() (names []string) {
	for i := range detailTables {
		names = append(names, detailTables[i].name)
	}
	return names
}()

// A reader reads one part of one of these tables.
type reader struct {
	names *Names
	ids   map[string]uint64 // the part of names that this part uses

	// State of the current target.
	begun           bool              // a row is encoded
	own             map[string]uint64 // its own URLs, numbered in order of appearance
	agentID, profID uint64            // the last row's
}

// Read adds a record to a sorter for each wanted target with rows in a part.
// The key is the number of the pair and that of the table. list is ascending by seq.
func Read(ctx context.Context, in store.Store, p journal.Part, table int, list []Wanted, n *Names, into *sorter.Sorter) error {
	t := &detailTables[table]
	r := &reader{names: n, ids: make(map[string]uint64), own: make(map[string]uint64)}
	var e Encoder
	at, before := 0, int64(-1)<<63
	end := func() error {
		if len(e) == 0 {
			return nil
		}
		var key Encoder
		key.Ordered(list[at].N)
		key = append(key, byte(table))
		err := into.Add(key, e)
		e, r.begun = e[:0], false
		return err
	}
	within := func(least, greatest int64) bool {
		i, _ := slices.BinarySearchFunc(list, least, func(w Wanted, seq int64) int { return cmp.Compare(w.Seq, seq) })
		return i < len(list) && list[i].Seq <= greatest
	}
	err := scan.Rows(ctx, in, p, scan.Selection{Columns: t.columns, Dictionaries: t.texts, Wanted: within}, func(batch arrow.RecordBatch) error {
		encode := t.bind(r, batch)
		for i, seq := range scan.Column[*array.Int64](batch, "seq").Int64Values() {
			if seq < before {
				return fmt.Errorf("%s is out of order at seq %d (see robocensus verify)", p.Path, seq)
			}
			before = seq
			for at < len(list) && list[at].Seq < seq {
				if err := end(); err != nil {
					return err
				}
				at++
			}
			if at < len(list) && list[at].Seq == seq {
				encode(i, &e)
			}
		}
		return nil
	})
	if err != nil || at == len(list) {
		return err
	}
	return end()
}

// id returns the number of a text that the configuration set.
func (r *reader) id(s string) uint64 {
	id, ok := r.ids[s]
	if !ok {
		id = r.names.ID(s)
		r.ids[r.names.Text(id)] = id
	}
	return id
}

func (r *reader) policies(batch arrow.RecordBatch) func(int, *Encoder) {
	agent, category := textsOf(batch, "agent"), textsOf(batch, "category")
	profile, class := textsOf(batch, "profile"), textsOf(batch, "class")
	var rest []*texts // that may be null, in the order of the fields of Policy
	for _, name := range []string{"group_agent", "template", "ai_train", "ai_input", "search"} {
		rest = append(rest, textsOf(batch, name))
	}
	return func(i int, e *Encoder) {
		e.Uint(r.idOf(profile, i))
		e.Uint(r.idOf(agent, i))
		e.Uint(r.idOf(category, i))
		e.Uint(r.idOf(class, i))
		for _, t := range rest {
			if t.IsNull(i) {
				e.Uint(0)
			} else {
				e.Uint(r.idOf(t, i) + 1)
			}
		}
	}
}

func (r *reader) preferences(batch arrow.RecordBatch) func(int, *Encoder) {
	scope, mechanism, use, preference := textsOf(batch, "scope"), textsOf(batch, "mechanism"), textsOf(batch, "use"), textsOf(batch, "preference")
	label, path, line := scan.Column[*array.String](batch, "label"), scan.Column[*array.String](batch, "path"), scan.Column[*array.Int32](batch, "line")
	return func(i int, e *Encoder) {
		if line.IsNull(i) {
			return // of the front page, which not every run looks at: files are compared
		}
		e.Uint(uint64(uint32(line.Value(i))))
		e.Text(scope.value(i))
		e.Text(mechanism.value(i))
		e.Text(label.Value(i))
		for _, t := range []*texts{use, preference} {
			if t.IsNull(i) {
				e.Text("")
			} else {
				e.Text(t.value(i))
			}
		}
		e.Text(path.Value(i)) // "" for null: a path begins with /
	}
}

// The first byte of an encoded verdict. A target may have 100,000 URLs for each
// agent, so each URL is stored once.
const (
	verdictBits = 3      // robots.Value
	hasLine     = 1 << 2 // a line follows
	ownURL      = 1 << 3 // the URL's number is one of the target's own, else one of names
	newAgent    = 1 << 4 // profile and agent come first
	newURL      = 1 << 5 // the URL follows its number
)

func (r *reader) verdicts(batch arrow.RecordBatch) func(int, *Encoder) {
	agent, profile, url, verdict := textsOf(batch, "agent"), textsOf(batch, "profile"), textsOf(batch, "url"), textsOf(batch, "verdict")
	line := scan.Column[*array.Int32](batch, "rule_line")
	return func(i int, e *Encoder) {
		a, p, u := r.idOf(agent, i), r.idOf(profile, i), url.value(i)
		value := valueOf(verdict.value(i))
		if value == robots.Disallowed && line.IsNull(i) {
			value = robots.Undefined // full_disallow: an outage is not a policy
		}
		head := byte(value)
		if !line.IsNull(i) {
			head |= hasLine
		}
		if !r.begun && len(r.own) > 0 {
			r.own = make(map[string]uint64)
		}
		number := uint64(0)
		if !strings.HasPrefix(u, "/") {
			head |= ownURL
			var known bool
			if number, known = r.own[u]; !known {
				head |= newURL
				number = uint64(len(r.own))
				r.own[strings.Clone(u)] = number
			}
		} else {
			number = r.idOf(url, i)
		}
		if !r.begun || a != r.agentID || p != r.profID {
			head |= newAgent
			r.begun, r.agentID, r.profID = true, a, p
		}
		*e = append(*e, head)
		if head&newAgent != 0 {
			e.Uint(r.profID)
			e.Uint(r.agentID)
		}
		e.Uint(number)
		if head&newURL != 0 {
			e.Text(u)
		}
		if head&hasLine != 0 {
			e.Uint(uint64(uint32(line.Value(i))))
		}
	}
}

// valueOf returns the verdict with a name.
func valueOf(s string) robots.Value {
	switch s {
	case summary.ValueNames[robots.Allowed]:
		return robots.Allowed
	case summary.ValueNames[robots.Disallowed]:
		return robots.Disallowed
	}
	return robots.Undefined
}

func (r *reader) groups(batch arrow.RecordBatch) func(int, *Encoder) {
	index, line := scan.Column[*array.Int32](batch, "group_index"), scan.Column[*array.Int32](batch, "line")
	tokens, class := scan.Column[*array.List](batch, "tokens"), scan.Column[*array.String](batch, "class")
	delay := scan.Column[*array.Float64](batch, "crawl_delay")
	agents, lines := scan.Column[*array.List](batch, "agents"), scan.Column[*array.List](batch, "agent_lines")
	digest, template := scan.Column[*array.String](batch, "digest"), textsOf(batch, "template")
	token, agent, agentAt := tokens.ListValues().(*array.String), agents.ListValues().(*array.String), lines.ListValues().(*array.Int32)
	return func(i int, e *Encoder) {
		e.Uint(uint64(uint32(index.Value(i))))
		e.Uint(uint64(uint32(line.Value(i))))
		e.Text(class.Value(i))
		if delay.IsNull(i) {
			e.Uint(0)
		} else {
			e.Uint(1)
			e.float(delay.Value(i))
		}
		from, to := tokens.ValueOffsets(i)
		e.Uint(uint64(to - from))
		for k := from; k < to; k++ {
			e.Text(token.Value(int(k)))
		}
		from, to = agents.ValueOffsets(i)
		first, _ := lines.ValueOffsets(i)
		e.Uint(uint64(to - from))
		for k := range to - from {
			e.Uint(uint64(uint32(agentAt.Value(int(first + k)))))
			e.Text(agent.Value(int(from + k)))
		}
		e.Text(digest.Value(i))
		if template.IsNull(i) {
			e.Text("")
		} else {
			e.Text(template.value(i))
		}
	}
}

func (r *reader) rules(batch arrow.RecordBatch) func(int, *Encoder) {
	group, line := scan.Column[*array.Int32](batch, "group_index"), scan.Column[*array.Int32](batch, "line")
	kind, pattern := scan.Column[*array.String](batch, "kind"), scan.Column[*array.String](batch, "pattern")
	return func(i int, e *Encoder) {
		if group.IsNull(i) {
			e.Uint(0)
		} else {
			e.Uint(uint64(uint32(group.Value(i))) + 1)
		}
		e.Uint(uint64(uint32(line.Value(i))))
		if kind.Value(i) == robots.Allow.String() {
			e.Uint(1)
		} else {
			e.Uint(0)
		}
		e.Text(pattern.Value(i))
	}
}

func (r *reader) signals(batch arrow.RecordBatch) func(int, *Encoder) {
	group, line := scan.Column[*array.Int32](batch, "group_index"), scan.Column[*array.Int32](batch, "line")
	field, value := scan.Column[*array.String](batch, "field"), scan.Column[*array.String](batch, "value")
	path, key := scan.Column[*array.String](batch, "path"), scan.Column[*array.String](batch, "key")
	return func(i int, e *Encoder) {
		if group.IsNull(i) {
			e.Uint(0)
		} else {
			e.Uint(uint64(uint32(group.Value(i))) + 1)
		}
		e.Uint(uint64(uint32(line.Value(i))))
		e.Text(field.Value(i))
		switch {
		case path.IsNull(i):
			e.Uint(noPath)
		case i > 0 && r.begun && line.Value(i-1) == line.Value(i):
			e.Uint(pathOfLine)
		default:
			e.Uint(newPath)
			e.Text(path.Value(i))
		}
		r.begun = true
		if key.IsNull(i) {
			e.Uint(0)
		} else {
			e.Uint(1)
			e.Text(key.Value(i))
		}
		e.Text(value.Value(i))
	}
}

func (r *reader) sitemaps(batch arrow.RecordBatch) func(int, *Encoder) {
	line, url := scan.Column[*array.Int32](batch, "line"), scan.Column[*array.String](batch, "url")
	return func(i int, e *Encoder) {
		e.Uint(uint64(uint32(line.Value(i))))
		e.Text(url.Value(i))
	}
}
