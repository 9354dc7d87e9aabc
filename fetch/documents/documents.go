package documents

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/consent"
)

// Redirects says where a redirect may lead to a document.
type Redirects string

const (
	WithinDomain Redirects = "domain" // the registered domain
	Anywhere     Redirects = "anywhere"
	Nowhere      Redirects = "none"
)

// KindPage is the kind of a page, which is valid whatever it is.
const KindPage consent.Kind = "page"

// A Document is one that hosts are asked for.
type Document struct {
	Name      string
	Path      string // "" for what other places of the host name
	Kind      consent.Kind
	Redirects Redirects
	Head      bool // asked for by HEAD alone: it is there by its status and media type
}

// Validate returns why a document is none, nil if it is.
func (d *Document) Validate() error {
	switch {
	case d.Name == "" || strings.Trim(d.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "":
		return fmt.Errorf("name %q: use small letters, digits, hyphens, underscores and dots", d.Name)
	case d.Kind != KindPage && !d.Kind.IsKnown():
		return fmt.Errorf("document %s: no kind %q; use one of %s", d.Name, d.Kind,
			strings.Join(append(consent.Kinds(), string(KindPage)), ", "))
	case d.Path == "" && d.Kind != consent.RSL:
		return fmt.Errorf("document %s needs a path", d.Name)
	case d.Path != "" && (d.Path[0] != '/' || strings.ContainsAny(d.Path, " \t\r\n#") || len(d.Path) > 200):
		return fmt.Errorf("document %s: path %q: begin it with a slash, and escape what a URL cannot hold", d.Name, d.Path)
	case d.Head && d.Kind != consent.LLMsFull && d.Kind != consent.Text:
		return fmt.Errorf("document %s: head goes with the kinds %s and %s, which are texts of any form", d.Name,
			consent.LLMsFull, consent.Text)
	case !slices.Contains([]Redirects{WithinDomain, Anywhere, Nowhere}, d.Redirects):
		return fmt.Errorf("document %s: redirects: no %q; use %s, %s or %s", d.Name, d.Redirects, WithinDomain, Anywhere,
			Nowhere)
	}
	return nil
}

// A List is the documents that hosts are asked for, in this order.
type List []Document

// MaxDocuments bounds a list: each document is a request to every host.
const MaxDocuments = 64

// Select returns the documents of some names; of none, all.
func (l List) Select(names []string) (out List, err error) {
	if len(names) == 0 {
		return l, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(l, func(d Document) bool { return d.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no document %q; the documents are %s", name, strings.Join(l.Names(), ", "))
		}
		if slices.Contains(out, l[i]) {
			return nil, fmt.Errorf("document %s is named twice", name)
		}
		out = append(out, l[i])
	}
	if len(out) == 0 {
		return nil, errors.New("no document is named")
	}
	return out, nil
}

// Names returns the names of the documents.
func (l List) Names() (names []string) {
	for _, d := range l {
		names = append(names, d.Name)
	}
	return names
}

// named returns the document of a name, nil if there is none.
func (l List) named(name string) *Document {
	for i := range l {
		if l[i].Name == name {
			return &l[i]
		}
	}
	return nil
}

// isRead reports whether all of what is kept of it may be read as another document as well.
func (d *Document) isRead() bool { return !d.Head && d.Kind != KindPage }

// place is a folder and an extension: a host gives one page for all paths of a place that
// do not exist.
type place struct{ folder, extension string }

func placeOf(target string) place {
	target, _, _ = strings.Cut(target, "?")
	folder, name := path.Split(target)
	return place{folder, path.Ext(name)}
}

// String is the name of the control of a place.
func (p place) String() string { return p.folder + "*" + p.extension }

// controls returns the places of the documents, in their order. A page has none: it is
// there, whatever it is.
func (l List) controls() (all []place) {
	for _, d := range l {
		if d.Path == "" || d.Kind == KindPage {
			continue
		}
		if p := placeOf(d.Path); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// Controls returns the requests to a host for paths that cannot exist.
func (l List) Controls() int { return len(l.controls()) }

// Requests returns the requests to a host whose robots.txt allows them all and names no
// licence, without redirects and with those for paths that cannot exist.
func (l List) Requests() int {
	n := l.Controls()
	for _, d := range l {
		if d.Path != "" {
			n++
		}
	}
	return n
}

// MostMore returns the most requests beyond these, without redirects: for the licences that a
// host names, for what redirects lead to on other sites, each with the robots.txt of its origin or
// a control, and for what a host does not answer to HEAD.
func (l List) MostMore() (licences, led, again int) {
	for i := range l {
		if l[i].Head {
			again++
		}
		if l[i].Redirects == Anywhere {
			led = min(led+2, 2*maxElsewhere)
		}
	}
	if l.targets() != nil {
		licences, led = 2*(maxTargets+maxElsewhere), 0 // of one bound
	}
	return licences, led, again
}

// most returns the sum of all.
func (l List) most() int {
	licences, led, again := l.MostMore()
	return l.Requests() + licences + led + again
}
