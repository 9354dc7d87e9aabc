package summary

import "testing"

// A host that a wall answered is in no outcome and no reason, whatever its status and memory
// say. No other host takes its place.
func TestDecided(t *testing.T) {
	type counter struct {
		metric, key string
		n           int64
	}
	for name, row := range map[string]struct {
		counters                           []counter
		rules, open, walled, unknown, read int64
	}{
		"no walls": {[]counter{{"outcome", "conditional_allow", 6}, {"outcome", "full_allow", 3}, {"reason", "success", 6},
			{"reason", "client_error", 3}, {"challenge", NoChallenge, 9}}, 6, 3, 0, 0, 9},
		"by status": {[]counter{
			{"outcome", "conditional_allow", 6}, {"outcome", "full_allow", 3}, {"outcome", "full_disallow", 2},
			{"reason", "success", 6}, {"reason", "client_error", 3}, {"reason", "server_error", 2},
			{"challenge", "generic success", 4}, {"challenge", "akamai client_error", 1},
			{"challenge", "cloudflare server_error", 2},
			{"challenge_outcome", "conditional_allow", 4}, {"challenge_outcome", "full_allow", 1},
			{"challenge_outcome", "full_disallow", 2}}, 2, 2, 7, 7, 4},
		"a copy that counts": {[]counter{{"outcome", "conditional_allow", 6}, {"reason", "success", 3},
			{"reason", "stale_copy", 3}, {"challenge", "generic stale_copy", 2}, {"challenge_outcome", "conditional_allow", 2}},
			4, 0, 2, 2, 3},
		"a copy of which nobody knows": {[]counter{
			{"outcome", "conditional_allow", 3}, {"outcome", "undefined", 3}, {"reason", "success", 3},
			{"reason", "stale_copy", 3}, {"challenge", "generic stale_copy", 2}, {"challenge_outcome", "undefined", 2}}, 3, 0,
			2, 3, 3},
		"failures that allow all, and a wall among failures that close": {[]counter{
			{"outcome", "full_allow", 5}, {"outcome", "full_disallow", 1}, {"reason", "client_error", 3},
			{"reason", "server_error", 1}, {"reason", "unreachable_too_long", 2},
			{"challenge", "generic server_error", 1}, {"challenge_outcome", "full_disallow", 1}}, 0, 5, 1, 1, 3},
		"of an earlier version": {[]counter{
			{"outcome", "conditional_allow", 6}, {"outcome", "full_allow", 5}, {"outcome", "full_disallow", 1},
			{"reason", "success", 6}, {"reason", "client_error", 3}, {"reason", "server_error", 1},
			{"reason", "unreachable_too_long", 2},
			{"challenge", "generic success", 4}, {"challenge", "generic client_error", 1}, {"challenge", "generic server_error",
				1}}, 2, 4, 6, 6, 4},
	} {
		var d Decided
		for _, c := range row.counters {
			d.Add(c.metric, c.key, c.n)
		}
		open := d.Outcome("full_allow")
		if d.Rules() != row.rules || open != row.open || d.Walled() != row.walled || d.Unknown() != row.unknown ||
			d.Read() != row.read {
			t.Errorf("%s: rules %d, open %d, walled %d, unknown %d, read %d; want %d, %d, %d, %d, %d",
				name, d.Rules(), open, d.Walled(), d.Unknown(), d.Read(), row.rules, row.open, row.walled, row.unknown, row.read)
		}
	}
}
