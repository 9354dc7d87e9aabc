package records

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
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

// detailTables lists the tables that describe a host's policy, each with the function that
// reads a part of it.
var detailTables = []struct {
	name string
	read func(context.Context, store.Store, journal.Part, *reader) error
}{
	{"policies", reading(
		[]string{"seq", "agent", "category", "profile", "group_agent", "class", "template", "ai_train", "ai_input",
			"search"}, (*reader).policy)},
	{"verdicts", reading([]string{"seq", "agent", "profile", "url", "verdict", "rule_line"}, (*reader).verdict)},
	{"groups", reading(
		[]string{"seq", "group_index", "line", "agents", "agent_lines", "tokens", "class", "crawl_delay", "digest",
			"template"}, func(_ *reader, g *schema.Group, e *Encoder) { e.Group(g) },
	)},
	{"signals", reading([]string{"seq", "line", "group_index", "field", "path", "key", "value"}, (*reader).signal)},
	{"sitemaps", reading([]string{"seq", "line", "url"}, (*reader).sitemap)},
	{"rules", reading(
		[]string{"seq", "group_index", "line", "kind", "pattern"}, func(_ *reader, r *schema.Rule, e *Encoder) { e.Rule(r) },
	)},
	{"preferences", reading(
		[]string{"seq", "scope", "mechanism", "label", "use", "preference", "path", "line"}, (*reader).statement,
	)},
}

// DetailTables holds the names of the tables that Read reads, by index.
var DetailTables = func() (names []string) {
	for i := range detailTables {
		names = append(names, detailTables[i].name)
	}
	return names
}()

// A reader reads one part of one of these tables: the rows of wanted targets.
type reader struct {
	names *Names
	ids   map[string]*numbered // the part of names that this part uses
	last  [columnsOfTexts]*numbered
	list  []Wanted // ascending by seq
	table int
	into  *store.Sorter

	// State of the current target.
	at              int // its index in list
	e               Encoder
	begun           bool              // a row is encoded
	own             map[string]uint64 // its own URLs, numbered in order of appearance
	agentID, profID uint64            // the last row's
	line            int32             // of the last signal
}

// Read adds a record to a sorter for each wanted target with rows in a part.
// The key is the number of the pair and that of the table. list is ascending by seq.
func Read(ctx context.Context, in store.Store, p journal.Part, table int, list []Wanted, n *Names,
	into *store.Sorter) error {
	r := &reader{names: n, ids: make(map[string]*numbered), own: make(map[string]uint64), list: list, table: table,
		into: into}
	if err := detailTables[table].read(ctx, in, p, r); err != nil || r.at == len(list) {
		return err
	}
	return r.end()
}

// reading returns a function that reads a part of a table of rows of type T.
func reading[T any](columns []string, encode func(*reader, *T, *Encoder)) func(context.Context,
	store.Store, journal.Part, *reader) error {
	return func(ctx context.Context, in store.Store, p journal.Part, r *reader) error {
		s := rowio.Selection{Columns: columns, Wanted: r.within}
		return rowio.Runs(ctx, in, []journal.Part{p}, s, func(_ string, seq int64, rows []T) error {
			for r.at < len(r.list) && r.list[r.at].Seq < seq {
				if err := r.end(); err != nil {
					return err
				}
				r.at++
			}
			if r.at < len(r.list) && r.list[r.at].Seq == seq {
				for i := range rows {
					encode(r, &rows[i], &r.e)
				}
			}
			return nil
		})
	}
}

func (r *reader) within(least, greatest int64) bool {
	i, _ := slices.BinarySearchFunc(r.list, least, func(w Wanted, seq int64) int { return cmp.Compare(w.Seq, seq) })
	return i < len(r.list) && r.list[i].Seq <= greatest
}

// end adds the record of the current target, if it has rows.
func (r *reader) end() error {
	if len(r.e) == 0 {
		return nil
	}
	var key Encoder
	key.Ordered(r.list[r.at].N)
	key = append(key, byte(r.table))
	err := r.into.Add(key, r.e)
	r.e, r.begun = r.e[:0], false
	return err
}

// columnsOfTexts is the number of columns of a row whose texts the configuration set.
const columnsOfTexts = 9

// numbered is such a text with its number, and the one that followed it last in its column:
// most cells repeat the cell above, or follow it as one did before.
type numbered struct {
	text  string
	id    uint64
	after *numbered
}

// id returns the number of a text of a column that the configuration set.
func (r *reader) id(column int, s string) uint64 {
	above := r.last[column]
	if above != nil {
		if above.text == s {
			return above.id
		}
		if n := above.after; n != nil && n.text == s {
			n.text = s // each row group has a copy of its own, and its address is compared first
			r.last[column] = n
			return n.id
		}
	}
	n := r.ids[s]
	if n == nil {
		n = &numbered{text: s, id: r.names.ID(s)}
		r.ids[s] = n
	}
	if above != nil {
		above.after = n
	}
	r.last[column] = n
	return n.id
}

// optionalID returns 0 for null, else the number of a text plus 1.
func (r *reader) optionalID(column int, s *string) uint64 {
	if s == nil {
		return 0
	}
	return r.id(column, *s) + 1
}

func (r *reader) policy(p *schema.Policy, e *Encoder) {
	for i, s := range [...]string{p.Profile, p.Agent, p.Category, p.Class} {
		e.Uint(r.id(i, s))
	}
	// in the order of the fields of Policy
	for i, s := range [...]*string{p.GroupAgent, p.Template, p.AITrain, p.AIInput, p.Search} {
		e.Uint(r.optionalID(4+i, s))
	}
}

func (r *reader) statement(p *schema.Preference, e *Encoder) {
	if p.Line == nil || p.Scope == "document" {
		return // of the front page or another document, which not every run looks at: files are compared
	}
	e.Uint(uint64(uint32(*p.Line)))
	// "" for null: a path begins with /.
	for _, s := range []string{p.Scope, p.Mechanism, p.Label, schema.OrZero(p.Use), schema.OrZero(p.Preference),
		schema.OrZero(p.Path)} {
		e.Text(s)
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

func (r *reader) verdict(v *schema.Verdict, e *Encoder) {
	a, p := r.id(0, v.Agent), r.id(1, v.Profile)
	value := valueOf(v.Verdict)
	if value == robots.Disallowed && v.RuleLine == nil {
		value = robots.Undefined // full_disallow: an outage is not a policy
	}
	head := byte(value)
	if v.RuleLine != nil {
		head |= hasLine
	}
	if !r.begun && len(r.own) > 0 {
		r.own = make(map[string]uint64)
	}
	number := uint64(0)
	if !strings.HasPrefix(v.URL, "/") {
		head |= ownURL
		var known bool
		if number, known = r.own[v.URL]; !known {
			head |= newURL
			number = uint64(len(r.own))
			r.own[v.URL] = number
		}
	} else {
		number = r.id(2, v.URL)
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
		e.Text(v.URL)
	}
	if head&hasLine != 0 {
		e.Uint(uint64(uint32(*v.RuleLine)))
	}
}

// valueOf returns the verdict with a name.
func valueOf(s string) robots.Value {
	switch s {
	case summary.ValueNames[robots.Permitted]:
		return robots.Permitted
	case summary.ValueNames[robots.Disallowed]:
		return robots.Disallowed
	}
	return robots.Undefined
}

func (r *reader) signal(s *schema.Signal, e *Encoder) {
	e.optional(s.GroupIndex)
	e.Uint(uint64(uint32(s.Line)))
	e.Text(s.Field)
	switch {
	case s.Path == nil:
		e.Uint(noPath)
	case r.begun && r.line == s.Line:
		e.Uint(pathOfLine)
	default:
		e.Uint(newPath)
		e.Text(*s.Path)
	}
	r.begun, r.line = true, s.Line
	if s.Key == nil {
		e.Uint(0)
	} else {
		e.Uint(1)
		e.Text(*s.Key)
	}
	e.Text(s.Value)
}

func (r *reader) sitemap(s *schema.Sitemap, e *Encoder) {
	e.Uint(uint64(uint32(s.Line)))
	e.Text(s.URL)
}
