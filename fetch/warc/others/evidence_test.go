package others

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	archive "github.com/internetarchive/gowarc/cmd/warc/verify"
	norway "github.com/nlnwa/gowarc/v3"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/fetch/warc"
)

// same is what several hosts answer, so that there is something to deduplicate.
var same = "User-agent: *\nDisallow: /same\n" + strings.Repeat("# as a template has it\n", 20)

// site answers in the ways of its hosts: in most of them as every library expects.
func site(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ".")
	raw := func(text string) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			io.WriteString(c, text)
			c.Close()
		}
	}
	switch host {
	case "moved":
		http.Redirect(w, r, "http://target.example/robots.txt", http.StatusFound)
	case "gone":
		http.NotFound(w, r)
	case "chunked":
		io.WriteString(w, same[:40])
		w.(http.Flusher).Flush()
		io.WriteString(w, same[40:])
	case "http13":
		raw("HTTP/1.3 200 OK\r\nContent-Length: " + fmt.Sprint(len(same)) + "\r\n\r\n" + same)
	case "bare":
		raw("HTTP/1.0 200 OK\r\n\r\n" + same)
	case "garbage":
		raw("SSH-2.0-dropbear\r\n")
	case "half":
		raw("HTTP/1.1 200 OK\r\nServ")
	case "silent":
		raw("")
	default:
		io.WriteString(w, same)
	}
}

var hosts = []string{"plain", "other", "moved", "target", "gone", "chunked", "http13", "bare", "garbage", "half",
	"silent"}

// evidence returns the records of the fetches of all hosts, and the captures.
func evidence(t *testing.T) (file []byte, captures []*fetch.Capture) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(site))
	defer server.Close()
	c, err := client.New(client.Config{
		UserAgent: "test", Timeout: 5 * time.Second, Limits: fetch.Limits{MaxRedirects: 5, MaxBody: 512_000}, Concurrency: 1,
		PerAddress: 1, PerDomain: 1, Record: true,
		ConnectTo: netip.MustParseAddrPort(server.Listener.Addr().String()),
	}, client.Backing{Waiting: 1})
	must(t, err)
	e := &warc.Evidence{MaxBody: 512_000}
	file, err = e.Info(time.Now(), []warc.Field{warc.Software("1")})
	must(t, err)
	for _, host := range hosts {
		lease, err := c.Enter(t.Context(), t.Context())
		must(t, err)
		got := lease.Fetch(0, fetch.Origin{Scheme: "http", Host: host + ".example", Port: 80})
		records, err := e.Capture(got, lease.Exchanges())
		must(t, err)
		file, captures = append(file, records...), append(captures, got)
		lease.Leave()
	}
	return file, captures
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The verifier of the Internet Archive finds no fault: it compares digests as texts, and
// those of payloads with a body that it has read by net/http.
func TestTheInternetArchiveVerifiesEvidence(t *testing.T) {
	file, _ := evidence(t)
	path := filepath.Join(t.TempDir(), "e.warc.gz")
	must(t, os.WriteFile(path, file, 0o666))
	got, err := archive.ValidateWARCFile(path)
	if err != nil || !got.Valid || got.ErrorsCount > 0 || !got.AllRecordsRead || got.RecordCount < 3*len(hosts)-2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// The library of Norway finds one fault: it takes chunks for a part of
// the payload, which neither WARC 1.1 (section 6.3.2) nor the other validators do.
func TestNorwayValidatesEvidence(t *testing.T) {
	file, _ := evidence(t)
	records, chunked := 0, 0
	norwegian(t, file, func(r norway.Record) {
		records++
		for _, fault := range r.Validation {
			var digest *norway.DigestError
			if chunked++; !errors.As(fault, &digest) || r.WarcRecord.WarcHeader().Get(
				norway.WarcTargetURI) != "http://chunked.example/robots.txt" || chunked > 1 {
				t.Errorf("%v: %v", r.WarcRecord, fault)
			}
		}
	})
	if records < 3*len(hosts)-2 || chunked != 1 {
		t.Errorf("%d records, %d faults", records, chunked)
	}
}

// norwegian calls each with the records of a file, which it reads and validates.
func norwegian(t *testing.T, file []byte, each func(norway.Record)) {
	t.Helper()
	in, err := norway.NewWarcFileReaderFromStream(bytes.NewReader(file), 0, norway.WithBlockErrorPolicy(norway.ErrWarn))
	must(t, err)
	defer in.Close()
	for {
		r, err := in.Next()
		if err == io.EOF {
			return
		}
		must(t, err)
		each(r)
	}
}

// What the library of Norway makes of evidence when it puts revisit records in the place of
// equal answers has as many captures as before, each with all that it had but its body.
func TestNorwayDeduplicatesEvidence(t *testing.T) {
	file, captures := evidence(t)
	var out bytes.Buffer
	seen, revisits := make(map[string]*norway.RevisitRef), 0
	m := norway.NewMarshaler()
	norwegian(t, file, func(record norway.Record) {
		r := record.WarcRecord
		digest := r.WarcHeader().Get(norway.WarcPayloadDigest)
		if ref := seen[digest]; digest != "" && ref != nil {
			revisits++
			var err error
			r, err = r.ToRevisitRecord(ref)
			must(t, err)
		} else if digest != "" {
			ref, err := r.CreateRevisitRef(norway.ProfileIdenticalPayloadDigestV1_1)
			must(t, err)
			seen[digest] = ref
		}
		_, _, err := m.Marshal(&out, r, 0)
		must(t, err)
	})
	var got []*warc.Capture
	counts, err := warc.Read(context.Background(), "e", &out, warc.Config{Limits: fetch.Limits{MaxBody: 512_000}},
		func(c *warc.Capture) error {
			got = append(got, c)
			return nil
		}, func(_ int64, what string) error { t.Error(what); return nil })
	must(t, err)
	if len(got) != len(captures) || revisits < 5 {
		t.Fatalf("%d captures of %d, %d revisits, %+v", len(got), len(captures), revisits, counts)
	}
	for i, c := range got {
		unstored := c.Unstored
		if unstored {
			if c.Revisit == nil || c.Revisit.TargetURI != "http://plain.example/robots.txt" || c.Body != nil {
				t.Errorf("%s refers to %+v", c.Origin, c.Revisit)
			}
			revisits--
			c.Restore(captures[0])
		}
		want, err := captures[i].MarshalBinary()
		must(t, err)
		have, err := c.MarshalBinary()
		must(t, err)
		if diff := cmp.Diff(string(want), string(have)); diff != "" {
			t.Errorf("%s (-fetched +read):\n%s", c.Origin, diff)
		}
	}
	if revisits != 0 {
		t.Errorf("%d revisits are of no capture", revisits)
	}
}
