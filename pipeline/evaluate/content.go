package evaluate

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/portable"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
)

// content writes the tables of the file's content, as the first profile reads it.
func (e *Evaluator) content(row *schema.Fetch, out *sink.Segment) error {
	f := &e.readings[0].file
	e.indexes = e.indexes[:0]
	for i := range f.Groups {
		e.indexes = append(e.indexes, int32(i))
	}
	return cmp.Or(
		write(out.Groups, func() []schema.Group { return e.groupRows(row, f) }),
		writeSome(out.Rules, &e.rules, e.ruleRows(row, f)),
		write(out.Sitemaps, func() []schema.Sitemap { return e.sitemapRows(row, f) }),
		writeSome(out.Lines, &e.lines, e.lineRows(row, f)),
		write(out.Signals, func() []schema.Signal { return e.signalRows(row, f) }),
		write(out.Templates, func() []schema.Template { return e.templateRows(row) }),
	)
}

// write writes rows to a table that is wanted.
func write[T any](to sink.Table[T], rows func() []T) error {
	if !to.Wanted() {
		return nil
	}
	return to.Write(rows()...)
}

// someRows is how many rows of rules and of lines are made at a time: of a large file there
// are a hundred thousand.
const someRows = 256

// writeSome writes rows to a table that is wanted, a few at a time, and reuses their memory.
func writeSome[T any](to sink.Table[T], memory *[]T, rows iter.Seq[T]) error {
	if !to.Wanted() {
		return nil
	}
	some := slices.Grow((*memory)[:0], someRows)
	for row := range rows {
		if len(some) == someRows {
			if err := to.Write(some...); err != nil {
				return err
			}
			some = some[:0]
		}
		some = append(some, row)
	}
	*memory = some
	return to.Write(some...)
}

// groupIndex returns the cell of a group's index, null for -1.
func (e *Evaluator) groupIndex(i int32) *int32 {
	if i < 0 {
		return nil
	}
	return &e.indexes[i]
}

func (e *Evaluator) groupRows(row *schema.Fetch, f *robots.File) []schema.Group {
	e.groups = e.groups[:0]
	for i := range f.Groups {
		g := &f.Groups[i]
		r := schema.Group{
			Seq: row.Seq, Host: row.Host, Origin: row.Origin, GroupIndex: int32(i), Line: g.Line,
			Class: e.readings[0].content.classes[i], Joined: g.Joined, Template: e.readings[0].content.template(i),
			Digest: e.readings[0].content.digests[i],
		}
		for _, agent := range f.Agents[g.Agents.From:g.Agents.To] {
			r.Agents = append(r.Agents, schema.Text(agent.Value))
			r.AgentLines = append(r.AgentLines, agent.Line)
			// Policies name MJ12bot, not MJ. Tokens compare without regard to case.
			r.Tokens = append(r.Tokens, strings.ToLower(schema.Text(agent.Wide)))
		}
		for _, rule := range f.Rules[g.Rules.From:g.Rules.To] {
			if rule.Kind == robots.Allow {
				r.AllowRules++
			} else {
				r.DisallowRules++
			}
		}
		if g.HasCrawlDelay {
			r.CrawlDelay = &g.CrawlDelay
		}
		e.groups = append(e.groups, r)
	}
	return e.groups
}

func (e *Evaluator) ruleRows(row *schema.Fetch, f *robots.File) iter.Seq[schema.Rule] {
	return func(yield func(schema.Rule) bool) {
		for i := range f.Rules {
			rule := &f.Rules[i]
			pattern := e.readings[0].texts()[i]
			normalized := pattern
			if !same(rule.Normalized, rule.Pattern) {
				normalized = schema.Text(rule.Normalized)
			}
			if !yield(schema.Rule{
				Seq: row.Seq, Host: row.Host, Origin: row.Origin, GroupIndex: e.groupIndex(rule.Group), Line: rule.Line,
				Kind: rule.Kind.String(), Pattern: pattern, Normalized: normalized,
				HasWildcard: rule.Wildcard, HasAnchor: rule.Anchor, Effective: rule.Effective,
			}) {
				return
			}
		}
	}
}

func (e *Evaluator) sitemapRows(row *schema.Fetch, f *robots.File) []schema.Sitemap {
	e.sitemaps = e.sitemaps[:0]
	for i, s := range f.Sitemaps {
		e.sitemaps = append(e.sitemaps, schema.Sitemap{
			Seq: row.Seq, Host: row.Host, Origin: row.Origin, Line: s.Line, URL: schema.Text(s.URL), IsAbsolute: s.IsAbsolute,
			IsSameHost: e.sameHost[i],
		})
	}
	return e.sitemaps
}

// isSameHost reports whether a sitemap is on a host. A name and password before the
// host, which RFC 3986 allows (section 3.2.1), do not change the host.
func isSameHost(s *robots.Sitemap, host string) bool {
	if s.IsOdd {
		return false // it is no URL, or several
	}
	url := string(s.URL)
	if strings.HasPrefix(url, "//") {
		url = "https:" + url // a network-path reference: a host without a scheme
	} else if !s.IsAbsolute {
		return url != "" // any other relative URL is of this host
	}
	scheme, rest, _ := strings.Cut(url, "://")
	end := strings.IndexAny(rest+"/", "/?#")
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		rest = rest[at+1:]
	}
	o, _, err := fetch.Parse(scheme+"://"+rest, "")
	return err == nil && o.Host == host
}

// lineRows returns the rows of lines as they stand in the file, and those of one line as they
// are found: remarks, errors, and what parsers part on.
func (e *Evaluator) lineRows(row *schema.Fetch, f *robots.File) iter.Seq[schema.Line] {
	errors := e.readings[0].content.errors
	return func(yield func(schema.Line) bool) {
		if cap(e.parted) > 16*someRows {
			e.parted = nil // those of a large file
		}
		e.parted = e.parityRows(row, f, e.parted[:0])
		for _, found := range e.orderLines(f.Remarks, errors, e.parted) {
			var line schema.Line
			switch i := int(uint32(found)); {
			case i < len(f.Remarks):
				m := &f.Remarks[i]
				line = schema.Line{
					Seq: row.Seq, Host: row.Host, Origin: row.Origin, Line: m.Line, GroupIndex: e.groupIndex(m.Group),
					Field: optional(m.Field), Value: schema.Text(m.Value), Class: m.Class.String(),
				}
			case i < len(f.Remarks)+len(errors):
				x := &errors[i-len(f.Remarks)]
				line = schema.Line{
					Seq: row.Seq, Host: row.Host, Origin: row.Origin, Line: x.Line, GroupIndex: e.groupIndex(groupAt(f, int(x.Line))),
					Value: schema.Text(x.Text),
					Class: robots.LighthouseError.String(), Cause: new(x.Fault.String()),
				}
			default:
				line = e.parted[i-len(f.Remarks)-len(errors)]
			}
			if !yield(line) {
				return
			}
		}
	}
}

// orderLines returns what is found in a file in the order of its lines: the line, and below it,
// in 32 bits, the place among all that is found.
func (e *Evaluator) orderLines(
	remarks []robots.Remark, errors []portable.LighthouseError, parted []schema.Line,
) []uint64 {
	e.order = e.order[:0]
	add := func(line int32) { e.order = append(e.order, uint64(line)<<32|uint64(len(e.order))) }
	for i := range remarks {
		add(remarks[i].Line)
	}
	for i := range errors {
		add(errors[i].Line)
	}
	for i := range parted {
		add(parted[i].Line)
	}
	slices.Sort(e.order)
	return e.order
}

// signalRows returns the rows of signals, with fields in lower case.
func (e *Evaluator) signalRows(row *schema.Fetch, f *robots.File) []schema.Signal {
	e.signals = e.signals[:0]
	var path *string // path of the previous signal: a line has one path and up to 100,000 keys
	for i, s := range f.Signals {
		if i == 0 || !same(s.Path, f.Signals[i-1].Path) {
			path = optional(s.Path)
		}
		e.signals = append(e.signals, schema.Signal{
			Seq: row.Seq, Host: row.Host, Origin: row.Origin, Line: s.Line, GroupIndex: e.groupIndex(s.Group),
			Field: strings.ToLower(schema.Text(s.Field)), Path: path, Key: optional(s.Key), Value: schema.Text(s.Value),
		})
	}
	return e.signals
}

// same reports whether two slices are the same piece of a file, without comparing
// bytes.
func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) > 0 && &a[0] == &b[0] || a == nil && b == nil)
}

// optional returns the cell of a text, null for nil.
func optional(b []byte) *string {
	if b == nil {
		return nil
	}
	return new(schema.Text(b))
}
