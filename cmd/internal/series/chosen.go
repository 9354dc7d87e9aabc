package series

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// from checks the flags that choose runs, and returns the date of --since.
func (f *seriesFlags) from() (since time.Time, err error) {
	if f.since != "" {
		since, err = cli.ParseDate(f.since)
		if errors.Is(err, cli.ErrYear) {
			return since, cli.Usagef("--since %q: %w", f.since, err)
		}
		if err != nil {
			return since, cli.Usagef("--since %q: give a date such as 2024, 2024-01 or 2024-01-15", f.since)
		}
	}
	if _, err := path.Match(f.runs, ""); err != nil {
		return since, cli.Usagef("--runs %q: not a pattern", f.runs)
	}
	return since, nil
}

// chosen returns the IDs of the runs to follow, by date, and warns of runs that cannot
// be followed.
func (f *seriesFlags) chosen(in store.Store, since time.Time) (ids, warnings []string, err error) {
	complete, err := journal.CompleteRuns(in)
	if err != nil {
		return nil, nil, err
	}
	profiles := make(map[string]bool)
	for _, m := range complete {
		switch {
		case !f.matches(m.Run) || m.Date.Before(since):
		case !slices.Contains(m.Tables, "summary"):
			warnings = append(warnings, fmt.Sprintf("run %s has no table summary and is left out", m.Run))
		default:
			ids = append(ids, m.Run)
			for _, p := range m.Profiles {
				profiles[p] = true
			}
		}
	}
	if len(cli.RunNames(in)) > len(complete) {
		more, err := f.leftOut(in, since)
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, more...)
	}
	if len(ids) == 0 && len(warnings) > 0 {
		return nil, nil, cli.Usagef("no run in %s can be followed: %s", f.out, strings.Join(warnings, "; "))
	}
	if len(ids) == 0 {
		return nil, nil, cli.Usagef("no complete run in %s%s%s", f.out, f.choice(), cli.RunsIn(in))
	}
	for _, p := range f.profiles {
		if !profiles[p] {
			known := slices.Sorted(maps.Keys(profiles))
			return nil, nil, cli.Usagef("--profile: no run has a profile %q%s: the profiles are %s", p,
				flags.Suggest(p, known), strings.Join(known, ", "))
		}
	}
	return ids, warnings, nil
}

// matches reports whether --runs chooses a run.
func (f *seriesFlags) matches(run string) bool {
	match, _ := path.Match(cmp.Or(f.runs, "*"), run)
	return match
}

// leftOut warns of the runs that cannot be followed.
func (f *seriesFlags) leftOut(in store.Store, since time.Time) (warnings []string, err error) {
	runs, err := journal.Runs(in)
	for _, r := range runs {
		switch {
		case !f.matches(r.Run):
		case r.State == journal.Damaged:
			warnings = append(warnings, fmt.Sprintf("run %s is damaged and left out: see robocensus verify", r.Run))
		case r.State == journal.Incomplete && !r.Date.Before(since):
			warnings = append(warnings, fmt.Sprintf("run %s is unfinished and left out", r.Run))
		}
	}
	return warnings, err
}

// choice says in an error which runs were asked for.
func (f *seriesFlags) choice() (text string) {
	if f.runs != "" {
		text += " matches " + strconv.Quote(f.runs)
	}
	if f.since != "" {
		text += " since " + f.since
	}
	return text
}
