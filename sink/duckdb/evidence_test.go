package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// everyFault has a host for each way to answer, or not to.
const everyFault = `
status204.test: 204
status206.test: {status: 206, body: "User-agent: *\nDisallow: /half\n"}
whole206.test: {status: 206, headers: {Content-Range: "bytes 0-29/30"}, body: "User-agent: *\nDisallow: /whol\n"}
status304.test: 304
status401.test: 401
status403.test: {status: 403, body: "<html>no</html>", cookies: 2}
status429.test: {status: 429, retry_after: 1}
status500.test: 500
status503.test: {status: [503, 503, 200], body: "User-agent: *\nDisallow: /third\n"}
status600.test: 600
reason.test: {status: 200, reason: "", body: "User-agent: *\nDisallow: /reason\n"}
version10.test: {version: "1.0", body: "User-agent: *\nDisallow: /old\n"}
headers.test: {headers: {Content-Type: "text/plain; charset=\xe9", Server: ["one", "two"], ETag: '"\u00e9"', Cache-Control: [no-store, max-age=9]}, body: "User-agent: *\nDisallow: /h\n"}
cookies.test: {cookies: 3, body: "User-agent: *\nDisallow: /c\n"}
many.test: {header_count: 200, body: "User-agent: *\nDisallow: /m\n"}
long.test: {header_bytes: 60KB, body: "User-agent: *\nDisallow: /m\n"}
toolong.test: {header_bytes: 100KB}
redirect.test: {redirect: "http://www.redirect.test/robots.txt"}
www.redirect.test: {body: "User-agent: *\nDisallow: /www\n"}
loop.test: {redirect: "http://loop.test/robots.txt"}
nowhere.test: {redirect: "mailto:a@example.test"}
bad.test: {status: 301}
hops3.test: {hops: 3, body: "User-agent: *\nDisallow: /three\n"}
hops9.test: {hops: 9, body: "User-agent: *\nDisallow: /nine\n"}
redirectfails.test: {redirect: "http://reset.test/robots.txt"}
html.test: {body: "<html><script>location.href = '/x'</script></html>", headers: {Content-Type: text/html}}
empty.test: {body: ""}
latin.test: {body: "User-agent: *\nDisallow: /caf\xe9\n"}
large.test: {pad: 500KiB, body: "User-agent: *\nDisallow: /large\n"}
exact.test: {pad: 512000, body: ""}
gzip.test: {encoding: gzip, pad: 20KiB, body: "User-agent: *\nDisallow: /gzip\n"}
br.test: {encoding: br, body: "User-agent: *\nDisallow: /br\n"}
zstd.test: {encoding: zstd, body: "User-agent: *\nDisallow: /zstd\n"}
largegzip.test: {encoding: gzip, pad: 600KiB, body: "User-agent: *\nDisallow: /large\n"}
liar.test: {headers: {Content-Encoding: gzip}, body: "User-agent: *\nDisallow: /liar\n"}
unknown.test: {headers: {Content-Encoding: none}, body: "User-agent: *\nDisallow: /unknown\n"}
bomb.test: {bomb: 10MiB}
interim.test: {interim: [103, 102], body: "User-agent: *\nDisallow: /interim\n"}
interimonly.test: {interim_only: 103}
probe.test: {status: 500, paths: {"/": 200, "*": 500}}
delay.test: {delay: 100ms, body: "User-agent: *\nDisallow: /slow\n"}
bodydelay.test: {body_delay: 100ms, body: "User-agent: *\nDisallow: /slow\n"}
resetstart.test: {reset: start}
resetheader.test: {reset: header, body: "User-agent: *\nDisallow: /r\n"}
resetbody.test: {reset: body, body: "User-agent: *\nDisallow: /r\n"}
reset.test: {reset: start}
close.test: {close: start}
closeheader.test: {close: header, body: "User-agent: *\nDisallow: /r\n"}
closebody.test: {close: body, body: "User-agent: *\nDisallow: /r\n"}
hang.test: {hang: start}
hangheader.test: {hang: header, body: "User-agent: *\nDisallow: /r\n"}
hangbody.test: {hang: body, body: "User-agent: *\nDisallow: /r\n"}
truncate.test: {truncate: 10, body: "User-agent: *\nDisallow: /r\n"}
truncategzip.test: {truncate: 30, encoding: gzip, body: "User-agent: *\nDisallow: /r\n"}
drip.test: {drip: {bytes: 7, every: 5ms, from: body}, body: "User-agent: *\nDisallow: /drip\n"}
dripheader.test: {drip: {bytes: 30, every: 5ms, from: header}, body: "User-agent: *\nDisallow: /drip\n"}
chunked.test: {framing: chunked, pad: 20KiB, body: "User-agent: *\nDisallow: /chunked\n"}
chunkedgzip.test: {framing: chunked, encoding: gzip, body: "User-agent: *\nDisallow: /chunked\n"}
chunkedlarge.test: {framing: chunked, pad: 600KiB, body: "User-agent: *\nDisallow: /chunked\n"}
closing.test: {framing: close, body: "User-agent: *\nDisallow: /closing\n"}
badchunk.test: {framing: bad_chunk, body: "User-agent: *\nDisallow: /bad\n"}
garbage.test: {garbage: true}
raw.test: {raw: "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"}
folded.test: {raw: "HTTP/1.1 200 OK\r\nServer: a\r\n b\r\nno colon\r\nTransfer-Encoding: identity\r\nContent-Length: 25\r\n\r\nUser-agent: *\nDisallow: /extra"}
malformed.test: {raw: "HTTP/1.1 200 OK\r\n\xff\xfe: \x01\r\n\r\nUser-agent: *\n"}
bare.test: {raw: "HTTP/1.1 200 OK\nContent-Type: text/plain\n\nUser-agent: *\nDisallow: /bare\n"}
trailer.test: {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1a\r\nUser-agent: *\nDisallow: /\n\r\n0\r\n"}
http09.test: {http09: true, body: "User-agent: *\nDisallow: /09\n"}
wrongname.test: {tls: wrong_name, body: "User-agent: *\nDisallow: /tls\n"}
expired.test: {tls: expired, body: "User-agent: *\nDisallow: /tls\n"}
untrusted.test: {tls: untrusted, body: "User-agent: *\nDisallow: /tls\n"}
tls10.test: {tls: tls10, body: "User-agent: *\nDisallow: /tls\n"}
tls12.test: {tls: tls12, body: "User-agent: *\nDisallow: /tls\n"}
unknownname.test: {tls: unknown_name}
plain.test: {tls: plain, body: "User-agent: *\nDisallow: /tls\n"}
handshake.test: {hang: handshake}
fine.test: {body: "User-agent: *\nDisallow: /fine\n"}
`

// faultyWeb serves everyFault over http and https.
func faultyWeb(t *testing.T) (http, https, ca, hosts string) {
	t.Helper()
	dir := t.TempDir()
	ca, addresses := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "addr")
	farm := exec.Command(filepath.Join(bin, "robofarm"), "serve", "--dir", "../../testdata/demo/hosts", "--http", "127.0.0.1:0", "--https", "127.0.0.1:0", "--ca-out", ca,
		"--addr-file", addresses, "--faults", write(t, filepath.Join(dir, "faults.yaml"), everyFault))
	farm.Stderr = os.Stderr
	must(t, farm.Start())
	t.Cleanup(func() {
		farm.Process.Signal(syscall.SIGTERM)
		farm.Wait()
	})
	var lines []string
	for deadline := time.Now().Add(20 * time.Second); len(lines) < 2; time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(addresses)
		lines = strings.Fields(string(text))
		if time.Now().After(deadline) {
			t.Fatal("the farm does not answer within 20 seconds")
		}
	}
	for _, line := range lines {
		if addr, ok := strings.CutPrefix(line, "http://"); ok {
			http = addr
		}
		if addr, ok := strings.CutPrefix(line, "https://"); ok {
			https = addr
		}
	}
	var list strings.Builder
	for line := range strings.Lines(everyFault) {
		if host, _, ok := strings.Cut(line, ": "); ok {
			list.WriteString(host + "\n")
		}
	}
	return http, https, ca, write(t, filepath.Join(dir, "hosts.txt"), list.String())
}

// The evidence of a run gives its tables again: whatever the hosts answer, over http,
// over https, and where https is given up for http.
func TestEvidenceGivesTheTablesAgain(t *testing.T) {
	t.Parallel()
	http, https, ca, hosts := faultyWeb(t)
	for name, args := range map[string][]string{
		"http":     {"--schemes", "http", "--connect-to", http, "--probe-misconfigured", "--warc-no-secrets"},
		"https":    {"--schemes", "https", "--connect-to", https, "--ca-file", ca},
		"fallback": {"--schemes", "https,http", "--connect-to", http, "--retries", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			evidence := filepath.Join(dir, name+".warc.gz")
			common := []string{"run", "--run", "r", "--profile", "google,rfc9309,google-2012", "--keep-bodies", "--progress", "none"}
			robocensus(t, 0, append(append(common, "--out", filepath.Join(dir, "out"), "--hosts", hosts, "--retries", "2", "--timeout", "4s", "--warc-out", evidence), args...)...)
			robocensus(t, 0, append(common, "--out", filepath.Join(dir, "again"), "--warc", evidence)...)
			wantTablesAgain(t, filepath.Join(dir, "out"), filepath.Join(dir, "again"))
			for _, run := range []string{"out", "again"} {
				if text, _ := robocensus(t, 0, "verify", "--out", filepath.Join(dir, run), "r"); !strings.HasSuffix(text, ": whole\n") {
					t.Errorf("verify says %s", text)
				}
			}
		})
	}
}

// without are the columns that a run of the evidence of another has otherwise: those of
// the input, and where the answer is from. The times are the same.
var without = map[string]string{
	"fetches":     "* EXCLUDE (seq, input, rank, source, warc_file, warc_offset, warc_length)",
	"policies":    "* EXCLUDE (seq, rank)",
	"verdicts":    "* EXCLUDE (seq, rank)",
	"preferences": "* EXCLUDE (seq, rank)",
	"templates":   "* EXCLUDE (seq, rank)",
	"agents":      "*",
	"bodies":      "*",
	"examples":    "* EXCLUDE rank",
	"summary":     "metric, agent, category, profile, key, sum(count)",
}

// wantTablesAgain checks that run r of both folders has the same rows in every table, but
// for the columns that are left out, in the same order.
func wantTablesAgain(t *testing.T, want, got string) {
	t.Helper()
	db := bare(t)
	folders, err := filepath.Glob(filepath.Join(want, "*", "run=r"))
	must(t, err)
	if len(folders) < 14 {
		t.Errorf("%d tables", len(folders))
	}
	for _, folder := range folders {
		table := filepath.Base(filepath.Dir(folder))
		columns := without[table]
		if columns == "" {
			columns = "* EXCLUDE seq"
		}
		rows := func(dir string) string {
			text := fmt.Sprintf("SELECT %s FROM read_parquet('%s/%s/run=r/*.parquet', hive_partitioning = false)", columns, dir, table)
			if table == "summary" {
				text += " WHERE metric NOT IN ('source', 'captured') GROUP BY ALL"
			}
			return "(" + text + ")"
		}
		lost := one(t, db, fmt.Sprintf("SELECT count(*) FROM (%s EXCEPT ALL %s)", rows(want), rows(got)))
		made := one(t, db, fmt.Sprintf("SELECT count(*) FROM (%s EXCEPT ALL %s)", rows(got), rows(want)))
		if lost != "0" || made != "0" {
			_, a, _ := ask(db, rows(want)+" EXCEPT ALL "+rows(got)+" ORDER BY ALL LIMIT 3")
			_, b, _ := ask(db, rows(got)+" EXCEPT ALL "+rows(want)+" ORDER BY ALL LIMIT 3")
			t.Errorf("%s: %s rows are lost, such as\n%s\nand %s should not be there, such as\n%s", table, lost, a, made, b)
		}
	}
	order := func(dir string) string {
		return one(t, db, fmt.Sprintf("SELECT string_agg(origin, ' ' ORDER BY seq) FROM read_parquet('%s/fetches/run=r/*.parquet')", dir))
	}
	if a, b := order(want), order(got); a != b || a == "" {
		t.Errorf("the order of targets is\n%s\nwant\n%s", b, a)
	}
}
