package settings

import (
	"slices"

	"github.com/robocensus/robocensus/sink/journal"
)

// A scope says where a flag of run does not apply.
type scope uint8

const (
	NotInDemo scope = 1 << iota // demo brings its own hosts and asks this machine only
	NotInPlan                   // plan makes no shard
	Unplanned                   // not a setting of the run, but where it lies and what one process does
)

// Scopes has a row for each flag of run that does not apply everywhere, but for those that
// name stored answers (see [journal.SourceFlags]), which are NotInDemo. The others are
// settings (see [journal.Settings]), which the plan of the run holds.
var Scopes = []struct {
	Flag  string
	Scope scope
}{
	{"hosts", NotInDemo},
	{"column", NotInDemo},
	{"force", NotInDemo},
	{"warc-base", NotInDemo},
	{"archive-rate", NotInDemo},
	{"ranks", NotInDemo},
	{"limit", NotInPlan},
	{"config", Unplanned},
	{"expect", Unplanned | NotInPlan},
	{"connect-to", NotInDemo},
	{"proxy", NotInDemo},
	{"shards", Unplanned | NotInDemo},
	{"shard", Unplanned | NotInDemo | NotInPlan},
	{"parallelism", NotInDemo},
	{"spool", Unplanned | NotInDemo | NotInPlan},
	{"out", Unplanned},
	{"run", Unplanned},
	{"resume", Unplanned | NotInPlan},
	{"force-new", Unplanned | NotInPlan},
	{"progress", Unplanned},
	{"dry-run", Unplanned | NotInDemo | NotInPlan},
	{"lines", Unplanned | NotInPlan},
	{"json", Unplanned | NotInPlan},
}

// FlagsThat returns the flags of run with a scope.
func FlagsThat(are scope) (names []string) {
	if are&NotInDemo != 0 {
		names = journal.SourceFlags(nil)
	}
	for _, row := range Scopes {
		if row.Scope&are != 0 {
			names = append(names, row.Flag)
		}
	}
	return slices.Clip(names)
}

// isFlagOfRun reports whether run has a flag.
func isFlagOfRun(name string) bool {
	if _, ok := journal.SettingNamed(name); ok {
		return true
	}
	for _, row := range Scopes {
		if row.Flag == name {
			return true
		}
	}
	return false
}
