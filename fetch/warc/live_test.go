package warc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
)

// oddAnswers are answers that servers give and no specification has, by name.
func oddAnswers() map[string]string {
	const rules = "User-agent: *\nDisallow: /private/\n"
	const length = "Content-Length: 34\r\n\r\n" + rules
	const ok = "HTTP/1.1 200 OK\r\n"
	chunks := fmt.Sprintf("\r\n%x\r\n%s\r\n0\r\n\r\n", len(rules), rules)
	packed := string(gzipped(rules))
	all := map[string]string{
		"DEL":                ok + "Set-Cookie: a=\x7fb\r\n" + length,
		"NUL":                ok + "X: a\x00b\r\n" + length,
		"CR":                 ok + "X: a\rb\r\n" + length,
		"escape":             ok + "X: \x1b[1m\r\n" + length,
		"a hyphen":           ok + "X\u2010Any: 1\r\n" + length,
		"a parenthesis":      ok + "X(y): 1\r\n" + length,
		"a blank first":      ok + " X: 1\r\n" + length,
		"a colon first":      ok + ": 1\r\n" + length,
		"no colon":           ok + "nonsense\r\n" + length,
		"a fold":             ok + "X: a\r\n b\r\n" + length,
		"a fold of a length": ok + "Content-Length:\r\n 34\r\n\r\n" + rules,
		"Latin-1":            ok + "Server: caf\xe9\r\n" + length,
		"many lines":         ok + strings.Repeat("X: y\r\n", 2000) + length,
		"DEL in a 404":       "HTTP/1.1 404 Not Found\r\nX: \x7f\r\n\r\nno",
		"a hyphen in a 503":  "HTTP/1.1 503 Busy\r\nX\u2010Any: 1\r\n\r\nno",
		"a length of a 404":  "HTTP/1.1 404 Not Found\r\nContent-Length: x\r\n\r\nno",

		"no reason":   "HTTP/1.1 200\r\n" + length,
		"two blanks":  "HTTP/1.1  200 OK\r\n" + length,
		"no blank":    "HTTP/1.1 200OK\r\n" + length,
		"lower case":  "http/1.1 200 OK\r\n" + length,
		"HTTP/1.2":    "HTTP/1.2 200 OK\r\n" + length,
		"HTTP/2":      "HTTP/2 200\r\n" + length,
		"NCSA":        "HTTP 200 Document follows\r\n" + length,
		"HTTP/0.9":    "HTTP/0.9 200 OK\r\n" + length,
		"four digits": "HTTP/1.1 2000 OK\r\n" + length,
		"two digits":  "HTTP/1.1 20 OK\r\n" + length,
		"LF":          "HTTP/1.1 200 OK\nContent-Length: 34\n\n" + rules,

		"a list of a length":       ok + "Content-Length: 34, 34\r\n\r\n" + rules,
		"a length twice":           ok + "Content-Length: 34\r\n" + length,
		"two lengths":              ok + "Content-Length: 33\r\n" + length,
		"a sign":                   ok + "Content-Length: +34\r\n\r\n" + rules,
		"no number":                ok + "Content-Length: x\r\n\r\n" + rules,
		"an empty length":          ok + "Content-Length:\r\n\r\n" + rules,
		"a blank before the colon": ok + "Content-Length : 34\r\n\r\n" + rules,
		"DEL in a length":          ok + "Content-Length: 3\x7f\r\n\r\n" + rules,
		"too short":                ok + "Content-Length: 99\r\n\r\n" + rules,
		"204":                      "HTTP/1.1 204 No Content\r\n" + length,

		"identity":            ok + "Transfer-Encoding: identity\r\n" + length,
		"CHUNKED":             ok + "TRANSFER-ENCODING: CHUNKED\r\n" + chunks,
		"chunked twice":       ok + "Transfer-Encoding: chunked, chunked\r\n" + chunks,
		"chunks and a length": ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n" + chunks,
		"chunks over 1.0":     "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n" + chunks,
		"another coding":      ok + "Transfer-Encoding: foo\r\n\r\n" + rules,

		"text called gzip":           ok + "Content-Encoding: gzip\r\n" + length,
		"gzip twice":                 ok + "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\n" + packed,
		"gzip, gzip":                 ok + "Content-Encoding: gzip, gzip\r\n\r\n" + packed,
		"gzip without a word":        ok + "\r\n" + packed,
		"br called gzip":             ok + "Content-Encoding: gzip\r\nContent-Length: 6\r\n\r\n\x8b\x02\x80abc",
		"an unknown coding":          ok + "Content-Encoding: none\r\n" + length,
		"an unknown coding of bytes": ok + "Content-Encoding: none\r\nContent-Length: 2\r\n\r\n\x00\xff",
		"gzip that is broken":        ok + "Content-Encoding: gzip\r\n\r\n" + packed[:12] + "\xff\xff\xff\xff" + packed[16:],

		"no escape":         "HTTP/1.1 302 Found\r\nLocation: /a%zz\r\n\r\n",
		"DEL in a Location": "HTTP/1.1 302 Found\r\nLocation: /a\x7fb\r\n\r\n",
		"a backslash":       "HTTP/1.1 302 Found\r\nLocation: \\a\r\n\r\n",
	}
	files, _ := filepath.Glob("../../../shared/conformance/reports/answer-*.http")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			all[filepath.Base(file)] = string(text)
		}
	}
	return all
}

// The same bytes read alike from the network, from an archive, and from the records that the
// census makes of them, and with the status and body that curl gives if it takes them.
func TestOddAnswersReadAlikeLiveAndStored(t *testing.T) {
	curl, _ := exec.LookPath("curl")
	if curl == "" {
		t.Log("without curl, which is not installed")
	}
	// Curl takes one of two lengths, and "3" of what is no number, and bytes in a coding that it does not know.
	others := map[string]bool{"two lengths": true, "DEL in a length": true, "an unknown coding of bytes": true}
	taken, refused, same := 0, 0, 0
	for name, text := range oddAnswers() {
		t.Run(name, func(t *testing.T) {
			at := serve(t, func(string) string { return text })
			c, err := client.New(client.Config{
				UserAgent: "test", Timeout: 5 * time.Second, Limits: fetch.Limits{MaxBody: limit}, Concurrency: 1, PerAddress: 1,
				PerDomain: 1, Record: true, ConnectTo: at,
			}, client.Backing{Waiting: 1})
			must(t, err)
			lease, err := c.Enter(t.Context(), t.Context())
			must(t, err)
			defer lease.Leave()
			got := lease.Fetch(0, fetch.Origin{Scheme: "https", Host: "a.test", Port: 443}.WithScheme("http"))
			live := told(got)
			if got.Error == "redirect_limit" { // nothing follows it
				live = strings.Replace(live, "redirect_limit", "", 1)
			}
			if stored := told(&one(t, warcRecord(strings.Replace(warcFields("a.test"), "https", "http", 1),
				text)).Capture); stored != live {
				t.Errorf("live   %s\nstored %s", live, stored)
			}
			file, err := (&Evidence{MaxBody: limit}).Capture(got, lease.Exchanges())
			must(t, err)
			kept, damages, _ := readAll(t, bytes.NewReader(file))
			if len(kept) != 1 || damages != nil || told(&kept[0].Capture) != told(got) {
				t.Errorf("of the records of %s: %d captures, damages %q", live, len(kept), damages)
			}
			if curl == "" {
				return
			}
			args := []string{"-q", "-sS", "-m", "5", "--compressed", "-w", "\n%{http_code}", "http://" + at.String() +
				"/robots.txt"}
			out, err := exec.Command(curl, args...).Output()
			i := bytes.LastIndexByte(out, '\n')
			switch status, body := string(out[i+1:]), string(out[:max(i, 0)]); {
			case err != nil:
				refused++
			case fmt.Sprint(got.Status()) == status && (got.Status() != 200 || string(got.Whole()) == body):
				same++
				taken++
			default:
				taken++
				if !others[name] && !(strings.HasPrefix(name, "gzip") && got.Error == "") {
					t.Errorf("curl %s %q; live %s", status, body, live)
				}
			}
		})
	}
	t.Logf("curl takes %d answers, %d of them alike, and refuses %d", taken, same, refused)
}

func told(c *fetch.Capture) string {
	remark := ""
	if c.Error == "" && c.Err != nil {
		remark = c.Err.Error()
	}
	return fmt.Sprintf("%s %d %s %q %s", c.HTTPVersion, c.Status(), c.Error, c.Whole(), remark)
}
