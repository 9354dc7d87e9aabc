package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A group of hosts has not moved less than another because most of it is down: in both a fifth of
// the hosts that can be read shut an agent out.
func TestOutagesHideNoGroup_NoRace(t *testing.T) {
	t.Parallel()
	var later atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var group byte
		var n int
		fmt.Sscanf(r.Host, "%c%d.example", &group, &n)
		switch {
		case later.Load() && group == 'b' && n/10%5 > 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case later.Load() && n%5 == 0:
			fmt.Fprint(w, "User-agent: GPTBot\nDisallow: /\n")
		default:
			fmt.Fprint(w, "User-agent: *\nDisallow: /x\n")
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	list := "host,group\n"
	for n := range 250 {
		list += fmt.Sprintf("a%d.example,a\nb%[1]d.example,b\n", n)
	}
	hosts, agents := filepath.Join(dir, "hosts.csv"), filepath.Join(dir, "agents.yaml")
	must(t, os.WriteFile(hosts, []byte(list), 0o666))
	must(t, os.WriteFile(agents, []byte("- {name: GPTBot, category: ai-training}\n"), 0o666))
	out := filepath.Join(dir, "out")
	for i, run := range []string{"r1", "r2"} {
		later.Store(i > 0)
		call(t, 0, "run", "--hosts", hosts, "--label", "group", "--agents", agents, "--out", out, "--run", run, "--as-of",
			fmt.Sprintf("2026-11-0%d", i+1), "--schemes", "http", "--connect-to", server.Listener.Addr().String(), "--retries",
			"0", "--progress", "none")
	}
	text := call(t, 0, "diff", "--out", out, "r1", "r2")
	if !strings.Contains(text, "GPTBot") || strings.Contains(text, "by more than chance") {
		t.Errorf("diff says\n%s", text)
	}
}
