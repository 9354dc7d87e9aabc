package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"goftp.io/server/v2"
	"goftp.io/server/v2/driver/file"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// wantTheSameAgain makes a run of the evidence of another, which must have the same rows.
func wantTheSameAgain(t *testing.T, c Config) {
	t.Helper()
	again := c
	again.Dir, again.State, again.WARCOut, again.Settings = filepath.Join(t.TempDir(), "again"), "", "", nil
	again.Source.Hosts, again.Source.WARC, again.Fetch.Identities = "", []string{c.WARCOut}, nil
	if _, err := Run(t.Context(), again, new(Progress)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rowsOf[schema.Fetch](t, c, "fetches"), rowsOf[schema.Fetch](t, again, "fetches"),
		cmpopts.EquateEmpty(), cmpopts.IgnoreFields(schema.Fetch{},
			"Seq", "Input", "Rank", "Source", "WARCFile", "WARCOffset", "WARCLength", "DNSMicros", "ConnectMicros", "TLSMicros",
			"FirstByteMicros", "TotalMicros")); diff != "" {
		t.Errorf("fetches (-asked +read):\n%s", diff)
	}
	if diff := cmp.Diff(rowsOf[schema.Policy](t, c, "policies"), rowsOf[schema.Policy](t, again, "policies"),
		cmpopts.IgnoreFields(schema.Policy{}, "Seq", "Rank")); diff != "" {
		t.Errorf("policies (-asked +read):\n%s", diff)
	}
	if diff := cmp.Diff(rowsOf[schema.Answer](t, c, "answers"), rowsOf[schema.Answer](t, again, "answers"),
		cmpopts.IgnoreFields(schema.Answer{}, "Seq", "Rank", "TotalMicros")); diff != "" {
		t.Errorf("answers (-asked +read):\n%s", diff)
	}
	if diff := cmp.Diff(rowsOf[schema.Body](t, c, "bodies"), rowsOf[schema.Body](t, again, "bodies"),
		cmp.Comparer(bytes.Equal)); diff != "" {
		t.Errorf("bodies (-asked +read):\n%s", diff)
	}
}

// withEvidence makes a run keep its requests and answers.
func withEvidence(t *testing.T, c Config) Config {
	c.WARCOut = filepath.Join(t.TempDir(), "e.warc.gz")
	c.Settings = map[string]any{"warc-out": c.WARCOut}
	return c
}

// recordsIn returns the texts of a file's records.
func recordsIn(t *testing.T, path string) (texts []string) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	in := bytes.NewReader(content)
	z, err := gzip.NewReader(in)
	for ; err == nil; err = z.Reset(in) {
		z.Multistream(false)
		text, e := io.ReadAll(z)
		must(t, e)
		texts = append(texts, string(text))
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return texts
}

func count(texts []string, part string) (n int) {
	for _, text := range texts {
		if strings.Contains(text, part) {
			n++
		}
	}
	return n
}

// What the memory of earlier runs knows is in the evidence: answers that it serves, copies
// that it judges, and since when an origin is unreachable.
func TestEvidenceOfRunsWithAMemory_NoRace(t *testing.T) {
	s := &site{}
	c := newConfig(t, s.ServeHTTP, "h.example\n")
	c.State, c.MaxAge = filepath.Join(t.TempDir(), "state"), 24*time.Hour
	c.Evaluate.Profiles = profilesNamed("google", "google-2012", "rfc9309")
	for _, d := range []struct {
		n         int
		answer    func(http.ResponseWriter)
		reason    string
		requests  int
		resources int
	}{
		{0, file1, "success", 1, 0},
		{0, file1, "success", 0, 1}, // served
		{5, cutShort, "incomplete_body", 1, 1},
		{6, cutShort, "stale_copy", 1, 1},
		{37, gone, "client_error", 1, 0},
		{37, gone, "client_error", 0, 0}, // served, and has no body
		{38, down, "server_error", 1, 0},
	} {
		s.set(d.answer)
		now := firstDay.AddDate(0, 0, d.n).Add(time.Duration(d.requests) * time.Minute)
		if d.requests == 0 {
			now = now.Add(time.Hour)
		}
		c := withEvidence(t, c)
		c.Run, c.Fetch.Now = fmt.Sprintf("day-%d-%d", d.n, d.requests), func() time.Time { return now }
		if _, err := Run(context.Background(), c, new(Progress)); err != nil {
			t.Fatal(err)
		}
		records := recordsIn(t, c.WARCOut)
		if f := rowsOf[schema.Fetch](t, c, "fetches")[0]; f.Reason != d.reason ||
			count(records, "WARC-Type: request\r") != d.requests || count(records, "WARC-Type: resource\r") != d.resources {
			t.Errorf("day %d: %s, with %d requests and %d resources", d.n, f.Reason, count(records, "WARC-Type: request\r"),
				count(records, "WARC-Type: resource\r"))
		}
		wantTheSameAgain(t, c)
	}
}

// Over FTP, the control connection is a metadata record and the file a resource.
func TestEvidenceOverFTP(t *testing.T) {
	root := t.TempDir()
	const text = "User-agent: *\nDisallow: /private\n"
	must(t, os.WriteFile(filepath.Join(root, "robots.txt"), []byte(text), 0o600))
	driver, err := file.NewDriver(root)
	must(t, err)
	s, err := server.NewServer(&server.Options{Driver: driver, Auth: everyone{}, Perm: server.NewSimplePerm("a", "a"),
		Logger: &server.DiscardLogger{}})
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	go func() { s.Serve(l); close(done) }()
	defer func() { l.Close(); <-done }()
	c := withEvidence(t, newConfig(t, nil, "ftp://a.example\n"))
	c.Fetch.ConnectTo = netip.MustParseAddrPort(l.Addr().String())
	if _, err := Run(t.Context(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	records := recordsIn(t, c.WARCOut)
	if count(records, "Content-Type: text/x-ftp-control-conversation\r") != 1 ||
		count(records, "\r\nRETR robots.txt\r\n") != 1 || count(records, "\r\nUSER anonymous\r\n331 ") != 1 {
		t.Errorf("the records lack the conversation: %q", records)
	}
	if count(records, "WARC-Type: resource\r") != 1 || count(records, "\r\n\r\n"+text+"\r\n\r\n") != 1 {
		t.Errorf("the records lack the file: %q", records)
	}
	wantTheSameAgain(t, c)
}

// The evidence of a run that was stopped is that of both processes: no record is lost or
// doubled, though the evidence of hosts that were asked before the stop was on disk alone. It is the
// same whether bodies fit into memory.
func TestEvidenceOfAResumedRun(t *testing.T) {
	const hosts = 120
	noise := strings.Repeat("# 0123456789abcdef\n", 100)
	var asked atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	c := withEvidence(t, newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == hosts/2 {
			cancel()
		}
		fmt.Fprintf(w, "User-agent: *\nDisallow: /%s\n%s", r.Host, noise)
	}, list(hosts)))
	c.Memory, c.Grace = 1<<20, 10*time.Second // bodies and evidence go to the disk
	var stopped *Stopped
	if _, err := Run(ctx, c, new(Progress)); !errors.As(err, &stopped) || stopped.Kept < hosts/2 || stopped.Kept == hosts {
		t.Fatalf("%v: %+v", err, stopped)
	}
	if _, err := os.Stat(c.WARCOut); err == nil {
		t.Error("the file is there before the run is complete")
	}
	other := c
	other.Resume, other.WARCOut, other.Settings = true, "", map[string]any{"warc-out": ""}
	if _, err := Run(t.Context(), other, new(Progress)); !errors.Is(err, journal.ErrNotResumable) ||
		!strings.Contains(err.Error(), "warc-out") {
		t.Errorf("resumed without evidence: %v", err)
	}
	c.Resume = true
	if _, err := Run(t.Context(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n != hosts {
		t.Errorf("%d requests", n)
	}
	records := recordsIn(t, c.WARCOut)
	for i := range hosts {
		host := fmt.Sprintf("\r\nWARC-Target-URI: http://h%d.example/robots.txt\r\n", i)
		if n := count(records, host); n != 2 || count(records, fmt.Sprintf("\r\n\r\nUser-agent: *\nDisallow: /h%d.example\n",
			i)) != 1 {
			t.Errorf("host %d has %d records", i, n)
		}
	}
	wantTheSameAgain(t, c)
	if _, err := os.Stat(filepath.Join(c.Dir, "_runs", "r", "warc")); err == nil {
		t.Error("the files of the segments are left")
	}
}

// A file is never replaced, but for that of a run that is begun anew; one that a killed
// process has left just before the manifest is taken.
func TestEvidenceReplacesNoFile(t *testing.T) {
	c := withEvidence(t, newConfig(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "User-agent: *\n") },
		"a.example\n"))
	must(t, os.WriteFile(c.WARCOut, []byte("precious"), 0o666))
	wantRefused := func(c Config) {
		t.Helper()
		var bad *userfile.Error
		if _, err := Run(t.Context(), c, new(Progress)); !errors.As(err, &bad) || !strings.Contains(err.Error(), c.WARCOut) {
			t.Errorf("%v", err)
		}
		if text, err := os.ReadFile(c.WARCOut); string(text) != "precious" {
			t.Errorf("the file has %q: %v", text, err)
		}
	}
	wantRefused(c)
	resumed, forced := c, c
	resumed.Resume, forced.ForceNew = true, true
	wantRefused(resumed)
	wantRefused(forced)
	must(t, os.Remove(c.WARCOut))
	if _, err := Run(t.Context(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(c.WARCOut)
	must(t, err)
	if _, err := Run(t.Context(), forced, new(Progress)); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(c.WARCOut)
	must(t, err)
	if bytes.Equal(before, after) {
		t.Error("the run that was begun anew has the file of the other")
	}
	m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), c.Run)
	must(t, err)
	if m.WARCFile == nil || m.WARCFile.Path != c.WARCOut || m.WARCFile.Bytes != int64(len(after)) || len(m.WARC) > 0 {
		t.Errorf("the manifest names %+v and %v", m.WARCFile, m.WARC)
	}
	// The run exists: its file is not touched by another attempt.
	must(t, os.WriteFile(c.WARCOut, []byte("precious"), 0o666))
	wantRefused(c)
	wantRefused(forced)
}

// A file that cannot be made is told before a host is asked.
func TestEvidenceThatCannotBeWritten(t *testing.T) {
	var asked atomic.Int64
	c := withEvidence(t, newConfig(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1) }, "a.example\n"))
	must(t, os.Symlink("missing/e.warc.gz", c.WARCOut))
	for _, resume := range []bool{false, true} {
		c.Resume = resume
		_, err := Run(t.Context(), c, new(Progress))
		var bad *userfile.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.WARCOut) || asked.Load() > 0 {
			t.Errorf("resume %v: %v, after %d requests", resume, err, asked.Load())
		}
	}
}

// A probe for a misconfigured site, and https before http, are requests as any.
func TestEvidenceOfProbesAndSchemes(t *testing.T) {
	c := withEvidence(t, newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(500)
		}
	}, "a.example\n"))
	c.Source.Schemes, c.Fetch.ProbeMisconfigured = []string{"https", "http"}, true
	if _, err := Run(t.Context(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	f := rowsOf[schema.Fetch](t, c, "fetches")[0]
	if f.Reason != string(answer.MisconfiguredServer) || f.FallbackErrorClass == nil || f.ProbeFrontStatus == nil {
		t.Fatalf("%+v", f)
	}
	records := recordsIn(t, c.WARCOut)
	if count(records, "WARC-Type: request\r") != 3 || count(records, "WARC-Target-URI: http://a.example/\r") != 2 ||
		count(records, `{"url":"https://a.example/robots.txt"`) != 1 {
		t.Errorf("%q", records)
	}
	wantTheSameAgain(t, c)
}

// Answers to further identities stand in the evidence under their names. They make the
// table answers again, and none of them is a capture of the host.
func TestEvidenceOfIdentities(t *testing.T) {
	t.Parallel()
	c := withEvidence(t, newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host == "other.example":
			fmt.Fprint(w, "User-agent: *\nDisallow: /other\n")
		case r.UserAgent() == "A/1":
			http.Redirect(w, r, "http://other.example/robots.txt", http.StatusFound)
		case r.UserAgent() == "B/1":
			w.WriteHeader(http.StatusForbidden)
		default:
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		}
	}, "a.example\n"))
	secret := []fetch.Header{{Name: "Authorization", Value: "Bearer 5ecret"}}
	c.Fetch.Identities = []fetch.Identity{{Name: "a", UserAgent: "A/1", Agent: "GPTBot", Headers: secret},
		{Name: "b", UserAgent: "B/1"}, {Name: "control", UserAgent: "test", IsControl: true}}
	c.DropSecrets = true
	if _, err := Run(t.Context(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	answers := rowsOf[schema.Answer](t, c, "answers")
	records := recordsIn(t, c.WARCOut)
	if len(answers) != 3 || count(records, "WARC-Type: request\r") != 5 || count(records, `"identity":"a"`) != 1 ||
		count(records, "5ecret") > 0 {
		t.Errorf("%d answers, %q", len(answers), records)
	}
	wantTheSameAgain(t, c)
}
