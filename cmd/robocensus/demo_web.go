package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/configs/userfile"
)

// demoWeb serves the hosts of the demo over http on loopback: a few kinds of answers on
// net/http. Package farm has every fault there is, but the binary need not carry it.
type demoWeb struct {
	hosts  map[string][]byte
	faults map[string]demoFault
	server *http.Server

	mu    sync.Mutex
	asked map[string]int // requests by host
}

// demoFault is how a host answers: the keys of the farm's format of faults that
// demo/faults.yaml uses.
type demoFault struct {
	Status     demoStatuses
	Headers    map[string]string
	RetryAfter string `yaml:"retry_after"`
	Redirect   string
	Version    string  // of HTTP
	Body       *string // in place of the host's file
	Pad        int     // bytes of the body, with comment before it
	Encoding   string  // gzip
	Bomb       int     // bytes that a gzipped body of zeros expands to
	Framing    string  // chunked, close, bad_chunk
	Truncate   int     // bytes after which the connection closes
	Drip       struct {
		Bytes int
		Every time.Duration
	}
	Reset, Hang string // start; or, over https, handshake
	Garbage     bool
	Schemes     string // https: the fault does not concern this server
	TLS         string
}

// demoStatuses are the statuses of the first answers; the last stays.
type demoStatuses []int

func (s *demoStatuses) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Decode((*[]int)(s))
	}
	*s = make(demoStatuses, 1)
	return n.Decode(&(*s)[0])
}

func (f *demoFault) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&f.Status)
	}
	type fields demoFault
	return n.Decode((*fields)(f))
}

// startDemo serves the hosts and faults of files on a free loopback port.
func startDemo(files fs.FS) (*demoWeb, string, error) {
	w := &demoWeb{hosts: map[string][]byte{}, faults: map[string]demoFault{}, asked: map[string]int{}}
	names, err := fs.Glob(files, "hosts/*")
	if err != nil {
		return nil, "", err
	}
	for _, name := range names {
		if w.hosts[strings.TrimPrefix(name, "hosts/")], err = fs.ReadFile(files, name); err != nil {
			return nil, "", err
		}
	}
	text, err := fs.ReadFile(files, "faults.yaml")
	if err != nil {
		return nil, "", err
	}
	root, err := userfile.Parse("faults.yaml", text)
	if err == nil {
		err = userfile.Decode("faults.yaml", root, &w.faults)
	}
	if err != nil {
		return nil, "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", fmt.Errorf("serve the demo's hosts: %w", err)
	}
	w.server = &http.Server{Handler: w, ErrorLog: log.New(&bytes.Buffer{}, "", 0)}
	go w.server.Serve(listener)
	return w, listener.Addr().String(), nil
}

func (w *demoWeb) Close() error { return w.server.Close() }

func (w *demoWeb) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/robots.txt" {
		http.NotFound(out, r)
		return
	}
	host, port, _ := strings.Cut(r.Host, ":")
	body, found := w.hosts[host+"_"+port]
	if !found {
		body, found = w.hosts[host]
	}
	f, known := w.faults[host+"_"+port]
	if !known {
		f = w.faults[host]
	}
	if f.Schemes == "https" {
		f = demoFault{}
	}
	w.mu.Lock()
	n := w.asked[host]
	w.asked[host]++
	w.mu.Unlock()

	// A host takes 10 to 73 ms, by its name.
	delay := 10 * time.Millisecond
	for _, c := range host {
		delay = 10*time.Millisecond + (delay*31+time.Duration(c)*time.Millisecond)%(64*time.Millisecond)
	}
	if !wait(r.Context(), delay) {
		return
	}
	switch {
	case f.Reset != "":
		answerRaw(out, func(c *net.TCPConn) { c.SetLinger(0) })
	case f.Hang != "":
		<-r.Context().Done()
	case f.Garbage:
		answerRaw(out, func(c *net.TCPConn) { c.Write(append(bytes.Repeat([]byte{0xf1}, 256), "\r\n\r\n"...)) })
	default:
		f.answer(out, r, host, body, found, n)
	}
}

// answer sends the nth answer of a host, counted from 0.
func (f *demoFault) answer(out http.ResponseWriter, r *http.Request, host string, body []byte, found bool, n int) {
	status := http.StatusNotFound
	switch {
	case len(f.Status) > 0:
		status = f.Status[min(n, len(f.Status)-1)]
	case f.Redirect != "":
		status = http.StatusMovedPermanently
	case found || f.Body != nil || f.Bomb > 0:
		status = http.StatusOK
	}
	switch {
	case f.Body != nil:
		body = []byte(*f.Body)
	case status != http.StatusOK:
		body = []byte(http.StatusText(status) + "\n")
	case f.Bomb > 0:
		body = make([]byte, f.Bomb)
	}
	if missing := f.Pad - len(body); missing > 0 {
		comment := strings.Repeat("#"+strings.Repeat(".", 62)+"\n", missing/64+1)
		body = append([]byte(comment[:missing-1]+"\n"), body...)
	}
	h := out.Header()
	h["Date"] = nil
	h.Set("Server", "robofarm")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	for name, value := range f.Headers {
		h.Set(name, strings.ReplaceAll(value, "{host}", host))
	}
	if f.RetryAfter != "" {
		h.Set("Retry-After", f.RetryAfter)
	}
	if f.Redirect != "" {
		h.Set("Location", f.Redirect)
	}
	if f.Encoding == "gzip" || f.Bomb > 0 {
		h.Set("Content-Encoding", "gzip")
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		z.Write(body)
		z.Close()
		body = zipped.Bytes()
	}
	switch {
	case f.Version == "1.0":
		answerRaw(out, func(c *net.TCPConn) {
			fmt.Fprintf(c, "HTTP/1.0 %d %s\r\n", status, http.StatusText(status))
			h.Write(c)
			fmt.Fprintf(c, "\r\n%s", body)
		})
		return
	case f.Framing == "bad_chunk":
		answerRaw(out, func(c *net.TCPConn) {
			fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nTransfer-Encoding: chunked\r\n", status, http.StatusText(status))
			h.Write(c)
			half := body[:len(body)/2]
			fmt.Fprintf(c, "\r\n%x\r\n%s\r\nzz\r\n", len(half), half)
		})
		return
	case f.Framing != "chunked" && status != http.StatusNotModified:
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	out.WriteHeader(status)
	flush := http.NewResponseController(out).Flush
	switch {
	case f.Truncate > 0 && f.Truncate < len(body):
		out.Write(body[:f.Truncate])
		flush()
		panic(http.ErrAbortHandler)
	case f.Drip.Every > 0:
		for len(body) > 0 && wait(r.Context(), f.Drip.Every) {
			piece := body[:min(len(body), f.Drip.Bytes)]
			out.Write(piece)
			flush()
			body = body[len(piece):]
		}
	case f.Framing == "chunked":
		flush()
		out.Write(body)
	default:
		out.Write(body)
	}
}

// answerRaw writes to the connection itself, past net/http, and closes it.
func answerRaw(out http.ResponseWriter, write func(*net.TCPConn)) {
	conn, _, err := out.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	write(conn.(*net.TCPConn))
	conn.Close()
}

// wait waits and reports whether the client is still there.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
