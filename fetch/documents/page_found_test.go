package documents

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/usage"
)

// words returns a text of words from one number to another, spelled so that none is taken for a token.
func words(from, to int) (text string) {
	for i := from; i < to; i++ {
		text += strings.Map(func(r rune) rune { return 'a' + r - '0' }, fmt.Sprint(1000+i)) + " "
	}
	return text
}

// met returns what an identity met: a page with a text, or, without one, another end of its request.
func met(name, text string, outcome usage.PageOutcome, hops ...int) *fetch.Further {
	f := &fetch.Further{Kind: fetch.KindPage, Identity: &fetch.Identity{Name: strings.TrimSuffix(name, " again"),
		IsControl: strings.HasPrefix(name, "control")}, Outcome: outcome}
	if strings.HasSuffix(name, " again") {
		f.Name = again
	}
	for _, status := range hops {
		f.Hops = append(f.Hops, answer.Hop{URL: "http://a.example/", Status: status})
	}
	if outcome == usage.PageRead {
		outline := consent.Shown{Path: "/", Body: []byte(text)}.Outline()
		f.Reading, _ = outline.MarshalBinary()
	}
	return f
}

// A page is the same if it is as like one of the control's two as nine tenths of what these are to each other.
func TestFind(t *testing.T) {
	base, banner, other := words(0, 100), words(200, 230), words(300, 330)
	control := []*fetch.Further{met("control", base+banner, usage.PageRead, 200), met("control again", base+other,
		usage.PageRead, 200)}
	still := []*fetch.Further{met("control", base, usage.PageRead, 200), met("control again", base, usage.PageRead, 200)}
	for _, x := range []struct {
		what    string
		control []*fetch.Further
		met     *fetch.Further
		want    string
	}{
		{"a little else", still, met("bot", words(0, 97), usage.PageRead, 200), "served same"},
		{"much else", still, met("bot", words(0, 70), usage.PageRead, 200), "served_other other"},
		{"like the second alone", control, met("bot", words(0, 80)+other, usage.PageRead, 200), "served same"},
		{"like neither", control, met("bot", words(0, 80), usage.PageRead, 200), "served_other other"},
		{"led to a busy origin", still, met("bot", "", usage.PageSpared, 302), "redirected_away spared"},
		{"to be left alone", still, met("bot", "", usage.PageSpared), "not_asked spared"},
		{"no price", still, met("bot", "", usage.PageStatus, 402), "refused no_price"},
		{"too often", still, met("bot", "", usage.PageStatus, 429), "rate_limited"},
	} {
		found := FindPages(slices.Insert(slices.Clone(x.control), 1, x.met))
		if len(found) != 2 {
			t.Fatalf("%s: %d found", x.what, len(found))
		}
		if diff := cmp.Diff("bot "+x.want, toldPages(&found[1])); diff != "" {
			c, f := found[0].Outline, found[1].Outline
			t.Errorf("%s (-want +got):\n%s", x.what, diff)
			if f != nil {
				t.Log(c.Likeness(f))
			}
		}
	}
}
