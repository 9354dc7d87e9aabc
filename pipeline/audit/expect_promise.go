package audit

import "fmt"

// State is the result of checking an expectation.
type State string

const (
	Kept      State = "kept"
	Broken    State = "broken"
	Unchecked State = "unchecked" // the tables do not show which
)

// Promise is an expectation with its result.
type Promise struct {
	Name      string   `json:"name"`
	Line      int      `json:"line"` // in the file
	State     State    `json:"state"`
	Fails     bool     `json:"fails"`     // causes exit code 1: broken, or unchecked by mistake
	Note      string   `json:"note"`      // why it is unchecked, or what is unknown
	Checked   int64    `json:"checked"`   // rows; for no_change, hosts
	Broken    int64    `json:"broken"`    // checked rows that differ; for no_change, changes
	Unknown   int64    `json:"unknown"`   // policies that an outage hid; not counted in Checked
	Undecided int64    `json:"undecided"` // checked rows or changes whose meaning is undecided
	AtMost    string   `json:"at_most"`
	First     []Breach `json:"first"` // the first breaches
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
	Line    *int32  `json:"line"` // the line that decides
}

// maxBreaches bounds Promise.First.
const maxBreaches = 20

// judge sets the state of a promise after all rows are checked. A promise that matches
// nothing is a mistake, unless an outage hid what it covers. If what is undecided
// could break a promise, it is unchecked.
func (x *expectation) judge(p *Promise) {
	if p.State == Unchecked {
		return
	}
	if p.Unknown > 0 {
		p.Note = fmt.Sprintf("%d of %d policies unknown for an outage", p.Unknown, p.Checked+p.Unknown)
		if x.what == "no_change" {
			p.Note = fmt.Sprintf("%d of %d hosts unknown: not read in both runs", p.Unknown, p.Checked+p.Unknown)
		}
	}
	if p.Undecided > 0 {
		if p.Note != "" {
			p.Note += "; "
		}
		p.Note += fmt.Sprintf("%d undecided by what their rules mean", p.Undecided)
	}
	kept := func(broken int64) bool {
		if x.percent >= 0 {
			return float64(broken)*100 <= x.percent*float64(p.Checked)
		}
		return broken <= x.count
	}
	switch {
	case !kept(p.Broken): // also if that is all that is known of its hosts
		p.State, p.Fails = Broken, true
	case p.Checked == 0 && p.Unknown > 0:
		p.unchecked(p.Note, false)
	case p.Checked == 0:
		p.unchecked("it matches nothing; correct the entry or remove it", true)
	case !kept(p.Broken + p.Undecided):
		p.unchecked(p.Note, true)
	default:
		p.State = Kept
	}
}
