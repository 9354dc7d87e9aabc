package fetch

import (
	"net/netip"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

// Exchange is a request and what came back, with the bytes of both: below TLS, and above
// all else. Over HTTP, Sent is the request and Received the answer. Over FTP, Sent is the
// control connection, both ways, and Received the file. A failure may leave either empty.
type Exchange struct {
	URL        string
	Kind       Kind   // of a further request, else "". Of a page of which no body is read, Received ends with the header
	Further    int    // its number in [Capture.Further], from 1; 0 for robots.txt and [Capture.Front]
	MaxBody    int    // the limit of its decoded body
	Identity   string // name of the further identity that asked, "" for our own
	Start      time.Time
	Remote     netip.AddrPort
	TLSVersion string // "1.3"
	Status     int
	Error      answer.ErrorClass
	Err        error

	Sent, Received []byte
	// Header is the number of bytes of Received that the headers take, those of 1xx answers
	// and the final one. It is 0 if none was read whole.
	Header int
	// Cut says why Received is not the whole answer, in the words of WARC-Truncated:
	// length (the limit of the body), time, disconnect, or unspecified (the census does
	// not read on, such as in the page of a 404). It is "" if nothing is missing.
	Cut string
}
