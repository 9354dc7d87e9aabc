// Package counters adds up the counters of a run, and has parts of the SQL that gives the
// same sums.
//
//   - sums.go: counters by label, ranked names, examples
//   - fates.go, decided.go: how hosts treat agents, and whose rules decide
//   - keys.go: what the keys of counters say
//   - quotes.go: names, numbers and sums in SQL
package counters

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Label identifies a counter of a metric.
type Label struct{ Stratum, Agent, Category, Profile, Key string }

// Sums are the counters of a run, by metric.
type Sums map[string]map[Label]int64

// Of adds counters up.
func Of(counts *summary.Counts) Sums {
	s := make(Sums)
	for _, c := range counts.List() {
		s.Add(c)
	}
	return s
}

// Add adds a counter.
func (s Sums) Add(c summary.Count) {
	if s[c.Metric] == nil {
		s[c.Metric] = make(map[Label]int64)
	}
	s[c.Metric][Label{c.Stratum, c.Agent, c.Category, c.Profile, c.Key}] += c.N
}

// Total returns the sum of a metric's counters.
func (s Sums) Total(metric string) (n int64) {
	for _, count := range s[metric] {
		n += count
	}
	return n
}

// By sums a metric's counters by one of their labels. It skips counters of
// profiles other than profile.
func (s Sums) By(metric, profile string, of func(Label) string) map[string]int64 {
	out := make(map[string]int64)
	for l, count := range s[metric] {
		if l.Profile == "" || l.Profile == profile {
			out[of(l)] += count
		}
	}
	return out
}

// Key returns the key of a counter.
func Key(l Label) string { return l.Key }

// Pivot is like by, but groups by a label and by key.
func (s Sums) Pivot(metric, profile string, of func(Label) string) map[string]map[string]int64 {
	out := make(map[string]map[string]int64)
	for l, count := range s[metric] {
		if l.Profile != "" && l.Profile != profile {
			continue
		}
		row := out[of(l)]
		if row == nil {
			row = make(map[string]int64)
			out[of(l)] = row
		}
		row[l.Key] += count
	}
	return out
}

// ByTotal returns the names of a pivot with the most first, and the total of each.
func ByTotal(pivot map[string]map[string]int64) (names []string, total map[string]int64) {
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

// Walls returns the hosts that a wall kept from being read, by its vendor.
func (s Sums) Walls(profile string) map[string]int64 {
	out := make(map[string]int64)
	for k, n := range s.By("challenge", profile, Key) {
		if vendor, _, _ := strings.Cut(k, " "); vendor != summary.NoChallenge {
			out[vendor] += n
		}
	}
	return out
}

// Agents returns the category of each agent.
func (s Sums) Agents(profile string) map[string]string {
	out := make(map[string]string)
	for l := range s["policy"] {
		if l.Profile == profile {
			out[l.Agent] = l.Category
		}
	}
	return out
}

// Ranked returns the keys of counts, greatest count first.
func Ranked(counts map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// First returns the first value of a bin or band, such as 8 for 8-15.
func First(bin string) int64 {
	from, _, _ := strings.Cut(bin, "-")
	n, err := strconv.ParseInt(from, 10, 64)
	if err != nil {
		return noBin // unranked comes last
	}
	return n
}

const noBin = 1<<63 - 1

// Ascending returns bins or bands in ascending order.
func Ascending[V any](of map[string]V) []string {
	return slices.SortedFunc(maps.Keys(of),
		func(a, b string) int { return cmp.Or(cmp.Compare(First(a), First(b)), cmp.Compare(a, b)) })
}

// Examples holds a few examples for each metric and key.
type Examples map[[2]string][]schema.Example

// Add adds an example.
func (e Examples) Add(x schema.Example) {
	at := [2]string{x.Metric, x.Key}
	e[at] = append(e[at], x)
}

// List returns the examples of keys, or nil if there are none. named, if not nil,
// returns the display name of a key.
func (e Examples) List(caption, what, metric string, named func(string) string, keys ...string) *draw.Listed {
	out := &draw.Listed{Caption: caption, What: what, HasKey: len(keys) > 1}
	for _, k := range keys[:min(len(keys), draw.MostBars)] {
		for i, x := range e[[2]string{metric, k}] {
			row := draw.Example{Host: x.Host, Text: x.Text}
			if i == 0 {
				row.Key, row.Span = k, len(e[[2]string{metric, k}])
				if named != nil {
					row.Key = named(k)
				}
			}
			if x.Rank != nil {
				row.Rank = words.Number(*x.Rank)
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

// Leading returns the names of the keys with the greatest count, that count and, if there
// are several, " each".
func Leading(counts map[string]int64, named func(string) string) (names string, most int64, each string) {
	var tied []string
	top := Ranked(counts)
	for _, k := range top {
		if counts[k] == counts[top[0]] {
			tied = append(tied, named(k))
		}
	}
	if len(tied) > 1 {
		each = " each"
	}
	if more := len(tied) - 3; more > 0 {
		tied = append(tied[:3], words.Number(int64(more))+" more")
	}
	return words.And(tied), counts[top[0]], each
}

// Quoted returns a function that puts a name into quotation marks.
func Quoted(named func(string) string) func(string) string {
	return func(key string) string { return "“" + named(key) + "”" }
}
