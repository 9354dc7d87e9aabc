package warc

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// The records of a fetch, as [Evidence] writes them:
//
//	metadata   what the census took from the fetch, as JSON (see evidenced)
//	request    ┐ of each exchange, in order, with the bytes that were sent and came;
//	response   ┘ either may be missing where the exchange failed
//	metadata   what was read of a body that was not kept, such as a sitemap's
//	resource   a body that was not asked for: an answer of the memory, or its last copy
//
// All but the first name it by WARC-Concurrent-To, so that a reader tells the records of
// one fetch from captures of their own: a redirect leads to other hosts, and none of them
// was asked for its robots.txt. The exchanges over FTP are a metadata record with the
// control connection and a resource record with the file. What came and is no answer over
// HTTP is a metadata record too. No metadata record has a WARC-Target-URI: indexers list
// those that have one as captures of it.

// evidenced is the block of the metadata record of a fetch.
type evidenced struct {
	Version   int             `json:"robocensus_capture"`
	Facts     json.RawMessage `json:"capture"`                  // see [fetch.Capture.Disassemble]
	MaxBody   int             `json:"max_body"`                 // bytes of a decoded body that were kept
	Digest    string          `json:"content_digest,omitempty"` // SHA-1 of the decoded body in base32
	Bodies    []string        `json:"bodies,omitempty"`         // the records that the bodies of the capture are in
	Exchanges []exchanged     `json:"exchanges,omitempty"`
}

const (
	evidenceVersion = 1
	evidenceMagic   = `{"robocensus_capture":`
	evidenceType    = "application/json"
	readingType     = "application/x-robocensus-reading" // of what was read of a body that was not kept
	// maxEvidence bounds that block: hops, headers and some hundred exchanges.
	maxEvidence = 4 << 20
)

// exchanged describes an exchange.
type exchanged struct {
	URL      string            `json:"url"`
	Front    bool              `json:"front_page,omitempty"`
	Further  int               `json:"further,omitempty"`  // the number of the further request, from 1
	MaxBody  int               `json:"max_body,omitempty"` // of its decoded body
	Identity string            `json:"identity,omitempty"` // the further identity that asked
	Date     time.Time         `json:"date"`
	Remote   netip.AddrPort    `json:"remote_address,omitzero"`
	TLS      string            `json:"tls_version,omitempty"`
	Status   int               `json:"status,omitempty"`
	Error    answer.ErrorClass `json:"error_class,omitempty"`
	Text     string            `json:"error,omitempty"`
	Cut      string            `json:"truncated,omitempty"`
	Request  string            `json:"request,omitempty"` // IDs of the records
	Response string            `json:"response,omitempty"`

	found bool // the record of the answer was read
}

func (x *exchanged) overFTP() bool { return strings.HasPrefix(x.URL, "ftp:") }

// Evidence writes the records of fetches. It is not safe for concurrent use.
type Evidence struct {
	// MaxBody is the limit of the fetches.
	MaxBody int
	// DropSecrets leaves the values of headers out by which a stranger could pass for us:
	// Set-Cookie of answers, Cookie and Authorization of requests. Proxy-Authorization is
	// left out always.
	DropSecrets bool

	writer   *Writer
	metadata bytes.Buffer
	others   bytes.Buffer
}

// Info returns the warcinfo record of a file: fields are names and values, in order.
func (e *Evidence) Info(date time.Time, fields []Field) ([]byte, error) {
	var block, out bytes.Buffer
	secrets := "kept"
	if e.DropSecrets {
		secrets = "left out: the values of Set-Cookie, Cookie and Authorization are missing from the records, and their " +
			"digests are those of the records"
	}
	for _, f := range append(fields, Field{"format", "WARC File Format 1.1"},
		Field{"conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		Field{"secret-headers", secrets + "; the value of Proxy-Authorization is always left out"}) {
		fmt.Fprintf(&block, "%s: %s\r\n", f.Name, printable(f.Value))
	}
	err := e.write(&out, &Record{Type: "warcinfo", ID: NewID(), Date: date, ContentType: "application/warc-fields",
		Head: block.Bytes()})
	return out.Bytes(), err
}

// Capture returns the records of a fetch: of its capture and its exchanges.
func (e *Evidence) Capture(c *fetch.Capture, exchanges iter.Seq2[*fetch.Exchange, error]) ([]byte, error) {
	facts, bodies, err := e.public(c).Disassemble()
	if err != nil {
		return nil, err
	}
	e.metadata.Reset()
	e.others.Reset()
	capture := NewID()
	block := evidenced{Version: evidenceVersion, Facts: facts, MaxBody: e.MaxBody}
	for x, err := range exchanges {
		if err != nil {
			return nil, err
		}
		last := c.Hops[len(c.Hops)-1]
		holds := c.Body != nil && x.Kind == "" && x.Identity == "" && x.URL == last.URL && x.Status == last.Status &&
			x.Error == ""
		made, err := e.exchange(x, capture, holds)
		if err != nil {
			return nil, err
		}
		block.Exchanges = append(block.Exchanges, made)
	}
	for _, b := range bodies {
		id := ""
		for _, x := range block.Exchanges {
			if b.Further > 0 && x.Further == b.Further && !b.Reading || b.Further == 0 && x.Further == 0 && !b.Copy &&
				!x.Front && x.Identity == b.Identity {
				id = x.Response // that of the last one
			}
		}
		switch {
		case id != "":
		case b.Further > 0:
			id = NewID()
			err = e.write(&e.others, &Record{
				Type: "metadata", ID: id, Date: c.Further[b.Further-1].Start, ContentType: readingType, Head: b.Bytes,
				Fields: []Field{{"WARC-Concurrent-To", "<" + capture + ">"}},
			})
		case b.Copy:
			id, err = e.resource(b.Bytes, c.Origin.RobotsURL(), c.Copy.Fetched, nil, capture)
		default:
			id, err = e.resource(b.Bytes, c.Hops[len(c.Hops)-1].URL, c.Start, c.Headers.ContentType, capture)
		}
		if err != nil {
			return nil, err
		}
		block.Bodies = append(block.Bodies, id)
	}
	if c.Body != nil {
		sum := sha1.Sum(c.Body)
		block.Digest = base32.StdEncoding.EncodeToString(sum[:])
	}
	text, err := json.Marshal(&block)
	if err != nil {
		return nil, err
	}
	err = e.write(&e.metadata, &Record{
		Type: "metadata", ID: capture, Date: c.Start, ContentType: evidenceType, Head: text,
	})
	// They are kept until the segment is committed.
	return slices.Concat(e.metadata.Bytes(), e.others.Bytes()), err
}

// public returns a capture without the secrets that its identities have.
func (e *Evidence) public(c *fetch.Capture) *fetch.Capture {
	if !e.DropSecrets {
		return c
	}
	out := *c
	out.Also, out.Further = slices.Clone(c.Also), slices.Clone(c.Further)
	for i := range out.Also {
		out.Also[i].Identity = withoutSecrets(out.Also[i].Identity)
	}
	for i, f := range out.Further {
		if f.Identity != nil {
			other, who := *f, withoutSecrets(*f.Identity)
			other.Identity, out.Further[i] = &who, &other
		}
	}
	return &out
}

// withoutSecrets returns an identity without the values of its secret headers.
func withoutSecrets(i fetch.Identity) fetch.Identity {
	i.Headers = slices.Clone(i.Headers)
	for k := range i.Headers {
		if slices.Contains(requestSecrets, strings.ToLower(i.Headers[k].Name)) {
			i.Headers[k].Value = ""
		}
	}
	return i
}

func (e *Evidence) write(out *bytes.Buffer, r *Record) error {
	if e.writer == nil {
		e.writer = NewWriter()
	}
	return e.writer.Write(out, r)
}

// resource writes a body that was not asked for, and returns the ID of the record.
func (e *Evidence) resource(body []byte, url string, date time.Time, contentType *string, capture string) (string,
	error) {
	kind := "application/octet-stream"
	if contentType != nil && isPrintable(*contentType) {
		kind = *contentType
	}
	id := NewID()
	return id, e.write(&e.others, &Record{
		Type: "resource", ID: id, Date: date, ContentType: kind, Body: body,
		Fields: []Field{{"WARC-Target-URI", url}, {"WARC-Concurrent-To", "<" + capture + ">"}},
	})
}

// exchange writes the records of an exchange. holds says that its answer holds the body of
// the capture. It alone has a digest of its payload: a tool that deduplicates keeps one of
// the answers with equal digests, and a reader finds only captures again, not what was a
// redirect, an error or the answer to a further identity.
func (e *Evidence) exchange(x *fetch.Exchange, capture string, holds bool) (exchanged, error) {
	made := exchanged{URL: x.URL, Front: x.Kind != "" && x.Further == 0, Further: x.Further, Identity: x.Identity,
		Date: x.Start.UTC(), Remote: x.Remote, TLS: x.TLSVersion, Status: x.Status, Error: x.Error, Cut: x.Cut}
	if x.Further > 0 {
		made.MaxBody = x.MaxBody
	}
	if x.Err != nil {
		made.Text = printable(x.Err.Error())
	}
	target := Field{"WARC-Target-URI", x.URL}
	fields := []Field{{"WARC-Concurrent-To", "<" + capture + ">"}}
	if x.Remote.IsValid() {
		fields = append(fields, Field{"WARC-IP-Address", x.Remote.Addr().WithZone("").String()})
	}
	if made.overFTP() {
		fields = append(fields, Field{"WARC-Protocol", "ftp"})
	} else {
		fields = append(fields, Field{"WARC-Protocol", "http/1.1"})
	}
	if x.TLSVersion != "" {
		fields = append(fields, Field{"WARC-Protocol", "tls/" + x.TLSVersion})
	}
	if len(x.Sent) > 0 {
		made.Request = NewID()
		r := &Record{ID: made.Request, Date: x.Start, Fields: fields}
		if made.overFTP() {
			r.Type, r.ContentType, r.Head = "metadata", "text/x-ftp-control-conversation", x.Sent
		} else {
			r.Type, r.ContentType, r.Head = "request", "application/http; msgtype=request", e.clean(x.Sent, requestSecrets)
			r.Fields = append([]Field{target}, fields...)
		}
		if err := e.write(&e.others, r); err != nil {
			return made, err
		}
	}
	if len(x.Received) == 0 && !(made.overFTP() && x.Error == "" && x.Status/100 == 2) {
		return made, nil
	}
	made.Response = NewID()
	if x.Cut != "" {
		fields = append(fields, Field{"WARC-Truncated", x.Cut})
	}
	if made.Request != "" {
		fields = append(fields, Field{"WARC-Concurrent-To", "<" + made.Request + ">"})
	}
	r := &Record{ID: made.Response, Date: x.Start, Fields: append([]Field{target}, fields...)}
	switch head := x.Header; {
	case made.overFTP():
		r.Type, r.ContentType, r.Body = "resource", "application/octet-stream", x.Received
	case x.Status == 0: // nobody can read it as an answer
		r.Type, r.ContentType, r.Fields, r.Head = "metadata", "application/octet-stream", fields,
			e.clean(x.Received, answerSecrets)
	default:
		if head == 0 {
			head = len(x.Received) // nothing but 1xx answers
		}
		r.Type, r.ContentType = "response", "application/http; msgtype=response"
		r.Head, r.Body = e.clean(x.Received[:head], answerSecrets), x.Received[head:]
		if holds && x.Cut == "" { // what is cut is not equal
			r.Payload = payloadOf(r.Head, r.Body)
		}
	}
	return made, e.write(&e.others, r)
}

// payloadOf returns the payload of an answer as HTTP frames it, or nil if it is not whole or
// strict readers of HTTP, as validators are, see none.
func payloadOf(head, body []byte) []byte {
	answer, err := http.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(head), bytes.NewReader(body))), nil)
	if err != nil || answer.StatusCode < 200 {
		return nil
	}
	payload, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil
	}
	return payload
}

// Headers by which a stranger could pass for us.
var (
	requestSecrets = []string{"cookie", "authorization"}
	answerSecrets  = []string{"set-cookie", "set-cookie2"}
)

// clean returns a header without the values of secrets, which are in its lines and those
// that continue them.
func (e *Evidence) clean(head []byte, secrets []string) []byte {
	if !e.DropSecrets {
		secrets = nil
	}
	var out []byte
	drops := false
	for line := range bytes.Lines(head) {
		if line[0] != ' ' && line[0] != '\t' {
			name, _, found := bytes.Cut(line, []byte(":"))
			key := strings.ToLower(string(bytes.TrimSpace(name)))
			if drops = found && (slices.Contains(secrets, key) || key == "proxy-authorization"); drops {
				end := line[len(bytes.TrimRight(line, "\r\n")):]
				out = append(append(append(out, name...), ':'), end...)
			}
		}
		if !drops {
			out = append(out, line...)
		}
	}
	return out
}

// printable returns a text of one line: other bytes than printable ASCII are escaped, as
// in a URL.
func printable(s string) string {
	if isPrintable(s) {
		return s
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			out = fmt.Appendf(out, "%%%02X", s[i])
		} else {
			out = append(out, s[i])
		}
	}
	return string(out)
}

func isPrintable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
