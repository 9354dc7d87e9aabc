//go:build unix

package client

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

const nothing = "Content-Length: 0\r\n\r\n"

// answerRows are complete answers: 2xx, 4xx, 5xx and any other.
var answerRows = []row{
	{"FTP refused by 550 before the file", func(t *testing.T, s *scene) {
		s.ConnectTo, _ = serveFTP(t, ftpScript{replies: map[string]string{"USER": "550 no"}})
		s.ask = []fetch.Origin{origin(t, "ftp://a.example")}
	}, want{550, answer.ErrorFTPRefused, 1, again, serverError}},
	{"FTP without the file", func(t *testing.T, s *scene) {
		s.ConnectTo, _ = serveFTP(t, ftpScript{replies: map[string]string{"RETR": "550 no"}})
		s.ask = []fetch.Origin{origin(t, "ftp://a.example")}
	}, want{550, "", 1, once, asIfMissing}},
	{"200", plain("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"), want{200, "", 1, once, rulesDecide}},
	{"200 with an empty body", plain("HTTP/1.1 200 OK\r\n" + nothing), want{200, "", 1, once, rulesDecide}},
	{"200 with a web page", plain("HTTP/1.1 200 OK\r\n\r\n<!doctype html><title>Not here</title>"),
		want{200, "", 1, once, rulesDecide}},
	{"204", plain("HTTP/1.1 204 No Content\r\n\r\n"), want{204, "", 1, once, rulesDecide}},
	{"200 with a meta refresh", plain("HTTP/1.1 200 OK\r\n\r\n" +
		`<html><head><meta http-equiv="refresh" content="0; url=http://b.example/robots.txt"></head></html>`),
		want{200, "", 1, once, same(answer.ConditionalAllow, answer.Success).but(answer.Undefined, answer.HTMLRedirect)}},
	{"200 with a frameset", plain("HTTP/1.1 200 OK\r\n\r\n" +
		`<html><frameset cols="100%"><frame src="http://b.example/robots.txt"></frameset></html>`),
		want{200, "", 1, once, same(answer.ConditionalAllow, answer.Success).but(answer.Undefined, answer.HTMLRedirect)}},

	{"400", plain("HTTP/1.1 400 Bad Request\r\n" + nothing), want{400, "", 1, once, asIfMissing}},
	{"401", plain("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=x\r\n" + nothing),
		want{401, "", 1, once, asIfMissing}},
	{"403", plain("HTTP/1.1 403 Forbidden\r\n" + nothing), want{403, "", 1, once, asIfMissing}},
	{"404", plain("HTTP/1.1 404 Not Found\r\n" + nothing), want{404, "", 1, once, asIfMissing}},
	{"404 whose body breaks off", plain("HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nabc"),
		want{404, "", 1, once, asIfMissing}},
	{"404 with rules", plain("HTTP/1.1 404 Not Found\r\n\r\nUser-agent: *\nDisallow: /\n"),
		want{404, "", 1, once, asIfMissing}},
	{"429", plain("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n" + nothing), want{429, "", 1, once, throttled}},
	{"499", plain("HTTP/1.1 499 Closed\r\n" + nothing), want{499, "", 1, once, asIfMissing}},

	{"500", plain("HTTP/1.1 500 Broken\r\n" + nothing), want{500, "", 1, again, serverError}},
	{"500 whose body breaks off", plain("HTTP/1.1 500 Broken\r\nContent-Length: 9\r\n\r\nabc"),
		want{500, "", 1, again, serverError}},
	{"503", plain("HTTP/1.1 503 Busy\r\n" + nothing), want{503, "", 1, often, serverError}},
	{"503 with Retry-After beyond the time", func(t *testing.T, s *scene) {
		plain("HTTP/1.1 503 Busy\r\nRetry-After: 86400\r\n"+nothing)(t, s)
		s.Timeout /= 3
		s.also = func(t *testing.T, got *fetch.Capture) {
			if got.Headers.RetryAfter == nil || *got.Headers.RetryAfter != "86400" {
				t.Errorf("retry-after is %v", got.Headers.RetryAfter)
			}
		}
	}, want{503, "", 1, once, serverError}},
	{"599", plain("HTTP/1.1 599 Broken\r\n" + nothing), want{599, "", 1, again, serverError}},
	{"5xx for every missing page", func(t *testing.T, s *scene) {
		plain("HTTP/1.1 500 Broken\r\n"+nothing)(t, s)
		s.misconfigured = true
	}, want{500, "", 1, again, func() readings {
		r := same(answer.FullAllow, answer.MisconfiguredServer)
		r["rfc9309"] = serverError["rfc9309"]
		return r
	}()}},

	{"304", plain("HTTP/1.1 304 Not Modified\r\n\r\n"), want{304, "", 1, once, invalidResponse}},
	{"101", plain("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), want{101, "", 1, once, invalidResponse}},
	{"1xx only", plain("HTTP/1.1 103 Early Hints\r\n\r\n"), want{103, "", 1, once, invalidResponse}},
	{"1xx without end", plain(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 100)),
		want{103, "", 1, once, invalidResponse}},
	{"1xx, then 200", plain("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n" + nothing),
		want{200, "", 1, once, rulesDecide}},
	{"600", plain("HTTP/1.1 600 What\r\n" + nothing), want{600, "", 1, once, invalidResponse}},
	{"999", plain("HTTP/1.1 999 Denied\r\n" + nothing), want{999, "", 1, once, invalidResponse}},
	{"000", plain("HTTP/1.1 000 Nothing\r\n" + nothing), want{0, answer.ErrorProtocol, 1, once, invalidResponse}},
}

// passes answers `times` requests with a status, then 200.
func passes(status string, times int) stage {
	return served(func(c *net.TCPConn, _ *http.Request, n int) {
		if n <= times {
			fmt.Fprintf(c, "HTTP/1.1 %s\r\n%s", status, nothing)
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	})
}

// TestTemporaryFailures fetches, with one retry, from servers that fail temporarily.
// The capture describes the last attempt and counts all.
func TestTemporaryFailures(t *testing.T) {
	for _, r := range []row{
		{"500 once", passes("500 Broken", 1), want{200, "", 1, attempts{1: 2}, rulesDecide}},
		{"503 twice", passes("503 Busy", 2), want{200, "", 1, attempts{1: 3}, rulesDecide}},
		{"503 with Retry-After", passes("503 Busy\r\nRetry-After: 1", 1), want{200, "", 1, attempts{1: 2}, rulesDecide}},
		{"a reset", served(func(c *net.TCPConn, _ *http.Request, n int) {
			if n == 1 {
				reset(c)
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}), want{200, "", 1, attempts{1: 2}, rulesDecide}},
		{"a body cut short", served(func(c *net.TCPConn, _ *http.Request, n int) {
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\nok", []int{3, 2}[n-1])
		}), want{200, "", 1, attempts{1: 2}, rulesDecide}},
		{"500 behind a redirect", served(func(c *net.TCPConn, r *http.Request, n int) {
			switch {
			case r.URL.Path == "/robots.txt":
				io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: /next\r\n"+nothing)
			case n == 2:
				io.WriteString(c, "HTTP/1.1 500 Broken\r\n"+nothing)
			default:
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			}
		}), want{200, "", 2, attempts{1: 2}, rulesDecide}},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s := &scene{}
			r.stage(t, s)
			c := newClient(t, s.ConnectTo, func(c *settings) { c.Retries = 1 })
			got := c.Fetch(t.Context(), origin(t, "a.example"))
			r.want.check(t, got, 1, &scene{Config: c.config})
			if string(got.Body) != "ok" {
				t.Errorf("body %q", got.Body)
			}
		})
	}
}

// partOf answers with three bytes as the given range of the file.
func partOf(contentRange string) stage {
	return plain("HTTP/1.1 206 Part\r\nContent-Range: " + contentRange + "\r\nContent-Length: 3\r\n\r\nabc")
}

// limited runs a stage with a limit of n bytes.
func limited(n int, st stage) stage {
	return func(t *testing.T, s *scene) {
		s.MaxBody = n
		st(t, s)
	}
}

// truncated checks whether the capture says that the body is cut.
func truncated(want bool, st stage) stage {
	return func(t *testing.T, s *scene) {
		st(t, s)
		s.also = func(t *testing.T, got *fetch.Capture) {
			if got.Truncated != want {
				t.Errorf("truncated: %v, want %v", got.Truncated, want)
			}
		}
	}
}

// bodyRows are 2xx answers whose body is incomplete or not HTTP.
var bodyRows = []row{
	{"a body shorter than declared", plain("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
		want{200, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"a declared body that is missing", plain("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
		want{200, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"206 of all", partOf("bytes 0-2/3"), want{206, "", 1, once, rulesDecide}},
	{"206 of all, in other letters", partOf(" Bytes  0-2/3 "), want{206, "", 1, once, rulesDecide}},
	{"206 of the first part", partOf("bytes 0-2/9"), want{206, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"206 of the last part", partOf("bytes 6-8/9"), want{206, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"206 of a file of unknown length", partOf("bytes 0-2/*"), want{206, answer.ErrorTruncatedBody, 1, again,
		incompleteBody}},
	{"206 without Content-Range", plain("HTTP/1.1 206 Part\r\nContent-Length: 3\r\n\r\nabc"),
		want{206, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"206 of no bytes", partOf("lines 0-2/3"), want{206, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"206 of what cannot be", partOf("bytes */3"), want{206, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"206 as far as the limit", limited(3, truncated(true, partOf("bytes 0-2/9"))), want{206, "", 1, once, rulesDecide}},
	{"206 as far as the limit, of a file of unknown length", limited(3, truncated(true, partOf("bytes 0-2/*"))),
		want{206, "", 1, once, rulesDecide}},
	{"206 of all, as far as the limit", limited(3, truncated(false, partOf("bytes 0-2/3"))),
		want{206, "", 1, once, rulesDecide}},
	{"206 beyond the limit", limited(2, truncated(true, partOf("bytes 0-2/9"))), want{206, "", 1, once, rulesDecide}},
	{"206 of a later part, beyond the limit", limited(2, partOf("bytes 1-3/9")), want{206, answer.ErrorTruncatedBody, 1,
		again, incompleteBody}},
	{"more than declared", plain("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc"), want{200, "", 1, once, rulesDecide}},
	{"broken chunking", plain("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nxyz\r\n"),
		want{200, answer.ErrorProtocol, 1, once, invalidResponse}},
	{"a chunk longer than its size", plain("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n"),
		want{200, answer.ErrorProtocol, 1, once, invalidResponse}},
	{"a chunk size beyond 64 bits", plain("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("f",
		20) + "\r\nabc"), want{200, answer.ErrorProtocol, 1, once, invalidResponse}},
	{"chunking cut in a chunk", plain("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nab"),
		want{200, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"chunking cut in a size", plain("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1"),
		want{200, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"chunking cut between chunks", plain("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"),
		want{200, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"an unknown transfer coding", plain("HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\n\r\nabc"),
		want{200, answer.ErrorProtocol, 1, once, invalidResponse}},
	{"two lengths", plain("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc"),
		want{200, answer.ErrorProtocol, 1, once, invalidResponse}},
	{"a negative length", plain("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc"), want{200, answer.ErrorProtocol, 1,
		once, invalidResponse}},
	{"reset in the body", roomy(served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n")
		flood(c)
		reset(c)
	})), want{200, answer.ErrorReset, 1, again, networkFailure}},
	{"reset in a chunk size", roomy(served(func(c *net.TCPConn, _ *http.Request, _ int) {
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n", floodSize)
		flood(c)
		io.WriteString(c, "\r\n1")
		reset(c)
	})), want{200, answer.ErrorReset, 1, again, networkFailure}},
	{"a drip in the body", brief(served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
		drip(c, "123456789")
	})), want{200, answer.ErrorTimeout, 1, once, networkFailure}},
	{"a drip of gzip", brief(served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
		drip(c, gzipped([]byte("abc")))
	})), want{200, answer.ErrorTimeout, 1, once, networkFailure}},

	{"gzip", plain("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped([]byte("abc"))),
		want{200, "", 1, once, rulesDecide}},
	{"gzip that is none", plain("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nUser-agent: *"),
		want{200, "", 1, once, rulesDecide}},
	{"gzip that is cut", plain("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped([]byte("abc"))[:15]),
		want{200, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"gzip cut in its header", plain("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped([]byte("abc"))[:5]),
		want{200, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"gzip with a wrong checksum", plain("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" +
		spoiled(gzipped([]byte("abc")), 8)), want{200, answer.ErrorUndecodableBody, 1, once, invalidResponse}},
	{"gzip shorter than declared", plain("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 900\r\n\r\n" +
		gzipped([]byte("abc"))[:15]), want{200, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"br that is none", plain("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nUser-agent: *"),
		want{200, "", 1, once, rulesDecide}},
	{"zstd that is none", plain("HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\nUser-agent: *"),
		want{200, "", 1, once, rulesDecide}},
	{"gzip of nothing", plain("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n" + nothing),
		want{200, "", 1, once, rulesDecide}},
	{"zstd of nothing", plain("HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n" + nothing),
		want{200, "", 1, once, rulesDecide}},
	{"an unknown content coding of what is no text", plain("HTTP/1.1 200 OK\r\nContent-Encoding: utf-8\r\n\r\nab\xe9"),
		want{200, answer.ErrorUndecodableBody, 1, once, invalidResponse}},
}

// spoiled returns s with the nth byte from the end flipped.
func spoiled(s string, n int) string {
	b := []byte(s)
	b[len(b)-n] ^= 0xff
	return string(b)
}
