package counters

import (
	"strings"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/summary"
)

// Decided returns the hosts of all strata whose rules decide under a profile.
func (s Sums) Decided(profile string) *summary.Decided {
	return s.decided(profile, func(string) bool { return true })
}

// DecidedIn is Decided of a stratum.
func (s Sums) DecidedIn(profile, stratum string) *summary.Decided {
	return s.decided(profile, func(of string) bool { return of == stratum })
}

func (s Sums) decided(profile string, in func(stratum string) bool) *summary.Decided {
	d := new(summary.Decided)
	for _, metric := range summary.DecidedMetrics {
		for l, n := range s[metric] {
			if l.Profile == profile && in(l.Stratum) {
				d.Add(metric, l.Key, n)
			}
		}
	}
	return d
}

// Pages returns the hosts of all strata that answered with a page of HTML in place of a
// robots.txt, which counts as one. Those with a redirect inside count under their own reason
// where the profile has one, and so do errors.
func (s Sums) Pages(profile string) int64 {
	reasons := s.Decided(profile).Reasons()
	pages := s.By("body", profile, Key)["html"] - s.By("error_body", profile, Key)["html"] -
		reasons[string(answer.HTMLRedirect)]
	return min(reasons[string(answer.Success)], max(0, pages))
}

// WithRules returns the SQL of [summary.Decided.Rules], over counters for which the
// condition holds, of all if it is "".
func WithRules(condition string) string {
	sum := func(chosen ...string) string {
		if condition != "" {
			chosen = append(chosen, condition)
		}
		return "coalesce(sum(count) FILTER (" + strings.Join(chosen, " AND ") + "), 0)"
	}
	walls := sum("metric = 'challenge_outcome'", "key = 'conditional_allow'") +
		"\n    ELSE " + sum("metric = 'challenge'", "ends_with(key, ' success')")
	return "(" + sum("metric = 'outcome'", "key = 'conditional_allow'") +
		"\n    - CASE WHEN " + sum("metric = 'challenge_outcome'") + " > 0 THEN " + walls + " END)"
}
