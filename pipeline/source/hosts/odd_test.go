package hosts

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
)

// oddLists are lists as programs export them and as people type them. asked are the hosts
// that they name, separated by spaces; why is part of the error, or of why the first line is
// rejected.
var oddLists = []struct{ name, column, text, asked, why string }{
	// A crawler of sites.
	{name: "crawler", text: "\ufeff\"Address\",\"Content Type\",\"Status Code\"\r\n\"https://a.example/\",\"text/html; " +
		"charset=UTF-8\",\"200\"\r\n\"https://b.example/x,y\",\"text/html\",\"404\"\r\n", asked: "a.example b.example"},
	{name: "crawler, two columns", text: "\"Address\",\"Status Code\"\n\"https://a.example/\",\"200\"\n",
		asked: "a.example"},
	{name: "crawler, issues", text: "\"Source\",\"Address\",\"Anchor\"\n\"list\",\"https://a.example/\",\"5\"\" " +
		"screen, cheap\"\n", asked: "a.example"},
	{name: "crawler, titles of several lines", text: "\"Address\",\"Title 1\"\n\"https://a.example/\",\"A title\n" +
		"of two lines\"\n\"https://b.example/\",\"B\"\n", asked: "a.example b.example"},
	// A console of search.
	{name: "console", text: "Top pages,Clicks,Impressions,CTR,Position\nhttps://a.example/,10,200,5%,3.4\n" +
		"https://a.example/x,1,20,5%,8\n", asked: "a.example"},
	{name: "console, of one page", text: "Page,Clicks\nhttps://a.example/?q=1,10\n", asked: "a.example"},
	{name: "console, in German Excel", text: "sep=;\r\nTop pages;Clicks;CTR\r\nhttps://a.example/;10;\"5,1 %\"\r\n",
		asked: "a.example"},
	{name: "console, in tabs", text: "Landing page\tSessions\nhttps://a.example/b\t1.000\n", asked: "a.example"},
	// Indexes of links.
	{name: "links, domains", text: "Domain,Domain Rating,Dofollow\na.example,70,yes\nb.example,3,no\n",
		asked: "a.example b.example"},
	{name: "links, with numbers", text: "#\tTarget URL\tTraffic\n1\thttps://a.example/x\t10\n", asked: "a.example"},
	{name: "links, UTF-16", text: "\xff\xfeD\x00o\x00m\x00a\x00i\x00n\x00", why: "iconv -f UTF-16"},
	// Books of customers.
	{name: "customers", text: "id,Website URL,country\n7,https://www.a.example,DE\n8,b.example,FR\n9,,FR\n",
		asked: "www.a.example b.example", why: "no_host"},
	{name: "customers with addresses of streets",
		text: "Company;Website;Address\n\"Müller, Söhne\";www.a.example;\"Hauptstr. 1; Köln\"\n", asked: "www.a.example"},
	{name: "customers, by hand", column: "Web", text: "Company,Web,Phone\nA,a.example,1\nB,n/a,2\nC,www.c.example,3\n",
		asked: "a.example www.c.example", why: "not_a_host"},
	{name: "customers, numbered", text: "sep=;\n\"No.\";\"Website URL\";\"Tel.\"\n1;\"https://a.example/\";\"5\"\n" +
		"2;b.example;\n", asked: "a.example b.example"},
	{name: "customers, with colons", text: "Nr.:,Website:,Phone:\n1,a.example,5\n", asked: "a.example"},
	{name: "customers, without a known name", text: "Company,Web,Phone\nA,a.example,1\n", why: "--column"},
	{name: "customers, no such column", column: "Url", text: "Company,Web,Phone\nA,a.example,1\n",
		why: `has no column "Url" (--column); it has "Company", "Web", "Phone"`},
	{name: "a title above the header", column: "Web site", text: "Customers of 2026\n\nCompany;Web site\nA;a.example\n",
		asked: "a.example"},
	{name: "a title above the header, without --column", text: "Customers of 2026\n\nCompany;Web site\nA;a.example\n" +
		"B;b.example\n", why: "rejected: 4"},
	// Lists of ranks.
	{name: "ranks", text: "1,a.example\n2,b.example\n", asked: "a.example b.example"},
	{name: "ranks, Majestic", text: "GlobalRank,TldRank,Domain,TLD,RefSubNets\n1,1,a.example,example,5\n",
		asked: "a.example"},
	{name: "ranks, quoted", text: "\"Rank\",\"Domain\",\"Open Page Rank\"\n\"1\",\"a.example\",\"10.00\"\n",
		asked: "a.example"},
	{name: "ranks, CrUX", text: "origin,rank\nhttps://a.example,1000\n", asked: "a.example"},
	{name: "ranks with addresses", text: "1,192.0.2.1,a.example\n2,192.0.2.2,b.example\n", asked: "a.example b.example"},
	{name: "ranks and pipes", text: "rank|host\n1|a.example\n", asked: "a.example"},
	{name: "a rank and two sites", text: "1,a.example,b.test\n",
		why: "several columns look like hosts, such as a.example and b.test"},
	// Plain lists.
	{name: "byte order mark", text: "\ufeffa.example\r\nb.example\r\n", asked: "a.example b.example"},
	{name: "a plural", text: "Domains\na.example\n", asked: "a.example"},
	{name: "several on a line", text: "a.example b.example\nc.example, d.example; e.example\n",
		asked: "a.example b.example c.example d.example e.example"},
	{name: "several in a first line of commas", text: "a.example, b.example,c.example\nd.example\n",
		asked: "a.example b.example c.example d.example"},
	{name: "several in a cell", text: "id,Website\n1,\"a.example, b.example\"\n", asked: "a.example b.example"},
	{name: "several, one of them none", text: "a.example, b.example\nc.example, nothing here\n",
		asked: "a.example b.example c.example", why: "bad_host"},
	{name: "a list of JavaScript", text: "\"a.example\",\n\"b.example\",\n\"c.example\"\n",
		asked: "a.example b.example c.example"},
	{name: "/etc/hosts", text: "# blocked\n127.0.0.1 localhost\n0.0.0.0 ads.example\n0.0.0.0 b.example www.b.example\n",
		asked: "ads.example b.example www.b.example", why: "no_dot"},
	{name: "/etc/hosts with tabs", text: "127.0.0.1\ta.example\n127.0.0.1\tb.example\n", asked: "a.example b.example"},
	{name: "a comma in a path", text: "https://a.example/x,y.html\nhttps://b.example/x,b.example\n",
		asked: "a.example b.example"},
	{name: "URLs side by side", text: "https://a.example/x,https://b.example/y\n", asked: "a.example b.example"},
	{name: "an IDN with an ideographic dot", text: "例え。example\n", asked: "xn--r8jz45g.example"},
	{name: "addresses", text: "192.0.2.1\n2001:db8::1\n", asked: "192.0.2.1 2001:db8::1"},
	{name: "prose", text: "Please look at these sites:\na.example\nand also the blog of Anna,\n" +
		"and that is all, thank you.\n", why: "3 of the 4 rows name no host"},
	{name: "quotes of one kind", text: "'a.example'\n'b.example'\nc.example\n", why: "2 of the 3 rows name no host"},
	{name: "a stray quote", text: "a.example\n\"b.example\nc.example\nd.example\n",
		asked: "a.example c.example d.example", why: "bad_quotes"},
	{name: "a stray quote in the first line", text: "\"a.example,1\nb.example,2\nc.example,3\n",
		asked: "b.example c.example", why: "bad_quotes"},
	{name: "a stray quote in the header", text: "\"Address,Status Code\n\"https://a.example/\",200\n" +
		"https://b.example/,200\n", asked: "a.example b.example"},
	{name: "a stray quote in a table", text: "host,note\na.example,\"big\nb.example,5\" screen\nc.example,\"x\" y\n",
		asked: "a.example b.example c.example"},
	{name: "a line break in quotes", text: "host,note\r\na.example,\"big\r\nand \"\"wide\"\"\r\n\r\nscreen\"\r\n" +
		"b.example,x\r\n", asked: "a.example b.example"},
	{name: "a line break in quotes at the end", text: "host,note\na.example,\"big\nscreen\"", asked: "a.example"},
	{name: "a quote that rows follow", text: "host,note\na.example,\"big\nb.example,y\"\nc.example,z\n",
		asked: "a.example b.example c.example"},
	{name: "a quote that nothing ends", text: "host,note\na.example,\"big\nx y\nb.example,z\nc.example,z\n",
		asked: "a.example b.example c.example", why: "bad_host"},
	{name: "a stray quote before the host", text: "note,host\n\"big,a.example\nx,b.example\ny,c.example\n",
		asked: "b.example c.example", why: "bad_quotes"},
	{name: "a header twice", text: "url\nhttps://a.example/\nhttps://b.example/\nurl\n", asked: "a.example b.example",
		why: "not_a_host"},
	{name: "line ends of two kinds", text: "a.example\nb.example\rc.example\nd.example\n", asked: "a.example d.example",
		why: `line 2: bad_host: "b.example\rc.example" holds a CR, with which lines end in a part of the list; convert it: tr '\r' '\n'`},
	// Mistyped schemes.
	{name: "no colon", text: "https//a.example/\nb.example\n", asked: "b.example",
		why: "probably means https://a.example/"},
	{name: "one slash", text: "https:/a.example/x\nb.example\n", asked: "b.example",
		why: "probably means https://a.example/x"},
	{name: "no slash", text: "http:a.example\nb.example\n", asked: "b.example", why: "probably means http://a.example"},
	{name: "three slashes", text: "http:///a.example\nb.example\n", asked: "b.example",
		why: "probably means http://a.example"},
	{name: "two schemes", text: "http://http://a.example/\nb.example\n", asked: "b.example",
		why: "probably means http://a.example/"},
	{name: "two schemes, the second without a colon", text: "http://https//a.example\nb.example\n", asked: "b.example",
		why: "probably means https://a.example"},
	{name: "a scheme after www", text: "https://www.https://a.example\nb.example\n", asked: "b.example",
		why: "probably means https://a.example"},
	{name: "backslashes", text: `http:\\a.example` + "\nb.example\n", asked: "b.example",
		why: "probably means http://a.example"},
	{name: "a letter less", text: "htp://a.example\nb.example\n", asked: "b.example",
		why: "probably means http://a.example"},
	{name: "a letter more", text: "htttps://a.example\nb.example\n", asked: "b.example",
		why: "probably means https://a.example"},
	{name: "not to be clicked", text: "hxxps://a.example\nb.example\n", asked: "b.example",
		why: "probably means https://a.example"},
	{name: "a semicolon", text: "http;//a.example\nb.example\n", why: "no column looks like a host"},
	{name: "a space", text: "http:// a.example\nb.example\n", asked: "b.example", why: "probably means http://a.example"},
	{name: "no scheme", text: "//a.example/x\nb.example\n", asked: "b.example", why: "probably means https://a.example/x"},
	{name: "hosts called like a scheme", text: "http.example\nhttps.example/x\nhttp.cat.example\n",
		asked: "http.example https.example http.cat.example"},
	// What is no host.
	{name: "cells without a value", text: "host\na.example\nb.example\nc.example\nd.example\nn/a\nnull\nwww.\ntotal\n",
		asked: "a.example b.example c.example d.example", why: "not_a_host"},
	{name: "nothing but these", text: "n/a\nnull\n-\n", why: "holds no host"},
	{name: "a scheme alone", text: "https://\nhttp://www.\na.example\nb.example\n", asked: "a.example b.example",
		why: "bad_host"},
	{name: "names without a dot", text: "intranet\nwiki\n", why: "rejected: 2"},
	{name: "names without a dot, in a list of hosts", text: "host\nintranet\nwiki\n", asked: "intranet wiki"},
	{name: "names without a dot, in a column that is named", column: "machine", text: "machine,room\nintranet,1\n",
		asked: "intranet"},
	{name: "names with and without a dot", text: "host\nintranet\na.example\nb.example\n", asked: "a.example b.example",
		why: "no_dot"},
	{name: "names without a dot and with a scheme", text: "http://intranet/\nhttp://wiki:8080/\n", asked: "intranet wiki"},
	{name: "mail addresses", text: "Website\na@a.example\nb@b.example\nc.example\n", why: "2 of the 3 rows name no host"},
	// Other files.
	{name: "a spreadsheet", text: "PK\x03\x04\x14", why: ".xlsx"},
	{name: "a PDF", text: "%PDF-1.7\n", why: "is a PDF"},
	{name: "rich text", text: `{\rtf1\ansi a.example}`, why: "is rich text"},
	{name: "a web page", text: "<!DOCTYPE html>\n<html><a href=https://a.example>", why: "is a web page or XML"},
	{name: "a table saved as a web page", text: "\ufeff\n<table><tr><td>a.example</td></tr></table>",
		why: "is a web page or XML"},
	{name: "JSON", text: `["a.example", "b.example"]`, why: "is JSON"},
}

// Each list is read, or refused with what to do, and nobody is asked whom it does not name.
func TestOddLists(t *testing.T) {
	if len(oddLists) < 60 {
		t.Errorf("%d lists", len(oddLists))
	}
	for _, odd := range oddLists {
		t.Run(odd.name, func(t *testing.T) {
			asked, why := readOdd(t, List{Path: writeFile(t, "list", []byte(odd.text)), Column: odd.column})
			if got := strings.Join(asked, " "); got != odd.asked {
				t.Errorf("asks %q, want %q; %s", got, odd.asked, why)
			}
			if odd.why == "" && why != "" || !strings.Contains(why, odd.why) {
				t.Errorf("says %q, want %q", why, odd.why)
			}
		})
	}
}

// readOdd returns the hosts that a list has asked, and the error, or why the first line was
// rejected.
func readOdd(t *testing.T, l List) (asked []string, why string) {
	t.Helper()
	l.Schemes = []string{"https", "http"}
	rejects := input.NewAccount(nil, nil, func(int64) {})
	_, _, err := l.Targets(t.Context(), io.Discard, rejects, func(x target.Target) error {
		if host := x.Candidates[0].Host; !slices.Contains(asked, host) {
			asked = append(asked, host)
		}
		return nil
	})
	n, first := rejects.Found()
	switch {
	case err != nil && len(asked) > 0:
		t.Errorf("asks %q before %v", asked, err)
	case err != nil:
		return nil, err.Error()
	case len(asked) == 0:
		return nil, fmt.Sprintf("holds no host; rejected: %d, %s", n, first)
	}
	return asked, first
}

// With --force, the rest of a bad list is read; names without a dot are hosts with
// --allow-private.
func TestListsThatTheUserKnows(t *testing.T) {
	bad := writeFile(t, "bad", []byte("1st site\n2nd site\na.example\n"))
	if asked, why := readOdd(t, List{Path: bad, Force: true}); !slices.Equal(asked, []string{"a.example"}) {
		t.Errorf("forced, it asks %q; %s", asked, why)
	}
	private := writeFile(t, "private",
		[]byte("intranet\nnull\naddress\nhttps//a.example\nwiki\nb.example\nhttp://total\n"))
	if asked, why := readOdd(t, List{Path: private, Bare: true}); !slices.Equal(asked, []string{"intranet", "wiki",
		"b.example", "total"}) {
		t.Errorf("of this network, it asks %q; %s", asked, why)
	}
	for given, want := range map[string]bool{"a.example": true, "intranet": false, "http://intranet": true, "n/a": false,
		"https//a.example": false} {
		if err := CheckName(given, false); (err == nil) != want {
			t.Errorf("%s: %v", given, err)
		}
	}
}

// The first rows decide whether a list is one, whatever follows them.
func TestALongListIsJudgedByItsFirstRows(t *testing.T) {
	good, bad := strings.Repeat("a.example\n", lookRows), strings.Repeat("not a host\n", lookRows)
	for text, want := range map[string]string{good + bad + bad: "a.example", bad + "a.example\n": "", bad[:len(bad)/2] +
		good: "a.example"} {
		asked, why := readOdd(t, List{Path: writeFile(t, "long", []byte(text))})
		if got := strings.Join(asked, " "); got != want || want == "" &&
			!strings.Contains(why, "1000 of the first 1000 rows name no host, such as line 1: bad_host") {
			t.Errorf("asks %q, %s; want %q", got, why, want)
		}
	}
}

// A bare host is each of its origins, so that an origin that is listed too counts once.
func TestABareHostIsItsOrigins(t *testing.T) {
	for text, want := range map[string]string{
		"a.example\nhttp://a.example\n": "1 https://a.example|http://a.example",
		"a.example\nb.example\nhttp://a.example/\n": "1 https://a.example|http://a.example, 2 " +
			"https://b.example|http://b.example",
		"http://a.example\nb.example\na.example\n": "1 http://a.example, 2 " +
			"https://b.example|http://b.example",
		"https://a.example\nb.example\nhttp://a.example\n": "1 https://a.example, 2 " +
			"https://b.example|http://b.example, 3 http://a.example",
		"a.example\nb.example\nhttp://a.example:8080\na.example:8443": "1 https://a.example|http://a.example, 2 " +
			"https://b.example|http://b.example, 3 http://a.example:8080, 4 https://a.example:8443",
		"a.example\nhttp://a.example/x\nhttp://a.example/y\nb.example": "1 http://a.example http://a.example/x " +
			"http://a.example/y, 2 https://b.example|http://b.example",
	} {
		targets, _, err := targetsOfFile(t, writeFile(t, "list", []byte(text)))
		if got := strings.Join(targets, ", "); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
}
