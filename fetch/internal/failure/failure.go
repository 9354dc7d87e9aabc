// Package failure gives the errors of a fetch their classes.
package failure

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

// Failure is an error with its class.
type Failure struct {
	Class answer.ErrorClass
	Err   error
	Local error // Err, if it is a failure of this machine
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// New returns a failure of the peer.
func New(class answer.ErrorClass, format string, args ...any) *Failure {
	return &Failure{Class: class, Err: fmt.Errorf(format, args...)}
}

// Ours returns a failure of this machine.
func Ours(class answer.ErrorClass, format string, args ...any) *Failure {
	f := New(class, format, args...)
	f.Local = f.Err
	return f
}

// ErrTooMuch means that a connection has used up its bound of bytes.
var ErrTooMuch = errors.New("the answer is longer than its bound")

// Phase is the step in which a fetch failed.
type Phase string

const (
	Connecting Phase = "connect"
	Handshake  Phase = "tls"
	Waiting    Phase = "header"
	Reading    Phase = "body"
)

// Of returns a connection error with its class. ctx distinguishes our own
// cancellation from failures of the peer.
func Of(ctx context.Context, at Phase, err error) *Failure {
	var known *Failure
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
	case IsTimeout(err) && at == Connecting:
		class = answer.ErrorConnectTimeout
	case IsTimeout(err):
		class = answer.ErrorTimeout
	case at == Connecting && errors.Is(err, syscall.ECONNREFUSED):
		class = answer.ErrorConnectRefused
	case at == Connecting:
		class = answer.ErrorConnectFailure
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		class = answer.ErrorReset
	case errors.As(err, &certificate), errors.As(err, &alert), errors.As(err, &record), errors.As(err, &unknownCA):
		class = answer.ErrorTLS
	case at == Handshake && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		class = answer.ErrorReset
	case at == Handshake:
		class = answer.ErrorTLS
	case at == Waiting && errors.Is(err, ErrTooMuch):
		class = answer.ErrorHeaderTooLarge
	case at == Waiting && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		class = answer.ErrorReset // closed before a whole header
	case at == Reading && errors.Is(err, io.ErrUnexpectedEOF):
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
	if IsLocal(err) {
		return Ours(class, "%s: %w", at, err)
	}
	return New(class, "%s: %w", at, err)
}

// IsLocal reports whether this machine has run out of something.
func IsLocal(err error) bool {
	for _, mine := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL} {
		if errors.Is(err, mine) {
			return true
		}
	}
	return false
}

// IsRoute reports whether a dial failed in a way that a missing route on this
// machine can cause. A distant router can cause it too.
func IsRoute(err error) bool {
	return errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

func IsTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, syscall.ETIMEDOUT)
}

// IsNetwork reports whether an error is one of the connection, not of the data
// sent on it.
func IsNetwork(err error) bool {
	var network net.Error
	return IsTimeout(err) || errors.As(err, &network) || errors.Is(err, net.ErrClosed)
}

// OfLookUp returns a resolver error with its class.
func OfLookUp(ctx context.Context, host string, err error) *Failure {
	var dns *net.DNSError
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return New(answer.ErrorCanceled, "resolve %s: %w", host, err)
	case errors.As(err, &dns) && dns.IsNotFound:
		return New(answer.ErrorDNSNotFound, "resolve %s: no such host", host)
	}
	// The library's text contains the addresses and ports of the query, which
	// would make two equal answers differ.
	what := "the resolver failed"
	if IsTimeout(err) {
		what = "the resolver did not answer in time"
	}
	return New(answer.ErrorDNSFailure, "resolve %s: %s", host, what)
}

// Clip shortens what somebody else wrote, for an error text.
func Clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}
