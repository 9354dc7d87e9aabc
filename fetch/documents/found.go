package documents

import (
	"net/http"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/usage"
)

// A Found is what came of a document.
type Found struct {
	Document
	URL     string            // that was asked for
	Answer  *fetch.Further    // where a redirect led to another site, the answer there
	left    usage.PageOutcome // why there is none, "" if there is
	Outcome consent.Outcome
	Remarks []string
	// Read is the document, nil unless its outcome is present. It may be about nothing, as
	// a licence that nobody names.
	Read *consent.Document
	// Header is the header lines that were kept, and Head what the beginning of a page says;
	// of a page that is present.
	Header []usage.HeaderField
	Head   consent.Head
	Price  consent.Price // the zero value without one
}

// Remarks about what came of a document.
const (
	RemarkElsewhere  = "elsewhere"  // a redirect leads to another site
	RemarkRedirect   = "redirect"   // its kind allows none
	RemarkDisallowed = "disallowed" // robots.txt disallows it, or what a redirect leads to
	RemarkUnread     = "unread"     // nobody knows whether robots.txt allows it
	RemarkChallenge  = "challenge"
	RemarkTruncated  = "truncated"  // it is longer than what is kept
	RemarkNoControl  = "no_control" // the host may give the same for anything: archives of others hold no control
	RemarkPrice      = "price"      // the answer names one
	RemarkBeyond     = "beyond"     // a licence beyond the number that a host is asked for
	RemarkSpared     = "spared"     // the host wants to be left alone for longer than the census waits
	RemarkMore       = "more"       // that is the last with a row, and not the last that the host names
)

// Find tells what came of the documents of a list that a host was asked for, in the order of
// the requests. file is its robots.txt, nil without one.
func (l List) Find(host fetch.Origin, file *robots.File, all []*fetch.Further) (out []Found) {
	controls := make(map[string]*fetch.Further)
	var page *fetch.Further
	for _, f := range all {
		switch d := l.named(f.Name); {
		case f.Kind == fetch.KindControl:
			controls[f.Name] = f
		case f.Kind == fetch.KindDocument && d != nil && d.Kind == KindPage && page == nil:
			page = f
		}
	}
	var lines []string
	if file != nil {
		lines = licenceLines(file)
	}
	var text []byte
	if page != nil {
		text = page.Reading
	}
	licences, more := named(host, lines, page, text)
	for i := 0; i < len(all); i++ {
		f := all[i]
		d := l.named(f.Name)
		if f.Kind != fetch.KindDocument || d == nil {
			continue
		}
		x := Found{Document: *d, Answer: l.first(all[:i], f), URL: f.URL}
		isHead := d.Head
		next := func() *fetch.Further { // what was asked for the document besides
			if i+1 == len(all) || all[i+1].Kind != fetch.KindDocument || all[i+1].Name != d.Name {
				return nil
			}
			return all[i+1]
		}
		if g := next(); g != nil && isHead && answersNoHead(x.Answer) && g.URL == f.URL {
			i, isHead = i+1, false
			x.continues(g)
		}
		if g := next(); g != nil && x.leadsTo(g.URL) {
			x.continues(l.first(all[:i+1], g))
			i++
		}
		if x.judge(); x.Outcome == "" {
			url := x.Answer.URL
			isNamed := d.Path == "" || slices.ContainsFunc(licences, func(n licence) bool { return n.URL == url })
			control := controls[placeOf(pathOf(url)).String()]
			if !strings.HasPrefix(url, host.String()+"/") {
				control = nil // of another origin
			}
			if isHead {
				x.seen(control)
			} else {
				x.read(isNamed, control)
			}
		}
		out = append(out, x)
	}
	if last := len(out) - 1; more && last >= 0 && out[last].Path == "" && out[last].Outcome == consent.NotAsked {
		out[last].remark(RemarkMore)
	}
	return out
}

// first returns the answer that a URL had before, for what was not asked for again.
func (l List) first(before []*fetch.Further, f *fetch.Further) *fetch.Further {
	if f.Outcome == usage.PageAgain {
		for _, g := range before {
			if d := l.named(g.Name); g.Kind == fetch.KindDocument && g.URL == f.URL && d != nil && d.isRead() {
				return g
			}
		}
	}
	return f
}

// continues takes what came of the rest of a document's way: the answer, or why there was none.
func (x *Found) continues(f *fetch.Further) {
	if len(f.Hops) > 0 {
		x.Answer = f
	} else {
		x.left = f.Outcome
	}
}

// leadsTo reports whether a redirect leads to a URL of another site.
func (x *Found) leadsTo(url string) bool {
	if x.Answer.Outcome != usage.PageElsewhere {
		return false
	}
	to, target, _, err := fetch.Redirect(x.Answer.FinalURL(), x.Answer.Lines().Get("Location"))
	// That of a further request is cut if it is long.
	start, isCut := strings.CutSuffix(url, "...")
	return err == nil && (to.String()+target == url || isCut && strings.HasPrefix(to.String()+target, start))
}

// HasRead reports whether the terms that a line License names were read.
func HasRead(all []Found, line string) bool {
	to, target, _, err := fetch.Redirect(line, line)
	return err == nil && slices.ContainsFunc(all, func(x Found) bool {
		return x.Kind == consent.RSL && x.Read != nil && x.URL == to.String()+target
	})
}

// pathOf returns the path and query of a URL.
func pathOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return "/"
}

func (x *Found) remark(r string) {
	if r != "" && !slices.Contains(x.Remarks, r) {
		x.Remarks = append(x.Remarks, r)
	}
}

// whyNot has the remarks about what robots.txt does not allow.
var whyNot = map[usage.PageOutcome]string{usage.PageDisallowed: RemarkDisallowed, usage.PageUnread: RemarkUnread,
	usage.PageBeyond: RemarkBeyond, usage.PageSpared: RemarkSpared}

// judge sets the outcome of an answer whose body does not decide.
func (x *Found) judge() {
	f := x.Answer
	asked := len(f.Hops) > 0
	switch f.Outcome {
	case usage.PageBeyond, usage.PageSpared, usage.PageAgain:
		x.Outcome = consent.NotAsked
		x.remark(whyNot[f.Outcome])
	case usage.PageDisallowed, usage.PageUnread:
		x.Outcome = consent.NotAsked
		if asked {
			x.Outcome = consent.Absent // a redirect that we may not follow
		}
		x.remark(whyNot[f.Outcome])
	case usage.PageElsewhere:
		if x.Outcome = consent.Absent; x.Redirects == Nowhere {
			x.remark(RemarkRedirect)
		} else {
			x.remark(RemarkElsewhere)
		}
	case usage.PageUncaptured:
		x.Outcome = consent.Uncaptured
	case usage.PageFailed:
		x.Outcome = consent.Unreachable
		x.remark(string(f.Error))
	case usage.PageChallenge:
		x.Outcome = consent.Refused
		x.remark(RemarkChallenge)
	default:
		x.Outcome, _ = consent.OutcomeOf(f.Status())
	}
	if x.left != "" {
		x.remark(whyNot[x.left])
		if x.left == usage.PageBeyond || x.left == usage.PageSpared {
			x.Outcome = consent.NotAsked // as the robots.txt that disallows it does not say
		}
	}
	if price, ok := consent.PriceOf(f.Status(), f.Lines(), f.Body); ok && f.Status() != http.StatusOK {
		x.Price = price
		x.remark(RemarkPrice)
	}
}

// read sets the outcome of a 200.
func (x *Found) read(isNamed bool, control *fetch.Further) {
	f := x.Answer
	if f.Truncated {
		x.remark(RemarkTruncated)
	}
	header := f.Lines()
	if x.Kind == KindPage {
		x.Outcome = consent.Present
		x.Head = consent.ReadHead(f.Reading)
		for _, line := range f.Header {
			if slices.Contains(usage.PageHeaders, line.Name) {
				x.Header = append(x.Header, line)
			}
		}
		return
	}
	by := consent.AtPath
	if isNamed {
		by = consent.Named
	}
	d := consent.Read(x.Kind, f.Body, consent.Served{URL: f.URL, Type: header.Get("Content-Type"), Time: f.Start, By: by})
	isSoft := control != nil && control.Status() == http.StatusOK && control.Outcome == usage.PageRead &&
		consent.Alike(consent.Shown{Path: pathOf(f.URL), Body: f.Body},
			consent.Shown{Path: pathOf(control.URL), Body: control.Body})
	x.outcome(d, isSoft, control)
}

// outcome sets the outcome of a document, which isSoft says is what the host gives for anything.
func (x *Found) outcome(d *consent.Document, isSoft bool, control *fetch.Further) {
	switch {
	case isSoft:
		x.Outcome = consent.Soft404
	case d.Invalid != "":
		x.Outcome = consent.Invalid
		x.remark(d.Invalid)
	default:
		x.Outcome, x.Read = consent.Present, d
		x.remark(d.Form)
	}
	if isSoft {
		return // what a page for anything says is no matter
	}
	for _, r := range d.Remarks {
		x.remark(r)
	}
	if control == nil || len(control.Hops) == 0 || control.Status() == 0 {
		x.remark(RemarkNoControl)
	}
}

// seen sets the outcome of a 200 to HEAD. What a host gives for anything is known by its media type
// alone.
func (x *Found) seen(control *fetch.Further) {
	kind := x.Answer.Lines().Get("Content-Type")
	isSoft := control != nil && control.Status() == http.StatusOK && control.Outcome == usage.PageRead &&
		control.Lines().Get("Content-Type") == kind
	x.outcome(consent.Seen(x.Kind, consent.Served{URL: x.Answer.URL, Type: kind, Time: x.Answer.Start}), isSoft, control)
}

// Body returns the body as kept, nil without one.
func (x *Found) Body() []byte {
	if x.Kind == KindPage {
		return x.Answer.Reading
	}
	return x.Answer.Body
}

// FromPage returns the licences that stand in the page itself, nil for none.
func (x *Found) FromPage() *consent.Document {
	if x.Outcome != consent.Present || len(x.Head.RSL) == 0 {
		return nil
	}
	d := consent.Read(consent.RSL, x.Answer.Reading, consent.Served{URL: x.Answer.FinalURL(), By: consent.Embedded})
	if d.Invalid != "" {
		return nil
	}
	return d
}
