package main

import "slices"

// A scope says where a flag of run does not apply.
type scope uint8

const (
	notInDemo scope = 1 << iota // demo brings its own hosts and asks this machine only
	notInPlan                   // plan makes no shard
	unplanned                   // not a setting of the run, but where it lies and what one process does
)

// scopes has a row for each flag of run that does not apply everywhere. The others are
// settings (see [sink.Settings]), which the plan of the run holds.
var scopes = []struct {
	flag  string
	scope scope
}{
	{"hosts", notInDemo},
	{"warc", notInDemo},
	{"warc-paths", notInDemo},
	{"cdx", notInDemo},
	{"warc-base", notInDemo},
	{"archive-rate", notInDemo},
	{"bodies", notInDemo},
	{"from-run", notInDemo},
	{"ranks", notInDemo},
	{"limit", notInPlan},
	{"config", unplanned},
	{"expect", unplanned | notInPlan},
	{"connect-to", notInDemo},
	{"proxy", notInDemo},
	{"shards", unplanned | notInDemo},
	{"shard", unplanned | notInDemo | notInPlan},
	{"parallelism", notInDemo},
	{"spool", unplanned | notInDemo | notInPlan},
	{"out", unplanned},
	{"run", unplanned},
	{"resume", unplanned | notInPlan},
	{"force-new", unplanned | notInPlan},
	{"progress", unplanned},
	{"dry-run", unplanned | notInDemo | notInPlan},
	{"lines", unplanned | notInPlan},
	{"json", unplanned | notInPlan},
}

// flagsThat returns the flags of run with a scope.
func flagsThat(are scope) (names []string) {
	for _, row := range scopes {
		if row.scope&are != 0 {
			names = append(names, row.flag)
		}
	}
	return slices.Clip(names)
}
