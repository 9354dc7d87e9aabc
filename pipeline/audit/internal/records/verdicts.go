package records

import "github.com/robocensus/robocensus/robots"

// Verdict is one verdict of a block.
type Verdict struct {
	URL   string
	Value robots.Value
	Line  int32 // 0 for none
}

// Blocks reads the verdicts of a target in the order of the table. A block holds
// the verdicts of one agent under one profile.
type Blocks struct {
	Rest  Decoder
	Texts []string  // of [Names]
	own   []string  // the target's own URLs read so far
	Key   PolicyKey // the policy of List
	List  []Verdict
}

// Next reads the next block into list.
func (b *Blocks) Next() bool {
	if len(b.Rest) == 0 {
		return false
	}
	b.List = b.List[:0]
	for i := 0; len(b.Rest) > 0; i++ {
		head := b.Rest[0]
		if head&newAgent != 0 {
			if i > 0 {
				return true
			}
			b.Rest = b.Rest[1:]
			b.Key = PolicyKey{b.Rest.Uint(), b.Rest.Uint()}
		} else {
			b.Rest = b.Rest[1:]
		}
		j := Verdict{Value: robots.Value(head & verdictBits)}
		number := b.Rest.Uint()
		if head&newURL != 0 {
			if url := b.Rest.bytes(); int(number) == len(b.own) { // else this block was read before
				b.own = append(b.own, string(url))
			}
		}
		if head&ownURL != 0 {
			j.URL = b.own[number]
		} else {
			j.URL = b.Texts[number]
		}
		if head&hasLine != 0 {
			j.Line = int32(b.Rest.Uint())
		}
		b.List = append(b.List, j)
	}
	return true
}
