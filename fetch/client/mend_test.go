package client

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/robocensus/robocensus/robots/answer"
)

// TestHowStrictAnswersAreRead has a row for each entry in the lists of
// readResponse.
func TestHowStrictAnswersAreRead(t *testing.T) {
	for _, row := range []struct {
		name, answer string
		class        answer.ErrorClass
	}{
		{"a line without a colon", "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok", ""},
		{"a transfer coding of identity", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok", ""},
		{"lines that end with LF alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", ""},
		{"a status without a reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", ""},
		{"the same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", ""},
		{"a length beside chunks", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", ""},
		{"an unfinished trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n", ""},
		{"a space before the colon", "HTTP/1.1 200 OK\r\nX : a\r\nContent-Length: 2\r\n\r\nok", ""},
		{"a folded line", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok", ""},

		{"no status line", "User-agent: *\n", answer.ErrorProtocol},
		{"another protocol", "ICY 200 OK\r\n\r\nok", answer.ErrorProtocol},
		{"a status that is no number of three digits", "HTTP/1.1 20 OK\r\n\r\nok", answer.ErrorProtocol},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", answer.ErrorProtocol},
		{"a length that is no number", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", answer.ErrorProtocol},
		{"another transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok", answer.ErrorProtocol},
		{"two transfer codings", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", answer.ErrorProtocol},
		{"no name before the colon", "HTTP/1.1 200 OK\r\n: x\r\n\r\nok", answer.ErrorProtocol},
		{"a control character in a name", "HTTP/1.1 200 OK\r\nX\x01: x\r\n\r\nok", answer.ErrorProtocol},
		{"a control character in a value", "HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\nok", answer.ErrorProtocol},
		{"a folded line that continues none", "HTTP/1.1 200 OK\r\n X: a\r\n\r\nok", answer.ErrorProtocol},
		{"a chunk whose size is no number", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n", answer.ErrorProtocol},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(t, serve(t, func(c *net.TCPConn, _ *http.Request, _ int) { io.WriteString(c, row.answer) }), nil)
			got := c.Fetch(t.Context(), origin(t, "a.example"))
			if got.Error != row.class || row.class == "" && string(got.Body) != "ok" {
				t.Errorf("error %q (%v), body %q", got.Error, got.Err, got.Body)
			}
		})
	}
}
