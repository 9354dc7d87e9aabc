package main

import (
	"regexp"
	"strings"

	"github.com/robocensus/robocensus/pipeline"
)

// names are what an agent may be asked for by: its name and its own tokens.
func names(a pipeline.Agent) []string { return append([]string{a.Name}, a.Tokens...) }

var (
	product    = regexp.MustCompile(`[A-Za-z0-9._-]+`)
	compatible = regexp.MustCompile(`compatible; *([A-Za-z][A-Za-z0-9._-]*)`)
)

// tokenWithin is the product token in what a crawler sends as its User-Agent:
// one of the registry, else the name that follows "compatible;", else the first
// word.
func tokenWithin(userAgent string, agents []pipeline.Agent) string {
	words := product.FindAllString(userAgent, -1)
	for _, word := range words {
		for _, a := range agents {
			for _, name := range names(a) {
				if strings.EqualFold(word, name) {
					return name
				}
			}
		}
	}
	if found := compatible.FindStringSubmatch(userAgent); found != nil {
		return found[1]
	}
	if len(words) > 0 {
		return words[0]
	}
	return ""
}

// nearest is the name in the registry that another is a slip of the pen away
// from, "" for none.
func nearest(name string, agents []pipeline.Agent) string {
	if len(name) > 100 {
		return ""
	}
	best, least := "", 1+len(name)/8 // slips at most: one, two from eight letters on
	for _, a := range agents {
		for _, other := range names(a) {
			if d := slips(strings.ToLower(name), strings.ToLower(other)); d < least || d == least && best == "" {
				best, least = other, d
			}
		}
	}
	return best
}

// slips counts the insertions, deletions, substitutions and swaps of neighbours
// that make b of a.
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
