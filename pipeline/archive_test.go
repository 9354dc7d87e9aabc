package pipeline

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// A filter that no capture passes is an error, and leaves nothing behind.
func TestTheFilterLetsNothingPass(t *testing.T) {
	for source, change := range map[string]func(c *Config){
		"warc": func(c *Config) {
			c.Source.WARC = []string{
				writeFile(t, "one.warc", []byte(warcResponse("h.example", "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n")))}
		},
		"bodies": func(c *Config) {
			c.Source.Bodies = filepath.Dir(writeFile(t, "h.example", []byte("User-agent: *\n")))
		},
	} {
		t.Run(source, func(t *testing.T) {
			c := newConfig(t, nil, "other.example\n")
			change(&c)
			_, err := Run(t.Context(), c, new(Progress))
			var input *userfile.Error
			if !errors.As(err, &input) || input.Path != c.Source.Hosts || !strings.Contains(err.Error(),
				"names no host of the 1 stored answers") {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(c.Dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder is left: %v", err)
			}
		})
	}
}

// A run counts the hosts of its filter that no capture is of, of all archives. Once it is
// resumed and does not read an archive again, it does not know them.
func TestHostsWithoutACaptureAreCounted_NoRace(t *testing.T) {
	c := newConfig(t, nil, "one.example\ntwo.example\nthree.example\n")
	for _, host := range []string{"one.example", "two.example"} {
		c.Source.WARC = append(c.Source.WARC,
			writeFile(t, host, []byte(warcResponse(host, "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n"))))
	}
	result, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	if result.Unmatched == nil || *result.Unmatched != 1 {
		t.Errorf("unmatched: %v, want 1", result.Unmatched)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one reader and one evaluator: the archives in order
	c.Run = "resumed"
	blocked := filepath.Join(c.Dir, "_runs", c.Run, "segments", fmt.Sprintf("%010d.json", journal.SegmentsPerVolume))
	must(t, os.MkdirAll(blocked, 0o777))
	if _, err := Run(t.Context(), c, new(Progress)); err == nil {
		t.Fatal("the record of the second archive was to be impossible to write")
	}
	must(t, os.Remove(blocked))
	c.Resume = true
	result, err = Run(t.Context(), c, new(Progress))
	must(t, err)
	if result.Unmatched != nil || result.Earlier != 1 {
		t.Errorf("%d captures were judged before; unmatched: %v, which is not known", result.Earlier, result.Unmatched)
	}
}

// Every damaged place is counted, however many there are.
func TestWARCDamageIsCounted_NoRace(t *testing.T) {
	const (
		maxRejected = 1_000_000 // the most lines that rejected.csv lists
		places      = maxRejected + 10
	)
	c := newConfig(t, nil, "")
	c.Source = source.Config{Schemes: []string{"http"},
		WARC: []string{writeFile(t, "a.warc.gz", gzipped(warcResponse("a.test", "HTTP/1.1 200 OK\r\n\r\n")+
			strings.Repeat("WARC/1.0\n\n\n", places)))}}
	result, err := Run(t.Context(), c, new(Progress))
	if err != nil {
		t.Fatal(err)
	}
	reasons := rejectedReasons(t, c)
	listed, last := 0, reasons[len(reasons)-1]
	for _, reason := range reasons {
		if strings.HasPrefix(reason, "damaged_record") {
			listed++
		}
	}
	// Two URL samples of the configuration belong to other origins.
	if listed != maxRejected || result.Rejected != places+2 || !strings.HasPrefix(last, "not_listed") {
		t.Errorf("%d damaged places are listed, %d counted, last of all %q; want %d and %d", listed, result.Rejected, last,
			maxRejected, places+2)
	}
}

// WARC/1.1 section 5.9: a body that contradicts the archive's digest is judged as
// it is, and its row says so. Its digest is that of the body, whatever the archive's is.
func TestPayloadDigest(t *testing.T) {
	const body = "User-agent: *\nDisallow: /\n"
	gzippedBody := string(gzipped(body))
	digestOf := func(body []byte) string {
		sum := sha1.Sum(body)
		return base32.StdEncoding.EncodeToString(sum[:])
	}
	sum1, sum256 := sha1.Sum([]byte(body)), sha256.Sum256([]byte(body))
	var archive strings.Builder
	var want []bool
	var bodies []string
	for i, row := range []struct {
		digest, header, body string
		differs              bool
	}{
		{"sha1:" + digestOf([]byte(body)), "", body, false},
		{"SHA1:" + strings.ToLower(digestOf([]byte(body))), "", body, false},
		{"sha1:" + hex.EncodeToString(sum1[:]), "", body, false},
		{"sha256:" + hex.EncodeToString(sum256[:]), "", body, false},
		{"sha1:" + digestOf([]byte(body)), "", body + "#", true},
		{"sha1:" + hex.EncodeToString(sum1[:]), "", body[1:], true},
		{"sha-256:" + hex.EncodeToString(sum256[:]), "", "", true},
		{"sha1:" + digestOf([]byte(body)), "X-Crawler-Content-Encoding: gzip\r\n", body + "#", true},
		// the digest may be of either form
		{"sha1:" + digestOf([]byte(gzippedBody)), "Content-Encoding: gzip\r\n", gzippedBody, false},
		{"sha1:" + digestOf([]byte(body)), "Content-Encoding: gzip\r\n", gzippedBody, false},
		{"sha1:ABC", "", body, false},
		{"xxh3:0123456789abcdef", "", body, false},
		{"", "", body, false},
	} {
		want, bodies = append(want, row.differs), append(bodies, row.body)
		if row.body == gzippedBody {
			bodies[i] = body
		}
		fields := warcFields(fmt.Sprintf("h%d.test", i))
		if row.digest != "" {
			fields += "WARC-Payload-Digest: " + row.digest + "\r\n"
		}
		archive.WriteString(warcRecord(fields, "HTTP/1.1 200 OK\r\n"+row.header+"\r\n"+row.body))
	}
	c := storedConfig(t, source.Config{Schemes: []string{"http"},
		WARC: []string{writeFile(t, "a.warc", []byte(archive.String()))}})
	if _, err := Run(t.Context(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	got := texts(t, c, "fetches", "error")
	outcomes, digests := texts(t, c, "fetches", "outcome"), texts(t, c, "fetches", "content_digest")
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if strings.Contains(got[i], "WARC-Payload-Digest") != want[i] || outcomes[i] != "conditional_allow" {
			t.Errorf("row %d: %s, error %q, want a mismatch: %v", i, outcomes[i], got[i], want[i])
		}
		if digest := digestOf([]byte(bodies[i])); digests[i] != digest {
			t.Errorf("row %d: the digest is %s, want %s", i, digests[i], digest)
		}
	}
}

func storedConfig(t *testing.T, s source.Config) Config {
	c := newConfig(t, nil, "")
	c.Source = s
	return c
}

func bodiesOf(t *testing.T, c Config) (hosts []string) {
	for _, row := range rowsOf[schema.Fetch](t, c, "fetches") {
		hosts = append(hosts, row.Host)
	}
	slices.Sort(hosts)
	return hosts
}
