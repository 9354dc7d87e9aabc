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

// label is what the report tells counters of one metric apart by.
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

// total sums a metric up.
func (s sums) total(metric string) (n int64) {
	for _, count := range s[metric] {
		n += count
	}
	return n
}

// by sums a metric's counters up by one of their labels; those of other
// profiles are left out, unless the metric has none.
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

// pivot sums a metric's counters up by one label and by key.
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

// agents are the category of each agent.
func (s sums) agents(profile string) map[string]string {
	out := make(map[string]string)
	for l := range s["policy"] {
		if l.profile == profile {
			out[l.agent] = l.category
		}
	}
	return out
}

// ranked are keys by their counts, the greatest first.
func ranked(counts map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// first is the first value of a bin or band, as 8 of 8-15.
func first(bin string) int64 {
	from, _, _ := strings.Cut(bin, "-")
	n, err := strconv.ParseInt(from, 10, 64)
	if err != nil {
		return noBin // unranked comes last
	}
	return n
}

const noBin = 1<<63 - 1

// ascending are the keys of bins or bands in their order.
func ascending[V any](of map[string]V) []string {
	return slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a, b)) })
}

// examples are a few of each metric and key.
type examples map[[2]string][]sink.Example

func (e examples) add(x sink.Example) {
	at := [2]string{x.Metric, x.Key}
	e[at] = append(e[at], x)
}

// list gives the examples of keys, nil where there are none. named says what a
// key is called.
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
