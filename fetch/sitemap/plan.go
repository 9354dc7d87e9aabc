package sitemap

import (
	"cmp"
	"crypto/sha1"
	"encoding/base32"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
)

// Bounds say how much is read of a host.
type Bounds struct {
	Files  int   // sitemaps asked for
	Bytes  int64 // of all of them, unpacked
	Sample int   // URLs that are kept
	// From, if not "", is the URL of the sitemap to begin with, in place of those that
	// robots.txt names.
	From string
	// Profile reads the lines of robots.txt that name sitemaps.
	Profile *robots.Profile
}

const (
	// maxDepth bounds the indexes above a sitemap.
	maxDepth = 3
	// maxURLs and maxBytes are those of the protocol.
	maxURLs  = 50_000
	maxBytes = 50 << 20
	// keptBytes bounds what is kept of a file beside its sample.
	keptBytes = 4 << 10
)

// Reading is what was read of a sitemap, as [fetch.Further.Reading] has it. Its sample is of
// all URLs of the host that were read up to then, and has those that this file gave first.
type Reading struct {
	Kind    Kind  `json:"kind"`
	URLs    int64 `json:"urls,omitempty"`
	Listed  int64 `json:"listed,omitempty"`  // of them, those of the host
	New     int64 `json:"new,omitempty"`     // of these, those that the host has not listed before, each once
	Outside int64 `json:"outside,omitempty"` // and those of other origins
	// of those of the host, the ones not below the folder of the sitemap
	BeyondFolder int64     `json:"beyond_folder,omitempty"`
	Sitemaps     int64     `json:"sitemaps,omitempty"` // that it lists
	Bytes        int64     `json:"bytes"`              // unpacked, as far as it was read
	Digest       string    `json:"content_digest,omitempty"`
	Newest       time.Time `json:"lastmod_newest,omitzero"`
	Remarks      []Remark  `json:"remarks,omitempty"`
	Sample       []Sampled `json:"sample,omitempty"`
}

// ReadingOf decodes the reading of a further request. An error is that of a file that
// somebody else wrote.
func ReadingOf(f *fetch.Further) (r Reading, err error) {
	if err = json.Unmarshal(f.Reading, &r); err == nil && !r.isPossible() {
		err = errReading
	}
	return r, err
}

var errReading = errors.New("no reading of a sitemap")

// isPossible reports whether a reading can be one. Anybody may write a file.
func (r *Reading) isPossible() bool {
	ok := slices.Contains(Kinds, r.Kind) &&
		(r.Digest == "" || len(r.Digest) == 32 && strings.Trim(r.Digest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == "") &&
		len(r.Sample) <= MaxSample
	for _, n := range []int64{r.URLs, r.Listed, r.New, r.Outside, r.BeyondFolder, r.Sitemaps, r.Bytes} {
		ok = ok && n >= 0 && n <= 1<<40
	}
	for _, remark := range r.Remarks {
		ok = ok && slices.Contains(remarks, remark)
	}
	for i := range r.Sample {
		ok = ok && len(r.Sample[i].URL) <= maxSampled
	}
	return ok && r.Listed+r.Outside == r.URLs && r.BeyondFolder <= r.Listed && r.New <= r.Listed &&
		(r.Newest.IsZero() || r.Newest.Year() > 0 && r.Newest.Year() < 10_000)
}

// IsDamaged is [Result.IsDamaged].
func (r *Reading) IsDamaged() bool { return (&Result{Remarks: r.Remarks}).IsDamaged() }

// Plan asks a host for its sitemaps: those that its robots.txt names, in their order, else
// /sitemap.xml; then those that the indexes among them list, each index before its children.
// Of all that are listed and not asked for yet, the one of the lowest rank comes next, so
// that the same are taken each time. The name of a further request is the line that names
// the sitemap, the URL of the index that lists it, or nothing.
func (b Bounds) Plan() fetch.Plan {
	return fetch.Plan{
		Name: "sitemaps", Most: 2 * b.Files, Keeps: b.Files*keptBytes + b.Sample*maxSampled/8,
		Ask: func(host *fetch.Answered, ask func(*fetch.Question) *fetch.Further) {
			t := b.tour(host.Origin)
			if err := t.named(host); err != nil {
				return
			}
			for t.asked < b.Files && t.left > 0 {
				next, ok := t.next()
				if !ok || !t.ask(next, ask) {
					return
				}
			}
		},
	}
}

func (b Bounds) tour(host fetch.Origin) *tour {
	return &tour{bounds: b, host: host, left: b.Bytes, sample: newSample(b.Sample), seen: make(map[string]bool)}
}

// Read reads one sitemap, of which nobody knows where it lies: no page is beyond its folder.
// If host is zero, the first URL that has an origin tells the host, and of says which; paths
// before that are taken as they are.
func (b Bounds) Read(body io.Reader, host fetch.Origin) (r Reading, of fetch.Origin, err error) {
	t, base := b.tour(host), new(url.URL)
	if !t.isOpen() {
		base, err = url.Parse(host.String() + "/")
	}
	if err == nil {
		r, _, err = t.read(stop{}, base, body)
	}
	return r, t.host, err
}

// tour is the reading of a host's sitemaps.
type tour struct {
	bounds Bounds
	host   fetch.Origin
	left   int64 // bytes
	asked  int
	sample *sample
	pages  distinct
	seen   map[string]bool // URLs of sitemaps that were listed
	first  []stop          // that robots.txt names
	listed []stop          // by indexes, the lowest rank first, as many as may be asked for
}

// stop is a sitemap to ask for.
type stop struct {
	origin fetch.Origin
	target string
	name   string // see [Bounds.Plan]
	depth  int
}

func (s *stop) url() string { return s.origin.String() + s.target }

// isOpen reports whether the host is still to be told.
func (t *tour) isOpen() bool { return t.host == fetch.Origin{} }

// named takes the sitemaps that robots.txt names.
func (t *tour) named(host *fetch.Answered) error {
	if t.bounds.From != "" {
		t.add(&t.first, t.host.RobotsURL(), t.bounds.From, "", 0)
		return nil
	}
	err := host.Parse(t.bounds.Profile, func(f *robots.File) {
		for _, s := range f.Sitemaps {
			if s.IsOdd {
				continue // it is no URL, or several
			}
			if len(t.first) == t.bounds.Files {
				return
			}
			t.add(&t.first, t.host.RobotsURL(), string(s.URL), strconv.Itoa(int(s.Line)), 0)
		}
	})
	if len(t.first) == 0 {
		t.add(&t.first, t.host.RobotsURL(), "/sitemap.xml", "", 0)
	}
	return err
}

// add adds the sitemap that the document from names, unless it was listed before.
func (t *tour) add(to *[]stop, from, location, name string, depth int) {
	o, target, _, err := fetch.Redirect(from, location)
	s := stop{o, target, name, depth}
	if err != nil || t.seen[s.url()] || o.Scheme == "ftp" {
		return
	}
	t.seen[s.url()] = true
	*to = append(*to, s)
}

// next returns the sitemap to ask for next.
func (t *tour) next() (s stop, ok bool) {
	for _, from := range []*[]stop{&t.first, &t.listed} {
		if len(*from) > 0 {
			s, *from = (*from)[0], (*from)[1:]
			return s, true
		}
	}
	return s, false
}

// ask asks for a sitemap and reads it. It reports whether the tour goes on.
func (t *tour) ask(s stop, ask func(*fetch.Question) *fetch.Further) bool {
	var children []string
	q := &fetch.Question{
		Kind: fetch.KindSitemap, Name: s.name, Origin: s.origin, Target: s.target, MaxBody: int(t.left) + 1, Elsewhere: true,
		Read: func(body io.Reader, keep io.Writer) error {
			base, err := url.Parse(s.url())
			if err != nil {
				base = nil
			}
			r, listed, err := t.read(s, base, body)
			if err != nil {
				return err
			}
			children = listed
			return json.NewEncoder(keep).Encode(&r)
		},
	}
	f := ask(q)
	t.asked++
	if f == nil {
		return false
	}
	for _, child := range children {
		t.add(&t.listed, f.FinalURL(), child, s.url(), s.depth+1)
	}
	slices.SortFunc(t.listed, func(a, b stop) int { return cmp.Compare(rankOf(a.url()), rankOf(b.url())) })
	t.listed = t.listed[:min(len(t.listed), t.bounds.Files)]
	return true
}

// read reads the body of a sitemap, and returns the sitemaps that it lists, of which no more
// than can still be asked for: those of the lowest ranks.
func (t *tour) read(s stop, base *url.URL, body io.Reader) (r Reading, children []string, err error) {
	r.Kind = None
	file, place, sum, chosen, before := t.asked, t.placeOf(s), sha1.New(), newSample(t.bounds.Files), t.pages.n
	result, err := read(body, base, t.left, sum, func(e Entry) error {
		r.date(&place, e.LastMod)
		if e.IsSitemap {
			if s.depth < maxDepth {
				chosen.add(e.URL, rankOf(e.URL), "", 0)
			} else {
				r.remark(Depth)
			}
			return nil
		}
		if t.isOpen() {
			t.open(e.URL, base, &place)
		}
		t.page(&r, &place, e, file)
		return nil
	})
	if err != nil {
		return r, nil, err
	}
	t.left -= result.Bytes
	r.New = min(t.pages.n-before, r.Listed)
	r.Kind, r.URLs, r.Sitemaps, r.Bytes, r.Remarks = result.Kind, result.URLs, result.Indexed, result.Bytes,
		append(result.Remarks, r.Remarks...)
	r.judge(s, sum.Sum(nil))
	for _, c := range t.sample.sorted() {
		if c.file == file {
			r.Sample = append(r.Sample, c.Sampled)
		}
	}
	for _, c := range chosen.sorted() {
		children = append(children, c.URL)
	}
	return r, children, nil
}

// open takes the host that a URL tells, if it tells one.
func (t *tour) open(text string, base *url.URL, place *place) {
	o, _, err := fetch.Parse(text, "")
	if err != nil || !strings.Contains(text, "://") {
		return
	}
	if u, err := url.Parse(o.String() + "/"); err == nil {
		*base, t.host, place.origin = *u, o, o.String()
	}
}

// judge notes what the protocol does not allow.
func (r *Reading) judge(s stop, sum []byte) {
	if !slices.Contains(r.Remarks, Limit) && !slices.Contains(r.Remarks, Cut) {
		r.Digest = base32.StdEncoding.EncodeToString(sum)
	}
	for remark, is := range map[Remark]bool{
		Outside: r.Outside > 0, BeyondFolder: r.BeyondFolder > 0, IndexInIndex: r.Kind == Index && s.depth > 0,
		TooMany: r.URLs > maxURLs || r.Sitemaps > maxURLs, TooLarge: r.Bytes > maxBytes,
	} {
		if is {
			r.remark(remark)
		}
	}
	slices.Sort(r.Remarks)
}

func (r *Reading) remark(remark Remark) {
	if !slices.Contains(r.Remarks, remark) {
		r.Remarks = append(r.Remarks, remark)
	}
}

// date notes the date of an entry.
func (r *Reading) date(place *place, text string) {
	if text == "" || text == place.date {
		return
	}
	place.date = text
	if date, ok := parseDate(text); !ok {
		r.remark(Date)
	} else if date.After(r.Newest) {
		r.Newest = date
	}
}

// page takes a page of a sitemap.
func (t *tour) page(r *Reading, place *place, e Entry, file int) {
	url, target, ok := place.within(e.URL)
	if !ok {
		r.Outside++
		return
	}
	r.Listed++
	if place.folder != "" && !strings.HasPrefix(target, place.folder) {
		r.BeyondFolder++
	}
	rank := rankOf(url)
	t.pages.add(rank)
	t.sample.add(url, rank, e.LastMod, file)
}

// place is where a sitemap lies, and whose pages it may list.
type place struct {
	origin string // of the host
	folder string // that pages should be in, "" for any: of a sitemap on another host, which robots.txt has named
	// other is the origin of the last page whose text begins otherwise, and as what.
	other   string
	isOther bool
	date    string // of the last entry that had one
}

func (t *tour) placeOf(s stop) place {
	if t.isOpen() {
		return place{}
	}
	p := place{origin: t.host.String()}
	if s.origin == t.host {
		path, _, _ := strings.Cut(s.target, "?")
		p.folder = path[:strings.LastIndexByte(path, '/')+1]
	}
	return p
}

// within returns the URL of a page as a sample has it, its path and query, and whether it is
// of the host's origin.
func (p *place) within(text string) (url, target string, ok bool) {
	text, _, _ = strings.Cut(text, "#")
	rest, ok := strings.CutPrefix(text, p.origin)
	if ok && rest != "" && rest[0] == '/' {
		return text, rest, true
	}
	if !ok || rest != "" && rest[0] != '?' {
		// The origin may be written otherwise: in capitals, with its port, as an IDN.
		_, after, _ := strings.Cut(text, "://")
		end := strings.IndexAny(after, "/?")
		if end < 0 {
			end = len(after)
		}
		origin := text[:len(text)-len(after)+end]
		if origin != p.other {
			o, _, err := fetch.Parse(origin, "")
			p.other, p.isOther = strings.Clone(origin), err != nil || o.String() != p.origin
		}
		if rest = after[end:]; p.isOther {
			return "", "", false
		}
	}
	if rest == "" || rest[0] == '?' {
		rest = "/" + rest
	}
	return p.origin + rest, rest, true
}
