package check

import "testing"

// Servers write lines in the combined format, the common one, and with the host before.
func TestLinesOfAccessLogs(t *testing.T) {
	const at = `[20/Nov/2026:10:15:00 +0000]`
	for line, want := range map[string]request{
		`192.0.2.1 - - ` + at + ` "GET /a?b=c HTTP/1.1" 200 5 "-" "GPTBot/1.2"`: {url: "/a?b=c",
			status: 200, userAgent: "GPTBot/1.2"},
		`192.0.2.1 - - ` + at + ` "GET /a HTTP/1.0" 304 -`: {url: "/a",
			status: 304, isCommon: true},
		`a.example:443 ::1 - a b ` + at + ` "POST /a HTTP/2.0" 500 0 "http://b.example/" "x \"y\" z"`: {url: "/a",
			host: "a.example", status: 500, userAgent: `x \"y\" z`},
		`192.0.2.1 - - ` + at + ` "GET http://a.example/b HTTP/1.1" 200 5 "-" "-" "more" 0.01`: {
			url: "http://a.example/b", proxied: "a.example", status: 200, userAgent: "-"},
		`192.0.2.1 - - ` + at + ` "\x16\x03" 400 5 "-" "-"`: {status: 400,
			userAgent: "-"},
		`192.0.2.1 - - ` + at + ` "GET /a b HTTP/1.1" 400 5 "-" "-"`: {status: 400,
			userAgent: "-"},
		`192.0.2.1 - - ` + at + ` "-" 408 0 "-" "-"`: {status: 408,
			userAgent: "-"},
	} {
		if got, ok := requestOf(line); !ok || got != want {
			t.Errorf("%s: %+v, %v; want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "/a", "https://a.example/ [20/Nov/2026:10:15:00 +0000]",
		`192.0.2.1 - - [yesterday] "GET / HTTP/1.1" 200 5`} {
		if got, ok := requestOf(line); ok {
			t.Errorf("%q is %+v", line, got)
		}
	}
}

// A host that was asked stands before the client, and is none of the clients.
func TestHostsOfAccessLogs(t *testing.T) {
	for before, want := range map[string]string{
		"192.0.2.1 -": "", "::1 -": "", "crawl.example -": "", "192.0.2.1:5000 -": "", "192.0.2.1 192.0.2.2": "",
		"- 192.0.2.1": "", "_ 192.0.2.1": "",
		"192.0.2.1, 192.0.2.2": "", "A.example 192.0.2.1": "a.example", "a.example:80 crawl.example": "a.example",
		"a.example:443 ::1":       "a.example",
		"192.0.2.9:443 192.0.2.1": "", "[::1] 10.0.0.1": "", "[::1]:5123 10.0.0.1": "", "localhost 127.0.0.1": "localhost",
		"_:443 192.0.2.1": "", "-:443 192.0.2.1": "", "a.example 192.0.2.1:55": "a.example",
		"a.example [::1]": "a.example", "a.example 192.0.2.1, 10.0.0.1": "a.example",
	} {
		r, ok := requestOf(before + ` - - [20/Nov/2026:10:15:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "-"`)
		if !ok || r.host != want {
			t.Errorf("%s: %q, %v; want %q", before, r.host, ok, want)
		}
	}
}

// Servers escape what stands between quotes; the target is judged as it was asked for.
func TestEscapesOfAccessLogs(t *testing.T) {
	for target, want := range map[string]string{
		`/caf\xC3\xA9/x`: "/caf%C3%A9/x", `/caf\xc3\xa9`: "/caf%C3%A9", `/a\x22b\x5Cc`: `/a"b\c`, `/a\"b\\c\\x41`: `/a"b\c\x41`,
		`/a\n\t\x7F`: "/a%0A%09%7F", `/a\x2`: `/a\x2`, `/a\xZZ\q`: `/a\xZZ\q`, `/a%5Cx41`: "/a%5Cx41",
		`http://a.example/\xE9`: "http://a.example/%E9",
	} {
		r, ok := requestOf(`192.0.2.1 - - [20/Nov/2026:10:15:00 +0000] "GET ` + target + ` HTTP/1.1" 200 5 "-" "-"`)
		if !ok || r.url != want {
			t.Errorf("%s: %q, %v; want %q", target, r.url, ok, want)
		}
	}
}
