package portable

import (
	"bytes"
	"slices"

	"github.com/robocensus/robocensus/robots"
)

// finding describes a step that settled differences by changing lines.
func (c *checker) finding(s *step, f *file, lines []int, google []robots.Value, before, after differences) Finding {
	settled := before.without(after)
	if len(lines) <= mostLines {
		var count []int
		most := min(c.most, c.work+c.most/8)
		for _, line := range lines {
			if c.work > most {
				count = nil // of none is known whether it is enough
				break
			}
			c.spendStep(f)
			next := s.apply(f, func(n int) bool { return n == line })
			if next == nil {
				continue
			}
			if same, left := c.answers(next.bytes()); slices.Equal(google, same) && len(left) < len(before) {
				count = append(count, line)
			}
		}
		if len(count) > 0 {
			lines = count
		}
	}
	return c.about(s.cause, s.adviceFor(f, lines), lines, f, settled)
}

// hint returns the differences that a hint settles on paths without needless escapes.
func (c *checker) hint(h *step, f *file, differ differences) (settled differences) {
	next := h.apply(f, nil)
	if next == nil {
		return nil
	}
	plain := func(d differences) differences {
		return slices.DeleteFunc(slices.Clone(d),
			func(d difference) bool { return c.escaped[c.paths[d.question%len(c.paths)]] })
	}
	_, left := c.answers(next.bytes())
	before, after := plain(differ), plain(left)
	if len(after) >= len(before) {
		return nil
	}
	return before.without(after)
}

// rest describes what no step settles.
func (c *checker) rest(f *file, left differences) Finding {
	var lines []int
	for i := range f.lines {
		if l := &f.lines[i]; l.kind == ruleLine && bytes.ContainsAny(l.value, "*$%?") {
			lines = append(lines, l.number)
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines) // merged groups have some twice
	return c.about("wildcards, escapes or names that some parsers read in their own way", "", lines, f, left)
}

// about describes a cause of differences, of which there is one at least.
func (c *checker) about(cause, advice string, lines []int, f *file, d differences) Finding {
	x := Finding{Cause: cause, Advice: advice, Lines: lines}
	for _, y := range d {
		if name := c.parsers[y.parser].Name; !slices.Contains(x.Parsers, name) {
			x.Parsers = append(x.Parsers, name)
		}
	}
	slices.Sort(x.Parsers)
	x.Agent, x.Path, x.Parser = c.agents[d[0].question/len(c.paths)].Name, c.paths[d[0].question%len(c.paths)],
		c.parsers[d[0].parser].Name
	body := c.shortest(f, d[0])
	g, o := c.one(body, d[0])
	x.Google, x.Answer = g.String(), o.String()
	x.File, x.FileB64 = textOrBytes(body)
	return x
}

// shortest leaves out lines as long as google and a parser part on a question as before,
// and as it does not take too long.
func (c *checker) shortest(f *file, d difference) []byte {
	g, o := c.one(f.bytes(), d)
	now := f
	most := c.work + c.most/mostPart
	for size := (len(f.lines) + 1) / 2; size > 0; size /= 2 {
		for from := 0; from < len(now.lines) && c.work < most; {
			next := &file{bom: now.bom, lines: slices.Concat(now.lines[:from], now.lines[min(from+size, len(now.lines)):])}
			if x, y := c.one(next.bytes(), d); x == g && y == o {
				now = next
			} else {
				from += size
			}
		}
	}
	return now.bytes()
}
