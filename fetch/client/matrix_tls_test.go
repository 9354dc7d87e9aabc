//go:build unix

package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// secure is an https server with a changed configuration. It answers with a
// file.
func secure(change func(t *testing.T, with *tls.Config)) stage {
	return secureAnswer(change, say("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"))
}

func secureAnswer(change func(t *testing.T, with *tls.Config), answer func(net.Conn, *http.Request)) stage {
	return func(t *testing.T, s *scene) {
		with := &tls.Config{Certificates: []tls.Certificate{certificate(t, testCA(), nil)}}
		if change != nil {
			change(t, with)
		}
		s.ConnectTo = serveTLS(t, with, answer)
		s.ask = []fetch.Origin{origin(t, "https://a.example")}
	}
}

// certified is a server with a certificate of ca, modified by change.
func certified(ca func() *authority, change func(*x509.Certificate)) stage {
	return secure(func(t *testing.T, with *tls.Config) {
		with.Certificates[0] = certificate(t, ca(), change)
	})
}

// onTLSPort is a server that fails before TLS begins.
func onTLSPort(handle func(*net.TCPConn)) stage {
	return func(t *testing.T, s *scene) {
		s.ConnectTo = listen(t, handle)
		s.ask = []fetch.Origin{origin(t, "https://a.example")}
	}
}

// versionIs checks the TLS version in the capture.
func versionIs(version string, st stage) stage {
	return func(t *testing.T, s *scene) {
		st(t, s)
		s.also = func(t *testing.T, got *fetch.Capture) {
			if got.TLSVersion != version || (version != "") != (got.Times.TLS != nil) {
				t.Errorf("TLS %q (handshake: %v), want %q", got.TLSVersion, got.Times.TLS, version)
			}
		}
	}
}

// only is a server that accepts one version of TLS.
func only(version uint16) stage {
	return secure(func(_ *testing.T, with *tls.Config) { with.MinVersion, with.MaxVersion = version, version })
}

// needsName refuses TLS clients that send no host name.
func needsName(_ *testing.T, with *tls.Config) {
	with.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if hello.ServerName == "" {
			return nil, errors.New("no name")
		}
		return nil, nil
	}
}

// firstRecord reads the client's hello.
func firstRecord(c *net.TCPConn) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(c, head); err == nil {
		io.CopyN(io.Discard, c, int64(head[3])<<8|int64(head[4]))
	}
}

// tlsRows are TLS connections, good and bad.
var tlsRows = []row{
	{"TLS 1.3", versionIs("1.3", secure(nil)), want{200, "", 1, once, rulesDecide}},
	{"TLS 1.2 only", versionIs("1.2", only(tls.VersionTLS12)), want{200, "", 1, once, rulesDecide}},
	{"TLS 1.1 only", versionIs("1.1", only(tls.VersionTLS11)), want{200, "", 1, once, rulesDecide}},
	{"TLS 1.0 only", versionIs("1.0", only(tls.VersionTLS10)), want{200, "", 1, once, rulesDecide}},
	{"a server that wants a name", secure(needsName), want{200, "", 1, once, rulesDecide}},
	{"a server that wants a name, asked by address", func(t *testing.T, s *scene) {
		secure(needsName)(t, s)
		s.ask = []fetch.Origin{origin(t, "https://127.0.0.1")}
	}, want{0, answer.ErrorTLS, 1, once, networkFailure}},
	{"a certificate of an address", func(t *testing.T, s *scene) {
		secure(nil)(t, s)
		s.ask = []fetch.Origin{origin(t, "https://127.0.0.1")}
	}, want{200, "", 1, once, rulesDecide}},

	{"wrong name", certified(testCA, func(c *x509.Certificate) { c.DNSNames = []string{"a.elsewhere.example"} }),
		want{0, answer.ErrorTLS, 1, once, networkFailure}},
	{"wrong address", func(t *testing.T, s *scene) {
		secure(nil)(t, s)
		s.ask = []fetch.Origin{origin(t, "https://127.0.0.2")}
	}, want{0, answer.ErrorTLS, 1, once, networkFailure}},
	{"unknown authority", certified(strangeCA, nil), want{0, answer.ErrorTLS, 1, once, networkFailure}},
	{"self-signed", certified(func() *authority { return nil }, nil), want{0, answer.ErrorTLS, 1, once, networkFailure}},
	{"no certificate", secure(func(_ *testing.T, with *tls.Config) {
		with.Certificates = nil
		with.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New("none") }
	}), want{0, answer.ErrorTLS, 1, once, networkFailure}},

	{"a certificate of the client is wanted", secure(func(_ *testing.T, with *tls.Config) {
		with.ClientAuth = tls.RequireAnyClientCert
	}),
		want{0, answer.ErrorTLS, 1, once, networkFailure}},
	{"a certificate of the client is wanted, TLS 1.2", secure(func(_ *testing.T, with *tls.Config) {
		with.ClientAuth, with.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12
	}), want{0, answer.ErrorTLS, 1, once, networkFailure}},
	{"a hang in the handshake", brief(onTLSPort(func(c *net.TCPConn) { hang(c) })), want{0, answer.ErrorTimeout, 1, once,
		networkFailure}},
	{"a drip in the handshake", brief(onTLSPort(func(c *net.TCPConn) { drip(c, "\x16\x03\x03\x00\x7a\x02\x00\x00") })),
		want{0, answer.ErrorTimeout, 1, once, networkFailure}},
	{"reset in the handshake", onTLSPort(func(c *net.TCPConn) { firstRecord(c); reset(c) }),
		want{0, answer.ErrorReset, 1, again, networkFailure}},
	{"closed in the handshake", onTLSPort(firstRecord), want{0, answer.ErrorReset, 1, again, networkFailure}},
	{"closed in a record of the handshake", onTLSPort(func(c *net.TCPConn) {
		firstRecord(c)
		io.WriteString(c, "\x16\x03\x03\x00\x7a\x02\x00")
	}), want{0, answer.ErrorReset, 1, again, networkFailure}},
	{"http on the port of https", onTLSPort(func(c *net.TCPConn) {
		firstRecord(c)
		io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
	}), want{0, answer.ErrorTLS, 1, once, networkFailure}},
	{"an alert", onTLSPort(func(c *net.TCPConn) {
		firstRecord(c)
		io.WriteString(c, "\x15\x03\x03\x00\x02\x02\x28") // fatal, handshake_failure
	}), want{0, answer.ErrorTLS, 1, once, networkFailure}},
	{"canceled in the handshake", func(t *testing.T, s *scene) {
		onTLSPort(func(c *net.TCPConn) { firstRecord(c); s.cancel(); hang(c) })(t, s)
	}, want{0, answer.ErrorCanceled, 1, once, stopped}},

	{"a body that ends without closing TLS", secureAnswer(nil, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nabc")
	}), want{200, "", 1, once, rulesDecide}},
	{"a body shorter than declared, in TLS", secureAnswer(nil, say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")),
		want{200, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"a body shorter than declared, without closing TLS", secureAnswer(nil, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
	}), want{200, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"closed in a header, without closing TLS", secureAnswer(nil, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nServ")
	}), want{0, answer.ErrorReset, 1, again, networkFailure}},
	{"1xx only, without closing TLS", secureAnswer(nil, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, "HTTP/1.1 103 Early Hints\r\n\r\n")
	}), want{103, "", 1, once, invalidResponse}},
	{"bytes that are no TLS in the header", secureAnswer(nil, func(c net.Conn, _ *http.Request) {
		c.(*tls.Conn).NetConn().Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
	}), want{0, answer.ErrorTLS, 1, once, networkFailure}},
	{"a hang in the header, in TLS", brief(secureAnswer(nil, func(c net.Conn, _ *http.Request) { hang(c) })),
		want{0, answer.ErrorTimeout, 1, once, networkFailure}},
}
