package robots

// Span is a half-open range of indices.
type Span struct{ From, To int32 }

// Len is the number of indices in the span.
func (s Span) Len() int { return int(s.To - s.From) }

// A File is what a profile reads in one body. Its zero value is ready for
// Parse, and a File that is parsed again reuses its memory. All byte slices
// point into the body or into memory of the File; they hold until the next
// Parse. Lines are counted from 1, groups and rules are indices from 0.
//
// Where the profile leaves open how to take a line, the File shows the reading
// that accepts a misspelling and lets a list of agents go on; a Judge weighs
// every reading.
type File struct {
	// KeepComments asks for a Remark for each comment.
	KeepComments bool
	// Cut says that more followed the body than Parse is given, because who
	// kept it knows the same limit.
	Cut bool

	Groups   []Group
	Agents   []AgentLine
	Rules    []Rule
	Sitemaps []Sitemap
	Remarks  []Remark
	Signals  []Signal

	// Lines is the number of lines, one more than line ends: an empty body
	// has one.
	Lines int
	// InvalidLines counts the lines that have content and are neither a
	// record that the profile takes nor a known extension.
	InvalidLines int

	HasBOM    bool // a whole UTF-8 byte order mark at the start
	IsUTF8    bool // the part judged is valid UTF-8, but for a character that the limit cut
	IsHTML    bool // see func IsHTML
	Truncated bool // the body is longer than the profile's limit

	body    []byte // the part judged
	choices choices
	letter  bool   // reserved characters of the path equal their escapes
	scratch []byte // escaped patterns
	forms   []byte // patterns as they look in a query
	// inQuery holds, for the few rules where it differs, the form that a
	// pattern has inside a query (EscapesRFC); ascending by rule.
	inQuery []queryForm
}

type queryForm struct {
	rule int32
	form []byte
}

// A Group is a run of user-agent lines and the rules that follow.
type Group struct {
	Line   int32 // of its first user-agent line
	Agents Span  // in File.Agents
	Rules  Span  // in File.Rules
	// Joined says that a line that is neither agent, rule, blank nor comment
	// stands among the user-agent lines: other readers see two groups there.
	Joined bool
	// CrawlDelay is the group's first crawl-delay that is a number, in
	// seconds.
	CrawlDelay    float64
	HasCrawlDelay bool
}

// An AgentLine is a user-agent line, or one value of it where the profile has
// lists.
type AgentLine struct {
	Line, Group int32
	Value       []byte // as written
	// Token is the product token at the start of the value: the longest run
	// of letters, "-" and "_"; "*" if the line is for all; empty if there is
	// none. It is the whole value where the profile compares substrings.
	Token []byte
	// Wide is the same with digits and dots, for crawlers such as MJ12bot,
	// whose name is no product token (RFC 9309, 2.2.1).
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

// A Rule is an allow or disallow line, or one path of it where the profile
// has lists.
type Rule struct {
	Pattern    []byte // as written
	Normalized []byte // as compared: escaped as the profile wants, slash added
	Line       int32
	Group      int32 // -1 for a rule before any user-agent line
	// Length is what precedence goes by, in bytes; 0 for a rule that is not
	// effective.
	Length   int32
	Kind     Kind
	Wildcard bool // has a *, where the profile knows it
	Anchor   bool // ends with $, where the profile knows it
	// Effective is false if the rule can never decide: no path, no group, or
	// a pattern that matches no path because nothing begins so.
	Effective bool
}

// A Sitemap is a sitemap line.
type Sitemap struct {
	Line       int32
	URL        []byte
	IsAbsolute bool // has a scheme and a host
}

// A Remark is a line worth a word, or one of several words on it.
type Remark struct {
	Line  int32
	Group int32 // -1 before the first group
	Class RemarkClass
	Field []byte // as written; nil where the line has none
	Value []byte
}

// RemarkClass says what is remarkable.
type RemarkClass uint8

const (
	Extension     RemarkClass = iota // a field known, but not to these documents, or not in its format
	UnknownField                     // a field that nobody knows
	Typo                             // a frequent misspelling of a field
	KeyPrefix                        // a field with something after it, as in "disallowed"
	NoColon                          // a field parted from its value by white space
	SpacedColon                      // white space before the colon, where some other readers see no field
	OrphanRule                       // a rule before any user-agent line
	NoField                          // not "field: value"
	TooLong                          // longer than Google's parser reads
	NUL                              // has a NUL
	Comment                          // a comment (with File.KeepComments)
	TruncatedLine                    // the size limit ends within this line
)

func (c RemarkClass) String() string {
	return [...]string{"extension", "unknown_field", "typo", "key_prefix", "missing_colon", "spaced_colon",
		"orphan_rule", "no_field", "too_long", "nul", "comment", "truncated"}[c]
}

// A Signal is one key and value of an extension that has a format; a line whose
// value has not its format is a Remark instead. What a field does not have is
// nil:
//
//	content-signal  [path] key=value, …        one Signal for each key
//	content-usage   [path] key=value, …        the same
//	license         URL                        Value is the URL
//	host            name                       Value is the name
//	request-rate    n/time[unit] [hhmm-hhmm]   Value is all of it
//	visit-time      hhmm-hhmm                  Value is all of it
//	clean-param     p[&p…] [path]              one Signal for each p, its Value
//	noindex         path                       Path and Value are the path
type Signal struct {
	Line, Group int32 // Group is -1 before the first group
	Field       []byte
	Path        []byte
	Key         []byte
	Value       []byte
}

func (f *File) reset(body []byte, p *Profile) {
	f.Groups, f.Agents, f.Rules = f.Groups[:0], f.Agents[:0], f.Rules[:0]
	f.Sitemaps, f.Remarks, f.Signals = f.Sitemaps[:0], f.Remarks[:0], f.Signals[:0]
	f.Lines, f.InvalidLines = 0, 0
	f.scratch, f.forms, f.inQuery = f.scratch[:0], f.forms[:0], f.inQuery[:0]
	f.choices.reset()
	f.Truncated = len(body) > p.SizeLimit || f.Cut
	if len(body) > p.SizeLimit {
		body = body[:p.SizeLimit]
	}
	f.body = body
}
