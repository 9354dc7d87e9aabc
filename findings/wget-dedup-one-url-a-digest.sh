#!/usr/bin/env bash
# GNU wget 1.21.3 with --warc-dedup writes a revisit record for one URL of each digest: the last
# one that the index names. All other URLs with the same payload are stored again as responses,
# although the index has a line for each of them with their URL and digest.
#
# wget keeps the index in memory by digest alone, so that a later line replaces an earlier one,
# and then compares the URL too. Sites whose hosts share a robots.txt (a hoster's or a CMS's
# own) are stored anew each week, but for one. Which one depends on the order of the index, so
# that it changes when the list of URLs is shuffled. A missing file counts as well: all answers
# with an empty body have one digest, so that of a whole archive one 404, or one redirect, is a
# revisit record.
#
# Seen with three URLs that are one text, and three that are missing with an empty body:
#
#   wget 1.21.3
#   first crawl: a b c x y z as responses
#   second crawl, index in the order a b c x y z: c z as revisit records
#   second crawl, index in the order c b a z y x: a x as revisit records
#
# Exits with 0 if it is still so, with 1 if not. Needs apt-get, dpkg, python3, and root, as
# packages are downloaded and not installed.
set -euo pipefail
work=$(mktemp -d)
cd "$work"
server=
trap '[ -z "$server" ] || kill $server; rm -rf "$work"' EXIT
apt-get -o APT::Sandbox::User=root download wget=1.21.3-1+deb12u1 >apt.log 2>&1 || { cat apt.log; exit 1; }
dpkg -x wget_*.deb wget

cat >serve.py <<'PY'
import http.server

class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        body = b'User-agent: *\nDisallow: /private\n' if self.path[1:] in 'abc' else b''
        self.send_response(200 if body else 404)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(('127.0.0.1', 0), Site)
print(server.server_port, flush=True)
server.serve_forever()
PY
mkfifo port
python3 serve.py >port &
server=$!
read -r port <port

crawl() { # name, flags
  name=$1
  shift
  wget/usr/bin/wget --no-config -q -O all --warc-file="$name" --warc-cdx --no-warc-keep-log "$@" \
    http://127.0.0.1:"$port"/{a,b,c,x,y,z} || true # some are missing
}
named() { # archive, type of record
  zcat "$1.warc.gz" | tr -d '\r' | awk -v type="$2" '
    /^WARC-Type: / { is = $2 == type }
    /^WARC-Target-URI: / && is { gsub(/.*\/|>/, ""); print }' | sort -u | paste -sd ' '
}

crawl first
{ head -1 first.cdx; tail -n +2 first.cdx | tac; } >reversed.cdx
crawl second --warc-dedup=first.cdx
crawl third --warc-dedup=reversed.cdx
{
  wget/usr/bin/wget --version | awk 'NR == 1 { print "wget " $3 }'
  echo "first crawl: $(named first response) as responses"
  echo "second crawl, index in the order a b c x y z: $(named second revisit) as revisit records"
  echo "second crawl, index in the order c b a z y x: $(named third revisit) as revisit records"
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
wget 1.21.3
first crawl: a b c x y z as responses
second crawl, index in the order a b c x y z: c z as revisit records
second crawl, index in the order c b a z y x: a x as revisit records
SEEN
