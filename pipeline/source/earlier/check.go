package earlier

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/verify"
)

// The parts of an earlier run, or of a data set that somebody else made, match digests
// that may be as false as they: what is re-evaluated must fit together.

// check returns an error for a body that is above the size limit of the run, that is not
// that of its digest, if it is judged, or that the row group does not need. Such bodies would be
// held for nothing. Where answers that had bodies are gone, these are passed over.
func (b *bodyReader) check(one *schema.Body) error {
	if most := b.limits.kept; most > 0 && len(one.Body) > most {
		return fmt.Errorf("the table bodies has a body of %d bytes, and the run kept at most %d of each", len(one.Body), most)
	}
	isNeeded := b.needed[one.ContentDigest] > 0
	if !isNeeded || b.judged[one.ContentDigest] {
		if own := schema.ContentDigest(one.Body); own != one.ContentDigest {
			return fmt.Errorf("the table bodies has a body with the digest %s under %.32q", own, one.ContentDigest)
		}
	}
	if !isNeeded && !b.spare {
		return fmt.Errorf("the table bodies has the body %s where no row of fetches needs it", one.ContentDigest)
	}
	return nil
}

// shards are the shards of hosts of an earlier run. A host in two of them, or a seq, would
// count twice.
type shards struct {
	of         *journal.Plan
	count      int
	hasDomains bool // the run has the column by which hosts are divided
	seqs       verify.Seqs
}

// add adds rows of a segment, whose seqs ascend. It returns an error for a host of another
// shard, or a seq that another row has.
func (s *shards) add(segment int, rows []schema.Fetch) error {
	if s == nil {
		return nil
	}
	seqs := make([]int64, len(rows))
	for i := range rows {
		seqs[i] = rows[i].Seq
		if !s.hasDomains {
			continue
		}
		host, domain := rows[i].Host, schema.OrZero(rows[i].RegisteredDomain)
		if domain != "" && host != domain && !strings.HasSuffix(host, "."+domain) {
			return fmt.Errorf("seq %d has a host that is not in its registered domain", seqs[i])
		}
		at := s.of.ShardOfSegment(segment)
		if of := journal.ShardOf(host, domain, s.count); of != at {
			return fmt.Errorf("seq %d has a host of shard %d in shard %d", seqs[i], of, at)
		}
	}
	return s.seqs.Add(seqs)
}

// span is the range of the seqs of a segment.
type span struct {
	segment     int
	first, last int64
	some        bool
}

// grow adds the seq of the next row, which must be greater.
func (s *span) grow(seq int64) error {
	if s.some && seq <= s.last {
		return fmt.Errorf("seq %d follows seq %d: targets are out of order, or counted twice", seq, s.last)
	}
	if !s.some {
		s.first, s.some = seq, true
	}
	s.last = seq
	return nil
}

// spans are the ranges of the segments read so far, by segment. Segments are read in any
// order, by several goroutines.
type spans struct {
	mu   sync.Mutex
	read []span
}

// add adds the range of a segment that is read. It returns an error if the range is not
// between those of the segments before and after.
func (s *spans) add(segment int, one span) error {
	if s == nil || !one.some {
		return nil
	}
	one.segment = segment
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := slices.BinarySearchFunc(s.read, segment, func(other span, segment int) int { return other.segment - segment })
	if at > 0 && s.read[at-1].last >= one.first {
		return fmt.Errorf(
			"begins with seq %d, and segment %d before it ends with %d: targets are counted twice", one.first,
			s.read[at-1].segment, s.read[at-1].last,
		)
	}
	if at < len(s.read) && s.read[at].first <= one.last {
		return fmt.Errorf(
			"ends with seq %d, and segment %d after it begins with %d: targets are counted twice", one.last,
			s.read[at].segment, s.read[at].first,
		)
	}
	s.read = slices.Insert(s.read, at, one)
	return nil
}
