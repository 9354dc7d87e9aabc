package writers

import (
	"compress/gzip"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A site answers for hosts of the loopback network, 127.0.0.2 and up. What a host answers
// changes with its version.
type site struct {
	url func(host int) string

	mu       sync.Mutex
	versions map[int]int // by host
}

// forms are how hosts answer; a host has that of its number.
var forms = []string{"plain", "chunked", "gzip", "plain", "moved", "missing", "alike"}

func newSite(t *testing.T) *site {
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{versions: make(map[int]int)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	port := l.Addr().(*net.TCPAddr).Port
	s.url = func(host int) string { return fmt.Sprintf("http://127.0.0.%d:%d/robots.txt", host, port) }
	return s
}

func form(host int) string { return forms[host%len(forms)] }

// rules are what a host's robots.txt says in a version. Those of the hosts that are alike
// are the same, and those of hosts that say it with a 404.
func rules(host, version int) string {
	if form(host) == "alike" || form(host) == "missing" {
		host = 0
	}
	sum := fnv.New64()
	fmt.Fprint(sum, host, version)
	return fmt.Sprintf("User-agent: *\nDisallow: /%x\n%s", sum.Sum64(), strings.Repeat("# a comment of a host\n", 40))
}

func (s *site) version(host int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.versions[host]
}

func (s *site) change(host int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions[host]++
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	var host int
	fmt.Sscanf(r.Host, "127.0.0.%d:", &host)
	body := rules(host, s.version(host))
	w.Header().Set("Content-Type", "text/plain")
	switch form(host) {
	case "chunked":
		fmt.Fprint(w, body[:100])
		http.NewResponseController(w).Flush()
		body = body[100:]
	case "gzip":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, body)
		z.Close()
		return
	case "moved":
		if r.URL.Path == "/robots.txt" {
			w.Header().Set("Location", "/rules")
			w.WriteHeader(http.StatusFound)
			return
		}
	case "missing":
		w.WriteHeader(http.StatusNotFound)
	}
	fmt.Fprint(w, body)
}

// An archive is what a writer wrote.
type archive struct {
	name  string
	files []string
	// bodies are what each host last said: its rules, "" for none. Hosts that are missing
	// here are not in the archive.
	bodies map[string]string
	// versions are all that each host said.
	versions    map[string][]string
	alwaysThere bool // the site was not asked
	// elsewhere are the hosts whose last answer is a revisit of what is in none of the files.
	elsewhere map[string]bool
}
