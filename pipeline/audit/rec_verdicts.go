package audit

import (
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// judged is one verdict of a block.
type judged struct {
	url   string
	value robots.Value
	line  *int32
}

// blocks reads the verdicts of a target in the order of the table. A block holds
// the verdicts of one agent under one profile.
type blocks struct {
	d     decoder
	names *names
	own   []string     // the target's own URLs read so far
	key   agentProfile // the policy of list
	list  []judged
}

// next reads the next block into list.
func (b *blocks) next() bool {
	if len(b.d) == 0 {
		return false
	}
	b.list = b.list[:0]
	for i := 0; len(b.d) > 0; i++ {
		head := b.d[0]
		if head&newAgent != 0 {
			if i > 0 {
				return true
			}
			b.d = b.d[1:]
			b.key = agentProfile{b.d.uint(), b.d.uint()}
		} else {
			b.d = b.d[1:]
		}
		j := judged{value: robots.Value(head & verdictBits)}
		number := b.d.uint()
		if head&newURL != 0 {
			if url := b.d.bytes(); int(number) == len(b.own) { // else this block was read before
				b.own = append(b.own, string(url))
			}
		}
		if head&ownURL != 0 {
			j.url = b.own[number]
		} else {
			j.url = b.names.text(number)
		}
		if head&hasLine != 0 {
			j.line = sink.Some(int32(b.d.uint()))
		}
		b.list = append(b.list, j)
	}
	return true
}
