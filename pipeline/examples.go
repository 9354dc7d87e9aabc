package pipeline

import (
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/robocensus/robocensus/sink"
)

const (
	examplesOfKey = 3  // of each metric and key, in one part
	examplesOfTop = 10 // of the largest and the slowest
	exampleBytes  = 200
)

// examples are a bounded few of what a segment counts, of as many hosts: the first in the
// order of the input, so that the same answers give the same rows. Those of the
// largest and the slowest are so many in every part that the greatest of all
// parts are among them.
type examples struct {
	rows       []sink.Example
	of         map[label]few
	files, lag []measure
}

// few is how many examples of a key there are, and the host of the last.
type few struct {
	n    int
	host string
}

type measure struct {
	host string
	size int64
}

func (e *examples) reset() {
	*e = examples{rows: e.rows[:0], of: make(map[label]few), files: e.files[:0], lag: e.lag[:0]}
}

// room tells whether one more is wanted, for who would have to make a text. A
// host gives one of each key, so that a page of HTML does not give them all.
func (e *examples) room(metric, key, host string) bool {
	have := e.of[label{metric: metric, key: key}]
	return have.n < examplesOfKey && have.host != host
}

// add keeps an example unless there are enough. Line 0 is none. text is valid
// UTF-8, and is cut where it is long.
func (e *examples) add(metric, key, host string, line int32, text string) {
	if !e.room(metric, key, host) {
		return
	}
	at := label{metric: metric, key: key}
	e.of[at] = few{e.of[at].n + 1, host}
	e.rows = append(e.rows, sink.Example{Metric: metric, Key: key, Host: host, Line: sink.NonZero(line), Text: cut(text)})
}

func (e *examples) largest(host string, bytes int64)  { e.files = keep(e.files, measure{host, bytes}) }
func (e *examples) slowest(host string, micros int64) { e.lag = keep(e.lag, measure{host, micros}) }

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

// list gives the rows by metric and key.
func (e *examples) list() []sink.Example {
	for _, m := range e.files {
		e.rows = append(e.rows, sink.Example{Metric: "body_bytes", Key: "largest", Host: m.host, Text: strconv.FormatInt(m.size, 10)})
	}
	for _, m := range e.lag {
		e.rows = append(e.rows, sink.Example{Metric: "total_us", Key: "slowest", Host: m.host, Text: strconv.FormatInt(m.size, 10)})
	}
	slices.SortStableFunc(e.rows, func(a, b sink.Example) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Key, b.Key))
	})
	return e.rows
}

// clip makes a text of the first bytes of a value, which may have half a
// megabyte. It is one that lives on when the value's memory is used again.
func clip(b []byte) string {
	return cut(sink.TextString(string(b[:min(len(b), exampleBytes+utf8.UTFMax)])))
}

// cut shortens a text between two characters, and shows it.
func cut(text string) string {
	if len(text) <= exampleBytes {
		return text
	}
	end := exampleBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
