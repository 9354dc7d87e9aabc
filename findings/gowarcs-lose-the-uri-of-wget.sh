#!/usr/bin/env bash
# Two WARC libraries in Go do not find the URL of an archive that GNU wget wrote: one drops it, one
# leaves it in angle brackets.
#
# WARC 1.0 (ISO 28500:2009, the grammar in clause 4) defines a URI in a header as "<" URI ">", and
# WARC-Target-URI as such a URI. Wget writes it so. WARC 1.1 took the brackets away, as its note to
# the same rule says, and kept them for record identifiers. gowarc 3.1.0 of the National Library of
# Norway takes the value of a WARC/1.0 record for a URL all the same, notes that it has no scheme,
# and goes on with a record without the field: a reader that looks at errors alone has an archive of
# nameless answers. gowarc 0.8.96 of the Internet Archive gives the value out with its brackets,
# which net/url refuses. Both read records of WARC/1.1 rightly.
#
# Seen with Debian's wget 1.21.3-1+deb12u1 and Go 1.26:
#
#   written by wget: WARC/1.0, "<http://127.0.0.1/robots.txt>"
#     Norway v3.1.0: "", error <nil>, 1 remark
#     Norway v3.1.0 without validation: "<http://127.0.0.1/robots.txt>", error <nil>, 0 remarks
#     Internet Archive v0.8.96: "<http://127.0.0.1/robots.txt>", error <nil>
#   the same as WARC/1.1, "http://127.0.0.1/robots.txt"
#     Norway v3.1.0: "http://127.0.0.1/robots.txt", error <nil>, 0 remarks
#     Norway v3.1.0 without validation: "http://127.0.0.1/robots.txt", error <nil>, 0 remarks
#     Internet Archive v0.8.96: "http://127.0.0.1/robots.txt", error <nil>
#
# Exits with 0 if it is still so, with 1 if not. Needs go, apt-get, dpkg, python3 and the libraries
# of wget.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get -o APT::Sandbox::User=root download wget=1.21.3-1+deb12u1 >apt.log 2>&1 || { cat apt.log; exit 1; }
dpkg -x wget_*.deb debian
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.org/seen >go.log 2>&1
go get github.com/nlnwa/gowarc/v3@v3.1.0 github.com/internetarchive/gowarc@v0.8.96 >>go.log 2>&1 ||
  { cat go.log; exit 1; }

cat >main.go <<'GO'
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"regexp"

	archive "github.com/internetarchive/gowarc"
	norway "github.com/nlnwa/gowarc/v3"
)

var port = regexp.MustCompile(`127\.0\.0\.1:\d+`)

func quoted(uri string) string { return fmt.Sprintf("%q", port.ReplaceAllString(uri, "127.0.0.1")) }

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func byNorway(name string, file []byte, options ...norway.WarcRecordOption) {
	r := must(norway.NewWarcFileReaderFromStream(bytes.NewReader(file), 0, options...))
	for {
		record, err := r.Next()
		if err == io.EOF {
			return
		}
		if is := record.WarcRecord; is != nil && is.Type() == norway.Response {
			remarks := fmt.Sprintf("%d remarks", len(record.Validation))
			if len(record.Validation) == 1 {
				remarks = "1 remark"
			}
			uri := quoted(is.WarcHeader().Get("WARC-Target-URI"))
			fmt.Printf("  Norway v3.1.0%s: %s, error %v, %s\n", name, uri, err, remarks)
		}
	}
}

func byArchive(file []byte) {
	r := must(archive.NewReader(io.NopCloser(bytes.NewReader(file))))
	for {
		record, err := r.ReadRecord()
		if err == io.EOF {
			return
		}
		if record.Header.Get("WARC-Type") == "response" {
			fmt.Printf("  Internet Archive v0.8.96: %s, error %v\n", quoted(record.Header.Get("WARC-Target-URI")), err)
		}
	}
}

func read(file []byte) {
	byNorway("", file)
	byNorway(" without validation", file, norway.WithNoValidation())
	byArchive(file)
}

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	plain := must(io.ReadAll(must(gzip.NewReader(bufio.NewReader(must(os.Open("got.warc.gz")))))))
	target := regexp.MustCompile(`(WARC-Type: response\r\n(?:.*\r\n)*?WARC-Target-URI: )<(http://.*)>`).FindSubmatch(plain)
	if target == nil {
		log.Fatal("wget wrote no URI in brackets")
	}
	version, _, _ := bytes.Cut(plain, []byte("\r\n"))
	fmt.Printf("written by wget: %s, %s\n", version, quoted("<"+string(target[2])+">"))
	read(plain)
	fmt.Printf("the same as WARC/1.1, %s\n", quoted(string(target[2])))
	plain = bytes.ReplaceAll(plain, []byte("WARC/1.0\r\n"), []byte("WARC/1.1\r\n"))
	read(regexp.MustCompile(`(WARC-Target-URI: )<(.*)>`).ReplaceAll(plain, []byte("$1$2")))
}
GO
go mod tidy >>go.log 2>&1 || { cat go.log; exit 1; }
go build -o read . >>go.log 2>&1 || { cat go.log; exit 1; }

mkdir site
printf 'User-agent: *\nDisallow: /private\n' >site/robots.txt
cat >serve.py <<'PY'
import functools, http.server

class Site(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), functools.partial(Site, directory="site"))
print(server.server_port, flush=True)
server.serve_forever()
PY
mkfifo port
python3 serve.py >port &
server=$!
read -r port <port
debian/usr/bin/wget --no-config --no-proxy -q -O page --warc-file=got --no-warc-keep-log \
  "http://127.0.0.1:$port/robots.txt"
./read 2>read.log | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
written by wget: WARC/1.0, "<http://127.0.0.1/robots.txt>"
  Norway v3.1.0: "", error <nil>, 1 remark
  Norway v3.1.0 without validation: "<http://127.0.0.1/robots.txt>", error <nil>, 0 remarks
  Internet Archive v0.8.96: "<http://127.0.0.1/robots.txt>", error <nil>
the same as WARC/1.1, "http://127.0.0.1/robots.txt"
  Norway v3.1.0: "http://127.0.0.1/robots.txt", error <nil>, 0 remarks
  Norway v3.1.0 without validation: "http://127.0.0.1/robots.txt", error <nil>, 0 remarks
  Internet Archive v0.8.96: "http://127.0.0.1/robots.txt", error <nil>
SEEN
