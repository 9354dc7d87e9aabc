package series

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/sinktest"
)

// From two in a hundred hosts on that share a registered domain, a series without clusters
// says so; with clusters it has nothing to say.
func TestSharedDomainsAreWarnedOf(t *testing.T) {
	for _, c := range []struct {
		hosts, shared int
		warns         string
	}{{100, 2, "2.0% of the hosts of run a share"}, {101, 2, ""}, {100, 0, ""},
		{50, 9, "18.0% of the hosts of run a share"}} {
		m := make(madeUp)
		for i := range c.hosts {
			domain := fmt.Sprintf("d%d.com", max(i, c.shared-1))
			if i < c.shared {
				domain = "shared.com"
			}
			m[fmt.Sprintf("h%d.%s", i, domain)] = map[string]string{"A": "allow_all", "B": "allow_all", "C": "allow_all"}
		}
		dir := t.TempDir()
		m.write(t, dir, "a", 0)
		for _, clustered := range []bool{false, true} {
			s, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"a"}, Clustered: clustered})
			must(t, err)
			said := strings.Join(s.Warnings, "\n")
			if warns := strings.Contains(said, "share a registered domain"); warns != (c.warns != "" && !clustered) || warns &&
				!strings.Contains(said, c.warns) {
				t.Errorf("%d of %d, clustered %v: %q", c.shared, c.hosts, clustered, said)
			}
		}
	}
}
