//go:build unix

package client

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// to answers every request with a redirect.
func to(location string) stage {
	return plain("HTTP/1.1 302 Found\r\nLocation: " + location + "\r\n" + nothing)
}

// chainOf fetches through a chain of n redirects from host to host that ends in
// a file.
func chainOf(n int) stage {
	return func(t *testing.T, s *scene) {
		s.ask = []fetch.Origin{origin(t, fmt.Sprintf("http://h%d.example", n))}
		s.ConnectTo = serve(t, redirects)
	}
}

// redirectRows are the rows of 3xx.
var redirectRows = []row{
	{"one redirect", chainOf(1), want{200, "", 2, once, rulesDecide}},
	{"five redirects", chainOf(5), want{200, "", 6, once, rulesDecide}},
	{"six redirects", chainOf(6), want{301, answer.ErrorRedirectLimit, 6, once, limitReached}},
	{"six redirects, followed for another profile", func(t *testing.T, s *scene) {
		chainOf(6)(t, s)
		s.MaxRedirects = 10
	}, want{200, "", 7, once, limitReached}},
	{"six redirects and a failure, followed for another profile", func(t *testing.T, s *scene) {
		chainOf(6)(t, s)
		s.MaxRedirects = 10
		s.ConnectTo = serve(t, func(c *net.TCPConn, r *http.Request, n int) {
			if r.Host != "h0.example" {
				redirects(c, r, n)
			} else {
				reset(c)
			}
		})
	}, want{0, answer.ErrorReset, 7, again, limitReached}},
	{"redirects that never repeat", served(func(c *net.TCPConn, r *http.Request, n int) {
		fmt.Fprintf(c, "HTTP/1.1 302 Found\r\nLocation: /robots.txt?%d\r\n\r\n", n)
	}), want{302, answer.ErrorRedirectLimit, 6, once, limitReached}},
	{"each status that redirects", served(func(c *net.TCPConn, r *http.Request, _ int) {
		statuses := []string{"301", "302", "303", "307", "308", "200"}
		i := max(0, slices.Index(statuses, r.URL.RawQuery))
		fmt.Fprintf(c, "HTTP/1.1 %s X\r\nLocation: ?%s\r\n%s", statuses[i], statuses[min(i+1, 5)], nothing)
	}), want{200, "", 6, once, rulesDecide}},
	{"other statuses that redirect (RFC 9110 section 15)", served(func(c *net.TCPConn, r *http.Request, _ int) {
		statuses := []string{"300", "305", "306", "309", "399", "200"}
		i := max(0, slices.Index(statuses, r.URL.RawQuery))
		fmt.Fprintf(c, "HTTP/1.1 %s X\r\nLocation: ?%s\r\n%s", statuses[i], statuses[min(i+1, 5)], nothing)
	}), want{200, "", 6, once, rulesDecide}},
	{"304 with a Location", plain("HTTP/1.1 304 X\r\nLocation: /next\r\n" + nothing),
		want{304, "", 1, once, invalidResponse}},
	{"http, https, http", func(t *testing.T, s *scene) {
		s.ConnectTo = serveTLS(t, nil, func(c net.Conn, r *http.Request) {
			next := map[string]string{
				"a.example/robots.txt": "https://b.example/x",
				"b.example/x":          "http://c.example:8080/y",
			}[r.Host+r.URL.Path]
			if next == "" {
				say("HTTP/1.1 200 OK\r\n"+nothing)(c, r)
				return
			}
			say("HTTP/1.1 301 Moved\r\nLocation: "+next+"\r\n"+nothing)(c, r)
		})
		s.also = func(t *testing.T, got *fetch.Capture) {
			if got.TLSVersion != "" || got.Origin.String() != "http://a.example" ||
				got.Hops[2].URL != "http://c.example:8080/y" {
				t.Errorf("TLS %q of the last hop, origin %s, hops %v", got.TLSVersion, got.Origin, got.Hops)
			}
		}
	}, want{200, "", 3, once, rulesDecide}},
	{"to a 404", served(func(c *net.TCPConn, r *http.Request, _ int) {
		if r.URL.Path == "/robots.txt" {
			io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: /next\r\n"+nothing)
		} else {
			io.WriteString(c, "HTTP/1.1 404 Not Found\r\n"+nothing)
		}
	}), want{404, "", 2, once, asIfMissing}},
	{"to a 500", served(func(c *net.TCPConn, r *http.Request, _ int) {
		if r.URL.Path == "/robots.txt" {
			io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: /next\r\n"+nothing)
		} else {
			io.WriteString(c, "HTTP/1.1 500 Broken\r\n"+nothing)
		}
	}), want{500, "", 2, again, serverError}},
	// "A hop that fails in the network is a failure, not a 404."
	{"to a host that resets", served(func(c *net.TCPConn, r *http.Request, _ int) {
		if r.Host == "a.example" {
			io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: http://b.example/\r\n"+nothing)
		} else {
			reset(c)
		}
	}), want{0, answer.ErrorReset, 2, again, networkFailure}},
	{"to a host that speaks no TLS", to("https://b.example/robots.txt"), want{0, answer.ErrorTLS, 2, once,
		networkFailure}},

	{"Location with what is no escape", func(t *testing.T, s *scene) { // package net/http refuses the request
		s.ConnectTo = listen(t, func(c *net.TCPConn) {
			line, _ := bufio.NewReader(c).ReadString('\n')
			if strings.HasPrefix(line, "GET /other%zz.txt ") {
				io.WriteString(c, "HTTP/1.1 200 OK\r\n"+nothing)
			} else {
				io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: /other%zz.txt\r\n"+nothing)
			}
		})
		s.ask = []fetch.Origin{origin(t, "http://a.example")}
	}, want{200, "", 2, once, rulesDecide}},
	{"without Location", plain("HTTP/1.1 301 Moved\r\n" + nothing), want{301, answer.ErrorRedirectInvalid, 1, once,
		leadsNowhere}},
	{"empty Location", to(""), want{302, answer.ErrorRedirectInvalid, 1, once, leadsNowhere}},
	{"Location without host", to("http://"), want{302, answer.ErrorRedirectInvalid, 1, once, leadsNowhere}},
	{"Location that is no URL", to("http://b example/"), want{302, answer.ErrorRedirectInvalid, 1, once, leadsNowhere}},
	{"Location with a port that is none", to("http://b.example:99999/"), want{302, answer.ErrorRedirectInvalid, 1, once,
		leadsNowhere}},
	{"Location with credentials", to("http://u:p@b.example/"), want{302, answer.ErrorRedirectInvalid, 1, once,
		leadsNowhere}},
	{"Location of 9000 bytes", to("/" + strings.Repeat("x", 9000)), want{302, answer.ErrorRedirectInvalid, 1, once,
		leadsNowhere}},
	{"Location that is an address by another spelling", to("http://0x7f.1/"), want{302, answer.ErrorRedirectInvalid, 1,
		once, leadsNowhere}},
	{"Location that is an address as one number", to("http://2130706433/"), want{302, answer.ErrorRedirectInvalid, 1,
		once, leadsNowhere}},
	{"300 without Location", plain("HTTP/1.1 300 Choices\r\n" + nothing), want{300, answer.ErrorRedirectInvalid, 1, once,
		leadsNowhere}},
	{"300 with a Location that is no URL", plain("HTTP/1.1 300 Choices\r\nLocation: http://b example/\r\n" + nothing),
		want{300, answer.ErrorRedirectInvalid, 1, once, leadsNowhere}},
	{"300 to mailto:", plain("HTTP/1.1 300 Choices\r\nLocation: mailto:a@b.example\r\n" + nothing),
		want{300, answer.ErrorRedirectUnsupported, 1, once, cannotBeFetched}},
	{"305 to what is no URL", plain("HTTP/1.1 305 Use Proxy\r\nLocation: http://b example/\r\n" + nothing),
		want{305, answer.ErrorRedirectInvalid, 1, once, leadsNowhere}},
	{"399 without Location", plain("HTTP/1.1 399 What\r\n" + nothing), want{399, answer.ErrorRedirectInvalid, 1, once,
		leadsNowhere}},

	{"to file:", to("file:///etc/passwd"), want{302, answer.ErrorRedirectUnsupported, 1, once, cannotBeFetched}},
	{"to mailto:", to("mailto:webmaster@a.example"), want{302, answer.ErrorRedirectUnsupported, 1, once, cannotBeFetched}},
	{"to gopher:", to("gopher://127.0.0.1:70/1"), want{302, answer.ErrorRedirectUnsupported, 1, once, cannotBeFetched}},
	{"to javascript:", to("javascript:alert(1)"), want{302, answer.ErrorRedirectUnsupported, 1, once, cannotBeFetched}},
	{"to data:", to("data:text/plain,User-agent:%20*"), want{302, answer.ErrorRedirectUnsupported, 1, once,
		cannotBeFetched}},

	{"to itself", to("/robots.txt"), want{302, answer.ErrorRedirectLoop, 1, once, loops}},
	{"to itself in other letters", to("HTTP://A.EXAMPLE:80/robots.txt#x"), want{302, answer.ErrorRedirectLoop, 1, once,
		loops}},
	{"a loop of two", served(func(c *net.TCPConn, r *http.Request, _ int) {
		next := map[string]string{"a.example": "b.example", "b.example": "a.example"}[r.Host]
		fmt.Fprintf(c, "HTTP/1.1 302 Found\r\nLocation: http://%s/robots.txt\r\n\r\n", next)
	}), want{302, answer.ErrorRedirectLoop, 2, once, loops}},
	{"a loop that does not come back to the first", served(func(c *net.TCPConn, r *http.Request, _ int) {
		next := map[string]string{"/robots.txt": "/1", "/1": "/2", "/2": "/1"}[r.URL.Path]
		fmt.Fprintf(c, "HTTP/1.1 302 Found\r\nLocation: %s\r\n\r\n", next)
	}), want{302, answer.ErrorRedirectLoop, 3, once, loops}},
}
