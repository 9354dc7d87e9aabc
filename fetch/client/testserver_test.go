package client

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// listen starts a server on loopback that gives each connection to handle. At
// the end of the test it closes open connections and waits for all handlers.
func listen(t *testing.T, handle func(*net.TCPConn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			running.Go(func() {
				defer func() {
					c.Close()
					mu.Lock()
					delete(open, c)
					mu.Unlock()
				}()
				handle(c.(*net.TCPConn))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return netip.MustParseAddrPort(l.Addr().String())
}

// closedPort returns an address without a listener: the near end of a
// connection, which reserves the port during the test.
func closedPort(t *testing.T) netip.AddrPort {
	t.Helper()
	c, err := net.Dial("tcp", listen(t, func(c *net.TCPConn) { hang(c) }).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return netip.MustParseAddrPort(c.LocalAddr().String())
}

// hang keeps a connection open until the other side closes it.
func hang(c net.Conn) { io.Copy(io.Discard, c) }

const floodSize = 8 << 20

// flood sends more than the buffers of an unread connection hold. When it
// returns, the peer has read everything sent before.
func flood(c net.Conn) { io.Copy(c, io.LimitReader(endless("#"), floodSize)) }

// endless repeats a text without end, starting over with every Read.
type endless string

func (s endless) Read(p []byte) (n int, _ error) {
	n = copy(p, s)
	for n < len(p) {
		n += copy(p[n:], p[:n])
	}
	return n, nil
}

// drip sends a byte of text each second until the other side closes.
func drip(c net.Conn, text string) {
	gone := make(chan struct{})
	go func() { defer close(gone); hang(c) }()
	defer func() { c.Close(); <-gone }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := 0; i < len(text); i++ {
		if _, err := c.Write([]byte{text[i]}); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-gone:
			return
		}
	}
}

// serveTLS is serve for https; if with is nil, it has a good certificate. It
// serves a connection that does not begin with a handshake in the clear, so
// that one address works for chains that change the scheme.
func serveTLS(t *testing.T, with *tls.Config, answer func(c net.Conn, r *http.Request)) netip.AddrPort {
	t.Helper()
	if with == nil {
		with = &tls.Config{Certificates: []tls.Certificate{certificate(t, testCA(), nil)}}
	}
	return listen(t, func(c *net.TCPConn) {
		in := bufio.NewReader(c)
		first, err := in.Peek(1)
		if err != nil {
			return
		}
		if first[0] != 0x16 { // no TLS handshake
			if r, err := http.ReadRequest(in); err == nil {
				answer(c, r)
			}
			return
		}
		secure := tls.Server(peeked{c, in}, with)
		if r, err := http.ReadRequest(bufio.NewReader(secure)); err == nil {
			answer(secure, r)
		}
		// Not secure.Close: the handler decides whether TLS ends properly.
	})
}

// peeked is a connection whose first bytes have been peeked at.
type peeked struct {
	*net.TCPConn
	in *bufio.Reader
}

func (p peeked) Read(b []byte) (int, error) { return p.in.Read(b) }

// say answers with text and ends TLS, if used, with its closing alert.
func say(text string) func(net.Conn, *http.Request) {
	return func(c net.Conn, _ *http.Request) {
		io.WriteString(c, text)
		if secure, ok := c.(*tls.Conn); ok {
			secure.CloseWrite()
		}
	}
}

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority() *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return &authority{cert, key}
}

// testCA is the authority that the tests' clients trust, strangeCA one that
// they do not.
var testCA, strangeCA = sync.OnceValue(newAuthority), sync.OnceValue(newAuthority)

func testRoots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(testCA().cert)
	return pool
}

// certificate returns a certificate of ca for *.example and 127.0.0.1, modified
// by change. Without ca it is self-signed.
func certificate(t *testing.T, ca *authority, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{"*.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	if change != nil {
		change(template)
	}
	if ca == nil {
		ca = &authority{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
