package robots

import (
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// programs are crawlers that do with an answer what their parser does not say, and what each
// reads with says of files.
var programs = []func() Profile{scrapy, crawlee, colly, nutch, stormCrawler, simplecrawler, robotstxtR}

// programNamed returns a program that reads files as a parser does. It knows of one answer
// alone: an outage means the same however long it lasts. Where a program gets no file, for
// whatever reason, it fetches all, unless the functions below say otherwise.
func programNamed(name string, parser Profile) Profile {
	p := parser
	p.Name = name
	p.Answers = opensAll()
	return p
}

// scrapy is Scrapy 2.8.0: its robots.txt middleware, behind those that follow redirects and
// ask again.
func scrapy() Profile {
	p := programNamed("scrapy", protego())
	p.BodyAt = answer.Statuses{"any"}
	p.MaxRedirects, p.Tries = 20, 3
	return p
}

// crawlee is Crawlee 3.18.1 (@crawlee/http, @crawlee/utils). It waits for an answer.
func crawlee() Profile {
	p := programNamed("crawlee", robotsParser())
	p.BodyAt = answer.Statuses{"any"}
	p.Timeout = answer.FullDisallow
	p.MaxRedirects = 10
	return p
}

// colly is gocolly/colly 2.3.0. An error of its client, or of its parser, ends the request
// for the page.
func colly() Profile {
	p := programNamed("colly", temoto())
	p.NetworkFailure, p.RedirectFailed, p.RedirectUnsupported = answer.FullDisallow, answer.FullDisallow, answer.FullAllow
	p.Compared, p.SortedQuery = rewrite.ComparedWHATWG, true
	p.OtherStatus, p.Refused = answer.NetworkFailure, answer.FullDisallow
	p.MaxRedirects = 10
	return p
}

// nutch is Apache Nutch (790694141), by its code: it puts a host off that answers 5xx or 429,
// and fetches where it got no answer at all.
func nutch() Profile {
	p := programNamed("nutch", crawlerCommons())
	p.BodyAt = answer.Statuses{"200"}
	p.RedirectStatuses = answer.Statuses{"301", "302", "303", "307", "308"}
	p.ServerError, p.TooManyRequests, p.NotModified = answer.FullDisallow, answer.ServerError, answer.FullAllow
	return p
}

// stormCrawler is Apache StormCrawler (40380d66), by its code. It follows no redirect to
// another origin, and fetches nothing then.
func stormCrawler() Profile {
	p := nutch()
	p.Name = "stormcrawler"
	p.RedirectHosts, p.RedirectRefused = answer.SameOrigin, answer.FullDisallow
	p.OtherStatus, p.NotModified = answer.ClientError, ""
	return p
}

// simplecrawler is simplecrawler 1.1.9, which reads with robots-parser 2.4.0.
func simplecrawler() Profile {
	p := programNamed("simplecrawler", robotsParser())
	p.RedirectHosts = answer.SameHost
	return p
}

// robotstxtR is R's package robotstxt (d3d0a4d5). Where it ends with an error, nothing is
// said of the page. It waits for an answer.
func robotstxtR() Profile {
	p := programNamed("robotstxt-r", spiderbar())
	p.ContentTypes = []string{"text/plain"}
	p.BodyAt = answer.Statuses{"2xx", "3xx"}
	p.ServerError, p.NetworkFailure, p.Timeout = answer.Undefined, answer.Undefined, answer.FullDisallow
	p.RedirectFailed = answer.Undefined
	return p
}

// opensAll are the answers of programs that fetch all where they get no file, for whatever
// reason and however long.
func opensAll() answer.Answers {
	a := answers2019()
	a.ServerError, a.NetworkFailure = answer.FullAllow, answer.FullAllow
	a.Unreachable, a.UnreachableCopy = answer.Unchanged, answer.IgnoreCopy
	return a
}

// ProgramNames lists the profiles that stand for a program beside its parser.
func ProgramNames() (names []string) {
	for _, f := range programs {
		names = append(names, f().Name)
	}
	return names
}
