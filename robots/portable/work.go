package portable

import "github.com/robocensus/robocensus/robots"

// A task is a kind of work.
type task uint8

const (
	parsing   task = iota // a byte that a parser reads
	recording             // an agent or a rule that it finds
	naming                // a line that the name of a crawler is compared with
	loading               // a rule of the policy that is found for a crawler
	judging               // a rule that is compared with 16 bytes of a path
	answering             // one answer, but for the rules
	telling               // a rule of a policy that is compared with another one
	proving               // a unit of the work of robots.Distinguish
	scanning              // a byte of a file that a step reads
	stepping              // a line of it
	tasks
)

// costs are in units of work, about a nanosecond each. They were fitted to the time that
// hostile and real files take.
var costs = [tasks]int{
	parsing: 4, recording: 512, naming: 2, loading: 64, judging: 1, answering: 48,
	telling: 16, proving: 4, scanning: 1, stepping: 400,
}

// spend counts work that is done n times.
func (c *checker) spend(t task, n int) { c.work += costs[t] * n }

// parse reads a body as a parser does.
func (c *checker) parse(f *robots.File, body []byte, p *robots.Profile) {
	f.Parse(body, p)
	c.spend(parsing, f.Readings()*len(body))
	c.spend(recording, f.Readings()*(len(f.Agents)+len(f.Rules)))
}

// load finds the policies of a file for so many crawlers.
func (c *checker) load(j *robots.Judge, f *robots.File, crawlers int) {
	j.Load(f)
	c.spend(naming, crawlers*max(1, len(f.Agents)))
	for i := range crawlers {
		if policy := j.Policy(i); policy.SameAs == i {
			c.spend(loading, policy.NumRules())
		}
	}
}

// spendStep counts that a step copies a file, and that google reads it.
func (c *checker) spendStep(f *file) {
	c.spend(scanning, len(f.read.Body()))
	c.spend(stepping, len(f.lines))
}
