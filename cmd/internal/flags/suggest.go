package flags

import (
	"fmt"
	"strings"
)

// nearest returns the name that is most similar to name, "" for none. It allows one
// slip, two from eight letters on and so forth, and at most a third of the letters.
// Case does not matter.
func nearest(name string, names []string) string {
	if len(name) > 100 {
		return ""
	}
	most := min(1+len(name)/8, len(name)/3)
	best, least := "", most+1
	for _, other := range names {
		if d := slips(strings.ToLower(name), strings.ToLower(other)); d < least {
			best, least = other, d
		}
	}
	return best
}

// Suggest returns " (did you mean …?)" with the name that nearest finds, "" for
// none.
func Suggest(name string, names []string) string {
	if other := nearest(name, names); other != "" {
		return fmt.Sprintf(" (did you mean %s?)", other)
	}
	return ""
}

// slips counts the insertions, deletions, substitutions and swaps of neighbours
// that turn a into b.
func slips(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now := make([]int, len(b)+1)
		now[0] = i
		for j := 1; j <= len(b); j++ {
			other := 0
			if a[i-1] != b[j-1] {
				other = 1
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+other)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last = last, now
	}
	return last[len(b)]
}
