package client

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// spooling gives a client a spool file in a temporary folder.
func spooling(t *testing.T, room int64) func(*settings) {
	path := filepath.Join(t.TempDir(), "spool")
	var file *os.File
	t.Cleanup(func() { file.Close() })
	return func(c *settings) {
		c.Room, c.MaxBody, c.Concurrency, c.Timeout = room, 500_000, 1000, time.Minute
		c.Spool = func() (_ *os.File, err error) {
			file, err = os.Create(path)
			return file, err
		}
	}
}

// TestAnswersUnderWayAreBounded lets 200 hosts stall near the limit, 80 MB
// together, and then send the rest.
func TestAnswersUnderWayAreBounded(t *testing.T) {
	answersUnderWay(t, coding{"identity", nil})
}

// TestCodedAnswersUnderWayAreBounded_NoRace does the same in each content coding.
func TestCodedAnswersUnderWayAreBounded_NoRace(t *testing.T) {
	answersUnderWay(t, coding{"gzip", gzipCoding}, coding{"br", brotliCoding}, coding{"zstd", zstdCoding})
}

type coding struct {
	name   string
	encode func(io.Writer) io.WriteCloser
}

func answersUnderWay(t *testing.T, codings ...coding) {
	const hosts, room = 200, 1 << 20
	noise := make([]byte, 400_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for _, coding := range codings {
		t.Run(coding.name, func(t *testing.T) {
			body, sent := noise, noise
			if coding.encode != nil {
				var b bytes.Buffer
				w := coding.encode(&b)
				w.Write(noise)
				w.Close()
				sent = b.Bytes()
			}
			goOn := make(chan struct{})
			address := serve(t, func(c *net.TCPConn, _ *http.Request, _ int) {
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Encoding: %s\r\n\r\n", len(sent), coding.name)
				c.Write(sent[:len(sent)-10])
				<-goOn
				c.Write(sent[len(sent)-10:])
			})
			client := newClient(t, address, spooling(t, room))
			spool := client.spool
			heap := func() int64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return int64(m.HeapAlloc)
			}
			before := heap()
			var all sync.WaitGroup
			for i := range hosts {
				all.Go(func() {
					p, err := client.Enter(t.Context(), t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					defer p.Leave()
					got := p.Fetch(0, origin(t, fmt.Sprintf("h%d.example", i)))
					if got.Error != "" || !bytes.Equal(got.Body, body) {
						t.Errorf("error %q (%v), %d bytes", got.Error, got.Err, len(got.Body))
					}
				})
			}
			inFile := func() int64 {
				spool.mu.Lock()
				defer spool.mu.Unlock()
				return spool.end - int64(len(spool.free))*blockBytes
			}
			for begun := time.Now(); inFile() < hosts*int64(len(sent))-room-hosts*3*blockBytes; runtime.Gosched() {
				if time.Since(begun) > 20*time.Second {
					t.Fatalf("%d bytes are on disk", inFile())
				}
			}
			if grown := heap() - before; grown > room+hosts*100<<10 {
				t.Errorf("%d answers in flight take %d bytes of memory", hosts, grown)
			}
			close(goOn)
			all.Wait()
			if spool.room != room || inFile() != 0 || len(spool.landing) > 0 {
				t.Errorf("room for %d of %d bytes is left, and %d bytes of the file are in use", spool.room, room, inFile())
			}
		})
	}
}

// TestAFullDiskIsNoFailureOfTheHost checks that a body that cannot be kept says
// nothing about its server.
func TestAFullDiskIsNoFailureOfTheHost(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	address := serve(t, func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		c.Write(make([]byte, 100_000))
	})
	client := newClient(t, address, spooling(t, 0))
	client.spool.create = func() (*os.File, error) { return full, nil }
	if got := client.Fetch(t.Context(), origin(t, "a.example")); got.Local == nil || got.Error != answer.ErrorCanceled {
		t.Errorf("error %q (%v), local %v", got.Error, got.Err, got.Local)
	}
}

// TestHeavyHeadersWaitForEachOther_NoRace checks that the memory of incomplete headers
// is bounded too, that the wait is not the host's, and that ordinary answers do
// not wait.
func TestHeavyHeadersWaitForEachOther_NoRace(t *testing.T) {
	const hosts, rounds = 12, 3 // four at a time
	address := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		if r.Host == "light.example" {
			io.WriteString(c, "\r\nok")
			return
		}
		for range maxHeader/64 - 1 {
			fmt.Fprintf(c, "X-%08d: %050d\r\n", 0, 0)
		}
		hang(c)
	})
	const timeout = time.Second
	client := newClient(t, address, func(c *settings) {
		spooling(t, 0)(c)
		c.Timeout = timeout
	})
	began := time.Now()
	var all sync.WaitGroup
	for i := range hosts {
		all.Go(func() {
			got := client.Fetch(t.Context(), origin(t, fmt.Sprintf("h%d.example", i)))
			if got.Error != answer.ErrorTimeout || *got.Times.Total < timeout || *got.Times.Total > 2*timeout {
				t.Errorf("error %q (%v) after %v, want a timeout after %v", got.Error, got.Err, *got.Times.Total, timeout)
			}
		})
	}
	if got := client.Fetch(t.Context(), origin(t, "light.example")); string(got.Body) != "ok" ||
		time.Since(began) > timeout {
		t.Errorf("an ordinary answer came after %v: %q (%v)", time.Since(began), got.Body, got.Err)
	}
	all.Wait()
	if took := time.Since(began); took < 2*timeout {
		t.Errorf("%d hosts were done after %v: more than %d at once", hosts, took, hosts/rounds)
	}
}

// A text that waits takes no more memory than it has bytes, none if there is a disk, and can be
// written on.
func TestATextWaits(t *testing.T) {
	for name, b := range map[string]Backing{
		"memory": {}, "disk": {Spool: func() (*os.File, error) { return os.Create(filepath.Join(t.TempDir(), "spool")) }},
		"a full disk": {Spool: func() (*os.File, error) { return nil, os.ErrPermission }},
	} {
		spool := newSpool(b, 1)
		s, inMemory := newText(spool, 4095, nil), name != "disk"
		var want []byte
		for i := range 100 {
			part := bytes.Repeat([]byte{byte(i)}, i*7)
			n, err := s.Write(part)
			if want = append(want, part[:n]...); err != nil && name != "a full disk" {
				t.Fatal(err)
			} else if err != nil {
				break // it is told
			}
			last := span{max(0, len(want)-n-3), max(0, len(want)-2)}
			if got, err := s.part(last); err != nil || !bytes.Equal(got, want[last.from:last.to]) {
				t.Fatalf("%s: %v of %d bytes: %v", name, last, len(want), err)
			}
			if s.lay(); inMemory && cap(s.tail) > len(want)+len(want)/4 || !inMemory && cap(s.tail) > 0 {
				t.Fatalf("%s: %d bytes for a text of %d", name, cap(s.tail), len(want))
			}
		}
		if got, err := s.bytes(); err != nil || !bytes.Equal(got, want) || s.size() != len(want) ||
			len(want) < blockBytes-1000 {
			t.Errorf("%s: %d bytes, want %d: %v", name, len(got), len(want), err)
		}
		if s.release(); len(spool.free)*blockBytes != int(spool.end) || !inMemory &&
			spool.end != int64(len(want)+blockBytes-1)/blockBytes*blockBytes {
			t.Errorf("%s: %d blocks of %d bytes are free again", name, len(spool.free), spool.end)
		}
	}
}

// Hosts that wait for their next request hold neither what was sent and received, nor the bodies
// of further answers, nor their connections.
func TestHostsThatWaitTakeLittle_NoRace(t *testing.T) {
	const hosts, page = 200, 8 << 10
	var asked atomic.Int32
	all, goOn := make(chan struct{}), make(chan struct{})
	addr := serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		if n := asked.Add(1); n > 2*hosts { // one has the only slot, and the others wait
			if n == 2*hosts+1 {
				close(all)
			}
			<-goOn
		}
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nX: %01000d\r\n\r\n", 0)
		if r.URL.Path != "/robots.txt" {
			c.Write(make([]byte, page))
		}
	})
	plan := fetch.Plan{Keeps: 2 * page, Ask: func(host *fetch.Answered, ask func(*fetch.Question) *fetch.Further) {
		for range 2 {
			ask(&fetch.Question{Kind: fetch.KindPage, Origin: host.Origin, Target: "/", MaxBody: 2 * page})
		}
	}}
	client := newClient(t, addr, func(s *settings) {
		spooling(t, 1<<20)(s)
		s.Record, s.Further, s.Concurrency, s.Waiting = true, []fetch.Plan{plan}, 1, hosts
	})
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	var group sync.WaitGroup
	leases := make([]*Lease, hosts)
	for i := range hosts {
		group.Go(func() {
			lease, err := client.Enter(t.Context(), t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer lease.Leave()
			leases[i] = lease
			if got := lease.Fetch(0, origin(t, fmt.Sprintf("http://h%d.example", i))); len(got.Further) != 2 ||
				len(got.Further[1].Body) != page {
				t.Errorf("%v: %v", got.Origin, got.Err)
			}
		})
	}
	<-all
	if per := (heap() - before) / hosts; per > 6<<10 {
		t.Errorf("a host that waits takes %d bytes", per)
	}
	connected, facts := 0, 0
	for _, lease := range leases {
		for _, s := range lease.texts {
			if s.paused != nil {
				connected++
			}
		}
		for _, x := range lease.exchanges {
			if x.Exchange != nil {
				facts++
			}
		}
		for _, m := range lease.more {
			if m.told != nil {
				facts++
			}
		}
	}
	if connected > 2 || facts > 2 {
		t.Errorf("%d texts hold their connections, and %d facts are in memory", connected, facts)
	}
	close(goOn)
	group.Wait()
}

// A disk that cannot be written to for a while loses nothing, and nobody reads what another
// text left in a block.
func TestATextWaitsForADiskThatFailsOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "spool")
	good, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	bad, err := os.Open(name) // for reading
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	s := newSpool(Backing{Room: 1 << 20, Spool: func() (*os.File, error) { return good, nil }}, 1<<20)
	other := newText(s, 0, nil)
	other.Write(bytes.Repeat([]byte("A"), 5*blockBytes/2))
	other.lay()
	other.release()
	waits, want := newText(s, 0, nil), []byte(nil)
	write := func(letter string, n int) {
		t.Helper()
		more := bytes.Repeat([]byte(letter), n)
		want = append(want, more...)
		if _, err := waits.Write(more); err != nil {
			t.Fatal(err)
		}
	}
	check := func() {
		t.Helper()
		if got, err := waits.bytes(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("a text of %d bytes has %d, %.5q …, %v", len(want), len(got), got, err)
		}
		if got, err := io.ReadAll(waits.reader()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("a text of %d bytes reads as %d, %.5q …, %v", len(want), len(got), got, err)
		}
	}
	write("B", 3000)
	for _, f := range []*os.File{bad, good, bad} {
		s.file = f
		waits.lay()
		check()
		write("C", 2*blockBytes) // on a bad disk there is room in memory
		check()
	}
	s.file = good
	waits.lay()
	check()
	if waits.release(); s.room != 1<<20 || len(s.free) != int(s.end/blockBytes) {
		t.Errorf("%d bytes and %d blocks of %d are free", s.room, len(s.free), s.end/blockBytes)
	}
}
