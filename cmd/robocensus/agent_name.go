package main

import (
	"regexp"
	"strings"

	"github.com/robocensus/robocensus/sink"
)

// namesOf returns the names that a user may give for an agent: its name and its own
// tokens.
func namesOf(a sink.Agent) []string { return append([]string{a.Name}, a.Tokens...) }

var (
	product    = regexp.MustCompile(`[A-Za-z0-9._-]+`)
	compatible = regexp.MustCompile(`compatible; *([A-Za-z][A-Za-z0-9._-]*)`)
)

// tokenWithin returns the product token in a User-Agent header: one of the
// registry, otherwise the name after "compatible;", otherwise the first word.
func tokenWithin(userAgent string, agents []sink.Agent) string {
	words := product.FindAllString(userAgent, -1)
	for _, word := range words {
		for _, a := range agents {
			for _, name := range namesOf(a) {
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
