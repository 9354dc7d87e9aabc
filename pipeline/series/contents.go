package series

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// What the file of a host has, such as a signal, ends its vector: the numbers of these
// figures, by size. A figure is one that summary counts, so that their number is bounded,
// and whether a label is known to the run shows in its key.

// ofContents are the metrics about contents of files that the pass over hosts counts, with
// the tables that say them. Columns of fetches are in contentColumns.
var ofContents = map[string][]string{
	"body": nil, "signal": {"signals"}, "field": {"signals", "lines"}, "feature": {"groups", "rules"},
	"template":   {"templates"},
	"preference": {"preferences"}, "refusal": {"preferences", "agents"}, "policy_template": {"policies"},
}

// contentColumns are those that the pass needs of a table.
var contentColumns = map[string][]string{
	"fetches": {
		"content_digest", "groups", "rules", "sitemaps",
		"has_bom", "is_utf8", "is_html", "body_truncated", "only_comments",
	},
	"groups":      {"seq", "tokens", "joined", "crawl_delay"},
	"rules":       {"seq", "has_wildcard", "has_anchor"},
	"lines":       {"seq", "field", "class"},
	"signals":     {"seq", "field", "key", "value"},
	"templates":   {"seq", "template"},
	"preferences": {"seq", "scope", "mechanism", "use", "preference", "remark"},
	"policies":    {"template"},
}

// countsByHost sets the metrics that the pass over hosts counts, and warns of those that the
// tables of the run do not have.
func (r *countedRun) countsByHost(to *Result) {
	r.byHost = maps.Clone(ofHosts)
	var not []string
	for _, metric := range slices.Sorted(maps.Keys(ofContents)) {
		if r.hasContents(metric) {
			r.byHost[metric] = true
		} else if r.counts(metric) {
			not = append(not, metric)
		}
	}
	if len(not) > 0 {
		to.warn("run %s lacks tables that say which hosts have a %s: these figures are counted without a panel and clusters",
			r.ID(), strings.Join(not, ", "))
	}
}

// counts reports whether summary has a metric.
func (r *countedRun) counts(metric string) bool {
	for k := range r.all.of(All).counts {
		if k.metric == metric {
			return true
		}
	}
	return false
}

// hasContents reports whether a run has what the pass over hosts needs to count a metric
// about contents.
func (r *countedRun) hasContents(metric string) bool {
	tables, ok := ofContents[metric]
	has := func(table string) bool {
		if table == "agents" {
			return r.Registry.Known
		}
		isLacking := func(column string) bool { return slices.Contains(r.Without, table+"."+column) }
		return slices.Contains(r.Tables, table) && !slices.ContainsFunc(contentColumns[table], isLacking)
	}
	return ok && has("fetches") && !slices.ContainsFunc(tables, func(table string) bool { return !has(table) })
}

// mark notes that the file of a host has what a figure counts.
func (s *hostSegment) mark(host int, k id) {
	n, ok := s.figures.contents[k]
	if !ok || !s.hasText[host] {
		return // summary does not count it: the page of a wall is not a robots.txt
	}
	if at, twice := slices.BinarySearch(s.marks[host], n); !twice {
		s.marks[host] = slices.Insert(s.marks[host], at, n)
	}
}

// body marks what fetches says of the file of the last host, and reports whether there is
// one that was read.
func (s *hostSegment) body(row *schema.Fetch) (hasText bool) {
	host := len(s.hasText)
	hasText = row.ContentDigest != nil && row.Challenge == nil
	s.hasText, s.marks = append(s.hasText, hasText), append(s.marks, nil)
	for _, has := range [...]struct {
		metric, key string
		is          bool
	}{
		{"body", "bom", row.HasBOM}, {"body", "not_utf8", !schema.OrZero(row.IsUTF8)}, {"body", "html", row.IsHTML},
		{"body", "truncated", row.BodyTruncated}, {"body", "only_comments", row.OnlyComments},
		{"feature", "group", row.Groups > 0}, {"feature", "rule", row.Rules > 0},
		{"feature", "sitemap", row.Sitemaps > 0},
	} {
		if has.is {
			s.mark(host, id{metric: has.metric, key: has.key})
		}
	}
	return hasText
}

// contents marks what the other tables say.
func (s *hostSegment) contents(ctx context.Context, parts map[string][]journal.Part) error {
	m := &marking{hostSegment: s, ctx: ctx, parts: parts}
	marked(m, "groups", s.groupRow)
	marked(m, "rules", s.ruleRow)
	marked(m, "lines", s.lineRow)
	marked(m, "signals", s.signalRow)
	marked(m, "templates", s.templateRow)
	marked(m, "preferences", s.preferenceRow)
	return m.err
}

// A marking reads tables of a segment, until an error.
type marking struct {
	*hostSegment
	ctx   context.Context
	parts map[string][]journal.Part
	err   error
}

// marked calls mark with the rows of a table, if a metric needs it, and the host that each is
// about.
func marked[R any](m *marking, table string, mark func(row *R, host int)) {
	if m.err == nil && m.reads(table) {
		what := rowio.Selection{Columns: contentColumns[table]}
		m.err = eachHost(m.ctx, m.hostSegment, m.parts[table], what, func(_ string, host int, rows []R) error {
			for i := range rows {
				mark(&rows[i], host)
			}
			return nil
		})
	}
}

// reads reports whether a metric that is counted needs a table.
func (h *hostReader) reads(table string) bool {
	for metric := range h.run.byHost {
		if slices.Contains(ofContents[metric], table) {
			return true
		}
	}
	return false
}

func (s *hostSegment) groupRow(row *schema.Group, host int) {
	if row.Joined {
		s.mark(host, id{metric: "feature", key: "joined"})
	}
	if row.CrawlDelay != nil {
		s.mark(host, id{metric: "feature", key: "crawl_delay"})
	}
	if slices.Contains(row.Tokens, "*") {
		s.mark(host, id{metric: "feature", key: "star_group"})
	}
}

func (s *hostSegment) ruleRow(row *schema.Rule, host int) {
	if row.HasWildcard {
		s.mark(host, id{metric: "feature", key: "wildcard"})
	}
	if row.HasAnchor {
		s.mark(host, id{metric: "feature", key: "anchor"})
	}
}

func (s *hostSegment) lineRow(row *schema.Line, host int) {
	switch row.Class {
	case robots.Extension.String():
		s.mark(host, id{metric: "field", key: strings.ToLower(schema.OrZero(row.Field))})
	case robots.UnknownField.String():
		s.mark(host, id{metric: "field", key: summary.Other})
	}
}

func (s *hostSegment) signalRow(row *schema.Signal, host int) {
	s.mark(host, id{metric: "field", key: row.Field})
	key := summary.SignalKey(row.Field, schema.OrZero(row.Key), row.Value, s.figures.isKnown)
	s.mark(host, id{metric: "signal", key: key})
}

func (s *hostSegment) templateRow(row *schema.Template, host int) {
	s.mark(host, id{metric: "template", key: row.Template})
}

func (s *hostSegment) preferenceRow(row *schema.Preference, host int) {
	if key := summary.PreferenceKey(row); key != "" {
		s.mark(host, id{metric: "preference", key: key})
	}
	refusal := func(key string) { s.mark(host, id{metric: "refusal", profile: s.run.FirstProfile(), key: key}) }
	if way := summary.RefusalByStatement(row); way >= 0 {
		refusal(summary.Refusals[way])
	}
	if summary.NamesLicence(row) {
		refusal(summary.ByTerms) // unless it refuses: see addContents
	}
}

// isKnown reports whether the run knows a label: its signals have keys of their own.
func (f *figures) isKnown(l usage.Label) bool {
	for _, value := range [...]string{"yes", "no", "y", "n", summary.Other} {
		if f.contents[id{metric: "signal", key: l.Mechanism.String() + " " + l.Name + "=" + value}] > 0 {
			return true
		}
	}
	return false
}

// refusing are the figures about refusals of a run.
type refusing struct {
	ways    [len(summary.Refusals)]int32
	any     int32
	byTerms int32
	byAgent [2][]int // the way of a host that shuts the agent out, -1 for none; the second, by its own group
}

// newRefusing returns nil where refusals are not counted.
func (f *figures) newRefusing() *refusing {
	h := f.h
	if !h.run.byHost["refusal"] || !h.first {
		return nil
	}
	number := func(way string) int32 {
		return f.number(id{metric: "refusal", profile: h.run.FirstProfile(), key: way})
	}
	r := &refusing{any: number(summary.AnyRefusal), byTerms: number(summary.ByTerms)}
	for i, way := range summary.Refusals {
		r.ways[i] = number(way)
	}
	for own := range r.byAgent {
		r.byAgent[own] = slices.Repeat([]int{-1}, len(h.agents))
		for i := range h.run.Registry.Agents {
			a := &h.run.Registry.Agents[i]
			if at, ok := slices.BinarySearch(h.agents, a.Name); ok {
				r.byAgent[own][at] = summary.RefusalByPolicy(a, a.Kind == registry.KindToken, own == 1)
			}
		}
	}
	return r
}

// addContents appends the figures that the end of a vector names, and those of refusals:
// these are also made of the policies under the first profile, whose bytes are given.
func (f *figures) addContents(list []int32, policies, end string) []int32 {
	from := len(list)
	for ; len(end) >= 4; end = end[4:] {
		list = append(list, int32(binary.LittleEndian.Uint32([]byte(end[:4]))))
	}
	r := f.refusing
	if r == nil {
		return list
	}
	for a := range r.byAgent[0] {
		way := r.byAgent[0][a]
		if policies[a]&explicitBit > 0 {
			way = r.byAgent[1][a]
		}
		isShut := policies[a]&classSet > 0 && policies[a]&^(classSet|explicitBit) == byte(robots.DisallowAll)
		if way >= 0 && isShut && !slices.Contains(list[from:], r.ways[way]) {
			list = append(list, r.ways[way])
		}
	}
	if slices.ContainsFunc(list[from:], func(k int32) bool { return slices.Contains(r.ways[:], k) }) {
		if at := slices.Index(list[from:], r.byTerms); at >= 0 {
			list = slices.Delete(list, from+at, from+at+1)
		}
		list = append(list, r.any)
	}
	return list
}

// vectorOf returns the vector of a host: what fetches and policies say, and its marks.
func (s *hostSegment) vectorOf(host int) []byte {
	v := s.vectors[host*s.size():][:s.size()]
	if len(s.marks) == 0 || len(s.marks[host]) == 0 {
		return v
	}
	v = slices.Clip(v)
	for _, n := range s.marks[host] {
		v = binary.LittleEndian.AppendUint32(v, uint32(n))
	}
	return v
}

// numberContents numbers the figures about contents that summary counts.
func (f *figures) numberContents() {
	f.contents = make(map[id]int32)
	for k := range f.h.run.all.of(All).counts {
		_, ok := ofContents[k.metric]
		if ok && f.h.run.byHost[k.metric] && (k.profile == "" || slices.Contains(f.h.profiles, k.profile)) {
			f.contents[k] = f.number(k)
		}
	}
	f.refusing = f.newRefusing()
}
