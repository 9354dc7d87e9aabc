package robots

import (
	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/usage"
)

// Span is a half-open range of indices.
type Span struct{ From, To int32 }

// Len returns the number of indices in the span.
func (s Span) Len() int { return int(s.To - s.From) }

// A File is a body as a profile reads it. Its zero value is ready for Parse.
// Parsing again reuses the File's memory. All byte slices point into the body
// or into memory of the File and are valid until the next Parse. Lines are
// counted from 1; groups and rules are indices from 0.
//
// Where the profile leaves open how to read a line, the File holds the reading
// that accepts misspellings and continues lists of agents. A Judge considers
// every reading.
type File struct {
	// KeepComments makes Parse add a Remark for each comment.
	KeepComments bool
	// Cut reports whether the body was already cut at a size limit before
	// Parse.
	Cut bool
	// JudgeOnly makes Parse find no more than a Judge needs, under a dialect: sitemaps,
	// remarks and signals are not complete.
	JudgeOnly bool

	Groups   []Group
	Agents   []AgentLine
	Rules    []Rule
	Sitemaps []Sitemap
	Remarks  []Remark
	Signals  []Signal
	Usages   []usage.Line

	// Lines is the number of lines, as SplitLines counts them: a line end ends
	// one and begins none, so an empty body has none.
	Lines int
	// InvalidLines counts lines with content that are neither a record the
	// profile accepts nor a known extension.
	InvalidLines int

	HasBOM    bool // a whole UTF-8 byte order mark at the start
	IsUTF8    bool // the part read is valid UTF-8, ignoring a last character that the limit cut
	IsHTML    bool // see func IsHTML
	Truncated bool // the body is longer than the profile's limit

	body      []byte // the part within the size limit
	commented bool   // it has a comment
	choices   choices
	refusedAt int32  // the line for which a dialect does not read it, 0 if it does; see dialect.Groups.Strict
	compiled  *File  // of a dialect: what a judge compiles
	letter    bool   // reserved characters in a path equal their escapes
	base      *File  // the file of setLetter
	digested  []byte // memory of GroupDigest
	scratch   []byte // escaped patterns
	forms     []byte // memory of inQuery
	spans     []delay
	// ranks and dialectForms are memory of compile.
	ranks        []ranked
	dialectForms []dialect.Form
	tape         dialect.Tape // of the body, once a dialect has asked for it
	taped        bool
	beside       *File // see ParseBeside
	// inQuery holds the query form of the few patterns whose form in a query
	// differs (EscapesRFC), ascending by rule.
	inQuery []queryForm
}

type queryForm struct {
	rule int32
	form []byte
}

// A Group is a run of user-agent lines and the rules that follow.
type Group struct {
	Line   int32 // line of the first user-agent
	Agents Span  // indices in File.Agents
	Rules  Span  // indices in File.Rules
	// Joined reports whether a line that is neither agent, rule, blank nor
	// comment stands among the user-agent lines. Other parsers see two groups
	// there.
	Joined bool
	// twoPaths and twoLengths report whether a rule of the group may match other
	// paths, or have another length, if reserved characters in a path equal
	// their escapes (ReservedOpen).
	twoPaths, twoLengths bool
	// bytes are those of its rules' patterns, with one for the end of each, and ends reports
	// whether no rule behind the group counts, under a dialect.
	bytes int
	ends  bool
	// CrawlDelay is the group's first crawl-delay that is a number, in seconds.
	CrawlDelay    float64
	HasCrawlDelay bool
}

// An AgentLine is a user-agent line, or one value of it in a profile with
// lists.
type AgentLine struct {
	Line, Group int32
	Value       []byte // as written
	// Token is the product token at the start of the value: the longest run of
	// letters, "-" and "_". It is "*" if the line is for all crawlers, and
	// empty if the value starts with anything else. In a profile that compares
	// substrings it is the whole value.
	Token []byte
	// Wide is Token extended by digits and dots, for crawlers such as MJ12bot
	// whose name is not a product token (RFC 9309, 2.2.1).
	Wide []byte
}

// Kind is allow or disallow.
type Kind uint8

const (
	Disallow Kind = iota
	Allow
)

func (k Kind) String() string {
	if k == Allow {
		return "allow"
	}
	return "disallow"
}

// A Rule is an allow or disallow line, or one path of it in a profile with
// lists.
type Rule struct {
	Pattern    []byte // as written
	Normalized []byte // as compared: escaped by the profile's rules, slash added
	Line       int32
	Group      int32 // -1 for a rule before any user-agent line
	// Length is the number of bytes that precedence compares; 0 if the rule is
	// not effective.
	Length   int32
	Kind     Kind
	Wildcard bool // has a *, in a profile with wildcards
	Anchor   bool // ends with $, in a profile with wildcards
	// Effective is false if the rule can never decide: it has no path, belongs
	// to no group, or its pattern begins as no path does.
	Effective bool
}

// A Sitemap is a sitemap line.
type Sitemap struct {
	Line       int32
	URL        []byte
	IsAbsolute bool // has a scheme and a host
	// IsOdd reports whether the value is more than a URL: quoted, or with another URL or field
	// in it (see SitemapValue).
	IsOdd bool
}

// A Remark is an observation about a line. A line can have several.
type Remark struct {
	Line  int32
	Group int32 // -1 before the first group
	Class RemarkClass
	Field []byte // as written; nil if the line has none
	Value []byte
}

// RemarkClass is the kind of a Remark.
//
// To add a class, which is a finding about a line:
//
//   - its constant below, before the last, and its name in String. The tables lines,
//     summary and examples, and package verify, follow from these.
//   - where it is found: record.go for a line with a field (content there handles the
//     usual lines without record: a finding about these belongs in both), parse.go for
//     any line, extension.go for a value. Nothing may be allocated (TestNoAllocation).
//   - its row in the test of remarks in parse_test.go; model_test.go, if a profile's
//     reading depends on it.
//   - its words in cmd/internal/words, which a test asks for: the report and show have them
//     from there.
//   - the comment of Line.Class in sink/schema/files.go, which a test asks for too; go test
//     ./sink -run Dictionary -update copies it to README.md. directives in
//     configs/definitions.sql, if the line is not spelt as it should be.
//   - package portable, if other parsers read the line in another way: a cause of its own.
type RemarkClass uint8

const (
	Extension       RemarkClass = iota // a known field that the documents do not define, or one not in its format
	UnknownField                       // an unknown field
	Typo                               // a common misspelling of a field
	KeyPrefix                          // a longer word that begins with a field, such as "disallowed"
	NoColon                            // a field separated from its value by white space
	SpacedColon                        // white space before the colon; some other parsers see no field there
	OrphanRule                         // a rule before any user-agent line
	NoField                            // not "field: value"
	TooLong                            // longer than the bytes of a line that Google's parser keeps
	NUL                                // contains a NUL
	Comment                            // a comment (with File.KeepComments)
	TruncatedLine                      // the line's end lies beyond the size limit, so it does not count
	SitemapValue                       // a sitemap whose value is quoted, or has another URL or field in it
	NotPortable                        // parsers part on it (package portable); Parse has no such remark
	LighthouseError                    // Lighthouse's audit calls it an error (package portable); nor such a one

	NumRemarkClasses = iota // the number of classes
)

func (c RemarkClass) String() string {
	return [NumRemarkClasses]string{"extension", "unknown_field", "typo", "key_prefix", "missing_colon", "spaced_colon",
		"orphan_rule", "no_field", "too_long", "nul", "comment", "truncated", "sitemap_value", "not_portable",
		"lighthouse"}[c]
}

// A Signal is one key and value of an extension that has a format. A line whose
// value does not follow the format is a Remark instead. Parts that a field does
// not have are nil:
//
//	content-signal  key=value, …               one Signal for each key
//	content-usage   [path] key=value, …        one for each label
//	license         URL                        Value is the URL
//	host            name                       Value is the name
//	request-rate    n/time[unit] [hhmm-hhmm]   Value is all of it
//	visit-time      hhmm-hhmm                  Value is all of it
//	clean-param     p[&p…] [path]              one Signal for each p, in Value
//	noindex         path                       Path and Value are the path
type Signal struct {
	Line, Group int32 // Group is -1 before the first group
	Field       []byte
	Path        []byte
	Key         []byte
	Value       []byte
}

func (f *File) reset(body []byte, p *Profile) {
	f.Groups, f.Agents, f.Rules, f.spans = f.Groups[:0], f.Agents[:0], f.Rules[:0], f.spans[:0]
	f.Sitemaps, f.Remarks, f.Signals = f.Sitemaps[:0], f.Remarks[:0], f.Signals[:0]
	f.Usages, f.commented = f.Usages[:0], false
	f.Lines, f.InvalidLines = 0, 0
	f.scratch, f.forms, f.inQuery = f.scratch[:0], f.forms[:0], f.inQuery[:0]
	f.choices.reset()
	f.taped = false
	f.Truncated = len(body) > p.SizeLimit || f.Cut
	if len(body) > p.SizeLimit {
		body = body[:p.SizeLimit]
	}
	f.body = body
}

// RefusedAt returns the line for which the parser refuses the whole file, 0 if it reads it.
func (f *File) RefusedAt() int32 { return f.refusedAt }

// Body returns the part of the body that was parsed: what lies within the size limit.
func (f *File) Body() []byte { return f.body }
