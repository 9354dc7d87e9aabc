package documents

import (
	"crypto/rand"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/usage"
)

// Bounds of what is asked and kept of a host.
const (
	maxTargets   = 4         // licences that a host names in its registered domain
	maxElsewhere = 2         // documents on other sites
	maxNamed     = 64        // licences that a host names, asked for or not
	maxStating   = 256 << 10 // bytes of a document that states something
	maxBody      = 64 << 10  // and of any other, and of a control
)

// keeps returns the bytes that are kept of a document.
func (d *Document) keeps() int {
	switch d.Kind {
	case consent.TDMRep, consent.RSL, consent.AITxt, consent.TrustTxt:
		return maxStating
	}
	return maxBody
}

// keeps returns the bytes that are kept of a host at most.
func (l List) keeps() int {
	n := l.Controls()*maxBody + (l.most()-l.Requests())*maxStating
	for i := range l {
		n += l[i].keeps()
	}
	return n
}

// headers are those that are kept of an answer.
var headers = slices.Concat([]string{"content-type", "location", "link"}, usage.PageHeaders, consent.PriceHeaders[:4])

// Plan returns the plan that asks a host for the documents of a list.
func (l List) Plan() fetch.Plan {
	return fetch.Plan{
		Most: l.most(), Keeps: l.keeps(),
		Ask: func(host *fetch.Answered, ask func(*fetch.Question) *fetch.Further) {
			v := &visit{list: l, host: host, put: ask, asked: make(map[string]*fetch.Further)}
			v.all()
		},
	}
}

// A visit asks a host.
type visit struct {
	list  List
	host  *fetch.Answered
	put   func(*fetch.Question) *fetch.Further
	over  bool                      // the fetch has ended
	page  []byte                    // what was read of the page
	asked map[string]*fetch.Further // by URL, what was asked for by GET, or was not for a reason

	elsewhere int // documents on other sites that were asked for
	places    []place
	beyond    []licence // that are not asked for
}

// all asks for the documents in the order of the list: what the host names comes after
// what names it.
func (v *visit) all() {
	var page *fetch.Further
	for i := range v.list {
		d := &v.list[i]
		if d.Path == "" {
			continue
		}
		f := v.ask(d, v.host.Origin, d.Path)
		if v.over {
			return
		}
		if d.Kind == KindPage && page == nil {
			page = f
		}
	}
	if d := v.list.targets(); d != nil {
		v.licences(d, page)
	}
	for _, p := range append(v.list.controls(), v.places...) {
		f := v.question(&fetch.Question{Kind: fetch.KindControl, Name: p.String(), Origin: v.host.Origin,
			Target: p.folder + random() + p.extension, MaxBody: maxBody})
		if f == nil || f.Outcome == usage.PageSpared {
			break
		}
	}
	for _, l := range v.beyond {
		if v.over {
			return
		}
		v.leave(v.list.targets(), l.Origin, l.Target, usage.PageBeyond)
	}
}

// random returns a name that no site has. A fixed one would be known to servers.
func random() string { return strings.ToLower(rand.Text())[:20] }

// targets returns the document that stands for what other places of a host name, nil if the
// list has none.
func (l List) targets() *Document {
	for i := range l {
		if l[i].Path == "" {
			return &l[i]
		}
	}
	return nil
}

// licences asks for the licences that the host names, as many as the bounds allow.
func (v *visit) licences(d *Document, page *fetch.Further) {
	var lines []string
	if err := v.host.Parse(readingProfile, func(f *robots.File) { lines = licenceLines(f) }); err != nil {
		v.over = true
		return
	}
	n := 0
	licences, _ := named(v.host.Origin, lines, page, v.page)
	for _, l := range licences {
		isElsewhere := fetch.DomainOf(v.host.Origin.Host) != fetch.DomainOf(l.Origin.Host)
		switch {
		case v.asked[l.URL] != nil:
			v.leave(d, l.Origin, l.Target, usage.PageAgain)
			v.follow(d, v.asked[l.URL])
		case isElsewhere && v.elsewhere == maxElsewhere, !isElsewhere && n == maxTargets:
			v.beyond = append(v.beyond, l)
		case isElsewhere:
			v.askElsewhere(d, l.Origin, l.Target)
		default:
			n++
			if v.ask(d, l.Origin, l.Target); l.Origin == v.host.Origin {
				v.note(placeOf(l.Target))
			}
		}
		if v.over {
			return
		}
	}
}

// note adds the place of a licence, unless the list has it.
func (v *visit) note(p place) {
	if !slices.Contains(v.list.controls(), p) && !slices.Contains(v.places, p) {
		v.places = append(v.places, p)
	}
}

// ask asks for a document at an origin of the host's registered domain.
func (v *visit) ask(d *Document, o fetch.Origin, target string) *fetch.Further {
	q := &fetch.Question{Kind: fetch.KindDocument, Name: d.Name, Origin: o, Target: target, MaxBody: d.keeps()}
	if d.Kind == KindPage {
		q.MaxBody, q.Read = consent.HeadBytes, func(body io.Reader, keep io.Writer) error {
			text, err := io.ReadAll(body)
			if _, e := keep.Write(text); err == nil {
				err = e
			}
			if v.page == nil {
				v.page = text
			}
			return err
		}
	}
	if d.Head {
		q.Head, q.MaxBody = true, 0
	}
	if d.Redirects == Nowhere {
		q.Follow = func(fetch.Origin, string) bool { return false }
	}
	f := v.question(q)
	if f != nil && d.Head && answersNoHead(f) {
		q.Head, q.MaxBody = false, d.keeps()
		f = v.question(q)
	}
	v.follow(d, f)
	return f
}

// follow asks for what a redirect to another site leads to.
func (v *visit) follow(d *Document, f *fetch.Further) {
	if f == nil || d.Redirects != Anywhere || f.Outcome != usage.PageElsewhere {
		return
	}
	to, target, _, err := fetch.Redirect(f.FinalURL(), f.Lines().Get("Location"))
	if err != nil {
		return // nowhere
	}
	switch {
	case v.asked[to.String()+target] != nil:
		v.leave(d, to, target, usage.PageAgain)
	case v.elsewhere == maxElsewhere:
		v.leave(d, to, target, usage.PageBeyond)
	default:
		v.askElsewhere(d, to, target)
	}
}

// answersNoHead reports whether a host does not answer HEAD.
func answersNoHead(f *fetch.Further) bool {
	return f.Status() == http.StatusMethodNotAllowed || f.Status() == http.StatusNotImplemented
}

// askElsewhere asks for a document on another site.
func (v *visit) askElsewhere(d *Document, o fetch.Origin, target string) {
	v.elsewhere++
	v.question(&fetch.Question{Kind: fetch.KindDocument, Name: d.Name, Origin: o, Target: target, MaxBody: d.keeps(),
		Elsewhere: true})
}

// leave notes why a document is not asked for.
func (v *visit) leave(d *Document, o fetch.Origin, target string, why usage.PageOutcome) {
	v.question(&fetch.Question{Kind: fetch.KindDocument, Name: d.Name, Origin: o, Target: target, Unasked: why})
}

// question puts a question, or notes why it does not.
func (v *visit) question(q *fetch.Question) *fetch.Further {
	q.Headers, q.Priced = headers, true
	f := v.put(q)
	v.over = f == nil
	if url := q.URL(); v.asked[url] == nil && q.Kind == fetch.KindDocument && v.list.named(q.Name).isRead() {
		v.asked[url] = f
	}
	return f
}

// readingProfile reads the lines of robots.txt that name licences.
var readingProfile = func() *robots.Profile {
	p, _ := robots.ProfileNamed("rfc9309")
	return p
}()

// licenceLines returns the values of the lines License, for all groups.
func licenceLines(f *robots.File) (all []string) {
	for i := range f.Usages {
		if u := &f.Usages[i]; u.Mechanism == usage.License {
			all = append(all, string(u.Value))
		}
	}
	return all
}

// A licence is a document that a host names as its licence.
type licence struct {
	URL    string
	Origin fetch.Origin
	Target string
}

// named returns the licences that a host names in its robots.txt and in its page, nil for
// none, each once, and whether there are more. A line License holds an absolute URL (RSL 4.4): a
// relative one names nothing.
func named(host fetch.Origin, lines []string, page *fetch.Further, text []byte) (all []licence, more bool) {
	add := func(from, to string) {
		if more {
			return
		}
		o, target, _, err := fetch.Redirect(from, to)
		if err != nil || o.Scheme == "ftp" {
			return
		}
		l := licence{o.String() + target, o, target}
		if slices.Contains(all, l) {
			return
		}
		if more = len(all) == maxNamed; !more {
			all = append(all, l)
		}
	}
	for _, line := range lines {
		if low := strings.ToLower(line); strings.HasPrefix(low, "http://") || strings.HasPrefix(low, "https://") {
			add(host.RobotsURL(), line)
		}
	}
	if page != nil && page.Outcome == usage.PageRead {
		head := consent.ReadHead(text)
		for _, link := range append(consent.LinkedLicenses(page.Lines().Values("Link")), head.Licenses...) {
			add(page.FinalURL(), link)
		}
	}
	return all, more
}
