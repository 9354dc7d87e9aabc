package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jlaffaye/ftp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

const (
	// maxReplies bounds the total bytes of the control connection.
	maxReplies = 64 << 10
	// maxReplyLine bounds one line of the control connection.
	maxReplyLine = 4 << 10
	// minDataPort keeps data connections off the services of the server's own
	// machine. A port of 25, for example, would be an attempt to reach its mail
	// server.
	minDataPort = 1024
	// password is a word like a mail address, as RFC 1635 asks of a guest.
	password = "robocensus@"
)

// getFTP retrieves target (path and query) as a guest. The answer's status is
// the reply that ended the exchange. It stays 0 if the connection ended first,
// whatever preliminary replies (1yz, 3yz) had come. The first byte is that of
// the greeting.
func (lease *Lease) getFTP(b *budget, o fetch.Origin, target string) (received, *fetch.Failure) {
	var a received
	path, fail := pathFTP(target)
	if fail != nil {
		return a, fail
	}
	conn, release, fail := lease.connect(b, o, &a)
	if fail != nil {
		return a, fail
	}
	c, ctx := lease.client, lease.ctx // connect replaces lease.ctx when it dials
	defer release()
	defer conn.Close()
	defer expire(ctx, conn, b.deadline)()
	fail = lease.converse(b, conn, path, &a, func(port uint16) (net.Conn, *fetch.Failure) {
		return c.dialData(ctx, b.deadline, netip.AddrPortFrom(a.remote.Addr(), port))
	})
	return a, fail
}

// converse logs in and retrieves the file at path. dialData opens the data
// connection to the port that the server names.
func (lease *Lease) converse(b *budget, conn net.Conn, path string, a *received,
	dialData func(port uint16) (net.Conn, *fetch.Failure)) *fetch.Failure {
	ctx := lease.ctx
	began := time.Now()
	in := newControl(lease.record(conn, pausing(ctx, b, conn)))
	if _, err := in.r.Peek(1); err != nil {
		return fetch.FailureOf(ctx, fetch.Waiting, err)
	}
	a.times.FirstByte = since(began)

	var data net.Conn
	dial := func(_, address string) (net.Conn, error) {
		if !in.used {
			in.used = true
			return in, nil
		}
		port, fail := dataPort(address)
		if fail == nil {
			data, fail = dialData(port)
		}
		if fail != nil {
			return nil, fail
		}
		return data, nil
	}
	session, err := ftp.Dial(a.remote.String(), ftp.DialWithDialFunc(dial), ftp.DialWithDisabledUTF8(true))
	if err == nil {
		defer session.Quit()
		err = session.Login("anonymous", password)
	}
	var file *ftp.Response
	if err == nil {
		file, err = retrieve(session, path)
	}
	if data != nil {
		defer data.Close()
		defer expire(ctx, data, b.deadline)()
	}
	if err != nil {
		var fail *fetch.Failure
		a.status, fail = in.ended(ctx, err)
		return fail
	}
	return lease.transfer(in, file, pausing(ctx, b, conn, data), a)
}

// transfer reads the file and the reply that confirms its end.
func (lease *Lease) transfer(in *control, file *ftp.Response, paused func(time.Duration),
	a *received) *fetch.Failure {
	ctx := lease.ctx
	a.body = lease.text(4095, paused)
	var err error
	if a.truncated, err = a.body.fill(file, lease.client.config.MaxBody); a.truncated {
		// We broke off this transfer, so its reply would be about us. Do not
		// wait for it, and count the transfer as complete.
		a.status = ftp.StatusClosingDataConnection
		return nil
	}
	if err != nil {
		return fetch.FailureOf(ctx, fetch.Reading, err)
	}
	file.Close() // reads the reply; in has recorded it
	switch {
	case errors.Is(in.err, io.EOF):
		return fetch.NewFailure(answer.ErrorTruncatedBody, "body: closed before the reply that ends the transfer")
	case in.err != nil:
		return fetch.FailureOf(ctx, fetch.Waiting, in.err)
	}
	a.status = in.reply
	if a.status/100 != 2 {
		return fetch.NewFailure(answer.ErrorTruncatedBody, "body: the transfer ended with reply %d", a.status)
	}
	return nil
}

// retrieve calls session.Retr, which panics on a hostile "227 )(".
func retrieve(session *ftp.ServerConn, path string) (file *ftp.Response, err error) {
	defer func() {
		if recover() != nil {
			err = errNotFTP
		}
	}()
	return session.Retr(path)
}

// dataPort returns the port that a server names for the data connection. The
// data connection always goes to the address of the control connection. To
// connect to another one would be a request on the server's behalf (RFC 2577,
// the bounce attack), past the guard.
func dataPort(named string) (uint16, *fetch.Failure) {
	_, text, err := net.SplitHostPort(named)
	if err != nil {
		return 0, errNotFTP
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port < minDataPort {
		return 0, fetch.NewFailure(answer.ErrorProtocol, "data connection: the server names no port from %d to 65535",
			minDataPort)
	}
	return uint16(port), nil
}

func (c *Client) dialData(ctx context.Context, deadline time.Time, to netip.AddrPort) (net.Conn, *fetch.Failure) {
	conn, err := c.dialBefore(ctx, deadline, to)
	if err != nil {
		fail := fetch.FailureOf(ctx, fetch.Connecting, err)
		return nil, &fetch.Failure{Class: fail.Class, Err: fmt.Errorf("data connection: %w", fail.Err), Local: fail.Local}
	}
	return conn, nil
}

// expire ends reads and writes of conn at the deadline or when ctx ends: Ctrl-C
// must wake a blocked read.
func expire(ctx context.Context, conn net.Conn, deadline time.Time) (stop func() bool) {
	conn.SetDeadline(deadline)
	return context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
}

// pathFTP returns the name to retrieve: relative to the login directory (RFC
// 1738 section 3.2.2), and without bytes that would end the command and begin
// another.
func pathFTP(target string) (string, *fetch.Failure) {
	path, err := url.PathUnescape(strings.TrimPrefix(target, "/"))
	if err != nil || path == "" || strings.ContainsAny(path, "\r\n\x00") {
		return "", fetch.NewFailure(answer.ErrorRedirectInvalid, "the path is not a file name that FTP can request")
	}
	return path, nil
}

// retriedFTP reports whether another attempt may succeed after a reply: after
// all refusals but 550, no such file, and 530. A server that admits no guest
// will not admit one on the second try, and repeated failing logins look like
// password guessing. Both have another meaning if there is a failure: the 550 is to
// another command, or the 530 of a server that is full.
func (got *heard) retriedFTP() bool {
	reply := got.Status()
	return reply >= 400 && (got.Error != "" || reply != ftp.StatusFileUnavailable && reply != ftp.StatusNotLoggedIn)
}

// errNotFTP contains no text of the server, unlike the library's errors.
var errNotFTP = fetch.NewFailure(answer.ErrorProtocol, "header: the answer is not FTP")

// control is a control connection. It hands the library one line per Read and
// none in advance, so that reply is always the last reply that the library has
// read: some errors of the library do not contain the code.
type control struct {
	*bounded
	r     *bufio.Reader
	line  []byte // the rest of the line to hand out
	verb  []byte // the last command
	open  int    // the code of an unfinished reply of several lines
	reply int    // the code of the last whole reply
	full  bool   // a line of it says that too many others are there
	err   error  // what ended the reading
	used  bool   // handed to the library
}

func newControl(conn net.Conn) *control {
	b := &bounded{Conn: conn, left: maxReplies}
	return &control{bounded: b, r: bufio.NewReaderSize(b, maxReplyLine)}
}

func (c *control) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if len(c.line) == 0 {
		line, err := c.r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			err = fetch.ErrTooMuch
		}
		if err == nil && !c.note(line) {
			err = errNotFTP // the library would take "SSH-2.0" for a reply of several lines
		}
		if c.err = err; err != nil {
			return 0, err
		}
		c.line = line
	}
	n := copy(p, c.line)
	c.line = c.line[n:]
	return n, nil
}

// Write notes the command in p: the library sends one at a time.
func (c *control) Write(p []byte) (int, error) {
	verb, _, _ := bytes.Cut(bytes.TrimRight(p, "\r\n"), []byte(" "))
	c.verb = append(c.verb[:0], verb...)
	return c.bounded.Write(p)
}

// full matches what proftpd says with 530 where others say 421: too many users, of
// its own or of the address.
var full = regexp.MustCompile(`(?i)\b(maximum (number|allowed)|max(imum)? (clients|users|connections)|too many|` +
	`server( is)? (full|busy)|try( again)? later|user limit|limit (is )?reached)\b`)

// note records the code of a line (RFC 959 section 4.2) and reports whether the
// line is valid at this point.
func (c *control) note(line []byte) bool {
	code := 0
	if len(line) > 3 && (line[3] == ' ' || line[3] == '-') {
		code, _ = strconv.Atoi(string(line[:3]))
	}
	if c.open == 0 {
		c.full = false
	}
	c.full = c.full || full.Match(line)
	switch {
	case c.open != 0 && (code != c.open || line[3] == '-'): // text within a reply
	case code < 100:
		return false
	case line[3] == '-':
		c.open = code
	default:
		c.open, c.reply = 0, code
	}
	return true
}

// ended returns the outcome of a session without a transfer: the last reply as
// the status, or a failure, or both. Only after RETR is a 550 about the file: vsftpd
// refuses PASV, EPSV and TYPE with it if it is told to, proftpd USER without TLS.
func (c *control) ended(ctx context.Context, err error) (status int, fail *fetch.Failure) {
	switch {
	case errors.As(err, &fail):
		return 0, fail
	// A server that shuts down answers any command with 421 (RFC 959 section
	// 5.4) and may then hang up.
	case (c.err != nil || fetch.IsNetwork(err)) && (c.reply != ftp.StatusNotAvailable || ctx.Err() != nil):
		return 0, fetch.FailureOf(ctx, fetch.Waiting, err)
	case c.reply/100 == 2: // success, but not what was asked for, and no transfer
		return 0, fetch.NewFailure(answer.ErrorProtocol, "header: reply %d out of turn", c.reply)
	case c.reply == ftp.StatusFileUnavailable && string(c.verb) != "RETR":
		return c.reply, fetch.NewFailure(answer.ErrorFTPRefused, "header: reply %d to %s, which is not about the file",
			c.reply,
			cmp.Or(string(c.verb), "nothing"))
	case c.reply == ftp.StatusNotLoggedIn && c.full:
		return c.reply, fetch.NewFailure(answer.ErrorFTPRefused, "header: reply %d of a server that is full", c.reply)
	}
	return c.reply, nil
}
