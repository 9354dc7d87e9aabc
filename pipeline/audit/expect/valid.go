package expect

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/summary"
)

// Words of preference beside those of the tables.
const (
	noPreference = "none"     // the file states nothing about the use
	shutOut      = "shut_out" // the agent may fetch nothing, so nothing is stated to it
)

// preferences are the words of preference.
var preferences = append(slices.Clip(change.Stances), noPreference, shutOut)

// check returns what is wrong with an entry, and the key concerned.
func (x *expectation) check() (key string, err error) {
	for _, check := range []func() (string, error){x.checkKeys, x.checkCoverage, x.checkWords, x.checkWhere,
		x.checkHosts, x.checkValues, x.checkScope, x.checkURLs, x.parseAtMost} {
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
		if !slices.Contains([]string{"name", "hosts", "where", "at_most", x.what}, key) &&
			!slices.Contains(expectKeys[x.what].keys, key) {
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
		{"hosts", x.Hosts, nil}, {"agents", x.Agents, nil}, {"profile", x.Profile, nil}, {"urls", x.URLs, nil},
		{"after", x.After, nil}, {servedAlike, x.ServedAlike, nil}, {servedAsWritten, x.ServedAsWritten, nil},
		{"identity", x.Identity, nil}, {"category", x.Category, registry.Categories},
		{"severity", x.Severity, change.Severities}, {"no_change", x.NoChange, append([]string{"all"}, change.Kinds...)},
		{"class", x.Class, change.Classes}, {"preference", x.Preference, preferences}, {"use", x.Use, registry.UseNames},
	} {
		if _, given := x.lines[row.key]; given && len(row.list) == 0 {
			return row.key, fmt.Errorf("%s is empty", row.key)
		}
		for _, word := range row.list {
			switch {
			case word == "":
				return row.key, fmt.Errorf("%s has an empty word; remove it", row.key)
			case row.known != nil && !slices.Contains(row.known, word):
				return row.key, fmt.Errorf("%s %q: use %s", row.key, word, strings.Join(row.known, ", "))
			}
		}
	}
	return "", nil
}

// checkWhere checks the values of labels.
func (x *expectation) checkWhere() (string, error) {
	if _, given := x.lines["where"]; given && len(x.Where) == 0 {
		return "where", errors.New("where is empty: give labels with their values, such as {sector: news}")
	}
	for label, values := range x.Where {
		if label == "" || len(values) == 0 || slices.Contains(values, "") {
			return "where", fmt.Errorf("where: label %q has no value, or an empty one", label)
		}
	}
	return "", nil
}

// checkHosts checks the globs of hosts and converts them to lower case. Hosts in tables
// are in ASCII, without a scheme, port or path.
func (x *expectation) checkHosts() (string, error) {
	x.literals = make(map[string]bool)
	for i, glob := range x.Hosts {
		glob = strings.ToLower(glob)
		x.Hosts[i] = glob
		_, err := path.Match(glob, "")
		switch {
		case err != nil:
			return "hosts", fmt.Errorf("hosts %q: * stands for anything, ? for one character, [a-c] for one of some", glob)
		case strings.ContainsAny(glob, "/ \t"), portAtEnd.MatchString(glob):
			return "hosts", fmt.Errorf("hosts %q: give hosts alone, without a scheme, port or path", glob)
		case strings.ContainsFunc(glob, func(r rune) bool { return r >= 0x80 }):
			return "hosts", fmt.Errorf("hosts %q: hosts in tables are in ASCII: write such a name as xn--…", glob)
		case strings.ContainsAny(glob, `*?[\`):
			if !slices.Contains(x.globs, glob) {
				x.globs = append(x.globs, glob)
			}
		default:
			x.literals[glob] = true
		}
	}
	return "", nil
}

// portAtEnd finds a port after a name; the host of an IPv6 address has several colons.
var portAtEnd = regexp.MustCompile(`^[^:]*:[0-9*]+$`)

// checkURLs checks the URLs whose verdicts are meant.
func (x *expectation) checkURLs() (string, error) {
	if x.what != "verdict" && !slices.Equal(x.kinds, []string{"verdict"}) {
		return "", nil
	}
	for _, url := range x.URLs {
		host := change.HostOf(url)
		switch {
		case change.PathForm.Has(url):
		case host == "":
			return "urls", fmt.Errorf("urls %q: give a path that starts with / or an absolute URL", url)
		case !strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) && !x.matches(host):
			return "urls", fmt.Errorf("urls %q: its host is not among the hosts of this expectation", url)
		}
	}
	return "", nil
}

// checkValues checks the value of what is expected.
func (x *expectation) checkValues() (string, error) {
	switch {
	case x.what == "verdict" && x.Verdict != summary.ValueNames[robots.Permitted] &&
		x.Verdict != summary.ValueNames[robots.Disallowed]:
		return "verdict", fmt.Errorf("verdict %q: use allow or disallow", x.Verdict)
	case x.what == "verdict" && len(x.URLs) == 0:
		return "verdict", errors.New("verdict needs urls: name the samples to check")
	case x.what == "class" && !slices.ContainsFunc(change.Classes,
		func(class string) bool { return !slices.Contains(x.Class, class) }):
		return "class", errors.New("class names every class, so no host differs; leave one out")
	case x.what == "preference" &&
		!slices.ContainsFunc(preferences, func(word string) bool { return !slices.Contains(x.Preference, word) }):
		return "preference", errors.New("preference names all that a file can state, so no host differs; leave one out")
	case x.what == "preference" && len(x.Use) == 0:
		return "preference", fmt.Errorf("preference needs use: give one of %s", strings.Join(registry.UseNames, ", "))
	case x.isOfModel() && x.AtLeastAsStrict+x.AtMostAsStrict == "":
		return x.what, fmt.Errorf("%s is empty; name a robots.txt file", x.what)
	case len(x.served()) > 1 && slices.Contains(x.served(), allIdentities):
		return x.what, fmt.Errorf("%s names all, and some: give one of both", x.what)
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
	if isShare && x.percent == 100 {
		return "at_most", errors.New("at_most 100%: no more can differ, so nothing can break the expectation")
	}
	if isShare && x.what == "no_change" {
		return "at_most", errors.New("at_most of no_change must be a number")
	}
	return "", nil
}
