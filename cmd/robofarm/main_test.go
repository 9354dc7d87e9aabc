package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/robocensus/robocensus/cmd/internal/farm"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"robofarm": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await": await,
			"get":   get,
		},
	})
}

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		args string
		want int
	}{
		{"--version", exitOK},
		{"serve --help", exitOK},
		{"warc --help", exitOK},
		{"", exitUsage},
		{"warc --dir " + dir, exitUsage},
		{"warc --dir " + dir + "/nowhere --out a.warc", exitInput},
		{"warc --dir " + dir + " --out " + dir + "/no/where.warc", exitIO},
		{"serve --sow", exitUsage},
		{"serve --dir " + dir, exitUsage},
		{"serve --http 127.0.0.1:0 --latency slow --dir " + dir, exitUsage},
		{"serve --http 127.0.0.1:0 --dir " + dir + "/nowhere", exitInput},
		{"serve --http 127.0.0.1:0 --faults " + dir + "/nowhere", exitInput},
		{"serve --http 192.0.2.1:0 --dir " + dir, exitIO},
		{"serve --https 127.0.0.1:0 --ca-out " + dir + "/no/where --dir " + dir, exitIO},
	} {
		var out, complaint strings.Builder
		if got := mainCode(strings.Fields(tt.args), &out, &complaint); got != tt.want {
			t.Errorf("%s: exit %d, want %d: %s", tt.args, got, tt.want, complaint.String())
		}
	}
}

// The examples name a folder of this repository, and a host in it.
func TestExamplesOfHelp(t *testing.T) {
	hosts, err := farm.Load("../../testdata/demo/hosts")
	if err != nil {
		t.Fatal(err)
	}
	for _, help := range []string{serveHelp, warcHelp} {
		if !strings.Contains(help, " --dir testdata/demo/hosts ") {
			t.Errorf("no example with the demo's hosts:\n%s", help)
		}
		if _, after, ok := strings.Cut(help, "'Host: "); ok {
			if host, _, _ := strings.Cut(after, "'"); hosts[host] == nil {
				t.Errorf("%s is not a host of the demo", host)
			}
		}
	}
}

// await FILE waits until the file exists.
func await(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("no %s after 20 s", args[0])
		}
	}
}

// get ADDRESSES URL writes the status and body of the answer to stdout. It
// connects to the first address of the URL's scheme in the file ADDRESSES. The
// certificate must be signed by ca.pem.
func get(ts *testscript.TestScript, neg bool, args []string) {
	scheme, _, _ := strings.Cut(args[1], ":")
	addr := ""
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if s, at, _ := strings.Cut(strings.TrimSpace(line), "://"); s == scheme && addr == "" {
			addr = at
		}
	}
	pool := x509.NewCertPool()
	if scheme == "https" {
		pool.AppendCertsFromPEM([]byte(ts.ReadFile("ca.pem")))
	}
	client := http.Client{
		Timeout: 20 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{RootCAs: pool},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, addr)
			},
		},
	}
	resp, err := client.Get(args[1])
	if err == nil {
		defer resp.Body.Close()
		var body []byte
		if body, err = io.ReadAll(resp.Body); err == nil {
			_, err = io.WriteString(ts.Stdout(), resp.Status+"\n"+string(body))
		}
	}
	if (err != nil) != neg {
		ts.Fatalf("%s: %v", args[1], err)
	}
}
