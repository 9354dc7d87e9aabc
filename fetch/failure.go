package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/robocensus/robocensus/robots/answer"
)

// failure is an error with its class.
type failure struct {
	class answer.ErrorClass
	err   error
	local error // err, if it is a failure of this machine
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func failed(class answer.ErrorClass, format string, args ...any) *failure {
	return &failure{class: class, err: fmt.Errorf(format, args...)}
}

// errTooMuch means that a connection has used up its bound of bytes.
var errTooMuch = errors.New("the answer is longer than its bound")

// phase is the step in which a fetch failed.
type phase string

const (
	connecting phase = "connect"
	handshake  phase = "tls"
	waiting    phase = "header"
	reading    phase = "body"
)

// classify returns a connection error with its class. ctx distinguishes our own
// cancellation from failures of the peer.
func classify(ctx context.Context, at phase, err error) *failure {
	var known *failure
	if errors.As(err, &known) {
		return known
	}
	class := answer.ErrorProtocol
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	var unknownCA x509.UnknownAuthorityError
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		class = answer.ErrorCanceled
	case isTimeout(err) && at == connecting:
		class = answer.ErrorConnectTimeout
	case isTimeout(err):
		class = answer.ErrorTimeout
	case at == connecting && errors.Is(err, syscall.ECONNREFUSED):
		class = answer.ErrorConnectRefused
	case at == connecting:
		class = answer.ErrorConnectFailure
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		class = answer.ErrorReset
	case errors.As(err, &certificate), errors.As(err, &alert), errors.As(err, &record), errors.As(err, &unknownCA):
		class = answer.ErrorTLS
	case at == handshake && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		class = answer.ErrorReset
	case at == handshake:
		class = answer.ErrorTLS
	case at == waiting && errors.Is(err, errTooMuch):
		class = answer.ErrorHeaderTooLarge
	case at == waiting && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		class = answer.ErrorReset // closed before a whole header
	case at == reading && errors.Is(err, io.ErrUnexpectedEOF):
		class = answer.ErrorTruncatedBody
	}
	var invalid x509.CertificateInvalidError
	if errors.As(err, &invalid) && invalid.Reason == x509.Expired {
		err = errors.New("the certificate has expired or is not yet valid") // the library's text contains the current time
	}
	// The text omits addresses: they have columns, and the local port would
	// make two equal answers differ.
	var operation *net.OpError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err // without the name of the call, which the phase implies
	}
	fail := failed(class, "%s: %w", at, err)
	if isLocal(err) {
		fail.local = fail.err
	}
	return fail
}

// isLocal reports whether this machine has run out of something.
func isLocal(err error) bool {
	for _, mine := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL} {
		if errors.Is(err, mine) {
			return true
		}
	}
	return false
}

// isRoute reports whether a dial failed in a way that a missing route on this
// machine can cause. A distant router can cause it too.
func isRoute(err error) bool {
	return errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, syscall.ETIMEDOUT)
}

// isNetwork reports whether an error is one of the connection, not of the data
// sent on it.
func isNetwork(err error) bool {
	var network net.Error
	return isTimeout(err) || errors.As(err, &network) || errors.Is(err, net.ErrClosed)
}

// classifyDNS returns a resolver error with its class.
func classifyDNS(ctx context.Context, host string, err error) *failure {
	var dns *net.DNSError
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return failed(answer.ErrorCanceled, "resolve %s: %w", host, err)
	case errors.As(err, &dns) && dns.IsNotFound:
		return failed(answer.ErrorDNSNotFound, "resolve %s: no such host", host)
	}
	// The library's text contains the addresses and ports of the query, which
	// would make two equal answers differ.
	what := "the resolver failed"
	if isTimeout(err) {
		what = "the resolver did not answer in time"
	}
	return failed(answer.ErrorDNSFailure, "resolve %s: %s", host, what)
}
