package summary

import (
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/robocensus/robocensus/sink"
)

const (
	ExamplesOfKey = 3  // of each metric and key, in one part
	examplesOfTop = 10 // of the largest and the slowest
	ExampleBytes  = 200
)

// Examples are a bounded few of what a segment counts, of as many hosts: those
// of the best rank, and of equal ranks the first in the order of the input, so
// that the same answers give the same rows. Every part has as many as a run
// wants, so that the best of all parts are among them.
type Examples struct {
	rank       *int64 // of the target under way
	of         map[label][]sink.Example
	files, lag []measure
}

type measure struct {
	host string
	rank *int64
	size int64
}

func (e *Examples) Reset() {
	*e = Examples{of: make(map[label][]sink.Example), files: e.files[:0], lag: e.lag[:0]}
}

// Begin tells the rank of the target that the next examples are of.
func (e *Examples) Begin(rank *int64) { e.rank = rank }

// room tells whether one more is wanted, so that a caller makes a text only
// then. A host gives one of each key: a page of HTML does not give them all.
func (e *Examples) Wants(metric, key, host string) bool {
	have := e.of[label{metric: metric, key: key}]
	for i := range have {
		if have[i].Host == host {
			return false
		}
	}
	return len(have) < ExamplesOfKey || CompareRanks(e.rank, have[len(have)-1].Rank) < 0
}

// Add keeps an example if it is wanted. Line 0 is none. text is valid UTF-8,
// and is cut where it is long.
func (e *Examples) Add(metric, key, host string, line int32, text string) {
	if !e.Wants(metric, key, host) {
		return
	}
	at := label{metric: metric, key: key}
	have := e.of[at]
	i := len(have)
	for i > 0 && CompareRanks(e.rank, have[i-1].Rank) < 0 {
		i--
	}
	have = slices.Insert(have, i, sink.Example{Metric: metric, Key: key, Host: host, Rank: e.rank, Line: sink.NonZero(line), Text: Cut(text)})
	e.of[at] = have[:min(len(have), ExamplesOfKey)]
}

func (e *Examples) Largest(host string, bytes int64) {
	e.files = keep(e.files, measure{host, e.rank, bytes})
}

func (e *Examples) Slowest(host string, micros int64) {
	e.lag = keep(e.lag, measure{host, e.rank, micros})
}

// keep inserts m among the greatest, after its equals.
func keep(top []measure, m measure) []measure {
	at := len(top)
	for at > 0 && top[at-1].size < m.size {
		at--
	}
	if at == examplesOfTop {
		return top
	}
	top = slices.Insert(top, at, m)
	return top[:min(len(top), examplesOfTop)]
}

// List gives the rows by metric and key.
func (e *Examples) List() []sink.Example {
	var rows []sink.Example
	for _, of := range e.of {
		rows = append(rows, of...)
	}
	for _, m := range e.files {
		rows = append(rows, sink.Example{Metric: "body_bytes", Key: "largest", Host: m.host, Rank: m.rank, Text: strconv.FormatInt(m.size, 10)})
	}
	for _, m := range e.lag {
		rows = append(rows, sink.Example{Metric: "total_us", Key: "slowest", Host: m.host, Rank: m.rank, Text: strconv.FormatInt(m.size, 10)})
	}
	slices.SortStableFunc(rows, func(a, b sink.Example) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Key, b.Key))
	})
	return rows
}

// Clip makes a text of the first bytes of a value, which may have half a
// megabyte. It is one that lives on when the value's memory is used again.
func Clip(b []byte) string {
	return Cut(sink.TextString(string(b[:min(len(b), ExampleBytes+utf8.UTFMax)])))
}

// Cut shortens a text between two characters, and shows it.
func Cut(text string) string {
	if len(text) <= ExampleBytes {
		return text
	}
	end := ExampleBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
