package summary

import "testing"

// A host that a wall answered is in no outcome, whatever its status and memory say.
func TestDecided(t *testing.T) {
	type counter struct {
		metric, key string
		n           int64
	}
	for name, row := range map[string]struct {
		counters                     []counter
		rules, open, walled, unknown int64
	}{
		"no walls": {[]counter{{"outcome", "conditional_allow", 6}, {"outcome", "full_allow", 3}, {"reason", "success", 6}, {"reason", "client_error", 3}, {"challenge", NoChallenge, 9}}, 6, 3, 0, 0},
		"by status": {[]counter{
			{"outcome", "conditional_allow", 6}, {"outcome", "full_allow", 3}, {"outcome", "full_disallow", 2}, {"reason", "success", 6}, {"reason", "client_error", 3}, {"reason", "server_error", 2},
			{"challenge", "generic success", 4}, {"challenge", "akamai client_error", 1}, {"challenge", "cloudflare server_error", 2}}, 2, 2, 5, 7},
		"a copy that counts":           {[]counter{{"outcome", "conditional_allow", 6}, {"reason", "success", 3}, {"reason", "stale_copy", 3}, {"challenge", "generic stale_copy", 2}}, 4, 0, 2, 2},
		"a copy of which nobody knows": {[]counter{{"outcome", "conditional_allow", 3}, {"outcome", "undefined", 3}, {"reason", "success", 3}, {"reason", "stale_copy", 3}, {"challenge", "generic stale_copy", 2}}, 3, 0, 0, 3},
		"failures that allow all":      {[]counter{{"outcome", "full_allow", 5}, {"reason", "client_error", 3}, {"reason", "server_error", 2}, {"challenge", "generic server_error", 1}}, 0, 4, 1, 1},
	} {
		var d Decided
		for _, c := range row.counters {
			d.Add(c.metric, c.key, c.n)
		}
		if d.Rules() != row.rules || d.Open() != row.open || d.Walled() != row.walled || d.Unknown() != row.unknown {
			t.Errorf("%s: rules %d, open %d, walled %d, unknown %d; want %d, %d, %d, %d", name, d.Rules(), d.Open(), d.Walled(), d.Unknown(), row.rules, row.open, row.walled, row.unknown)
		}
	}
}
