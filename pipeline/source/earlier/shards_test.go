package earlier

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// A row of an earlier run of shards has a host of its shard, in its registered domain,
// and a seq of its own.
func TestRowsOfShards(t *testing.T) {
	const count = 3
	host := func(shard int) string { // a host of a shard
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
			if target.ShardOf(name+".example", count) == shard {
				return name + ".example"
			}
		}
		t.Fatalf("no host of shard %d", shard)
		return ""
	}
	row := func(seq int64, host, domain string) schema.Fetch {
		return schema.Fetch{Seq: seq, Host: host, RegisteredDomain: &domain}
	}
	of := &journal.Plan{Shards: count}
	for _, c := range []struct {
		name string
		rows []schema.Fetch
		want string
	}{
		{"hosts of the shard", []schema.Fetch{row(1, host(1), host(1)), row(2, "www."+host(1), host(1))}, ""},
		{"a host of another shard", []schema.Fetch{row(1, host(1), host(1)), row(2, host(2), host(2))},
			"seq 2 has a host of shard 2 in shard 1"},
		{"a domain of the shard, of another host", []schema.Fetch{row(1, host(2), host(1))},
			"seq 1 has a host that is not in its registered domain"},
		{"a domain that the host merely ends in", []schema.Fetch{row(1, "x"+host(1), host(1))},
			"is not in its registered domain"},
		{"a seq again", []schema.Fetch{row(1, host(1), host(1)), row(1, host(1), host(1))}, "seq 1 comes in two shards"},
	} {
		s := &shards{of: of, count: count, hasDomains: true}
		err := s.add(1, c.rows)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
