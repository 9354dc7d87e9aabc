package records

import (
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Covered is how much of what a host lists an agent may fetch. Its texts are numbers of names.
type Covered struct {
	Profile, Agent, Class uint64
	summary.Pages
	Line int32 // of the rule that closes most, 0 for none
}

// Key identifies the policy.
func (c Covered) Key() PolicyKey { return PolicyKey{Profile: c.Profile, Agent: c.Agent} }

// encodeCoverage encodes the coverage of a target: agents that stand together and may fetch
// the same are one record. Where an answer closes the host, or leaves open what it says, the
// coverage is not known.
func encodeCoverage(rows []schema.Coverage, names *Names) string {
	var e Encoder
	for len(rows) > 0 {
		first, n := &rows[0], 1
		for n < len(rows) && alike(first, &rows[n]) {
			n++
		}
		if first.Class != summary.ClassNames[summary.ClassUnknown] && first.Undefined == 0 && first.Sampled > 0 {
			e.Uint(names.ID(first.Profile))
			e.Uint(names.ID(first.Class))
			e.Uint(uint64(first.Listed))
			e.Uint(uint64(first.Sampled))
			e.Uint(uint64(first.Allowed))
			e.Uint(uint64(schema.OrZero(first.RuleLine)))
			e.Uint(uint64(n))
			for i := range rows[:n] {
				e.Uint(names.ID(rows[i].Agent))
			}
		}
		rows = rows[n:]
	}
	return string(e)
}

func alike(a, b *schema.Coverage) bool {
	return a.Profile == b.Profile && a.Class == b.Class && a.Listed == b.Listed && a.Sampled == b.Sampled &&
		a.Allowed == b.Allowed && a.Undefined == b.Undefined && schema.OrZero(a.RuleLine) == schema.OrZero(b.RuleLine)
}

// Coverage returns how much of what the host lists each agent may fetch.
func (f *Fetched) Coverage() (out []Covered) {
	for d := Decoder(f.beside[OfCoverage]); len(d) > 0; {
		c := Covered{Profile: d.Uint(), Class: d.Uint()}
		c.Listed, c.Sampled, c.Allowed = int64(d.Uint()), int64(d.Uint()), int64(d.Uint())
		c.Line = int32(d.Uint())
		for range d.Uint() {
			c.Agent = d.Uint()
			out = append(out, c)
		}
	}
	return out
}
