package portable

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The audit reads line by line; what it says of each was asked of Lighthouse 13.5.0 itself
// (robots/compare asks it again, where it is installed).
func TestErrors(t *testing.T) {
	for _, row := range []struct {
		body string
		want string
	}{
		{"", ""},
		{"User-agent: *\nDisallow: /a\nAllow:\nCrawl-delay: x\nContent-Signal: a=b\n", ""},
		{"\ufeffUSER-AGENT : *\r\n\tdisallow\u00a0: *a$\rHost:\x00\n# x\n", ""},
		{"User-agent: *\nContent-Usage: train-ai=n\nLicense: https://h/l\nFoo: 1\nDisalow: /\n:x\n",
			"2 unknown_directive, 3 unknown_directive, 4 unknown_directive, 5 unknown_directive, 6 unknown_directive"},
		{"User-agent *\n<html>\n\u0085\n", "1 syntax, 2 syntax, 3 syntax"},
		{"Allow: /\nUser-agent:\nDisallow: /\nUser-agent: *\nDisallow: /\n",
			"1 rule_before_agent, 2 no_agent, 3 rule_before_agent"},
		{"User-agent: *\nDisallow: a\nAllow: $\nDisallow: /a$b\nDisallow: /$#\nDisallow: a$b\nNoindex: a$b\n",
			"2 pattern, 3 pattern, 4 inner_dollar, 6 pattern"},
		{"Sitemap: /s.xml\nSitemap:\nSitemap: s.xml\nSitemap: file:///s\nSitemap: foo:bar\nSitemap: http:\n" +
			"Sitemap: 'http://h/'\n",
			"1 sitemap, 2 sitemap, 3 sitemap, 4 sitemap, 5 sitemap, 6 sitemap, 7 sitemap"},
		{"Sitemap: https://h\nSitemap: HTTP:\\h:80\\a b\nSitemap: ftp:h\nSitemap: http://u:p@h?q\n" +
			"Sitemap: https://müller.eu/\nSitemap: http://[::1]/\n", ""},
		{"Sitemap: http://h:65536/\nSitemap: http://a b/\nSitemap: http://1.2.3.400/\nSitemap: http://[::1/\n" +
			"Sitemap: http://a%/\nSitemap: http://xn--a/\n",
			"1 sitemap, 2 sitemap, 3 sitemap, 4 sitemap, 5 sitemap, 6 sitemap"},
	} {
		var got []string
		for _, e := range LighthouseErrors(nil, []byte(row.body)) {
			got = append(got, fmt.Sprintf("%d %v", e.Line, e.Fault))
		}
		if joined := strings.Join(got, ", "); joined != row.want {
			t.Errorf("%q: %s, want %s", row.body, joined, row.want)
		}
	}
}

// A file without errors takes no memory but what its sitemaps take.
func TestNoErrorNoAllocation(t *testing.T) {
	body := []byte(strings.Repeat("User-agent: *\nDisallow: /a*$ # why\n\nCrawl-delay: 5\n", 100))
	if n := testing.AllocsPerRun(20, func() {
		if len(LighthouseErrors(nil, body)) > 0 {
			t.Error("errors")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if !slices.IsSortedFunc(LighthouseErrors(nil, []byte("a\nb\n\nc")), func(a, b LighthouseError) int {
		return int(a.Line - b.Line)
	}) {
		t.Error("the errors are not in order")
	}
}
