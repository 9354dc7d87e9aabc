package dialect

import "github.com/robocensus/robocensus/robots/internal/rewrite"

// Lines says how a dialect finds the records of a file (SPECIFICATION.md,
// dialects, lines).
type Lines struct {
	// BOM says what a byte order mark at the start is: skipped (empty), kept as part of
	// the first line, skipped on every line, or also read as that of UTF-16.
	BOM BOM `yaml:"bom,omitempty"`
	// LineEnds says what ends a line: LF, CR and CRLF (empty), LF alone (lf), also
	// NEL, LS and PS (unicode), what Python's splitlines takes for one (python), or LF and
	// NUL alone, while a CR is nothing (lf_nul).
	LineEnds LineEnds `yaml:"line_ends,omitempty"`
	// MaxLine is the number of bytes, but for CR, behind which a line ends; the next byte is
	// lost. 0 is none.
	MaxLine int `yaml:"max_line,omitempty"`
	// InvalidBytes says what bytes are that are not UTF-8: themselves (empty), gone
	// (drop), U+FFFD (replace), or why the parser refuses the file (refuse), as a NUL may be
	// instead (refuse_nul).
	InvalidBytes InvalidBytes `yaml:"invalid_bytes,omitempty"`
	// BlankEndsGroup ends a group at an empty line. Agents before it without a rule are
	// dropped.
	BlankEndsGroup bool `yaml:"blank_ends_group,omitempty"`
	// Comments says where a comment begins: at any # (empty), or only at one at the
	// start of a line or after white space (after_space).
	Comments Comments `yaml:"comments,omitempty"`
	// StripTags says when HTML tags are removed from lines: never (empty), always, or
	// in a file that has one of <html>, <head> and <body> (html).
	StripTags StripTags `yaml:"strip_tags,omitempty"`
	// Colon says what separates a field from its value: a colon, with white space before
	// it (empty), without (tight), or without any before the field either (exact); white
	// space will do too (or_space), if it follows a known field in lower case
	// (or_space_lower), or in a line whose colon follows none and has no white space
	// behind it (or_words).
	Colon Colon `yaml:"colon,omitempty"`
	// WhiteSpace says what is trimmed from fields and values: Unicode's white space
	// (empty), that of ASCII (ascii), U+0000 to U+0020 (control), that of Python (python),
	// which is Unicode's with U+001C to U+001F, or that of ECMAScript (ecmascript), which is
	// Unicode's with U+FEFF and without U+0085.
	WhiteSpace WhiteSpace `yaml:"white_space,omitempty"`
	// OneWord reads a line as pairs of words: a field and its value, as often as there are
	// two. A word that begins with # begins a comment.
	OneWord bool `yaml:"one_word,omitempty"`
	// NULEnds ends a value at a NUL.
	NULEnds bool `yaml:"nul_ends,omitempty"`
	// AgentFields, AllowFields and DisallowFields are further spellings of the fields,
	// in lower case.
	AgentFields    []string `yaml:"agent_fields,omitempty"`
	AllowFields    []string `yaml:"allow_fields,omitempty"`
	DisallowFields []string `yaml:"disallow_fields,omitempty"`
	// SiteFields are those of the whole site, which end no list of agents.
	SiteFields []string `yaml:"site_fields,omitempty"`
}

// Groups says which agents a dialect's groups are for.
type Groups struct {
	// ListEnds says what ends a list of agents besides a rule: nothing (empty),
	// crawl-delay (delay), crawl-delay and request-rate (delay_rate), any other line
	// with a colon (any), even if that is its first character (any_colon), or the next
	// agent, so that only the last of a list counts (agent).
	ListEnds ListEnds `yaml:"list_ends,omitempty"`
	// Exists says what makes a group exist: an agent (empty), a rule or crawl-delay
	// (delay), or also a request-rate (delay_rate).
	Exists ListEnds `yaml:"exists,omitempty"`
	// OrphansForAll gives rules before any agent to the group for *.
	OrphansForAll bool `yaml:"orphans_for_all,omitempty"`
	// Strict refuses a file with a rule or crawl-delay before any agent, or with a
	// crawl-delay that is not a number.
	Strict bool `yaml:"strict,omitempty"`
	// AgentValue says what of a user-agent line counts: its product token (empty), all
	// of it (whole), what is before a slash (before_slash), all of it unless that is no
	// token, then the token that it begins with (whole_or_token), or all of it and the
	// same without stars (whole_and_unstarred).
	AgentValue AgentValue `yaml:"agent_value,omitempty"`
	// AgentIs says how such a value names an agent: it equals its token (empty, with
	// agent_value), is part of it and the first in the file that is (first_part), the
	// longest that is (longest_part) or the longest from the start of a word on
	// (longest_word), equals it or else is its first part
	// (equal_or_part), is the longest that the token begins with (longest_prefix), or
	// begins with the token (beginning); what begins with * is then for all.
	AgentIs AgentIs `yaml:"agent_is,omitempty"`
	// NameBeforeSlash asks for an agent by what stands before a slash of its name.
	NameBeforeSlash bool `yaml:"name_before_slash,omitempty"`
	// FirstGroup makes the first of several groups for an agent the only one.
	FirstGroup bool `yaml:"first_group,omitempty"`
	// LastGroup makes the last of several groups for an agent the only one, whichever of
	// its tokens they name. Those for * are merged.
	LastGroup bool `yaml:"last_group,omitempty"`
	// StarBelow adds the groups for * that stand below an agent's own.
	StarBelow bool `yaml:"star_below,omitempty"`
	// Reopens lets a user-agent line without value, or a line that begins with its colon,
	// reopen the list of agents before it: the next agents, and the rules after them, are
	// for those before too.
	Reopens bool `yaml:"reopens,omitempty"`
	// StarHides leaves out an agent that stands behind * in its list.
	StarHides bool `yaml:"star_hides,omitempty"`
	// Continues lets an agent that a list before has, with a rule or crawl-delay, take up
	// that list: what follows is for all agents of the list before, and not for those
	// that stand before it in its own.
	Continues bool `yaml:"continues,omitempty"`
	// FurtherOnce counts an agent that is not the first of its list only if no list
	// before has it; it then has all groups of the first. The group for * always exists.
	FurtherOnce bool `yaml:"further_once,omitempty"`
	// FurtherLast gives an agent that is not the first of its list what the first has, in
	// place of what lists before gave it. The group for * always exists.
	FurtherLast bool `yaml:"further_last,omitempty"`
	// RuleBytes is the number of bytes of an agent's rules, with one for the end of each,
	// from which none of them counts; 0 is none.
	RuleBytes int `yaml:"rule_bytes,omitempty"`
	// MaxCrawlDelay is the crawl-delay in seconds beyond which everything is forbidden;
	// 0 for none.
	MaxCrawlDelay float64 `yaml:"max_crawl_delay,omitempty"`
}

// Matching says which rule of a dialect decides about a URL.
type Matching struct {
	// Order says which matching rule decides, if not the longest, an allow before a
	// disallow: the first (first), the longest and of equals the first (longest_first)
	// or that which introsort puts first (longest_introsort).
	Order Order `yaml:"order,omitempty"`
	// Length says what the length of a pattern is: its bytes (empty), where its match
	// ends in the URL if it has a wildcard (match_end), or the regular expression that
	// stands for it (expression).
	Length Length `yaml:"length,omitempty"`
	// EmptyAllows makes a disallow without path allow everything, in its place.
	EmptyAllows bool `yaml:"empty_allows,omitempty"`
	// Index says which rules that end in index.html also cover their directory: none
	// (empty), allow lines that end so (allow), the same where a $ that is a letter too is
	// none behind the directory (allow_only), or both kinds, and index.htm (both).
	Index Index `yaml:"index,omitempty"`
	// GreatestOnly tries, of the plain patterns of a kind, only the greatest that is not
	// above the path.
	GreatestOnly bool `yaml:"greatest_only,omitempty"`
	// Stars says how a pattern with wildcards matches: as a whole (empty), piece by
	// piece at the first place each (first_place), or anywhere in the path
	// (unanchored).
	Stars Stars `yaml:"stars,omitempty"`
	// Dollar says what a $ is: the end of the URL if it is last, else a letter (empty);
	// also a letter if it is last (letter_too); the end wherever it stands (anywhere);
	// what ends the pattern (cuts); or what makes the rule void unless it is last
	// (voids).
	Dollar Dollar `yaml:"dollar,omitempty"`
	// StripStar removes one star at the end of a pattern.
	StripStar bool `yaml:"strip_star,omitempty"`
	// LeadingStar tries a pattern also without the stars that it begins with.
	LeadingStar bool `yaml:"leading_star,omitempty"`
	// AbsolutePath takes a pattern for a URL of any host, whose path counts.
	AbsolutePath bool `yaml:"absolute_path,omitempty"`
	// Anywhere finds a pattern without leading slash anywhere in the URL. Its stars are
	// letters.
	Anywhere bool `yaml:"anywhere,omitempty"`
	// FoldCase compares ASCII letters in any case.
	FoldCase bool `yaml:"fold_case,omitempty"`
	// MaxPattern is the number of bytes behind which a pattern ends; behind the next byte,
	// the rest of it is another one. If that is empty, the rules end. 0 is none.
	MaxPattern int `yaml:"max_pattern,omitempty"`
	// Compared says what of a URL is compared: path and query (empty), the path alone
	// (path), path and query without dot segments (dots), or the path and query that the
	// WHATWG's parser makes of it (whatwg).
	Compared rewrite.Compared `yaml:"compared,omitempty"`
	// SortedQuery decodes the query, sorts its parts by name, and encodes them again.
	SortedQuery bool `yaml:"sorted_query,omitempty"`
	// EmptyQueryLost removes a ? without query from the URL.
	EmptyQueryLost bool `yaml:"empty_query_lost,omitempty"`
	// DoubleSlash doubles two slashes at the start of the URL.
	DoubleSlash bool `yaml:"double_slash,omitempty"`
	// InvalidIsRoot compares / in place of a URL with characters that none may have.
	InvalidIsRoot bool `yaml:"invalid_is_root,omitempty"`
	// PatternIsURL reads a pattern quite as a URL, if requote is path: two slashes at its
	// start have a host behind them, and a = in its path is escaped.
	PatternIsURL bool `yaml:"pattern_is_url,omitempty"`
	// Requote says how escapes of patterns and URLs are compared, in place of escapes: decoded and
	// encoded again in the path (path), in path and query alike, where a ? is its escape (through),
	// or in the path and each part of the query (query); unreserved characters decoded and unfit
	// ones encoded (unreserved); unfit ones encoded (unfit); all decoded that a URL may hold
	// (valid); all decoded but a slash (plain); those of the URL's path that change nothing of it
	// decoded, and whole characters (harmless); or URL and pattern decoded as one, and encoded again
	// (whole).
	Requote rewrite.Requote `yaml:"requote,omitempty"`
}

// Values of the fields of dialects.
type (
	BOM          string
	LineEnds     string
	InvalidBytes string
	Comments     string
	StripTags    string
	WhiteSpace   string
	Colon        string
	ListEnds     string
	AgentValue   string
	AgentIs      string
	Order        string
	Length       string
	Index        string
	Stars        string
	Dollar       string
)

const (
	BOMKept    BOM = "keep"
	BOMOfLines BOM = "lines"
	BOMDecoded BOM = "utf16"

	EndsLF      LineEnds = "lf"
	EndsUnicode LineEnds = "unicode"
	EndsPython  LineEnds = "python"
	EndsLFNUL   LineEnds = "lf_nul"

	InvalidDropped  InvalidBytes = "drop"
	InvalidReplaced InvalidBytes = "replace"
	InvalidRefused  InvalidBytes = "refuse"
	NULRefused      InvalidBytes = "refuse_nul"

	CommentsAfterSpace Comments = "after_space"

	TagsAlways StripTags = "always"
	TagsOfHTML StripTags = "html"

	SpaceASCII   WhiteSpace = "ascii"
	SpaceControl WhiteSpace = "control"
	SpacePython  WhiteSpace = "python"
	SpaceECMA    WhiteSpace = "ecmascript"

	ColonTight        Colon = "tight"
	ColonExact        Colon = "exact"
	ColonOrSpace      Colon = "or_space"
	ColonOrSpaceLower Colon = "or_space_lower"
	ColonOrWords      Colon = "or_words"

	EndsDelay     ListEnds = "delay"
	EndsDelayRate ListEnds = "delay_rate"
	EndsAny       ListEnds = "any"
	EndsAnyColon  ListEnds = "any_colon"
	EndsAgent     ListEnds = "agent"

	ValueWhole        AgentValue = "whole"
	ValueBeforeSlash  AgentValue = "before_slash"
	ValueWholeOrToken AgentValue = "whole_or_token"
	ValueUnstarred    AgentValue = "whole_and_unstarred"

	IsFirstPart     AgentIs = "first_part"
	IsLongestPart   AgentIs = "longest_part"
	IsLongestWord   AgentIs = "longest_word"
	IsEqualOrPart   AgentIs = "equal_or_part"
	IsLongestPrefix AgentIs = "longest_prefix"
	IsBeginning     AgentIs = "beginning"

	OrderFirst        Order = "first"
	OrderLongestFirst Order = "longest_first"
	OrderIntrosort    Order = "longest_introsort"

	LengthMatchEnd   Length = "match_end"
	LengthExpression Length = "expression"

	IndexAllow     Index = "allow"
	IndexAllowOnly Index = "allow_only"
	IndexBoth      Index = "both"

	StarsFirstPlace Stars = "first_place"
	StarsUnanchored Stars = "unanchored"

	DollarLetterToo Dollar = "letter_too"
	DollarAnywhere  Dollar = "anywhere"
	DollarCuts      Dollar = "cuts"
	DollarVoids     Dollar = "voids"
)

// EndsRules reports whether no rule behind a pattern counts.
func (m *Matching) EndsRules(pattern []byte) bool {
	return m.MaxPattern > 0 && len(pattern) > 0 && len(pattern)%(m.MaxPattern+1) == 0
}

// RewriterOf returns what the dialect does to patterns and URLs.
func RewriterOf(m *Matching) rewrite.Rewriter {
	return rewrite.Rewriter{
		Requote: m.Requote, Compared: m.Compared, EmptyQueryLost: m.EmptyQueryLost, DoubleSlash: m.DoubleSlash,
		InvalidIsRoot: m.InvalidIsRoot,
		PatternIsURL:  m.PatternIsURL, FoldCase: m.FoldCase, StarLetter: m.Anywhere,
	}
}

// Has reports whether a line of a kind ends the list of agents, or makes a group.
func (e ListEnds) Has(kind ListEnds) bool {
	return e.rank() >= kind.rank()
}

func (e ListEnds) rank() int {
	switch e {
	case EndsDelay:
		return 1
	case EndsDelayRate:
		return 2
	case EndsAny:
		return 3
	case EndsAnyColon:
		return 4
	}
	return 0
}
