package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// archiveFiles returns the files that a crawl publishes: archives in the manner of
// Common Crawl, one gzip member to a record, and the list of them.
func (h *twelveCrawls) archiveFiles(c int) map[string][]byte {
	now := &h.crawls[c]
	captures := h.captures(c, everySite)
	archives := max(3, min(8, len(captures)/4000))
	files := make(map[string][]byte)
	var list bytes.Buffer
	for k := range archives {
		path := fmt.Sprintf("crawl-data/%s/segments/%d/robotstxt/%s-%05d.warc.gz", now.id, k%2, now.id, k)
		list.WriteString(path + "\n")
		var out bytes.Buffer
		w := &recordWriter{out: &out, id: fmt.Sprintf("%s-%d", now.id, k)}
		w.record("warcinfo", "application/warc-fields", "", now.day, "software: none\r\n")
		// Later captures of a host are in later archives.
		from, to := len(captures)*k/archives, len(captures)*(k+1)/archives
		for i := from; i < to; i++ {
			w.capture(captures[i], now.captured(i, len(captures)))
		}
		files["/"+path] = out.Bytes()
	}
	var paths bytes.Buffer
	z := gzip.NewWriter(&paths)
	z.Write(list.Bytes())
	z.Close()
	files["/"+now.list()] = paths.Bytes()
	return files
}

func (c *crawl) list() string { return "crawl-data/" + c.id + "/robotstxt.paths.gz" }

// captured returns the time of a capture. Three of five are of the day of the crawl; a
// crawl that gives its day by hand was stored with wrong clocks.
func (c *crawl) captured(i, of int) time.Time {
	at := c.day.Add(time.Duration((1.66*float64(i)/float64(of) - 0.33) * 24 * float64(time.Hour)))
	if c.asOf != "" {
		at = at.AddDate(-9, 0, 0)
	}
	return at
}

// recordWriter writes WARC records.
type recordWriter struct {
	out *bytes.Buffer
	zip *gzip.Writer
	id  string
	n   int
}

func (w *recordWriter) record(kind, content, url string, at time.Time, block string) {
	if w.zip == nil {
		w.zip, _ = gzip.NewWriterLevel(nil, gzip.HuffmanOnly)
	}
	w.zip.Reset(w.out)
	w.n++
	if url != "" {
		url = "WARC-Target-URI: " + url + "\r\n"
	}
	fmt.Fprintf(w.zip, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Date: %s\r\nWARC-Record-ID: <urn:%s-%d>\r\n"+
		"%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		kind, at.Format(time.RFC3339), w.id, w.n, url, content, len(block), block)
	w.zip.Close()
}

func (w *recordWriter) capture(c capture, at time.Time) {
	a, url := c.said(), c.origin+"/robots.txt"
	w.record("request", "application/http; msgtype=request", url, at, "GET /robots.txt HTTP/1.1\r\nHost: "+c.host+
		"\r\n\r\n")
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n", a.status,
		http.StatusText(a.status), len(a.text))
	if a.status == 301 {
		head += "Location: https://elsewhere." + c.domain + "/robots.txt\r\n"
	}
	kind := "response"
	if a.status == 304 {
		kind = "revisit"
	}
	w.record(kind, "application/http; msgtype=response", url, at, head+"\r\n"+a.text)
	w.record("metadata", "application/warc-fields", url, at, "fetchTimeMs: 20\r\n")
}

// A troubledServer serves files over https on a bad day: each trouble of a path is the
// answer to one request for it.
type troubledServer struct {
	*httptest.Server
	mu      sync.Mutex
	files   map[string][]byte
	trouble map[string][]trouble
	said    map[string]int // answers, by trouble; "resumed" for what begins in the middle
}

// trouble is busy with a status, or cuts an answer after so many bytes, or answers with
// all of the file instead of a range.
type trouble struct {
	status int
	after  string // Retry-After
	cut    int
}

func (b trouble) String() string {
	switch {
	case b.status > 0:
		return fmt.Sprint(b.status)
	case b.cut > 0:
		return "cut"
	}
	return "whole"
}

func newTroubledServer(t *testing.T) *troubledServer {
	s := &troubledServer{files: make(map[string][]byte), trouble: make(map[string][]trouble), said: make(map[string]int)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *troubledServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	content, ok := s.files[r.URL.Path]
	var now *trouble
	if list := s.trouble[r.URL.Path]; len(list) > 0 {
		now, s.trouble[r.URL.Path] = &list[0], list[1:]
		s.said[now.String()]++
	}
	if span := r.Header.Get("Range"); strings.HasPrefix(span, "bytes=") && !strings.HasPrefix(span, "bytes=0-") &&
		(now == nil || now.status == 0) {
		s.said["resumed"]++
	}
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprint(len(content))))
	switch {
	case now == nil:
	case now.status > 0:
		if now.after != "" {
			w.Header().Set("Retry-After", now.after)
		}
		w.WriteHeader(now.status)
		return
	case now.cut > 0:
		w = &cutShort{w, now.cut}
	default:
		r.Header.Del("Range")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// upset gives the archives of a crawl their troubles: each breaks in the middle, and the
// server of one is busy or refuses, three times.
func (s *troubledServer) upset(c int, files map[string][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := 0
	for path, content := range files {
		s.files[path] = content
		if !strings.HasSuffix(path, ".warc.gz") {
			continue
		}
		list := []trouble{{cut: 1 + len(content)*2/5}}
		switch k {
		case 0:
			busy := []trouble{{status: 429, after: "1"}, {status: 503, after: "0"}, {status: 403}}
			list = append(list, busy[c%3], trouble{cut: len(content) / 7}, busy[(c+1)%3], busy[(c+1)%3])
		case 1:
			list = append(list, trouble{})
		}
		s.trouble[path] = list
		k++
	}
}
