package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// response is an answer whose header was read. [Head] says which are accepted.
type response struct {
	Head
	header http.Header // nil of a 1xx
	Framing
	framing error // why the end of the body is a guess
	body    io.Reader
}

func readResponse(r *bufio.Reader) (*response, error) {
	text := make([]byte, 0, 512) // most headers are shorter
	for end := -1; end < 0; {
		line, err := r.ReadSlice('\n')
		text = append(text, line...)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && err != bufio.ErrBufferFull {
			return nil, err
		}
		end = HeadEnd(text, max(len(text)-len(line)-2, 0))
	}
	resp := new(response)
	resp.Parse(text)
	if resp.Status == 0 {
		return nil, fetch.NewFailure(answer.ErrorProtocol, "header: the status line is malformed")
	}
	if resp.isInterim() {
		return resp, nil
	}
	resp.header = make(http.Header, len(resp.Fields))
	values := make([]string, len(resp.Fields)) // most names have one
	for i, f := range resp.Fields {
		name := textproto.CanonicalMIMEHeaderKey(string(f.Name))
		values[i] = string(f.Value)
		if more := resp.header[name]; more != nil {
			resp.header[name] = append(more, values[i])
			continue
		}
		resp.header[name] = values[i : i+1 : i+1]
	}
	if resp.HasBody() {
		resp.Framing, resp.framing = resp.Head.Framing()
	}
	if resp.Chunked && resp.Version == "1.0" && !startsChunk(r) {
		resp.Chunked = false // an old server may send the header of a newer one behind it
	}
	switch {
	case resp.Chunked:
		resp.body = &chunks{httputil.NewChunkedReader(r), r}
	case resp.Length >= 0:
		resp.body = &counted{r, resp.Length}
	default:
		resp.body = r
	}
	return resp, nil
}

func (resp *response) isInterim() bool {
	return resp.Status < 200 && resp.Status != http.StatusSwitchingProtocols
}

// startsChunk reports whether the next line is that of a chunk.
func startsChunk(r *bufio.Reader) bool {
	for n := 1; n <= MaxChunkLine; {
		_, err := r.Peek(n)
		line, _ := r.Peek(r.Buffered())
		if err != nil || bytes.IndexByte(line, '\n') >= 0 {
			return IsChunk(line)
		}
		n = len(line) + 1
	}
	return false
}

// counted reads a body of a declared length.
type counted struct {
	r    io.Reader
	left int64
}

func (c *counted) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	switch c.left -= int64(n); {
	case c.left == 0:
		err = io.EOF
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// chunks reads a chunked body. It is complete once its last chunk, of size 0, has
// arrived (RFC 9112, section 8): the lines after that are read, and may be missing.
type chunks struct {
	r  io.Reader
	in *bufio.Reader
}

func (c *chunks) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != io.EOF {
		return n, err
	}
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) || strings.Trim(string(line), "\r\n") == "" {
			return n, io.EOF
		}
	}
}
