package warc

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// answers are what hosts answer, byte by byte.
var answers = map[string]string{
	"plain.example": "HTTP/1.1 200 OK\r\nServer: s\r\nSet-Cookie: session=5ecret; Path=/\r\n" +
		"Content-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /plain\n",
	"moved.example": "HTTP/1.1 301 Moved\r\nLocation: http://target.example/robots.txt\r\nContent-Length: 5\r\n" +
		"\r\nmoved",
	"target.example":  "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nUser-agent: and more",
	"chunked.example": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n",
	"gone.example":    "HTTP/1.1 404 Not Found\r\n\r\n",
	"cut.example":     "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *\n",
	"half.example":    "HTTP/1.1 200 OK\r\nServ",
	"odd.example":     "SSH-2.0-dropbear\r\n",
	"silent.example":  "",
	"early.example": "HTTP/1.1 103 Early Hints\r\nSet-Cookie: early=5ecret\r\n\r\nHTTP/1.1 200 OK\r\n" +
		"set-cookie:a=5ecret\r\n b=5ecret\r\nX: y\r\n\r\nDisallow: /\n",
	"empty.example":   "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
	"long.example":    "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("# a comment\n", 200),
	"other.example":   "HTTP/1.3 200 OK\r\nContent-Length: 12\r\n\r\nUser-agent: ",
	"bare.example":    "HTTP/1.0 200\nno colon\nContent-Length: 12\n\nUser-agent: ",
	"refused.example": "HTTP/1.1 999999 No\r\nSet-Cookie: a=5ecret\r\n\r\nUser-agent: ",
	"only.example":    "HTTP/1.1 103 Early Hints\r\nSet-Cookie: early=5ecret\r\n\r\n",
}

func init() {
	body := gzipped("User-agent: *\nDisallow: /coded\n")
	answers["chunked.example"] += fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
}

const maxBody = 1000

// fetchAll fetches from a server with these answers, and calls each with every capture and
// its exchanges.
func fetchAll(t *testing.T, each func(*fetch.Capture, iter.Seq2[*fetch.Exchange, error])) {
	t.Helper()
	client, err := client.New(client.Config{
		UserAgent: "test", Timeout: 5 * time.Second, Limits: fetch.Limits{MaxRedirects: 5, MaxBody: maxBody}, Concurrency: 1,
		PerAddress: 1, PerDomain: 1, Record: true,
		ConnectTo: serve(t, func(host string) string { return answers[host] }),
	}, client.Backing{Waiting: 1})
	must(t, err)
	for _, host := range hosts {
		lease, err := client.Enter(t.Context(), t.Context())
		must(t, err)
		o, _, err := fetch.Parse("http://"+host, "")
		must(t, err)
		each(lease.Fetch(0, o), lease.Exchanges())
		lease.Leave()
	}
}

// serve serves what answer returns for the host of a request, byte for byte.
func serve(t *testing.T, answer func(host string) string) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				io.WriteString(c, answer(r.Host))
			}
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return netip.MustParseAddrPort(l.Addr().String())
}

// hosts are those that are asked.
var hosts = []string{"plain.example", "moved.example", "chunked.example", "gone.example", "cut.example",
	"half.example", "odd.example", "silent.example",
	"early.example", "empty.example", "long.example", "other.example", "bare.example", "refused.example", "only.example"}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// evidenceOf returns the records of each fetch, a warcinfo first, and the captures.
func evidenceOf(t *testing.T, e *Evidence) (records [][]byte, captures []*fetch.Capture) {
	t.Helper()
	e.MaxBody = maxBody
	info, err := e.Info(time.Now(), []Field{Software("1"), {"isPartOf", "r"}})
	must(t, err)
	records = append(records, info)
	fetchAll(t, func(c *fetch.Capture, exchanges iter.Seq2[*fetch.Exchange, error]) {
		r, err := e.Capture(c, exchanges)
		must(t, err)
		records, captures = append(records, r), append(captures, c)
	})
	return records, captures
}

// compare compares the facts of captures: those that were fetched with those that were
// read again.
func compare(t *testing.T, want []*fetch.Capture, got []*Capture) {
	t.Helper()
	var read []*fetch.Capture
	for _, c := range got {
		if c.Body != nil && c.Digest != digestOf(c.Body) || c.Mismatch != "" {
			t.Errorf("%s has digest %q: %s", c.Origin, c.Digest, c.Mismatch)
		}
		read = append(read, &c.Capture)
	}
	utc := cmp.Transformer("UTC", func(t time.Time) time.Time { return t.UTC().Round(0) })
	if diff := cmp.Diff(want, read, cmpopts.IgnoreUnexported(fetch.Capture{}), cmpopts.IgnoreFields(fetch.Capture{},
		"Digest"), cmpopts.EquateComparable(netip.AddrPort{}), utc,
		cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })); diff != "" {
		t.Errorf("captures (-fetched +read):\n%s", diff)
	}
}

// Read takes a capture from the records of each fetch, and none from its redirects. The
// records are those of WARC 1.1.
func TestEvidence(t *testing.T) {
	records, captures := evidenceOf(t, new(Evidence))
	file := bytes.Join(records, nil)
	got, damages, counts := readAll(t, bytes.NewReader(file))
	if len(damages) > 0 {
		t.Errorf("%q", damages)
	}
	compare(t, captures, got)
	// warcinfo; metadata of each; request of each and of the redirect; an answer of all but one.
	if want := (Counts{Captures: int64(len(hosts)), OtherTypes: 1, OfFetches: int64(len(hosts) + len(hosts) + 1 +
		len(hosts))}); counts != want {
		t.Errorf("%+v, want %+v", counts, want)
	}
	for _, c := range got {
		again, damages, _ := readAll(t, bytes.NewReader(file[c.Offset:c.Offset+c.Length]))
		if len(damages) > 0 || len(again) != 1 {
			t.Errorf("%s at its place: %q", c.Origin, damages)
			continue
		}
		compare(t, []*fetch.Capture{&c.Capture}, again)
	}
	// With captures of all URLs, there are no others.
	var all []*Capture
	_, err := ReadAll(context.Background(), "f", bytes.NewReader(file), Config{Limits: fetch.Limits{MaxBody: maxBody}},
		func() bool { return true },
		func(c *Capture) error { all = append(all, c); return nil }, func(_ int64, what string) error {
			t.Error(what)
			return nil
		})
	must(t, err)
	compare(t, captures, all)
	// A lower limit cuts bodies, as it would have cut them in the fetch.
	_, err = Read(context.Background(), "f", bytes.NewReader(file), Config{Limits: fetch.Limits{MaxBody: 20}},
		func(c *Capture) error {
			if len(c.Body) > 20 || len(c.Body) == 20 && !c.Truncated {
				t.Errorf("%s: %d bytes, truncated: %v", c.Origin, len(c.Body), c.Truncated)
			}
			return nil
		}, func(_ int64, what string) error { t.Error(what); return nil })
	must(t, err)

	var unread []string
	for _, r := range parse(t, file) {
		r.check(t)
		switch r.fields["WARC-Type"] {
		case "response":
			url := strings.TrimSuffix(strings.TrimPrefix(r.fields["WARC-Target-URI"], "http://"), "/robots.txt")
			if sent := answers[url]; url != "long.example" && r.block != sent || !strings.HasPrefix(sent, r.block) {
				t.Errorf("%s answered %q, and the record has %q", url, sent, r.block)
			}
			if want := map[string]string{"cut.example": "disconnect", "long.example": "length", "gone.example": "unspecified",
				"only.example": "unspecified"}[url]; r.fields["WARC-Truncated"] != want {
				t.Errorf("%s is cut %q, want %q", url, r.fields["WARC-Truncated"], want)
			}
		case "metadata":
			if r.fields["WARC-Target-URI"] != "" {
				t.Errorf("an indexer lists %v", r.fields)
			}
			if r.fields["Content-Type"] != evidenceType {
				unread = append(unread, r.block)
			}
		default:
			if r.fields["WARC-Type"] == "resource" {
				t.Errorf("a resource %q", r.block)
			}
		}
	}
	// No answer over HTTP.
	if want := []string{answers["half.example"], answers["odd.example"], answers["refused.example"]}; !slices.Equal(
		unread, want) {
		t.Errorf("%q, want %q", unread, want)
	}
}

// Only a whole body of a capture has a digest of its payload: that of the body without
// chunks. If the answers of redirects had one, a tool that deduplicates could keep theirs.
func TestEvidencePayloads(t *testing.T) {
	records, _ := evidenceOf(t, new(Evidence))
	got := make(map[string]string)
	for _, r := range parse(t, bytes.Join(records, nil)) {
		if digest := r.fields["WARC-Payload-Digest"]; digest != "" {
			got[r.fields["WARC-Type"]+" "+r.fields["WARC-Target-URI"]] = digest
		}
	}
	want := make(map[string]string)
	for host, body := range map[string]string{
		"plain": "User-agent: *\nDisallow: /plain\n", "target": "User-agent: ",
		"chunked": string(gzipped("User-agent: *\nDisallow: /coded\n")), "empty": "", "other": "User-agent: ",
	} {
		want["response http://"+host+".example/robots.txt"] = "sha1:" + digestOf([]byte(body))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// rewrite returns records as another program would have written them: change is called with
// each, and drops it by returning false.
func rewrite(t *testing.T, file []byte, change func(r *record) bool) (out string) {
	t.Helper()
	for _, r := range parse(t, file) {
		if !change(&r) {
			continue
		}
		fields := ""
		for _, name := range slices.Sorted(maps.Keys(r.fields)) {
			if name != "Content-Length" {
				fields += name + ": " + r.fields[name] + "\r\n"
			}
		}
		out += warcRecord(fields, r.block)
	}
	return out
}

// Evidence of earlier versions is read: its metadata records have a URI, and answers of
// some versions of HTTP are resources.
func TestEvidenceOfEarlierVersions(t *testing.T) {
	records, captures := evidenceOf(t, new(Evidence))
	file := rewrite(t, bytes.Join(records, nil), func(r *record) bool {
		if r.fields["WARC-Type"] == "metadata" {
			r.fields["WARC-Target-URI"] = "http://a.example/robots.txt"
			if host := regexp.MustCompile(`"host":"([a-z.]+)"`).FindStringSubmatch(r.block); host != nil {
				r.fields["WARC-Target-URI"] = "http://" + host[1] + "/robots.txt"
			}
		}
		if strings.HasPrefix(r.block, "HTTP/1.3") {
			r.fields["WARC-Type"], r.fields["Content-Type"] = "resource", "application/octet-stream"
		}
		return true
	})
	got, damages, _ := readAll(t, strings.NewReader(file))
	if len(damages) > 0 {
		t.Errorf("%q", damages)
	}
	compare(t, captures, got)
}

// Tools that deduplicate put a revisit record in the place of an answer, in their own way. A
// fetch stays one capture, which has all but its body.
func TestEvidenceDeduplicated(t *testing.T) {
	records, captures := evidenceOf(t, new(Evidence))
	jwarc := func(r *record) {
		r.fields["WARC-Record-ID"] = "<" + NewID() + ">"
		delete(r.fields, "WARC-Concurrent-To")
	}
	for name, change := range map[string]func(r *record){
		"with its ID": func(*record) {},
		"anew":        jwarc,
		"anew, in whole seconds": func(r *record) {
			jwarc(r)
			r.fields["WARC-Date"], _, _ = strings.Cut(r.fields["WARC-Date"], ".")
			r.fields["WARC-Date"] += "Z"
		},
		"without a header": func(r *record) { jwarc(r); r.block = "" },
	} {
		n, digests := 0, make(map[string]string)
		file := rewrite(t, bytes.Join(records, nil), func(r *record) bool {
			if r.fields["WARC-Payload-Digest"] != "" {
				n++
				digests[r.fields["WARC-Target-URI"]] = r.fields["WARC-Payload-Digest"]
				r.block = r.block[:strings.Index(r.block, "\r\n\r\n")+4]
				r.fields["WARC-Type"], r.fields["WARC-Profile"] = "revisit",
					"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
				r.fields["WARC-Refers-To-Target-URI"], r.fields["WARC-Refers-To-Date"] = "http://a.example/", "2020-01-01T00:00:00Z"
				change(r)
			}
			return true
		})
		got, damages, counts := readAll(t, strings.NewReader(file))
		if len(damages) > 0 || n < 5 || counts.Captures != int64(len(captures)) {
			t.Errorf("%s: %d revisits, %+v, %q", name, n, counts, damages)
		}
		var want []*fetch.Capture
		for i, c := range captures {
			plain := *c
			if hop := c.Hops[len(c.Hops)-1].URL; c.Body != nil && digests[hop] != "" {
				if i < len(got) {
					if r := got[i].Revisit; r == nil || r.TargetURI != "http://a.example/" || got[i].PayloadDigest != digests[hop] ||
						got[i].ID == "" {
						t.Errorf("%s: %s refers to %+v by %q", name, c.Origin, r, got[i].PayloadDigest)
					}
					if date := time.Now(); got[i].Start.After(date) || got[i].Within <= 0 || got[i].Within > time.Minute {
						t.Errorf("%s: %s is within %v", name, c.Origin, got[i].Within)
					}
				}
				plain.Body, plain.Unstored = nil, true
			}
			want = append(want, &plain)
		}
		compare(t, want, got)
		// What finds the originals gives the bodies back.
		for i := range got {
			if got[i].Unstored {
				original := *captures[i]
				original.Digest = digestOf(original.Body)
				got[i].Restore(&original)
			}
		}
		compare(t, captures, got)
	}
}

// record is a record as another reader would see it.
type record struct {
	fields map[string]string // the first of each
	block  string
}

// parse divides a file into its records.
func parse(t *testing.T, file []byte) (out []record) {
	t.Helper()
	in := bytes.NewReader(file)
	z, err := gzip.NewReader(in)
	for ; err == nil; err = z.Reset(in) {
		z.Multistream(false)
		text, e := io.ReadAll(z)
		must(t, e)
		head, rest, _ := strings.Cut(string(text), "\r\n\r\n")
		lines := strings.Split(head, "\r\n")
		r := record{fields: make(map[string]string)}
		for _, line := range lines[1:] {
			name, value, _ := strings.Cut(line, ": ")
			if r.fields[name] == "" {
				r.fields[name] = value
			}
		}
		block, ends := strings.CutSuffix(rest, "\r\n\r\n")
		if r.block = block; lines[0] != "WARC/1.1" || !ends || fmt.Sprint(len(block)) != r.fields["Content-Length"] {
			t.Fatalf("%q is no record", text)
		}
		out = append(out, r)
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return out
}

func (r record) check(t *testing.T) {
	t.Helper()
	block := sha256.Sum256([]byte(r.block))
	if want := "sha256:" + hex.EncodeToString(block[:]); r.fields["WARC-Block-Digest"] != want {
		t.Errorf("the block of %s has another digest", r.fields["WARC-Record-ID"])
	}
}

// The values of secrets are left out if that is wanted, and nothing else; the file says so.
func TestEvidenceWithoutSecrets(t *testing.T) {
	records, captures := evidenceOf(t, &Evidence{DropSecrets: true})
	file := bytes.Join(records, nil)
	got, damages, _ := readAll(t, bytes.NewReader(file))
	compare(t, captures, got)
	if len(damages) > 0 {
		t.Errorf("%q", damages)
	}
	all := ""
	for _, r := range parse(t, file) {
		r.check(t)
		all += r.block
	}
	if strings.Contains(all, "5ecret") {
		t.Error("a secret is in the records")
	}
	for _, want := range []string{"Set-Cookie:\r\nContent-Type: text/plain\r\n", "Early Hints\r\nSet-Cookie:\r\n\r\n",
		"set-cookie:\r\nX: y\r\n", "secret-headers: left out"} {
		if !strings.Contains(all, want) {
			t.Errorf("the records lack %q", want)
		}
	}
	clean := new(Evidence).clean([]byte("GET http://a/ HTTP/1.1\r\nProxy-Authorization: Basic 5ecret\r\n"+
		"Cookie: kept\r\n\r\n"), requestSecrets)
	if string(clean) != "GET http://a/ HTTP/1.1\r\nProxy-Authorization:\r\nCookie: kept\r\n\r\n" {
		t.Errorf("%q", clean)
	}
}

// fromMemory returns captures that a memory of earlier runs has served, or completed.
func fromMemory(t testing.TB) []*fetch.Capture {
	o, _, err := fetch.Parse("http://a.example", "")
	must(t, err)
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC)
	kind, second, text := "text/plain\x01", time.Second, "no answer"
	fresh := &fetch.Capture{Origin: o, Start: at, Attempts: 1, Hops: []answer.Hop{{URL: o.RobotsURL(), Status: 200}},
		Body: []byte("User-agent: *\n"), Remembered: true,
		Headers: fetch.Headers{ContentType: &kind}, Times: fetch.Times{Total: &second}}
	m := answer.Memory{}.After(answer.Facts{Error: answer.ErrorTimeout}.Kind(), at)
	stale := &fetch.Capture{Origin: o, Start: at, Attempts: 3, Hops: []answer.Hop{{URL: o.RobotsURL()}},
		Error: answer.ErrorTimeout, Err: fmt.Errorf("%s\xff", text), Memory: &m,
		Copy: &fetch.WholeCopy{Fetched: at.Add(-time.Hour), Body: []byte("Disallow: /\n"), Truncated: true}}
	return []*fetch.Capture{fresh, stale}
}

func nothing(func(*fetch.Exchange, error) bool) {}

// What a memory has served is a resource record.
func TestEvidenceOfAMemory(t *testing.T) {
	e := &Evidence{MaxBody: maxBody}
	var file []byte
	captures := fromMemory(t)
	for _, c := range captures {
		r, err := e.Capture(c, nothing)
		must(t, err)
		file = append(file, r...)
	}
	got, damages, _ := readAll(t, bytes.NewReader(file))
	if len(damages) > 0 {
		t.Errorf("%q", damages)
	}
	captures[0].Remembered, captures[0].Times = false, fetch.Times{}
	compare(t, captures, got)
	kinds := ""
	for _, r := range parse(t, file) {
		r.check(t)
		kinds += r.fields["WARC-Type"] + " " + r.fields["WARC-Date"] + " " + r.fields["Content-Type"] + "\n"
	}
	if want := "metadata 2026-01-02T03:04:05.000678Z application/json\nresource 2026-01-02T03:04:05.000678Z " +
		"application/octet-stream\nmetadata 2026-01-02T03:04:05.000678Z application/json\n" +
		"resource 2026-01-02T02:04:05.000678Z application/octet-stream\n"; kinds != want {
		t.Errorf("%s", kinds)
	}
}

// Damage costs only the fetch that it hits: that is told, and no other record of it becomes
// a capture.
func TestEvidenceDamage(t *testing.T) {
	records, captures := evidenceOf(t, new(Evidence))
	file := bytes.Join(records, nil)
	start := len(records[0])
	for i, r := range records[1:] {
		for at := range membersOf(r) {
			broken := bytes.Clone(file)
			copy(broken[start+at+12:], bytes.Repeat([]byte{0xff}, 40))
			got, damages, _ := readAll(t, bytes.NewReader(broken))
			want := captures
			if len(damages) > 0 && (len(got) < len(captures)) {
				want = append(append([]*fetch.Capture{}, captures[:i]...), captures[i+1:]...)
			}
			if len(damages) == 0 {
				t.Errorf("damage to the records of %s at byte %d is not told", captures[i].Origin, at)
			}
			compare(t, want, got)
			if body := captures[i].Body; body != nil && at > 0 && len(got) == len(captures) &&
				strings.Contains(typeAt(t, records[i+1][at:]), "response") && captures[i].Origin.Host != "moved.example" {
				t.Errorf("the answer of %s is damaged, and its capture whole", captures[i].Origin)
			}
		}
		start += len(r)
	}
	// A file that is cut off.
	for cut := len(records[0]); cut < len(file); cut += 997 {
		got, damages, _ := readAll(t, bytes.NewReader(file[:cut]))
		whole, n := len(records[0]), 0
		for _, r := range records[1:] {
			if whole += len(r); whole <= cut {
				n++
			}
		}
		if len(got) < n || len(got) > n+1 || len(got) == n && whole != cut && len(damages) == 0 && !atEnd(records, cut) {
			t.Errorf("cut at %d: %d captures of %d whole ones, %q", cut, len(got), n, damages)
		}
	}
}

// atEnd reports whether a cut is between two members.
func atEnd(records [][]byte, cut int) bool {
	start := 0
	for _, r := range records {
		for at := range membersOf(r) {
			if start+at == cut {
				return true
			}
		}
		start += len(r)
	}
	return false
}

// membersOf yields the offsets of the gzip members in records.
func membersOf(records []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		in := bytes.NewReader(records)
		z, err := gzip.NewReader(in)
		for at := 0; err == nil; err = z.Reset(in) {
			z.Multistream(false)
			if !yield(at) {
				return
			}
			io.Copy(io.Discard, z)
			at = len(records) - in.Len()
		}
	}
}

func typeAt(t *testing.T, member []byte) string {
	z, err := gzip.NewReader(bytes.NewReader(member))
	must(t, err)
	z.Multistream(false)
	text, err := io.ReadAll(z)
	must(t, err)
	return string(text[:40])
}

// The request for a front page is kept with its header alone, under a mark, and the facts
// come back; its answer is not taken for that of the robots.txt, nor for a capture.
func TestEvidenceOfAFrontPage(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if w.Header().Set("Set-Cookie", "a=5ecret"); r.URL.Path == "/" {
			w.Header().Set("X-Robots-Tag", "noai")
			io.WriteString(w, "User-agent: *\nDisallow: /page\n")
			return
		}
		if r.Host == "tired.example" {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, "User-agent: *\nDisallow: /file\n")
	}))
	defer server.Close()
	client, err := client.New(client.Config{
		UserAgent: "test", Timeout: 5 * time.Second, Limits: fetch.Limits{MaxBody: maxBody}, Concurrency: 1, PerAddress: 1,
		PerDomain: 1, Record: true, FrontPage: true,
		ConnectTo: netip.MustParseAddrPort(server.Listener.Addr().String()),
	}, client.Backing{Waiting: 1})
	must(t, err)
	var file []byte
	var want []*fetch.Capture
	for _, host := range []string{"a.example", "tired.example"} {
		lease, err := client.Enter(t.Context(), t.Context())
		must(t, err)
		e, got := &Evidence{MaxBody: maxBody, DropSecrets: true}, lease.Fetch(0, fetch.Origin{Scheme: "http", Host: host,
			Port: 80})
		made, err := e.Capture(got, lease.Exchanges())
		must(t, err)
		lease.Leave()
		file, want = append(file, made...), append(want, got)
	}
	got, damages, _ := readAll(t, bytes.NewReader(file))
	if compare(t, want, got); len(damages) > 0 || want[1].Front.Outcome != usage.PageSpared {
		t.Errorf("%q; %+v", damages, want[1].Front)
	}
	if f := got[0].Front; f == nil || f.Outcome != usage.PageRead || len(f.Header) != 1 ||
		string(got[0].Body) != "User-agent: *\nDisallow: /file\n" {
		t.Errorf("%+v, %q", f, got[0].Body)
	}
	pages := 0
	for _, r := range parse(t, file) {
		r.check(t)
		if r.fields["WARC-Target-URI"] == "http://a.example/" && r.fields["WARC-Type"] == "response" {
			pages++
			if !strings.HasSuffix(r.block, "\r\n\r\n") || !strings.Contains(r.block, "X-Robots-Tag: noai") ||
				r.fields["WARC-Truncated"] != "unspecified" {
				t.Errorf("%v\n%s", r.fields, r.block)
			}
		}
		if strings.Contains(r.block, "/page") || strings.Contains(r.block, "5ecret") {
			t.Errorf("%v\n%s", r.fields, r.block)
		}
	}
	if pages != 1 {
		t.Errorf("%d answers of the front page", pages)
	}
}

// Further requests come back with their bodies and what was read of them, whatever those of
// the file are; what was read lies in a record of its own, and none is a capture.
func TestEvidenceOfFurtherRequests(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if w.Header().Set("Content-Type", "text/plain"); r.URL.Path == "/moved" {
			http.Redirect(w, r, "/list", http.StatusFound)
			return
		}
		io.WriteString(w, "User-agent: *\nDisallow: /shut\n# of "+r.URL.Path+strings.Repeat("\n# more", 200))
	}))
	defer server.Close()
	plan := fetch.Plan{Keeps: 1 << 20, Ask: func(host *fetch.Answered, ask func(*fetch.Question) *fetch.Further) {
		read := func(body io.Reader, keep io.Writer) error {
			n, err := io.Copy(io.Discard, body)
			fmt.Fprintf(keep, "%d bytes", n)
			return err
		}
		ask(&fetch.Question{Kind: fetch.KindDocument, Name: "moved", Origin: host.Origin, Target: "/moved",
			MaxBody: 3 * maxBody, Headers: []string{"content-type"}})
		ask(&fetch.Question{Kind: fetch.KindSitemap, Origin: host.Origin, Target: "/list", MaxBody: 5 * maxBody, Read: read})
		ask(&fetch.Question{Kind: fetch.KindControl, Origin: host.Origin, Target: "/shut"})
	}}
	client, err := client.New(client.Config{
		UserAgent: "test", Timeout: 5 * time.Second, Limits: fetch.Limits{MaxBody: maxBody, MaxRedirects: 5}, Concurrency: 1,
		PerAddress: 1, PerDomain: 1, Record: true, Further: []fetch.Plan{plan},
		ConnectTo: netip.MustParseAddrPort(server.Listener.Addr().String()),
	}, client.Backing{Waiting: 1})
	must(t, err)
	lease, err := client.Enter(t.Context(), t.Context())
	must(t, err)
	defer lease.Leave()
	want := lease.Fetch(0, fetch.Origin{Scheme: "http", Host: "a.example", Port: 80})
	if f := want.Further; len(f) != 3 || len(f[0].Body) <= maxBody || len(f[1].Reading) == 0 ||
		f[2].Outcome != usage.PageDisallowed {
		t.Fatalf("%+v", f)
	}
	e := &Evidence{MaxBody: maxBody}
	file, err := e.Capture(want, lease.Exchanges())
	must(t, err)
	got, damages, _ := readAll(t, bytes.NewReader(file))
	if compare(t, []*fetch.Capture{want}, got); len(damages) > 0 {
		t.Errorf("%q", damages)
	}
	for i, r := range parse(t, file) {
		r.check(t)
		if isReading := r.block == string(want.Further[1].Reading); isReading != (r.fields["Content-Type"] == readingType) ||
			isReading && r.fields["WARC-Target-URI"] != "" {
			t.Errorf("record %d: %v", i, r.fields)
		}
	}
}

// Anybody may write a file: facts that no fetch has are damage.
func TestEvidenceForged(t *testing.T) {
	e := &Evidence{MaxBody: maxBody}
	r, err := e.Capture(fromMemory(t)[1], nothing)
	must(t, err)
	records := parse(t, r)
	for _, change := range [][2]string{
		{"", ""}, // as it is
		{`"error_class":"timeout"`, `"error_class":"policy"`},
		{`"error_class":"timeout"`, `"error_class":"canceled"`},
		{`"error_class":"timeout"`, `"fallback_error_class":"x","error_class":"timeout"`},
		{`"host":"a.example"`, `"host":"A.example"`},
		{`"scheme":"http"`, `"scheme":"gopher"`},
		{`"port":80`, `"port":81`},
		{`"url":"http://a.example/robots.txt"`, `"url":"http://b.example/robots.txt"`},
		{`"url":"http://a.example/robots.txt"`, `"url":"http://a.example/robots.txt","status":1000`},
		{`"hops":[{"url":"http://a.example/robots.txt"}]`, `"hops":[]`},
		{`"attempts":3`, `"attempts":-3`},
		{`"attempts":3`, `"attempts":0`},
		{`"attempts":3`, `"attempts":3,"http_version":"Evil"`},
		{`"attempts":3`, `"attempts":3,"tls_version":"9"`},
		{`"attempts":3`, `"attempts":3,"broken_off_bytes":-1`},
		{`"attempts":3`, `"attempts":3,"nanoseconds":{"total":-1}`},
		{`"attempts":3`, `"attempts":3,"probe":{"front_status":-200}`},
		{`"attempts":3`, `"attempts":3,"headers":{"server":"` + strings.Repeat("s", 3000) + `"}`},
		{`"attempts":3`, `"attempts":3,"front_page":{"outcome":"maybe","hops":[{"url":"http://a.example/","status":200}]}`},
		{`"attempts":3`, `"attempts":3,"front_page":{"outcome":"read"}`},
		{`"attempts":3`, `"attempts":3,"front_page":{"outcome":"unread","hops":[{"url":"http://a.example/","status":200}]}`},
		{`"attempts":3`,
			`"attempts":3,"front_page":{"outcome":"status","hops":[{"url":"http://a.example/","status":404}],"header":[{"name":"x-robots-tag","value":"noai"}]}`},
		{`"attempts":3`,
			`"attempts":3,"front_page":{"outcome":"read","hops":[{"url":"http://a.example/","status":200}],"header":[{"name":"server","value":"noai"}]}`},
		{`"attempts":3`, `"attempts":3,"front_page":{"outcome":"failed","hops":[{"url":"http://a.example/"}]}`},
		{`"attempts":3`,
			`"attempts":3,"front_page":{"outcome":"failed","hops":[{"url":"http://a.example/"}],"error_class":"policy"}`},
		{`"attempts":3`,
			`"attempts":3,"further":[{"kind":"letter","url":"http://a.example/","outcome":"status","hops":[{"url":"http://a.example/","status":404}]}]`},
		{`"attempts":3`, `"attempts":3,"further":[{"kind":"page","url":"http://a.example/","outcome":"read"}]`},
		{`"attempts":3`,
			`"attempts":3,"further":[{"kind":"page","url":"http://a.example/","outcome":"failed","hops":[{"url":"http://a.example/"}]}]`},
		{`"attempts":3`,
			`"attempts":3,"further":[{"kind":"page","url":"http://a.example/","outcome":"status","hops":[{"url":"http://a.example/","status":1404}]}]`},
		{`"attempts":3`,
			`"attempts":3,"further":[{"kind":"page","url":"http://a.example/","outcome":"status","hops":[{"url":"http://a.example/","status":404}],"body_bytes":4}]`},
		{`"Class":"network_failure"`, `"Class":"nothing"`},
		{`"bytes":12`, `"bytes":13`},
		{`"bytes":12`, `"bytes":-1`},
		{`"robocensus_capture":1`, `"robocensus_capture":2`},
		{`"max_body":1000`, `"max_body":-1`},
		{`"max_body":1000`, `"max_body":10`},
		{`"bodies":["urn:uuid:`, `"bodies":["urn:uuid:0`},
		{`"bodies":[`, `"bodies":["","`},
	} {
		text := strings.Replace(records[0].block, change[0], change[1], 1)
		if change[0] != "" && text == records[0].block {
			t.Fatalf("no %s in %s", change[0], text)
		}
		file := ""
		for i, r := range records {
			if i > 0 {
				text = r.block
			}
			fields := ""
			for name, value := range r.fields {
				if name != "Content-Length" {
					fields += name + ": " + value + "\r\n"
				}
			}
			file += warcRecord(fields, text)
		}
		got, damages, _ := readAll(t, strings.NewReader(file))
		if want := change[0] == ""; (len(got) == 1) != want || (len(damages) == 0) != want {
			t.Errorf("%s for %s: %d captures, %q", change[1], change[0], len(got), damages)
		}
	}
}
