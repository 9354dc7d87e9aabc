package source

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// What a list or an index names stays below its base, in whatever spelling it points out
// of it, and asks no server or store that no flag names.
func TestNamesStayBelowTheBase(t *testing.T) {
	const folder, server, bucket = "/data/crawl", "https://h.example/crawl/", "s3://b/crawl"
	for _, row := range []struct {
		base, name string
		list       string // the list, or the index
		ok         bool
	}{
		{folder, "a.warc", "list", true},
		{folder, "x/../a.warc", "list", true},
		{folder, "a%2Fb..warc", "list", true},
		{folder, "../a.warc", "list", false},
		{folder, "x/../../a.warc", "list", false},
		{folder, "/data/crawl/a.warc", "list", false},
		{folder, "-", "list", false},
		{folder, "https://h.example/crawl/a.warc", "list", false},
		{folder, "HTTPS://127.0.0.1/a.warc", "list", false},
		{folder, "s3://b/a.warc", "list", false},
		{folder, "S3://b/a.warc", "list", false},
		{folder, "gs://b/a.warc", "list", false},
		{folder, "azblob://b/a.warc", "list", false},
		{folder, "file:///etc/hostname", "list", false},
		{folder, "http://127.0.0.1/a.warc", "list", false},
		{folder, "ftp://127.0.0.1/a.warc", "list", false},

		{server, "a.warc", "list", true},
		{server, "x/./a%20b.warc", "list", true},
		{server, "https://h.example/crawl/a.warc", "list", true},
		{server, "HTTPS://H.EXAMPLE.:443/cr%61wl/a.warc?signature=1", "list", true},
		{server, "../a.warc", "list", false},
		{server, "%2e%2e/a.warc", "list", false},
		{server, "x/%252E%252e%252f..%2Fa.warc", "list", false},
		{server, `..\a.warc`, "list", false},
		{server, "%5c..%5ca.warc", "list", false},
		{server, "/a.warc", "list", false},
		{server, "%2Fa.warc", "list", false},
		{server, "https://h.example/crawler/a.warc", "list", false},
		{server, "https://h.example/crawl/../a.warc", "list", false},
		{server, "https://h.example/crawl/%2e%2e/a.warc", "list", false},
		{server, "https://h.example/crawl/x/..%2f..%2fa.warc", "list", false},
		{server, "https://h.example:8443/crawl/a.warc", "list", false},
		{server, "https://h.example@127.0.0.1/crawl/a.warc", "list", false},
		{server, "https://127.0.0.1/crawl/a.warc", "list", false},
		{server, "s3://h.example/crawl/a.warc", "list", false},

		{bucket, "a.warc", "list", true},
		{bucket, "s3://b/crawl/a.warc", "list", true},
		{bucket, "s3://b/crawler/a.warc", "list", false},
		{bucket, "s3://b/crawl/../a.warc", "list", false},
		{bucket, "s3://c/crawl/a.warc", "list", false},
		{bucket, "https://h.example/crawl/a.warc", "list", false},

		{"", "x/a.warc", "list", true},
		{"", "https://h.example/a.warc", "list", true},
		{"", "https://h.example/a.warc", "s3://b/list", true},
		{"", "s3://b/a.warc", "s3://b/list", true},
		{"", "s3://c/a.warc", "s3://b/list", false},
		{"", "s3://b/a.warc", "list", false},
		{"", "x/a.warc", "https://h.example/list", false},
		{"", "file:///etc/hostname", "list", false},
	} {
		for _, c := range []Config{{Paths: row.list, Base: row.base}, {CDX: []string{row.list}, Base: row.base}} {
			kind, why := c.refusal(row.list, row.name)
			if (why == "") != row.ok || (kind == "") != row.ok {
				t.Errorf("%q at %q in %s: %s %q, want it taken: %v", row.name, row.base, row.list, kind, why, row.ok)
			}
		}
	}
	for _, name := range []string{"../a.warc", "/data/a.warc"} {
		if _, why := (&Config{Paths: "list"}).refusal("list", name); why != "" {
			t.Errorf("a list without a base names no %s: %s", name, why)
		}
		if _, why := (&Config{CDX: []string{"index"}}).refusal("index", name); why == "" {
			t.Errorf("an index without a base names %s", name)
		}
	}
}

// A server of this machine is asked for what a list or an index names only if a flag names
// the server, too. No lines lead to a look-up of keys, whatever the machine has.
func TestListsAskNoServerOfThisMachine(t *testing.T) {
	var asked atomic.Int32
	var named atomic.Pointer[context.CancelFunc] // ends the wait for a server that may be asked
	server := httptest.NewUnstartedServer(nil)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			asked.Add(1)
			if end := named.Load(); end != nil {
				(*end)()
			}
		}
	}
	server.StartTLS()
	defer server.Close()
	// Where keys would be asked for.
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.URL)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.warc"), nil, 0o666))
	ctx := remote.Guarded(t.Context(), netip.Addr.IsLoopback)
	read := func(c Config) (reasons string, err error) {
		s, err := Open(ctx, c)
		if err != nil {
			return "", err
		}
		defer s.Close()
		must(t, s.Start(ctx, input.NewAccount(nil, in(t, t.TempDir()), func(int64) {}), func(int64) {}))
		for _, v := range s.Volumes {
			err = errors.Join(err, v.Read(ctx, func(target.Target) error { return nil }))
		}
		_, first := s.rejects.Found()
		return first, err
	}
	for _, url := range []string{server.URL + "/a.warc", strings.Replace(server.URL, "127.0.0.1", "localhost", 1) +
		"/a.warc", "s3://bucket/a.warc"} {
		index := fmt.Sprintf(
			`com,example)/robots.txt 20260101000000 {"url": "https://a.example/robots.txt", "filename": %q, "offset": "0", "length": "9"}`, url)
		for _, base := range []string{"", dir} {
			for what, c := range map[string]Config{
				"an index": {CDX: []string{writeFile(t, "x.cdxj", []byte(index))}, Base: base},
				"a list":   {Paths: writeFile(t, "list", []byte(url)), Base: base},
			} {
				reasons, err := read(c)
				var bad *userfile.Error
				if asked.Load() > 0 || err == nil && reasons == "" || err != nil && !errors.As(err, &bad) {
					t.Errorf("%s of %s with the base %q: asked %d times, %q, %v", what, url, base, asked.Load(), reasons, err)
				}
			}
		}
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	named.Store(&end)
	if _, err := read(Config{Paths: writeFile(t, "list", []byte("a.warc")), Base: server.URL}); asked.Load() == 0 {
		t.Errorf("a server that a flag names is not asked: %v", err)
	}
}
