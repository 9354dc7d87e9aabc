package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robocensus/robocensus/sink/schema"
)

const (
	ExamplesOfKey   = 3  // examples per metric and key
	examplesOfAgent = 5  // hosts that shut an agent out
	examplesOfTop   = 10 // examples of the largest and of the slowest
	ExampleBytes    = 200

	// mostKeys bounds the distinct keys. A run has some hundred of them; only a
	// forged part has more.
	mostKeys = 10_000
)

// Examples keeps a few examples per metric and key: the greatest of the largest and
// slowest, otherwise those with the best rank. Ties go to the first in the order of
// the input, so that the same answers give the same rows. A segment keeps as many as
// a run, so that the best of all segments are among them.
type Examples struct {
	of   map[[2]string][]placed // examples by metric and key
	host string                 // of the current target
	rank *int64                 // of the same
	at   placed                 // current position in the input
}

// placed is an example with its position in the input.
type placed struct {
	schema.Example
	segment int
	row     int64
	size    int64 // what orders the largest and the slowest
}

// Reset removes all examples.
func (e *Examples) Reset() { *e = Examples{of: make(map[[2]string][]placed)} }

// Begin begins the next target. Its host and rank are those of its examples.
func (e *Examples) Begin(host string, rank *int64) { e.host, e.rank = host, rank }

// Wants reports whether an example would be kept, so that the caller builds its text
// only then. A host has at most one example per key, lest one page of HTML provide
// them all.
func (e *Examples) Wants(metric, key string) bool {
	have := e.of[[2]string{metric, key}]
	for i := range have {
		if have[i].Host == e.host {
			return false
		}
	}
	return len(have) < most(metric, key) || CompareRanks(e.rank, have[len(have)-1].Rank) < 0
}

// Add keeps an example if it is wanted. Line 0 means no line. text must be valid
// UTF-8; Add truncates a long one.
func (e *Examples) Add(metric, key string, line int32, text string) {
	if e.Wants(metric, key) {
		e.keep(schema.Example{
			Metric: metric, Key: key, Host: e.host, Rank: e.rank, Line: schema.NonZero(line), Text: Cut(text),
		})
	}
}

// most returns the number of examples of a key.
func most(metric, key string) int {
	switch {
	case metric == "policy":
		return examplesOfAgent
	case key == "largest" || key == "slowest":
		return examplesOfTop
	}
	return ExamplesOfKey
}

// Largest keeps the host if its body is one of the largest.
func (e *Examples) Largest(bytes int64) { e.top("body_bytes", "largest", bytes) }

// Slowest keeps the host if its fetch is one of the slowest.
func (e *Examples) Slowest(micros int64) { e.top("total_us", "slowest", micros) }

func (e *Examples) top(metric, key string, size int64) {
	if have := e.of[[2]string{metric, key}]; len(have) < examplesOfTop || have[len(have)-1].size <= size {
		e.keep(schema.Example{Metric: metric, Key: key, Host: e.host, Rank: e.rank, Text: strconv.FormatInt(size, 10)})
	}
}

// keep adds the next example of the input.
func (e *Examples) keep(x schema.Example) error {
	next := e.at
	next.Example = x
	e.at.row++
	return e.place(next)
}

// place inserts an example in order, if it is one of the best.
func (e *Examples) place(x placed) error {
	most := most(x.Metric, x.Key)
	if most == examplesOfTop {
		x.size, _ = strconv.ParseInt(x.Text, 10, 64)
	}
	id := [2]string{x.Metric, x.Key}
	have := e.of[id]
	at, _ := slices.BinarySearchFunc(have, x, func(a, b placed) int {
		return cmp.Or(
			cmp.Compare(b.size, a.size), CompareRanks(a.Rank, b.Rank), cmp.Compare(a.segment, b.segment),
			cmp.Compare(a.row, b.row),
		)
	})
	if at == most {
		return nil
	}
	if have == nil && len(e.of) == mostKeys {
		return fmt.Errorf("examples has more than %d different keys", mostKeys)
	}
	for _, text := range []*string{&x.Metric, &x.Key, &x.Host, &x.Text} {
		*text = strings.Clone(*text) // the caller reuses its memory
	}
	have = slices.Insert(have, at, x)
	e.of[[2]string{x.Metric, x.Key}] = have[:min(len(have), most)]
	return nil
}

// Merge adds the examples of from, which carry their position in the input.
func (e *Examples) Merge(from *Examples) error {
	for _, list := range from.of {
		for _, x := range list {
			if err := e.place(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rows returns the examples, sorted by metric and key, best first.
func (e *Examples) Rows() []schema.Example {
	var rows []schema.Example
	for _, list := range e.of {
		for _, x := range list {
			rows = append(rows, x.Example)
		}
	}
	slices.SortStableFunc(rows, func(a, b schema.Example) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Key, b.Key))
	})
	return rows
}

// fits returns an error for more rows than a part can have.
func (e *Examples) fits(rows int64) error {
	if rows > mostKeys*examplesOfTop {
		return fmt.Errorf("examples has %d rows, more than of %d keys", rows, mostKeys)
	}
	return nil
}

// read adds the rows of a batch of a segment's part. The batches of a part must come
// in order.
func (e *Examples) read(segment int, batch []schema.Example) error {
	if e.at.segment != segment {
		e.at = placed{segment: segment}
	}
	for _, x := range batch {
		if err := e.keep(x); err != nil {
			return err
		}
	}
	return nil
}

// Clip returns the beginning of a value, which may have half a megabyte, as an
// example's text. The text shares no memory with b.
func Clip(b []byte) string {
	return Cut(schema.TextString(string(b[:min(len(b), ExampleBytes+utf8.UTFMax)])))
}

// Cut truncates a text to [ExampleBytes] between two characters and marks the cut.
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
