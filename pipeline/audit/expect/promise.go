package expect

import (
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/sink/visible"
)

// State is the result of checking an expectation.
type State string

const (
	Kept      State = "kept"
	Broken    State = "broken"
	Unchecked State = "unchecked" // the tables do not show which
)

// Promise is an expectation with its result.
type Promise struct {
	Name    string `json:"name"`
	Line    int    `json:"line"` // in the file
	State   State  `json:"state"`
	Fails   bool   `json:"fails"`   // causes exit code 1: broken, or unchecked by mistake
	Note    string `json:"note"`    // why it is unchecked, or what is unknown
	Hosts   int64  `json:"hosts"`   // that it covers, by origin
	Checked int64  `json:"checked"` // rows; for no_change, hosts whose changes were seen
	Broken  int64  `json:"broken"`  // checked rows that differ; for no_change, changes
	// policies or verdicts that an outage or a wall hid, for coverage also policies of hosts whose
	// sitemaps were not seen, for no_change hosts not read in both runs, for served_alike answers with
	// nothing to compare; not counted in Checked
	Unknown   int64    `json:"unknown"`
	Undecided int64    `json:"undecided"` // checked rows or changes whose meaning is undecided
	AtMost    string   `json:"at_most"`
	First     []Breach `json:"first"` // the first breaches

	outages  hidden // what outages hid
	walls    hidden // what walls hid
	shut     hidden // coverage of hosts that close their sitemaps to the census
	unlisted hidden // coverage of hosts whose sitemaps cannot be had, or are empty
	passing  int64  // changes in Undecided that the choice of hosts may explain
	choice   string // why it may
}

// hidden counts the rows in Unknown that something hid, and the hosts that have them.
type hidden struct{ rows, hosts int64 }

// hide adds a row that something hid; first tells the first of its host.
func (p *Promise) hide(first bool, by *hidden) {
	p.Unknown++
	by.rows++
	if first {
		by.hosts++
	}
}

// outageOr returns what walls hid if it was one, else what outages hid.
func (p *Promise) outageOr(walled bool) *hidden {
	if walled {
		return &p.walls
	}
	return &p.outages
}

// unchecked gives up a promise. It is a mistake unless only an outage is the reason,
// or another command checks the promise.
func (p *Promise) unchecked(why string, mistake bool) {
	p.State, p.Note, p.Fails = Unchecked, why, mistake
}

// Breach is a row that differs from what is expected.
type Breach struct {
	Host    string  `json:"host"`
	Agent   *string `json:"agent"`
	Profile *string `json:"profile"`
	URL     *string `json:"url"`
	Found   string  `json:"found"`
	// the line that decides; of a class, a preference, or all that is listed, where its group begins
	Line *int32 `json:"line"`
}

// maxBreaches bounds Promise.First.
const maxBreaches = 20

// judge sets the state of a promise after all rows are checked. nothing is what it names
// that does not exist, unseen the hosts of which nothing was seen. A promise about what
// does not exist is a mistake; if an outage hid what it covers, it is not. If what is
// undecided could break a promise, it is unchecked.
func (x *expectation) judge(p *Promise, nothing, unseen string) {
	if p.State == Unchecked {
		return
	}
	kept := func(broken int64) bool {
		if x.percent >= 0 {
			return float64(broken)*100 <= x.percent*float64(p.Checked)
		}
		return broken <= x.count
	}
	p.Note = x.unknown(p)
	switch {
	case !kept(p.Broken):
		p.State, p.Fails = Broken, true
	case nothing != "":
		p.unchecked(nothing+"; correct the entry or remove it", true)
	case !kept(p.Broken + p.Undecided):
		p.unchecked(p.Note, true)
	case p.Checked == 0 && p.Unknown > 0:
		p.unchecked(p.Note, false)
	case p.Checked == 0 && p.Hosts > 0:
		p.unchecked(fmt.Sprintf("it matches nothing of the %s that it covers; correct the entry or remove it",
			visible.Count(p.Hosts, "host", "hosts")), true)
	case p.Checked == 0:
		p.unchecked("it matches nothing; correct the entry or remove it", true)
	case x.permitsAll(p.Checked + p.Unknown):
		p.unchecked(fmt.Sprintf("at_most %d permits all %d that it is about; give a smaller number, or a share", x.count,
			p.Checked+p.Unknown), true)
	case x.permitsAll(p.Checked):
		p.unchecked(fmt.Sprintf("at_most %d permits all %d that were seen; %s", x.count, p.Checked, p.Note), false)
	case unseen != "":
		p.unchecked(join(unseen, p.Note), false)
	default:
		p.State = Kept
	}
}

// permitsAll reports whether all of so many rows may differ. A change is not a row: a host
// may have any number.
func (x *expectation) permitsAll(rows int64) bool {
	return x.percent < 0 && rows <= x.count && x.what != "no_change"
}

// unknown says what of the expectation's promise is not known.
func (x *expectation) unknown(p *Promise) (note string) {
	isOther := func(kind string) bool { return !change.Named(kind).OfIdentities() }
	switch isOfChanges := x.what == "no_change"; {
	case p.Unknown == 0:
	case isOfChanges && !slices.ContainsFunc(x.kinds, isOther):
		note = part(p.Unknown, p.Checked+p.Unknown, "host", "hosts") +
			" unknown: one of the runs could not read them, or does not show how they answer an identity"
	case isOfChanges && slices.Contains(x.NoChange, "document"):
		note = part(p.Unknown, p.Checked+p.Unknown, "host", "hosts") +
			" unknown: not read in both runs, or one of them does not show which documents they have"
	case isOfChanges && slices.Contains(x.NoChange, "coverage"):
		note = part(p.Unknown, p.Checked+p.Unknown, "host", "hosts") +
			" unknown: not read in both runs, or without listed pages in one of them"
	case isOfChanges:
		note = part(p.Unknown, p.Checked+p.Unknown, "host", "hosts") + " unknown: not read in both runs"
	case x.what == servedAlike:
		note = part(p.Unknown, p.Checked+p.Unknown, "answer", "answers") +
			" cannot be compared: the run itself got no file there, nor that there is none"
	case x.what == servedAsWritten:
		note = part(p.Unknown, p.Checked+p.Unknown, "page", "pages") +
			" cannot be judged: the control was not served there, the identity was not asked, or the file is not known"
	default:
		one, many := "policy", "policies"
		if x.what == "verdict" {
			one, many = "verdict", "verdicts"
		}
		for _, by := range []struct {
			what string
			hidden
		}{{"an outage hides", p.outages}, {"a wall hides", p.walls}} {
			if by.rows > 0 {
				note = join(note, by.what+" "+part(by.rows, p.Checked+p.Unknown, one, many)+
					", on "+part(by.hosts, p.Hosts, "host", "hosts"))
			}
		}
		if n := p.shut.hosts; n > 0 {
			note = join(note, visible.Count(n, "host closes its sitemaps", "hosts close their sitemaps")+" to this census")
		}
		if n := p.unlisted.hosts; n > 0 {
			note = join(note, visible.Count(n, "host has sitemaps", "hosts have sitemaps")+
				" that cannot be had, or list nothing")
		}
	}
	if p.passing > 0 {
		note = join(note, fmt.Sprintf("%s in one run only, which another choice of hosts may explain (%s)",
			part(p.passing, p.Hosts, "host", "hosts"), p.choice))
	}
	if n := p.Undecided - p.passing; n > 0 {
		note = join(note, fmt.Sprintf("%d undecided, because the meaning of their rules or statements is not known", n))
	}
	return note
}

// part says how many of all there are, in words that agree with their number.
func part(n, of int64, one, many string) string {
	return fmt.Sprintf("%d of %s", n, visible.Count(of, one, many))
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
