package robots

import (
	"slices"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

const thirtyDays = 30 * 24 * time.Hour

// google combines the grammar and matching of Google's current parser with what its
// documentation of today says of answers, as its readers report it alike. Each other
// profile is written as its differences from another one.
func google() Profile {
	return Profile{
		Name:         "google",
		SizeLimit:    500 * 1024,
		MaxRedirects: 5,

		Lines: Lines{
			Reading:      LinesGoogle,
			Typos:        Accept,
			NearTypos:    Reject,
			KeyPrefixes:  Accept,
			MissingColon: Accept,
			AllowField:   true,
		},
		Groups: Groups{
			GroupEnd:      EndAtRule,
			UnknownEnds:   Reject,
			AgentMatch:    MatchToken,
			SeveralGroups: MergeGroups,
			IgnoresStar:   true,
			DelayScope:    DelayListed,
		},
		Matching: Matching{
			Wildcards:         true,
			Escapes:           EscapesPattern,
			Reserved:          ReservedDistinct,
			IndexHTML:         true,
			Precedence:        Longest,
			Ties:              TiesAllow,
			BarePrefix:        Accept,
			CountTrailingStar: true,
			ReportEmptyRules:  true,
		},
		Answers: answer.Answers{
			HTMLRedirect:        answer.ConditionalAllow,
			RedirectUnsupported: answer.FullAllow,
			TooManyRequests:     answer.ServerError,
			OtherStatus:         answer.ServerError,
			MisconfiguredAs404:  true,
			ServerError:         answer.FullDisallow,
			ServerErrorCopy:     answer.IgnoreCopy,
			NetworkFailure:      answer.FullDisallow,
			NetworkCopy:         answer.IgnoreCopy,
			ServerErrorStages:   []answer.Stage{{After: 12 * time.Hour, Outcome: answer.FullAllow, Copy: answer.TakeCopy}},
			UnreachableLimit:    thirtyDays,
			Unreachable:         answer.ByFrontPage,
			UnreachableCopy:     answer.IgnoreCopy,
			MaxAgeLengthens:     true,
		},
	}
}

// answers2019 are the answers of Google's documents of 2019.
func answers2019() answer.Answers {
	a := google().Answers
	a.TooManyRequests = answer.ClientError
	a.ServerErrorStages = []answer.Stage{}
	a.Unreachable, a.UnreachableCopy = answer.FullAllow, answer.TakeCopy
	return a
}

// google2019 follows the documents that Google published in July 2019 to the
// letter: misspellings do not count, and a conflict with a wildcard is
// undefined, as their table of examples says. The case of agents is open: it
// matters according to the text, but in the table the crawler Googlebot follows
// "user-agent: googlebot".
func google2019() Profile {
	p := google()
	p.Name = "google-2019"
	p.Reading = LinesPlain
	p.Typos, p.KeyPrefixes, p.MissingColon = Reject, Reject, Reject
	p.AgentMatch = MatchTokenOpen
	p.IgnoresStar = false
	p.Escapes = EscapesBoth
	p.IndexHTML = false
	p.Precedence = LongestOrLeast
	p.CountTrailingStar = false
	p.ReportEmptyRules = false
	p.Answers = answers2019()
	return p
}

// google2012 follows Google's document from before July 2019. It leaves open
// what misspellings, several groups for one agent, wildcards in a conflict,
// network failures and a lasting outage mean.
func google2012() Profile {
	p := google2019()
	p.Name = "google-2012"
	p.SizeLimit = 500_000
	p.Typos, p.NearTypos, p.KeyPrefixes, p.MissingColon = Open, Open, Open, Open
	p.GroupEnd, p.UnknownEnds = EndAtRecord, Open
	p.AgentMatch = MatchToken
	p.SeveralGroups = AnyGroup
	p.AddSlash = true
	p.Precedence = LongestOpen
	p.Ties = TiesOpen
	p.HTMLRedirect, p.RedirectUnsupported = answer.Undefined, answer.Undefined
	p.OtherStatus = answer.InvalidResponse
	p.NetworkFailure = answer.Undefined
	p.Unreachable, p.UnreachableCopy = answer.Undefined, answer.IgnoreCopy
	return p
}

// classic1996 follows the Russian edition of the standard for robot exclusion:
// two fields, lists in one line, plain prefixes. The standard does not say what
// an answer means, so that part comes from google-2012.
func classic1996() Profile {
	p := google2012()
	p.Name = "classic-1996"
	p.SizeLimit = 500 * 1024
	p.Typos, p.NearTypos, p.KeyPrefixes, p.MissingColon = Reject, Reject, Reject, Reject
	p.AllowField = false
	p.Lists = true
	p.GroupEnd, p.UnknownEnds = EndAtAgent, Reject
	p.NeedsRule = true
	p.AgentMatch = MatchSubstring
	p.Wildcards = false
	p.AddSlash = false
	p.Escapes = EscapesLiteral
	p.BarePrefix = Open
	p.Precedence = Longest
	p.Ties = TiesAllow
	p.CountTrailingStar = true
	return p
}

// rfc9309 follows RFC 9309, the standard of 2022.
func rfc9309() Profile {
	p := google2019()
	p.Name = "rfc9309"
	p.AgentMatch = MatchToken
	p.Escapes, p.Reserved = EscapesRFC, ReservedOpen
	p.RobotsTxtAllowed = true
	p.Precedence = Longest
	p.CountTrailingStar = true
	p.MisconfiguredAs404 = false
	// Section 2.4 permits the copy although 2.3.1.4 says MUST disallow, and
	// after 30 days 2.3.1.4 itself permits either.
	p.ServerErrorCopy, p.NetworkCopy, p.UnreachableCopy = answer.EitherCopy, answer.EitherCopy, answer.EitherCopy
	p.MaxAgeLengthens = false // section 2.4: no longer than 24 hours
	return p
}

// DefaultReader is the profile that judges an agent under own if no other parser
// is documented for its crawler.
const DefaultReader = "google"

// Own is the name of the profile that judges each agent by its own parser.
const Own = "own"

func own() Profile {
	p := google()
	p.Name, p.ByAgent = Own, true
	return p
}

// documents are the profiles that follow a document, or the parser that it describes.
var documents = []func() Profile{google, google2019, google2012, classic1996, rfc9309}

var builtin = slices.Concat(documents, dialects)

// ParserNames lists the profiles that read as a parser that any crawler may run today:
// google, and the dialects but for HTTrack, which asks for its own names alone, and for
// earlier versions.
func ParserNames() []string {
	names := []string{DefaultReader}
	for _, f := range libraries {
		names = append(names, f().Name)
	}
	return names
}

// DocumentNames lists the profiles that follow a document, after google, from which they are
// derived.
func DocumentNames() (names []string) {
	for _, f := range documents {
		names = append(names, f().Name)
	}
	return names
}

// ProfileNamed returns a copy of a built-in profile, or of own.
func ProfileNamed(name string) (*Profile, bool) {
	for _, f := range slices.Concat(builtin, programs, []func() Profile{own}) {
		if p := f(); p.Name == name {
			return &p, true
		}
	}
	return nil, false
}

// ProfileNames lists the built-in profiles of documents and parsers, the default first. Own
// is not one of them: it chooses among them. See also [ProgramNames].
func ProfileNames() []string {
	names := make([]string, len(builtin))
	for i, f := range builtin {
		names[i] = f().Name
	}
	return names
}
