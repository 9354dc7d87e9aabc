package evaluate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
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
		write(out.Rules, func() []schema.Rule { return e.ruleRows(row, f) }),
		write(out.Sitemaps, func() []schema.Sitemap { return e.sitemapRows(row, f) }),
		write(out.Lines, func() []schema.Line { return e.lineRows(row, f) }),
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

// reused returns memory for the next file's rows of a table: that of the last one's, unless it
// is too little, or was a large file's and the next one is small.
func reused[R any](rows []R, n int) []R {
	const large = 1 << 12
	if cap(rows) < n || cap(rows) > large && n <= large {
		return make([]R, 0, n)
	}
	return rows[:0]
}

func (e *Evaluator) ruleRows(row *schema.Fetch, f *robots.File) []schema.Rule {
	e.rules = reused(e.rules, len(f.Rules))
	for i := range f.Rules {
		rule := &f.Rules[i]
		pattern := e.readings[0].texts()[i]
		normalized := pattern
		if !same(rule.Normalized, rule.Pattern) {
			normalized = schema.Text(rule.Normalized)
		}
		e.rules = append(e.rules, schema.Rule{
			Seq: row.Seq, Host: row.Host, Origin: row.Origin, GroupIndex: e.groupIndex(rule.Group), Line: rule.Line,
			Kind: rule.Kind.String(), Pattern: pattern, Normalized: normalized,
			HasWildcard: rule.Wildcard, HasAnchor: rule.Anchor, Effective: rule.Effective,
		})
	}
	return e.rules
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

func (e *Evaluator) lineRows(row *schema.Fetch, f *robots.File) []schema.Line {
	content := e.readings[0].content
	e.lines = reused(e.lines, len(f.Remarks)+len(content.errors)+len(content.parities))
	for _, m := range f.Remarks {
		e.lines = append(e.lines, schema.Line{
			Seq: row.Seq, Host: row.Host, Origin: row.Origin, Line: m.Line, GroupIndex: e.groupIndex(m.Group),
			Field: optional(m.Field), Value: schema.Text(m.Value), Class: m.Class.String(),
		})
	}
	for _, x := range content.errors {
		e.lines = append(e.lines, schema.Line{
			Seq: row.Seq, Host: row.Host, Origin: row.Origin, Line: x.Line, GroupIndex: e.groupIndex(groupAt(f, int(x.Line))),
			Value: schema.Text(x.Text),
			Class: robots.LighthouseError.String(), Cause: new(x.Fault.String()),
		})
	}
	e.lines = e.parityRows(row, f, e.lines)
	if len(content.parities)+len(content.errors) > 0 {
		e.orderLines()
	}
	return e.lines
}

// orderLines orders the rows of lines as they stand in the file, and those of one line as they
// are. The rows are large, so each is moved once.
func (e *Evaluator) orderLines() {
	e.order = e.order[:0]
	for i := range e.lines {
		e.order = append(e.order, uint64(e.lines[i].Line)<<32|uint64(i))
	}
	slices.Sort(e.order)
	e.unordered, e.lines = e.lines, reused(e.unordered, len(e.lines))
	for _, x := range e.order {
		e.lines = append(e.lines, e.unordered[uint32(x)])
	}
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
