package client

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// errorBodyTime bounds the time to read the page of an error, which may show a wall: a
// server that sends no more of it has answered all the same.
const errorBodyTime = 2 * time.Second

// beginning returns the beginning of the body of an error, decoded as far as it came.
func (lease *Lease) beginning(b *budget, conn net.Conn, resp *response) []byte {
	deadline := time.Now().Add(errorBodyTime)
	if deadline.After(b.deadline) {
		deadline = b.deadline
	}
	conn.SetReadDeadline(deadline)
	if lease.ctx.Err() != nil {
		conn.SetReadDeadline(time.Unix(1, 0)) // [expire] may have done so already
	}
	stored, _ := io.ReadAll(io.LimitReader(resp.body, answer.ChallengeBytes))
	page, _ := Decode(stored, resp.header.Get("Content-Encoding"), answer.ChallengeBytes)
	return page.Body
}

// errorPage reads the body of an error for a program that takes it for the file, or for the
// price that may stand in it. One that does not come in whole is not kept: the status stands without it.
func (lease *Lease) errorPage(resp *response, below *weighed, in *bounded, a *received) *fetch.Failure {
	config := &lease.client.config
	in.left = int64(lease.maxBody())*8 + 64<<10
	below.body = true
	_, err := lease.readBody(resp, strings.Clone(resp.header.Get("Content-Encoding")), below.paused, a)
	page, e := a.body.beginning()
	for _, err := range []error{err, e} {
		if ours, ok := errors.AsType[*fetch.Failure](err); ok {
			return ours
		}
	}
	a.challenge = config.Challenges.Find(resp.Status, resp.header.Values, page)
	if err != nil || resp.framing != nil {
		a.body, a.truncated = nil, false
	}
	return nil
}

// beginning returns the beginning of a text.
func (t *text) beginning() ([]byte, error) {
	if len(t.blocks) == 0 {
		return t.tail[:min(len(t.tail), answer.ChallengeBytes)], nil
	}
	page := make([]byte, answer.ChallengeBytes)
	n, err := io.ReadFull(t.reader(), page)
	if err == io.ErrUnexpectedEOF {
		err = nil
	}
	return page[:n], err
}

// challengeHeaders returns the headers that marks of walls are about, copied: those of an
// answer may be large, and reading its body may take long.
func challengeHeaders(marks answer.Challenges, h http.Header) http.Header {
	var kept http.Header
	for i := range marks {
		name := http.CanonicalHeaderKey(marks[i].Header)
		if values := h[name]; marks[i].Header != "" && kept[name] == nil && len(values) > 0 {
			if kept == nil {
				kept = make(http.Header)
			}
			value := values[0]
			kept[name] = []string{string([]byte(value[:min(len(value), fetch.MaxHeaderValue)]))}
		}
	}
	return kept
}
