package robots

import (
	"fmt"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/dialect"
)

// To add a field to Profile:
//
//   - profile.go: the field in its group, its yaml name, which no other field of
//     any group has, and a line in Validate. A new type needs UnmarshalText.
//     Validate refuses values that contradict each other.
//   - profiles.go: its value in google, from which the others derive, and in each
//     profile that differs. The zero value says what profiles did before: the runs
//     of older programs do not record the field (a test of pipeline/past asks that
//     it is valid).
//   - The code that reads it: record.go (lines, groups), judge.go (which group),
//     pattern.go and target.go (patterns, URLs), compile.go (the key by which
//     rules rank, which stays below settled of internal/automaton), verdict.go (conflicts),
//     answer/answer.go (answers). A value that leaves open how a line is read is a
//     choice in reading.go.
//   - judge.go: if the field can make another rule than the longest decide, plain
//     must be false for it.
//   - class.go and Compare: a field about patterns or conflicts changes the
//     witnesses (class.go) and the mode or form (language.go). monotone.go assumes
//     that one more disallow never opens a path, nor one more allow closes one.
//   - dialect.go: readToo, if dialects read it too. They refuse another value otherwise.
//   - A field that only dialects have is one of dialect/fields.go instead, with
//     omitempty and the zero value for what documents say: its check in
//     checkDialect, its value in parsers.go, records.go, names.go or forms.go that
//     read it, and odd.go and asked.go, if it can make another rule decide.
//   - Tests: model_test.go, drawProfile in compare_test.go (the random profiles that
//     the models of verdicts and of comparisons check), the row of the field
//     in README.md in the order of the fields (TestProfileTable), and its clause
//     in SPECIFICATION.md (TestSpecificationNamesFields), for dialects in section 9.
//     go test . -run ProfileTable -update fills in the values. Recorded answers
//     (dialect_recorded_test.go) outrank a value in parsers.go.
//   - pipeline/audit/meaning: ReadsTables and plainPattern in rebuild.go, if the
//     tables of a run lack what the field reads; compare.go, if it changes which
//     group an agent follows.
//
// A new profile is a function in profiles.go, listed in builtin, a column of
// the tables in README.md, and an expectation in the tests that ask every
// profile (seeds_test.go, status_test.go).

// A Profile is one document's reading of robots.txt, as data: every field is a
// point on which the documents differ. The yaml names are those of the
// configuration file. To derive a profile, copy one, decode onto the copy, and
// call Validate.
type Profile struct {
	Name string `yaml:"name"`

	// SizeLimit is the number of bytes of a body that are read. The rest is
	// ignored (RFC 9309, 2.5), and with it the last line, if its end lies
	// beyond: "Disallow: /private" cut after the slash would close the site.
	SizeLimit int `yaml:"size_limit"`
	// MaxRedirects is the number of redirects to follow (RFC 9309, 2.3.1.2).
	MaxRedirects int `yaml:"max_redirects"`
	// ByAgent judges each agent under the profile of the parser that its crawler
	// is documented to use, or under DefaultReader. The other fields are those
	// of DefaultReader. A Judge has one profile, so its caller chooses it for
	// each agent.
	ByAgent bool `yaml:"by_agent,omitempty"`

	Lines          `yaml:"lines"`
	Groups         `yaml:"groups"`
	Matching       `yaml:"matching"`
	answer.Answers `yaml:"answers"`
}

// Lines says what the lines of a file are.
type Lines struct {
	// Reading says how bytes form lines.
	Reading LineReading `yaml:"reading"`
	// Typos, NearTypos, KeyPrefixes and MissingColon say what happens to a line
	// whose field is a misspelling that Google's parser knows ("disalow"); is
	// one insertion, deletion, substitution or swap of neighbours away from a
	// field ("alow", "user_agent"); only begins like a field ("disallowed"); or
	// is separated from its value by white space instead of a colon.
	Typos        Leniency `yaml:"typos"`
	NearTypos    Leniency `yaml:"near_typos"`
	KeyPrefixes  Leniency `yaml:"key_prefixes"`
	MissingColon Leniency `yaml:"missing_colon"`
	// AllowField makes allow a field. Without it, allow lines are extensions.
	AllowField bool `yaml:"allow_field"`
	// Lists lets user-agent and disallow lines hold several values, separated
	// by white space.
	Lists bool `yaml:"lists"`

	dialect.Lines `yaml:",inline"`
}

// Groups says which group an agent follows.
type Groups struct {
	// GroupEnd says what ends the list of agents at the head of a group.
	GroupEnd GroupEnd `yaml:"group_end"`
	// UnknownEnds says, if group_end is record, whether a record whose field
	// the document does not define ("crawl-delay") ends the list too.
	UnknownEnds Leniency `yaml:"unknown_ends"`
	// UsageEnds says that a Content-Usage line ends the list too: for
	// draft-ietf-aipref-attach-05 it is a rule, for today's parsers it is not.
	UsageEnds bool `yaml:"usage_ends"`
	// NeedsRule ignores groups without rules.
	NeedsRule bool `yaml:"needs_rule"`
	// AgentMatch says how a user-agent line names a crawler.
	AgentMatch AgentMatch `yaml:"agent_match"`
	// SeveralGroups says what happens if several groups name the crawler.
	SeveralGroups SeveralGroups `yaml:"several_groups"`
	// IgnoresStar exempts the crawlers with Agent.IgnoresStar from groups for
	// *. In RFC 9309, 2.2.1, and in the documents of 2012 and 2019, such a
	// group binds every crawler.
	IgnoresStar bool `yaml:"ignores_star"`
	// DelayScope says for which agents of a group a crawl-delay is.
	DelayScope DelayScope `yaml:"delay_scope"`

	dialect.Groups `yaml:",inline"`
}

// Matching says which rule decides about a URL.
type Matching struct {
	// Wildcards makes * and a final $ special in a pattern.
	Wildcards bool `yaml:"wildcards"`
	// AddSlash adds a slash to a pattern without a leading one. Without
	// AddSlash such a pattern never matches, unless it starts with a wildcard.
	AddSlash bool `yaml:"add_slash"`
	// Escapes says how the escapes of patterns and URLs are compared.
	Escapes Escapes `yaml:"escapes"`
	// Reserved says, if escapes is rfc9309, whether a reserved character in the
	// path equals its escape.
	Reserved Reserved `yaml:"reserved_in_path"`
	// IndexHTML makes allow: /dir/index.htm(l) allow /dir/ as well.
	IndexHTML bool `yaml:"index_html"`
	// RobotsTxtAllowed always allows /robots.txt itself.
	RobotsTxtAllowed bool `yaml:"robots_txt_allowed"`
	// Precedence says which of several matching rules decides.
	Precedence Precedence `yaml:"precedence"`
	// Ties says what happens if an allow and a disallow of the same length both
	// match.
	Ties Ties `yaml:"ties"`
	// BarePrefix says whether a path covers others that merely begin with it,
	// as /help would cover /helpers: accept, reject or open. If not, a path
	// covers only itself, with any query, and the paths below it. A profile
	// with wildcards must accept, because its patterns mark their end with $.
	BarePrefix Leniency `yaml:"bare_prefix"`
	// CountTrailingStar counts stars at the end of a pattern in its length.
	// They never change what it matches.
	CountTrailingStar bool `yaml:"count_trailing_star"`
	// ReportEmptyRules reports a rule without path as the reason of a verdict
	// if no other rule matched. Such a rule never forbids anything.
	ReportEmptyRules bool `yaml:"report_empty_rules"`

	dialect.Matching `yaml:",inline"`
}

// LineReading says how bytes form lines.
type LineReading string

const (
	// LinesPlain: a line ends with LF, CR or CRLF. Spaces and tabs around its
	// parts are white space; any other byte is content.
	LinesPlain LineReading = "plain"
	// LinesGoogle: as LinesPlain, with the additions of Google's parser: a NUL
	// ends the content of its line, the content is cut after 16,663 bytes, VT
	// and FF are white space, and the first bytes of an incomplete BOM are
	// skipped.
	LinesGoogle LineReading = "google"
)

// Leniency says whether a line counts that deviates from the format.
type Leniency string

const (
	Reject Leniency = "reject" // it does not count
	Accept Leniency = "accept" // it counts
	Open   Leniency = "open"   // either; a verdict that depends on it is undefined
)

// GroupEnd says what ends the list of agents at the head of a group. The next
// user-agent line then begins another group.
type GroupEnd string

const (
	EndAtRule   GroupEnd = "rule"   // allow and disallow, with or without path
	EndAtRecord GroupEnd = "record" // any record: the user-agent lines of a group follow each other directly
	EndAtAgent  GroupEnd = "agent"  // every user-agent line begins a group
)

// AgentMatch says how the value of a user-agent line names a crawler.
type AgentMatch string

const (
	// MatchToken: the product token at its start equals one of the crawler's
	// tokens, ignoring case.
	MatchToken AgentMatch = "token"
	// MatchTokenCase: the same, with case.
	MatchTokenCase AgentMatch = "token_case"
	// MatchTokenOpen: either of these two, for the whole file; a verdict that
	// depends on it is undefined.
	MatchTokenOpen AgentMatch = "token_open"
	// MatchSubstring: the value is part of the name that the crawler sends.
	MatchSubstring AgentMatch = "substring"
)

// SeveralGroups says what happens if several groups name the same crawler.
type SeveralGroups string

const (
	MergeGroups SeveralGroups = "merge" // they form one group
	AnyGroup    SeveralGroups = "open"  // one of them is valid; the document does not say which
)

// DelayScope says for which agents of a group a crawl-delay is, and which of several for
// one agent counts. Listed agents are those since the rule or crawl-delay before them.
type DelayScope string

const (
	DelayOfGroup     DelayScope = ""             // the first of a group, for all its agents
	DelayListed      DelayScope = "listed"       // for the agents listed last; the first counts
	DelayListedLast  DelayScope = "listed_last"  // the same; the last counts
	DelayListedLeast DelayScope = "listed_least" // the first of a list; of several lists with an agent, the least
)

// Escapes says how percent escapes are compared.
type Escapes string

const (
	// EscapesLiteral: byte for byte.
	EscapesLiteral Escapes = "literal"
	// EscapesPattern: in patterns, bytes from 0x80 are escaped and hex digits
	// become upper case. The URL is not changed.
	EscapesPattern Escapes = "pattern"
	// EscapesBoth: the same in patterns and URLs.
	EscapesBoth Escapes = "both"
	// EscapesRFC: as EscapesBoth, and in patterns and URLs escapes of
	// unreserved characters are decoded and bytes that no URL can hold, such as
	// a space, are escaped, * and $ of the URL stand for %2A and %24, and in the
	// query reserved characters equal their escapes (RFC 9309, 2.2.2 and 2.2.3).
	// The length of a pattern is that of the column "Path to Match": reserved
	// characters count as their escapes, except the / of a path, the first ? and
	// the first = after it.
	EscapesRFC Escapes = "rfc9309"
)

// Reserved says whether reserved characters in the path, except / and ?, equal
// their escapes.
type Reserved string

const (
	// ReservedDistinct: they do not (RFC 3986, 2.2), and count one byte each.
	ReservedDistinct Reserved = "distinct"
	// ReservedEqual: they do, because they "MUST be percent-encoded" before
	// they are compared (RFC 9309, 2.2.2), and count as escapes.
	ReservedEqual Reserved = "equal"
	// ReservedOpen: either; a verdict that depends on it is undefined.
	ReservedOpen Reserved = "open"
)

// Precedence says which of several matching rules decides. In each, the longest
// pattern wins; they differ for rules with a * that is not at the end.
type Precedence string

const (
	// Longest: such a rule is like any other.
	Longest Precedence = "longest"
	// LongestOpen: such a rule may rank before or after any other, so the
	// verdict is undefined unless all rules that may win agree.
	LongestOpen Precedence = "longest_open"
	// LongestOrLeast: the other rules are settled first. If such a rule
	// contradicts their verdict, or another such rule, both "the longest" and
	// "the least restrictive" are tried, and the verdict is undefined if they
	// differ.
	LongestOrLeast Precedence = "longest_or_least"
)

// Ties says which of two matching rules of the same length decides.
type Ties string

const (
	TiesAllow Ties = "allow" // the least restrictive
	TiesOpen  Ties = "open"  // either; the verdict is undefined
)

// MaxSizeLimit is the largest [Profile.SizeLimit]: a body is held in memory,
// and sums of sizes must not overflow.
const MaxSizeLimit = 64 << 20

// Validate returns an error for the first invalid field, by its yaml name.
func (p *Profile) Validate() error {
	if p.Name == "" {
		return fmt.Errorf("the profile has no name")
	}
	if p.SizeLimit <= 0 {
		return fmt.Errorf("profile %s: size_limit: must be 1 or more, not %d", p.Name, p.SizeLimit)
	}
	if p.SizeLimit > MaxSizeLimit {
		return fmt.Errorf("profile %s: size_limit: %d bytes; give at most %d (64 MiB)", p.Name, p.SizeLimit, MaxSizeLimit)
	}
	if p.ByAgent && p.Name != Own {
		return fmt.Errorf("profile %s: by_agent: only the profile own has it", p.Name)
	}
	if p.MaxRedirects < 0 {
		return fmt.Errorf("profile %s: max_redirects: %d is negative; 0 follows none", p.Name, p.MaxRedirects)
	}
	if p.UnreachableLimit < 0 {
		return fmt.Errorf("profile %s: unreachable_limit: %v is negative", p.Name, p.UnreachableLimit)
	}
	q := *p
	for _, f := range []struct {
		name string
		err  error
	}{
		{"reading", q.Reading.UnmarshalText([]byte(p.Reading))},
		{"typos", q.Typos.UnmarshalText([]byte(p.Typos))},
		{"near_typos", q.NearTypos.UnmarshalText([]byte(p.NearTypos))},
		{"key_prefixes", q.KeyPrefixes.UnmarshalText([]byte(p.KeyPrefixes))},
		{"missing_colon", q.MissingColon.UnmarshalText([]byte(p.MissingColon))},
		{"group_end", q.GroupEnd.UnmarshalText([]byte(p.GroupEnd))},
		{"unknown_ends", q.UnknownEnds.UnmarshalText([]byte(p.UnknownEnds))},
		{"agent_match", q.AgentMatch.UnmarshalText([]byte(p.AgentMatch))},
		{"several_groups", q.SeveralGroups.UnmarshalText([]byte(p.SeveralGroups))},
		{"delay_scope", q.DelayScope.UnmarshalText([]byte(p.DelayScope))},
		{"escapes", q.Escapes.UnmarshalText([]byte(p.Escapes))},
		{"reserved_in_path", q.Reserved.UnmarshalText([]byte(p.Reserved))},
		{"precedence", q.Precedence.UnmarshalText([]byte(p.Precedence))},
		{"ties", q.Ties.UnmarshalText([]byte(p.Ties))},
		{"bare_prefix", q.BarePrefix.UnmarshalText([]byte(p.BarePrefix))},
		{"html_redirect", oneOf(&q.HTMLRedirect, []byte(p.HTMLRedirect), answer.ConditionalAllow, answer.Undefined)},
		{"redirect_unsupported", oneOf(&q.RedirectUnsupported, []byte(p.RedirectUnsupported), answer.FullAllow,
			answer.Undefined)},
		{"too_many_requests", oneOf(&q.TooManyRequests, []byte(p.TooManyRequests), answer.ClientError, answer.ServerError)},
		{"other_status", oneOf(&q.OtherStatus, []byte(p.OtherStatus), answer.ClientError, answer.ServerError,
			answer.NetworkFailure, answer.InvalidResponse)},
		{"server_error", oneOf(&q.ServerError, []byte(p.ServerError), answer.FullAllow, answer.FullDisallow,
			answer.Undefined)},
		{"server_error_copy", q.ServerErrorCopy.UnmarshalText([]byte(p.ServerErrorCopy))},
		{"network_failure", oneOf(&q.NetworkFailure, []byte(p.NetworkFailure), answer.FullAllow, answer.FullDisallow,
			answer.Undefined)},
		{"network_failure_copy", q.NetworkCopy.UnmarshalText([]byte(p.NetworkCopy))},
		{"unreachable_copy", q.UnreachableCopy.UnmarshalText([]byte(p.UnreachableCopy))},
		{"unreachable", oneOf(&q.Unreachable, []byte(p.Unreachable), answer.FullAllow, answer.FullDisallow,
			answer.Undefined, answer.ByFrontPage, answer.Unchanged)},
		{"server_error_stages", p.CheckStages()},
	} {
		if f.err != nil {
			return fmt.Errorf("profile %s: %s: %w", p.Name, f.name, f.err)
		}
	}
	if field, err := p.CheckProgram(p.MaxRedirects); err != nil {
		return fmt.Errorf("profile %s: %s: %w", p.Name, field, err)
	}
	if err := p.checkDialect(); err != nil {
		return err
	}
	if p.Wildcards && p.BarePrefix != Accept {
		return fmt.Errorf("profile %s: bare_prefix: %s needs wildcards: false", p.Name, p.BarePrefix)
	}
	return nil
}
