package usage

import (
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"

	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// Statements about use in the header of a page, of which each has its own grammar:
//
//	Content-Usage    a dictionary as in robots.txt, without a path (draft-ietf-aipref-attach);
//	                 several lines are one dictionary (RFC 9651, 4.2)
//	X-Robots-Tag     rules between commas; a name before a rule says for whom it and those
//	                 that follow are (Google's "Robots meta tag, data-nosnippet, and
//	                 X-Robots-Tag specifications")
//	TDM-Reservation  1 or 0: rights of text and data mining are reserved, or not, which
//	                 states nothing (W3C community group report TDMRep)
//	TDM-Policy       the URL of a policy beside it
//	Content-Signal   as in robots.txt; no text defines it as a header
//	Robots-Tag       a list of Structured Fields: names of agents, with rules as parameters
//	                 (draft-illyes-repext)

// PageHeaders are the headers, in lower case, in which a page says what its content may be
// used for.
var PageHeaders = []string{"content-usage", "x-robots-tag", "tdm-reservation", "tdm-policy", "content-signal",
	"robots-tag"}

// A HeaderField is a line of the header of a page.
type HeaderField struct {
	Name  string  `json:"name"`                   // in lower case
	Value *string `json:"value,omitempty" raw:""` // nil for one that is too long to be read
}

// A PageStatement is a statement in the header of a page.
type PageStatement struct {
	Header string // its name, in lower case
	Agent  string // for whom, in lower case: * for all, else the name before the rule
	Statement
}

// OfPage returns the statements in the header of a page, in the order of PageHeaders and
// of the lines; other headers state nothing. A line that states nothing has one, with a
// remark.
func (v Vocabulary) OfPage(header []HeaderField) (all []PageStatement) {
	for _, name := range PageHeaders {
		var values []string
		for _, f := range header {
			switch {
			case f.Name != name:
			case f.Value == nil:
				all = append(all, PageStatement{name, "*", Statement{Use: NoUse, Remark: RemarkTooLong}})
			default:
				values = append(values, *f.Value)
			}
		}
		if (name == "content-usage" || name == "robots-tag") && values != nil {
			values = []string{strings.Join(values, ", ")}
		}
		for _, value := range values {
			all = append(all, named(name, value, v.ofPage(name, value))...)
		}
	}
	return weaken(all)
}

// named completes the statements of a line, or makes the one of a line that states nothing.
func named(name, value string, said []PageStatement) []PageStatement {
	if said == nil {
		said = []PageStatement{{Statement: Statement{Use: NoUse, Value: value, Remark: RemarkNoStatement}}}
	}
	for i := range said {
		if said[i].Header = name; said[i].Agent == "" {
			said[i].Agent = "*"
		}
	}
	return said
}

// ofPage returns the statements of a line.
func (v Vocabulary) ofPage(name, value string) (all []PageStatement) {
	switch name {
	case "content-usage":
		for _, s := range v.dictionary(value, value) {
			all = append(all, PageStatement{Statement: s})
		}
	case "x-robots-tag":
		return v.robotsTag("*", value, true)
	case "robots-tag":
		return v.robotsTagList(value)
	case "content-signal":
		for _, s := range v.signals(&Line{Mechanism: ContentSignal, Value: []byte(value)}) {
			all = append(all, PageStatement{Statement: s})
		}
	case "tdm-reservation":
		s := Statement{Label: name, Value: value}
		known := v.setUse(&s, PageHeader)
		if s.setPreference(known, false, value == "1"); value == "0" && s.Remark == RemarkUnknownValue {
			s.Remark = "" // rights are not reserved, which permits nothing
		}
		all = append(all, PageStatement{Statement: s})
	case "tdm-policy":
		s := Statement{Label: name, Use: NoUse, Value: value}
		if !ascii.IsAbsolute([]byte(value)) {
			s.Remark = RemarkNotURL
		}
		all = append(all, PageStatement{Statement: s})
	}
	return all
}

// valued are the rules of X-Robots-Tag that have a value behind a colon: any other name
// before a colon is that of a crawler.
var valued = []string{"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}

// robotsTag returns the rules of a line of X-Robots-Tag, or of a meta element, where no
// names of crawlers stand before rules. A rule whose label stands for a use refuses it;
// others say nothing about use.
func (v Vocabulary) robotsTag(agent, value string, hasNames bool) (all []PageStatement) {
	for item := range strings.SplitSeq(value, ",") {
		item = strings.Trim(item, " \t\r\n")
		if last := len(all) - 1; last >= 0 && all[last].Label == valued[0] && startsWithDigit(item) {
			all[last].Value += ", " + item // a date with a comma behind the day of the week
			continue
		}
		name, rest, found := strings.Cut(item, ":")
		if name = lower(strings.Trim(name, " \t")); hasNames && found && isAgentName(name) &&
			!slices.Contains(valued, name) {
			agent, item = name, strings.Trim(rest, " \t")
			name, rest, found = strings.Cut(item, ":")
			name = lower(strings.Trim(name, " \t"))
		}
		if item == "" {
			continue
		}
		s := Statement{Label: name, Value: item}
		if found {
			s.Value = strings.Trim(rest, " \t")
		}
		v.setRule(&s, agent)
		all = append(all, PageStatement{Agent: agent, Statement: s})
	}
	return all
}

// setRule sets what a rule for an agent states.
func (v Vocabulary) setRule(s *Statement, agent string) {
	use, known := v[Label{PageHeader, s.Label}]
	switch honoured, ok := Honoured(agent, s.Label, s.Value); {
	case ok && (!known || use == NoUse):
		s.Use, s.Preference = honoured, Refuses
	case !known:
		s.Use, s.Remark = NoUse, RemarkUnknownLabel
	default:
		if s.Use = use; use != NoUse {
			s.Preference = Refuses
		}
	}
}

// Honoured returns the use that a rule about the results of a search also refuses to the
// operator of a crawler, by what the operator documents: nosnippet and max-snippet:0 keep
// a page out of Google's answers by models, noarchive keeps it out of Bing's training (and
// answers, which have the same rule).
func Honoured(agent, label, value string) (Use, bool) {
	switch {
	case agent == "googlebot" && (label == "nosnippet" || label == "max-snippet" && value == "0"):
		return AIInput, true
	case agent == "bingbot" && label == "noarchive":
		return AITrain, true
	}
	return NoUse, false
}

// weaken takes noarchive back where nocache stands beside it: Bing reads both as the
// weaker one.
func weaken(all []PageStatement) []PageStatement {
	if !slices.ContainsFunc(all, func(s PageStatement) bool {
		return s.Label == "nocache" &&
			(s.Agent == "*" || s.Agent == "bingbot")
	}) {
		return all
	}
	for i := range all {
		if s := &all[i]; s.Agent == "bingbot" && s.Label == "noarchive" {
			s.Use, s.Preference = NoUse, Unknown
		}
	}
	return all
}

// robotsTagList returns the rules of Robots-Tag, none if it is no list.
func (v Vocabulary) robotsTagList(value string) (all []PageStatement) {
	list, err := httpsfv.UnmarshalList([]string{value})
	if err != nil {
		return []PageStatement{{Statement: Statement{Use: NoUse, Value: value, Remark: RemarkNotParsed}}}
	}
	for _, member := range list {
		item, _ := member.(httpsfv.Item)
		agent, _ := item.Value.(httpsfv.Token)
		if agent == "" || item.Params == nil {
			continue
		}
		for _, name := range item.Params.Names() {
			s := Statement{Label: name, Value: name}
			v.setRule(&s, strings.ToLower(string(agent)))
			if name == "nosnippet" { // the draft has it for any agent
				s.Use, s.Preference, s.Remark = AIInput, Refuses, ""
			}
			all = append(all, PageStatement{Agent: strings.ToLower(string(agent)), Statement: s})
		}
	}
	return all
}

// MetaRobots is the name of the meta element whose rules are for all crawlers.
const MetaRobots = "robots"

// OfMeta returns the statements of meta elements, which have a name and a content: the
// rules of robots, or of a crawler by its name, and those of TDMRep. An element is a
// crawler's if all its rules are known.
func (v Vocabulary) OfMeta(meta []HeaderField) (all []PageStatement) {
	for _, f := range meta {
		name := strings.ToLower(strings.TrimSpace(f.Name))
		switch {
		case f.Value == nil:
			continue
		case name == "tdm-reservation" || name == "tdm-policy":
			value := strings.TrimSpace(*f.Value)
			all = append(all, named(name, value, v.ofPage(name, value))...)
			continue
		case !isAgentName(name):
			continue
		}
		agent := name
		if name == MetaRobots {
			agent = "*"
		}
		said := v.robotsTag(agent, *f.Value, false)
		if name != MetaRobots && (len(said) == 0 ||
			slices.ContainsFunc(said, func(s PageStatement) bool { return s.Remark != "" })) {
			continue
		}
		all = append(all, named(MetaRobots, *f.Value, said)...)
	}
	return weaken(all)
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// isAgentName reports whether a text, in lower case, may be the name of a crawler.
func isAgentName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-*") == ""
}

// A PageOutcome says whether the header of a front page was read, or why not.
type PageOutcome string

const (
	PageRead      PageOutcome = "read"      // a 2xx
	PageStatus    PageOutcome = "status"    // any other answer
	PageChallenge PageOutcome = "challenge" // a wall
	PageElsewhere PageOutcome = "elsewhere" // redirected to another registered domain, which was not asked
	PageFailed    PageOutcome = "failed"    // no answer
	// robots.txt shuts the census out of the page, or of one that it redirects to
	PageDisallowed PageOutcome = "disallowed"
	PageUnread     PageOutcome = "unread"     // robots.txt does not say whether it may be asked for
	PageSpared     PageOutcome = "spared"     // its origin is busy, or wants to be left alone for long
	PageUncaptured PageOutcome = "uncaptured" // archives hold no answer
	PageBeyond     PageOutcome = "beyond"     // one of more than are asked for; of further requests alone
	PageAgain      PageOutcome = "again"      // it was asked for before, for something else; of further requests alone
)

// UnaskedOutcomes lists those of further requests alone.
var UnaskedOutcomes = []PageOutcome{PageBeyond, PageAgain}

// PageOutcomes lists the other outcomes.
var PageOutcomes = []PageOutcome{PageRead, PageStatus, PageChallenge, PageElsewhere, PageFailed, PageDisallowed,
	PageUnread, PageSpared, PageUncaptured}
