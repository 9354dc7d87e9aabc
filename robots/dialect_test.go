package robots

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/dialect"
)

// introsorted has 17 rules, of which some of one length change places when introsort
// sorts them: so the parser whose sort that is answered.
const introsorted = "User-agent: *\nAllow: /b\nDisallow: /bab\nDisallow: /ba\nAllow: /bab\nAllow: /aab\nAllow: /aa\n" +
	"Disallow: /b\nAllow: /ba\nAllow: /bab\nAllow: /a\nAllow: /b\nAllow: /aab\nAllow: /ba\nAllow: /aab\nAllow: /a\n" +
	"Disallow: /bab\nAllow: /aab\n"

// A configuration may write an empty list for a field that it does not use.
func TestAnEmptyListIsNoDialectField(t *testing.T) {
	p, _ := ProfileNamed("google")
	empty, some := *p, *p
	empty.AgentFields, some.AgentFields = []string{}, []string{"useragent"}
	if err := empty.Validate(); err != nil {
		t.Error(err)
	}
	if some.Validate() == nil {
		t.Error("a document with a field of dialects is valid")
	}
}

// readFor returns what a profile makes of a file: its content, and what it means to two
// agents on some paths.
func readFor(p *Profile, body string) string {
	var f File
	f.Parse([]byte(body), p)
	text := fmt.Sprintln(f.Agents, f.Sitemaps, f.Remarks, f.Signals, f.Usages, f.Lines, f.InvalidLines, f.HasBOM)
	for _, g := range f.Groups {
		text += fmt.Sprintln(g.Line, g.Agents, g.Rules, g.Joined, g.CrawlDelay)
	}
	for _, r := range f.Rules {
		text += fmt.Sprintln(r.Kind, r.Line, string(r.Pattern))
	}
	j := NewJudge(p, []Agent{{Name: "Spider", Tokens: []string{"Spider"}}, {Name: "Ads", Tokens: []string{"Ads"},
		IgnoresStar: true}})
	j.Load(&f)
	text += fmt.Sprintln(j.Policy(0).CrawlDelay, j.Policy(1).CrawlDelay)
	for _, url := range []string{"/", "/p", "/pq", "/p/q?r", "/d/", "/robots.txt", "/p%2fq", "/é", "/a!b"} {
		for i := range 2 {
			t := p.LiteralTarget("http://h.example" + url)
			text += fmt.Sprint(j.Policy(i).Judge(&t), " ", j.Policy(i).Class(), " ",
				short(askUses(p, body, "http://h.example"+url, "Spider")), "\n")
		}
	}
	return text
}

// A dialect takes a field of documents only if it reads it: another value changes what
// some file says.
func TestDialectsReadTheFieldsThatTheyTake(t *testing.T) {
	files := []string{
		"\xefUser-agent: *\nDisallow: /p\x00q\n\vSitemap: http://h.example/\x00s\nCrawl-delay: 2\n",
		"Allow: /p\nUser-agent: *\nDisallow: p\nAllow: /d/index.html\nDisallow: /\nAllow:\n",
		"User-agent: *\nDisallow:\nAllow: /p**\nDisallow: /*q$\nDisallow: /p%2Fq\nDisallow: /a%21b\nDisallow: /é\n",
		"User-agent: Other\nFoo: 1\nUser-agent: spider\nUser-agent: Spider/2\nDisallow: /p /d\n\nUser-agent: *\n" +
			"Disallow: /\n",
		"User-agent: Spider\nContent-Usage: train-ai=n\nUser-agent: Ads\nDisalow: /q\nDisallow /p\nDisallow: /d\n" +
			"User-agnt: *\nDisallowed: /\n",
		"User-agent: *\nDisallow: /\nUser-agent: Spider\n\nUser-agent: Ads\nContent-Usage: /a!b train-ai=n\n" +
			"Content-Usage: /p** train-ai=y\nContent-Usage: /p train-ai=n\nDisallow: /x\n",
		"User-agent: Spider\nCrawl-delay: 1\nCrawl-delay: 2\nDisallow: /x\n",
	}
	values := strings.Fields("plain google reject accept open rule record agent token token_case token_open substring " +
		"merge literal pattern both rfc9309 distinct equal longest longest_open longest_or_least allow true false listed " +
		"listed_last listed_least")
	for _, f := range fieldsOfProfile(reflect.TypeFor[Profile](), "", nil) {
		group, name, _ := strings.Cut(f.name, ".")
		if f.dialect || group != "lines" && group != "groups" && group != "matching" {
			continue
		}
		taken, read, tried := "", false, false
		for _, d := range dialects {
			before := d()
			for _, value := range values {
				p := d()
				if yaml.Unmarshal([]byte(fmt.Sprintf("{%s: %s}", name, value)), &p) != nil || reflect.DeepEqual(p, before) {
					continue
				}
				tried = true
				if p.Validate() != nil {
					continue
				}
				taken = p.Name + " takes " + value
				for _, file := range files {
					read = read || readFor(&before, file) != readFor(&p, file)
				}
			}
		}
		if !tried {
			t.Errorf("%s: no value of it is tried here", f.name)
		}
		if taken != "" && !read {
			t.Errorf("%s: %s, and reads every file here as before: a field that dialects do not read does not belong in "+
				"readToo; for one that they do, add a file", f.name, taken)
		}
	}
}

// Each row is about one field of dialects (SPECIFICATION.md, section 9): a file, what a
// path means to an agent under the dialects named first, and under those named second.
func TestDialectFields(t *testing.T) {
	all := "protego urllib-2025 urllib-2026 crawler-commons robots-parser temoto heritrix reppy wget"
	for _, c := range []struct {
		field, file, agent, path string
		closed, open             string // dialects
	}{
		{"bom", "\xef\xbb\xbfUser-agent: *\nDisallow: /p\n", "Spider", "/p",
			"protego crawler-commons robots-parser temoto reppy", "urllib-2025 urllib-2026 heritrix wget"},
		{"bom", "\xff\xfeU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n" +
			"\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00p\x00\n\x00", "Spider", "/p", "crawler-commons",
			"protego heritrix reppy"},
		{"bom", "# c\n\xef\xbb\xbfUser-agent: *\nDisallow: /p\n", "Spider", "/p", "robots-parser", "protego crawler-commons"},
		{"line_ends", "User-agent: *\rDisallow: /p\r", "Spider", "/p", "protego urllib-2025 temoto heritrix", "wget"},
		{"line_ends", "User-agent: *\nDisallow: /q\u2029Disallow: /p\n", "Spider", "/p",
			"protego urllib-2025 urllib-2026 crawler-commons", "robots-parser temoto heritrix wget"},
		{"line_ends", "User-agent: *\nDisallow: /q\x1eDisallow: /p\n", "Spider", "/p", "protego urllib-2026",
			"crawler-commons reppy"},
		{"invalid_bytes", "User-agent: *\nDisallow: /p\xff\n", "Spider", "/p", "protego",
			"urllib-2026 crawler-commons robots-parser"},
		{"invalid_bytes", "User-agent: *\nDisallow: /p\xff\n", "Spider", "/p%EF%BF%BD",
			"crawler-commons robots-parser protego", "urllib-2026"},
		{"blank_ends_group", "User-agent: *\n\nDisallow: /p\n", "Spider", "/p", strings.ReplaceAll(all, "urllib-2025 ", ""),
			"urllib-2025"},
		{"blank_ends_group", "User-agent: *\n \nDisallow: /p\n", "Spider", "/p", all, ""},
		{"comments", "User-agent: *\nDisallow: /p#q\n", "Spider", "/p", "protego heritrix reppy", "temoto wget"},
		{"comments", "User-agent: *\nDisallow: /p #q\n", "Spider", "/p", all, ""},
		{"strip_tags", "<p>User-agent: *</p>\n<br>Disallow: /p\n", "Spider", "/p", "heritrix", "crawler-commons wget"},
		{"strip_tags", "<html>\n<p>User-agent: *</p>\n<br>Disallow: /p\n", "Spider", "/p", "heritrix crawler-commons",
			"protego"},
		{"colon", "User-agent: *\nDisallow : /p\n", "Spider", "/p",
			"protego urllib-2025 crawler-commons robots-parser reppy wget", "temoto heritrix"},
		{"colon", "User-agent: *\nDisallow /p\n", "Spider", "/p", "crawler-commons temoto",
			"protego urllib-2025 heritrix wget"},
		{"colon", "User-agent: *\ndisallow /p\n", "Spider", "/p", "crawler-commons temoto protego",
			"urllib-2025 heritrix wget"},
		{"colon", "User-agent: *\nDISALLOW\t/p:q\n", "Spider", "/p:q", "protego-0.7", "protego"},
		{"colon", "User-agent: *\nDisallow /p \t q\n", "Spider", "/p%20q", "protego-0.7", "protego"},
		{"colon", "User \t agent *\nDisallow: /p\n", "Spider", "/p", "protego-0.7", "protego"},
		{"colon", "User-agent: *\nDisallow /p: q\nDisallow /q:\n", "Spider", "/p:%20q", "", "protego-0.7"},
		{"colon", "User-agent: *\nDisallow /p: q\nDisallow /q:\n", "Spider", "/q:", "", "protego-0.7"},
		{"colon", "User-agent: *\nDisallow /q:", "Spider", "/q:", "", "protego-0.7"},
		{"colon", "User-agent: Spider\nvisit time 0800\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p", "",
			"protego-0.7"},
		{"one_word", "User-agent: *\nDisallow: /p /q\n", "Spider", "/p", "temoto", "protego crawler-commons reppy"},
		{"one_word", "User-agent: *\nDisallow: /q Disallow /p\n", "Spider", "/p", "temoto", "protego crawler-commons reppy"},
		{"one_word", "User-agent: *\na b c Disallow: /q\nDisallow: /p\n", "Spider", "/p", "temoto", ""},
		{"one_word", "User-agent: *\na b c\nDisallow: /p\n", "Spider", "/p", "temoto", ""},
		{"one_word", "User-agent: *\nDisallow:#q\nDisallow: /p\n", "Spider", "/p", "temoto", ""},
		{"white_space", "User-agent: *\nDisallow: /p\u00a0\n", "Spider", "/p",
			"protego urllib-2025 urllib-2026 robots-parser", "crawler-commons temoto heritrix reppy wget"},
		{"white_space", "User-agent: *\nDisallow: /p\x01\n", "Spider", "/p", "crawler-commons heritrix",
			"protego robots-parser temoto reppy wget"},
		{"white_space", "User-agent: *\nDisallow: /p\x1f\n", "Spider", "/p",
			"protego urllib-2025 urllib-2026 crawler-commons heritrix", "robots-parser temoto reppy wget"},
		{"white_space", "User-agent: *\ufeff\nDisallow\ufeff: /p\ufeff\n", "Spider", "/p", "robots-parser",
			"protego urllib-2025 urllib-2026 crawler-commons heritrix reppy wget"},
		{"white_space", "User-agent: *\u0085\nDisallow: /p\n", "Spider", "/p", "protego urllib-2026 crawler-commons",
			"robots-parser heritrix reppy wget"},
		{"white_space", "User-agent: Spider\ufeff/1\nDisallow: /p\n", "Spider", "/p", "robots-parser", "urllib-2026 wget"},
		{"nul_ends", "User-agent: *\nDisallow: /p\x00q\n", "Spider", "/p", "wget", "protego reppy"},
		{"agent_fields", "Useragent: *\nDisallow: /p\n", "Spider", "/p", "protego crawler-commons temoto",
			"urllib-2026 robots-parser heritrix wget"},
		{"disallow_fields", "User-agent: *\nDisllow: /p\n", "Spider", "/p", "crawler-commons", "protego urllib-2025 temoto"},
		{"disallow_fields", "User-agent: *\nDissalow: /p\n", "Spider", "/p", "crawler-commons protego", "urllib-2025 temoto"},
		{"disallow_fields", "User-agent: *\nDİsallow: /p\n", "Spider", "/p", "", strings.ReplaceAll(all, "temoto ", "")},
		{"list_ends", "User-agent: Spider\nCrawl-delay: 2\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p",
			"crawler-commons wget", "protego urllib-2025 urllib-2026 robots-parser temoto heritrix reppy"},
		{"list_ends", "User-agent: Spider\nRequest-rate: 1/2\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p",
			"crawler-commons wget temoto heritrix", "protego urllib-2025 urllib-2026 robots-parser reppy"},
		{"list_ends", "User-agent: Spider\nFoo: 1\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p",
			"crawler-commons wget temoto heritrix urllib-2025 urllib-2026", "protego robots-parser reppy"},
		{"list_ends", "User-agent: Spider\n: x\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p",
			"crawler-commons wget robots-parser protego", "reppy spiderbar protego-0.7"},
		{"list_ends", "User-agent: Spider\nsitemap x\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p", "protego-0.7",
			"protego protego-0.2"},
		{"list_ends", "User-agent: Spider\nhost x\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p", "protego-0.7",
			"protego protego-0.2"},
		{"list_ends", "User-agent: Spider\nrequest rate 1\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p", "",
			"protego protego-0.2 protego-0.7"},
		{"list_ends", "User-agent: Spider\nSitemap x\nvisit-time 1\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p",
			"protego protego-0.2", "protego-0.7"},
		{"list_ends", "User-agent: Spider\nUser-agent:\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p",
			"protego protego-0.7", ""},
		{"site_fields", "User-agent: Spider\nSitemap: x\nsite-map y\nHost: h\nUser-agent: Other\nDisallow: /p\n", "Spider",
			"/p", "protego-0.7", "protego reppy"},
		{"site_fields", "User-agent: Spider\nVisit-time 0800-0900\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p",
			"protego", "protego-0.7"},
		{"reopens", "User-agent: Spider\nDisallow: /q\nUser-agent:\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p",
			"protego", "protego-0.7 reppy"},
		{"exists", "User-agent: *\nDisallow: /p\n\nUser-agent: Spider\n", "Spider", "/p", "urllib-2025 robots-parser temoto",
			"protego urllib-2026 crawler-commons heritrix reppy wget"},
		{"exists", "User-agent: *\nDisallow: /p\n\nUser-agent: Spider\nCrawl-delay: 1\n", "Spider", "/p", "", all},
		{"exists", "User-agent: *\nDisallow: /p\n\nUser-agent: Spider\nRequest-rate: 1/1\n", "Spider", "/p",
			"robots-parser temoto", "urllib-2025 protego"},
		{"orphans_for_all", "Disallow: /p\n", "Spider", "/p", "reppy", "protego urllib-2025 wget"},
		{"strict", "Disallow: /p\nUser-agent: *\nDisallow: /q\n", "Spider", "/p", "reppy", "protego"},
		{"agent_value", "User-agent: */2\nDisallow: /p\n", "Spider", "/p", "robots-parser", "protego heritrix reppy wget"},
		{"agent_value", "User-agent: Spider/2\nDisallow: /p\n", "Spider", "/p", "crawler-commons robots-parser",
			"protego urllib-2025 temoto reppy wget"},
		{"agent_value", "User-agent: Spider (x)\nDisallow: /p\n", "Spider", "/p", "crawler-commons temoto",
			"robots-parser reppy"},
		{"agent_value", "User-agent: Spi*der\nDisallow: /p\n", "Spider", "/p", "protego", "urllib-2025 robots-parser"},
		{"agent_is", "User-agent: pide\nDisallow: /p\n", "Spider", "/p", "protego urllib-2025 urllib-2026 heritrix",
			"crawler-commons robots-parser temoto reppy wget"},
		{"agent_is", "User-agent: Spi\nDisallow: /p\n\nUser-agent: Spide\nDisallow: /q\n", "Spider", "/p",
			"urllib-2025 urllib-2026 heritrix", "protego temoto"},
		{"agent_is", "User-agent: Spi\nDisallow: /p\n\nUser-agent: Spider\nDisallow: /q\n", "Spider", "/p",
			"urllib-2025 heritrix", "urllib-2026 protego temoto wget"},
		{"agent_is", "User-agent: Other\nUser-agent: pide\nDisallow: /q\n\nUser-agent: pide\nDisallow: /p\n", "Spider", "/p",
			"protego", "urllib-2026"},
		{"agent_is", "User-agent: Other\nUser-agent: pide\nDisallow: /q\n\nUser-agent: Other\nDisallow: /p\n", "pider", "/p",
			"", "urllib-2026"},
		{"agent_is", "User-agent: pide\nUser-agent: Spi\nDisallow: /q\n\nUser-agent: pide\nDisallow: /p\n\n" +
			"User-agent: pide\nDisallow: /r\n", "Spi-x", "/p", "", "urllib-2026"},
		{"agent_is", "User-agent: *\nUser-agent: pide\nDisallow: /q\n\nUser-agent: pide\nDisallow: /p\n", "Spider", "/p",
			"protego", "urllib-2026"},
		{"agent_is", "User-agent: *\nDisallow: /p\n\nUser-agent: S\nDisallow: /q\n", "Spider", "/p", "protego temoto wget",
			"urllib-2025 heritrix"},
		{"agent_is", "User-agent: S\nDisallow: /q\n\nUser-agent: *\nDisallow: /p\n", "Spider", "/p", "temoto wget",
			"protego urllib-2025 heritrix"},
		{"agent_is", "User-agent: spİder\nDisallow: /p\n", "Spider", "/p", "", strings.ReplaceAll(all, "temoto ", "")},
		{"first_group", "User-agent: *\nUser-agent: Spider\nDisallow: /q\n\nUser-agent: Spider\nDisallow: /p\n", "Spider",
			"/p", "urllib-2025 protego", ""},
		{"first_group", "User-agent: Spider\nDisallow: /q\n\nUser-agent: Spider\nDisallow: /p\n", "Spider", "/p",
			strings.ReplaceAll(all, "urllib-2025 ", ""), "urllib-2025"},
		{"further_once", "User-agent:\nUser-agent: Other\nDisallow: /p\n\nUser-agent: Spider\nDisallow: /q\n", "Other", "/p",
			"protego crawler-commons", "reppy"},
		{"further_once", "User-agent:\nUser-agent: Other\nDisallow: /p\n\nUser-agent: Spider\nDisallow: /q\n", "Other", "/q",
			"reppy", "crawler-commons"},
		{"reopens", "User-agent: *\nDisallow: /p\n\nUser-agent:\nUser-agent: Other\nDisallow: /q\n", "Spider", "/q",
			"protego", "crawler-commons robots-parser"},
		{"reopens", "User-agent: *\nDisallow: /p\n\nUser-agent:\nUser-agent: Other\nDisallow: /q\n", "Other", "/p", "",
			"protego crawler-commons robots-parser"},
		{"reopens", "User-agent: *\nDisallow: /p\n\nUser-agent:\nFoo: 1\nUser-agent: Other\nDisallow: /q\n", "Spider", "/q",
			"", "protego"},
		{"reopens", "User-agent: *\nDisallow: /p\n: x\nUser-agent: Other\nDisallow: /q\n", "Spider", "/q", "protego",
			"urllib-2026 robots-parser"},
		{"reopens", "User-agent: *\nDisallow: /p\n:\nFoo: 1\nUser-agent: Other\nDisallow: /q\n", "Spider", "/q", "",
			"protego"},
		{"star_hides", "User-agent: *\nUser-agent: Spider\nDisallow: /q\n\nUser-agent: *\nDisallow: /p\n", "Spider", "/p",
			"wget", "protego crawler-commons reppy"},
		{"star_hides", "User-agent: Spider\nUser-agent: *\nDisallow: /q\n\nUser-agent: *\nDisallow: /p\n", "Spider", "/p",
			"", "wget protego crawler-commons reppy"},
		{"continues", "User-agent: Spider\nUser-agent: Other\nDisallow: /q\n\nUser-agent: Other\nDisallow: /p\n", "Spider",
			"/p", "heritrix", "protego crawler-commons"},
		{"continues", "User-agent: Other\nDisallow: /q\n\nUser-agent: Spider\nUser-agent: Other\nDisallow: /p\n\n" +
			"User-agent: *\nDisallow: /\n", "Spider", "/p", "protego crawler-commons", "heritrix"},
		{"continues", "User-agent: Spider\nCrawl-delay: x\nUser-agent: Other\nDisallow: /p\n", "Spider", "/p",
			"heritrix crawler-commons", "protego"},
		{"further_once", "User-agent: Spider\nDisallow: /q\n\nUser-agent: Other\nUser-agent: Spider\nDisallow: /p\n",
			"Spider", "/p", "protego crawler-commons", "reppy urllib-2025"},
		{"max_crawl_delay", "User-agent: *\nCrawl-delay: 301\nDisallow: /q\n", "Spider", "/p", "crawler-commons",
			"protego heritrix"},
		{"max_crawl_delay", "User-agent: *\nCrawl-delay: 300\nDisallow: /q\n", "Spider", "/p", "", all},
		{"max_crawl_delay", "User-agent: Other\nCrawl-delay: 999\nUser-agent: Spider\nDisallow: /q\n", "Spider", "/p", "",
			"crawler-commons"},
		{"max_crawl_delay", "User-agent: Spider\nCrawl-delay: 1\nUser-agent: Other\nCrawl-delay: 999\nDisallow: /q\n",
			"Spider", "/p", "", "crawler-commons"},
		{"max_crawl_delay", "User-agent: Spider\nCrawl-delay: 1\nUser-agent: Other\nCrawl-delay: 999\nDisallow: /q\n",
			"Other", "/p", "crawler-commons", ""},
		{"max_crawl_delay", "User-agent: Spider\nCrawl-delay: 999\nDisallow: /q\n\nUser-agent: Spider\nCrawl-delay: 9\n",
			"Spider", "/p", "", "crawler-commons"},
		{"order", "User-agent: *\nAllow: /p\nDisallow: /pq\n", "Spider", "/pqr",
			"protego urllib-2026 crawler-commons robots-parser temoto heritrix reppy", "urllib-2025 wget"},
		{"order", "User-agent: *\nDisallow: /p\nAllow: /p\n", "Spider", "/p", "urllib-2025 temoto reppy wget",
			"protego urllib-2026 crawler-commons robots-parser heritrix"},
		{"length", "User-agent: *\nDisallow: /p*\nAllow: /pqrst\n", "Spider", "/pqrstu", "urllib-2026",
			"protego crawler-commons temoto"},
		{"length", "User-agent: *\nDisallow: /*.q\nAllow: /rs.q\n", "Spider", "/rs.q", "temoto", "protego crawler-commons"},
		{"empty_allows", "User-agent: *\nDisallow:\nDisallow: /p\n", "Spider", "/p", "protego urllib-2026 heritrix",
			"urllib-2025 wget"},
		{"index", "User-agent: *\nDisallow: /d\nAllow: /d/index.html\n", "Spider", "/d/",
			"urllib-2026 robots-parser heritrix", "protego crawler-commons"},
		{"agent_is", "User-agent: pider\nDisallow: /p\n", "x-pider é.pIder", "/p", "protego protego-0.7", ""},
		{"agent_is", "User-agent: pider\nDisallow: /p\n", "épider -pider _pider 1pider", "/p", "protego", "protego-0.7"},
		{"index", "User-agent: *\nDisallow: /d\nAllow: /d/index.html\n", "Spider", "/d/$", "protego-0.7", "protego"},
		{"index", "User-agent: *\nDisallow: /d\nAllow: /d/index.html\n", "Spider", "/d/", "", "protego-0.7"},
		{"index", "User-agent: *\nDisallow: /d/index.htm\n", "Spider", "/d/", "crawler-commons", "protego robots-parser"},
		{"greatest_only", "User-agent: *\nDisallow: /p\nDisallow: /pa\n", "Spider", "/pz", "protego reppy", "heritrix"},
		{"stars", "User-agent: *\nDisallow: /*p$\n", "Spider", "/pop", "protego urllib-2026 robots-parser temoto reppy",
			"crawler-commons heritrix urllib-2025"},
		{"stars", "User-agent: *\nDisallow: /p*q\n", "Spider", "/o/pq", "temoto", "protego crawler-commons reppy"},
		{"dollar", "User-agent: *\nDisallow: /p$\n", "Spider", "/p$q", "protego", "crawler-commons robots-parser reppy"},
		{"dollar", "User-agent: *\nDisallow: /p$q\n", "Spider", "/p", "reppy", "protego temoto robots-parser"},
		{"dollar", "User-agent: *\nDisallow: /p$q\n", "Spider", "/p$q", "protego robots-parser heritrix",
			"temoto urllib-2026 reppy"},
		{"strip_star", "User-agent: *\nDisallow: *\n", "Spider", "/p", "protego reppy", "heritrix temoto"},
		{"leading_star", "User-agent: *\nDisallow: */p\n", "Spider", "/p", "reppy protego", "wget"},
		{"compared", "User-agent: *\nDisallow: /p?q\n", "Spider", "/p?q", "protego reppy", "wget"},
		{"compared", "User-agent: *\nDisallow: /p\n", "Spider", "/o/../p", "robots-parser", "protego wget"},
		{"empty_query_lost", "User-agent: *\nDisallow: /p?\n", "Spider", "/p?", "urllib-2026 reppy", "robots-parser protego"},
		{"double_slash", "User-agent: *\nDisallow: //p\n", "Spider", "http://h.example//p", "protego crawler-commons",
			"urllib-2025 urllib-2026"},
		{"invalid_is_root", "User-agent: *\nDisallow: /$\n", "Spider", "/p{", "crawler-commons", "protego robots-parser"},
		{"requote", "User-agent: *\nDisallow: /%70\n", "Spider", "/p",
			"protego urllib-2025 urllib-2026 crawler-commons reppy wget", "robots-parser temoto heritrix"},
		{"requote", "User-agent: *\nDisallow: /?p=%71\n", "Spider", "/?p=q", "urllib-2025 urllib-2026 crawler-commons reppy",
			"protego robots-parser"},
		{"requote", "User-agent: *\nDisallow: /%3Fp=%71\n", "Spider", "/?p%3Dq", "protego-0.7", "protego"},
		{"requote", "User-agent: *\nDisallow: /*;%3Fp\n", "Spider", "/q;?p", "protego-0.7", "protego"},
		{"requote", "User-agent: *\nDisallow: /*%3F\n", "Spider", "/;%3F", "", "reppy spiderbar"},
		{"requote", "User-agent: *\nDisallow: /p%2Fq\n", "Spider", "/p/q", "urllib-2025 urllib-2026 reppy",
			"protego crawler-commons wget"},
		{"requote", "User-agent: *\nDisallow: /p%25q\n", "Spider", "/p%q", "urllib-2025 urllib-2026 reppy wget",
			"protego robots-parser temoto heritrix"},
		{"requote", "User-agent: *\nDisallow: %2Fp\n", "Spider", "/p", "reppy", "protego robots-parser temoto heritrix"},
		{"requote", "User-agent: *\nDisallow: /%FF%FEq\n", "Spider", "/%F0%90%FFq", "protego", "urllib-2026 temoto heritrix"},
		{"requote", "User-agent: *\nDisallow: /%FFq\n", "Spider", "/%FE%FFq", "", "protego"},
		{"requote", "User-agent: *\nDisallow: /é\n", "Spider", "/%c3%a9",
			"protego urllib-2026 crawler-commons robots-parser reppy wget", "temoto heritrix"},
		{"requote", "User-agent: *\nDisallow: /pq\n", "Spider", "/p\tq", "protego urllib-2025 urllib-2026 robots-parser", ""},
		{"requote", "User-agent: *\nDisallow: /p\tq\n", "Spider", "/pq", "protego", "urllib-2025 urllib-2026 robots-parser"},
		{"requote", "User-agent: *\nDisallow: //p\tq\n", "Spider", "http://h//pq", "protego", "urllib-2026"},
		{"requote", "User-agent: *\nDisallow: \x00foo:/p\n", "Spider", "/p", "protego",
			"urllib-2025 urllib-2026 robots-parser"},
		{"requote", "User-agent: *\nDisallow: HTTP://h/p\n", "Spider", "/p", "protego",
			"urllib-2025 urllib-2026 robots-parser"},
		{"requote", "User-agent: *\nDisallow: http://h/p\n", "Spider", "/http://h/p", "protego", "urllib-2026"},
		{"requote", "User-agent: *\nDisallow: foo://h\n", "Spider", "/p", "", "protego"},
		{"requote", "User-agent: *\nDisallow: f_o:/p\n", "Spider", "/p", "", "protego"},
		{"compared", "User-agent: *\nDisallow: /p$\n", "Spider", "/p ", "robots-parser", "protego urllib-2026"},
		{"robots_txt_allowed", "User-agent: *\nDisallow: /\n", "Spider", "/robots.txt",
			"protego urllib-2025 robots-parser temoto heritrix wget", "urllib-2026 crawler-commons reppy"},
		{"order", introsorted, "Spider", "/b", "reppy", "temoto wget"},
		{"order", introsorted, "Spider", "/bab", "temoto", "reppy"},
	} {
		for want, names := range map[string]string{"0": c.closed, "1": c.open} {
			for _, name := range strings.Fields(names) {
				p, ok := ProfileNamed(name)
				if !ok {
					t.Fatalf("no profile %q", name)
				}
				if got := answerOf(p, []byte(c.file), c.agent, c.path); got != want {
					t.Errorf("%s: %s answers %s, want %s: %q on %s", c.field, name, got, want, c.file, c.path)
				}
			}
		}
	}
	temoto := named(t, "temoto")
	for _, file := range []string{"Disallow: /p\nUser-agent: *\nDisallow: /q\n", "User-agent: *\nCrawl-delay: x\n"} {
		if got := answerOf(temoto, []byte(file), "Spider", "/p"); got != "E" {
			t.Errorf("strict: temoto answers %s to %q", got, file)
		}
	}
}

// A file that the parser refuses means what the profile says.
func TestRefusedFiles(t *testing.T) {
	for outcome, want := range map[answer.Outcome]string{"": "undefined undefined", answer.FullAllow: "allow no_group",
		answer.FullDisallow: "disallow full_disallow"} {
		p := named(t, "temoto")
		p.Refused = outcome
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		var f File
		f.Parse([]byte("Disallow: /p\n"), p)
		j := NewJudge(p, []Agent{{Name: "a", Tokens: []string{"a"}}, {Name: "b", Tokens: []string{"b"}}})
		j.Load(&f)
		target := p.Target("/x")
		for i := range 2 {
			v := j.Policy(i).Judge(&target)
			if got := v.Value.String() + " " + v.Reason.String(); got != want || v.Rule != -1 {
				t.Errorf("%q: %s, rule %d, want %s", outcome, got, v.Rule, want)
			}
		}
	}
}

// 401 and 403 close a site for those that obey them, and for nobody else.
func TestUnauthorized(t *testing.T) {
	for _, name := range ProfileNames() {
		p := named(t, name)
		for status, closes := range map[int]bool{401: true, 403: true, 404: false, 410: false} {
			a := p.Answer(answer.Facts{Hops: []answer.Hop{{Status: status}}})
			want := answer.Answer{Outcome: answer.FullAllow, Reason: answer.ClientError}
			if closes && strings.HasPrefix(name, "urllib") {
				want = answer.Answer{Outcome: answer.FullDisallow, Reason: answer.Unauthorized}
			}
			if a != want {
				t.Errorf("%s takes %d for %s, %s", name, status, a.Outcome, a.Reason)
			}
		}
	}
}

// A verdict of a dialect names the line that decides, also where a form of a rule or a
// crawl-delay does, and lines count as for every other profile.
func TestLinesOfDialects(t *testing.T) {
	for _, c := range []struct {
		profile, file, path string
		line                int32
	}{
		{"protego", "User-agent: *\nDisallow: /d\nAllow: /d/index.html\n", "/d/", 3},
		{"crawler-commons", "User-agent: *\n\nCrawl-delay: 400\nDisallow: /q\n", "/p", 3},
		{"urllib-2025", "# a\x0bb\r\nUser-agent: *\r\nDisallow: /q\u2028Disallow: /p\r\nDisallow: /r\r\n", "/p", 3},
		{"urllib-2025", "# a\x0bb\r\nUser-agent: *\r\nDisallow: /q\u2028Disallow: /p\r\nDisallow: /r\r\n", "/r", 4},
		{"reppy", "User-agent: *\nDisallow: */p\n", "/p", 2},
	} {
		p := named(t, c.profile)
		var f File
		f.Parse([]byte(c.file), p)
		j := NewJudge(p, []Agent{{Name: "a", Tokens: []string{"a"}}})
		j.Load(&f)
		target := p.Target(c.path)
		if v := j.Policy(0).Judge(&target); v.Rule < 0 || f.Rules[v.Rule].Line != c.line {
			t.Errorf("%s: %q on %s: %+v of %+v, want line %d", c.profile, c.file, c.path, v, f.Rules, c.line)
		}
	}
}

// A line that the size limit cuts does not count.
func TestCutLineOfDialects(t *testing.T) {
	for _, f := range dialects {
		p := f()
		p.SizeLimit = len("User-agent: *\nDisallow: /q\nDisallow: /p")
		if got := answerOf(&p, []byte("User-agent: *\nDisallow: /q\nDisallow: /path\n"), "Spider", "/part"); got != "1" {
			t.Errorf("%s answers %s", p.Name, got)
		}
	}
}

// The class of a policy counts rules that a URL can match, and no others.
func TestClassOfDialects(t *testing.T) {
	for _, c := range []struct {
		profile, rules string
		want           Class
	}{
		{"protego", "Disallow: /\nAllow: /a=b\n", DisallowAll}, // = is escaped in URLs, and not in patterns
		{"protego", "Disallow: /a=b\n", AllowAll},
		{"protego", "Disallow: /?a=b\n", Partial},
		{"urllib-2025", "Disallow: //a\n", Partial}, // /%2Fa
		{"urllib-2026", "Disallow: /\nAllow: /*\n", AllowAll},
		{"heritrix", "Disallow: /\nDisallow: /a\n", Partial}, // /b is missed
		{"heritrix", "Disallow: /a\nDisallow: /b\n", Partial},
		{"heritrix", "Disallow: /ab\nDisallow: /\nAllow: /$\nAllow: /ab\n", Partial}, // /! is above / and below /ab
		{"protego", "Disallow: /*=\nAllow: /?*\n", Partial},                          // /q?q=
		{"temoto", "Disallow: /\nAllow: /\n", DisallowAll},
		{"wget", "Disallow:\nDisallow: /\n", AllowAll},
		{"crawler-commons", "Crawl-delay: 400\n", DisallowAll},
	} {
		p := named(t, c.profile)
		var f File
		f.Parse([]byte("User-agent: *\n"+c.rules), p)
		j := NewJudge(p, []Agent{{Name: "a", Tokens: []string{"a"}}})
		j.Load(&f)
		if got := j.Policy(0).Class(); got != c.want {
			t.Errorf("%s: %q is %v, want %v", c.profile, c.rules, got, c.want)
		}
	}
}

// A dialect survives YAML, its fields in groups or flat, and a profile without them has
// none of them there.
func TestDialectsInYAML(t *testing.T) {
	for _, name := range ProfileNames() {
		p := named(t, name)
		text, err := yaml.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		back := new(Profile)
		if err := yaml.Unmarshal(text, back); err != nil || !reflect.DeepEqual(p, back) {
			t.Errorf("%s: %v\n%+v\n%+v", name, err, p, back)
		}
		if strings.Contains(string(text), "agent_value") != p.isDialect() {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	flat := named(t, "google")
	if err := yaml.Unmarshal([]byte("agent_value: whole\norder: first\ngroups: {agent_is: first_part}\n"),
		flat); err != nil || flat.AgentValue != dialect.ValueWhole || flat.Order != dialect.OrderFirst ||
		flat.AgentIs != dialect.IsFirstPart {
		t.Errorf("%v: %+v", err, flat)
	}
	for text, want := range map[string]string{
		"order: first": "order: only dialects read it", "fold_case: true": "fold_case: only dialects read it",
		"{agent_value: whole, ties: open}":          "ties: does not apply",
		"agent_value: half":                         "agent_value: \"half\" is not one of",
		"{agent_value: whole, typos: accept}":       "typos: does not apply",
		"{agent_value: whole, max_crawl_delay: -1}": "max_crawl_delay: -1 is negative", "refused: undefined": "refused: ",
	} {
		p := named(t, "protego")
		if !strings.HasPrefix(text, "{agent_value: whole, max") && !strings.HasPrefix(text, "{") {
			p = named(t, "google")
		}
		if err := yaml.Unmarshal([]byte(text), p); err != nil {
			t.Fatal(err)
		}
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A profile of one's own that compares letters in any case does so whatever its base.
func TestAnyDialectFoldsCase(t *testing.T) {
	for _, name := range ParserNames() {
		p := named(t, name)
		if !p.isDialect() {
			continue
		}
		p.FoldCase = true
		for _, path := range []string{"/Ab", "/aB/x", "/ab?Q"} {
			if v, _ := ask(p, []byte("User-agent: x\nDisallow: /Ab\n"), path, "x"); v.Value != Disallowed {
				t.Errorf("%s: %s is %v", name, path, v.Value)
			}
		}
	}
}

// Hostile files cost a dialect no more than bytes of the file plus rules times bytes of
// the path.
func TestDialectsAreBounded(t *testing.T) {
	texts := []string{
		"User-agent: *\n" + strings.Repeat("Disallow: /"+strings.Repeat("*a", 400)+"$\n", 300) + strings.Repeat("<",
			100_000) + "\n" + strings.Repeat("User-agent: x\n", 20_000),
		strings.Repeat("User-agent:\n\nAllow: /*a$\n", 40_000),
		strings.Repeat("User-agent: x\nDisallow: /\nfoo\n", 40_000),
	}
	if testing.Short() {
		texts = texts[1:]
	}
	path := "/" + strings.Repeat("a", 4000)
	for _, text := range texts {
		for _, f := range dialects {
			p := f()
			var file File
			file.Parse([]byte(text), &p)
			j := NewJudge(&p, []Agent{{Name: "x", Tokens: []string{"x"}}})
			j.Load(&file)
			target := p.Target(path)
			j.Policy(0).Judge(&target)
			j.Policy(0).Class()
		}
	}
}

// A long line costs a dialect no more than its bytes: what it makes of one symbol must not
// take a look at all the rest.
func TestDialectsReadLongLines(t *testing.T) {
	for _, of := range []string{"a", ";", "%C3", "?", "a;/"} {
		line := strings.Repeat(of, (1<<21)/len(of))
		for _, f := range dialects {
			p := f()
			p.SizeLimit = 1 << 22
			var file File
			file.Parse([]byte("User-agent: *\nDisallow: /"+line+"\n"), &p)
			j := NewJudge(&p, []Agent{{Name: "x", Tokens: []string{"x"}}})
			j.Load(&file)
			target := p.Target("/" + line[:4096])
			if v := j.Policy(0).Judge(&target); v.Value != Permitted && of != "?" && p.MaxPattern == 0 {
				t.Errorf("%s: %v of a path that is shorter than the pattern", p.Name, v)
			}
		}
	}
}

// A line of many words without a colon is read once, not once for each word.
func TestDialectsReadLinesOfManyWords(t *testing.T) {
	text := []byte("User-agent: *\nDisallow: /p\n" + strings.Repeat("a ", 200_000) + "\nDisallow: /q\n")
	for _, f := range dialects {
		p := f()
		var file File
		if file.Parse(text, &p); len(file.Rules) != 2 {
			t.Errorf("%s: %d rules", p.Name, len(file.Rules))
		}
	}
}

// A file that reopens its list of agents again and again does not have the square of its
// names.
func TestReopenedListsAreBounded(t *testing.T) {
	const times = 5000
	p := protego()
	var file File
	file.Parse([]byte(strings.Repeat("User-agent: x\nDisallow: /\nUser-agent:\n", times)), &p)
	if len(file.Groups) != times || len(file.Agents) > times+mostRepeated || len(file.Agents) < mostRepeated {
		t.Errorf("%d groups, %d agents", len(file.Groups), len(file.Agents))
	}
}

// FuzzDialects: no file, agent or URL makes a dialect panic; rules lie on the lines of
// the file in order, each in its group; a verdict names a rule of the agent's group; a
// class that is not partial is the verdict on the path; and where no path is said to differ
// from google's reading, this one does not.
func FuzzDialects(f *testing.F) {
	for _, seed := range []string{
		"User-agent: *\nDisallow: /p\n", "\xef\xbb\xbfUser-agent: a/1\n\nCrawl-delay: 400\nDisallow: /*p$q\n",
		"Disallow: //x\nUser-agent: *a\nallow /%2fq?a=%zz\u2028Allow: */index.html\n",
		"<html>User-agent: a\r\rDisallow:\nRequest-rate: 1/2\nUser-agent: *\nDisallow: *$\n", "\xff\xfeU\x00",
		"User-agent\ta\x00\nDisallow:*://h/p#c\n",
	} {
		f.Add([]byte(seed), "a", "/p?q=1", uint8(0))
	}
	f.Fuzz(func(t *testing.T, body []byte, token, path string, which uint8) {
		p := dialects[int(which)%len(dialects)]()
		var file File
		file.Parse(body, &p)
		line := int32(0)
		for i, r := range file.Rules {
			if r.Line < line || int(r.Line) > file.Lines || r.Group < 0 || int(r.Group) >= len(file.Groups) ||
				int32(i) < file.Groups[r.Group].Rules.From || int32(i) >= file.Groups[r.Group].Rules.To {
				t.Fatalf("%s: rule %d is %+v, after line %d, of %d lines and groups %+v", p.Name, i, r, line, file.Lines,
					file.Groups)
			}
			line = r.Line
		}
		j := NewJudge(&p, []Agent{{Name: token, Tokens: []string{token}}})
		j.Load(&file)
		policy := j.Policy(0)
		for _, target := range []Target{p.Target(path), p.LiteralTarget(path)} {
			v := policy.Judge(&target)
			if v.Reason == ReasonRule && (v.Rule < 0 || int(v.Rule) >= len(file.Rules)) || v.Reason != ReasonRule &&
				v.Reason != ReasonEmptyRule && v.Rule != -1 {
				t.Fatalf("%s: %+v of %d rules", p.Name, v, len(file.Rules))
			}
			if class := policy.Class(); !p.transforms() && !target.IsRobotsTxt() && !strings.ContainsFunc(target.Path(),
				func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }) &&
				(class == AllowAll && v.Value == Disallowed || class == DisallowAll && v.Value == Permitted) {
				t.Fatalf("%s: class %v, and %v on %q", p.Name, class, v.Value, target.Path())
			}
		}
		_ = policy.Contenders(nil, &Target{path: []byte("/")})
		Compare(policy, policy)
		url := "/" + strings.Map(func(r rune) rune {
			if r <= ' ' || r > '~' || r == '#' {
				return -1
			}
			return r
		}, path)
		google := builtin[0]()
		var read File
		read.Parse(body, &google)
		k := NewJudge(&google, []Agent{{Name: token, Tokens: []string{token}}})
		k.Load(&read)
		if d, _ := Differ(k.Policy(0), policy, 1<<14); d == Same {
			if a, b := k.Policy(0).judgePath([]byte(url)), policy.judgePath([]byte(url)); a.Value != b.Value {
				t.Fatalf("google %v and %s %v on %s, and %v", a, p.Name, b, url, d)
			}
		}
	})
}
