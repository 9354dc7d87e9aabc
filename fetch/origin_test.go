package fetch

import (
	"errors"
	"strings"
	"testing"
)

// The seeds' table of robots.txt URLs and where they apply: two URLs share a
// file exactly if their origins are equal.
func TestSeedsTableOfValidity(t *testing.T) {
	for _, row := range []struct {
		robots, url string
		valid       bool
	}{
		{"http://example.com/robots.txt", "http://example.com/", true},
		{"http://example.com/robots.txt", "http://example.com/folder/file", true},
		{"http://example.com/robots.txt", "http://other.example.com/", false},
		{"http://example.com/robots.txt", "https://example.com/", false},
		{"http://example.com/robots.txt", "http://example.com:8181/", false},
		{"http://www.example.com/robots.txt", "http://www.example.com/", true},
		{"http://www.example.com/robots.txt", "http://example.com/", false},
		{"http://www.example.com/robots.txt", "http://shop.www.example.com/", false},
		{"http://www.example.com/robots.txt", "http://www.shop.example.com/", false},
		{"http://www.müller.eu/robots.txt", "http://www.müller.eu/", true},
		{"http://www.müller.eu/robots.txt", "http://www.xn--mller-kva.eu/", true},
		{"http://www.müller.eu/robots.txt", "http://www.muller.eu/", false},
		{"http://212.96.82.21/robots.txt", "http://212.96.82.21/", true},
		{"http://212.96.82.21/robots.txt", "http://example.com/", false},
		{"http://example.com:80/robots.txt", "http://example.com:80/", true},
		{"http://example.com:80/robots.txt", "http://example.com/", true},
		{"http://example.com:80/robots.txt", "http://example.com:81/", false},
		{"http://example.com:8181/robots.txt", "http://example.com:8181/", true},
		{"http://example.com:8181/robots.txt", "http://example.com/", false},
		{"https://example.com:443/robots.txt", "https://example.com/", true},
		{"ftp://example.com/robots.txt", "ftp://example.com/", true},
		{"ftp://example.com/robots.txt", "http://example.com/", false},
		{"ftp://example.com:21/robots.txt", "ftp://example.com/", true},
		{"HTTP://EXAMPLE.com./robots.txt", "http://example.com/", true},
		{"http://[2001:DB8:0::1]/robots.txt", "http://[2001:db8::1]:80/", true},
	} {
		file, _, err := Parse(row.robots, "")
		if err != nil {
			t.Fatalf("%s: %v", row.robots, err)
		}
		url, _, err := Parse(row.url, "")
		if err != nil {
			t.Fatalf("%s: %v", row.url, err)
		}
		if (file == url) != row.valid {
			t.Errorf("%s for %s: valid is %v, want %v", row.robots, row.url, file == url, row.valid)
		}
	}
}

func TestParse(t *testing.T) {
	for _, row := range []struct{ given, origin, target string }{
		{"example.com", "https://example.com", ""},
		{"Example.COM.", "https://example.com", ""},
		{"example.com:8080", "https://example.com:8080", ""},
		{"example.com:", "https://example.com", ""},
		{"example.com/a?b#c", "https://example.com", "/a?b"},
		{"http://example.com", "http://example.com", ""},
		{"http://example.com/", "http://example.com", "/"},
		{"http://example.com?q=1", "http://example.com", "/?q=1"},
		{"http://example.com#top", "http://example.com", ""},
		{"https://example.com:443", "https://example.com", ""},
		{"http://example.com:443", "http://example.com:443", ""},
		{"ftp://h:21", "ftp://h", ""},
		{"FTP://h:2121/pub", "ftp://h:2121", "/pub"},
		{"straße.example", "https://xn--strae-oqa.example", ""},
		{"пример.испытание", "https://xn--e1afmkfd.xn--80akhbyknj4f", ""},
		{"a_b.example.com", "https://a_b.example.com", ""},
		{"::1", "https://[::1]", ""},
		{"[::1]:8443", "https://[::1]:8443", ""},
		{"192.0.2.7:81", "https://192.0.2.7:81", ""},
		{"localhost", "https://localhost", ""},
	} {
		o, target, err := Parse(row.given, "https")
		if err != nil {
			t.Errorf("%q: %v", row.given, err)
			continue
		}
		if o.String() != row.origin || target != row.target {
			t.Errorf("%q is %s %q, want %s %q", row.given, o, target, row.origin, row.target)
		}
		again, _, err := Parse(o.String(), "")
		if err != nil || again != o {
			t.Errorf("%q: %s reads back as %v, %v", row.given, o, again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, given := range []string{
		"", "not a host!", "http://", "http:///path", "http://user:secret@example.com/", "user@example.com",
		"example.com:0", "example.com:65536", "example.com:http", "exa mple.com", "a..b", ".example.com", "a...", "a..",
		"..", "m\xfcnchen.test", "m\ufffdnchen.test", "mailto:x@y", "x@y", "[::1]x", "[::1",
		"1.2.3", "256.1.1.1", "0x7f.1", "http://[::1", "[::1%eth0]", "fe80::1%eth0", "example.com\x00", "exa\x1bmple.com",
		"<script>.example", string(make([]byte, 300)), "xn--a.example", "💩💩%.example",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example",
	} {
		if o, _, err := Parse(given, "https"); err == nil {
			t.Errorf("%q is taken for %s", given, o)
		}
	}
	for given, want := range map[string]string{
		"http://": "names no host", "x@y": "has an @", "http://u:p@a.test/": `"…@a.test" holds credentials`,
		"u:p@a.test/x": `"…@a.test" is not a host`, "https://a@u:p@a.test?q": `"…@a.test" holds`,
		"http://[::1/x": `"[::1" is not an IPv6 address`,
		"a...":          "empty label", "m\xfcnchen.test": "not UTF-8",
	} {
		if _, _, err := Parse(given, "https"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want that it %s", given, err, want)
		}
	}
	for _, given := range []string{"mailto:x@y", "javascript:alert(1)", "gopher://example.com/", "file:///etc/passwd",
		"ftps://example.com"} {
		if _, _, err := Parse(given, "https"); !errors.Is(err, ErrScheme) {
			t.Errorf("%q: %v, want an error about its scheme", given, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"example.com", "http://[::1]:80/x?y#z", "www.müller.eu:8080", "a@b", "xn--mller-kva.eu",
		"1.2.3.4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, _, err := Parse(s, "https")
		if err != nil {
			return
		}
		again, target, err := Parse(o.String(), "http")
		if err != nil || again != o || target != "" {
			t.Fatalf("%q is %q, which reads as %q %q, %v", s, o, again, target, err)
		}
		for i := 0; i < len(o.Host); i++ {
			if c := o.Host[i]; !hostByte(c) && c != ':' {
				t.Fatalf("%q gives host %q", s, o.Host)
			}
		}
	})
}

func TestRegisteredDomain(t *testing.T) {
	for _, row := range []struct{ host, domain, tld string }{
		{"www.example.co.uk", "example.co.uk", "uk"},
		{"example.com", "example.com", "com"},
		{"co.uk", "", "uk"},
		{"shop.myshopify.com", "shop.myshopify.com", "com"},
		{"192.0.2.1", "", ""},
		{"2001:db8::1", "", ""},
	} {
		if domain, tld := RegisteredDomain(row.host); domain != row.domain || tld != row.tld {
			t.Errorf("%s: %q %q, want %q %q", row.host, domain, tld, row.domain, row.tld)
		}
	}
}
