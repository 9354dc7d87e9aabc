package farm

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// asked describes a request to a host with a fault.
type asked struct {
	n      int // index among the step's requests, from 0
	hop    int
	head   bool
	robots bool // the request is for /robots.txt
}

// answer is a response, ready to send.
type answer struct {
	kind  string // key in Report.Answers
	start []byte // status line and headers
	body  []byte // with its framing
	bomb  *bomb
	whole bool // the connection can serve another request
}

const (
	ok       = "HTTP/1.1 200 OK\r\nServer: robofarm\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
	notFound = "HTTP/1.1 404 Not Found\r\nServer: robofarm\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
)

// behave sends the answer of a host without a fault.
func (c *conn) behave(h *host, found, head bool) {
	kind, start, body := "200", ok, h.body
	if !found {
		kind, start, body = "404", notFound, []byte("Not Found\n")
	}
	buffer := buffers.Get().(*[]byte)
	out := append((*buffer)[:0], start...)
	out = strconv.AppendInt(out, int64(len(body)), 10)
	out = append(out, "\r\n\r\n"...)
	if !head {
		out = append(out, body...)
	}
	c.send(out, true, kind)
	keep(buffer, out)
}

// compose returns the answer of a host with a fault.
func (s *Server) compose(h *host, f *fault, q asked) answer {
	status, location := f.status(q.n), ""
	switch {
	case q.hop < f.hops:
		location = "/robots.txt?hop=" + strconv.Itoa(q.hop+1)
		status = http.StatusFound
	case f.redirect != "":
		location = h.expand(f.redirect)
	}
	explicit := f.body != nil || f.bodyFrom != "" || f.bomb != nil
	if status == 0 {
		switch {
		case location != "":
			status = http.StatusMovedPermanently
		case explicit || q.robots && h.known:
			status = http.StatusOK
		default:
			status = http.StatusNotFound
		}
	}
	body := []byte(http.StatusText(status) + "\n")
	if explicit || q.robots && status/100 == 2 {
		body = s.body(h, f)
	}
	a := answer{kind: strconv.Itoa(status), bomb: f.bomb, whole: true}
	if f.bomb == nil {
		if f.encoding != "" {
			body = encode(f.encoding, body)
		}
		a.body = body
	}
	bare := status/100 == 1 || status == http.StatusNoContent || status == http.StatusNotModified
	if bare {
		a.body, a.bomb = nil, nil
	}
	s.writeStart(&a, h, f, status, location, bare)
	frame(&a, f)
	if q.head {
		a.body, a.bomb = nil, nil
	}
	return a
}

// body returns the body that f selects for h, padded but not yet encoded.
func (s *Server) body(h *host, f *fault) []byte {
	body := h.body
	switch {
	case f.body != nil:
		body = []byte(h.expand(*f.body))
	case f.bodyFrom == "*":
		body = s.hosts[s.names[hash(1, h.name)%uint64(len(s.names))]]
	case f.bodyFrom != "":
		body = s.hosts[h.expand(f.bodyFrom)]
	}
	if len(body) < f.pad {
		body = append(comments(f.pad-len(body)), body...)
	}
	return body
}

// comments returns robots.txt comment lines of n bytes in total.
func comments(n int) []byte {
	line := "#" + strings.Repeat(".", 62) + "\n"
	out := bytes.Repeat([]byte(line), n/len(line))
	if rest := n % len(line); rest > 0 {
		out = append(out, line[:rest-1]...)
		out = append(out, '\n')
	}
	return out
}

func (s *Server) writeStart(a *answer, h *host, f *fault, status int, location string, bare bool) {
	var b bytes.Buffer
	version := "1.1"
	if f.version != "" {
		version = f.version
		a.whole = a.whole && version != "1.0"
	}
	b.WriteString("HTTP/" + version + " " + strconv.Itoa(status))
	switch {
	case f.reason == nil:
		b.WriteString(" " + http.StatusText(status))
	case *f.reason != "":
		b.WriteString(" " + *f.reason)
	}
	b.WriteString("\r\n")
	add := func(name, value string) {
		for _, given := range f.headers {
			if strings.EqualFold(given.name, name) {
				return
			}
		}
		b.WriteString(name + ": " + value + "\r\n")
	}
	add("Server", "robofarm")
	if location != "" {
		add("Location", location)
	}
	if !bare {
		add("Content-Type", "text/plain; charset=utf-8")
		switch {
		case a.bomb != nil:
			add("Content-Encoding", "gzip")
			add("Content-Length", strconv.Itoa(a.bomb.length()))
		case f.framing == "":
			add("Content-Length", strconv.Itoa(len(a.body)))
		case f.framing == "close":
			a.whole = false
		default:
			add("Transfer-Encoding", "chunked")
		}
		if f.encoding != "" {
			add("Content-Encoding", f.encoding)
		}
	}
	for _, given := range f.headers {
		b.WriteString(given.name + ": " + h.expand(given.value) + "\r\n")
		if strings.EqualFold(given.name, "Content-Length") || strings.EqualFold(given.name, "Transfer-Encoding") {
			a.whole = false // the client may see another end of the body than we do
		}
	}
	filling(&b, f)
	b.WriteString("\r\n")
	a.start = b.Bytes()
}

// filling writes headers that exist only for their number and size.
func filling(b *bytes.Buffer, f *fault) {
	const usual = 4 << 10
	count := f.headerCount
	if count == 0 {
		count = (f.headerBytes + usual - 1) / usual
	}
	for i := range count {
		name := "X-Farm-" + strconv.Itoa(i) + ": "
		room := f.headerBytes/count - len(name) - len("\r\n")
		b.WriteString(name + strings.Repeat("f", max(room, 1)) + "\r\n")
	}
}

// frame truncates the body and wraps it in chunks, as f asks.
func frame(a *answer, f *fault) {
	whole := f.truncate < 0 || f.truncate >= len(a.body)
	if !whole && a.bomb == nil {
		a.body = a.body[:f.truncate]
		a.kind, a.whole = "truncate", false
	}
	if f.framing != "chunked" && f.framing != "bad_chunk" {
		return
	}
	first, second := a.body[:len(a.body)/2], a.body[len(a.body)/2:]
	var b bytes.Buffer
	chunk := func(p []byte) {
		if len(p) > 0 {
			b.WriteString(strconv.FormatInt(int64(len(p)), 16) + "\r\n")
			b.Write(p)
			b.WriteString("\r\n")
		}
	}
	chunk(first)
	if f.framing == "bad_chunk" {
		b.WriteString("zz\r\n")
		a.kind, a.whole = "bad_chunk", false
	}
	chunk(second)
	if whole {
		b.WriteString("0\r\n\r\n")
	}
	a.body = b.Bytes()
}

var noise = func() string {
	out := make([]byte, 256)
	for i := range out {
		out[i] = byte(mix(uint64(i))) | 0x80 // not ASCII, so not the start of a status line
	}
	return string(out) + "\r\n\r\n"
}()

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// send writes p, in pieces during a drip, and reports whether the client took
// it all. If last, it settles the request under kind just before the last
// bytes leave, so that a client that has read them all never finds its
// request still in flight.
func (c *conn) send(p []byte, last bool, kind string) bool {
	const tail = 4 << 10
	for len(p) > 0 {
		piece := p
		if c.drip.every > 0 {
			piece = p[:min(len(p), c.drip.bytes)]
		} else if last && len(p) > 2*tail {
			piece = p[:len(p)-tail]
		}
		p = p[len(piece):]
		if last && len(p) == 0 {
			c.srv.settle(c, kind)
		}
		if _, err := c.io.Write(piece); err != nil {
			c.abandoned()
			return false
		}
		if c.drip.every > 0 && len(p) > 0 && !c.wait(c.drip.every) {
			return false
		}
	}
	return true
}

// finish sends an answer without interruption.
func (c *conn) finish(a answer) {
	c.spent = c.spent || !a.whole
	if a.bomb != nil {
		if c.send(a.start, false, a.kind) {
			a.bomb.pieces(func(p []byte, last bool) bool { return c.send(p, last, a.kind) })
		}
		return
	}
	buffer := buffers.Get().(*[]byte)
	out := append(append((*buffer)[:0], a.start...), a.body...)
	c.send(out, true, a.kind)
	keep(buffer, out)
}

// keep returns grown to the pool in place of buffer, unless it is too large to
// hold on to.
func keep(buffer *[]byte, grown []byte) {
	if cap(grown) <= 64<<10 {
		*buffer = grown
		buffers.Put(buffer)
	}
}

// misbehave answers a request as f says.
func (c *conn) misbehave(h *host, f *fault, q asked) {
	if !c.wait(f.delay) {
		return
	}
	if f.cut.at == inHandshake || f.cut.at == atStart {
		c.cutOff(f.cut.how)
		return
	}
	for _, status := range f.interim {
		line := "HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n\r\n"
		if !c.send([]byte(line), false, "") {
			return
		}
	}
	a := c.srv.compose(h, f, q)
	switch {
	case f.interimOnly:
		a = answer{kind: "interim_only"}
	case f.raw == &noise:
		a = answer{kind: "garbage", body: []byte(noise)}
	case f.raw != nil:
		a = answer{kind: "raw", body: []byte(h.expand(*f.raw))}
	case f.http09:
		a.kind, a.start, a.whole = "http09", nil, false
	}
	if len(a.start)+len(a.body) == 0 {
		c.cutOff(a.kind)
		return
	}
	if f.cut.at == nowhere && f.bodyDelay == 0 && f.drip.every == 0 {
		c.finish(a)
		return
	}
	c.sendSlowly(a, f)
}

// sendSlowly sends an answer in parts, with the delays, drips and cuts of f
// between them.
func (c *conn) sendSlowly(a answer, f *fault) {
	c.spent = c.spent || !a.whole
	if f.drip.from == inHeader {
		c.drip = f.drip
	}
	defer func() { c.drip = drip{} }()
	if f.cut.at == inHeader {
		if c.send(a.start[:len(a.start)/2], false, "") {
			c.cutOff(f.cut.how)
		}
		return
	}
	body := a.body
	if a.bomb != nil {
		body = a.bomb.head // a bomb that is interrupted need not be whole
		c.spent = true
	}
	half := len(body) / 2
	if !c.send(a.start, len(body) == 0 && f.cut.at == nowhere, a.kind) {
		return
	}
	c.drip = f.drip
	if !c.send(body[:half], false, "") || !c.wait(f.bodyDelay) {
		return
	}
	if f.cut.at == inBody {
		c.cutOff(f.cut.how)
		return
	}
	c.send(body[half:], true, a.kind)
}
