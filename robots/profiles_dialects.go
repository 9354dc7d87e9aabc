package robots

import (
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// dialects are the parsers that crawlers run, as they were measured in November 2026.
// What an answer means is google's, but where a parser's own reading of it is known.
var dialects = []func() Profile{protego, urllib2025, urllib2026, crawlerCommons, robotsParser, temoto, heritrix, reppy, wget}

// dialect returns what the dialects have in common.
func dialect(name string) Profile {
	p := google()
	p.Name = name
	p.SizeLimit = 2 << 20 // the parsers read all; a census must not
	p.Reading = LinesPlain
	p.Typos, p.KeyPrefixes, p.MissingColon = Reject, Reject, Reject
	p.IndexHTML = false
	p.Escapes = EscapesLiteral
	p.AgentValue = ValueWhole
	p.IgnoresStar = false
	p.ReportEmptyRules = false
	return p
}

// protego is scrapy/protego 0.6 (81f1b35d), which Scrapy reads with.
func protego() Profile {
	p := dialect("protego")
	p.LineEnds, p.InvalidBytes, p.Colon = EndsPython, InvalidDropped, ColonOrSpaceLower
	p.AgentFields = []string{"useragent", "user agent"}
	p.DisallowFields = []string{"dissallow", "dissalow", "disalow", "diasllow", "disallaw"}
	p.ListEnds, p.Reopens = EndsAny, true
	p.AgentValue, p.AgentIs = ValueUnstarred, IsLongestPart
	p.Index, p.Dollar, p.Requote = IndexAllow, DollarLetterToo, rewrite.RequotePath
	return p
}

// urllib2025 is urllib.robotparser of CPython up to 3.14.2.
func urllib2025() Profile {
	p := dialect("urllib-2025")
	p.BOM, p.LineEnds, p.BlankEndsGroup = BOMKept, EndsPython, true
	p.ListEnds, p.Exists = EndsDelayRate, EndsDelayRate
	p.AgentIs, p.FirstGroup = IsFirstPart, true
	p.Wildcards = false
	p.Order, p.EmptyAllows = OrderFirst, true
	p.Requote, p.DoubleSlash = rewrite.RequoteQuery, true
	p.Unauthorized = answer.FullDisallow
	p.Unreachable, p.UnreachableCopy = answer.FullDisallow, answer.IgnoreCopy
	return p
}

// urllib2026 is urllib.robotparser of CPython's main since its rewrite (055a953f).
func urllib2026() Profile {
	p := dialect("urllib-2026")
	p.BOM, p.LineEnds = BOMKept, EndsPython
	p.ListEnds = EndsDelayRate
	p.AgentIs = IsEqualOrPart
	p.Length, p.Dollar = LengthMatchEnd, DollarVoids
	p.Requote, p.DoubleSlash = rewrite.RequoteQuery, true
	p.RobotsTxtAllowed = true
	p.Unauthorized = answer.FullDisallow
	p.Unreachable, p.UnreachableCopy = answer.FullDisallow, answer.IgnoreCopy
	return p
}

// crawlerCommons is crawler-commons 1.4 and later (8e14e27c), which Nutch, StormCrawler
// and Common Crawl read with.
func crawlerCommons() Profile {
	p := dialect("crawler-commons")
	p.BOM, p.LineEnds, p.InvalidBytes, p.StripTags, p.Colon = BOMDecoded, EndsUnicode, InvalidReplaced, TagsOfHTML, ColonOrSpace
	p.WhiteSpace = SpaceControl
	p.AgentFields = []string{"useragent", "useg-agent", "ser-agent", "users-agent", "user agent", "user-agnet", "user-agents"}
	p.DisallowFields = []string{
		"desallow", "dissallow", "dissalow", "disalow", "dssalow", "dsallow", "diasllow", "disallaw", "diallow", "disallows", "disllow",
	}
	p.AgentValue = ValueWholeOrToken
	p.MaxCrawlDelay = 300
	p.Index, p.Stars = IndexBoth, StarsFirstPlace
	p.Requote, p.InvalidIsRoot = rewrite.RequoteUnreserved, true
	p.RobotsTxtAllowed = true
	return p
}

// robotsParser is samclarke/robots-parser 3.0.1 (fc27a001), which Crawlee reads with.
func robotsParser() Profile {
	p := dialect("robots-parser")
	p.BOM, p.InvalidBytes = BOMOfLines, InvalidReplaced
	p.ListEnds, p.Exists = EndsAny, EndsDelay
	p.AgentValue = ValueBeforeSlash
	p.Requote, p.Compared, p.EmptyQueryLost = rewrite.RequoteUnfit, rewrite.ComparedWHATWG, true
	return p
}

// temoto is temoto/robotstxt (cadd395b), which colly reads with.
func temoto() Profile {
	p := dialect("temoto")
	p.OneWord = true
	p.AgentFields = []string{"useragent"}
	p.ListEnds, p.Exists, p.Strict = EndsDelay, EndsDelay, true
	p.AgentIs = IsLongestPrefix
	p.AddSlash = true
	p.Order, p.Length, p.Stars, p.Dollar = OrderLongestFirst, LengthExpression, StarsUnanchored, DollarAnywhere
	return p
}

// heritrix is internetarchive/heritrix3 (5ada2a78), with the agent in lower case, as it
// asks itself.
func heritrix() Profile {
	p := dialect("heritrix")
	p.SizeLimit = 500 * 1024
	p.BOM, p.StripTags, p.Colon, p.WhiteSpace = BOMKept, TagsAlways, ColonTight, SpaceControl
	p.ListEnds, p.Continues = EndsDelay, true
	p.AgentIs = IsFirstPart
	p.StripStar, p.GreatestOnly, p.Stars = true, true, StarsFirstPlace
	return p
}

// reppy is seomoz/rep-cpp (ca2ae84b).
func reppy() Profile {
	p := dialect("reppy")
	p.LineEnds, p.WhiteSpace = EndsLF, SpaceASCII
	p.ListEnds = EndsAny
	p.OrphansForAll, p.FurtherOnce, p.LeadingStar = true, true, true
	p.AddSlash = true
	p.Order, p.Dollar, p.Requote = OrderIntrosort, DollarCuts, rewrite.RequoteValid
	p.RobotsTxtAllowed = true
	return p
}

// wget is mirror/wget (8775506f), which reads robots.txt when it recurses.
func wget() Profile {
	p := dialect("wget")
	p.BOM, p.LineEnds, p.Comments, p.NULEnds = BOMKept, EndsLF, CommentsAfterSpace, true
	p.WhiteSpace, p.StarHides = SpaceASCII, true
	p.AddSlash, p.Wildcards = true, false
	p.Order, p.EmptyAllows = OrderFirst, true
	p.Requote, p.Compared = rewrite.RequotePlain, rewrite.ComparedPath
	return p
}
