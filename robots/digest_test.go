package robots

import "testing"

// A comment and no record; a sitemap is one, and so is a field that nobody knows.
func TestOnlyComments(t *testing.T) {
	for body, want := range map[string]bool{
		"# a": true, "\n \n#\n": true, "# a\n<html>": true, "": false, "\n": false, "text": false, "# a\nUser-agent: x\n": false,
		"# a\nSitemap: https://x/": false, "# a\nCrawl-delay: 5\n": false, "# a\nFoo: bar\n": false, "# a\nContent-Signal: search=yes\n": false, "# a\nDisallow: /\n": false,
	} {
		f := new(File)
		f.Parse([]byte(body), named(t, "google"))
		if got := f.OnlyComments(); got != want {
			t.Errorf("%q: %t, want %t", body, got, want)
		}
	}
}
