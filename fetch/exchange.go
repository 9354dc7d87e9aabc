package fetch

import (
	"encoding/json"
	"errors"
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

// exchange is an Exchange as it is stored, without its bytes.
type exchange struct {
	URL        raw               `json:"url"`
	Kind       Kind              `json:"kind,omitempty"`
	Further    int               `json:"further,omitempty"`
	MaxBody    int               `json:"max_body,omitempty"`
	Identity   string            `json:"identity,omitempty"`
	Start      time.Time         `json:"fetch_time"`
	Remote     netip.AddrPort    `json:"remote_address,omitzero"`
	TLSVersion string            `json:"tls_version,omitempty"`
	Status     int               `json:"status,omitempty"`
	Error      answer.ErrorClass `json:"error_class,omitempty"`
	Err        *raw              `json:"error,omitempty"`
	Header     int               `json:"header_bytes,omitempty"`
	Cut        string            `json:"cut,omitempty"`
}

// MarshalJSON encodes all but the bytes, and of Err the text.
func (x *Exchange) MarshalJSON() ([]byte, error) {
	facts := exchange{
		URL: raw(x.URL), Kind: x.Kind, Further: x.Further, MaxBody: x.MaxBody, Identity: x.Identity, Start: x.Start.UTC(),
		Remote: x.Remote, TLSVersion: x.TLSVersion, Status: x.Status, Error: x.Error, Header: x.Header, Cut: x.Cut,
	}
	if x.Err != nil {
		text := raw(x.Err.Error())
		facts.Err = &text
	}
	return json.Marshal(&facts)
}

// UnmarshalJSON reverses [Exchange.MarshalJSON].
func (x *Exchange) UnmarshalJSON(text []byte) error {
	var f exchange
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	*x = Exchange{
		URL: string(f.URL), Kind: f.Kind, Further: f.Further, MaxBody: f.MaxBody, Identity: f.Identity, Start: f.Start,
		Remote: f.Remote, TLSVersion: f.TLSVersion, Status: f.Status, Error: f.Error, Header: f.Header, Cut: f.Cut,
	}
	if f.Err != nil {
		x.Err = errors.New(string(*f.Err))
	}
	return nil
}
