package client

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/answer"
)

// TestHowStrictAnswersAreRead has a row for each entry in the lists of
// [Head].
func TestHowStrictAnswersAreRead(t *testing.T) {
	const control, token = "control character", "no name of a field"
	for _, row := range []struct {
		name, answer string
		class        answer.ErrorClass
		remark       string // part of it
	}{
		{"a transfer coding of identity", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok", "", ""},
		{"a transfer coding of nothing", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nContent-Length: 2\r\n\r\nok", "", ""},
		{"lines that end with LF alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "", ""},
		{"a status without a reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", "", ""},
		{"a status without a blank behind it", "HTTP/1.1 200OK\r\nContent-Length: 2\r\n\r\nok", "", ""},
		{"blanks before the status", "HTTP/1.1   200 OK\r\nContent-Length: 2\r\n\r\nok", "", ""},
		{"a version in lower case", "http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "", ""},
		{"a version of the future", "HTTP/1.3 200 OK\r\nContent-Length: 2\r\n\r\nok", "", ""},
		{"HTTP/2 in letters", "HTTP/2 200\r\nContent-Length: 2\r\n\r\nok", "", ""},
		{"NCSA's status line", "HTTP 200 Document follows\r\nContent-Length: 2\r\n\r\nok", "", ""},
		{"the same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok!", "", ""},
		{"the same length in a list", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2,\r\n\r\nok!", "", ""},
		{"a length with a sign", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok!", "", ""},
		{"a length beside chunks", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"2\r\nok\r\n0\r\n\r\n", "", ""},
		{"lengths beside chunks", "HTTP/1.1 200 OK\r\nContent-Length: 9, x\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"2\r\nok\r\n0\r\n\r\n", "", ""},
		{"chunks named twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nTRANSFER-ENCODING: identity, CHUNKED\r\n" +
			"\r\n2\r\nok\r\n0\r\n\r\n", "", ""},
		{"chunks over HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "", ""},
		{"the word chunked over HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nok", "", ""},
		{"an unfinished trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n", "", ""},
		{"a trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: " + strings.Repeat("x",
			5000) + "\r\n\r\n", "", ""},
		{"a space before the colon", "HTTP/1.1 200 OK\r\nX : a\r\nContent-Length : 2\r\n\r\nok!", "", ""},
		{"a folded line", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length:\r\n\t2\r\n\r\nok!", "", ""},
		{"bytes beyond ASCII in a value", "HTTP/1.1 200 OK\r\nX: \xe9\u2010\tb\r\nContent-Length: 2\r\n\r\nok", "", ""},

		{"a line without a colon", "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok", "",
			"a line is dropped: it has no colon"},
		{"no name before the colon", "HTTP/1.1 200 OK\r\n: x\r\nContent-Length: 2\r\n\r\nok", "", token},
		{"a hyphen beyond ASCII in a name", "HTTP/1.1 200 OK\r\nX\u2010Any: 1\r\nContent-Length: 2\r\n\r\nok", "", token},
		{"a parenthesis in a name", "HTTP/1.1 200 OK\r\nX(y): 1\r\nContent-Length: 2\r\n\r\nok", "", token},
		{"a blank in a name", "HTTP/1.1 200 OK\r\nX y: 1\r\nContent-Length: 2\r\n\r\nok", "", token},
		{"a control character in a name", "HTTP/1.1 200 OK\r\nX\x01: x\r\nContent-Length: 2\r\n\r\nok", "", token},
		{"DEL in a value", "HTTP/1.1 200 OK\r\nSet-Cookie: a=\x7fb\r\nContent-Length: 2\r\n\r\nok", "", control},
		{"NUL in a value", "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\nok", "", control},
		{"CR in a value", "HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 2\r\n\r\nok", "", control},
		{"a control character in a folded value", "HTTP/1.1 200 OK\r\nX: a\r\n b\x1b\r\nContent-Length: 2\r\n\r\nok", "",
			control},
		{"a control character in a length", "HTTP/1.1 200 OK\r\nContent-Length: 1\x7f\r\n\r\nok", "", control},
		{"a folded line that continues none", "HTTP/1.1 200 OK\r\n X: a\r\nContent-Length: 2\r\n\r\nok", "", token},
		{"several such lines", "HTTP/1.1 200 OK\r\nno colon\r\n: x\r\nX: \x7f\r\nContent-Length: 2\r\n\r\nok", "",
			"3 lines are dropped: the first has no colon"},
		{"many such lines", "HTTP/1.1 200 OK\r\n" + strings.Repeat("x\r\n", 10_000) + "Content-Length: 2\r\n\r\nok", "",
			"10000 lines"},

		{"no status line", "User-agent: *\n", answer.ErrorProtocol, ""},
		{"another protocol", "ICY 200 OK\r\n\r\nok", answer.ErrorProtocol, ""},
		{"HTTP/0.9 by its name", "HTTP/0.9 200 OK\r\n\r\nok", answer.ErrorProtocol, ""},
		{"a version that is none", "HTTP/1.10 200 OK\r\n\r\nok", answer.ErrorProtocol, ""},
		{"a status that is no number of three digits", "HTTP/1.1 20 OK\r\n\r\nok", answer.ErrorProtocol, ""},
		{"a status of four digits", "HTTP/1.1 2000 OK\r\n\r\nok", answer.ErrorProtocol, ""},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", answer.ErrorProtocol, ""},
		{"two lengths in a list", "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok", answer.ErrorProtocol, ""},
		{"a length that is no number", "HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok", answer.ErrorProtocol, ""},
		{"an empty length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok", answer.ErrorProtocol, ""},
		{"another transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok", answer.ErrorProtocol, ""},
		{"two transfer codings", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
			answer.ErrorProtocol, ""},
		{"a control character in a transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\x7f\r\n\r\n" +
			"2\r\nok\r\n0\r\n\r\n", answer.ErrorProtocol, ""},
		{"a chunk whose size is no number", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n",
			answer.ErrorProtocol, ""},
		{"headers without end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 20_000) + "\r\nok",
			answer.ErrorHeaderTooLarge, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(t, serve(t, func(c *net.TCPConn, _ *http.Request, _ int) { io.WriteString(c, row.answer) }), nil)
			got := c.Fetch(t.Context(), origin(t, "a.example"))
			if got.Error != row.class || row.class == "" && (got.Status() != 200 || string(got.Body) != "ok") {
				t.Errorf("error %q (%v), status %d, body %q", got.Error, got.Err, got.Status(), got.Body)
			}
			if row.class == "" && (got.Err != nil) != (row.remark != "") || row.remark != "" &&
				!strings.Contains(fmt.Sprint(got.Err), row.remark) {
				t.Errorf("remark %v, want %q", got.Err, row.remark)
			}
		})
	}
}

// A status that is no success counts whatever its header and its body are like.
func TestAStatusStandsInAnOddHeader(t *testing.T) {
	for _, header := range []string{
		"Set-Cookie: a=b; domain=\x7fa.example", "X\u2010Any: 1", "X: \x00", ": x", " first", "no colon",
		"Content-Length: two", "Content-Length: 1\r\nContent-Length: 2", "Transfer-Encoding: gzip", "Content-Encoding: rot13",
	} {
		c := newClient(t, serve(t, write("HTTP/1.1 404 Not Found\r\n"+header+"\r\n\r\nno")), nil)
		if got := c.Fetch(t.Context(), origin(t, "a.example")); got.Error != "" || got.Status() != 404 {
			t.Errorf("%q: status %d, error %q (%v)", header, got.Status(), got.Error, got.Err)
		}
	}
}
