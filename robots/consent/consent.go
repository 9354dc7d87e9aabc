package consent

import (
	"bytes"
	"cmp"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// A Kind is a kind of document.
type Kind string

const (
	TDMRep      Kind = "tdmrep"
	RSL         Kind = "rsl"
	AITxt       Kind = "ai.txt"
	TrustTxt    Kind = "trust.txt"
	LLMsTxt     Kind = "llms.txt"
	LLMsFull    Kind = "llms-full.txt"
	Signatures  Kind = "signatures-directory"
	SecurityTxt Kind = "security.txt"
	AdsTxt      Kind = "ads.txt"
	Text        Kind = "text" // any text that is no web page
	JSON        Kind = "json" // any JSON
)

// kinds are the kinds, with the media types that their documents usually have.
var kinds = map[Kind]struct {
	// read reads a body. It returns what the statements are of, nil for nothing but them.
	read  func(d *Document, body []byte, s *Served) any
	types []string
}{
	TDMRep:      {readTDMRep, []string{"application/json", "text/plain"}},
	RSL:         {readRSL, []string{"application/rsl+xml", "application/rss+xml", "application/atom+xml"}},
	AITxt:       {readAITxt, []string{"text/plain", "application/json", "text/markdown"}},
	TrustTxt:    {readTrustTxt, []string{"text/plain"}},
	LLMsTxt:     {only(readLLMs), []string{"text/plain", "text/markdown"}},
	LLMsFull:    {only(readText), []string{"text/plain", "text/markdown"}},
	Signatures:  {only(readSignatures), []string{"application/http-message-signatures-directory+json"}},
	SecurityTxt: {only(readSecurityTxt), []string{"text/plain"}},
	AdsTxt:      {only(readAdsTxt), []string{"text/plain"}},
	Text:        {only(readText), nil},
	JSON:        {only(readAnyJSON), nil},
}

// only reads what states nothing.
func only(read func(d *Document, body []byte, s *Served)) func(*Document, []byte, *Served) any {
	return func(d *Document, body []byte, s *Served) any {
		read(d, body, s)
		return nil
	}
}

// IsKnown reports whether there is such a kind.
func (k Kind) IsKnown() bool { _, known := kinds[k]; return known }

// Kinds returns the kinds, by name.
func Kinds() (all []string) {
	for k := range kinds {
		all = append(all, string(k))
	}
	slices.Sort(all)
	return all
}

// MaxBytes is the number of bytes of a document that count. A longer one has the remark
// too_long.
const MaxBytes = 1 << 20

// maxStatements bounds the statements of a document. One with more has the remark limit.
const maxStatements = 1000

// An Association is how a document was found.
type Association uint8

const (
	AtPath   Association = iota // at the path of its kind
	Named                       // a License line, a Link header or a link element names it
	Embedded                    // in a page or a feed, which it is about
)

// Served says how a document was served.
type Served struct {
	URL  string // where it was asked for, absolute
	Type string // media type, "" for none
	Time time.Time
	By   Association
}

// A Document is a document that was read.
type Document struct {
	Kind Kind
	// Form is the grammar of an ai.txt: spawning, car, ini, keys, prose, or none for an
	// empty one.
	Form string
	// Invalid says why it has not the shape that its kind demands, "" if it has.
	Invalid    string
	Remarks    []string    // each once
	Statements []Statement // in the order of their lines
}

// A Statement is what a document says of a use.
type Statement struct {
	usage.Statement
	Mechanism usage.Mechanism
	Agent     string // for whom, in lower case; * for all
	Path      string // pattern of paths, "" for all
	Line      int    // 0 for none
}

// Remarks about documents and statements.
const (
	remarkType        = "type"          // the media type is not one that its kind has
	remarkBOM         = "bom"           // it begins with a byte order mark
	remarkTooLong     = "too_long"      // it has more than MaxBytes
	remarkLimit       = "limit"         // it has more than maxStatements
	remarkRule        = "rule"          // a rule that is none, and is passed over
	remarkValue       = "value"         // a value that says nothing
	remarkOrder       = "order"         // the longest match would say otherwise than the first
	remarkAbsolute    = "absolute"      // a location that is a whole URL
	remarkPath        = "path"          // a location that is no path
	remarkRepeated    = "duplicate"     // the last of several members of one name counts
	remarkDefault     = "default"       // nobody says so: the document's specification does
	remarkConditional = "conditional"   // some paths are allowed
	remarkRequired    = "required"      // a field that the specification requires is missing
	remarkEmpty       = "empty"         // nothing is in it
	remarkExpired     = "expired"       // its own date says that it is not to be used
	remarkConflict    = "contradiction" // it says yes and no
)

// Remarks are those that statements have.
var Remarks = []string{remarkRule, remarkValue, remarkOrder, remarkAbsolute, remarkPath, remarkClosed, remarkSelf,
	remarkPayment, remarkToken, remarkOtherOrigin,
	remarkNotAssociated, remarkDefault, remarkConditional, remarkConflict}

func (d *Document) remark(r string) {
	if !slices.Contains(d.Remarks, r) {
		d.Remarks = append(d.Remarks, r)
	}
}

// state adds a statement, as far as there is room.
func (d *Document) state(s Statement) {
	if len(d.Statements) >= maxStatements {
		d.remark(remarkLimit)
		return
	}
	s.Agent = cmp.Or(s.Agent, "*")
	d.Statements = append(d.Statements, s)
}

// typed remarks on a media type that the kind does not have, and returns the type.
func (d *Document) typed(s *Served) string {
	media, _, err := mime.ParseMediaType(s.Type)
	types := kinds[d.Kind].types
	if s.Type != "" && types != nil && (err != nil || !slices.Contains(types, media)) {
		d.remark(remarkType)
	}
	return media
}

// Seen returns the document of a kind that states nothing by how it was served, without its body.
func Seen(kind Kind, s Served) *Document {
	d := &Document{Kind: kind}
	if media := d.typed(&s); media == "text/html" || media == "application/xhtml+xml" {
		d.Invalid = "page"
	}
	return d
}

// Read reads a document. It never fails: a document that cannot be read is invalid.
func Read(kind Kind, body []byte, s Served) *Document {
	d, _ := read(kind, body, &s)
	return d
}

// read reads a document. It returns also what the statements are of.
func read(kind Kind, body []byte, s *Served) (d *Document, of any) {
	d = &Document{Kind: kind}
	if len(body) > MaxBytes {
		body = body[:MaxBytes]
		d.remark(remarkTooLong)
	}
	if rest, ok := bytes.CutPrefix(body, []byte("\xef\xbb\xbf")); ok {
		body = rest
		d.remark(remarkBOM)
	}
	k := kinds[kind]
	d.typed(s)
	switch isPage := answer.IsHTML(body); {
	case isPage && !(kind == RSL && s.By == Embedded):
		d.Invalid = "page"
	default:
		of = k.read(d, body, s)
	}
	if d.Invalid != "" {
		d.Statements, of = nil, nil
	}
	slices.SortStableFunc(d.Statements, func(a, b Statement) int { return a.Line - b.Line })
	return d, of
}

// profile is how patterns of paths are compared.
var profile = func() *robots.Profile {
	p, _ := robots.ProfileNamed("rfc9309")
	return p
}()

// patterns are compiled patterns of paths.
type patterns struct{ all *robots.Patterns }

func compile(texts []string) patterns { return patterns{profile.Patterns(texts)} }

// first returns the number of the first pattern that matches a path, and that of the
// longest one, -1 for none.
func (p patterns) first(path string) (first, longest int) {
	first, longest = -1, -1
	most := int32(-1)
	t := profile.LiteralTarget(hostOf(path))
	p.all.Each(&t, func(i int, length int32) {
		if first < 0 || i < first {
			first = i
		}
		if length > most || length == most && i < longest {
			most, longest = length, i
		}
	})
	return first, longest
}

// hostOf makes a URL of a path, whatever it is.
func hostOf(path string) string { return "http://host.example" + path }

// originPath cuts a URL to its path and query if it is one of the host. It reports false
// for one of another host, and for what is none.
func originPath(text, of string) (path string, ok bool) {
	u, err := url.Parse(strings.ReplaceAll(text, "*", "%2A"))
	base, baseErr := url.Parse(of)
	if err != nil || baseErr != nil || !strings.EqualFold(u.Host, base.Host) {
		return "", false
	}
	_, rest, _ := strings.Cut(text, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:], true
	}
	return "/", true
}

// isURL reports whether a text begins like a URL of the web.
func isURL(text string) bool {
	low := strings.ToLower(text[:min(len(text), len("https://"))])
	return strings.HasPrefix(low, "http://") || strings.HasPrefix(low, "https://")
}

// useNamed returns the use of a name, NoUse for a label of a document's own.
func useNamed(name string) usage.Use {
	for u := range usage.Use(usage.NumUses) {
		if u.String() == name {
			return u
		}
	}
	return usage.NoUse
}

// lineOf returns the line of a place in a text, from 1.
func lineOf(body []byte, at int64) int {
	return 1 + bytes.Count(body[:min(at, int64(len(body)))], []byte("\n"))
}
