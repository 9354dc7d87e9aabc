#!/usr/bin/env bash
# The three HTTP caches of Python that Debian 12 has do not look at the field Age, and so keep an
# answer that came out of another cache for its whole lifetime once more.
#
# Between a site and a crawler there often is a shared cache, which says with Age for how many
# seconds it, and those before it, have kept what it sends. Age is a part of the age of an answer
# (RFC 9111, 4.2.3): one with max-age=60 and Age: 59 is fresh for a second more, and one with
# Age: 600, which a cache may send while its origin is out of reach (4.2.4), is not fresh at all.
# CacheControl, requests-cache and httplib2 count from the field Date or from the arrival alone, and
# give out both for another minute without asking. A robots.txt with a day of max-age that was a day
# old when it came so reaches two days, where RFC 9309 (2.4) wants no copy used for more than 24
# hours, unless its server cannot be reached.
#
# Seen with Python 3.11, CacheControl 0.12.12, requests-cache 0.9.8 and httplib2 0.20.4; by RFC 9111
# the last two are asked for again:
#
#   max-age=60: kept by CacheControl, requests-cache, httplib2
#   max-age=0: kept by none
#   Expires ten minutes before: kept by none
#   max-age=60, Age: 600: kept by CacheControl, requests-cache, httplib2
#   Expires in a minute, Age: 600: kept by CacheControl, requests-cache, httplib2
#
# Exits with 0 if it is still so, with 1 if not. Needs apt-get, dpkg and python3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -o APT::Sandbox::User=root download python3-cachecontrol=0.12.12-2 python3-requests-cache=0.9.8-1 \
  python3-httplib2=0.20.4-3 python3-appdirs python3-attr python3-cattr python3-certifi python3-chardet \
  python3-charset-normalizer python3-idna python3-lockfile python3-msgpack python3-pyparsing python3-requests \
  python3-six python3-url-normalize python3-urllib3 >apt.log 2>&1 || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" debian; done
export PYTHONPATH=$work/debian/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore

cat >ask.py <<'PY'
import http.server, threading, time
from email.utils import formatdate

import cachecontrol, httplib2, requests, requests_cache

asked, fields = 0, []

class Site(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        global asked
        asked += 1
        self.send_response(200)
        for name, value in fields:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"User-agent: *\nDisallow:\n")

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = "http://127.0.0.1:%d/robots.txt" % server.server_port

def plain(session):
    session.trust_env = False  # no proxy
    return session.get

caches = {
    "CacheControl": lambda: plain(cachecontrol.CacheControl(requests.Session())),
    "requests-cache": lambda: plain(requests_cache.CachedSession(backend="memory", cache_control=True)),
    "httplib2": lambda: httplib2.Http("kept", proxy_info=None).request,
}

def date(seconds):
    return formatdate(time.time() + seconds, usegmt=True)

for case, of_case in [
    ("max-age=60", [("Cache-Control", "max-age=60")]),
    ("max-age=0", [("Cache-Control", "max-age=0")]),
    ("Expires ten minutes before", [("Expires", date(-600))]),
    ("max-age=60, Age: 600", [("Cache-Control", "max-age=60"), ("Age", "600")]),
    ("Expires in a minute, Age: 600", [("Expires", date(60)), ("Age", "600")]),
]:
    fields, keep = of_case, []
    for name, cache in caches.items():
        before, get = asked, cache()
        get(f"{url}?{case.replace(' ', '_')}")
        get(f"{url}?{case.replace(' ', '_')}")
        if asked == before + 1:
            keep.append(name)
    print(f"{case}: kept by {', '.join(keep) or 'none'}")
PY
python3 ask.py | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
max-age=60: kept by CacheControl, requests-cache, httplib2
max-age=0: kept by none
Expires ten minutes before: kept by none
max-age=60, Age: 600: kept by CacheControl, requests-cache, httplib2
Expires in a minute, Age: 600: kept by CacheControl, requests-cache, httplib2
SEEN
