#!/usr/bin/env bash
# grobotstxt 1.0.3, a port of Google's parser of robots.txt to Go, parts from it in three ways
# that crawlers and site owners meet.
#
# A token on a line ends for Google's parser at the first character that is no letter, "-" or
# "_" (RFC 9309, 2.2.1). The port adds digits, dots and further signs, by RFC 7231. So the group
# of "User-agent: Googlebot2" is Googlebot's to Google and nobody's to the port; and the group
# of MJ12bot, which Google's parser knows as "MJ" and finds for nobody, is MJ12bot's to the
# port. Google's parser takes a URL as it is given. The port writes it anew with net/url, but
# not the pattern: a rule with a character that net/url escapes, such as "|", matches no URL.
# And a URL with a percent sign that begins no escape is closed under an empty file. (The first
# stands in a comment of the code, the last in its documentation as an invalid URL.)
#
# Seen with Go 1.26, on the left what Google's parser says:
#
#   grobotstxt v1.0.3
#   closed, here open: Googlebot2's group, asked for Googlebot
#   open, here closed: MJ12bot's group, asked for MJ12bot
#   closed, here open: /a|b, asked for /a|b
#   open, here closed: nothing, asked for /sale-50%
#
# Exits with 0 if it is still so, with 1 if not. Needs go.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.org/seen >go.log 2>&1
go get github.com/jimsmart/grobotstxt@v1.0.3 >>go.log 2>&1 || { cat go.log; exit 1; }

cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/jimsmart/grobotstxt"
)

func main() {
	word := map[bool]string{true: "open", false: "closed"}
	for _, q := range []struct {
		file, agent, url string
		google           bool
		asked            string
	}{
		{"User-agent: Googlebot2\nDisallow: /\n", "Googlebot", "https://site.example/", false,
			"Googlebot2's group, asked for Googlebot"},
		{"User-agent: MJ12bot\nDisallow: /\n", "MJ12bot", "https://site.example/", true,
			"MJ12bot's group, asked for MJ12bot"},
		{"User-agent: *\nDisallow: /a|b\n", "Googlebot", "https://site.example/a|b", false,
			"/a|b, asked for /a|b"},
		{"", "Googlebot", "https://site.example/sale-50%", true,
			"nothing, asked for /sale-50%"},
	} {
		here := grobotstxt.AgentAllowed(q.file, q.agent, q.url)
		fmt.Printf("%s, here %s: %s\n", word[q.google], word[here], q.asked)
	}
}
GO
go mod tidy >>go.log 2>&1 || { cat go.log; exit 1; }
{
	echo "grobotstxt $(go list -m -f '{{.Version}}' github.com/jimsmart/grobotstxt)"
	go run .
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
grobotstxt v1.0.3
closed, here open: Googlebot2's group, asked for Googlebot
open, here closed: MJ12bot's group, asked for MJ12bot
closed, here open: /a|b, asked for /a|b
open, here closed: nothing, asked for /sale-50%
SEEN
