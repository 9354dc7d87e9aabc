package run

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/settings"
	"github.com/robocensus/robocensus/sink/journal"
)

// Every flag of run is either a setting, of which the table says what a resumed run may
// change and what is published, or one that the plan does not record.
func TestEveryFlagIsASettingOrUnrecorded(t *testing.T) {
	set := New().Set
	set.VisitAll(func(flag *pflag.Flag) {
		rows := 0
		for _, s := range journal.Settings {
			if s.Name == flag.Name {
				rows++
			}
		}
		if slices.Contains(settings.FlagsThat(settings.Unplanned), flag.Name) {
			rows++
		}
		if rows != 1 {
			t.Errorf("--%s has %d rows in journal.Settings and unplanned scopes, want 1", flag.Name, rows)
		}
	})
	for _, s := range journal.Settings {
		if set.Lookup(s.Name) == nil && !slices.Contains([]string{"profiles", "uses"}, s.Name) { // sections of the configuration file
			t.Errorf("the setting %s is not a flag of run", s.Name)
		}
		if (s.Effect == journal.NoEffect) != (s.Other == "") {
			t.Errorf("the setting %s differs in effect and has the words %q", s.Name, s.Other)
		}
		// The plan must not have what only its machine knows, and a comparison reads the
		// configuration.
		if s.Local && !s.Adjustable || s.Adjustable && s.Effect != journal.NoEffect {
			t.Errorf("%+v", s)
		}
	}
	seen := make(map[string]bool)
	for _, row := range settings.Scopes {
		if set.Lookup(row.Flag) == nil || row.Scope == 0 || seen[row.Flag] {
			t.Errorf("--%s is not a flag of run, has no scope, or two rows", row.Flag)
		}
		seen[row.Flag] = true
	}
}

// The flags of sources and files name paths, and those of the network addresses: of a
// data set, neither may be the value.
func TestPathsAndAddressesAreNotPublished(t *testing.T) {
	New().Set.VisitAll(func(flag *pflag.Flag) {
		s, ok := journal.SettingNamed(flag.Name)
		argument, _ := pflag.UnquoteUsage(flag)
		if ok && slices.Contains([]string{"FILE", "DIR", "GLOB", "DIR|TAR", "URL|DIR", "DIR/_runs/ID", "ADDR"}, argument) && s.Published == journal.ItsValue {
			t.Errorf("--%s %s is published by its value", flag.Name, argument)
		}
	})
	if s, _ := journal.SettingNamed("proxy"); s.Published != journal.OnlyWhetherGiven || !s.Local {
		t.Errorf("the proxy is published: %+v", s)
	}
}
