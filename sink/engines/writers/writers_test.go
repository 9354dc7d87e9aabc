package writers

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	ia "github.com/internetarchive/gowarc"
	nb "github.com/nlnwa/gowarc/v3"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hostsOf draws some hosts.
func hostsOf(r *rand.Rand) (hosts []int) {
	first := 2 + r.IntN(100)
	for i := range 3 + r.IntN(6) {
		hosts = append(hosts, first+i)
	}
	return hosts
}

// say notes what the hosts said.
func (a *archive) say(s *site, hosts []int) {
	a.bodies, a.versions = make(map[string]string), make(map[string][]string)
	for _, host := range hosts {
		body := rules(host, s.version(host))
		if form(host) == "missing" && !a.alwaysThere {
			body = ""
		}
		name := fmt.Sprintf("127.0.0.%d", host)
		a.bodies[name] = body
		for v := range s.version(host) + 1 {
			a.versions[name] = append(a.versions[name], rules(host, v))
		}
	}
}

// waitForNextSecond waits until programs date in a later second than that in which a file
// was written. The clock that time(2) reads lags behind that of files by some milliseconds:
// it follows the ticks of the kernel.
func waitForNextSecond(t *testing.T, written string) {
	t.Helper()
	const lag = 50 * time.Millisecond
	second := func(name string, more time.Duration) int64 {
		info, err := os.Stat(name)
		must(t, err)
		return info.ModTime().Add(more).Unix()
	}
	last, probe := second(written, lag), filepath.Join(t.TempDir(), "probe")
	for {
		must(t, os.WriteFile(probe, []byte("x"), 0o666))
		if second(probe, -lag) > last {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// wget writes an archive twice, and names by WARC-Refers-To alone what has not changed.
func wget(t *testing.T, s *site, r *rand.Rand) *archive {
	program, err := exec.LookPath("wget")
	if err != nil {
		t.Skip("wget is not here")
	}
	dir, hosts := t.TempDir(), hostsOf(r)
	compressed := []string{"--warc-max-size=1G"}
	suffix := ".warc.gz"
	if r.IntN(3) == 0 {
		compressed, suffix = []string{"--no-warc-compression"}, ".warc"
	}
	write := func(name string, more ...string) string {
		var urls strings.Builder
		for _, host := range hosts {
			fmt.Fprintln(&urls, s.url(host))
		}
		must(t, os.WriteFile(filepath.Join(dir, "urls"), []byte(urls.String()), 0o666))
		args := append([]string{"-q", "--no-config", "--no-proxy", "--tries=1", "-O", "/dev/null", "-i", "urls",
			"--warc-cdx", "--warc-file=" + name}, append(more, compressed...)...)
		c := exec.Command(program, args...)
		c.Dir = dir
		if text, err := c.CombinedOutput(); err != nil && c.ProcessState.ExitCode() != 8 { // 8 is a 404
			t.Fatalf("wget: %v\n%s", err, text)
		}
		matches, err := filepath.Glob(filepath.Join(dir, name+"*"+suffix))
		must(t, err)
		slices.Sort(matches)
		return matches[0]
	}
	a := &archive{name: "wget", elsewhere: make(map[string]bool)}
	first := write("first")
	waitForNextSecond(t, first) // its dates have seconds
	changed := make(map[int]bool)
	for _, host := range hosts {
		if changed[host] = r.IntN(3) == 0; changed[host] {
			s.change(host)
		}
	}
	second := write("second", "--warc-dedup=first.cdx")
	a.say(s, hosts)
	switch r.IntN(4) {
	case 0:
		a.files = []string{first, second}
	case 1:
		a.files = []string{second, first}
	case 2: // as after cat
		one, err := os.ReadFile(first)
		must(t, err)
		two, err := os.ReadFile(second)
		must(t, err)
		both := filepath.Join(dir, "both"+suffix)
		must(t, os.WriteFile(both, append(two, one...), 0o666))
		a.files = []string{both}
	case 3:
		a.files = []string{second}
		for _, host := range hosts {
			if !changed[host] && form(host) != "missing" {
				a.elsewhere[fmt.Sprintf("127.0.0.%d", host)] = true
			}
		}
	}
	return a
}

// iaWriter writes revisit records of what the file has, or of what an index has.
func iaWriter(t *testing.T, s *site, r *rand.Rand) *archive {
	dir, hosts := t.TempDir(), hostsOf(r)
	a := &archive{name: "gowarc of the Internet Archive", elsewhere: make(map[string]bool)}
	type seen struct{ date, url, digest string }
	index := make(map[string]seen)
	cdx := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e, ok := index[r.FormValue("url")]; ok {
			fmt.Fprintf(w, "key %s %s text/plain 200 %s 100", e.date, e.url, e.digest)
		}
	}))
	defer cdx.Close()
	write := func(name string, dedupe ia.DedupeOptions, algorithm ia.DigestAlgorithm, times int) {
		settings := ia.NewRotatorSettings()
		settings.OutputDirectory, settings.Prefix = filepath.Join(dir, name), "TEST"
		must(t, os.MkdirAll(settings.OutputDirectory, 0o777))
		if r.IntN(3) == 0 {
			settings.Compression = "ZSTD"
		}
		dedupe.SizeThreshold = 1
		client, err := ia.NewWARCWritingHTTPClient(ia.HTTPClientSettings{RotatorSettings: settings, DedupeOptions: dedupe,
			DigestAlgorithm: algorithm, TempDir: dir, FollowRedirects: true, DNSServers: []string{"127.0.0.1"}})
		must(t, err)
		done := make(chan bool)
		go func() {
			for e := range client.ErrChan {
				t.Errorf("gowarc: %v", e.Err)
			}
			close(done)
		}()
		for i := range times {
			for _, host := range hosts {
				if i > 0 && r.IntN(3) == 0 {
					s.change(host)
				}
				answer, err := client.Get(s.url(host))
				must(t, err)
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}
		must(t, client.Close())
		<-done
		matches, err := filepath.Glob(filepath.Join(settings.OutputDirectory, "*.warc*"))
		must(t, err)
		slices.Sort(matches)
		a.files = append(a.files, matches...)
	}
	switch algorithms := []ia.DigestAlgorithm{ia.SHA1, ia.SHA256Base16, ia.SHA256Base32, ia.BLAKE3}; r.IntN(2) {
	case 0: // of what the same file has
		write("once", ia.DedupeOptions{LocalDedupe: true}, algorithms[r.IntN(len(algorithms))], 2+r.IntN(2))
	case 1: // of an index, whose dates are whole seconds
		write("first", ia.DedupeOptions{}, ia.SHA1, 1)
		for _, c := range capturesOf(t, a.files) {
			if c.Status() == 200 {
				_, digest, _ := strings.Cut(c.PayloadDigest, ":")
				index[c.Hops[0].URL] = seen{c.Start.Format("20060102150405"), c.Hops[0].URL, digest}
			}
		}
		write("second", ia.DedupeOptions{CDXDedupe: true, CDXURL: cdx.URL}, ia.SHA1, 1)
		if r.IntN(3) == 0 {
			a.files = a.files[len(a.files)/2:]
			for _, host := range hosts {
				if form(host) != "missing" {
					a.elsewhere[fmt.Sprintf("127.0.0.%d", host)] = true
				}
			}
		}
	}
	a.say(s, hosts)
	return a
}

// nbWriter writes revisit records with what its caller says of the original.
func nbWriter(t *testing.T, s *site, r *rand.Rand) *archive {
	dir, hosts := t.TempDir(), hostsOf(r)
	a := &archive{name: "gowarc of the National Library of Norway", elsewhere: make(map[string]bool)}
	version := []*nb.WarcVersion{nb.V1_0, nb.V1_1}[r.IntN(2)]
	options := []nb.WarcRecordOption{nb.WithVersion(version), nb.WithDefaultDigestAlgorithm([]string{"sha1", "sha256",
		"md5"}[r.IntN(3)]),
		nb.WithDefaultDigestEncoding([]nb.DigestEncoding{nb.Base16, nb.Base32}[r.IntN(2)]), nb.WithAddMissingDigest(true),
		nb.WithBufferTmpDir(dir)}
	w := nb.NewWarcFileWriter(nb.WithFileNameGenerator(&nb.PatternNameGenerator{Directory: dir, Prefix: "nb-"}),
		nb.WithCompression(r.IntN(3) > 0), nb.WithMaxConcurrentWriters(1), nb.WithRecordOptions(options...))
	// layout of a date. That of a record has a fraction, that by which another names it may
	// have none.
	precise := "2006-01-02T15:04:05Z"
	if version == nb.V1_1 {
		precise = []string{precise, "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000000Z"}[r.IntN(3)]
	}
	date := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	next := func() time.Time {
		date = date.Add(time.Duration(100+r.IntN(2_000_000)) * time.Microsecond)
		if precise == "2006-01-02T15:04:05Z" {
			date = date.Truncate(time.Second).Add(time.Second)
		}
		return date
	}
	record := func(url, answer string) nb.WarcRecord {
		b := nb.NewRecordBuilder(nb.Response, options...)
		_, err := b.WriteString(answer)
		must(t, err)
		b.AddWarcHeader(nb.WarcTargetURI, url)
		b.AddWarcHeader(nb.WarcDate, next().Format(precise))
		b.AddWarcHeader(nb.ContentType, "application/http;msgtype=response")
		out, _, err := b.Build()
		must(t, err)
		return out
	}
	put := func(record nb.WarcRecord) {
		for _, answer := range w.Write(record) {
			must(t, answer.Err)
		}
	}
	for _, host := range hosts {
		url := s.url(host)
		get := func() string {
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s",
				len(rules(host, s.version(host))), rules(host, s.version(host)))
		}
		if r.IntN(3) == 0 {
			put(record(url, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nsorry"))
		}
		original := record(url, get())
		names := &nb.RevisitRef{TargetUri: url, TargetDate: original.WarcHeader().Get(nb.WarcDate),
			TargetRecordId: original.WarcHeader().Get(nb.WarcRecordID)}
		names.TargetRecordId = strings.Trim(names.TargetRecordId, "<>")
		if day, err := time.Parse(time.RFC3339, names.TargetDate); r.IntN(2) == 0 {
			must(t, err)
			names.TargetDate = day.Truncate(time.Second).Format("2006-01-02T15:04:05Z")
		}
		revisit := record(url, get())
		names.Profile = nb.ProfileIdenticalPayloadDigestV1_1
		switch r.IntN(4) {
		case 0: // the ID alone
			names.TargetUri, names.TargetDate = "", ""
		case 1: // the date alone
			names.TargetRecordId = ""
		case 2: // the digest alone
			names.TargetUri, names.TargetDate, names.TargetRecordId = "", "", ""
		case 3:
			names.Profile = nb.ProfileServerNotModifiedV1_1
			revisit = record(url, "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n")
			if r.IntN(2) == 0 {
				names.TargetUri, names.TargetDate = "", ""
			}
		}
		if version == nb.V1_0 {
			names.Profile = strings.Replace(names.Profile, "1.1", "1.0", 1)
		}
		made, err := revisit.ToRevisitRecord(names)
		must(t, err)
		where := r.IntN(5)
		if f := form(host); where == 0 && (f == "alike" || f == "missing") {
			where = 2 // another host may have the same
		}
		switch where {
		case 0:
			put(made)
			a.elsewhere[fmt.Sprintf("127.0.0.%d", host)] = true
		case 1: // behind what refers to it
			put(made)
			put(original)
		default:
			put(original)
			put(made)
		}
	}
	must(t, w.Close())
	matches, err := filepath.Glob(filepath.Join(dir, "nb-*"))
	must(t, err)
	a.files = matches
	a.alwaysThere = true
	a.say(s, hosts)
	return a
}
