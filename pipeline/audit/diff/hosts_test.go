package diff

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/sink/schema"
)

// checkHosts holds a comparison's counts of hosts against the rows of changes: a
// host counts once, however many of its agents and URLs changed.
func checkHosts(t *testing.T, rows []schema.Change, r *Result) {
	t.Helper()
	type set map[string]bool // of origins
	add := func(sets map[string]set, key, origin string) {
		if sets[key] == nil {
			sets[key] = make(set)
		}
		sets[key][origin] = true
	}
	size := func(sets map[string]set) map[string]int64 {
		out := make(map[string]int64)
		for key, s := range sets {
			out[key] = int64(len(s))
		}
		return out
	}
	worst := make(map[string]int)
	kinds, agents, categories, profiles := make(map[string]set), make(map[string]set), make(map[string]set),
		make(map[string]set)
	for _, c := range rows {
		add(kinds, c.Severity+" "+c.Kind, c.Origin)
		if c.Kind == "host_new" || c.Kind == "host_gone" {
			continue
		}
		severity := slices.Index(change.Severities, c.Severity)
		if have, ok := worst[c.Origin]; !ok || severity < have {
			worst[c.Origin] = severity
		}
		if c.Kind != "policy_class" && c.Kind != "rules" || c.Category == nil {
			continue
		}
		for _, how := range []struct {
			is   bool
			what string
		}{
			{c.Kind == "policy_class" && *c.After == "disallow_all", "shut out"}, {c.Kind == "policy_class" &&
				*c.Before == "disallow_all", "let in"},
			{*c.After == "closes" || *c.After == "both" || *c.After == "disallow_all" || schema.OrZero(c.Before) == "allow_all",
				"closed"},
			{*c.After == "opens" || *c.After == "both" || *c.After == "allow_all" || schema.OrZero(c.Before) == "disallow_all",
				"opened"},
		} {
			if how.is {
				add(agents, *c.Agent+" "+*c.Profile+" "+how.what, c.Origin)
				add(categories, *c.Category+" "+*c.Profile+" "+how.what, c.Origin)
				add(profiles, *c.Profile+" "+how.what, c.Origin)
			}
		}
	}
	var want Severities
	for _, severity := range worst {
		want.add(change.Severities[severity])
	}
	if want != r.BySeverity || int64(len(worst)) != r.Changed || want.Critical == 0 || want.Cosmetic == 0 {
		t.Errorf("hosts by severity are %+v of %d changed, and the table has %+v of %d", r.BySeverity, r.Changed, want,
			len(worst))
	}
	ofKind, ofAgent, ofCategory, ofProfile := make(map[string]int64), make(map[string]int64), make(map[string]int64),
		make(map[string]int64)
	for _, k := range r.Kinds {
		ofKind[k.Severity+" "+k.Kind] = k.Hosts
	}
	counts := func(into map[string]int64, of string, c change.Counts) {
		for how, n := range map[string]int64{"closed": c.Closed, "opened": c.Opened, "shut out": c.ShutOut,
			"let in": c.LetIn} {
			if n > 0 {
				into[of+" "+how] = n
			}
		}
	}
	for _, a := range r.Agents {
		counts(ofAgent, a.Agent+" "+a.Profile, a.Counts)
	}
	for _, c := range r.Categories {
		counts(ofCategory, c.Category+" "+c.Profile, c.Counts)
	}
	for _, p := range r.Profiles {
		counts(ofProfile, p.Profile, p.Counts)
	}
	for _, row := range []struct {
		what      string
		want, got map[string]int64
	}{{"kinds", size(kinds), ofKind}, {"agents", size(agents), ofAgent}, {"categories", size(categories), ofCategory},
		{"profiles", size(profiles), ofProfile}} {
		if diff := cmp.Diff(row.want, row.got); diff != "" {
			t.Errorf("hosts by %s (-table +summary):\n%s", row.what, diff)
		}
	}
	var strata Severities
	changed := int64(0)
	for _, s := range r.Strata {
		changed += s.Changed
		strata.Critical, strata.Major = strata.Critical+s.Critical, strata.Major+s.Major
		strata.Minor, strata.Cosmetic = strata.Minor+s.Minor, strata.Cosmetic+s.Cosmetic
	}
	if strata != r.BySeverity || changed != r.Changed {
		t.Errorf("bands of rank add up to %+v of %d, and not to %+v of %d", strata, changed, r.BySeverity, r.Changed)
	}
}
