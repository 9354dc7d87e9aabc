//go:build unix

package pipeline

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink/schema"
)

// storedConfig returns the configuration of a run that reads a stored source.
// A link to a file is read as that file. Other links and special files are
// rejected.
func TestFolderOfLinks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.example": "User-agent: *\n", ".hidden": "", "sub/b.example": "",
		"else/c": "Disallow: /\n"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, "in", name)), 0o777))
		must(t, os.WriteFile(filepath.Join(dir, "in", name), []byte(text), 0o666))
	}
	must(t, os.Rename(filepath.Join(dir, "in", "else"), filepath.Join(dir, "else")))
	for name, to := range map[string]string{"c.example": "../else/c", "d.example": "nowhere", "e.example": "../else",
		"f.example": "f.example"} {
		must(t, os.Symlink(to, filepath.Join(dir, "in", name)))
	}
	must(t, syscall.Mkfifo(filepath.Join(dir, "in", "g.example"), 0o666))
	c := storedConfig(t, source.Config{Schemes: []string{"http"}, Bodies: filepath.Join(dir, "in")})
	_, err := Run(t.Context(), c, &Progress{})
	must(t, err)
	if diff := cmp.Diff([]string{"a.example", "b.example", "c.example"}, bodiesOf(t, c)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"not_a_file", "not_a_file", "not_a_file", "not_a_file"},
		slices.DeleteFunc(rejectedReasons(t, c), func(s string) bool { return s == "origin_not_in_run" })); diff != "" {
		t.Error(diff)
	}
	// The digest of the input is that of the link's target.
	digest := func() string {
		s, err := source.Open(t.Context(), source.Config{Bodies: c.Source.Bodies})
		must(t, err)
		return s.Inputs()[0].EndsSHA256
	}
	before := digest()
	must(t, os.WriteFile(filepath.Join(dir, "else", "c"), []byte("Disallow:\n"), 0o666))
	if digest() == before {
		t.Error("another file behind a link has the same digest")
	}
}

func TestTarOfLinks(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeDir, Name: "in/"},
		{Typeflag: tar.TypeReg, Name: "in/a.example"},
		{Typeflag: tar.TypeLink, Name: "in/b.example", Linkname: "in/a.example"},
		{Typeflag: tar.TypeSymlink, Name: "in/c.example", Linkname: "a.example"},
	} {
		must(t, w.WriteHeader(&h))
	}
	must(t, w.Close())
	c := storedConfig(t, source.Config{Schemes: []string{"http"}, Bodies: writeFile(t, "bodies.tar", b.Bytes())})
	_, err := Run(t.Context(), c, &Progress{})
	must(t, err)
	if got := bodiesOf(t, c); !slices.Equal(got, []string{"a.example"}) {
		t.Errorf("hosts %v", got)
	}
	if got := strings.Count(strings.Join(rejectedReasons(t, c), " "), "not_a_file"); got != 2 {
		t.Errorf("%d links are rejected, want 2", got)
	}
}

// The end of the context ends the wait for a writer that writes nothing.
func TestPipesAreInterruptible(t *testing.T) {
	for name, from := range map[string]func(pipe string) source.Config{
		"warc":   func(pipe string) source.Config { return source.Config{WARC: []string{pipe}} },
		"bodies": func(pipe string) source.Config { return source.Config{Bodies: pipe} },
	} {
		t.Run(name, func(t *testing.T) {
			pipe := filepath.Join(t.TempDir(), "pipe")
			must(t, syscall.Mkfifo(pipe, 0o666))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := storedConfig(t, from(pipe))
			ended := make(chan error, 1)
			go func() {
				_, err := Run(ctx, c, &Progress{})
				ended <- err
			}()
			// Opening the pipe to write fails with ENXIO until the run waits for it.
			writer, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
			for errors.Is(err, syscall.ENXIO) {
				select {
				case err := <-ended:
					t.Fatalf("the run does not read the pipe: %v", err)
				default:
					runtime.Gosched()
				}
				writer, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
			}
			must(t, err)
			defer writer.Close() // ends the abandoned reader, for the check of leaks
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// Re-judging a run of stored answers gives the same rows, whatever its profiles
// concluded from them.
func TestRejudgingKeepsTheFacts_NoRace(t *testing.T) {
	file := "User-agent: *\nDisallow: /private\n"
	var archive strings.Builder
	for _, record := range []string{
		warcResponse("moved.example", "HTTP/1.1 301 Moved\r\nLocation: https://www.moved.example/robots.txt\r\n\r\n"),
		warcResponse("nowhere.example", "HTTP/1.1 301 Moved\r\n\r\n"),
		warcResponse("gone.example", "HTTP/1.1 404 Not Found\r\n\r\nno such file"),
		warcResponse("good.example", "HTTP/1.1 200 OK\r\n\r\n"+file),
		warcResponse("long.example", "HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat(file, 20_000)),
		warcResponse("longer.example", "HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat(file, 40_000)),
		warcResponse("down.example", "HTTP/1.1 503 Unavailable\r\nRetry-After: 60\r\n\r\n"),
		warcResponse("odd.example", "HTTP/1.1 304 Not Modified\r\n\r\n"),
		warcResponse("proxy.example", "HTTP/1.1 305 Use Proxy\r\nLocation: /x\r\n\r\n"),
		warcResponse("part.example", "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-10/90\r\n\r\nUser-agent:"),
		strings.Replace(warcResponse("cut.example", "HTTP/1.1 200 OK\r\n\r\n"+file), "WARC-Date",
			"WARC-Truncated: length\r\nWARC-Date", 1),
		strings.Replace(warcResponse("broken.example", "HTTP/1.1 200 OK\r\n\r\n"+file), "WARC-Date",
			"WARC-Truncated: disconnect\r\nWARC-Date", 1),
		strings.Replace(warcResponse("again.example", "HTTP/1.1 200 OK\r\n\r\n"), "WARC-Type: response",
			"WARC-Type: revisit", 1),
		strings.Replace(warcResponse("bare.example", ""), "WARC-Type: response", "WARC-Type: revisit", 1),
	} {
		archive.WriteString(record)
	}
	c := storedConfig(t, source.Config{Schemes: []string{"http"},
		WARC: []string{writeFile(t, "a.warc", []byte(archive.String()))}})
	roomy := *c.Evaluate.Profiles[0] // bodies are kept up to the largest limit of all profiles
	roomy.Name, roomy.SizeLimit = "roomy", c.Fetch.MaxBody
	c.Evaluate.Profiles = append(slices.Clone(c.Evaluate.Profiles), &roomy)
	_, err := Run(t.Context(), c, &Progress{})
	must(t, err)
	again := c
	again.Dir = filepath.Join(t.TempDir(), "out")
	again.Source = source.Config{Schemes: []string{"http"}, FromRun: filepath.Join(c.Dir, "_runs", c.Run)}
	_, err = Run(t.Context(), again, &Progress{})
	must(t, err)
	want := rowsOf[schema.Fetch](t, c, "fetches")
	if len(want) != 14 {
		t.Fatalf("%d rows, want 14", len(want))
	}
	for _, row := range want {
		class := map[string]string{
			"down.example": "server_error", "odd.example": "unexpected_status", "nowhere.example": "redirect_invalid",
			"part.example": "truncated_body", "broken.example": "truncated_body",
		}[row.Host]
		got := ""
		if row.ErrorClass != nil {
			got = *row.ErrorClass
		}
		if got != class || (row.Error != nil) != (class != "") {
			t.Errorf("%s: class of error %q, error %v, want %q", row.Host, got, row.Error, class)
		}
		if hops := row.Hops; row.Host == "proxy.example" && (row.Reason != "redirect_unresolved" ||
			hops[len(hops)-1].URL != "https://proxy.example/x") {
			t.Errorf("305 with a Location: reason %s, hops %v", row.Reason, hops)
		}
	}
	if diff := cmp.Diff(want, rowsOf[schema.Fetch](t, again, "fetches")); diff != "" {
		t.Errorf("(-first +again)\n%s", diff)
	}
	lines := func(c Config) (n int) {
		return len(rowsOf[schema.Line](t, c, "lines"))
	}
	if a, b := lines(c), lines(again); a != b {
		t.Errorf("%d rows of lines, and again %d", a, b)
	}
}
