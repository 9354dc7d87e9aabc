package change

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/summary"
)

// A Kind says what rows of one kind of change can hold, and what finding them
// takes. An expectation that no such row can break is refused.
type Kind struct {
	Name   string
	Tables []string // both runs need them for all rows to be found
	// reading reports whether the runs also need the same first profile, and policy
	// whether a row needs a policy that is known in both runs.
	Reading, Policy bool
	// Own says that hosts of one template do not share such changes.
	Own bool
	// Beside says that such changes show no difference between files. If the text of a host
	// differs and it has no other changes, it also gets one of kind text.
	Beside bool
	Shapes []Shape

	// narrowed has the keys by which an expectation of this kind cannot be narrowed, with
	// the reason. Rows of the kind have no such column, or not in all cases. The key after
	// counts only beside urls.
	Narrowed map[string]string
	// someAgents reports whether some rows name an agent although others, which are about
	// the agent too, do not.
	SomeAgents bool
}

// A Shape is what rows of one severity hold.
type Shape struct {
	Severity string
	After    *Form // nil for null
	URL      *Form // nil for any
	// Nobody says that such rows name neither an agent nor a profile, although others of the
	// kind do.
	Nobody bool
}

// A Form is a text that a column can hold, or a description of such texts.
type Form struct {
	Text string
	Of   func(string) bool // nil if only text itself is meant
}

func (f *Form) Has(s string) bool { return f.Of == nil && f.Text == s || f.Of != nil && f.Of(s) }

func Word(s string) *Form { return &Form{Text: s} }

var (
	PathForm = &Form{"a path", func(s string) bool { return strings.HasPrefix(s, "/") }}
	urlForm  = &Form{"an absolute URL", func(s string) bool { return HostOf(s) != "" }}
	refForm  = &Form{"a URL", func(s string) bool {
		_, err := strconv.ParseFloat(s, 64)
		return err != nil && strings.ContainsAny(s, "./") && !strings.ContainsAny(s, " \t") // sitemap.xml too
	}}
	delayForm = &Form{"a number as the tables show it, such as 2.5", func(s string) bool {
		v, err := strconv.ParseFloat(s, 64)
		return err == nil && v >= 0 && *Number(v) == s
	}}
	digestForm = &Form{"a digest, 32 characters of base32", func(s string) bool {
		return len(s) == 32 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
	}}
	originForm = &Form{"an origin", func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && u.Host != "" && s == u.Scheme+"://"+u.Host
	}}
	coverageForm = &Form{"pages of a sample, such as 196/200", func(s string) bool {
		_, _, ok := ParseCoverage(s)
		return ok
	}}
	sinceForm = &Form{UnreachableSince + "2026-11-20T08:00:00Z", func(s string) bool {
		_, err := time.Parse(time.RFC3339, strings.TrimPrefix(s, UnreachableSince))
		return err == nil && strings.HasPrefix(s, UnreachableSince)
	}}
)

// HostOf returns the host of an absolute URL, "" if it is none.
func HostOf(s string) string {
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

// All lists the kinds of changes in the order in which a host's rows are
// written.
var All = []Kind{
	{Name: "policy_class", Tables: []string{"policies"}, Policy: true, Shapes: classShapes(),
		Narrowed: map[string]string{"urls": everyPath}},
	{Name: "verdict", Tables: []string{"verdicts"}, Policy: true, Shapes: verdictShapes()},
	{
		Name: "rules", Tables: []string{"groups", "rules", "agents", "policies"}, Reading: true, Policy: true,
		Shapes: []Shape{
			{Severity: RulesSeverity(true), After: Word(RulesAfter[robots.Stricter])},
			{Severity: RulesSeverity(false), After: Word(RulesAfter[robots.Looser])},
			{Severity: RulesSeverity(true), After: Word(RulesAfter[robots.Mixed])},
		},
		Narrowed: map[string]string{"urls": "a row names one of the paths that changed; name samples in an expectation " +
			"of no_change: verdict"},
	},
	{
		Name: "preference", Tables: []string{"policies", "preferences", "groups"}, Reading: true, Policy: true,
		Shapes:   preferenceShapes(),
		Narrowed: map[string]string{"urls": everyPath},
	},
	{Name: "outcome", Reading: true, Shapes: outcomeShapes(), Narrowed: of(wholeHost)},
	{
		Name: "group", Tables: []string{"groups"}, Reading: true,
		Shapes:   shapesOf(Minor, append([]string{summary.ClassEmpty}, Classes...)),
		Narrowed: map[string]string{"profile": "groups are the same under every profile", "urls": everyPath},
	},
	{
		Name: "signal", Tables: []string{"signals"}, Reading: true, Shapes: signalShapes(), SomeAgents: true,
		Narrowed: of("a signal may be one of a group for several agents, or of the whole file"),
	},
	{
		Name: "sitemap", Own: true, Tables: []string{"sitemaps"}, Reading: true,
		Shapes: []Shape{{Severity: Minor, After: refForm, URL: refForm}, {Severity: Minor, URL: refForm}},
		Narrowed: map[string]string{"agents": wholeHost, "category": wholeHost, "profile": wholeHost,
			"after": "it is the URL; give only one of the two"},
	},
	{
		Name: "crawl_delay", Tables: []string{"groups"}, Reading: true,
		Shapes:   []Shape{{Severity: Minor, After: delayForm}, {Severity: Minor}},
		Narrowed: map[string]string{"profile": "groups are the same under every profile", "urls": everyPath},
	},
	{Name: "redirect", Own: true, Shapes: redirectShapes(), Narrowed: of(wholeHost)},
	{
		Name: "answer", Beside: true, Tables: []string{"answers"}, Reading: true, Shapes: answerShapes(),
		Narrowed: map[string]string{"profile": "answers are compared under the first profile alone", "urls": everyPath},
	},
	{
		Name: "page", Beside: true, Tables: []string{"answers"}, Reading: true, Shapes: pageShapes(),
		Narrowed: map[string]string{"profile": "what identities meet does not depend on a profile",
			"urls": "a run asks for one page"},
	},
	{Name: "document", Beside: true, Tables: []string{"documents"}, Reading: true, Shapes: documentShapes(),
		Narrowed: of(wholeHost)},
	{
		Name: "coverage", Own: true, Beside: true, Tables: []string{"coverage"}, Reading: true, Policy: true,
		Shapes:   []Shape{{Severity: Major, After: coverageForm}, {Severity: Minor, After: coverageForm}},
		Narrowed: map[string]string{"urls": "a row is about all pages that a host lists"},
	},
	{Name: "reachability", Own: true, Beside: true, Reading: true, Shapes: reachabilityShapes(), Narrowed: of(wholeHost)},
	{Name: "host_new", Own: true, Shapes: shapesOf(Minor, outcomeNames), Narrowed: of(wholeHost)},
	{Name: "host_gone", Own: true, Shapes: []Shape{{Severity: Minor}}, Narrowed: of(wholeHost)},
	{Name: "text", Own: true, Reading: true, Shapes: []Shape{{Severity: TextSeverity(true), After: digestForm},
		{Severity: TextSeverity(false), After: digestForm}}, Narrowed: of(wholeHost)},
}

// CannotNarrow returns why changes of the kind cannot be narrowed by a key, "" if they can.
func (k *Kind) CannotNarrow(key string) string {
	switch {
	case key == "use" && k.Name != "preference":
		return "they are about no use"
	case key == "identity" && !k.OfIdentities():
		return "they are about no identity"
	}
	return k.Narrowed[key]
}

// OfIdentities reports whether changes of the kind are about identities.
func (k *Kind) OfIdentities() bool { return k.Name == "answer" || k.Name == "page" }

// of returns one reason for all keys.
func of(why string) map[string]string {
	return map[string]string{"agents": why, "category": why, "profile": why, "urls": why}
}

// Kinds holds the values of the column kind, in the order in which a host's rows
// are written.
var Kinds = kindsWith(func(*Kind) bool { return true })

// OwnKinds lists the kinds that hosts of one template do not share.
var OwnKinds = kindsWith(func(k *Kind) bool { return k.Own })

// BesideKinds lists the kinds that show no difference between files.
var BesideKinds = kindsWith(func(k *Kind) bool { return k.Beside })

// ReadingKinds lists the kinds that need the same first profile in both runs.
var ReadingKinds = kindsWith(func(k *Kind) bool { return k.Reading })

// kindsWith returns the names of the kinds for which is holds, in their order.
func kindsWith(is func(*Kind) bool) (names []string) {
	for i := range All {
		if is(&All[i]) {
			names = append(names, All[i].Name)
		}
	}
	return names
}

var (
	Classes      = summary.ClassNames[:summary.ClassUnknown]
	Stances      = []string{robots.StanceAllow.String(), robots.StanceDisallow.String(), robots.StancePartial.String()}
	outcomeNames = []string{string(answer.ConditionalAllow), string(answer.FullAllow), string(answer.FullDisallow),
		string(answer.Undefined)}
)

// shapesOf returns the shapes of changes of one severity.
func shapesOf(severity string, after []string) (out []Shape) {
	for _, w := range after {
		out = append(out, Shape{Severity: severity, After: Word(w)})
	}
	return out
}

// eachTwo returns the shapes of changes from one word to another.
func eachTwo(list []string, severity func(before, after string) string) (out []Shape) {
	for _, before := range list {
		for _, after := range list {
			if before != after {
				out = append(out, Shape{Severity: severity(before, after), After: Word(after)})
			}
		}
	}
	return out
}

func classShapes() []Shape { return eachTwo(Classes, ClassSeverity) }

// outcomeShapes returns the shapes of changes between answers that show the policy. No
// profile takes such an answer for full_disallow; a host that an outage closes has a
// change of kind reachability.
func outcomeShapes() []Shape {
	return eachTwo(slices.DeleteFunc(slices.Clone(outcomeNames),
		func(name string) bool { return name == string(answer.FullDisallow) }), OutcomeSeverity)
}

// preferenceShapes returns the shapes of changes of what is stated about a use; one that
// ends a statement has no value after it. Documents alone name a price.
func preferenceShapes() (out []Shape) {
	for _, before := range append(slices.Clip(Stances), "") {
		for _, after := range append(slices.Clip(Stances), "") {
			s := Shape{Severity: PreferenceSeverity(before, after)}
			if after != "" {
				s.After = Word(after)
			}
			if before != after {
				out = append(out, s)
			}
		}
	}
	return append(out, Shape{Severity: PreferenceSeverity("", priced), After: Word(priced), Nobody: true})
}

func verdictShapes() (out []Shape) {
	for _, after := range []robots.Value{robots.Permitted, robots.Disallowed} {
		for _, classChanged := range []bool{false, true} {
			for own, url := range map[bool]*Form{false: PathForm, true: urlForm} {
				out = append(out, Shape{Severity: VerdictSeverity(after, classChanged, own),
					After: Word(summary.ValueNames[after]), URL: url})
			}
		}
	}
	return out
}

func signalShapes() (out []Shape) {
	for field, severity := range signalSeverities {
		f := &Form{field + ": …", func(s string) bool { return strings.HasPrefix(s, field+": ") }}
		out = append(out, Shape{Severity: severity, After: f}, Shape{Severity: severity})
	}
	return out
}

func redirectShapes() []Shape {
	return []Shape{
		{Severity: RedirectSeverity("https://a.example/", "https://b.example/"), After: urlForm},
		{Severity: RedirectSeverity("https://a.example/", "https://a.example/b"), After: urlForm},
	}
}

// reachabilityShapes returns the shapes of [comparison.reachability]. An outage may
// follow one with another outcome.
func reachabilityShapes() (out []Shape) {
	reasons := append(slices.Clone(answer.Reasons), answer.Challenged)
	for _, reason := range reasons {
		for _, later := range reasons {
			if before, after := string(reason), string(later); Unreachable(before) || Unreachable(after) {
				out = append(out, Shape{Severity: ReachabilitySeverity(before, after), After: Word(after)})
			}
		}
	}
	return append(out, Shape{Severity: Minor, After: originForm}, Shape{Severity: Minor, After: sinceForm})
}

// Named returns a kind, nil if there is none of this name.
func Named(name string) *Kind {
	if i := slices.Index(Kinds, name); i >= 0 {
		return &All[i]
	}
	return nil
}
