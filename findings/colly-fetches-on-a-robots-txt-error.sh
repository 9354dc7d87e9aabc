#!/usr/bin/env bash
# colly 2.3.0 fetches the pages of a site whose robots.txt answers 503, although the parser
# that it asks, temoto/robotstxt 1.1.2, says that such a site is closed.
#
# FromStatusAndBytes of the parser follows what Google documented: 5xx forbids everything,
# and TestAgent says so. colly, told to obey (IgnoreRobotsTxt false), does not call TestAgent:
# it looks for the group of its user agent, and takes the answer for a file with an empty
# group, which allows. With status 200 and the same words, colly keeps away. A site that
# sheds load with 503 is crawled by programs of colly while others wait.
#
# Seen with Go 1.26:
#
#   colly v2.3.0, robotstxt v1.1.2
#   503: the parser says closed; colly fetched the page
#   200: the parser says closed; colly: URL blocked by robots.txt
#
# Exits with 0 if it is still so, with 1 if not. Needs go.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.org/seen >go.log 2>&1
go get github.com/gocolly/colly/v2@v2.3.0 github.com/temoto/robotstxt@v1.1.2 >>go.log 2>&1 || { cat go.log; exit 1; }

cat >main.go <<'GO'
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/gocolly/colly/v2"
	"github.com/temoto/robotstxt"
)

const file = "User-agent: *\nDisallow: /\n"

func main() {
	for _, status := range []int{503, 200} {
		fetched := false
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				w.WriteHeader(status)
				io.WriteString(w, file)
				return
			}
			fetched = true
		}))
		parsed, err := robotstxt.FromStatusAndBytes(status, []byte(file))
		if err != nil {
			log.Fatal(err)
		}
		parser := "open"
		if !parsed.TestAgent("/page", "seen") {
			parser = "closed"
		}
		c := colly.NewCollector(colly.UserAgent("seen"))
		c.IgnoreRobotsTxt = false
		err = c.Visit(server.URL + "/page")
		server.Close()
		did := " fetched the page"
		if !fetched {
			did = fmt.Sprintf(": %v", err)
		}
		fmt.Printf("%d: the parser says %s; colly%s\n", status, parser, did)
	}
}
GO
go mod tidy >>go.log 2>&1 || { cat go.log; exit 1; }
{
	echo "colly $(go list -m -f '{{.Version}}' github.com/gocolly/colly/v2), robotstxt $(go list -m -f '{{.Version}}' github.com/temoto/robotstxt)"
	go run .
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
colly v2.3.0, robotstxt v1.1.2
503: the parser says closed; colly fetched the page
200: the parser says closed; colly: URL blocked by robots.txt
SEEN
