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
	URL string `json:"url" raw:""`
	// of a further request, else "". Of a page of which no body is read, Received ends with the header
	Kind Kind `json:"kind,omitempty"`
	// its number in [Capture.Further], from 1; 0 for robots.txt and [Capture.Front]
	Further    int               `json:"further,omitempty"`
	MaxBody    int               `json:"max_body,omitempty"` // the limit of its decoded body
	Identity   string            `json:"identity,omitempty"` // name of the further identity that asked, "" for our own
	Start      time.Time         `json:"fetch_time"`
	Remote     netip.AddrPort    `json:"remote_address,omitzero"`
	TLSVersion string            `json:"tls_version,omitempty"` // "1.3"
	Status     int               `json:"status,omitempty"`
	Error      answer.ErrorClass `json:"error_class,omitempty"`
	Err        error             `json:"-"`

	Sent     []byte `json:"-"`
	Received []byte `json:"-"`
	// Header is the number of bytes of Received that the headers take, those of 1xx answers
	// and the final one. It is 0 if none was read whole.
	Header int `json:"header_bytes,omitempty"`
	// Cut says why Received is not the whole answer, in the words of WARC-Truncated:
	// length (the limit of the body), time, disconnect, or unspecified (the census does
	// not read on, such as in the page of a 404). It is "" if nothing is missing.
	Cut string `json:"cut,omitempty"`
}

// storedExchange is an Exchange as it is stored, without its bytes.
type storedExchange struct {
	plainExchange `raw:""`
	Text          *string `json:"error,omitempty" raw:""`
}

type plainExchange Exchange // without methods

// MarshalJSON encodes all but the bytes, and of Err the text.
func (x *Exchange) MarshalJSON() ([]byte, error) {
	s := storedExchange{plainExchange(*x), textOf(x.Err)}
	s.Start = x.Start.UTC()
	return encode(&s)
}

// UnmarshalJSON reverses [Exchange.MarshalJSON].
func (x *Exchange) UnmarshalJSON(text []byte) error {
	var s storedExchange
	if err := decode(text, &s); err != nil {
		return err
	}
	*x = Exchange(s.plainExchange)
	x.Err = errorOf(s.Text)
	return nil
}
