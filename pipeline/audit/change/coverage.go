package change

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink/summary"
)

const (
	// leastCoverage is the change of the share of pages that has a row, and mostCoverage the
	// one that is major where the share falls.
	leastCoverage = 0.01
	majorCoverage = 0.1
	// coverageLevel is that of the interval that tells a change from chance. Few hosts change
	// their list between two runs so much that chance has a part, but there are many hosts.
	coverageLevel = 0.01
)

// Coverage returns how much of what a host lists an agent may fetch, as the columns before and
// after of kind coverage have it: pages that it may fetch, of those of the sample.
func Coverage(p summary.Pages) string { return fmt.Sprintf("%d/%d", p.Allowed, p.Sampled) }

// ParseCoverage reads what Coverage writes.
func ParseCoverage(text string) (allowed, sampled int64, ok bool) {
	a, b, _ := strings.Cut(text, "/")
	allowed, err := strconv.ParseInt(a, 10, 32)
	sampled, errSampled := strconv.ParseInt(b, 10, 32)
	ok = err == nil && errSampled == nil && allowed >= 0 && allowed <= sampled && sampled > 0
	return allowed, sampled, ok && text == fmt.Sprintf("%d/%d", allowed, sampled)
}

// CoverageChanged reports whether a host lets an agent fetch another share of what it lists: by
// a percentage point or more, and by more than chance if each sample was drawn by itself.
func CoverageChanged(before, after summary.Pages) bool {
	d := fall(before.Allowed, before.Sampled, after.Allowed, after.Sampled)
	if max(d, -d) < leastCoverage-1e-9 {
		return false
	}
	low, high := summary.PagesDiffer(before, after, coverageLevel)
	return low > 0 || high < 0
}

// fall is how much a share falls.
func fall(n, of, later, ofLater int64) float64 {
	return float64(n)/float64(of) - float64(later)/float64(ofLater)
}

// CoverageSeverity rates the change of how much of what a host lists an agent may fetch.
func CoverageSeverity(before, after string) string {
	a, ofA, _ := ParseCoverage(before)
	b, ofB, _ := ParseCoverage(after)
	if fall(a, max(ofA, 1), b, max(ofB, 1)) >= majorCoverage-1e-9 {
		return Major
	}
	return Minor
}
