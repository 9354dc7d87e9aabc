package audit

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/summary"
)

// A changeKind says what rows of one kind of change can hold, and what finding them
// takes. An expectation that no such row can break is refused.
type changeKind struct {
	name   string
	tables []string // both runs need them for all rows to be found
	// reading reports whether the runs also need the same first profile, and policy
	// whether a row needs a policy that is known in both runs.
	reading, policy bool
	shapes          []shape

	// narrowed has the keys by which an expectation of this kind cannot be narrowed, with
	// the reason. Rows of the kind have no such column, or not in all cases. The key after
	// counts only beside urls.
	narrowed map[string]string
	// someAgents reports whether some rows name an agent although others, which are about
	// the agent too, do not.
	someAgents bool
}

// A shape is what rows of one severity hold.
type shape struct {
	severity string
	after    *form // nil for null
	url      *form // nil for any
}

// A form is a text that a column can hold, or a description of such texts.
type form struct {
	text string
	of   func(string) bool // nil if only text itself is meant
}

func (f *form) has(s string) bool { return f.of == nil && f.text == s || f.of != nil && f.of(s) }

func word(s string) *form { return &form{text: s} }

var (
	pathForm = &form{"a path", func(s string) bool { return strings.HasPrefix(s, "/") }}
	urlForm  = &form{"an absolute URL", func(s string) bool { return hostOf(s) != "" }}
	refForm  = &form{"a URL", func(s string) bool {
		_, err := strconv.ParseFloat(s, 64)
		return err != nil && strings.ContainsAny(s, "./") && !strings.ContainsAny(s, " \t") // sitemap.xml too
	}}
	delayForm = &form{"a number as the tables show it, such as 2.5", func(s string) bool {
		v, err := strconv.ParseFloat(s, 64)
		return err == nil && v >= 0 && *number(v) == s
	}}
	digestForm = &form{"a digest, 32 characters of base32", func(s string) bool {
		return len(s) == 32 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
	}}
	originForm = &form{"an origin", func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && u.Host != "" && s == u.Scheme+"://"+u.Host
	}}
	sinceForm = &form{unreachableSince + "2026-11-20T08:00:00Z", func(s string) bool {
		_, err := time.Parse(time.RFC3339, strings.TrimPrefix(s, unreachableSince))
		return err == nil && strings.HasPrefix(s, unreachableSince)
	}}
)

// hostOf returns the host of an absolute URL, "" if it is none.
func hostOf(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

const (
	wholeHost = "they are about the whole host"
	everyPath = "they are about every path"
)

// changeKinds lists the kinds of changes in the order in which a host's rows are
// written.
var changeKinds = []changeKind{
	{name: "policy_class", tables: []string{"policies"}, policy: true, shapes: classShapes(), narrowed: map[string]string{"urls": everyPath}},
	{name: "verdict", tables: []string{"verdicts"}, policy: true, shapes: verdictShapes()},
	{
		name: "rules", tables: []string{"groups", "rules", "agents", "policies"}, reading: true, policy: true,
		shapes: []shape{
			{rulesSeverity(true), word(rulesAfter[robots.Stricter]), nil}, {rulesSeverity(false), word(rulesAfter[robots.Looser]), nil}, {rulesSeverity(true), word(rulesAfter[robots.Mixed]), nil},
		},
		narrowed: map[string]string{"urls": "a row names one of the paths that changed; name samples in an expectation of no_change: verdict"},
	},
	{name: "outcome", reading: true, shapes: outcomeShapes(), narrowed: of(wholeHost)},
	{
		name: "group", tables: []string{"groups"}, reading: true, shapes: shapesOf(minor, append([]string{summary.ClassEmpty}, classWords...)),
		narrowed: map[string]string{"profile": "groups are the same under every profile", "urls": everyPath},
	},
	{
		name: "signal", tables: []string{"signals"}, reading: true, shapes: signalShapes(), someAgents: true,
		narrowed: of("a signal may be one of a group for several agents, or of the whole file"),
	},
	{
		name: "sitemap", tables: []string{"sitemaps"}, reading: true, shapes: []shape{{minor, refForm, refForm}, {minor, nil, refForm}},
		narrowed: map[string]string{"agents": wholeHost, "category": wholeHost, "profile": wholeHost, "after": "it is the URL; give only one of the two"},
	},
	{
		name: "crawl_delay", tables: []string{"groups"}, reading: true, shapes: []shape{{minor, delayForm, nil}, {minor, nil, nil}},
		narrowed: map[string]string{"profile": "groups are the same under every profile", "urls": everyPath},
	},
	{name: "redirect", shapes: redirectShapes(), narrowed: of(wholeHost)},
	{name: "reachability", reading: true, shapes: reachabilityShapes(), narrowed: of(wholeHost)},
	{name: "host_new", shapes: shapesOf(minor, outcomeNames), narrowed: of(wholeHost)},
	{name: "host_gone", shapes: []shape{{minor, nil, nil}}, narrowed: of(wholeHost)},
	{name: "text", reading: true, shapes: []shape{{textSeverity(true), digestForm, nil}, {textSeverity(false), digestForm, nil}}, narrowed: of(wholeHost)},
}

// of returns one reason for all keys.
func of(why string) map[string]string {
	return map[string]string{"agents": why, "category": why, "profile": why, "urls": why}
}

// Kinds holds the values of the column kind, in the order in which a host's rows
// are written.
var Kinds = func() (names []string) {
	for i := range changeKinds {
		names = append(names, changeKinds[i].name)
	}
	return names
}()

var (
	classWords   = summary.ClassNames[:summary.ClassUnknown]
	outcomeNames = []string{string(robots.ConditionalAllow), string(robots.FullAllow), string(robots.FullDisallow), string(robots.OutcomeUndefined)}
)

// shapesOf returns the shapes of changes of one severity.
func shapesOf(severity string, after []string) (out []shape) {
	for _, w := range after {
		out = append(out, shape{severity, word(w), nil})
	}
	return out
}

// eachTwo returns the shapes of changes from one word to another.
func eachTwo(list []string, severity func(before, after string) string) (out []shape) {
	for _, before := range list {
		for _, after := range list {
			if before != after {
				out = append(out, shape{severity(before, after), word(after), nil})
			}
		}
	}
	return out
}

func classShapes() []shape { return eachTwo(classWords, classSeverity) }

// outcomeShapes returns the shapes of changes between answers that show the policy. No
// profile takes such an answer for full_disallow; a host that an outage closes has a
// change of kind reachability.
func outcomeShapes() []shape {
	return eachTwo(slices.DeleteFunc(slices.Clone(outcomeNames), func(name string) bool { return name == string(robots.FullDisallow) }), outcomeSeverity)
}

func verdictShapes() (out []shape) {
	for _, after := range []robots.Value{robots.Allowed, robots.Disallowed} {
		for _, classChanged := range []bool{false, true} {
			for own, url := range map[bool]*form{false: pathForm, true: urlForm} {
				out = append(out, shape{verdictSeverity(after, classChanged, own), word(summary.ValueNames[after]), url})
			}
		}
	}
	return out
}

func signalShapes() (out []shape) {
	for field, severity := range signalSeverities {
		f := &form{field + ": …", func(s string) bool { return strings.HasPrefix(s, field+": ") }}
		out = append(out, shape{severity, f, nil}, shape{severity, nil, nil})
	}
	return out
}

func redirectShapes() []shape {
	return []shape{
		{redirectSeverity("https://a.example/", "https://b.example/"), urlForm, nil}, {redirectSeverity("https://a.example/", "https://a.example/b"), urlForm, nil},
	}
}

// reachabilityShapes returns the shapes of [comparison.reachability]. An outage may
// follow one with another outcome.
func reachabilityShapes() (out []shape) {
	for before, wasDown := range unreachable {
		for after, isDown := range unreachable {
			if wasDown || isDown {
				out = append(out, shape{reachabilitySeverity(before, after), word(after), nil})
			}
		}
	}
	return append(out, shape{minor, originForm, nil}, shape{minor, sinceForm, nil})
}

// kindNamed returns a kind, nil if there is none of this name.
func kindNamed(name string) *changeKind {
	if i := slices.Index(Kinds, name); i >= 0 {
		return &changeKinds[i]
	}
	return nil
}
