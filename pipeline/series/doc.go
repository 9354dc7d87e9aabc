// Package series follows the figures of a census over several runs.
//
//	summary of each run ─────────────► counts ─┐
//	tables of hosts (if hosts count) ───► counts ┼─► points ─► table series, page
//	changes of neighbours ─────────────────────┘
//
// A point is a count of one run with its denominator, its share and an interval. The
// counters of summary suffice for most points, so that their cost does not depend on
// the number of hosts. A panel, and intervals that allow for many hosts of one
// registered domain, need a pass over the hosts (see hosts.go and
// vectors.go).
//
// Neighbouring points are comparable only if the same was counted in the same way:
// for the same entry of the registry of agents, the same fields of the profile, the
// same definitions and the same kind of list (see package past). The estimators, with
// their sources, are in interval.go.
package series
