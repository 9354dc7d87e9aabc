#!/usr/bin/env bash
# h2o 2.2.5 sends a piece of a file to a client that asked for it only if the file is still the
# one that it knows.
#
# "If-Range" carries the ETag or date of the version of which a client has a part. Where it does
# not match, the server must ignore "Range" and send the whole new file with 200 (RFC 9110,
# 13.1.5). h2o knows ETags and answers "If-None-Match" by them, but does not look at "If-Range":
# it sends 206 and the bytes of the new version. A client that goes on with a download of a
# sitemap or an archive after a break joins two versions, and only a changed Content-Range or
# ETag of the answer, which the field makes needless to compare, could tell.
#
# Seen with Debian's h2o 2.2.5+dfsg2-7:
#
#   If-None-Match of this version: 304
#   If-None-Match of another version: 200 robots.txt of now
#   If-Range of this version: 206 of now
#   If-Range of another version: 206 of now
#   If-Range of an earlier date: 206 of now
#
# Exits with 0 if it is still so, with 1 if not. Needs apt-get, dpkg and python3, and the
# libraries of h2o: libssl3, libuv1, libyaml.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get -o APT::Sandbox::User=root download h2o=2.2.5+dfsg2-7 >apt.log 2>&1 || { cat apt.log; exit 1; }
dpkg -x h2o_*.deb debian
mkdir site
printf 'robots.txt of now' >site/robots.txt

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >conf <<CONF
listen: {host: 127.0.0.1, port: $port}
user: $(id -un)
hosts: {default: {paths: {"/": {file.dir: "$work/site"}}}}
CONF
debian/usr/bin/h2o -c conf >h2o.log 2>&1 &
server=$!

cat >ask.py <<'PY'
import http.client, sys, time

def get(**fields):
    for attempt in range(200):
        try:
            c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=5)
            c.request("GET", "/robots.txt", headers={k.replace("_", "-"): v for k, v in fields.items()})
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    answer = c.getresponse()
    return answer, answer.read().decode()

def say(what, **fields):
    answer, body = get(**fields)
    print(f"{what}: {answer.status} {body}".rstrip())

etag = get()[0].getheader("ETag")
rest = "bytes=11-"
say("If-None-Match of this version", If_None_Match=etag)
say("If-None-Match of another version", If_None_Match='"another"')
say("If-Range of this version", Range=rest, If_Range=etag)
say("If-Range of another version", Range=rest, If_Range='"another"')
say("If-Range of an earlier date", Range=rest, If_Range="Sat, 01 Jan 2000 00:00:00 GMT")
PY
python3 ask.py "$port" | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
If-None-Match of this version: 304
If-None-Match of another version: 200 robots.txt of now
If-Range of this version: 206 of now
If-Range of another version: 206 of now
If-Range of an earlier date: 206 of now
SEEN
