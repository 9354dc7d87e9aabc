package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// misbehaviour holds a fault of every kind whose outcome does not depend on how
// often or how fast a host is asked. The hosts again*.test are retried.
const misbehaviour = `
"hang*.test": {hang: start}
"huge.test": {pad: 500KiB, body_from: "*"}
"again*.test":
  - {share: 40%, status: 500}
  - {share: 30%, truncate: 10, body: "User-agent: *\nDisallow: /private\n"}
  - {close: start}
"www.h*.test": {body: "User-agent: *\nDisallow: /of/{1}\nSitemap: http://{host}/map.xml\n"}
"h*.test":
  - {share: 5%, status: 404}
  - {share: 1%, status: 403}
  - {share: 1%, status: 410}
  - {share: 1%, status: 429, retry_after: 1}
  - {share: 3%, redirect: "http://www.{host}/robots.txt"}
  - {share: 1%, redirect: "http://{host}/robots.txt"}
  - {share: 1%, redirect: "file:///etc/robots.txt"}
  - {share: 1%, hops: 3, body_from: "*"}
  - {share: 1%, hops: 9, body_from: "*"}
  - {share: 1%, garbage: true}
  - {share: 1%, raw: "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"}
  - {share: 1%, framing: bad_chunk, body_from: "*"}
  - {share: 1%, framing: chunked, body_from: "*"}
  - {share: 1%, framing: close, body_from: "*"}
  - {share: 1%, interim: [103], body_from: "*"}
  - {share: 1%, interim_only: 103}
  - {share: 1%, http09: true, body_from: "*"}
  - {share: 1%, encoding: gzip, body_from: "*"}
  - {share: 1%, encoding: br, body_from: "*"}
  - {share: 1%, encoding: zstd, body_from: "*"}
  - {share: 1%, body: "<html><body>Not found</body></html>", headers: {Content-Type: text/html}}
  - {share: 1%, headers: {Content-Type: text/plain, Server: farm, ETag: '"{1}"', Cache-Control: max-age=60}, body_from: "*"}
  - {share: 0.2%, pad: 500KiB, body_from: "*"}
  - {share: 0.1%, bomb: 1MiB}
  - {share: 0.5%, header_bytes: 100KB}
  - {share: 10%, body: "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private/{1}\nContent-Signal: ai-train=no\n# we use Shopify as our ecommerce platform\n"}
  - {body_from: "*"}
`

// web is a farm of hosts, and the input files of a census of them.
type web struct {
	addr               string
	hosts, agents, url string
}

// newWeb serves n hosts and those of more. Its list also has lines that name no
// host.
func newWeb(t *testing.T, n int, latency string, more ...string) *web {
	t.Helper()
	dir := t.TempDir()
	addresses := filepath.Join(dir, "addr")
	farm := exec.Command(filepath.Join(bin, "robofarm"), "serve", "--dir", "../../testdata/demo/hosts", "--http",
		"127.0.0.1:0",
		"--addr-file", addresses, "--latency", latency, "--faults", write(t, filepath.Join(dir, "faults.yaml"), misbehaviour))
	farm.Stderr = os.Stderr
	must(t, farm.Start())
	t.Cleanup(func() {
		farm.Process.Signal(syscall.SIGTERM)
		farm.Wait()
	})
	w := &web{}
	for deadline := time.Now().Add(20 * time.Second); w.addr == ""; time.Sleep(time.Millisecond) {
		if text, err := os.ReadFile(addresses); err == nil {
			w.addr = strings.TrimPrefix(strings.TrimSpace(string(text)), "http://")
		}
		if time.Now().After(deadline) {
			t.Fatal("the farm does not answer within 20 seconds")
		}
	}
	var list strings.Builder
	list.WriteString("host,rank,url\n")
	for _, host := range more {
		fmt.Fprintf(&list, "%s,,\n", host)
	}
	for i := range n {
		fmt.Fprintf(&list, "h%d.test,%d,\n", i, i+1)
		switch i % 50 {
		case 7: // a host with URLs of its own
			fmt.Fprintf(&list, "h%[1]d.test,,/private/%[1]d\nh%[1]d.test,,http://h%[1]d.test/search?q=%[1]d\n", i)
		case 21:
			fmt.Fprintf(&list, "no host %d,,\nh%d.test,,\nh%d.test,,/late\ngopher://h%d.test/,,\n", i, i/2, i/3, i)
		}
	}
	w.hosts = write(t, filepath.Join(dir, "hosts.csv"), list.String())
	w.agents = write(t, filepath.Join(dir, "agents.yaml"), "- {name: GPTBot}\n- {name: Googlebot}\n- {name: Nobody}\n")
	w.url = write(t, filepath.Join(dir, "urls.txt"), "/private/7?x=1\nhttp://h100.test/of/100\nhttp://nowhere.test/\n")
	return w
}

// census returns the arguments of a run r over the web.
func (w *web) census(dir string, args ...string) []string {
	return append([]string{
		"run", "--hosts", w.hosts, "--out", dir, "--run", "r", "--schemes", "http", "--connect-to", w.addr, "--agents",
		w.agents, "--urls", w.url,
		"--profile", "google,rfc9309", "--keep-bodies", "--retries", "1", "--timeout", "10s", "--concurrency", "64",
		"--progress", "none",
	}, args...)
}

// robocensus runs the command, checks its exit code, and returns its output.
func robocensus(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	return finish(t, code, exec.Command(filepath.Join(bin, "robocensus"), args...))
}

func finish(t *testing.T, code int, c *exec.Cmd) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	c.Stdout, c.Stderr = &out, &err
	e := c.Run()
	var exit *exec.ExitError
	if e != nil && !errors.As(e, &exit) || c.ProcessState.ExitCode() != code {
		t.Fatalf("%s: %v, want exit code %d\n%s%s", strings.Join(c.Args, " "), c.ProcessState, code, &out, &err)
	}
	return out.String(), err.String()
}

// asked returns the farm's requests by host since its reset.
func (w *web) asked(t *testing.T) map[string]int64 {
	t.Helper()
	resp, err := http.Get("http://" + w.addr + "/_farm?hosts=1")
	must(t, err)
	defer resp.Body.Close()
	var report struct {
		ByHost []struct {
			Name     string
			Requests int64
		} `json:"by_host"`
	}
	must(t, json.NewDecoder(resp.Body).Decode(&report))
	requests := make(map[string]int64)
	for _, h := range report.ByHost {
		requests[h.Name] = h.Requests
	}
	return requests
}

func (w *web) reset(t *testing.T) {
	t.Helper()
	resp, err := http.Get("http://" + w.addr + "/_farm/reset")
	must(t, err)
	resp.Body.Close()
}
