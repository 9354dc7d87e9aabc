package run

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
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
		for _, row := range settings.Unplanned {
			if row.Flag == flag.Name {
				rows++
			}
		}
		if rows != 1 {
			t.Errorf("--%s has %d rows in journal.Settings and settings.Unplanned, want 1", flag.Name, rows)
		}
	})
	for _, s := range journal.Settings {
		// sections of the configuration file
		if set.Lookup(s.Name) == nil && !slices.Contains([]string{"profiles", "uses"}, s.Name) {
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
	for _, row := range settings.Unplanned {
		if set.Lookup(row.Flag) == nil {
			t.Errorf("--%s is not a flag of run", row.Flag)
		}
	}
	// Sources of stored answers are hosts of their own, too.
	for _, name := range journal.SourceFlags(nil) {
		if !slices.Contains(settings.NotOf("demo"), name) {
			t.Errorf("demo takes --%s", name)
		}
	}
}

// The flags of sources and files name paths, and those of the network addresses: of a
// data set, neither may be the value.
func TestPathsAndAddressesAreNotPublished(t *testing.T) {
	New().Set.VisitAll(func(flag *pflag.Flag) {
		s, ok := journal.SettingNamed(flag.Name)
		argument, _ := pflag.UnquoteUsage(flag)
		if ok && slices.Contains([]string{"FILE", "DIR", "GLOB", "DIR|TAR", "URL|DIR", "DIR/_runs/ID", "ADDR"}, argument) &&
			s.Published == journal.ItsValue {
			t.Errorf("--%s %s is published by its value", flag.Name, argument)
		}
	})
	if s, _ := journal.SettingNamed("proxy"); s.Published != journal.OnlyWhetherGiven || !s.Local {
		t.Errorf("the proxy is published: %+v", s)
	}
}

// A password that somebody gives with an address or a URL stands in no message and in no
// plan, whatever the flag, and however little of the value can be parsed.
func TestNoFlagShowsAPassword(t *testing.T) {
	const secret = "5ec7e7"
	values := []string{"robot:5ec7e7@127.0.0.1:1", "robot:5ec7e7@[::1]:1", "robot:5ec7e7@192.0.2.1"}
	for _, scheme := range []string{"https", "HTTPS", "s3", "gs", "http", "ftp", "socks5"} {
		values = append(values, scheme+"://robot:5ec7e7@127.0.0.1:1/dir/x.gz", scheme+"://5ec7e7@bucket/dir",
			scheme+"://robot:%zz5ec7e7@bucket/dir",
			scheme+"://robot:no/5ec7e7@bucket/dir", scheme+"://robot:no?5ec7e7@bucket/dir",
			scheme+"://robot:no#5ec7e7@bucket:99999/dir")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var tried []string
	New().Set.VisitAll(func(flag *pflag.Flag) {
		argument, _ := pflag.UnquoteUsage(flag)
		if !slices.Contains([]string{"FILE", "DIR", "GLOB", "DIR|TAR", "URL|DIR", "DIR/_runs/ID", "ADDR"}, argument) &&
			flag.Name != "proxy" && flag.Name != "warc-out" {
			return
		}
		tried = append(tried, flag.Name)
		for _, value := range values {
			_, rest, isURL := strings.Cut(value, "://")
			if !isURL && argument != "ADDR" && flag.Name != "proxy" {
				continue // a path
			}
			f := New()
			must(f.Set.Set(flag.Name, value))
			for name, other := range map[string]string{"out": t.TempDir(), "hosts": "-"} {
				if !f.Set.Changed(name) && (name == "out" || len(f.given()) == 0) {
					must(f.Set.Set(name, other))
				}
			}
			c, err := f.Build(t.Context())
			if err != nil {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("--%s %s: %v", flag.Name, value, err)
				}
				continue
			}
			plan, err := json.Marshal(c.Settings)
			must(err)
			if bytes.Contains(plan, []byte(secret)) && !strings.HasPrefix(rest, secret) { // a user's name is none
				t.Errorf("--%s %s: the plan is %s", flag.Name, value, plan)
			}
		}
	})
	for _, name := range []string{"connect-to", "resolver", "proxy", "cdx", "warc", "warc-base", "warc-paths", "hosts",
		"out", "from-run", "bodies", "warc-out"} {
		if !slices.Contains(tried, name) {
			t.Errorf("--%s is not tried", name)
		}
	}
}
