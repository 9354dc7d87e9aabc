package settings

import (
	"slices"

	"github.com/robocensus/robocensus/sink/journal"
)

// Unplanned has a row for each flag of run that is no setting (see [journal.Settings]): the
// plan of the run does not hold it, because it says where the run lies, or what one process
// does.
var Unplanned = []struct {
	Flag string
	Not  []string // commands that make runs and do not take it
}{
	{"config", nil},
	{"expect", []string{"plan"}},
	{"shards", []string{"demo"}},
	{"shard", []string{"demo", "plan"}},
	{"spool", []string{"demo", "plan"}},
	{"out", nil},
	{"run", nil},
	{"resume", []string{"plan"}},
	{"force-new", []string{"plan"}},
	{"progress", nil},
	{"dry-run", []string{"demo", "plan"}},
	{"lines", []string{"plan"}},
	{"json", []string{"plan"}},
}

// NotOf returns the flags of run that a command does not take.
func NotOf(command string) (names []string) {
	for _, s := range journal.Settings {
		if slices.Contains(s.Not, command) {
			names = append(names, s.Name)
		}
	}
	for _, row := range Unplanned {
		if slices.Contains(row.Not, command) {
			names = append(names, row.Flag)
		}
	}
	return names
}

// isFlagOfRun reports whether run has a flag.
func isFlagOfRun(name string) bool {
	_, isSetting := journal.SettingNamed(name)
	for _, row := range Unplanned {
		isSetting = isSetting || row.Flag == name
	}
	return isSetting
}
