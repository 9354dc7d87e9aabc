package farm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// head returns the status line and the first header.
func head(status string) string {
	return "HTTP/1.1 " + status + "\r\nServer: robofarm\r\n"
}

const (
	typed = "Content-Type: text/plain; charset=utf-8\r\n"
	sized = typed + "Content-Length: 33\r\n"
)

// TestFaults compares the bytes of an answer for every fault that changes them.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "other.txt"), []byte("from a file"), 0o644); err != nil {
		t.Fatal(err)
	}
	right := head("200 OK") + sized + "\r\n" + rules
	for _, tt := range []struct {
		fault, want string
		answer      string // in the report; "" for the status
	}{
		{"{}", right, ""},
		{"503", head("503 Service Unavailable") + typed + "Content-Length: 20\r\n\r\nService Unavailable\n", ""},
		{"600", head("600 ") + typed + "Content-Length: 1\r\n\r\n\n", ""},
		{"304", head("304 Not Modified") + "\r\n", ""},
		{"{status: 301}", head("301 Moved Permanently") + typed + "Content-Length: 18\r\n\r\nMoved Permanently\n", ""},
		{"{status: 404, body: gone}", head("404 Not Found") + typed + "Content-Length: 4\r\n\r\ngone", ""},
		{"{reason: ''}", strings.Replace(right, " OK", "", 1), ""},
		{"{reason: Fine}", strings.Replace(right, "OK", "Fine", 1), ""},
		{"{version: '1.0'}", strings.Replace(right, "1.1", "1.0", 1), ""},
		{"{headers: {content-type: text/html, X: [a, '{host}']}}", head("200 OK") +
			"Content-Length: 33\r\ncontent-type: text/html\r\nX: a\r\nX: x.test\r\n\r\n" + rules, ""},
		{"{status: 429, retry_after: 7, body: ''}", head("429 Too Many Requests") + typed +
			"Content-Length: 0\r\nRetry-After: 7\r\n\r\n", ""},
		{"{cookies: 2}", head("200 OK") + sized + "Set-Cookie: farm1=1; Path=/\r\nSet-Cookie: farm2=2; Path=/\r\n\r\n" +
			rules, ""},
		{"{header_count: 2}", head("200 OK") + sized + "X-Farm-0: f\r\nX-Farm-1: f\r\n\r\n" + rules, ""},
		{"{header_count: 2, header_bytes: 40}", head("200 OK") + sized + "X-Farm-0: ffffffff\r\nX-Farm-1: ffffffff\r\n\r\n" +
			rules, ""},
		{"{redirect: 'http://{host}.example/', body: ''}", head("301 Moved Permanently") +
			"Location: http://x.test.example/\r\n" + typed + "Content-Length: 0\r\n\r\n", ""},
		{"{redirect: '/x', status: 308, body: ''}", head("308 Permanent Redirect") + "Location: /x\r\n" + typed +
			"Content-Length: 0\r\n\r\n", ""},
		{"{body: '{host} {1}'}", head("200 OK") + typed + "Content-Length: 10\r\n\r\nx.test {1}", ""},
		{"{body_file: other.txt}", head("200 OK") + typed + "Content-Length: 11\r\n\r\nfrom a file", ""},
		{"{body_from: Y.test}", head("200 OK") + typed + "Content-Length: 1\r\n\r\ny", ""},
		{"{body: abc, pad: 6}", head("200 OK") + typed + "Content-Length: 6\r\n\r\n#.\nabc", ""},
		{"{body: abc, pad: 4}", head("200 OK") + typed + "Content-Length: 4\r\n\r\n\nabc", ""},
		{"{body: abc, pad: 3}", head("200 OK") + typed + "Content-Length: 3\r\n\r\nabc", ""},
		{"{interim: [100, 103]}", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + right, ""},
		{"{interim_only: 103}", "HTTP/1.1 103 Early Hints\r\n\r\n", "interim_only"},
		{"{close: start}", "", "close"},
		{"{close: handshake}", "", "close"},
		{"{close: header}", right[:49], "close"},
		{"{close: body}", head("200 OK") + sized + "\r\n" + rules[:16], "close"},
		{"{truncate: 10}", head("200 OK") + sized + "\r\n" + rules[:10], "truncate"},
		{"{truncate: 99}", right, ""},
		{"{framing: chunked}", head("200 OK") + typed + "Transfer-Encoding: chunked\r\n\r\n10\r\n" + rules[:16] +
			"\r\n11\r\n" + rules[16:] + "\r\n0\r\n\r\n", ""},
		{"{framing: chunked, truncate: 2}", head("200 OK") + typed +
			"Transfer-Encoding: chunked\r\n\r\n1\r\nU\r\n1\r\ns\r\n", "truncate"},
		{"{framing: bad_chunk, body: ab}", head("200 OK") + typed + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n" +
			"1\r\nb\r\n0\r\n\r\n", "bad_chunk"},
		{"{framing: close}", head("200 OK") + typed + "\r\n" + rules, ""},
		{"{garbage: true}", noise, "garbage"},
		{"{garbage: false}", right, ""},
		{`{raw: "hello\n"}`, "hello\n", "raw"},
		{"{http09: true}", rules, "http09"},
		{"{delay: 1ms, body_delay: 1ms}", right, ""},
		{"{body_delay: 1ms, status: 304}", head("304 Not Modified") + "\r\n", ""},
		{"{drip: {bytes: 9, every: 1us}}", right, ""},
		{"{drip: {bytes: 50, every: 1us, from: header}}", right, ""},
		{"[{schemes: https, status: 500}, {schemes: [http], status: 200}]", right, ""},
		{"[{schemes: https, status: 500}]", right, ""},
	} {
		f, err := ParseFaults(strings.NewReader("x.test: "+tt.fault), filepath.Join(dir, "faults.yaml"))
		if err != nil {
			t.Errorf("%s: %v", tt.fault, err)
			continue
		}
		s, addr, _ := openConfig(t, Config{Hosts: Hosts{"x.test": []byte(rules), "y.test": []byte("y")}, Faults: f})
		got, err := raw(t, addr, "x.test", "/robots.txt")
		if err != nil || got != tt.want {
			t.Errorf("%s:\n got %q, %v\nwant %q", tt.fault, got, err, tt.want)
		}
		answer := tt.answer
		if answer == "" {
			answer = strings.TrimSpace(strings.Split(tt.want, " ")[1][:3])
		}
		if strings.Contains(tt.fault, "{interim:") {
			answer = "200"
		}
		if r := s.Report(-1); r.Answers[answer] != 1 || r.Requests != 1 || r.PeakHost != 1 {
			t.Errorf("%s: report %+v, want one answer %q", tt.fault, r, answer)
		}
		s.Close()
	}
}

func TestReset(t *testing.T) {
	for place, sent := range map[string]int{"handshake": 0, "start": 0, "header": 49, "body": 114} {
		s, addr, _ := open(t, Hosts{"x.test": []byte(rules)}, "x.test: {reset: "+place+"}")
		got, err := raw(t, addr, "x.test", "/robots.txt")
		if !errors.Is(err, syscall.ECONNRESET) || len(got) != sent {
			t.Errorf("%s: %d bytes, %v; want %d, then a reset", place, len(got), err, sent)
		}
		if r := s.Report(-1); r.Answers["reset"] != 1 {
			t.Errorf("%s: report %+v", place, r)
		}
	}
}

func TestHangEndsWithTheClient(t *testing.T) {
	for place, sent := range map[string]int{"handshake": 0, "start": 0, "header": 49, "body": 114} {
		s, addr, _ := open(t, Hosts{"x.test": []byte(rules)}, "x.test: {hang: "+place+"}")
		c := dial(t, addr)
		ask(c, "x.test", "/robots.txt")
		// A pipelined request must not hide the end of the connection.
		ask(c, "x.test", "/robots.txt")
		if _, err := io.ReadFull(c, make([]byte, sent)); err != nil {
			t.Fatal(err)
		}
		until(t, "it hangs", func() bool { return s.Report(0).Answers["hang"] == 1 })
		c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if n, err := c.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %d more bytes, %v", place, n, err)
		}
		if s.inFlight() != 1 {
			t.Errorf("%s: %d in flight", place, s.inFlight())
		}
		c.Close()
		until(t, "the farm lets go", func() bool { return s.inFlight() == 0 })
		if r := s.Report(0); r.Answers["hang"] != 1 || len(r.Answers) != 1 {
			t.Errorf("%s: %+v", place, r)
		}
	}
}

func TestClientLeavesSlowHost(t *testing.T) {
	for _, fault := range []string{"delay: 1h", "body_delay: 1h", "drip: {every: 1h}", "drip: {every: 1h, from: header}"} {
		s, addr, _ := open(t, Hosts{"x.test": []byte(rules)}, "x.test: {"+fault+"}")
		c := dial(t, addr)
		ask(c, "x.test", "/robots.txt")
		until(t, "it is asked", func() bool { return s.inFlight() == 1 })
		c.Close()
		until(t, "the farm lets go", func() bool { return s.inFlight() == 0 })
		if r := s.Report(0); r.Answers["abandoned"] != 1 {
			t.Errorf("%s: %+v", fault, r)
		}
	}
}

func TestSequences(t *testing.T) {
	s, addr, _ := open(t, Hosts{"x.test": []byte(rules)}, `
x.test: {status: [503, 200, 500]}
y.test:
  times: 2
  status: 503
  then: [{status: [500, 501]}, 404, {body: y}]
z.test: {reset: start, then: {hops: 2, body: z, paths: {"/": 200, "*": 500}}}
`)
	for host, want := range map[string]string{
		"x.test": "503 200 500 500", "y.test": "503 503 500 501 404 200 200", "z.test": "reset 302 200",
	} {
		var got []string
		for i := range len(strings.Fields(want)) {
			target := "/robots.txt"
			if host == "z.test" && i == 2 {
				target = "/robots.txt?hop=2"
			}
			out, err := raw(t, addr, host, target)
			if errors.Is(err, syscall.ECONNRESET) {
				out = "HTTP/1.1 reset"
			}
			got = append(got, strings.Fields(out)[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", host, got, want)
		}
	}
	s.Reset()
	if resp, _ := get(t, addr, "x.test", "/robots.txt"); resp.StatusCode != 503 {
		t.Errorf("after a reset x.test answers %d", resp.StatusCode)
	}
}

func TestPathsAndHops(t *testing.T) {
	_, addr, _ := open(t, nil, `
x.test: {status: 503, paths: {"/": 200, "/moved/*": {redirect: /}, "*": 503}}
y.test: {hops: 2, body: y}
w.test: {paths: {"/": {status: 200, as: {Bot: 500, Go-http: 402}}, "/b": {status: 200, as: {Bot: 403}}}}
`)
	for target, want := range map[string]string{"/": "402", "/b": "200"} {
		if got, err := raw(t, addr, "w.test", target+" HTTP/1.1\r\nUser-Agent: Go-http/1\r\nX:"); err != nil ||
			!strings.HasPrefix(got, "HTTP/1.1 "+want) {
			t.Errorf("%s as Go-http: %q, %v, want %s", target, got, err, want)
		}
	}
	for target, want := range map[string]int{"/robots.txt": 503, "/": 200, "/moved/here": 301, "/nothing": 503} {
		if resp, _ := get(t, addr, "x.test", target); resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", target, resp.StatusCode, want)
		}
	}
	target := "/robots.txt"
	for range 2 {
		resp, _ := get(t, addr, "y.test", target)
		target = resp.Header.Get("Location")
	}
	if _, body := get(t, addr, "y.test", target); target != "/robots.txt?hop=2" || body != "y" {
		t.Errorf("two hops lead to %s, %q", target, body)
	}
}

func TestGlobsAndShares(t *testing.T) {
	_, addr, _ := open(t, Hosts{"one.test": []byte("1"), "two.test": []byte("2")}, `
h7.farm.test: {body: by name}
"h*.farm.*":
  - {share: 15%, redirect: "http://{1}.{2}/"}
  - {share: 0.1, status: 500}
  - {body_from: "*"}
"*.farm.test": {body: never for h}
`)
	count := map[int]int{}
	bodies := map[string]int{}
	for i := range 1000 {
		resp, body := get(t, addr, fmt.Sprintf("h%d.farm.test", i), "/robots.txt")
		count[resp.StatusCode]++
		if resp.StatusCode == 200 {
			bodies[body]++
		}
		if want := fmt.Sprintf("http://%d.test/", i); resp.StatusCode == 301 && resp.Header.Get("Location") != want {
			t.Errorf("h%d goes to %s", i, resp.Header.Get("Location"))
		}
	}
	// Hashes of the names select the hosts, so the counts never vary.
	if count[301] < 120 || count[301] > 180 || count[500] < 75 || count[500] > 125 || len(count) != 3 {
		t.Errorf("15 %% and 10 %% of 1000 hosts: %v", count)
	}
	if bodies["by name"] != 1 || bodies["1"] < 300 || bodies["2"] < 300 || len(bodies) != 3 {
		t.Errorf("bodies: %v", bodies)
	}
}

func TestLargeHeaders(t *testing.T) {
	_, addr, _ := open(t, Hosts{"x.test": nil}, `x.test: {header_bytes: 10MB}`)
	got, err := raw(t, addr, "x.test", "/robots.txt")
	if err != nil || len(got) < 9_990_000 || len(got) > 10_010_000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestEncodings(t *testing.T) {
	_, addr, _ := open(t, Hosts{"gzip.test": []byte(rules), "br.test": []byte(rules), "zstd.test": []byte(rules)},
		`"*.test": {encoding: gzip}
br.test: {encoding: br}
zstd.test: {encoding: zstd}`)
	for encoding, decode := range map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		"zstd": func(r io.Reader) (io.Reader, error) {
			d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
			return d, err
		},
	} {
		resp, body := get(t, addr, encoding+".test", "/robots.txt")
		r, err := decode(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(r)
		if err != nil || string(out) != rules || resp.Header.Get("Content-Encoding") != encoding {
			t.Errorf("%s: %q, %v", encoding, out, err)
		}
	}
}

func TestBomb_NoRace(t *testing.T) {
	for _, size := range []int{0, 1, 1000, bombBlock - 1, bombBlock, bombBlock + 1, 100*bombBlock + 12345} {
		_, addr, _ := open(t, nil, fmt.Sprintf("x.test: {bomb: %d}", size))
		resp, body := get(t, addr, "x.test", "/robots.txt")
		r, err := gzip.NewReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		counted := &zeros{}
		_, err = io.Copy(counted, r) // the sum and the length at the end are checked
		if err != nil || counted.n != size || counted.other || resp.ContentLength != int64(len(body)) {
			t.Errorf("%d zeros: %+v, %v", size, counted, err)
		}
	}
}

type zeros struct {
	n     int
	other bool
}

func (z *zeros) Write(p []byte) (int, error) {
	z.n += len(p)
	z.other = z.other || len(bytes.Trim(p, "\x00")) > 0
	return len(p), nil
}

func TestManyAtOnce(t *testing.T) {
	s, addr, _ := open(t, nil, `"h*.test": {body: "{host}"}`)
	const many = 2000
	conns := make([]net.Conn, many)
	for i := range conns {
		conns[i] = dial(t, addr)
	}
	for i, c := range conns {
		ask(c, fmt.Sprintf("h%d.test", i), "/robots.txt")
	}
	for i, c := range conns {
		out, err := io.ReadAll(c)
		if err != nil || !strings.HasSuffix(string(out), fmt.Sprintf("\r\n\r\nh%d.test", i)) {
			t.Fatalf("h%d: %q, %v", i, out, err)
		}
		c.Close()
	}
	if r := s.Report(5); r.Hosts != many || r.Answers["200"] != many || r.PeakConnections < many/2 || len(r.ByHost) != 5 {
		t.Errorf("%+v", r)
	}
}
