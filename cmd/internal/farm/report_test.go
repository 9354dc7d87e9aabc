package farm

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

func TestReport(t *testing.T) {
	s, first, _ := open(t, Hosts{"a.test": []byte("a")}, `"*.slow.test": {hang: start}`)
	second, err := s.ListenHTTP("127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	for i, addr := range []string{first, first, second} {
		c := dial(t, addr)
		ask(c, fmt.Sprintf("h%d.slow.test", i/2), "/robots.txt")
		conns = append(conns, c)
	}
	until(t, "three hang", func() bool { return s.Report(0).Answers["hang"] == 3 })
	get(t, second, "a.test", "/robots.txt")
	c := dial(t, second)
	fmt.Fprint(c, "GET /nothing HTTP/1.0\r\nHost: a.test\r\nCookie: a=b\r\n\r\n")
	io.ReadAll(c)

	_, out := get(t, first, "whatever.test", "/_farm?hosts=1")
	var r Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Requests != 5 || r.Hosts != 3 || r.Cookies != 1 || r.Connections != 6 ||
		fmt.Sprint(r.Answers) != "map[200:1 404:1 hang:3]" {
		t.Errorf("%+v", r)
	}
	if r.PeakRequests != 4 || r.PeakHost != 2 || r.PeakDomain != 3 || r.PeakAddress != 2 {
		t.Errorf("%+v", r)
	}
	want := []Count{{Name: "h0.slow.test", Requests: 2, Peak: 2}, {Name: "a.test", Requests: 2, Peak: 1},
		{Name: "h1.slow.test", Requests: 1, Peak: 1}}
	if fmt.Sprint(r.ByHost) != fmt.Sprint(want) {
		t.Errorf("by host %v", r.ByHost)
	}
	if fmt.Sprint(r.ByDomain) != "[{slow.test 3 3 0} {a.test 2 1 0}]" {
		t.Errorf("by domain %v", r.ByDomain)
	}

	get(t, first, "whatever.test", "/_farm/reset")
	for _, c := range conns {
		c.Close()
	}
	until(t, "the farm lets go", func() bool { return s.inFlight() == 0 })
	if r := s.Report(-1); r.Requests != 0 || r.Connections != 1 && r.Connections != 0 || len(r.Answers) != 0 ||
		r.PeakRequests != 3 || r.PeakHost != 2 {
		t.Errorf("after a reset: %+v", r)
	}
	s.Reset()
	if r := s.Report(-1); r.PeakRequests != 0 || r.Hosts != 0 || len(r.ByHost) != 0 {
		t.Errorf("after a second one: %+v", r)
	}
	if resp, _ := get(t, first, "a.test", "/_farm/else"); resp.StatusCode != 404 {
		t.Errorf("/_farm/else: %d", resp.StatusCode)
	}
}

// TestPeaksAreNeverTooHigh checks that clients with at most two connections to
// a host at once are never reported with more, even though they dial again as
// soon as they have the answer or give up.
func TestPeaksAreNeverTooHigh(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux can the farm see that a client is gone before it reads")
	}
	rounds := 200
	if testing.Short() {
		rounds = 60
	}
	for name, fault := range map[string]string{
		"answered": "x.test: {body: x}",
		"long":     "x.test: {body: x, pad: 300KiB}",
		"dripped":  "x.test: {body: xyz, drip: {every: 1us}}",
		"left":     "x.test: {hang: header}",
		"https":    "x.test: {body: x}",
		"gone":     "x.test: {schemes: https, hang: body, body: x}",
	} {
		t.Run(name, func(t *testing.T) {
			s, addr, secure := open(t, nil, fault)
			connect := func() (net.Conn, error) { return net.Dial("tcp", addr) }
			if name == "https" || name == "gone" {
				config := &tls.Config{ServerName: "x.test", InsecureSkipVerify: true}
				connect = func() (net.Conn, error) { return tls.Dial("tcp", secure, config) }
			}
			var clients sync.WaitGroup
			for range 2 {
				clients.Go(func() {
					for range rounds {
						c, err := connect()
						if err != nil {
							t.Error(err)
							return
						}
						ask(c, "x.test", "/robots.txt")
						if name == "left" || name == "gone" {
							c.Read(make([]byte, 1))
						} else {
							io.Copy(io.Discard, c)
						}
						c.Close()
					}
				})
			}
			clients.Wait()
			r := s.Report(-1)
			if r.PeakHost > 2 || r.PeakDomain > 2 || r.PeakAddress > 2 || r.PeakRequests > 2 || r.PeakConnections > 2 {
				t.Errorf("%+v", r)
			}
			if r.Requests != int64(2*rounds) {
				t.Errorf("%d requests", r.Requests)
			}
		})
	}
}

func TestLatency(t *testing.T) {
	for _, tt := range []struct {
		dist        string
		low, median time.Duration
		high        time.Duration
		hang        float64
	}{
		{"none", 0, 0, 0, 0},
		{"fixed:50ms", 50, 50, 50, 0},
		{"uniform:10ms-200ms", 10, 105, 200, 0},
		{"lognormal:median=80ms,sigma=0.8", 2, 80, 5000, 0},
		{"mix:0.95=uniform:0s-200ms,0.05=hang", 0, 100, 200, 0.05},
		{"mix:0.5=lognormal:median=80ms,sigma=0,0.2=fixed:80ms,0.3=hang", 80, 80, 80, 0.3},
		{"hang", math.MaxInt, 0, 0, 1},
	} {
		l, err := ParseLatency(tt.dist, 7)
		if err != nil {
			t.Error(err)
			continue
		}
		again, _ := ParseLatency(tt.dist, 7)
		other, _ := ParseLatency(tt.dist, 8)
		const hosts = 20_000
		hang, below, same := 0, 0, 0
		for i := range hosts {
			name := fmt.Sprintf("h%d.test", i)
			d := l.of(name)
			if d != again.of(name) {
				t.Fatalf("%s: %s has two delays", tt.dist, name)
			}
			if d == other.of(name) {
				same++
			}
			switch {
			case d == forever:
				hang++
				continue
			case d < tt.low*time.Millisecond || d > tt.high*time.Millisecond:
				t.Fatalf("%s: %s", tt.dist, d)
			case d < tt.median*time.Millisecond:
				below++
			}
		}
		if part := float64(hang) / hosts; math.Abs(part-tt.hang) > 0.01 {
			t.Errorf("%s: %g hang", tt.dist, part)
		}
		if part := float64(below) / float64(hosts-hang); tt.low < tt.median && math.Abs(part-0.5) > 0.02 {
			t.Errorf("%s: %g below the median", tt.dist, part)
		}
		if tt.low < tt.median && same > hosts/10 {
			t.Errorf("%s: another seed draws the same %d times", tt.dist, same)
		}
	}
	for _, dist := range []string{"", "slow", "fixed", "fixed:3", "uniform:1s", "uniform:2s-1s", "lognormal:median=1s",
		"lognormal:mean=1s", "mix:", "mix:0.5=hang", "mix:1=mix", "fixed:-1s"} {
		if _, err := ParseLatency(dist, 0); err == nil {
			t.Errorf("%q is taken for a distribution", dist)
		}
	}
}

func TestLatencyIsServed(t *testing.T) {
	l, err := ParseLatency("mix:0.5=fixed:30ms,0.5=hang", 1)
	if err != nil {
		t.Fatal(err)
	}
	s, addr, _ := openConfig(t, Config{Latency: l})
	for i := range 10 {
		name := fmt.Sprintf("h%d.test", i)
		if l.of(name) < forever {
			began := time.Now()
			get(t, addr, name, "/robots.txt")
			if took := time.Since(began); took < 30*time.Millisecond {
				t.Errorf("%s answers after %s", name, took)
			}
			continue
		}
		c := dial(t, addr)
		ask(c, name, "/robots.txt")
		before := s.Report(0).Answers["hang"]
		until(t, "it hangs", func() bool { return s.Report(0).Answers["hang"] > before || s.inFlight() > 0 })
		c.Close()
		until(t, "the farm lets go", func() bool { return s.inFlight() == 0 })
	}
}

func TestLoad(t *testing.T) {
	hosts, err := LoadFS(fstest.MapFS{
		"hosts/A.test":      {Data: []byte("a")},
		"b.test_8443":       {Data: []byte("b")},
		"C.test/robots.txt": {Data: []byte("c")},
		"hosts/.hidden":     {Data: []byte("no host")},
	})
	if err != nil || len(hosts) != 3 || string(hosts["c.test"]) != "c" || string(hosts["a.test"]) != "a" ||
		string(hosts["b.test_8443"]) != "b" {
		t.Errorf("%v, %v", hosts, err)
	}
	_, err = LoadFS(fstest.MapFS{"x/a.test": {}, "y/A.test": {}})
	if err == nil || !strings.Contains(err.Error(), "a second file for host a.test") {
		t.Error(err)
	}
}
