#!/usr/bin/env bash
# CivetWeb 1.15 answers 304 to a client whose ETag is another one, if the file's date is older than
# the client's: who puts an older file back in its place is not heard by those who ask best.
#
# A client that has an ETag and a date sends both, for servers that know only dates. A server that
# knows ETags must then leave If-Modified-Since out of account (RFC 9110, 13.1.3 and 13.2.2). CivetWeb
# says "not modified" where one of them says so. A robots.txt from a backup, or from an archive that
# keeps dates, is older than what it replaces: asked by its ETag alone the server sends the new
# file, asked by ETag and date it says 304, under the ETag of the new file, today and every day after
# it. A cache that gets it has no answer with that ETag, and must not make its own fresh by it
# (RFC 9111, 4.3.4); one that looks at the status alone keeps the old rules.
#
# Seen with Debian's civetweb 1.15+dfsg-4, a file that closes the site, and an older one that does not:
#
#   by the ETag: 304, the same ETag
#   by the date: 304, the same ETag
#   the older file in its place, asked without conditions: 200, another ETag
#   by the first one's ETag: 200, another ETag
#   by the first one's date: 304, another ETag
#   by the first one's ETag and date: 304, another ETag
#
# Exits with 0 if it is still so, with 1 if not. Needs apt-get, dpkg and python3.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get -o APT::Sandbox::User=root download civetweb=1.15+dfsg-4 libcivetweb1=1.15+dfsg-4 >apt.log 2>&1 ||
  { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" debian; done
export LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(dirname "$(find "$work/debian" -name 'libcivetweb.so.1' | head -n 1)")
mkdir site

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
debian/usr/bin/civetweb -document_root "$work/site" -listening_ports "127.0.0.1:$port" >civetweb.log 2>&1 &
server=$!

cat >ask.py <<'PY'
import http.client, os, sys, time

def put(text, hours):
    with open("site/robots.txt", "w") as f:
        f.write(text)
    then = time.time() - 3600 * hours
    os.utime("site/robots.txt", (then, then))

def get(**fields):
    for attempt in range(200):
        try:
            c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=5)
            c.request("GET", "/robots.txt", headers={k.replace("_", "-"): v for k, v in fields.items()})
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    answer = c.getresponse()
    answer.read()
    return answer

put("User-agent: *\nDisallow: /\n", hours=1)
first = get()
etag, date = first.getheader("ETag"), first.getheader("Last-Modified")

def say(what, **fields):
    answer = get(**fields)
    print(f"{what}: {answer.status}, {'the same' if answer.getheader('ETag') == etag else 'another'} ETag")

say("by the ETag", If_None_Match=etag)
say("by the date", If_Modified_Since=date)
put("User-agent: *\nDisallow: /private\n", hours=2)
say("the older file in its place, asked without conditions")
say("by the first one's ETag", If_None_Match=etag)
say("by the first one's date", If_Modified_Since=date)
say("by the first one's ETag and date", If_None_Match=etag, If_Modified_Since=date)
PY
python3 ask.py "$port" | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
by the ETag: 304, the same ETag
by the date: 304, the same ETag
the older file in its place, asked without conditions: 200, another ETag
by the first one's ETag: 200, another ETag
by the first one's date: 304, another ETag
by the first one's ETag and date: 304, another ETag
SEEN
