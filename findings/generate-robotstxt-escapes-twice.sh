#!/usr/bin/env bash
# generate-robotstxt 8.0.3 (npm) escapes what is escaped already, so that the rule matches nothing.
#
# It writes each path through encodeURI, which takes "%" for a character like others. A path as RFC
# 9309 wants it in the file (2.2.2: octets outside of US-ASCII percent-encoded) becomes "%25C3%25A9",
# and a slash inside a value "%252F": rules that no URL has, which close nothing. A path in brackets,
# as browsers send it, is written with "%5B", which is another octet to a crawler that compares as
# the RFC says. Only a path in plain letters comes out as it was meant. gatsby-plugin-robots-txt 1.8.0
# takes its file from this package.
#
# Seen on Node.js 20, with grobotstxt 1.0.3, Google's parser in Go:
#
#   generate-robotstxt 8.0.3
#   /café is written as /caf%C3%A9, and /caf%C3%A9 is closed
#   /caf%C3%A9 is written as /caf%25C3%25A9, and /caf%C3%A9 is open
#   /go?to=a%2Fb is written as /go?to=a%252Fb, and /go?to=a%2Fb is open
#   /list[1] is written as /list%5B1%5D, and /list[1] is open
#
# Exits with 0 if it is still so, with 1 if not. Needs node, npm and go.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . generate-robotstxt@8.0.3 >npm.log 2>&1 || { cat npm.log; exit 1; }
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.org/seen >go.log 2>&1
go get github.com/jimsmart/grobotstxt@v1.0.3 >>go.log 2>&1 || { cat go.log; exit 1; }

cat >write.js <<'JS'
const generate = require('generate-robotstxt');

(async () => {
  const cases = [];
  for (const [path, url] of [
    ['/café', '/caf%C3%A9'],
    ['/caf%C3%A9', '/caf%C3%A9'],
    ['/go?to=a%2Fb', '/go?to=a%2Fb'],
    ['/list[1]', '/list[1]'],
  ]) {
    const text = await (generate.default ?? generate)({ policy: [{ userAgent: '*', disallow: path }] });
    cases.push({ path, url, text });
  }
  console.log(JSON.stringify(cases));
})();
JS
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/jimsmart/grobotstxt"
)

func main() {
	var cases []struct{ Path, URL, Text string }
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	word := map[bool]string{true: "open", false: "closed"}
	for _, c := range cases {
		_, rule, _ := strings.Cut(strings.TrimSpace(c.Text), "Disallow: ")
		open := grobotstxt.AgentAllowed(c.Text, "examplebot", "https://site.example"+c.URL)
		fmt.Printf("%s is written as %s, and %s is %s\n", c.Path, rule, c.URL, word[open])
	}
}
GO
{
	echo "generate-robotstxt $(node -p 'require("./node_modules/generate-robotstxt/package.json").version')"
	node write.js | go run .
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
generate-robotstxt 8.0.3
/café is written as /caf%C3%A9, and /caf%C3%A9 is closed
/caf%C3%A9 is written as /caf%25C3%25A9, and /caf%C3%A9 is open
/go?to=a%2Fb is written as /go?to=a%252Fb, and /go?to=a%2Fb is open
/list[1] is written as /list%5B1%5D, and /list[1] is open
SEEN
