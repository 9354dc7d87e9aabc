//go:build unix

package main

import (
	"encoding/pem"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// capture is a record of a WARC file.
func capture(host, body string) string {
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + body
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://%s/robots.txt\r\n"+
		"WARC-Date: 2026-11-20T10:00:00Z\r\nWARC-Record-ID: <urn:uuid:%[1]s>\r\nContent-Type: application/http; "+
		"msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", host, len(block), block)
}

// signedServer serves files over https to those who sign, and returns its URL and a
// file of its certificate. It redirects from /moved/ to another server of the same files.
func signedServer(t *testing.T, files map[string]string, signature string) (url, certificate string,
	referers func() []string) {
	var mu sync.Mutex
	var seen []string
	handle := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if referer := r.Header.Get("Referer"); referer != "" {
			seen = append(seen, referer)
		}
		mu.Unlock()
		content, ok := files[strings.TrimPrefix(r.URL.Path, "/moved")]
		switch {
		case !strings.Contains(r.URL.RawQuery, signature):
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/moved/"):
			http.Redirect(w, r, strings.TrimPrefix(r.URL.String(), "/moved"), http.StatusFound)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
		}
	}
	server := httptest.NewTLSServer(http.HandlerFunc(handle))
	t.Cleanup(server.Close)
	certificate = filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: server.Certificate().Raw}), 0o666))
	return server.URL, certificate, func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(seen) }
}

// The signature of a URL is in no file and no output, whatever is read from such URLs
// and whatever goes wrong, and no server gets another one's. A run is continued with
// another signature of the same archives. An archive that is named twice is read once.
func TestSignaturesStayAtHome_NoRace(t *testing.T) {
	t.Parallel()
	const secret = "5ec7e700"
	files := map[string]string{
		"/a.warc": capture("a.example", "User-agent: *\nDisallow: /\n") + capture("b.example",
			"User-agent: GPTBot\nDisallow: /\n"),
		"/b.warc":      capture("c.example", "User-agent: *\nDisallow:\n") + "WARC/1.0\r\nbroken",
		"/agents.yaml": "- {name: GPTBot}\n", "/urls.txt": "/\n/x\nhttps://nowhere.example/y\n",
		"/ranks.csv":   "1,a.example\n2,b.example\n",
		"/config.yaml": "tables: [fetches, policies, verdicts, summary, agents, examples]\n", "/bad.yaml": "- [\n",
		"/expect.yaml": "- {name: open, hosts: [a.example], verdict: allow, agents: [GPTBot], urls: [/]}\n", "/empty": "",
		"/hosts.txt": "a.example\nb.example\n-bad-\n",
	}
	url, certificate, referers := signedServer(t, files, secret)
	signed := func(name string) string { return url + name + "?X-Amz-Date=1&X-Amz-Signature=" + secret }
	files["/paths.txt"] = signed("/moved/a.warc") + "\n" + signed("/b.warc") + "\n" + signed("/./b%2Ewarc") + "\n" +
		strings.Replace(signed("/moved/a.warc"), "https://", "HTTPS://", 1) + "\n"
	files["/gone.txt"] = signed("/gone.warc")
	out, set := t.TempDir(), filepath.Join(t.TempDir(), "set")
	var said strings.Builder
	call := func(code int, args ...string) string {
		t.Helper()
		c := command(args...)
		c.Env = append(c.Env, "SSL_CERT_FILE="+certificate)
		text, _ := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != code {
			t.Errorf("robocensus %q: exit code %d, want %d: %s", args, got, code, text)
		}
		said.Write(text)
		return string(text)
	}
	census := func(more ...string) []string {
		return append([]string{"run", "--out", out, "--progress", "none", "--tables",
			"fetches,policies,verdicts,summary,examples", "--agents", signed("/agents.yaml"), "--urls", signed("/urls.txt")},
			more...)
	}
	call(1, census("--run", "a", "--warc-paths", signed("/paths.txt"), "--ranks", signed("/ranks.csv"), "--config",
		signed("/config.yaml"), "--expect", signed("/expect.yaml"), "--hosts", signed("/hosts.txt"))...)
	call(0, census("--run", "b", "--warc", signed("/moved/a.warc"), "--warc", signed("/b.warc"), "--warc",
		signed("/b.warc"))...)
	if text := call(0, census("--run", "b", "--resume", "--warc", signed("/moved/a.warc")+"&X-Amz-Date=2", "--warc",
		signed("/b.warc")+"&X-Amz-Date=2")...); !strings.HasPrefix(text, "nothing to do") {
		t.Errorf("with another signature: %s", text)
	}
	call(65, census("--warc-paths", signed("/gone.txt"))...)
	call(65, census("--warc", signed("/gone.warc"))...)
	call(65, census("--warc", signed("/empty"))...)
	call(65, census("--warc-paths", signed("/empty"))...)
	call(65, census("--bodies", signed("/b.warc"))...)
	call(65, census("--hosts", signed("/gone"))...)
	call(65, census("--warc", signed("/a.warc"), "--config", signed("/bad.yaml"))...)
	call(64, census("--warc-paths", signed("/paths.txt"), "--warc-base", signed(""))...)
	call(64, "run", "a.example", "--out", signed("/x"))
	call(64, "run", "a.example", "--out", out, "--state", signed("/x"))
	call(64, "plan", "--out", out, "--run", "p", "--shards", "2", "--hosts", signed("/hosts.txt"), "--agents",
		signed("/agents.yaml"))
	call(65, "plan", "--out", out, "--run", "p", "--shards", "2", "--warc-paths", signed("/paths.txt"))
	call(0, "plan", "--out", out, "--run", "p", "--shards", "2", "--hosts", signed("/hosts.txt"))
	call(65, "run", "a.example", "--out", out, "--agents", strings.Replace(signed("/x"), "https", "http", 1))
	call(1, "diff", "--out", out, "a", "b", "--expect", signed("/expect.yaml"))
	call(0, "report", "--out", out, "a", "--html", filepath.Join(out, "report.html"))
	plain := strings.Replace(signed("/x"), "https", "http", 1)
	call(65, census("--hosts", plain)...)
	call(65, census("--from-run", signed("/x"))...)
	call(65, census("--from-run", plain)...)
	call(65, "check", "--out", out, "--run", "a", "--agent", "GPTBot", "--urls", plain)
	call(64, "reproduce", signed("/x"))
	call(65, "reproduce", out, "--bodies", signed("/x"))
	call(74, "report", "--out", out, "a", "--html", signed("/x"))
	call(65, "series", "--out", out, "--weights", signed("/paths.txt"))
	call(0, "verify", "--out", out, "b")
	call(0, "runs", "--out", out, "--json")
	call(0, "publish", "--out", out, "a", "b", "--to", set, "--creator", "Doe, Jane", "--licence", "CC-BY-4.0")
	fetches := call(0, "export", "--out", out, "b", "fetches")
	for _, name := range []string{"/moved/a.warc", "/b.warc"} {
		if !strings.Contains(fetches, url+name) {
			t.Errorf("warc_file does not name %s", url+name)
		}
	}
	rejected, err := os.ReadFile(filepath.Join(out, "_runs/a/rejected.csv"))
	must(t, err)
	for _, row := range []string{"3," + url + "/./b%2Ewarc,duplicate: the same archive as " + url +
		"/b.warc,warc-paths\n", "4,", "damaged_record"} {
		if !strings.Contains(string(rejected), row) {
			t.Errorf("rejected.csv lacks %q:\n%s", row, rejected)
		}
	}
	if strings.Contains(said.String(), secret) {
		t.Errorf("said:\n%s", said.String())
	}
	for _, dir := range []string{out, set} {
		must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			if strings.Contains(string(content), secret) {
				t.Errorf("the signature is in %s", path)
			}
			return err
		}))
	}
	if seen := referers(); len(seen) > 0 {
		t.Errorf("referers %q", seen)
	}
}

// A server of archives does not choose what this machine asks in its own network.
func TestArchivesThatRedirectInwards(t *testing.T) {
	t.Parallel()
	inner, _, _ := signedServer(t, map[string]string{"/a.warc": capture("a.example", "User-agent: *\n")}, "")
	server := httptest.NewTLSServer(http.RedirectHandler(inner+"/a.warc", http.StatusFound))
	t.Cleanup(server.Close)
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: server.Certificate().Raw}), 0o666))
	for _, row := range []struct {
		code int
		says string
		more []string
	}{{65, "127.0.0.1, a special address, which only robocensus run --allow-private asks", nil},
		{0, "1 capture judged", []string{"--allow-private"}}} {
		c := command(append([]string{"run", "--warc", server.URL + "/x.warc", "--out", t.TempDir(), "--tables", "fetches",
			"--progress", "none"}, row.more...)...)
		c.Env = append(c.Env, "SSL_CERT_FILE="+certificate)
		text, _ := c.CombinedOutput()
		if code := c.ProcessState.ExitCode(); code != row.code || !strings.Contains(string(text), row.says) {
			t.Errorf("%v: exit code %d, want %d: %s", row.more, code, row.code, text)
		}
	}
}
