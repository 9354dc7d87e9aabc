package farm

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(benchFarm) != "" {
		serveForBenchmark()
		return
	}
	goleak.VerifyTestMain(m)
}

const rules = "User-agent: *\nDisallow: /private\n"

// open starts a farm over http and https with faults in YAML.
func open(t testing.TB, hosts Hosts, faults string) (s *Server, plain, secure string) {
	t.Helper()
	f, err := ParseFaults(strings.NewReader(faults), "faults.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return openConfig(t, Config{Hosts: hosts, Faults: f})
}

func openConfig(t testing.TB, config Config) (s *Server, plain, secure string) {
	t.Helper()
	s, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if plain, err = s.ListenHTTP("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if secure, err = s.ListenHTTPS("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return s, plain, secure
}

func dial(t testing.TB, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return c.(*net.TCPConn)
}

func ask(c net.Conn, host, target string) {
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, host)
}

// raw returns all that the farm sends to one request, and how it ended.
func raw(t testing.TB, addr, host, target string) (string, error) {
	t.Helper()
	c := dial(t, addr)
	ask(c, host, target)
	out, err := io.ReadAll(c)
	return string(out), err
}

// get returns the answer to one request.
func get(t testing.TB, addr, host, target string) (*http.Response, string) {
	t.Helper()
	c := dial(t, addr)
	ask(c, host, target)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%s%s: %v", host, target, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s%s: %v", host, target, err)
	}
	return resp, string(body)
}

// until polls done for at most 20 s.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

func (s *Server) inFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.requests.now)
}

func TestHostsAreDistinguished(t *testing.T) {
	hosts := Hosts{"a.test": []byte("a"), "b.test": []byte("b"), "b.test_8443": []byte("b8443"),
		"c.test_443": []byte("c443"), "::1": []byte("six")}
	s, plain, secure := open(t, hosts, "")
	_, port, _ := net.SplitHostPort(plain)
	for _, tt := range []struct{ host, want string }{
		{"a.test", "a"}, {"A.TEST.", "a"}, {"a.test:80", "a"}, {"a.test:" + port, "a"},
		{"b.test", "b"}, {"b.test:8443", "b8443"}, {"b.test:8444", "b"}, {"[::1]", "six"}, {"[::1]:99", "six"},
	} {
		if resp, body := get(t, plain, tt.host, "/robots.txt"); resp.StatusCode != 200 || body != tt.want {
			t.Errorf("%s: %d %q, want %q", tt.host, resp.StatusCode, body, tt.want)
		}
	}
	for _, tt := range []struct{ host, target string }{
		{"nobody.test", "/robots.txt"}, {"c.test", "/robots.txt"}, {"a.test", "/"}, {"a.test", "/robots.txt/"},
	} {
		if resp, _ := get(t, plain, tt.host, tt.target); resp.StatusCode != 404 {
			t.Errorf("%s%s: %d, want 404", tt.host, tt.target, resp.StatusCode)
		}
	}
	client := trusting(t, s, secure)
	if got := client.get(t, "https://c.test/robots.txt"); got != "200 c443" {
		t.Errorf("c.test over https: %s", got)
	}
}

func TestKeepAlive(t *testing.T) {
	_, addr, _ := open(t, Hosts{"a.test": []byte(rules), "b.test": []byte("b")}, "")
	c := dial(t, addr)
	r := bufio.NewReader(c)
	// The third and fourth requests are sent before the answer to the third.
	for _, batch := range [][]string{{"a.test"}, {"b.test"}, {"a.test", "b.test"}} {
		for _, host := range batch {
			fmt.Fprintf(c, "GET /robots.txt HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		}
		for _, host := range batch {
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || string(body) != map[string]string{"a.test": rules, "b.test": "b"}[host] {
				t.Fatalf("%s: %q, %v", host, body, err)
			}
		}
	}
	fmt.Fprint(c, "HEAD /robots.txt HTTP/1.1\r\nHost: a.test\r\n\r\nGET /robots.txt HTTP/1.0\r\nHost: b.test\r\n\r\n")
	out, err := io.ReadAll(r)
	if err != nil || strings.Count(string(out), "200 OK") != 2 || strings.Contains(string(out), "Disallow") {
		t.Errorf("HEAD, then HTTP/1.0: %q, %v", out, err)
	}
}

func TestNoRequest(t *testing.T) {
	_, addr, _ := open(t, nil, "")
	for _, sent := range []string{"nonsense\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x",
		maxRequest)} {
		c := dial(t, addr)
		io.WriteString(c, sent)
		line, _ := bufio.NewReader(c).ReadString('\n')
		if !strings.HasPrefix(line, "HTTP/1.1 400 ") {
			t.Errorf("%.20q: answered %q", sent, line)
		}
	}
}

func TestLoopbackOnly(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:80"} {
		if _, err := s.ListenHTTP(addr); err == nil || !strings.Contains(err.Error(), "loopback") {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for _, addr := range []string{"localhost:0", "127.0.0.5:0"} {
		if _, err := s.ListenHTTP(addr); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	s.Close()
	if _, err := s.ListenHTTP("127.0.0.1:0"); err == nil {
		t.Error("a closed farm listens")
	}
}

func TestCloseEndsWhatHangs(t *testing.T) {
	s, addr, _ := open(t, nil, `"*": {hang: start}`)
	var conns []net.Conn
	for i := range 50 {
		c := dial(t, addr)
		ask(c, fmt.Sprintf("h%d.test", i), "/robots.txt")
		conns = append(conns, c)
	}
	until(t, "50 requests hang", func() bool { return s.Report(0).Answers["hang"] == 50 })
	s.Close() // goleak watches over what is left
	for _, c := range conns {
		if out, _ := io.ReadAll(c); len(out) > 0 {
			t.Errorf("answered %q", out)
		}
	}
}
