package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// A siteKind is a host with sitemaps, and the rows of sitemap_files that it should give:
// path, kind, outcome, urls, urls_read, outside, sitemaps, and the remark.
type siteKind struct {
	name   string
	robots string // without sitemap lines; "404", "503" for the status
	maps   []string
	docs   map[string]sitePage // by path, or http://host/path of another host
	rows   []string
	pages  int // different pages of the host, 0 if none is sampled
	closed int // of them, those below /private
}

// sitePage is an answer: its body, and what is odd about it.
type sitePage struct {
	body   string
	status int
	header http.Header
	drop   bool // the connection breaks in the middle
}

const (
	urlsetHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	indexHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	openFile  = "User-agent: *\nDisallow: /private\n"
	mostFiles = 5
	mostBytes = 1 << 20
)

// locs writes entries for paths; HOST stands for the origin of the host.
func locs(element string, paths ...string) (text string) {
	for _, p := range paths {
		if strings.HasPrefix(p, "/") {
			p = "HOST" + p
		}
		text += "<" + element + "><loc>" + p + "</loc></" + element + ">\n"
	}
	return text
}

func urlset(paths ...string) sitePage {
	return sitePage{body: urlsetHead + locs("url", paths...) + "</urlset>"}
}
func index(paths ...string) sitePage {
	return sitePage{body: indexHead + locs("sitemap", paths...) + "</sitemapindex>"}
}

// numbered returns paths, of which one in ten is private.
func numbered(n int) (paths []string) {
	for i := range n {
		folder := "/open"
		if i%10 == 0 {
			folder = "/private"
		}
		paths = append(paths, fmt.Sprintf("%s/%d", folder, i))
	}
	return paths
}

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

func utf16le(text string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return string(out)
}

// siteKinds are the hosts of the farm. What is packed or in another encoding is so without
// HOST in it: the farm packs it (see serveSites).
var siteKinds = []siteKind{
	{name: "plain", docs: map[string]sitePage{"/sitemap.xml": urlset("/1", "/private/2", "/3")},
		rows: []string{"/sitemap.xml urlset ok 3 3 0 0"}, pages: 3, closed: 1},
	{name: "named", maps: []string{"/map.xml"}, docs: map[string]sitePage{"/map.xml": urlset("/1")},
		rows: []string{"/map.xml urlset ok 1 1 0 0"}, pages: 1},
	{name: "no robots.txt", robots: "404", docs: map[string]sitePage{"/sitemap.xml": urlset("/1", "/private/2")},
		rows: []string{"/sitemap.xml urlset ok 2 2 0 0"}, pages: 2},
	{name: "robots.txt fails", robots: "503", docs: map[string]sitePage{"/sitemap.xml": urlset("/1")}},
	{name: "none", rows: []string{"/sitemap.xml none absent 0 0 0 0"}},
	{name: "gone", maps: []string{"/a.xml"}, docs: map[string]sitePage{"/a.xml": {status: 410}},
		rows: []string{"/a.xml none absent 0 0 0 0"}},
	{name: "fails", maps: []string{"/a.xml"}, docs: map[string]sitePage{"/a.xml": {status: 503, body: urlset("/1").body}},
		rows: []string{"/a.xml none unavailable 0 0 0 0"}},
	{name: "refused", maps: []string{"/a.xml"}, docs: map[string]sitePage{"/a.xml": {status: 403}},
		rows: []string{"/a.xml none refused 0 0 0 0"}},
	{name: "closed", maps: []string{"/private/a.xml"}, docs: map[string]sitePage{"/private/a.xml": urlset("/1")},
		rows: []string{"/private/a.xml none disallowed 0 0 0 0"}},
	{name: "a redirect", maps: []string{"/a.xml"}, docs: map[string]sitePage{
		"/a.xml": {status: 301, header: http.Header{"Location": {"/b.xml"}}}, "/b.xml": urlset("/1")},
		rows: []string{"/a.xml urlset ok 1 1 0 0"}, pages: 1},
	{name: "a redirect to what is closed", maps: []string{"/a.xml"}, docs: map[string]sitePage{
		"/a.xml": {status: 301, header: http.Header{"Location": {"/private/b.xml"}}}},
		rows: []string{"/a.xml none disallowed 0 0 0 0"}},
	{name: "a redirect elsewhere", maps: []string{"/a.xml"}, docs: map[string]sitePage{
		"/a.xml": {status: 301, header: http.Header{"Location": {"http://elsewhere.test/x"}}}},
		rows: []string{"/a.xml none elsewhere 0 0 0 0"}},
	{name: "a circle of redirects", maps: []string{"/a.xml"}, docs: map[string]sitePage{
		"/a.xml": {status: 301, header: http.Header{"Location": {"/a.xml"}}}},
		rows: []string{"/a.xml none unavailable 0 0 0 0"}},
	{name: "nested", maps: []string{"/i.xml"}, docs: map[string]sitePage{"/i.xml": index("/a.xml", "/j.xml"),
		"/a.xml": urlset("/1"), "/j.xml": index("/b.xml"), "/b.xml": urlset("/2", "/1")},
		rows: []string{"/i.xml index ok 0 0 0 2", "/a.xml urlset ok 1 1 0 0", "/j.xml index ok 0 0 0 1 index-in-index",
			"/b.xml urlset ok 2 2 0 0"}, pages: 2},
	{name: "index of itself", maps: []string{"/i.xml"}, docs: map[string]sitePage{"/i.xml": index("/i.xml", "/j.xml"),
		"/j.xml": index("/i.xml")},
		rows: []string{"/i.xml index ok 0 0 0 2", "/j.xml index ok 0 0 0 1 index-in-index"}},
	{name: "a dead child", maps: []string{"/i.xml"}, docs: map[string]sitePage{"/i.xml": index("/gone.xml", "/a.xml"),
		"/a.xml": urlset("/1")},
		rows: []string{"/i.xml index ok 0 0 0 2", "/gone.xml none absent 0 0 0 0", "/a.xml urlset ok 1 1 0 0"}, pages: 1},
	{name: "more named than asked for", maps: []string{"/1.xml", "/2.xml", "/3.xml", "/4.xml", "/5.xml", "/6.xml"},
		docs: map[string]sitePage{"/1.xml": urlset("/1"), "/2.xml": urlset("/2"), "/3.xml": urlset("/3"),
			"/4.xml": urlset("/4"), "/5.xml": urlset("/5"), "/6.xml": urlset("/6")},
		rows: []string{"/1.xml urlset ok 1 1 0 0", "/2.xml urlset ok 1 1 0 0", "/3.xml urlset ok 1 1 0 0",
			"/4.xml urlset ok 1 1 0 0", "/5.xml urlset ok 1 1 0 0"}, pages: 5},
	{name: "gzip by content", maps: []string{"/a.xml"}, docs: map[string]sitePage{
		"/a.xml": {body: "GZIP" + urlset("/1", "/2").body}}, rows: []string{"/a.xml urlset ok 2 2 0 0"}, pages: 2},
	{name: "gzip by encoding", maps: []string{"/a.xml"}, docs: map[string]sitePage{
		"/a.xml": {body: "GZIP" + urlset("/1").body, header: http.Header{"Content-Encoding": {"gzip"}}}},
		rows: []string{"/a.xml urlset ok 1 1 0 0"}, pages: 1},
	{name: "gzip twice", maps: []string{"/a.xml.gz"}, docs: map[string]sitePage{
		"/a.xml.gz": {body: "GZIPGZIP" + urlset("/1").body, header: http.Header{"Content-Encoding": {"gzip"}}}},
		rows: []string{"/a.xml.gz urlset ok 1 1 0 0"}, pages: 1},
	{name: "named gzip, plain", maps: []string{"/a.xml.gz"}, docs: map[string]sitePage{"/a.xml.gz": urlset("/1")},
		rows: []string{"/a.xml.gz urlset ok 1 1 0 0"}, pages: 1},
	{name: "cut gzip", maps: []string{"/a.xml"}, docs: map[string]sitePage{
		"/a.xml": {body: "HALFGZIP" + urlset(numbered(2000)...).body}},
		rows: []string{"/a.xml urlset damaged SOME SOME 0 0 cut"}, pages: -1},
	{name: "cut XML", maps: []string{"/a.xml"}, docs: map[string]sitePage{
		"/a.xml": {body: urlsetHead + locs("url", "/1", "/private/2") + "<url><loc>HOST/3"}},
		rows: []string{"/a.xml urlset damaged 2 2 0 0 cut"}, pages: 2, closed: 1},
	{name: "broken off", maps: []string{"/a.xml"}, docs: map[string]sitePage{"/a.xml": {body: urlset("/1", "/2").body,
		drop: true}}, rows: []string{"/a.xml urlset damaged 2 2 0 0"}, pages: 2},
	{name: "web page", docs: map[string]sitePage{
		"/sitemap.xml": {body: "<!DOCTYPE html><html><body>Not here</body></html>", header: http.Header{
			"Content-Type": {"text/html"}}}},
		rows: []string{"/sitemap.xml none damaged 0 0 0 0 html"}},
	{name: "404 as HTML", docs: map[string]sitePage{
		"/sitemap.xml": {status: 404, body: "<html><body>Not here</body></html>"}},
		rows: []string{"/sitemap.xml none absent 0 0 0 0"}},
	{name: "empty body", docs: map[string]sitePage{"/sitemap.xml": {}},
		rows: []string{"/sitemap.xml none damaged 0 0 0 0 empty"}},
	{name: "no entries", docs: map[string]sitePage{"/sitemap.xml": urlset()},
		rows: []string{"/sitemap.xml urlset ok 0 0 0 0"}},
	{name: "text", maps: []string{"/a.txt"}, docs: map[string]sitePage{"/a.txt": {body: "HOST/1\r\nHOST/private/2\n",
		header: http.Header{"Content-Type": {"text/plain"}}}}, rows: []string{"/a.txt text ok 2 2 0 0"}, pages: 2, closed: 1},
	{name: "RSS", maps: []string{"/feed"}, docs: map[string]sitePage{
		"/feed": {body: `<rss version="2.0"><channel><link>HOST/</link><item><link>HOST/1</link></item></channel></rss>`}},
		rows: []string{"/feed rss ok 1 1 0 0"}, pages: 1},
	{name: "Atom", maps: []string{"/feed"}, docs: map[string]sitePage{
		"/feed": {
			body: `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link rel="enclosure" href="HOST/x"/><link href="HOST/1"/></entry></feed>`}}, rows: []string{"/feed atom ok 1 1 0 0"}, pages: 1},
	{name: "BOM", docs: map[string]sitePage{"/sitemap.xml": {body: "\ufeff" + urlset("/1").body}},
		rows: []string{"/sitemap.xml urlset ok 1 1 0 0"}, pages: 1},
	{name: "UTF-16", docs: map[string]sitePage{"/sitemap.xml": {body: "UTF16" + urlset("/1", "/2").body}},
		rows: []string{"/sitemap.xml urlset ok 2 2 0 0"}, pages: 2},
	{name: "CDATA", docs: map[string]sitePage{
		"/sitemap.xml": {body: urlsetHead + "<url><loc> <![CDATA[HOST/?a=1&b=2]]> </loc></url></urlset>"}},
		rows: []string{"/sitemap.xml urlset ok 1 1 0 0"}, pages: 1},
	{name: "entity", docs: map[string]sitePage{
		"/sitemap.xml": {body: `<!DOCTYPE urlset [<!ENTITY a "HOST/1"><!ENTITY b "&a;&a;&a;&a;">]>` +
			locsIn("&b;", "HOST/2")}}, rows: []string{"/sitemap.xml urlset damaged 1 1 0 0 entity"}, pages: 1},
	{name: "bare ampersand", docs: map[string]sitePage{"/sitemap.xml": urlset("/?a=1&copy=2", "/2")},
		rows: []string{"/sitemap.xml urlset damaged 2 2 0 0 ampersand"}, pages: 2},
	{name: "bomb", maps: []string{"/a.xml", "/b.xml"}, docs: map[string]sitePage{"/a.xml": {body: "GZIPBOMB"},
		"/b.xml": urlset("/1")}, rows: []string{"/a.xml urlset damaged SOME SOME 0 0 limit"}, pages: -1},
	{name: "other hosts", docs: map[string]sitePage{"/sitemap.xml": urlset("/1", "http://other.test/2", "HTTPS/3",
		"mailto:a@b.test")}, rows: []string{"/sitemap.xml urlset ok 3 1 2 0 outside scheme"}, pages: 1},
	{name: "other hosts alone", maps: []string{"/a.xml"}, docs: map[string]sitePage{
		"/a.xml": urlset("http://other.test/1")}, rows: []string{"/a.xml urlset ok 1 0 1 0 outside"}},
	{name: "on another host", maps: []string{"http://maps.test/a.xml"}, docs: map[string]sitePage{
		"http://maps.test/a.xml": urlset("/1", "/private/2")},
		rows: []string{"http://maps.test/a.xml urlset ok 2 2 0 0"}, pages: 2, closed: 1},
	{name: "below a folder", maps: []string{"/shop/a.xml"}, docs: map[string]sitePage{
		"/shop/a.xml": urlset("/shop/1", "/2")}, rows: []string{"/shop/a.xml urlset ok 2 2 0 0 beyond_folder"}, pages: 2},
	{name: "many", docs: map[string]sitePage{"/sitemap.xml": urlset(numbered(3000)...)},
		rows: []string{"/sitemap.xml urlset ok 3000 3000 0 0"}, pages: 3000, closed: 300},
}

func locsIn(all ...string) string {
	text := urlsetHead[strings.Index(urlsetHead, "\n")+1:]
	for _, u := range all {
		text += "<url><loc>" + u + "</loc></url>"
	}
	return text + "</urlset>"
}

// siteHost returns the name of host n of the farm.
func siteHost(n int) string { return fmt.Sprintf("h%d.example", n) }

// bodyOf makes the body of a page for a host.
func (p sitePage) bodyOf(host string) string {
	body := strings.ReplaceAll(strings.ReplaceAll(p.body, "HOST", "http://"+host), "HTTPS", "https://"+host)
	switch rest, _ := strings.CutPrefix(body, "GZIPBOMB"); {
	case rest != body:
		return bomb
	case strings.HasPrefix(body, "UTF16"):
		return utf16le(body[5:])
	case strings.HasPrefix(body, "HALFGZIP"):
		all := packed(body[8:])
		return all[:len(all)*2/3]
	}
	n := 0
	for ; strings.HasPrefix(body, "GZIP"); n++ {
		body = body[4:]
	}
	for range n {
		body = packed(body)
	}
	return body
}

// bomb is a sitemap of 64 MB, packed.
var bomb = packed(urlsetHead + strings.Repeat("<url><loc>http://other.example/0123456789</loc></url>\n", 1_200_000))

// serveSites serves the farm on a port: host n is of kind n modulo their number. It returns
// the address, and what was asked of each host and when.
func serveSites(t *testing.T) (addr string, log *siteLog) {
	t.Helper()
	log = &siteLog{asked: make(map[string][]string), when: make(map[string][]time.Time)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		host := r.Host
		log.add(host, r.URL.RequestURI())
		if _, err := fmt.Sscanf(host, "h%d.example", &n); err != nil {
			// The sitemap of another host has the pages of the host that is asked about: its number
			// is in the query.
			host = siteHost(0)
			fmt.Sscanf(r.URL.RawQuery, "%d", &n)
			host = siteHost(n)
		}
		k := siteKinds[n%len(siteKinds)]
		if r.URL.Path == "/robots.txt" {
			switch k.robots {
			case "404":
				w.WriteHeader(404)
				return
			case "503":
				w.WriteHeader(503)
				return
			}
			text := openFile
			for _, m := range k.maps {
				if strings.HasPrefix(m, "/") {
					m = "http://" + host + m
				} else {
					m += fmt.Sprintf("?%d", n)
				}
				text += "Sitemap: " + m + "\n"
			}
			w.Write([]byte(text))
			return
		}
		p, ok := k.docs[r.URL.Path]
		if r.Host != host {
			p, ok = k.docs["http://"+r.Host+r.URL.Path]
		}
		if !ok {
			w.WriteHeader(404)
			return
		}
		for name, values := range p.header {
			w.Header()[name] = values
		}
		body := p.bodyOf(host)
		if p.drop {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)+1000))
		}
		w.WriteHeader(max(p.status, 200))
		w.Write([]byte(body))
		if p.drop {
			w.(http.Flusher).Flush()
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				c.(*net.TCPConn).CloseWrite()
				c.Close()
			}
		}
	}))
	server.Start()
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), log
}
