package client

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/robots/answer"
)

// proxyAuth is the authorization of me:secret.
const proxyAuth = "Basic bWU6c2VjcmV0"

// proxy is an HTTP proxy that connects every name to one web server.
type proxy struct {
	to string

	mu   sync.Mutex
	seen []string
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.seen = append(p.seen, fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.Host, " ", r.Header.Get("Proxy-Authorization")))
	p.mu.Unlock()
	switch {
	case r.Header.Get("Proxy-Authorization") != proxyAuth:
		w.WriteHeader(http.StatusProxyAuthRequired)
	case strings.HasPrefix(r.Host, "gone."):
		w.WriteHeader(http.StatusBadGateway)
	case r.Method == http.MethodConnect:
		there, err := net.Dial("tcp", p.to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer there.Close()
		// The first bytes of the tunnel may come with the header.
		here, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer here.Close()
		status := "200 Connection established"
		if strings.HasPrefix(r.Host, "created.") {
			status = "201 Created" // any 2xx opens a tunnel (RFC 9110 section 9.3.6)
		}
		io.WriteString(here, "HTTP/1.1 "+status+"\r\n\r\n")
		done := make(chan struct{})
		go func() { io.Copy(there, buffered); there.(*net.TCPConn).CloseWrite(); close(done) }()
		io.Copy(here, there)
		here.Close()
		<-done
	default:
		io.WriteString(w, "plain")
	}
}

func TestProxy(t *testing.T) {
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "secure")
	}))
	defer web.Close()
	p := &proxy{to: web.Listener.Addr().String()}
	server := httptest.NewServer(p)
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate()) // of example.com
	client := newClient(t, netip.AddrPort{}, func(c *settings) {
		c.Proxy, _ = url.Parse("http://me:secret@" + server.Listener.Addr().String())
		c.RootCAs = roots
	})
	for _, row := range []struct {
		asked  string
		status int
		class  answer.ErrorClass
		body   string
	}{
		{"http://a.example:8080", 200, "", "plain"},
		{"https://example.com", 200, "", "secure"},
		{"https://created.example.com", 200, "", "secure"},
		{"https://gone.example", 0, answer.ErrorConnectFailure, ""},
		{"http://gone.example", 502, "", ""}, // the host's answer or the proxy's
		{"https://a.example", 0, answer.ErrorTLS, ""},
		{"http://127.0.0.1", 0, answer.ErrorAddressBlocked, ""},
		{"https://[::1]", 0, answer.ErrorAddressBlocked, ""},
		{"http://localhost", 0, answer.ErrorAddressBlocked, ""},
	} {
		got := client.Fetch(context.Background(), origin(t, row.asked))
		if got.Status() != row.status || got.Error != row.class || string(got.Body) != row.body || got.Local != nil {
			t.Errorf("%s: status %d, error %q (%v), body %q, local %v", row.asked, got.Status(), got.Error, got.Err, got.Body,
				got.Local)
		}
	}
	const auth = proxyAuth
	want := []string{
		"GET http://a.example:8080/robots.txt a.example:8080 " + auth,
		"CONNECT example.com:443 example.com:443 " + auth,
		"CONNECT created.example.com:443 created.example.com:443 " + auth,
		"CONNECT gone.example:443 gone.example:443 " + auth,
		"GET http://gone.example/robots.txt gone.example " + auth,
		"CONNECT a.example:443 a.example:443 " + auth,
	}
	if diff := cmp.Diff(want, p.seen); diff != "" {
		t.Errorf("requests of the proxy (-want +got):\n%s", diff)
	}
}

// The guard applies to the hosts that a probe asks the proxy to connect to.
func TestAProxyIsNotProbedWithSpecialAddresses(t *testing.T) {
	p := &proxy{}
	server := httptest.NewServer(p)
	defer server.Close()
	c := newClient(t, netip.AddrPort{}, func(c *settings) {
		c.Proxy, _ = url.Parse("http://me:secret@" + server.Listener.Addr().String())
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, host := range []string{"127.0.0.1", "169.254.169.254", "[::1]", "localhost"} {
		if p := c.probeHost(ctx, origin(t, "http://"+host)); p.Proved {
			t.Errorf("%s counts as proof", host)
		}
	}
	if len(p.seen) > 0 {
		t.Errorf("the proxy was asked: %q", p.seen)
	}
	c.probeHost(ctx, origin(t, "http://gone.example"))
	if len(p.seen) != 1 || !strings.HasPrefix(p.seen[0], "CONNECT gone.example:80 ") {
		t.Errorf("the proxy was asked: %q", p.seen)
	}
}

// A run must not report the whole web as unreachable because its proxy is.
func TestAProxyThatFailsIsNoFactAboutTheHost(t *testing.T) {
	server := httptest.NewServer(&proxy{})
	address := server.Listener.Addr().String()
	without := newClient(t, netip.AddrPort{}, func(c *settings) { c.Proxy, _ = url.Parse("http://" + address) })
	if got := without.Fetch(context.Background(), origin(t, "https://a.example")); got.Local == nil {
		t.Errorf("a proxy that wants a password: %q (%v), no local error", got.Error, got.Err)
	}
	wrong := newClient(t, netip.AddrPort{}, func(c *settings) { c.Proxy, _ = url.Parse("http://me:wrong@" + address) })
	for _, client := range []*Client{without, wrong} {
		if got := client.Fetch(context.Background(), origin(t, "http://a.example")); got.Local == nil {
			t.Errorf("a proxy that wants another password, over http: status %d, %q (%v), no local error", got.Status(),
				got.Error, got.Err)
		}
	}
	server.Close()
	if got := without.Fetch(context.Background(), origin(t, "http://a.example")); got.Local == nil {
		t.Errorf("a missing proxy: %q (%v), no local error", got.Error, got.Err)
	}
}
