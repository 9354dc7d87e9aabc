package documents

import (
	"io"
	"slices"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/usage"
)

// WantedPage says what to ask hosts for.
type WantedPage struct {
	Path string // of the page, with its query
	// All asks for the page also where the file shuts the agent of an identity out of it.
	All        bool
	Identities []fetch.Identity // of the run; one of them is a control
	// Agents are the agents of the identities, by whose rules each asks: of a control our own
	// crawler.
	Agents []robots.Agent
}

// maxPage is the beginning of a page that is read.
const maxPage = 64 << 10

// again is the name of the second request under the control.
const again = "again"

// pageHeaders are those that are kept of an answer.
var pageHeaders = append([]string{"location"}, consent.PriceHeaders...)

// Control returns the index of the control, -1 if there is none.
func (w *WantedPage) Control() int {
	return slices.IndexFunc(w.Identities, func(i fetch.Identity) bool { return i.IsControl })
}

// Requests returns the requests to a host that lets all identities in and serves the control,
// without redirects: the control asks twice.
func (w *WantedPage) Requests() int { return len(w.Identities) + 1 }

// Plan returns the plan that asks a host for the page under the control, under each other
// identity, and under the control once more if it was served: what that gets differently,
// any visitor may.
func (w *WantedPage) Plan() fetch.Plan {
	control := w.Control()
	order := []int{control}
	for i := range w.Identities {
		if i != control {
			order = append(order, i)
		}
	}
	return fetch.Plan{
		AsOthers: true, Most: w.Requests(), Keeps: w.Requests() * maxPage,
		Ask: func(host *fetch.Answered, ask func(*fetch.Question) *fetch.Further) {
			v := &visitPages{WantedPage: w, host: host, put: ask}
			var err error
			if v.mayFetch, err = v.lets(host.Origin.String() + w.Path); err != nil {
				return
			}
			var first *fetch.Further
			for _, i := range order {
				f := v.ask(i, "")
				if first == nil {
					first = f
				}
			}
			if first != nil && first.Outcome == usage.PageRead {
				v.ask(control, again)
			}
		},
	}
}

// A visit asks a host.
type visitPages struct {
	*WantedPage
	host     *fetch.Answered
	put      func(*fetch.Question) *fetch.Further
	mayFetch []bool // the page, by identity
}

// readingProfile is how the census keeps to a file, whatever profiles the run judges by.
var pageReadingProfile = func() *robots.Profile {
	p, _ := robots.ProfileNamed("rfc9309")
	return p
}()

// lets returns which identities the file lets fetch a URL: all without a file. An error ends
// the fetch.
func (v *visitPages) lets(url string) ([]bool, error) {
	may := slices.Repeat([]bool{true}, len(v.Agents))
	err := v.host.Parse(pageReadingProfile, func(f *robots.File) {
		judge := robots.NewJudge(pageReadingProfile, v.Agents)
		judge.Load(f)
		target := pageReadingProfile.Target(url)
		for i := range may {
			may[i] = judge.Policy(i).Judge(&target).Value == robots.Permitted
		}
	})
	return may, err
}

// ask asks for the page under an identity, or notes why not. It returns nil if the fetch ends.
func (v *visitPages) ask(i int, name string) *fetch.Further {
	q := &fetch.Question{
		Kind: fetch.KindPage, Name: name, Identity: i + 1, Origin: v.host.Origin, Target: v.Path,
		Agent: &v.Agents[i], Permitted: v.All,
		Headers: pageHeaders, MaxBody: maxPage, Priced: true,
		Read: func(body io.Reader, keep io.Writer) error {
			text, err := io.ReadAll(body)
			if err != nil {
				return err
			}
			outline := consent.Shown{Path: v.Path, Body: text}.Outline()
			kept, err := outline.MarshalBinary()
			if err == nil {
				_, err = keep.Write(kept)
			}
			return err
		},
	}
	switch {
	case v.host.Unread:
		q.Unasked = usage.PageUnread
	case !v.All && !v.mayFetch[i]:
		q.Unasked = usage.PageDisallowed
	}
	return v.put(q)
}
