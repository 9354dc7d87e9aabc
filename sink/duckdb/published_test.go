package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// The readings of robots.txt of two studies, reimplemented from their code and from
// none of ours: the views named_classes and classifications must give the same
// classes. A mended reading differs in one point: an agent line after a rule begins
// a new list.

// ruleSet is what a study keeps of one agent: its rules by field.
type ruleSet map[string][]string

// From robotstxt_statistics.py of Common Crawl's robotstxt-experiments.
var (
	ccDirective = regexp.MustCompile(
		`^(?i)[\s\v]*(user-agent|disallow|allow|crawl-delay|sitemap|clean-param|host|noindex)[\s\v]*:[\s\v]*([^\r#]*)`)
	ccHTML  = regexp.MustCompile(`^(?i)(?:<html|<!DOCTYPE html)\b`)
	ccSpace = regexp.MustCompile(`[\s\p{Z}]+`)
)

// ccSets returns each agent's rules, by its name as written.
func ccSets(body []byte, mended bool) map[string]ruleSet {
	sets := map[string]ruleSet{}
	active := map[string]bool{}
	inBlock := false
	for i, line := range bytes.SplitAfter(body, []byte("\n")) {
		if i == 0 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			if ccHTML.Match(line) {
				return nil
			}
		}
		m := ccDirective.FindSubmatch(line)
		if m == nil {
			continue
		}
		directive := strings.ToLower(string(m[1]))
		value := strings.ToValidUTF8(string(bytes.Trim(m[2], " \t\n\r\v\f")), "\ufffd")
		value = ccSpace.ReplaceAllString(value, " ")
		switch directive {
		case "user-agent":
			if inBlock {
				clear(active)
				if mended {
					inBlock = false
				}
			}
			active[value] = true
		case "allow", "disallow":
			inBlock = true
			for agent := range active {
				if sets[agent] == nil {
					sets[agent] = ruleSet{}
				}
				sets[agent][directive] = append(sets[agent][directive], value)
			}
		}
	}
	return sets
}

// ccClass reimplements classify_robotstxt_rules of metrics-top-k-sample.ipynb.
func ccClass(rules ruleSet) string {
	is := func(field, value string) bool {
		return len(rules) == 1 && slices.Equal(rules[field], []string{value})
	}
	switch {
	case is("disallow", "/"):
		return "disallow-all"
	case is("allow", "/"), is("allow", "*"), is("allow", "/*"), is("allow", ""), is("disallow", ""):
		return "allow-all"
	}
	return "allow-part"
}

// ccOf returns the class of an agent: that of its own rules, the most closed if
// spellings differ, else that of *.
func ccOf(sets map[string]ruleSet, agent string) string {
	found := "NULL"
	for name, rules := range sets {
		// NULL sorts first, then the classes from open to closed.
		if class := ccClass(rules); strings.EqualFold(name, agent) && class > found {
			found = class
		}
	}
	if star := sets["*"]; found == "NULL" && star != nil {
		return ccClass(star)
	}
	return found
}

// longpreSets reimplements parse_robots_txt of parse_robots.py of the Data
// Provenance Collection: each agent's rules, by the spelling that comes first.
func longpreSets(body []byte, mended bool) map[string]ruleSet {
	sets := map[string]ruleSet{}
	spelling := map[string]string{}
	var current []string
	seen := false
	for _, line := range pythonLines(strings.ToValidUTF8(string(body), "\ufffd")) {
		line, _, _ = strings.Cut(line, "#")
		line = pythonStrip(line)
		lower := strings.ToLower(line)
		value := ""
		if _, after, ok := strings.Cut(line, ":"); ok {
			value = pythonStrip(after)
		}
		switch {
		case strings.HasPrefix(lower, "user-agent:"):
			agent := strings.ToLower(value)
			if spelling[agent] == "" {
				spelling[agent] = value
				if sets[value] == nil {
					sets[value] = ruleSet{}
				}
			}
			if seen {
				current = []string{agent}
				if mended {
					seen = false
				}
			} else {
				current = append(current, agent)
			}
		case strings.HasPrefix(lower, "allow:"), strings.HasPrefix(lower, "disallow:"):
			seen = true
			field, _, _ := strings.Cut(lower, ":")
			for _, agent := range current {
				set := sets[spelling[agent]]
				set[field] = append(set[field], value)
			}
		case strings.HasPrefix(lower, "crawl-delay:"), strings.HasPrefix(lower, "sitemap:"):
			seen = true
		}
	}
	return sets
}

// longpreClass reimplements interpret_agent.
func longpreClass(rules ruleSet) string {
	asked := func(value string) bool { return strings.Contains(value, "?") }
	disallow := slices.DeleteFunc(slices.Clone(rules["disallow"]), asked)
	allow := slices.DeleteFunc(slices.Clone(rules["allow"]), asked)
	switch {
	case len(disallow) == 0, slices.Equal(disallow, []string{""}), slices.Equal(allow, disallow):
		return "none"
	case len(allow) == 0 && slices.ContainsFunc(disallow, func(v string) bool { return pythonStrip(v) == "/" }):
		return "all"
	}
	return "some"
}

// longpreOf looks an agent up as compute_url_date_agent_status does.
func longpreOf(sets map[string]ruleSet, agent string) string {
	for _, name := range []string{agent, "*"} {
		if rules, ok := sets[name]; ok {
			return longpreClass(rules)
		}
	}
	return "none"
}

// pythonLines reimplements str.splitlines.
func pythonLines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r)
	})
}

// pythonStrip reimplements str.strip.
func pythonStrip(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f })
}
