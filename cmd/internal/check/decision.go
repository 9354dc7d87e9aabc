package check

import (
	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// A Decision is a verdict and what decides it, as JSON has them.
type Decision struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Line    int32  `json:"line"` // 0 if no rule decides
	Pattern string `json:"pattern"`
}

// DecisionOf returns the decision of a verdict on a URL of a file.
func DecisionOf(f *robots.File, v robots.Verdict) Decision {
	d := Decision{Verdict: v.Value.String(), Reason: v.Reason.String()}
	if v.Rule >= 0 {
		d.Line, d.Pattern = f.Rules[v.Rule].Line, schema.Text(f.Rules[v.Rule].Pattern)
	}
	return d
}

// verdicts are what the verdicts of a command come to.
type verdicts struct{ disallowed, undefined bool }

func (v *verdicts) add(value robots.Value) {
	v.disallowed = v.disallowed || value == robots.Disallowed
	v.undefined = v.undefined || value == robots.Undefined
}

func (v *verdicts) join(other verdicts) {
	v.disallowed = v.disallowed || other.disallowed
	v.undefined = v.undefined || other.undefined
}

// code returns the exit code, nil if everything is allowed.
func (v *verdicts) code() error {
	switch {
	case v.disallowed:
		return cli.ExitDisallowed
	case v.undefined:
		return cli.ExitUndefined
	}
	return nil
}
