package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// label identifies a counter of a metric.
type label struct{ stratum, agent, category, profile, key string }

// sums are the counters of a run, by metric.
type sums map[string]map[label]int64

func (s sums) add(c summary.Count) {
	if s[c.Metric] == nil {
		s[c.Metric] = make(map[label]int64)
	}
	s[c.Metric][label{c.Stratum, c.Agent, c.Category, c.Profile, c.Key}] += c.N
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// total returns the sum of a metric's counters.
func (s sums) total(metric string) (n int64) {
	for _, count := range s[metric] {
		n += count
	}
	return n
}

// by sums a metric's counters by one of their labels. It skips counters of
// profiles other than profile.
func (s sums) by(metric, profile string, of func(label) string) map[string]int64 {
	out := make(map[string]int64)
	for l, count := range s[metric] {
		if l.profile == "" || l.profile == profile {
			out[of(l)] += count
		}
	}
	return out
}

func key(l label) string { return l.key }

// pivot is like by, but groups by a label and by key.
func (s sums) pivot(metric, profile string, of func(label) string) map[string]map[string]int64 {
	out := make(map[string]map[string]int64)
	for l, count := range s[metric] {
		if l.profile != "" && l.profile != profile {
			continue
		}
		row := out[of(l)]
		if row == nil {
			row = make(map[string]int64)
			out[of(l)] = row
		}
		row[l.key] += count
	}
	return out
}

// byTotal returns the names of a pivot with the most first, and the total of each.
func byTotal(pivot map[string]map[string]int64) (names []string, total map[string]int64) {
	total = make(map[string]int64)
	for name, counts := range pivot {
		names = append(names, name)
		for _, n := range counts {
			total[name] += n
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b)) })
	return names, total
}

// agents returns the category of each agent.
func (s sums) agents(profile string) map[string]string {
	out := make(map[string]string)
	for l := range s["policy"] {
		if l.profile == profile {
			out[l.agent] = l.category
		}
	}
	return out
}

// ranked returns the keys of counts, greatest count first.
func ranked(counts map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// first returns the first value of a bin or band, such as 8 for 8-15.
func first(bin string) int64 {
	from, _, _ := strings.Cut(bin, "-")
	n, err := strconv.ParseInt(from, 10, 64)
	if err != nil {
		return noBin // unranked comes last
	}
	return n
}

const noBin = 1<<63 - 1

// ascending returns bins or bands in ascending order.
func ascending[V any](of map[string]V) []string {
	return slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a, b)) })
}

// examples holds a few examples for each metric and key.
type examples map[[2]string][]sink.Example

func (e examples) add(x sink.Example) {
	at := [2]string{x.Metric, x.Key}
	e[at] = append(e[at], x)
}

// list returns the examples of keys, or nil if there are none. named, if not nil,
// returns the display name of a key.
func (e examples) list(caption, what, metric string, named func(string) string, keys ...string) *listed {
	out := &listed{Caption: caption, What: what, HasKey: len(keys) > 1}
	for _, k := range keys[:min(len(keys), barsDrawn)] {
		for i, x := range e[[2]string{metric, k}] {
			row := example{Host: x.Host, Text: x.Text}
			if i == 0 {
				row.Key, row.Span = k, len(e[[2]string{metric, k}])
				if named != nil {
					row.Key = named(k)
				}
			}
			if x.Rank != nil {
				row.Rank = count(*x.Rank)
				out.HasRank = true
			}
			if x.Line != nil {
				row.Line = strconv.Itoa(int(*x.Line))
				out.HasLine = true
			}
			out.Rows = append(out.Rows, row)
		}
	}
	if out.Rows == nil {
		return nil
	}
	if out.HasRank && metric != "body_bytes" && metric != "total_us" {
		out.Caption += ", the best ranked first"
	}
	return out
}
