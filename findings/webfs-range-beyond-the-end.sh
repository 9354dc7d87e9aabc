#!/usr/bin/env bash
# webfs 1.21 answers 400 to a request for more bytes than a file has.
#
# A crawler need not read more of a robots.txt than a limit (RFC 9309, 2.5: at least 500 KiB), and
# may ask for no more: "Range: bytes=0-511999". Where a file is shorter, the range ends with the
# file (RFC 9110, 14.1.2), and a server that has no use for ranges sends all of it with 200.
# webfs says "400 Bad Request", for a last byte from one behind the end on. A 4xx means to a
# crawler that there is no robots.txt (RFC 9309, 2.3.1.3), so a site that closes itself stands
# open to it. A range that begins behind the end gets 400 as well, where 416 would say how long
# the file is.
#
# Seen with Debian's webfs 1.21+ds1-12+b1, of a file of 26 bytes:
#
#   no range: 200, 26 bytes
#   bytes=0-25: 206, 26 bytes
#   bytes=0-26: 400
#   bytes=0-511999: 400
#   bytes=0-: 206, 26 bytes
#   bytes=40-: 400
#
# Exits with 0 if it is still so, with 1 if not. Needs apt-get, dpkg and python3.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get -o APT::Sandbox::User=root download webfs=1.21+ds1-12+b1 >apt.log 2>&1 || { cat apt.log; exit 1; }
dpkg -x webfs_*.deb debian
mkdir site
printf 'User-agent: *\nDisallow: /\n' >site/robots.txt

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
debian/usr/bin/webfsd -F -i 127.0.0.1 -p "$port" -r "$work/site" >webfs.log 2>&1 &
server=$!

cat >ask.py <<'PY'
import http.client, sys, time

for value in [None, "bytes=0-25", "bytes=0-26", "bytes=0-511999", "bytes=0-", "bytes=40-"]:
    for attempt in range(200):
        try:
            c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=5)
            c.request("GET", "/robots.txt", headers={"Range": value} if value else {})
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    answer = c.getresponse()
    body = answer.read()
    size = f", {len(body)} bytes" if answer.status < 300 else ""
    print(f"{value or 'no range'}: {answer.status}{size}")
PY
python3 ask.py "$port" | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
no range: 200, 26 bytes
bytes=0-25: 206, 26 bytes
bytes=0-26: 400
bytes=0-511999: 400
bytes=0-: 206, 26 bytes
bytes=40-: 400
SEEN
