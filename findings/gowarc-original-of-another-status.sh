#!/usr/bin/env bash
# gowarc 0.8.96 of the Internet Archive, with LocalDedupe, lets a revisit record of a 200
# refer to the 404 of another URL.
#
# The table of what was stored has the payload digest alone as its key. A page that answers
# 404 with some text and another that answers 200 with the same are one original to it: the
# revisit record names the 404's record ID, URI and date. WARC 1.1 (6.7.2) says of such a
# record that its payload is that of the original, and says nothing of its status; the
# record keeps its own HTTP header. A reader that takes the answer of the original instead
# of its payload shows a page that is there as missing, and an index that resolves revisit
# records by looking for captures with status 200 finds no original.
#
# Seen with Go 1.26:
#
#   gowarc v0.8.96
#   response of /missing: HTTP/1.1 404 Not Found
#   revisit of /there: HTTP/1.1 200 OK, refers to /missing
#
# Exits with 0 if it is still so, with 1 if not. Needs go.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.org/seen >go.log 2>&1
go get github.com/internetarchive/gowarc@v0.8.96 >>go.log 2>&1 || { cat go.log; exit 1; }

cat >main.go <<'GO'
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	warc "github.com/internetarchive/gowarc"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func path(uri string) string {
	u, err := url.Parse(uri)
	must(err)
	return u.Path
}

func main() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, strings.Repeat("the same text\n", 200))
	}))
	defer server.Close()
	settings := warc.NewRotatorSettings()
	settings.OutputDirectory = "out"
	must(os.Mkdir("out", 0o777))
	client, err := warc.NewWARCWritingHTTPClient(warc.HTTPClientSettings{
		RotatorSettings: settings, DedupeOptions: warc.DedupeOptions{LocalDedupe: true}, DNSServers: []string{"127.0.0.1"},
	})
	must(err)
	go func() {
		for e := range client.ErrChan {
			log.Print(e.Err)
		}
	}()
	for _, p := range []string{"/missing", "/there"} {
		answer, err := client.Get(server.URL + p)
		must(err)
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		client.CloseIdleConnections()
		client.WaitGroup.Wait()
	}
	must(client.Close())

	names, err := filepath.Glob("out/*.warc.gz")
	must(err)
	for _, name := range names {
		f, err := os.Open(name)
		must(err)
		records, err := warc.NewReader(f)
		must(err)
		for {
			record, err := records.ReadRecord()
			if err == io.EOF {
				break
			}
			must(err)
			kind, uri := record.Header.Get("WARC-Type"), record.Header.Get("WARC-Target-URI")
			if kind != "response" && kind != "revisit" {
				continue
			}
			status, err := bufio.NewReader(record.Content).ReadString('\n')
			must(err)
			line := fmt.Sprintf("%s of %s: %s", kind, path(uri), strings.TrimSpace(status))
			if to := record.Header.Get("WARC-Refers-To-Target-URI"); to != "" {
				line += ", refers to " + path(to)
			}
			fmt.Println(line)
		}
	}
}
GO
go mod tidy >>go.log 2>&1 || { cat go.log; exit 1; }
{
	echo "gowarc $(go list -m -f '{{.Version}}' github.com/internetarchive/gowarc)"
	go run .
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
gowarc v0.8.96
response of /missing: HTTP/1.1 404 Not Found
revisit of /there: HTTP/1.1 200 OK, refers to /missing
SEEN
