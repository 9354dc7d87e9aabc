package fetch

import "testing"

// The URL standard, section 4.4, as browsers follow it; "" is an error.
func TestRedirectsAsBrowsersFollowThem(t *testing.T) {
	for _, row := range []struct{ from, location, want string }{
		{"http://a.example/robots.txt", "/other%zz.txt", "http://a.example/other%zz.txt"},
		{"http://a.example/robots.txt", "/100%", "http://a.example/100%"},
		{"http://a.example/robots.txt", "/%4g%41?%zz", "http://a.example/%4g%41?%zz"},
		{"http://a.example/~0~/%zz/robots.txt", "next%z", "http://a.example/~0~/%zz/next%z"},
		{"http://a.example/robots.txt", "https://b.example/%", "https://b.example/%"},
		{"http://a.example/robots.txt", "/x#%zz", "http://a.example/x"},
		{"http://a.example/robots.txt", " \t/x y\r\n ", "http://a.example/x%20y"},
		{"http://a.example/robots.txt", "/a\tb\x7fc\x01d", "http://a.example/ab%7Fc%01d"},
		{"http://a.example/robots.txt", `\\b.example\x?y\z`, `http://b.example/x?y\z`},
		{"http://a.example/dir/robots.txt", `..\x`, "http://a.example/x"},
		{"http://a.example/robots.txt", `https:\\b.example\x`, "https://b.example/x"},
		{"http://a.example/robots.txt", "https:b.example/x", "https://b.example/x"},
		{"http://a.example/robots.txt", "https:////b.example/x", "https://b.example/x"},
		{"http://a.example/dir/robots.txt", "http:x", "http://a.example/dir/x"},
		{"http://a.example/dir/robots.txt", "HTTP:/x", "http://a.example/x"},
		{"http://a.example/robots.txt", "////b.example/x", "http://b.example/x"},
		{"http://a.example/robots.txt", "?a:b", "http://a.example/robots.txt?a:b"},
		{"http://a.example/robots.txt", "/a:b", "http://a.example/a:b"},
		{"http://a.example/robots.txt", "/caf\xe9/é", "http://a.example/caf%E9/%C3%A9"},

		{"http://a.example/robots.txt", "http://b%zz.example/", ""},
		{"http://a.example/robots.txt", "http://b.example:%/", ""},
		{"http://a.example/robots.txt", "http://b\x01.example/", ""},
		{"http://a.example/robots.txt", "http://b example/", ""},
		{"http://a.example/robots.txt", "http://", ""},
		{"http://a.example/robots.txt", " \t", ""},
		{"http://a.example/robots.txt", "mailto:a\\b%zz", ""},
		{"http://a.example/robots.txt", "http://u%zz:p@b.example/", ""},
	} {
		to, target, _, err := Redirect(row.from, row.location)
		got := to.String() + target
		if err != nil {
			got = ""
		}
		if got != row.want {
			t.Errorf("%s to %q: %q (%v), want %q", row.from, row.location, got, err, row.want)
		}
	}
}
