#!/usr/bin/env bash
# express-robots-txt 1.0.0 (npm) writes groups that run into each other.
#
# A group is one or more user-agent lines and then its rules (RFC 9309, 2.2); a crawl-delay is no
# rule, and other lines do not end a group. Here an agent that has a delay alone, or nothing at all,
# is written straight above the next group, without a rule between them, so that Google's parser
# binds it to that group too: the crawler that was to be slowed down, or let in, is shut out. The
# delay stands above the rules, where its documentation shows it below them.
#
# Seen on Node.js 20, with grobotstxt 1.0.3, Google's parser in Go:
#
#   express-robots-txt 1.0.0
#   a delay for slowbot, nothing for others: User-agent: slowbot|Crawl-delay: 5|User-agent: *|Disallow: /
#   slowbot at /page: closed
#   no rule for goodbot, nothing for others: User-agent: goodbot|User-agent: *|Disallow: /
#   goodbot at /page: closed
#
# Exits with 0 if it is still so, with 1 if not. Needs node, npm and go.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . express@4.22.1 express-robots-txt@1.0.0 >npm.log 2>&1 || { cat npm.log; exit 1; }
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.org/seen >go.log 2>&1
go get github.com/jimsmart/grobotstxt@v1.0.3 >>go.log 2>&1 || { cat go.log; exit 1; }

cat >write.js <<'JS'
const express = require('express');
const robots = require('express-robots-txt');

async function written(options) {
  const app = express();
  app.use((robots.default ?? robots)(options));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/robots.txt`);
  const text = await answer.text();
  server.close();
  return text;
}

(async () => {
  const all = { UserAgent: '*', Disallow: '/' };
  const cases = [
    { what: 'a delay for slowbot, nothing for others', agent: 'slowbot',
      options: [{ UserAgent: 'slowbot', CrawlDelay: '5' }, all] },
    { what: 'no rule for goodbot, nothing for others', agent: 'goodbot',
      options: [{ UserAgent: 'goodbot' }, all] },
  ];
  for (const c of cases) c.text = await written(c.options);
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
	var cases []struct{ What, Agent, Text string }
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	word := map[bool]string{true: "open", false: "closed"}
	for _, c := range cases {
		fmt.Printf("%s: %s\n", c.What, strings.ReplaceAll(c.Text, "\n", "|"))
		open := grobotstxt.AgentAllowed(c.Text, c.Agent, "https://site.example/page")
		fmt.Printf("%s at /page: %s\n", c.Agent, word[open])
	}
}
GO
{
	echo "express-robots-txt $(sed -n 's/.*"version": "\(.*\)".*/\1/p' node_modules/express-robots-txt/package.json)"
	node write.js | go run .
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
express-robots-txt 1.0.0
a delay for slowbot, nothing for others: User-agent: slowbot|Crawl-delay: 5|User-agent: *|Disallow: /
slowbot at /page: closed
no rule for goodbot, nothing for others: User-agent: goodbot|User-agent: *|Disallow: /
goodbot at /page: closed
SEEN
