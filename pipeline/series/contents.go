package series

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// What the file of a host has, such as a signal, ends its vector: the numbers of these
// figures, by size. A figure is one that summary counts, so that their number is bounded,
// and whether a label is known to the run shows in its key.

// ofContents are the metrics about contents of files that the pass over hosts counts, with
// the tables that say them. Columns of fetches are in contentColumns.
var ofContents = map[string][]string{
	"body": nil, "signal": {"signals"}, "field": {"signals", "lines"}, "feature": {"groups", "rules"}, "template": {"templates"},
	"preference": {"preferences"}, "refusal": {"preferences", "agents"}, "policy_template": {"policies"},
}

// contentColumns are those that the pass needs of a table.
var contentColumns = map[string][]string{
	"fetches":     {"content_digest", "groups", "rules", "sitemaps", "has_bom", "is_utf8", "is_html", "body_truncated", "only_comments"},
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
		to.warn("run %s lacks tables that say which hosts have a %s: these figures are counted without a panel and clusters", r.ID(), strings.Join(not, ", "))
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
		return slices.Contains(r.Tables, table) && !slices.ContainsFunc(contentColumns[table], func(c string) bool { return slices.Contains(r.Without, table+"."+c) })
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

// bodies marks what fetches says of the file.
func (s *hostSegment) bodies(batch arrow.RecordBatch, walled func(int) bool) {
	digests := scan.Column[*array.String](batch, "content_digest")
	from := len(s.hasText)
	for i := range int(batch.NumRows()) {
		s.hasText = append(s.hasText, digests.IsValid(i) && !walled(i))
	}
	s.marks = append(s.marks, make([][]int32, batch.NumRows())...)
	for _, c := range [...]struct {
		column string
		is     bool
		key    string
	}{{"has_bom", true, "bom"}, {"is_utf8", false, "not_utf8"}, {"is_html", true, "html"}, {"body_truncated", true, "truncated"}, {"only_comments", true, "only_comments"}} {
		column := scan.Column[*array.Boolean](batch, c.column)
		for i := range column.Len() {
			if column.Value(i) == c.is {
				s.mark(from+i, id{metric: "body", key: c.key})
			}
		}
	}
	for column, key := range map[string]string{"groups": "group", "rules": "rule", "sitemaps": "sitemap"} {
		for i, n := range scan.Column[*array.Int32](batch, column).Int32Values() {
			if n > 0 {
				s.mark(from+i, id{metric: "feature", key: key})
			}
		}
	}
}

// contents marks what the other tables say.
func (s *hostSegment) contents(ctx context.Context, parts map[string][]journal.Part) error {
	for table, rows := range map[string]func(arrow.RecordBatch) func(i, host int){
		"groups": s.groupRows, "rules": s.ruleRows, "lines": s.lineRows, "signals": s.signalRows, "templates": s.templateRows, "preferences": s.preferenceRows,
	} {
		if !s.reads(table) {
			continue
		}
		at := 0
		for _, p := range parts[table] {
			err := scan.Rows(ctx, s.In, p, scan.Selection{Columns: contentColumns[table]}, func(batch arrow.RecordBatch) error {
				row := rows(batch)
				for i, seq := range scan.Column[*array.Int64](batch, "seq").Int64Values() {
					var err error
					if at, err = s.hostOf(p.Path, seq, at); err != nil {
						return err
					}
					row(i, at)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
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

func (s *hostSegment) groupRows(batch arrow.RecordBatch) func(i, host int) {
	joined, delays, tokens := scan.Column[*array.Boolean](batch, "joined"), batch.Column(batch.Schema().FieldIndices("crawl_delay")[0]), scan.Column[*array.List](batch, "tokens")
	values := tokens.ListValues().(*array.String)
	return func(i, host int) {
		if joined.Value(i) {
			s.mark(host, id{metric: "feature", key: "joined"})
		}
		if delays.IsValid(i) {
			s.mark(host, id{metric: "feature", key: "crawl_delay"})
		}
		for from, to := tokens.ValueOffsets(i); from < to; from++ {
			if values.Value(int(from)) == "*" {
				s.mark(host, id{metric: "feature", key: "star_group"})
				return
			}
		}
	}
}

func (s *hostSegment) ruleRows(batch arrow.RecordBatch) func(i, host int) {
	wildcards, anchors := scan.Column[*array.Boolean](batch, "has_wildcard"), scan.Column[*array.Boolean](batch, "has_anchor")
	return func(i, host int) {
		if wildcards.Value(i) {
			s.mark(host, id{metric: "feature", key: "wildcard"})
		}
		if anchors.Value(i) {
			s.mark(host, id{metric: "feature", key: "anchor"})
		}
	}
}

func (s *hostSegment) lineRows(batch arrow.RecordBatch) func(i, host int) {
	classes, fields := scan.Column[*array.String](batch, "class"), scan.Column[*array.String](batch, "field")
	extension, unknown := robots.Extension.String(), robots.UnknownField.String()
	return func(i, host int) {
		switch classes.Value(i) {
		case extension:
			s.mark(host, id{metric: "field", key: strings.ToLower(fields.Value(i))})
		case unknown:
			s.mark(host, id{metric: "field", key: summary.Other})
		}
	}
}

func (s *hostSegment) signalRows(batch arrow.RecordBatch) func(i, host int) {
	fields, keys, values := scan.Column[*array.String](batch, "field"), scan.Column[*array.String](batch, "key"), scan.Column[*array.String](batch, "value")
	return func(i, host int) {
		field := fields.Value(i)
		s.mark(host, id{metric: "field", key: field})
		s.mark(host, id{metric: "signal", key: summary.SignalKey(field, keys.Value(i), values.Value(i), s.figures.isKnown)})
	}
}

func (s *hostSegment) templateRows(batch arrow.RecordBatch) func(i, host int) {
	names := scan.Column[*array.String](batch, "template")
	return func(i, host int) { s.mark(host, id{metric: "template", key: names.Value(i)}) }
}

func (s *hostSegment) preferenceRows(batch arrow.RecordBatch) func(i, host int) {
	text := func(name string) *array.String { return scan.Column[*array.String](batch, name) }
	scopes, mechanisms, uses, preferences, remarks := text("scope"), text("mechanism"), text("use"), text("preference"), text("remark")
	return func(i, host int) {
		p := schema.Preference{Scope: scopes.Value(i), Mechanism: mechanisms.Value(i)}
		for cell, column := range map[**string]*array.String{&p.Use: uses, &p.Preference: preferences, &p.Remark: remarks} {
			if column.IsValid(i) {
				*cell = new(column.Value(i))
			}
		}
		if key := summary.PreferenceKey(&p); key != "" {
			s.mark(host, id{metric: "preference", key: key})
		}
		if way := summary.RefusalByStatement(&p); way >= 0 {
			s.mark(host, id{metric: "refusal", profile: s.run.FirstProfile(), key: summary.Refusals[way]})
		}
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
	r := &refusing{any: number(summary.AnyRefusal)}
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
		if way >= 0 && policies[a]&classSet > 0 && policies[a]&^(classSet|explicitBit) == byte(robots.DisallowAll) && !slices.Contains(list[from:], r.ways[way]) {
			list = append(list, r.ways[way])
		}
	}
	if slices.ContainsFunc(list[from:], func(k int32) bool { return slices.Contains(r.ways[:], k) }) {
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
		if _, ok := ofContents[k.metric]; ok && f.h.run.byHost[k.metric] && (k.profile == "" || slices.Contains(f.h.profiles, k.profile)) {
			f.contents[k] = f.number(k)
		}
	}
	f.refusing = f.newRefusing()
}
