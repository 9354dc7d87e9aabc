package portable

import "github.com/robocensus/robocensus/robots"

// read returns google's policies for all crawlers, which stay when others are loaded.
func (c *checker) read(f *file) *robots.Judge {
	judge := robots.NewJudge(c.parsers[0], c.agents)
	judge.Load(&f.read)
	c.work += 8 * len(f.read.Body())
	return judge
}

// differ compares what a file means to google with its meaning before, also on paths that
// nobody is asked about: a step may make a rule shorter than another one that matches such a
// path. Where that would take too long, it is undecided.
func (c *checker) differ(original *robots.Judge, f *file) robots.Difference {
	c.work += 8 * len(f.read.Body())
	c.judge(0, &f.read)
	worst, asked := robots.Same, make(map[[2]int]bool)
	for i := range c.agents {
		a, b := original.Policy(i), c.judges[0].Policy(i)
		if pair := [2]int{a.SameAs, b.SameAs}; !asked[pair] {
			asked[pair] = true
			d, work := robots.Differ(a, b, min(explainWork, c.most-c.work))
			if c.work += work; d == robots.Differs {
				return d
			}
			worst = max(worst, d)
		}
	}
	return worst
}

// part applies a step, which as a whole changes the meaning of a file to google, to those of
// its lines for which it is proven that it does not: to halves of them, and halves of these,
// until that takes too long.
func (c *checker) part(s *step, f *file, original *robots.Judge, lines []int) (next *file, changed []int) {
	with, tries := make(map[int]bool), 0
	var add func(some []int)
	add = func(some []int) {
		if len(some) == 0 || tries >= mostParts || c.work > c.most {
			return
		}
		tries++
		c.work += stepWork * c.size
		for _, n := range some {
			with[n] = true
		}
		if try := s.apply(f, func(n int) bool { return with[n] }); try != nil && c.differ(original, try) == robots.Same {
			next, changed = try, append(changed, some...)
			return
		}
		for _, n := range some {
			delete(with, n)
		}
		if half := len(some) / 2; half > 0 {
			add(some[:half])
			add(some[half:])
		}
	}
	add(lines[:len(lines)/2])
	add(lines[len(lines)/2:])
	return next, changed
}
