package check

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/visible"
)

// maxSitemap bounds a sitemap, unpacked: the protocol allows 50 MiB.
const maxSitemap = 64 << 20

// maxLogLine bounds a line of an access log; servers refuse longer requests.
const maxLogLine = 1 << 20

// urlInput reads what --urls names: a list, a sitemap or an access log, by its content.
type urlInput struct {
	name   string   // for messages
	base   *url.URL // of relative URLs, nil if it is not known
	stderr io.Writer
	origin *fetch.Origin // of the robots.txt, nil if it is not known

	each   func(registry.Sample) error // takes a URL of a list or a sitemap
	logged func(request) error         // takes a request of a log; nil if none can be judged
}

// readURLs reads what --urls names.
func (f *checkFlags) readURLs(ctx context.Context, in *urlInput, stdin io.Reader) error {
	in.name = remote.Name(f.urls)
	if in.origin != nil {
		in.base, _ = url.Parse(in.origin.String() + "/")
	}
	switch {
	case f.urls == "-":
		in.name = "standard input"
		cli.EndBySignal(ctx)
		return in.read(stdin)
	case remote.IsURL(f.urls):
		text, err := cli.ReadInput(ctx, f.urls)
		if err != nil {
			return err
		}
		in.base, _ = url.Parse(f.urls)
		return in.read(bytes.NewReader(text))
	}
	file, err := os.Open(f.urls)
	if err != nil {
		return &userfile.Error{Path: in.name, Err: errors.Unwrap(err)}
	}
	defer file.Close()
	cli.EndBySignal(ctx) // a read of a pipe cannot be interrupted
	return in.read(file)
}

// read reads an input by what it begins with.
func (in *urlInput) read(r io.Reader) error {
	plain, done, err := input.Decompress(r)
	if err != nil {
		return &userfile.Error{Path: in.name, Err: err}
	}
	defer done()
	b := bufio.NewReaderSize(plain, 1<<16)
	b.Peek(1)
	head, _ := b.Peek(min(b.Buffered(), 4096)) // without waiting for more
	switch {
	case isSitemap(head):
		return in.readSitemap(b)
	case isLog(head):
		return in.readLog(b)
	case isOtherLog(head):
		return &userfile.Error{Path: in.name, Err: errors.New("is an access log in a format that is not read (JSON, " +
			"or W3C's with #Fields); have the server write the combined format")}
	case in.each == nil:
		return cli.Usagef("give an agent, by which the URLs of %s are judged; only the requests of an access log have "+
			"agents of their own", in.name)
	}
	hasURL := false
	err = registry.EachSample(in.name, b, func(s registry.Sample) error { hasURL = true; return in.each(s) })
	if err == nil && !hasURL {
		return &userfile.Error{Path: in.name,
			Err: errors.New("has no URL, so that nothing was judged; give one path or absolute URL to a line")}
	}
	return err
}

// isSitemap reports whether a document is markup, which may be UTF-16, or packed twice.
func isSitemap(head []byte) bool {
	if userfile.IsMarkup(head) || bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return true
	}
	isUTF16 := bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff})
	return isUTF16 && userfile.IsMarkup(bytes.ReplaceAll(head[2:], []byte{0}, nil))
}

// isLog reports whether the first line is one of an access log.
func isLog(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	_, ok := requestOf(string(line))
	return ok
}

// isOtherLog reports whether the first line is one of an access log in JSON, as Caddy writes it,
// or in W3C's extended format, as IIS and CloudFront do.
func isOtherLog(head []byte) bool {
	head = bytes.TrimLeft(head, "\r\n")
	for bytes.HasPrefix(head, []byte("#")) && !bytes.HasPrefix(head, []byte("#Fields:")) {
		_, head, _ = bytes.Cut(head, []byte("\n"))
	}
	return bytes.HasPrefix(head, []byte("{")) || bytes.HasPrefix(head, []byte("#Fields:"))
}

func (in *urlInput) note(format string, args ...any) {
	fmt.Fprintf(in.stderr, "note: "+visible.Text(in.name)+": "+format+"\n", args...)
}

// readSitemap takes the URLs of a sitemap.
func (in *urlInput) readSitemap(r io.Reader) error {
	if in.each == nil {
		return cli.Usagef("give an agent, by which the URLs of %s are judged", in.name)
	}
	first, unread, outside, n := "", int64(0), int64(0), int64(0)
	result, err := sitemap.Read(r, in.base, maxSitemap, func(e sitemap.Entry) error {
		if e.IsSitemap {
			first = cmp.Or(first, e.URL)
			return nil
		}
		n++
		if strings.HasPrefix(e.URL, "//") { // a relative one, without a base
			e.URL = "https:" + e.URL
		}
		s := registry.Sample{URL: e.URL, Line: n}
		if !strings.HasPrefix(e.URL, "/") {
			o, _, err := fetch.Parse(e.URL, "")
			if err != nil || !strings.Contains(e.URL, "://") {
				unread++
				return nil
			}
			if s.Origin = &o; in.origin != nil && o != *in.origin {
				outside++
				return nil
			}
		}
		return in.each(s)
	})
	switch {
	case err != nil:
		return err
	case result.Kind == sitemap.None && result.Is(sitemap.HTML):
		return &userfile.Error{Path: in.name,
			Err: errors.New("is a web page; give a list of URLs, a sitemap or an access log")}
	case result.Kind == sitemap.None:
		return &userfile.Error{Path: in.name, Err: fmt.Errorf("is no sitemap (%s)", result.Remarks[0])}
	case result.URLs == 0 && result.Indexed > 0:
		return &userfile.Error{Path: in.name,
			Err: fmt.Errorf("is an index of %s and lists no page; give one of them, such as %s",
				words.Count(result.Indexed, "sitemap"), visible.Text(first))}
	}
	if result.URLs-unread-outside == 0 && outside == 0 {
		return &userfile.Error{Path: in.name,
			Err: errors.New("lists no page that can be judged; give a list of URLs or a whole sitemap")}
	}
	if result.Indexed > 0 {
		in.note("%s that it lists too not read", words.Count(result.Indexed, "sitemap"))
	}
	if outside > 0 {
		in.note("%s of other origins than %s not judged", words.Count(outside, "URL"), in.origin)
	}
	if unread > 0 {
		in.note("%s not judged, without a host that can be read", words.Count(unread, "URL"))
	}
	if result.IsDamaged() || result.Is(sitemap.Scheme) || result.Is(sitemap.Space) {
		remarks := make([]string, len(result.Remarks))
		for i, remark := range result.Remarks {
			remarks[i] = string(remark)
		}
		in.note("not all of it could be read (%s); %s judged", strings.Join(remarks, ", "),
			words.Count(result.URLs-unread-outside, "URL"))
	}
	return nil
}

// readLog takes the requests of an access log.
func (in *urlInput) readLog(r io.Reader) error {
	if in.logged == nil {
		return cli.Usagef("%s is an access log, which is judged by a robots.txt: give a file or a host in place of --out",
			in.name)
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLogLine)
	others, common, requests, line := int64(0), int64(0), int64(0), int64(0)
	for lines.Scan() {
		line++
		request, ok := requestOf(lines.Text())
		switch request.line = line; {
		case ok && request.isCommon:
			common++
		case ok && request.url != "":
			requests++
			if err := in.logged(request); err != nil {
				return err
			}
		case strings.TrimSpace(lines.Text()) != "":
			others++
		}
	}
	if err := lines.Err(); err != nil {
		return &userfile.Error{Path: in.name, Line: line + 1, Err: err}
	}
	if common > 0 && requests == 0 {
		return &userfile.Error{Path: in.name, Err: errors.New("is an access log in the common format, which does not say " +
			"the User-Agent, and so not which agent asks; have the server write the combined format")}
	}
	if others += common; others > 0 {
		in.note("%s passed over: no request of HTTP in the combined format", words.Count(others, "line"))
	}
	return nil
}
