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
	"slices"
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

// NewFailure returns a failure of the peer.
func NewFailure(class answer.ErrorClass, format string, args ...any) *Failure {
	return &Failure{Class: class, Err: fmt.Errorf(format, args...)}
}

// OurFailure returns a failure of this machine.
func OurFailure(class answer.ErrorClass, format string, args ...any) *Failure {
	f := NewFailure(class, format, args...)
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

// FailureOf returns a connection error with its class. ctx distinguishes our own
// cancellation from failures of the peer.
func FailureOf(ctx context.Context, at Phase, err error) *Failure {
	if known, ok := errors.AsType[*Failure](err); ok {
		return known
	}
	class := answer.ErrorProtocol
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
	case IsAlert(err), is[*tls.CertificateVerificationError](err), is[tls.AlertError](err),
		is[tls.RecordHeaderError](err), is[x509.UnknownAuthorityError](err):
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
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		err = errors.New("the certificate has expired or is not yet valid") // the library's text contains the current time
	}
	// The text omits addresses: they have columns, and the local port would
	// make two equal answers differ.
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		err = operation.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err // without the name of the call, which the phase implies
	}
	if IsLocal(err) {
		return OurFailure(class, "%s: %w", at, err)
	}
	return NewFailure(class, "%s: %w", at, err)
}

// IsAlert reports whether an error is an alert that the peer sent. Package tls gives it
// no type of its own. Under TLS 1.3 it may come after the handshake: a server that wants
// a certificate refuses one that is missing only then.
func IsAlert(err error) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	return ok && operation.Op == "remote error"
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// IsLocal reports whether this machine has run out of something.
func IsLocal(err error) bool {
	mine := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL}
	return slices.ContainsFunc(mine, func(one error) bool { return errors.Is(err, one) })
}

// IsRoute reports whether a dial failed in a way that a missing route on this
// machine can cause. A distant router can cause it too.
func IsRoute(err error) bool {
	return errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EAFNOSUPPORT) ||
		errors.Is(err, syscall.EADDRNOTAVAIL)
}

func IsTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, syscall.ETIMEDOUT)
}

// IsNetwork reports whether an error is one of the connection, not of the data
// sent on it.
func IsNetwork(err error) bool {
	return IsTimeout(err) || is[net.Error](err) || errors.Is(err, net.ErrClosed)
}

// LookUpFailure returns a resolver error with its class.
func LookUpFailure(ctx context.Context, host string, err error) *Failure {
	dns, ok := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return NewFailure(answer.ErrorCanceled, "resolve %s: %w", host, err)
	case ok && dns.IsNotFound:
		return NewFailure(answer.ErrorDNSNotFound, "resolve %s: no such host", host)
	}
	// The library's text contains the addresses and ports of the query, which
	// would make two equal answers differ.
	what := "the resolver failed"
	if IsTimeout(err) {
		what = "the resolver did not answer in time"
	}
	return NewFailure(answer.ErrorDNSFailure, "resolve %s: %s", host, what)
}

// JoinRemarks joins two remarks, either of which may be nil.
func JoinRemarks(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}

// Clip shortens what somebody else wrote, for an error text.
func Clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}
