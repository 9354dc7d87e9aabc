package export

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/schema"
)

// TestPolicyChangesOfAHost adds up the rows of one agent in changes, which come by kind.
func TestPolicyChangesOfAHost(t *testing.T) {
	row := schema.Change{Agent: new("a"), Category: new("c"), Profile: new("p")}
	rules := func(after string) schema.Change {
		of := row
		of.Kind, of.After = "rules", &after
		return of
	}
	class := func(before, after string) schema.Change {
		of := row
		of.Kind, of.Before, of.After, of.Template = "policy_class", &before, &after, new("cms")
		return of
	}
	for _, c := range []struct {
		name    string
		changes []schema.Change
		want    policyChange
	}{
		{"closes", []schema.Change{rules("closes")}, policyChange{Closed: true}},
		{"opens", []schema.Change{rules("opens")}, policyChange{Opened: true}},
		{"both", []schema.Change{rules("both")}, policyChange{Closed: true, Opened: true}},
		{"undecided", []schema.Change{rules("undecided")}, policyChange{Undecided: true}},
		{"from all to none", []schema.Change{class("allow_all", "disallow_all"), rules("closes")},
			policyChange{Closed: true, ShutOut: true, Template: new("cms")}},
		{"from none to all", []schema.Change{class("disallow_all", "allow_all"), rules("opens")},
			policyChange{Opened: true, LetIn: true, Template: new("cms")}},
		{"from some to none", []schema.Change{class("partial", "disallow_all"), rules("undecided")},
			policyChange{Closed: true, ShutOut: true, Template: new("cms")}},
		{"from all to some", []schema.Change{class("allow_all", "partial")}, policyChange{Closed: true,
			Template: new("cms")}},
		{"from none to some", []schema.Change{class("disallow_all", "partial")},
			policyChange{Opened: true, LetIn: true, Template: new("cms")}},
	} {
		got := policyChange{Undecided: true}
		for i := range c.changes {
			got.add(&c.changes[i])
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	for _, c := range []schema.Change{
		{Kind: "verdict", Agent: new("a"), Category: new("c")}, {Kind: "rules", Agent: new("other")},
		{Kind: "rules", Category: new("c")},
	} {
		if _, _, ok := policyKeyOf(&c); ok {
			t.Errorf("%+v is a policy", c)
		}
	}
}
