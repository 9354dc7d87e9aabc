package compare

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"html"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var httrackFiles = flag.Int("httrack-files", 0, "files that HTTrack itself is asked about (0: a few)")

// HTTrack itself, as Debian 12 packages it, beside its profile: on files that name it and on
// files made to be misread. It reads one page of each host through a proxy, and its log
// says which of the links robots.txt forbids. No other host is asked.
func TestHTTrackReadsAsItsProfile(t *testing.T) {
	program, err := exec.LookPath("httrack")
	if err != nil {
		t.Skip("httrack is not installed (Debian's package httrack)")
	}
	version, _ := exec.Command(program, "--version").Output()
	if !bytes.Contains(version, []byte("3.49-4")) {
		t.Skipf("this is %s; the profile is 3.49.4", bytes.TrimSpace(version))
	}
	files := *httrackFiles
	if files == 0 {
		if files = 4; testing.Short() {
			files = 2
		}
	}
	d := newDrawer(t, 1, "HTTrack")
	asked, missed, skipped, closed := 0, 0, 0, 0
	for files > 0 {
		batch := make([]file, min(files, 25))
		files -= len(batch)
		for i := range batch {
			batch[i] = d.drawFor(t, "httrack", 1000)
		}
		answers := askHTTrack(t, program, batch)
		for i := range batch {
			for k, got := range ask(t, "httrack", &batch[i]) {
				want := answers[i][k]
				if want == "0" {
					closed++
				}
				switch {
				case want == "":
					skipped++
				case want != got:
					if missed++; missed <= *drawMisses {
						t.Logf("%s: httrack %s, profile %s\n%.30000q", batch[i].urls[k], want, got, batch[i].body)
					}
					fallthrough
				default:
					asked++
				}
			}
		}
	}
	t.Logf("asked %d, of which HTTrack forbids %d and the profile misses %d; %d are no links to HTTrack", asked, closed,
		missed, skipped)
	// What it misses are surrogates and the like; a file can be full of them (SPECIFICATION.md, 9).
	if missed*50 > asked || closed == 0 {
		t.Errorf("the profile misses %d of %d", missed, asked)
	}
}

const marker = "/qq-mark-"

// askHTTrack returns 1 or 0 for each URL, or nothing if HTTrack finds no link there.
func askHTTrack(t *testing.T, program string, files []file) [][]string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.Host, "h"), ".example"))
		if err != nil || n >= len(files) {
			http.Error(w, r.Host, http.StatusNotFound)
			return
		}
		switch r.URL.Path {
		case "/robots.txt":
			w.Header().Set("Content-Type", "text/plain")
			w.Write(files[n].body)
		case "/start.html":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			for k, u := range files[n].urls {
				fmt.Fprintf(w, "<a href=\"http://%s%s%d\">m</a><a href=\"http://%s%s\">x</a>\n", r.Host, marker, k, r.Host,
					html.EscapeString(u))
			}
		}
	})}
	go server.Serve(listener)
	defer server.Close()

	dir := t.TempDir()
	var starts bytes.Buffer
	for n := range files {
		fmt.Fprintf(&starts, "http://h%d.example/start.html\n", n)
	}
	list := filepath.Join(dir, "starts")
	if err := os.WriteFile(list, starts.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(30+6*len(files))*time.Second)
	defer cancel()
	out := filepath.Join(dir, "out")
	c := exec.CommandContext(ctx, program, "-P", listener.Addr().String(), "-O", out, "-r2", "-c32", "-%c1000",
		"-A1000000000", "--disable-security-limits",
		"-q", "-I0", "-%v0", "-o0", "-R0", "-T20", "-%L", list, "-Z", "-*")
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return readHTTrackLog(t, filepath.Join(out, "hts-log.txt"), files)
}

var (
	linkTest = regexp.MustCompile(`wizard link test at h(\d+)\.example(/.*)\.\.$`)
	markedAs = regexp.MustCompile(`^` + marker + `(\d+)$`)
)

// readHTTrackLog reads what HTTrack says of each link behind its marker.
func readHTTrackLog(t *testing.T, name string, files []file) [][]string {
	t.Helper()
	answers := make([][]string, len(files))
	at := make([]int, len(files)) // the last marker
	for n := range files {
		answers[n], at[n] = make([]string, len(files[n].urls)), -1
	}
	log, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	host, forbidden := -1, false
	r := bufio.NewScanner(log)
	r.Buffer(nil, 1<<20)
	for r.Scan() {
		line := r.Text()
		if m := linkTest.FindStringSubmatch(line); m != nil {
			host, _ = strconv.Atoi(m[1])
			forbidden = false
			if k := markedAs.FindStringSubmatch(m[2]); k != nil {
				at[host], _ = strconv.Atoi(k[1])
				host = -1
			}
		}
		forbidden = forbidden || strings.Contains(line, "(robots.txt) forbidden link")
		if strings.Contains(line, "result for wizard link test") && host >= 0 && at[host] >= 0 {
			answers[host][at[host]] = map[bool]string{true: "0", false: "1"}[forbidden]
			host = -1
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return answers
}
