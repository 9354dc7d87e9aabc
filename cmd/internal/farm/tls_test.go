package farm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// visitor is an ordinary https client that finds every host at the farm.
type visitor struct{ http.Client }

func trusting(t *testing.T, s *Server, addr string) *visitor {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(s.CA()) {
		t.Fatal("no certificate in CA")
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: pool},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}
	return &visitor{http.Client{Transport: transport, Timeout: 20 * time.Second}}
}

func (v *visitor) get(t *testing.T, url string) string {
	t.Helper()
	resp, err := v.Get(url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(resp.StatusCode, " ", string(body))
}

func TestHTTPS(t *testing.T) {
	s, _, addr := open(t, Hosts{"a.test": []byte("a"), "b.a.test": []byte("b"), "x.co.uk": []byte("x"),
		"y.co.uk": []byte("y"), "127.0.0.1": []byte("ip")}, "")
	v := trusting(t, s, addr)
	for host, want := range map[string]string{"a.test": "a", "B.a.test": "b", "x.co.uk": "x", "y.co.uk": "y",
		"127.0.0.1": "ip"} {
		if got := v.get(t, "https://"+host+"/robots.txt"); got != "200 "+want {
			t.Errorf("%s: %s", host, got)
		}
	}
	for i := range 50 {
		if got := v.get(t, fmt.Sprintf("https://h%d.farm.test/robots.txt", i)); got != "404 Not Found\n" {
			t.Errorf("h%d: %s", i, got)
		}
	}
	if n := len(s.ca.cache); n != 6 {
		t.Errorf("%d certificates for 5 hosts and 50 names beside each other", n)
	}
	if r := s.Report(0); r.Requests != 55 || r.Answers["200"] != 5 || r.Answers["404"] != 50 || r.PeakHost != 1 {
		t.Errorf("%+v", r)
	}
}

func TestTLSFaults(t *testing.T) {
	s, plain, addr := open(t, Hosts{"x.test": []byte(rules)}, `
wrong.test: {tls: wrong_name}
expired.test: {tls: expired}
untrusted.test: {tls: untrusted}
old.test: {tls: tls10, body: old}
older.test: {tls: tls12, body: older}
unknown.test: {tls: unknown_name}
plain.test: {tls: plain, body: over http all is well}
reset.test: {reset: handshake}
close.test: {close: handshake}
once.test: {schemes: [https], reset: handshake, then: {body: well again}}
"127.0.0.1": {tls: unknown_name}
cut.test: {close: body, body: cut off here}
`)
	v := trusting(t, s, addr)
	for host, want := range map[string]string{
		"wrong.test":     "certificate is valid for somebody-else.invalid",
		"expired.test":   "expired",
		"untrusted.test": "unknown authority",
		"old.test":       "protocol version not supported",
		"older.test":     "200 older",
		"unknown.test":   "unrecognized name",
		"127.0.0.1":      "unrecognized name",
		"plain.test":     "HTTP response to HTTPS client",
		"reset.test":     "connection reset by peer",
		"close.test":     "EOF",
		"cut.test":       "unexpected EOF",
	} {
		if got := v.get(t, "https://"+host+"/robots.txt"); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
	until(t, "all are settled", func() bool { return s.inFlight() == 0 })
	for _, kind := range []string{"wrong_name", "expired", "untrusted", "tls10", "plain", "reset"} {
		if r := s.Report(0); r.Answers[kind] != 1 {
			t.Errorf("%s: %+v", kind, r.Answers)
		}
	}
	if got := v.get(t, "https://once.test/robots.txt"); !strings.Contains(got, "reset") {
		t.Errorf("once.test, first: %s", got)
	}
	if got := v.get(t, "https://once.test/robots.txt"); got != "200 well again" {
		t.Errorf("once.test, second: %s", got)
	}
	if _, body := get(t, plain, "plain.test", "/robots.txt"); body != "over http all is well" {
		t.Errorf("plain.test over http: %q", body)
	}

	c, err := tls.Dial("tcp", addr, &tls.Config{ServerName: "old.test", InsecureSkipVerify: true,
		MinVersion: tls.VersionTLS10})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if v := c.ConnectionState().Version; v != tls.VersionTLS10 {
		t.Errorf("old.test speaks %s", tls.VersionName(v))
	}
}

func TestResetInsideTLS(t *testing.T) {
	s, _, addr := open(t, nil, "x.test: {reset: body, body: 1234}")
	got := trusting(t, s, addr).get(t, "https://x.test/robots.txt")
	if !strings.Contains(got, syscall.ECONNRESET.Error()) {
		t.Error(got)
	}
}

func TestHandshakeHangs(t *testing.T) {
	s, _, addr := open(t, nil, "x.test: {hang: handshake}\ny.test: {delay: 1h}")
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		c, err := new(tls.Dialer).DialContext(ctx, "tcp", addr)
		if err == nil {
			c.Close()
		}
		failed <- err
	}()
	// The name that was dialled is 127.0.0.1: that one is fine.
	if err := <-failed; err == nil {
		t.Error("a stranger's certificate was believed")
	}
	dialer := &tls.Dialer{Config: &tls.Config{ServerName: "x.test"}}
	go func() {
		_, err := dialer.DialContext(ctx, "tcp", addr)
		failed <- err
	}()
	until(t, "it hangs", func() bool { return s.Report(0).Answers["hang"] == 1 })
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	until(t, "the farm lets go", func() bool { return s.inFlight() == 0 })

	// A client that leaves in the middle of an answer is noticed under TLS too.
	c, err := tls.Dial("tcp", addr, &tls.Config{ServerName: "y.test", InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	ask(c, "y.test", "/robots.txt")
	c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	if s.inFlight() != 1 {
		t.Errorf("%d in flight", s.inFlight())
	}
	c.Close()
	until(t, "the farm lets go", func() bool { return s.inFlight() == 0 })
}
