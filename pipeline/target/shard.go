package target

import (
	"fmt"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/sink/journal"
)

// Shard selects one of Count shares of a source, counted from 0. The zero value
// selects the whole source. A target has the same Seq in its shard as in the whole
// source.
//
// Hosts belong to the shard that [ShardOf] returns, so that one process asks all
// hosts of a domain and its limits hold. Archives belong to shards in groups of
// about equal size.
type Shard struct {
	Index, Count int
}

// ShardOf returns the shard of a host, of count shards; see [journal.ShardOf].
func ShardOf(host string, count int) int {
	domain, _ := fetch.RegisteredDomain(host)
	return journal.ShardOf(host, domain, count)
}

// Name names the share of the hosts, "" for all.
func (s Shard) Name() string {
	if !s.IsPart() {
		return ""
	}
	return s.String()
}

func (s Shard) String() string { return fmt.Sprintf("shard %d of %d", s.Index, s.Count) }

// IsPart reports whether the shard is less than the whole source.
func (s Shard) IsPart() bool { return s.Count > 1 }

// IsFirst reports whether the shard accounts for input that names no host.
func (s Shard) IsFirst() bool { return s.Index == 0 }

// Has reports whether a host belongs to the shard.
func (s Shard) Has(host string) bool { return !s.IsPart() || ShardOf(host, s.Count) == s.Index }

// GroupOf returns the consecutive archives that belong to the shard: those with the
// indices from to to-1. The groups have about equal numbers of bytes: an archive
// belongs to the shard in whose share of all bytes its middle lies, unless that
// would leave a shard without archives.
func (s Shard) GroupOf(sizes []int64) (from, to int) {
	if !s.IsPart() {
		return 0, len(sizes)
	}
	var all, before float64
	for _, size := range sizes {
		all += float64(size)
	}
	at := -1
	for i, size := range sizes {
		middle := (before + float64(size)/2) / max(all, 1)
		// The archives from here on must suffice for the shards that have none yet.
		least := max(at, s.Count-(len(sizes)-i))
		at = min(max(int(middle*float64(s.Count)), least), at+1, s.Count-1)
		before += float64(size)
		switch {
		case at < s.Index:
			from, to = i+1, i+1
		case at == s.Index:
			to = i + 1
		}
	}
	return from, to
}
