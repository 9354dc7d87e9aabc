package documents

import (
	"net/http"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/usage"
)

// A PageFound is what came of a page under an identity.
type PageFound struct {
	Answer    *fetch.Further
	Treatment consent.Treatment
	Reason    string           // one of [consent.TreatmentReasons], "" for none
	Outline   *consent.Outline // of what was served, nil if nothing was
	// Same reports whether the page is that of the control: it has nine tenths in common with it
	// of what this has with itself, a second time. Of the control's, it reports whether that is
	// all but a tenth. It is nil unless both were served.
	Same  *bool
	Price consent.Price
}

// alike is the least likeness of pages that are the same but for what changes each time, as
// [consent.Alike] has it.
const alike = 0.9

// FindPages tells what came of the requests for a page, in their order, the control first. The
// second request under the control has no entry.
func FindPages(all []*fetch.Further) (out []PageFound) {
	var second *PageFound
	for _, f := range all {
		if f.Kind != fetch.KindPage || f.Identity == nil {
			continue
		}
		x := PageFound{Answer: f}
		x.judge()
		if f.Name == again {
			second = &x
		} else {
			out = append(out, x)
		}
	}
	if len(out) == 0 || !out[0].Answer.Identity.IsControl || out[0].Outline == nil {
		return out
	}
	control := &out[0]
	itself := 1.0
	if second != nil && second.Outline != nil {
		itself = control.Outline.Likeness(second.Outline)
		control.Same = new(itself >= alike)
	} else {
		if second != nil && second.Treatment.TurnsAway() {
			control.Reason = consent.WhyOnce
		}
		second = nil
	}
	for i := range out[1:] {
		x := &out[1+i]
		if x.Outline == nil {
			continue
		}
		like := control.Outline.Likeness(x.Outline)
		if second != nil {
			like = max(like, second.Outline.Likeness(x.Outline))
		}
		x.Same = new(like >= alike*itself)
		if !*x.Same && second != nil { // else nobody knows how much the page changes by itself
			x.Treatment = consent.PageServedOther
		}
	}
	return out
}

// judge sets all but the comparison.
func (x *PageFound) judge() {
	f := x.Answer
	status := f.Status()
	price, hasPrice := consent.PriceOf(status, f.Lines(), f.Body)
	if x.Price = price; len(f.Hops) == 0 {
		x.Treatment, x.Reason = consent.PageNotAsked, string(f.Outcome)
		return
	}
	switch {
	case f.Outcome == usage.PageElsewhere, f.Outcome == usage.PageDisallowed, f.Outcome == usage.PageUnread,
		f.Outcome == usage.PageSpared:
		x.Treatment, x.Reason = consent.PageRedirectedAway, string(f.Outcome)
	case f.Challenge != "":
		x.Treatment = consent.PageChallenged
	case f.Outcome == usage.PageFailed && strings.HasPrefix(string(f.Error), "redirect_"):
		x.Treatment = consent.PageRedirectedAway
	case f.Outcome == usage.PageFailed:
		x.Treatment = consent.PageNoAnswer
	case f.Outcome == usage.PageRead:
		x.Treatment = consent.PageServed
		outline := new(consent.Outline)
		if outline.UnmarshalBinary(f.Reading) == nil {
			x.Outline = outline
		}
	case status == http.StatusTooManyRequests:
		x.Treatment = consent.PageRateLimited
	case status == http.StatusPaymentRequired && hasPrice:
		x.Treatment = consent.PagePayment
	case status == http.StatusPaymentRequired:
		x.Treatment, x.Reason = consent.PageRefused, consent.WhyNoPrice
	case status >= 400 && status <= 499:
		x.Treatment = consent.PageRefused
	case status >= 300 && status <= 399:
		x.Treatment = consent.PageRedirectedAway // nowhere
	default:
		x.Treatment = consent.PageServerError
	}
}
