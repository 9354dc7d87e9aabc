package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/testdata"
)

// The demo's own small server answers as the farm does with the same files, twice
// over: the second answer of some hosts is another one. A key of a fault that the demo
// does not know would show here.
func TestDemoWebAnswersAsTheFarm_NoRace(t *testing.T) {
	t.Parallel()
	files, err := fs.Sub(testdata.Demo, "demo")
	if err != nil {
		t.Fatal(err)
	}
	web, demoAddr, err := startDemo(files)
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()

	const folder = "../../testdata/demo"
	config := farm.Config{}
	config.Hosts, err = farm.LoadFS(os.DirFS(folder + "/hosts"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(folder + "/faults.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	config.Faults, err = farm.ParseFaults(file, "faults.yaml")
	if err != nil {
		t.Fatal(err)
	}
	server, err := farm.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	farmAddr, err := server.ListenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	names := map[string]bool{"nobody.test": true}
	for name := range web.hosts {
		names[name] = true
	}
	for name := range web.faults {
		names[name] = true
	}
	if len(names) < 130 {
		t.Fatalf("%d hosts", len(names))
	}
	var running sync.WaitGroup
	places := make(chan struct{}, 8) // so that the time of an answer is not that of all others
	for name := range names {
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			for n := range 2 {
				host := strings.Replace(name, "_", ":", 1)
				want, got := askOnce(t, farmAddr, host), askOnce(t, demoAddr, host)
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("%s, answer %d: farm -, demo +\n%s", name, n, diff)
				}
			}
		})
	}
	running.Wait()
}

// demoAnswer is what a client sees.
type demoAnswer struct {
	Proto, Status string
	Header        http.Header
	Length        int64
	Body          string
	Failed        string // how asking or reading failed
}

func askOnce(t *testing.T, addr, host string) demoAnswer {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	failed := func(err error) string {
		var network net.Error
		switch {
		case err == nil:
			return ""
		case errors.As(err, &network) && network.Timeout():
			return "timeout"
		case errors.Is(err, io.ErrUnexpectedEOF):
			return "unexpected EOF"
		}
		text, _, _ := strings.Cut(err.Error(), `"`) // noise is quoted
		_, after, _ := strings.Cut(text, addr)      // a reset has both addresses before it
		return cmp.Or(after, text)
	}
	transport := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		ResponseHeaderTimeout: 3 * time.Second, // beyond the slowest of them, which compresses 20 MB first, short of a hang
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+host+"/robots.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return demoAnswer{Failed: failed(err)}
	}
	defer resp.Body.Close()
	header := maps.Clone(resp.Header)
	delete(header, "Connection")
	length, content := resp.ContentLength, io.Reader(resp.Body)
	if resp.Header.Get("Content-Encoding") == "gzip" {
		length = 0 // that of the compressed body, by two encoders
		delete(header, "Content-Length")
		content, err = gzip.NewReader(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
	}
	body, err := io.ReadAll(content)
	if len(body) > 1<<20 {
		sum := sha1.Sum(body)
		body = fmt.Appendf(nil, "%d bytes %x", len(body), sum)
	}
	return demoAnswer{Proto: resp.Proto, Status: resp.Status, Header: header, Length: length, Body: string(body),
		Failed: failed(err)}
}
