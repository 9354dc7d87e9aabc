package audit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/summary"
)

// check returns what is wrong with an entry, and the key concerned.
func (x *expectation) check() (key string, err error) {
	for _, check := range []func() (string, error){x.checkKeys, x.checkWords, x.checkHosts, x.checkValues, x.parseAtMost} {
		if key, err := check(); err != nil {
			return key, err
		}
	}
	return "", nil
}

// checkKeys checks that the entry has the keys it needs, and no others.
func (x *expectation) checkKeys() (string, error) {
	switch {
	case x.Name == "":
		return "", errors.New("the expectation has no name; give it one")
	case x.what == "":
		return "", fmt.Errorf("expectation %q expects nothing: give %s", x.Name, expectable)
	}
	for key := range x.lines {
		if !slices.Contains([]string{"name", "hosts", "at_most", x.what}, key) && !slices.Contains(expectKeys[x.what], key) {
			return key, fmt.Errorf("%s does not apply to %s; remove it", key, x.what)
		}
	}
	return "", nil
}

// checkWords checks the lists of words.
func (x *expectation) checkWords() (string, error) {
	for _, row := range []struct {
		key   string
		list  words
		known []string // nil for any
	}{
		{"hosts", x.Hosts, nil}, {"agents", x.Agents, nil}, {"profile", x.Profile, nil}, {"urls", x.URLs, nil}, {"after", x.After, x.afterWords()},
		{"category", x.Category, evaluate.Categories}, {"severity", x.Severity, Severities}, {"no_change", x.NoChange, append([]string{"all"}, Kinds...)},
		{"class", x.Class, summary.ClassNames[:summary.ClassUnknown]},
	} {
		if _, given := x.lines[row.key]; given && len(row.list) == 0 {
			return row.key, fmt.Errorf("%s is empty", row.key)
		}
		for _, word := range row.list {
			switch {
			case row.known == nil || slices.Contains(row.known, word):
			case len(row.known) == 0:
				return row.key, fmt.Errorf("%s %q: these changes have no such value", row.key, word)
			default:
				return row.key, fmt.Errorf("%s %q: use %s", row.key, word, strings.Join(row.known, ", "))
			}
		}
	}
	return "", nil
}

// checkHosts checks the globs of hosts and converts them to lower case.
func (x *expectation) checkHosts() (string, error) {
	for i, glob := range x.Hosts {
		x.Hosts[i] = strings.ToLower(glob)
		if _, err := path.Match(glob, ""); err != nil {
			return "hosts", fmt.Errorf("hosts %q: * stands for anything, ? for one character, [a-c] for one of some", glob)
		}
	}
	return "", nil
}

// checkValues checks the value of what is expected.
func (x *expectation) checkValues() (string, error) {
	switch {
	case x.what == "verdict" && x.Verdict != summary.ValueNames[robots.Allowed] && x.Verdict != summary.ValueNames[robots.Disallowed]:
		return "verdict", fmt.Errorf("verdict %q: use allow or disallow", x.Verdict)
	case x.what == "verdict" && len(x.URLs) == 0:
		return "verdict", errors.New("verdict needs urls: name the samples to check")
	case x.isOfModel() && x.AtLeastAsStrict+x.AtMostAsStrict == "":
		return x.what, fmt.Errorf("%s is empty; name a robots.txt file", x.what)
	case x.what == "reachable" && !x.Reachable:
		return "reachable", errors.New("reachable can only be true")
	}
	return "", nil
}

// parseAtMost sets count or percent.
func (x *expectation) parseAtMost() (key string, err error) {
	if _, given := x.lines["at_most"]; !given {
		return "", nil
	}
	share, isShare := strings.CutSuffix(x.AtMost, "%")
	if isShare {
		x.percent, err = strconv.ParseFloat(strings.TrimSpace(share), 64)
	} else {
		x.count, err = strconv.ParseInt(x.AtMost, 10, 64)
	}
	if err != nil || x.count < 0 || isShare && !(x.percent >= 0 && x.percent <= 100) {
		return "at_most", fmt.Errorf("at_most %q: use a number, or a share such as 1%%", x.AtMost)
	}
	if isShare && x.what == "no_change" {
		return "at_most", errors.New("at_most of no_change must be a number")
	}
	return "", nil
}

// afterKinds lists the values that the column after can have, for kinds where these
// are known. A word that no change has would make a promise that nothing breaks.
var afterKinds = map[string][]string{
	"policy_class": summary.ClassNames[:summary.ClassUnknown],
	"group":        append([]string{summary.ClassEmpty}, summary.ClassNames[:summary.ClassUnknown]...),
	"verdict":      {summary.ValueNames[robots.Allowed], summary.ValueNames[robots.Disallowed]},
	"outcome":      outcomeNames,
	"host_new":     outcomeNames,
	"host_gone":    {},
	"rules":        {"closes", "opens", "both"},
}

var outcomeNames = []string{string(robots.ConditionalAllow), string(robots.FullAllow), string(robots.FullDisallow), string(robots.OutcomeUndefined)}

// afterWords returns the values of after for the kinds of the expectation, nil for
// any.
func (x *expectation) afterWords() []string {
	out := []string{}
	for _, kind := range x.NoChange {
		known, ok := afterKinds[kind]
		if !ok {
			return nil
		}
		out = append(out, known...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
