package robots

import (
	"slices"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// dialects are the parsers that crawlers run, as they were measured in November 2026.
// What an answer means is google-2019's, but where that of the parser, or of a program that
// reads with it alone, is known.
var dialects = slices.Concat(libraries, narrow)

// libraries are parsers that any crawler may run today.
var libraries = []func() Profile{protego, urllib2025, urllib2026, crawlerCommons, robotsParser, temoto, heritrix,
	reppy, wget, spiderbar}

// narrow are one that asks for its own names alone, and other versions.
var narrow = []func() Profile{httrack, protego02, protego07, urllib311}

// dialectNamed returns what the dialects have in common.
func dialectNamed(name string) Profile {
	p := google()
	p.Name = name
	p.SizeLimit = 2 << 20 // the parsers read all; a census must not
	p.Reading = LinesPlain
	p.Typos, p.KeyPrefixes, p.MissingColon = Reject, Reject, Reject
	p.IndexHTML = false
	p.Escapes = EscapesLiteral
	p.AgentValue = dialect.ValueWhole
	p.IgnoresStar = false
	p.DelayScope = DelayListedLast
	p.ReportEmptyRules = false
	p.Answers = answers2019()
	return p
}

// protego is scrapy/protego 0.4 to 0.6.1 (81f1b35d), which Scrapy reads with.
func protego() Profile {
	p := dialectNamed("protego")
	p.LineEnds, p.WhiteSpace, p.InvalidBytes, p.Colon = dialect.EndsPython, dialect.SpacePython, dialect.InvalidDropped,
		dialect.ColonOrSpaceLower
	p.AgentFields = []string{"useragent", "user agent"}
	p.DisallowFields = []string{"dissallow", "dissalow", "disalow", "diasllow", "disallaw"}
	p.ListEnds, p.Reopens = dialect.EndsAny, true
	p.AgentValue, p.AgentIs = dialect.ValueUnstarred, dialect.IsLongestPart
	p.Index, p.Dollar, p.Requote = dialect.IndexAllow, dialect.DollarLetterToo, rewrite.RequotePath
	return p
}

// urllib2025 is urllib.robotparser of CPython up to 3.14.2.
func urllib2025() Profile {
	p := dialectNamed("urllib-2025")
	p.BOM, p.LineEnds, p.WhiteSpace, p.BlankEndsGroup = dialect.BOMKept, dialect.EndsPython, dialect.SpacePython, true
	p.ListEnds, p.Exists = dialect.EndsDelayRate, dialect.EndsDelayRate
	p.AgentIs, p.FirstGroup, p.NameBeforeSlash = dialect.IsFirstPart, true, true
	p.Wildcards = false
	p.Order, p.EmptyAllows = dialect.OrderFirst, true
	p.Requote, p.DoubleSlash = rewrite.RequoteQuery, true
	p.Unauthorized = answer.FullDisallow
	p.Unreachable, p.UnreachableCopy = answer.FullDisallow, answer.IgnoreCopy
	return p
}

// urllib2026 is urllib.robotparser of CPython's main since its rewrite (055a953f).
func urllib2026() Profile {
	p := dialectNamed("urllib-2026")
	p.BOM, p.LineEnds, p.WhiteSpace = dialect.BOMKept, dialect.EndsPython, dialect.SpacePython
	p.ListEnds = dialect.EndsDelayRate
	p.AgentIs, p.NameBeforeSlash = dialect.IsEqualOrPart, true
	p.Length, p.Dollar = dialect.LengthMatchEnd, dialect.DollarVoids
	p.Requote, p.DoubleSlash = rewrite.RequoteQuery, true
	p.RobotsTxtAllowed = true
	p.Unauthorized = answer.FullDisallow
	p.Unreachable, p.UnreachableCopy = answer.FullDisallow, answer.IgnoreCopy
	return p
}

// crawlerCommons is crawler-commons 1.4 and later (8e14e27c), which Nutch, StormCrawler
// and Common Crawl read with.
func crawlerCommons() Profile {
	p := dialectNamed("crawler-commons")
	p.BOM, p.LineEnds, p.InvalidBytes, p.StripTags, p.Colon = dialect.BOMDecoded, dialect.EndsUnicode,
		dialect.InvalidReplaced, dialect.TagsOfHTML, dialect.ColonOrSpace
	p.WhiteSpace = dialect.SpaceControl
	p.AgentFields = []string{"useragent", "useg-agent", "ser-agent", "users-agent", "user agent", "user-agnet",
		"user-agents"}
	p.DisallowFields = []string{
		"desallow", "dissallow", "dissalow", "disalow", "dssalow", "dsallow", "diasllow", "disallaw", "diallow",
		"disallows", "disllow",
	}
	p.AgentValue = dialect.ValueWholeOrToken
	p.MaxCrawlDelay, p.DelayScope = 300, DelayListedLeast
	p.Index, p.Stars = dialect.IndexBoth, dialect.StarsFirstPlace
	p.Requote, p.InvalidIsRoot = rewrite.RequoteUnreserved, true
	p.RobotsTxtAllowed = true
	return p
}

// robotsParser is samclarke/robots-parser 3.0.1 (fc27a001), which Crawlee reads with.
func robotsParser() Profile {
	p := dialectNamed("robots-parser")
	p.BOM, p.InvalidBytes, p.WhiteSpace = dialect.BOMOfLines, dialect.InvalidReplaced, dialect.SpaceECMA
	p.ListEnds, p.Exists = dialect.EndsAny, dialect.EndsDelay
	p.AgentValue, p.NameBeforeSlash = dialect.ValueBeforeSlash, true
	p.Requote, p.Compared, p.EmptyQueryLost = rewrite.RequoteUnfit, rewrite.ComparedWHATWG, true
	return p
}

// temoto is temoto/robotstxt (cadd395b), which colly reads with.
func temoto() Profile {
	p := dialectNamed("temoto")
	p.OneWord = true
	p.AgentFields = []string{"useragent"}
	p.ListEnds, p.Exists, p.Strict = dialect.EndsDelay, dialect.EndsDelay, true
	p.AgentIs = dialect.IsLongestPrefix
	p.AddSlash = true
	p.Order, p.Length, p.Stars, p.Dollar = dialect.OrderLongestFirst, dialect.LengthExpression, dialect.StarsUnanchored,
		dialect.DollarAnywhere
	return p
}

// heritrix is internetarchive/heritrix3 (5ada2a78), with the agent in lower case, as it
// asks itself.
func heritrix() Profile {
	p := dialectNamed("heritrix")
	p.SizeLimit = 500 * 1024
	p.BOM, p.StripTags, p.Colon, p.WhiteSpace = dialect.BOMKept, dialect.TagsAlways, dialect.ColonTight,
		dialect.SpaceControl
	p.ListEnds, p.Continues = dialect.EndsDelay, true
	p.AgentIs = dialect.IsFirstPart
	p.StripStar, p.GreatestOnly, p.Stars = true, true, dialect.StarsFirstPlace
	p.Answers = opensAll() // its maintainers, 2017
	return p
}

// reppy is seomoz/rep-cpp (ca2ae84b).
func reppy() Profile {
	p := dialectNamed("reppy")
	p.LineEnds, p.WhiteSpace = dialect.EndsLF, dialect.SpaceASCII
	p.ListEnds = dialect.EndsAnyColon
	p.OrphansForAll, p.FurtherOnce, p.LeadingStar = true, true, true
	p.AddSlash = true
	p.Order, p.Dollar, p.Requote = dialect.OrderIntrosort, dialect.DollarCuts, rewrite.RequoteValid
	p.RobotsTxtAllowed = true
	return p
}

// wget is mirror/wget (8775506f), which reads robots.txt when it recurses.
func wget() Profile {
	p := dialectNamed("wget")
	p.BOM, p.LineEnds, p.Comments, p.NULEnds = dialect.BOMKept, dialect.EndsLF, dialect.CommentsAfterSpace, true
	p.WhiteSpace, p.StarHides = dialect.SpaceASCII, true
	p.AddSlash, p.Wildcards = true, false
	p.Order, p.EmptyAllows = dialect.OrderFirst, true
	p.Requote, p.Compared = rewrite.RequotePlain, rewrite.ComparedPath
	p.Answers = opensAll() // Wget 1.21.3 of Debian 12
	return p
}

// httrack is HTTrack 3.49.4, as Debian 12 has it, on the links of a page. Until 3.49.10 it
// reads so; from 3.49.11 on it knows allow and wildcards.
func httrack() Profile {
	p := dialectNamed("httrack")
	p.AllowField, p.Wildcards = false, false
	p.BOM, p.LineEnds, p.Colon, p.WhiteSpace, p.MaxLine = dialect.BOMKept, dialect.EndsLFNUL, dialect.ColonExact,
		dialect.SpaceASCII, 1022
	p.ListEnds, p.AgentIs = dialect.EndsAgent, dialect.IsBeginning
	p.LastGroup, p.StarBelow, p.RuleBytes = true, true, 4094
	p.Anywhere, p.FoldCase, p.MaxPattern = true, true, 200
	p.Requote, p.Compared = rewrite.RequoteHarmless, rewrite.ComparedDots
	p.Answers, p.MaxRedirects = opensAll(), 0
	p.BodyAt = answer.Statuses{"200"}
	return p
}

// spiderbar is hrbrmstr/spiderbar 0.2.4, which R's package robotstxt reads with.
func spiderbar() Profile {
	p := reppy()
	p.Name = "spiderbar"
	p.InvalidBytes = dialect.NULRefused // R's texts have none
	p.FurtherOnce, p.FurtherLast = false, true
	p.LeadingStar, p.AbsolutePath = false, true
	return p
}

// protego02 is scrapy/protego 0.1.16 to 0.2.1, which Scrapy 2.8 of Debian 12 reads with.
func protego02() Profile {
	p := protego()
	p.Name = "protego-0.2"
	p.AddSlash, p.PatternIsURL = true, true
	return p
}

// protego07 is scrapy/protego 0.7.0.
func protego07() Profile {
	p := protego()
	p.Name = "protego-0.7"
	p.Colon = dialect.ColonOrWords
	p.SiteFields = []string{"sitemap", "sitemaps", "site-map", "host"}
	p.ListEnds, p.Reopens = dialect.EndsAnyColon, false
	p.AgentIs = dialect.IsLongestWord
	p.Index, p.Requote = dialect.IndexAllowOnly, rewrite.RequoteThrough
	p.RobotsTxtAllowed = true
	return p
}

// urllib311 is urllib.robotparser of CPython 3.11.
func urllib311() Profile {
	p := urllib2025()
	p.Name = "urllib-3.11"
	p.InvalidBytes = dialect.InvalidRefused
	p.Requote, p.DoubleSlash = rewrite.RequoteWhole, false
	return p
}
