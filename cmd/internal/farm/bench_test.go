package farm

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// benchFarm is the environment variable that makes the test binary a farm, so
// that its processor time is measured apart from its client's.
const benchFarm = "ROBOFARM_BENCH"

// bareServer accepts, reads, writes and closes, and does nothing else: the
// lower bound for a farm.
func bareServer() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 4<<10)
				c.Read(buf)
				c.Write(buf[:800])
			}()
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	l.Close()
}

func serveForBenchmark() {
	if os.Getenv(benchFarm) == "bare" {
		bareServer()
		return
	}
	s, err := New(Config{Hosts: Hosts{"a.test": []byte(strings.Repeat(rules, 20))}})
	if err != nil {
		panic(err)
	}
	addr, err := s.ListenHTTP("127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(addr)
	io.Copy(io.Discard, os.Stdin) // until the benchmark is over
	s.Close()
}

// benchmark runs do against a farm in another process and reports the
// farm's processor time per request.
func benchmark(b *testing.B, server string, do func(addr string)) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), benchFarm+"="+server)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	do(strings.TrimSpace(addr))
	b.StopTimer()
	in.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.ReportMetric(float64(cpu.Nanoseconds())/1e3/float64(b.N), "farm-cpu-µs/op")
}

const benchRequest = "GET /robots.txt HTTP/1.1\r\nHost: a.test\r\nUser-Agent: benchmark\r\nAccept-Encoding: gzip\r\n"

// BenchmarkKeepAlive measures a request without the cost of a connection.
func BenchmarkKeepAlive(b *testing.B) {
	benchmark(b, "farm", func(addr string) {
		c := dial(b, addr)
		c.SetDeadline(time.Time{})
		buf := make([]byte, 16<<10)
		for range b.N {
			io.WriteString(c, benchRequest+"\r\n")
			if _, err := c.Read(buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkConnection measures a request with its connection, as a census
// makes it.
func BenchmarkConnection(b *testing.B) {
	benchmark(b, "farm", func(addr string) { connections(b, addr) })
}

// BenchmarkBareConnection measures the system's part of [BenchmarkConnection].
func BenchmarkBareConnection(b *testing.B) {
	benchmark(b, "bare", func(addr string) { connections(b, addr) })
}

func connections(b *testing.B, addr string) {
	buf := make([]byte, 16<<10)
	for range b.N {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		io.WriteString(c, benchRequest+"Connection: close\r\n\r\n")
		if _, err := c.Read(buf); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}
