package usage

import (
	"github.com/robocensus/robocensus/robots/internal/ascii"
	"slices"
	"strings"
)

// Statements about use in the header of a page, of which each has its own grammar:
//
//	Content-Usage    a dictionary as in robots.txt, without a path (draft-ietf-aipref-attach);
//	                 several lines are one dictionary (RFC 9651, 4.2)
//	X-Robots-Tag     rules between commas; a name before a rule says for whom it and those
//	                 that follow are (Google's "Robots meta tag, data-nosnippet, and
//	                 X-Robots-Tag specifications")
//	TDM-Reservation  1 or 0: rights of text and data mining are reserved, or not (W3C
//	                 community group report TDMRep)
//	TDM-Policy       the URL of a policy beside it

// PageHeaders are the headers, in lower case, in which a page says what its content may be
// used for.
var PageHeaders = []string{"content-usage", "x-robots-tag", "tdm-reservation", "tdm-policy"}

// A HeaderField is a line of the header of a page.
type HeaderField struct {
	Name  string  // in lower case
	Value *string // nil for one that is too long to be read
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
		if name == "content-usage" && values != nil {
			values = []string{strings.Join(values, ", ")}
		}
		for _, value := range values {
			said := v.ofPage(name, value)
			if said == nil {
				said = []PageStatement{{Statement: Statement{Use: NoUse, Value: value, Remark: RemarkNoStatement}}}
			}
			for _, s := range said {
				if s.Header = name; s.Agent == "" {
					s.Agent = "*"
				}
				all = append(all, s)
			}
		}
	}
	return all
}

// ofPage returns the statements of a line.
func (v Vocabulary) ofPage(name, value string) (all []PageStatement) {
	switch name {
	case "content-usage":
		for _, s := range v.dictionary(value, value) {
			all = append(all, PageStatement{Statement: s})
		}
	case "x-robots-tag":
		return v.robotsTag(value)
	case "tdm-reservation":
		s := Statement{Label: name, Value: value}
		known := v.setUse(&s, PageHeader)
		s.setPreference(known, value == "0", value == "1")
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

// robotsTag returns the rules of a line of X-Robots-Tag. A rule whose label stands for a
// use refuses it; others say nothing about use.
func (v Vocabulary) robotsTag(value string) (all []PageStatement) {
	agent := "*"
	for item := range strings.SplitSeq(value, ",") {
		item = strings.Trim(item, " \t")
		if last := len(all) - 1; last >= 0 && all[last].Label == valued[0] && startsWithDigit(item) {
			all[last].Value += ", " + item // a date with a comma behind the day of the week
			continue
		}
		name, rest, found := strings.Cut(item, ":")
		if name = strings.ToLower(strings.Trim(name, " \t")); found && isAgentName(name) && !slices.Contains(valued, name) {
			agent, item = name, strings.Trim(rest, " \t")
			name, rest, found = strings.Cut(item, ":")
			name = strings.ToLower(strings.Trim(name, " \t"))
		}
		if item == "" {
			continue
		}
		s := Statement{Label: name, Value: item}
		if found {
			s.Value = strings.Trim(rest, " \t")
		}
		if use, known := v[Label{PageHeader, s.Label}]; !known {
			s.Use, s.Remark = NoUse, RemarkUnknownLabel
		} else if s.Use = use; use != NoUse {
			s.Preference = Refuses
		}
		all = append(all, PageStatement{Agent: agent, Statement: s})
	}
	return all
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// isAgentName reports whether a text, in lower case, may be the name of a crawler.
func isAgentName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-*") == ""
}

// A PageOutcome says whether the header of a front page was read, or why not.
type PageOutcome string

const (
	PageRead       PageOutcome = "read"       // a 2xx
	PageStatus     PageOutcome = "status"     // any other answer
	PageChallenge  PageOutcome = "challenge"  // a wall
	PageElsewhere  PageOutcome = "elsewhere"  // redirected to another registered domain, which was not asked
	PageFailed     PageOutcome = "failed"     // no answer
	PageDisallowed PageOutcome = "disallowed" // robots.txt shuts the census out of the page, or of one that it redirects to
	PageUnread     PageOutcome = "unread"     // robots.txt does not say whether it may be asked for
)

// PageOutcomes lists the outcomes.
var PageOutcomes = []PageOutcome{PageRead, PageStatus, PageChallenge, PageElsewhere, PageFailed, PageDisallowed, PageUnread}
